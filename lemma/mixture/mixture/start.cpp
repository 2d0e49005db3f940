// lemma/mixture/mixture/start.cpp: what the columns are, and where EM begins.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/mixture/mixture/products.hpp>
#include <lemma/model/finite_or_missing.hpp>
#include <set>

namespace lemma::products {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr Index kMostSeen = 4096;  // rows among which a start draws
constexpr Index kTile = 128;       // rows for each step of the online pass

Kind kind_named(const std::string& name) {
  for (std::size_t k = 0; k < names_of(Kind{}).size(); ++k)
    if (names_of(Kind{})[k] == name) return static_cast<Kind>(k);
  throw Error(
      fmt::format("mixture: kinds is '{}', must be gaussian, bernoulli, poisson, exponential, multinomial, "
                  "categorical or auto",
                  name));
}

void fill_kinds(Ground& ground, const std::vector<std::string>& kinds) {
  for (const auto& each : kinds) ground.kind.push_back(kind_named(each));
  ground.first.assign(kinds.size(), 0);
  for (Index j = 0; j < ground.width(); ++j) {
    ground.first[at(j)] = ground.all_levels;
    ground.all_levels += ground.levels[at(j)];
    if (ground.is(j, Kind::multinomial)) ground.counts.push_back(j);
  }
}

/// Error where a value is none that its kind knows.
void check_values(const Ground& ground, const Rows& rows, const Execution& execution) {
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index j = 0; j < ground.width(); ++j) {
        const double v = block.x(i, j);
        const Kind kind = ground.kind[at(j)];
        const bool whole = v >= 0 && v == std::floor(v);
        const bool usable = kind == Kind::gaussian || kind == Kind::categorical ? true
                            : kind == Kind::bernoulli                           ? v == 0 || v == 1
                            : kind == Kind::exponential                         ? v >= 0
                                                                                : whole;
        if (std::isnan(v) && kind == Kind::multinomial)
          throw Error(fmt::format("mixture: '{}' is missing in row {}, and of one multinomial all counts must be known",
                                  rows.features[at(j)], block.first + i + 1));
        if (usable || std::isnan(v)) continue;
        throw Error(fmt::format("mixture: '{}' is {:g} in row {}, and {} columns hold {}", rows.features[at(j)], v,
                                block.first + i + 1, names_of(kind)[static_cast<std::size_t>(kind)],
                                kind == Kind::bernoulli     ? "0 or 1"
                                : kind == Kind::exponential ? "numbers from 0 on"
                                                            : "whole numbers from 0 on"));
      }
  });
}

struct LevelWeights {
  const Ground* ground;
  Vector weight, known;
  double rows = 0;
  explicit LevelWeights(const Ground& g)
      : ground(&g), weight(Vector::Zero(g.all_levels)), known(Vector::Zero(g.width())) {}
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      rows += w;
      for (Index j = 0; j < ground->width(); ++j) {
        if (std::isnan(block.x(i, j))) continue;
        known(j) += w;
        if (ground->is(j, Kind::categorical)) weight(ground->first[at(j)] + static_cast<Index>(block.x(i, j))) += w;
      }
    }
  }
  void merge(const LevelWeights& other) {
    rows += other.rows;
    weight += other.weight;
    known += other.known;
  }
};

void require_usable(const Ground& ground, const Rows& rows, const LevelWeights& seen, const ColumnMoments& moments) {
  for (Index j = 0; j < ground.width(); ++j) {
    const auto& column = rows.features[at(j)];
    if (!(seen.known(j) > 0)) throw Error(fmt::format("mixture: '{}' has no value in any row; leave it out", column));
    if (ground.is(j, Kind::gaussian)) {
      const double far = std::max(moments.greatest()(j) - moments.mean()(j), moments.mean()(j) - moments.least()(j));
      if (!(far < 1e150) || (far > 0 && far < 1e-150))
        throw Error(
            fmt::format("mixture: values of '{}' lie up to {} from their mean, and their squares leave the range "
                        "of numbers; scale the columns first ('scale | mixture')",
                        column, format_significant(far, 3)));
      const double digit = 1e-15 * std::abs(moments.mean()(j));
      if (!(ground.variance(j) > digit * digit))
        throw Error(
            fmt::format("mixture: '{}' has the same value in all rows, which leaves no density; leave it out", column));
    } else if (!ground.is(j, Kind::categorical) && !ground.is(j, Kind::multinomial) && !(ground.mean(j) > 0)) {
      throw Error(fmt::format("mixture: '{}' is 0 in all rows, which tells nothing; leave it out", column));
    }
  }
  double counts = 0;
  for (const Index j : ground.counts) counts += ground.mean(j);
  if (!ground.counts.empty() && !(counts > 0)) throw Error("mixture: all counts are 0");
}

