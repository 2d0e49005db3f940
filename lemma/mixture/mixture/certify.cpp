// lemma/mixture/mixture/certify.cpp: one more step, by the formulas of the families instead of tables of logarithms.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/math/special.hpp>
#include <lemma/mixture/mixture/products.hpp>
#include <lemma/mixture/shared/searched.hpp>
#include <limits>
#include <numbers>

namespace lemma {
namespace {

using products::Ground;
using products::Kind;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// log f_kj(v), but for the factorials of counts.
double log_factor(const MixtureModel& model, const Ground& ground, Index k, Index j, double v) {
  const double value = model.values(k, j);
  switch (ground.kind[at(j)]) {
    case Kind::gaussian: {
      const double z = (v - value) / std::sqrt(model.variances(k, j));
      return -0.5 * z * z - std::log(std::sqrt(2 * std::numbers::pi * model.variances(k, j)));
    }
    case Kind::bernoulli: return std::log(v > 0 ? value : 1 - value);
    case Kind::categorical: return std::log(model.probabilities(k, ground.first[at(j)] + static_cast<Index>(v)));
    case Kind::poisson: return v * std::log(value) - value;
    case Kind::exponential: return -v / value - std::log(value);
    default: return v == 0 ? 0 : std::log(value) * v;
  }
}

/// One step of the textbook about the model's own values.
struct PlainStep {
  const MixtureModel* model;
  const Ground* ground;
  double log_likelihood = 0, hard = 0, weight = 0;
  Vector mass;
  Matrix known, shift, squares, levels;
  Vector all_weight, all_shift, all_squares;  // of the columns, whatever the component