/// Rows evenly taken, missing values at what all rows say.
Matrix seen_rows(const Rows& rows, const Ground& ground, const Execution& execution) {
  std::vector<Index> which, counting;
  Vector weight = Vector::Ones(rows.count());
  if (rows.has_weights)
    for_each_block(rows, execution, [&](const Block& block) {
      for (Index i = 0; i < block.rows(); ++i) weight(block.first + i) = block.weight_of(i);
    });
  for (Index i = 0; i < rows.count(); ++i)
    if (weight(i) > 0) counting.push_back(i);
  const auto n = static_cast<Index>(counting.size()), taken = std::min(n, kMostSeen);
  for (Index k = 0; k < taken; ++k) which.push_back(counting[at(k * n / taken)]);
  Matrix x = gather(SelectedRows(rows, which), execution);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      if (!std::isnan(x(i, j))) continue;
      Index most = 0;
      if (ground.is(j, Kind::categorical))
        ground.level_shares.row(0).segment(ground.first[at(j)], ground.levels[at(j)]).maxCoeff(&most);
      x(i, j) = ground.is(j, Kind::categorical) ? static_cast<double>(most) : ground.mean(j);
    }
  return x;
}

/// How different two rows are: squares of differences in standard deviations, and 1 for another level.
double apart(const Ground& ground, const auto& a, const auto& b) {
  double sum = 0;
  for (Index j = 0; j < ground.width(); ++j) {
    const double d = a(j) - b(j);
    if (ground.is(j, Kind::categorical)) sum += d != 0 ? 1 : 0;
    else if (ground.variance(j) > 0) sum += d * d / ground.variance(j);
  }
  return sum;
}

}  // namespace

std::vector<std::string> kinds_of(const Mixture& spec, const Rows& rows) {
  const bool one_each = spec.kinds.size() > 1;
  if (one_each && spec.kinds.size() != rows.features.size())
    throw Error(fmt::format("mixture: kinds has {} and there are {}: {}", count_of(std::ssize(spec.kinds), "name"),
                            count_of(rows.width(), "column"), join_words(rows.features)));
  std::vector<std::string> out;
  for (Index j = 0; j < rows.width(); ++j) {
    const std::string asked = spec.kinds.empty() ? std::string(kAuto) : spec.kinds[one_each ? at(j) : 0];
    const bool categories = rows.holds_codes(j);
    if (asked != kAuto && (asked == "categorical") != categories && (one_each || !categories))
      throw Error(fmt::format("mixture: '{}' holds {}, so its kind cannot be {}{}", rows.features[at(j)],
                              categories ? "categories" : "numbers", asked,
                              categories ? "" : "; factor() in the formula makes categories of numbers"));
    out.push_back(categories ? "categorical" : asked == kAuto ? "gaussian" : asked);
  }
  return out;
}

std::shared_ptr<const Ground> survey(const Mixture& spec, const Rows& rows, const Execution& execution) {
  require_finite_or_missing(Mixture::name, rows, execution.part(0, 0.2));
  auto ground = std::make_shared<Ground>();
  for (Index j = 0; j < rows.width(); ++j)
    ground->levels.push_back(rows.holds_codes(j) ? static_cast<Index>(rows.levels[at(j)].size()) : 0);
  fill_kinds(*ground, spec.kinds);
  check_values(*ground, rows, execution.part(0.2, 0.4));
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution.part(0.4, 0.7));
  const auto seen = scan(rows, LevelWeights(*ground), execution.part(0.7, 1));
  if (!(seen.rows > 0)) throw Error("mixture: all weights are 0, so there are no rows to learn from");
  ground->weight = seen.rows;
  ground->floor = spec.floor;
  ground->mean = moments.mean();
  ground->variance = Vector::Zero(rows.width());
  for (Index j = 0; j < rows.width(); ++j) {
    if (ground->is(j, Kind::categorical)) ground->mean(j) = 0;
    else if (moments.weight()(j) > 0) ground->variance(j) = moments.squares()(j) / moments.weight()(j);
  }
  ground->level_shares = Matrix::Zero(1, ground->all_levels);
  for (Index j = 0; j < rows.width(); ++j)
    for (Index l = 0; l < ground->levels[at(j)]; ++l)
      ground->level_shares(0, ground->first[at(j)] + l) = seen.weight(ground->first[at(j)] + l) / seen.known(j);
  require_usable(*ground, rows, seen, moments);
  const double most = *std::max_element(spec.components.begin(), spec.components.end());
  if (most <= 1) return ground;
  const Matrix x = seen_rows(rows, *ground, {});
  std::set<std::vector<double>> different;
  for (Index i = 0; i < x.rows() && static_cast<double>(different.size()) < most; ++i)
    different.insert(std::vector<double>(x.row(i).begin(), x.row(i).end()));
  if (static_cast<double>(different.size()) < most && rows.count() <= kMostSeen)
    throw Error(fmt::format("mixture: there are {} for {} components; take fewer",
                            count_of(static_cast<Index>(different.size()), "different row"), most));
  return ground;
}