  PlainStep(const MixtureModel& m, const Ground& g)
      : model(&m),
        ground(&g),
        mass(Vector::Zero(m.k())),
        known(Matrix::Zero(m.k(), m.width())),
        shift(known),
        squares(known),
        levels(Matrix::Zero(m.k(), g.all_levels)),
        all_weight(Vector::Zero(m.width())),
        all_shift(all_weight),
        all_squares(all_weight) {}

  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      if (block.weight_of(i) > 0) add(block.x.row(i), block.weight_of(i));
  }
  void add(const auto& row, double w) {
    const Index components = model->k(), p = model->width();
    Vector l(components);
    for (Index k = 0; k < components; ++k) {
      l(k) = std::log(model->weights(k));
      for (Index j = 0; j < p; ++j)
        if (!std::isnan(row(j))) l(k) += log_factor(*model, *ground, k, j, row(j));
    }
    double factorials = 0, trials = 0;
    for (Index j = 0; j < p; ++j) {
      if (std::isnan(row(j))) continue;
      if (ground->is(j, Kind::poisson) || ground->is(j, Kind::multinomial)) factorials -= log_gamma(row(j) + 1);
      if (ground->is(j, Kind::multinomial)) trials += row(j);
      if (ground->is(j, Kind::categorical)) continue;
      const double d = row(j) - model->column_means(j);
      all_weight(j) += w;
      all_shift(j) += w * d;
      all_squares(j) += w * d * d;
    }
    const double most = l.maxCoeff(), total = most + std::log((l.array() - most).exp().sum());
    log_likelihood += w * (total + factorials + (ground->counts.empty() ? 0 : log_gamma(trials + 1)));
    hard += w * (most - total);
    weight += w;
    for (Index k = 0; k < components; ++k) {
      const double r = w * std::exp(l(k) - total);
      mass(k) += r;
      for (Index j = 0; j < p; ++j) {
        if (std::isnan(row(j))) continue;
        const double d = row(j) - (ground->is(j, Kind::multinomial) ? 0 : model->values(k, j));
        known(k, j) += r;
        if (ground->is(j, Kind::categorical)) levels(k, ground->first[at(j)] + static_cast<Index>(row(j))) += r;
        else {
          shift(k, j) += r * d;
          squares(k, j) += r * d * d;
        }
      }
    }
  }
  void merge(const PlainStep& other) {
    log_likelihood += other.log_likelihood;
    hard += other.hard;
    weight += other.weight;
    mass += other.mass;
    known += other.known;
    shift += other.shift;
    squares += other.squares;
    levels += other.levels;
    all_weight += other.all_weight;
    all_shift += other.all_shift;
    all_squares += other.all_squares;
  }
};

/// The farthest way of a parameter in the step, under the floors; `binds` where one of them holds something up.
double movement_of(const MixtureModel& model, const Ground& g, const PlainStep& found, bool& binds) {
  const double floor = model.spec.floor;
  double most = (found.mass / found.weight - model.weights).cwiseAbs().maxCoeff();
  const auto lifted = [&](double value, double least) {
    binds = binds || value < least;
    return std::max(value, least);
  };
  for (Index k = 0; k < model.k(); ++k) {
    double trials = 0;
    for (const Index j : g.counts) trials += found.shift(k, j);
    Vector shares(static_cast<Index>(g.counts.size()));
    for (std::size_t c = 0; c < g.counts.size(); ++c) shares(static_cast<Index>(c)) = found.shift(k, g.counts[c]);
    if (trials > 0) {
      shares = products::shares_above(shares, floor, binds);
      for (std::size_t c = 0; c < g.counts.size(); ++c)
        most = std::max(most, std::abs(shares(static_cast<Index>(c)) - model.values(k, g.counts[c])));
    }
    for (Index j = 0; j < model.width(); ++j) {
      if (!(found.known(k, j) > 1e-12 * found.weight)) continue;  // it has died, and stays
      const double value = model.values(k, j), way = found.shift(k, j) / found.known(k, j);
      switch (g.kind[at(j)]) {
        case Kind::gaussian: {
          const double variance = model.variances(k, j);
          const double next =
              lifted(found.squares(k, j) / found.known(k, j) - way * way, floor * model.column_variances(j));
          most = std::max({most, std::abs(way) / std::sqrt(variance), std::abs(next - variance) / variance});
          break;
        }
        case Kind::bernoulli: {
          const double next = std::min(lifted(value + way, floor), 1 - floor);
          binds = binds || value + way > 1 - floor;
          most = std::max(most, std::abs(next - value));
          break;
        }
        case Kind::categorical: {
          const Index first = g.first[at(j)], count = g.levels[at(j)];
          const Vector next =
              products::shares_above(found.levels.row(k).segment(first, count).transpose(), floor, binds);
          most = std::max(most,
                          (next.transpose() - model.probabilities.row(k).segment(first, count)).cwiseAbs().maxCoeff());
          break;
        }
        case Kind::multinomial: break;
        default: {
          const double next = lifted(value + way, floor * model.column_means(j));
          most = std::max(
              most, std::abs(next - value) / (g.is(j, Kind::poisson) ? std::max(value, std::sqrt(value)) : value));
        }
      }
    }
  }
  return most;
}

/// What rounding alone may do to a mean or a variance, in units of its component.
double rounding_of(const MixtureModel& model, const Ground& g) {
  double digits = 0;
  for (Index k = 0; k < model.k(); ++k)
    for (Index j = 0; j < model.width(); ++j) {
      if (!g.is(j, Kind::gaussian)) continue;
      const double sd = std::sqrt(model.variances(k, j)), far = model.values(k, j) - model.column_means(j);
      digits = std::max(
          {digits, std::abs(model.values(k, j)) / sd, (model.column_variances(j) + far * far) / model.variances(k, j)});
    }
  return 16 * kEpsilon * digits;
}

/// How far the means and variances of the columns are from those of the rows, in their own units.
double wrong_columns(const MixtureModel& model, const Ground& g, const PlainStep& found) {
  double worst = 0;
  for (Index j = 0; j < model.width(); ++j) {
    if (g.is(j, Kind::categorical)) {
      worst = std::max(worst, std::abs(model.column_means(j)) + std::abs(model.column_variances(j)));
      continue;
    }
    const double shift = found.all_shift(j) / found.all_weight(j);
    const double variance = found.all_squares(j) / found.all_weight(j) - shift * shift;
    const double unit = std::sqrt(variance) + 1e-6 * std::abs(model.column_means(j));
    if (!(unit > 0)) continue;
    worst = std::max({worst, std::abs(shift) / unit, std::abs(model.column_variances(j) - variance) / (unit * unit)});
  }
  return worst;
}

}  // namespace

Certificate certify(const MixtureModel& model, const Rows& rows, const Execution& execution) {
  const auto ground = products::ground_of(model);
  for (Index j = 0; j < model.width(); ++j)
    require((rows.holds_codes(j) ? static_cast<Index>(rows.levels[at(j)].size()) : 0) == ground->levels[at(j)],
            fmt::format("mixture: '{}' has other levels than the rows of the fit", rows.features[at(j)]));
  const auto found = scan(rows, PlainStep(model, *ground), execution);
  bool binds = false;
  const double movement = movement_of(model, *ground, found, binds);
  const double rounding = rounding_of(model, *ground);
  const mixture::Told told = mixture::told_apart(model, found.log_likelihood, found.hard, found.weight);
  const double off = std::max({told.criteria, told.way, wrong_columns(model, *ground, found)});

  const mixture::Look look{.movement = movement,
                           .rounding = rounding,
                           .same = off <= 1e-9 + rounding && (model.floor_reached == binds || rounding > 1e-9),
                           .off = off,
                           .of_what = "The likelihood, its way, the criteria or the columns",
                           .moving = "a weight or a parameter"};
  return mixture::fixed_point(look, model.spec.tolerance, model.iterations, model.spec.max_iterations);
}

}  // namespace lemma