std::shared_ptr<const Ground> ground_of(const MixtureModel& model) {
  auto ground = std::make_shared<Ground>();
  ground->levels.assign(model.levels.begin(), model.levels.end());
  fill_kinds(*ground, model.spec.kinds);
  ground->mean = model.column_means;
  ground->variance = model.column_variances;
  ground->floor = 0;
  return ground;
}

em::Mixture mixture_of(const MixtureModel& model) {
  return {model.weights,
          std::make_shared<Products>(ground_of(model), model.values, model.variances, model.probabilities)};
}

em::Mixture start_of(Index k, const Rows& rows, std::shared_ptr<const Ground> ground, std::uint64_t seed, Index start,
                     const Execution& execution) {
  const Matrix x = seen_rows(rows, *ground, execution);
  RandomStream random = RandomStream(seed, 11).split(at(start));
  std::vector<Index> chosen{random.below(x.rows())};
  Vector nearest = Vector::Constant(x.rows(), std::numeric_limits<double>::infinity());
  while (static_cast<Index>(chosen.size()) < k) {
    for (Index i = 0; i < x.rows(); ++i)
      nearest(i) = std::min(nearest(i), apart(*ground, x.row(i), x.row(chosen.back())));
    double left = random.uniform() * nearest.sum();
    Index next = 0;
    while (next + 1 < x.rows() && left >= nearest(next)) left -= nearest(next++);
    chosen.push_back(next);
  }
  const Index p = ground->width();
  Matrix values = Matrix::Zero(k, p), variances = Matrix::Zero(k, p), probabilities(k, ground->all_levels);
  for (Index c = 0; c < k; ++c) {
    const auto row = x.row(chosen[at(c)]);
    double trials = 0;
    for (const Index j : ground->counts) trials += row(j) + 0.5 * ground->mean(j);
    for (Index j = 0; j < p; ++j) switch (ground->kind[at(j)]) {
        case Kind::gaussian:
          values(c, j) = k == 1 ? ground->mean(j) : row(j);
          variances(c, j) = ground->variance(j);
          break;
        case Kind::categorical:
          for (Index l = 0; l < ground->levels[at(j)]; ++l)
            probabilities(c, ground->first[at(j)] + l) =
                0.5 * ground->level_shares(0, ground->first[at(j)] + l) + (row(j) == static_cast<double>(l) ? 0.5 : 0);
          break;
        case Kind::multinomial: values(c, j) = (row(j) + 0.5 * ground->mean(j)) / trials; break;
        default: values(c, j) = 0.5 * (row(j) + ground->mean(j));
      }
  }
  return {
      Vector::Constant(k, 1 / static_cast<double>(k)),
      std::make_shared<Products>(std::move(ground), std::move(values), std::move(variances), std::move(probabilities))};
}

em::Mixture online_pass(const Rows& rows, const em::Mixture& start, const Execution& execution) {
  em::Mixture now = start;
  const auto size = at(start.components->sums_size());
  std::vector<double> sums(size, 0.0), tile(size);
  Vector mass = Vector::Zero(start.weights.size());
  double weight = 0;
  Matrix r;
  BlockBuffer buffer;
  Index step = 0;
  const double all = static_cast<double>(rows.count());
  for (Index first = 0; first < rows.count(); first += kTile) {
    if (execution.cancelled()) throw Cancelled();
    const Block block = rows.read(first, std::min(kTile, rows.count() - first), buffer);
    em::responsibilities(now, block.x, r);
    double here = 0;
    for (Index i = 0; i < block.rows(); ++i) {
      r.row(i) *= block.weight_of(i);
      here += block.weight_of(i);
    }
    if (!(here > 0)) continue;
    std::fill(tile.begin(), tile.end(), 0.0);
    now.components->add(block.x, r, tile);
    const double eta = weight > 0 ? std::pow(static_cast<double>(++step) + 2, -0.6) : 1;
    weight += here;
    for (std::size_t s = 0; s < size; ++s) sums[s] = (1 - eta) * sums[s] + eta * tile[s] / here;
    mass = (1 - eta) * mass + eta / here * r.colwise().sum().transpose();
    std::vector<double> scaled = sums;
    for (double& each : scaled) each *= all;
    now = {mass / mass.sum(), now.components->maximised(mass * all, scaled)};
    execution.report(static_cast<double>(first) / all, "a pass by few rows");
  }
  return now;
}

}  // namespace lemma::products
