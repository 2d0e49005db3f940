// lemma/linear/glm/rows.cpp: what a generalised linear model makes of rows at given coefficients.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/linear/shared/coefficient_table.hpp>
#include <lemma/math/simd.hpp>
#include <limits>

namespace lemma::glm {
namespace {

std::size_t place(Index i) { return static_cast<std::size_t>(i); }

/// Response and weights of the rows, before any mean.
Evaluated outcome_of(const Problem& problem, const Block& block) {
  const std::size_t n = place(block.rows());
  Evaluated out;
  out.y.resize(n);
  out.frequency.resize(n);
  out.prior.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<Index>(i);
    out.y[i] = block.label.empty() ? block.y[i] : block.label[i];
    const double weight = block.weight_of(row), precision = block.precision_of(row);
    out.frequency[i] = problem.counts ? (weight > 0 ? 1 : 0) : weight;
    out.prior[i] = problem.counts ? (weight > 0 ? weight * precision : 1) : precision;
    if (out.prior[i] == 0) out.frequency[i] = 0;
  }
  return out;
}

void finish(const Problem& problem, Evaluated& rows) {
  rows.at.resize(rows.y.size());
  problem.law.at(rows.y, rows.eta, rows.at);
}

}  // namespace

Evaluated evaluate(const Problem& problem, const Block& block, const Coefficients& from, bool precise) {
  Evaluated out = outcome_of(problem, block);
  out.eta.resize(out.y.size());
  if (precise) {
    const auto width = place(block.x.cols());
    std::vector<double> rest(out.y.size());  // of η, which rounding leaves out
    for (Index i = 0; i < block.rows(); ++i) {
      const Twofold eta = simd::dot({block.x.row(i).data(), width}, {from.slopes.data(), width}) +
                          exact_sum(from.intercept, block.offset_of(i));
      out.eta[place(i)] = eta.rounded();
      rest[place(i)] = (eta - Twofold{out.eta[place(i)], 0}).rounded();
    }
    finish(problem, out);
    for (std::size_t i = 0; i < rest.size(); ++i)
      if (std::isfinite(rest[i])) out.at[i].residual -= rest[i];  // a residual is in units of η
    return out;
  } else {
    Eigen::Map<Vector> eta(out.eta.data(), block.rows());
    eta.noalias() = block.x * from.slopes;
    for (Index i = 0; i < block.rows(); ++i) eta(i) += from.intercept + block.offset_of(i);
  }
  finish(problem, out);
  return out;
}

namespace {

/// Σ W (ε (|b₀| + Σ |x b|) + 2 ε μ / (dμ/dη))²: what rounding the coefficients and the means does to the squares of
/// the working residuals. With the identity a mean is η itself.
struct Rounded {
  const Problem* problem;
  const Coefficients* at;
  double sum = 0;

  void accumulate(const Block& block) {
    constexpr double kRounding = std::numeric_limits<double>::epsilon();
    const Evaluated rows = evaluate(*problem, block, *at, true);
    const Vector size = at->slopes.cwiseAbs();
    for (Index i = 0; i < rows.size(); ++i) {
      const GlmPoint& point = rows[i];
      if (rows.frequency[place(i)] == 0 || !point.valid || point.slope == 0) continue;
      const double of_mean = problem->law.link == GlmLink::identity ? 0 : 2 * std::abs(point.mean / point.slope);
      const double moved = kRounding * (std::abs(at->intercept) + block.x.row(i).cwiseAbs().dot(size) + of_mean);
      sum += rows.mass(i) * point.information * moved * moved;
    }
  }
  void merge(const Rounded& other) { sum += other.sum; }
};

}  // namespace

Excess beside_deviance(Excess found, double pearson, double deviance) {
  if (!(found.gap > 0) || !(pearson > deviance)) return found;
  found.relative = found.gap / (std::max(found.gap / found.relative - pearson, 0.0) + deviance);
  return found;
}

Excess beside_rounding(Excess found, const Problem& problem, const Coefficients& at, const Rows& rows,
                       const Execution& execution) {
  if (!(found.relative > kGapTolerance) || !(found.gap > 0)) return found;
  const double rounding = scan(rows, Rounded{&problem, &at}, execution).sum;
  found.relative = found.gap / (found.gap / found.relative + rounding / kGapTolerance);
  return found;
}

Evaluated evaluate_first_guess(const Problem& problem, const Block& block) {
  Evaluated out = outcome_of(problem, block);
  out.eta.resize(out.y.size());
  for (std::size_t i = 0; i < out.y.size(); ++i)
    out.eta[i] = problem.law.eta(problem.law.first_mean(out.y[i], out.prior[i]));
  finish(problem, out);
  return out;
}

WorkingRows::WorkingRows(const Rows& rows, const Problem& problem, const Coefficients* at)
    : rows_(rows), problem_(problem), at_(at) {
  if (at)
    for (const Index j : problem.columns) features.push_back(rows.features[place(j)]);
  else features = rows.features;
  target = rows.target;
  has_response = true;  // weights are those of the step: looked at already
}

Block WorkingRows::read(Index first, Index size, BlockBuffer& buffer) const {
  BlockBuffer inner;
  const Block block = rows_.read(first, size, inner);
  const Evaluated rows = at_ ? evaluate(problem_, block, *at_, true) : evaluate_first_guess(problem_, block);
  if (at_) buffer.x = block.x(Eigen::all, problem_.columns);
  else buffer.x = block.x;
  buffer.y.resize(rows.y.size());
  buffer.weight = rows.frequency;
  buffer.precision.resize(rows.y.size());
  for (Index i = 0; i < rows.size(); ++i) {
    const GlmPoint& point = rows[i];
    const double precision = rows.prior[place(i)] * point.information;
    const bool takes_part = rows.frequency[place(i)] > 0 && point.valid && precision > 0;
    if (!takes_part) buffer.weight[place(i)] = 0;
    buffer.precision[place(i)] = takes_part ? precision : 1;
    buffer.y[place(i)] = takes_part ? point.residual + (at_ ? 0 : rows.eta[place(i)] - block.offset_of(i)) : 0;
  }
  Block out(buffer.x, first);
  out.y = buffer.y;
  out.weight = buffer.weight;
  out.precision = buffer.precision;
  return out;
}

void Survey::accumulate(const Block& block) {
  const Evaluated rows = evaluate_first_guess(problem, block);
  for (Index i = 0; i < rows.size(); ++i) {
    const double frequency = rows.frequency[place(i)], prior = rows.prior[place(i)], y = rows.y[place(i)];
    if (frequency == 0) continue;
    if (!problem.law.admits(y) && first_bad < 0) {
      first_bad = block.first + i;
      bad = y;
    }
    n += frequency;
    mass += frequency * prior;
    sum += frequency * prior * y;
    zero_one = zero_one && (y == 0 || y == 1);
    const double successes = prior * y;
    whole = whole && std::abs(successes - std::round(successes)) <= 1e-3;
    first_guess = first_guess && std::isfinite(rows.eta[place(i)]) && rows[i].valid && rows[i].information > 0;
    if (first_guess) first_deviance += frequency * prior * rows[i].deviance;
  }
}

void Survey::merge(const Survey& other) {
  n += other.n;
  mass += other.mass;
  sum += other.sum;
  first_deviance += other.first_deviance;
  first_guess = first_guess && other.first_guess;
  zero_one = zero_one && other.zero_one;
  whole = whole && other.whole;
  if (first_bad < 0) {
    first_bad = other.first_bad;
    bad = other.bad;
  }
}

Pass::Pass(const Problem& of, Coefficients where, bool in_twice_the_precision)
    : problem(&of),
      at(std::move(where)),
      precise(in_twice_the_precision),
      squares(static_cast<Index>(of.columns.size()), of.intercept),
      gradient(0, Vector::Zero(static_cast<Index>(of.columns.size()))) {}

void Pass::accumulate(const Block& block) {
  Evaluated rows = evaluate(*problem, block, at, precise);
  std::vector<double> residual(rows.y.size()), precision(rows.y.size());
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const GlmPoint& point = rows.at[i];
    residual[i] = 0;
    precision[i] = 1;
    if (rows.frequency[i] == 0) continue;
    if (!point.valid) valid = false;
    if (!point.valid || !(point.information > 0)) {
      rows.frequency[i] = 0;
      continue;
    }
    deviance += rows.frequency[i] * rows.prior[i] * point.deviance;
    residual[i] = point.residual;
    precision[i] = rows.prior[i] * point.information;
  }
  if (!valid) return;  // the step is taken back anyway
  Matrix some;
  const bool all = static_cast<Index>(problem->columns.size()) == block.x.cols();
  if (!all) some = block.x(Eigen::all, problem->columns);
  Block working(all ? block.x : MatrixView(some), block.first);
  working.y = residual;
  working.weight = rows.frequency;
  working.precision = precision;
  squares.accumulate(working);
  if (precise) gradient.accumulate(working);
}

void Pass::merge(const Pass& other) {
  deviance += other.deviance;
  valid = valid && other.valid;
  if (!valid) return;
  squares.merge(other.squares);
  if (precise) gradient.merge(other.gradient);
}

bool Pass::usable() const { return valid && std::isfinite(deviance) && squares.rows() > 0; }

void Totals::accumulate(const Block& block) {
  const Evaluated rows = evaluate(*problem, block, at, true);
  const double null_eta = problem->law.eta(null_mean);
  for (Index i = 0; i < rows.size(); ++i) {
    const double mass = rows.mass(i), y = rows.y[place(i)], prior = rows.prior[place(i)];
    if (mass == 0) continue;
    const GlmPoint& point = rows[i];
    deviance += mass * point.deviance;
    null_deviance += mass * problem->law.at(y, null_eta).deviance;
    pearson += mass * point.information * point.residual * point.residual;
    log_likelihood += rows.frequency[place(i)] * problem->law.log_likelihood(y, prior, point, dispersion);
  }
}

void Totals::merge(const Totals& other) {
  deviance += other.deviance;
  null_deviance += other.null_deviance;
  pearson += other.pearson;
  log_likelihood += other.log_likelihood;
}

double likelihood_dispersion(const GlmLaw& law, const Survey& known, double deviance) {
  if (!law.estimates_dispersion()) return 1;
  return deviance / (law.base() == GlmFamily::gaussian ? known.n : known.mass);
}

double deviance_residual(double y, double prior, const GlmPoint& point) {
  return std::copysign(std::sqrt(prior * std::max(point.deviance, 0.0)), y - point.mean);
}

Vector residual_quantiles(const Problem& problem, const Coefficients& from, const Rows& rows,
                          const Execution& execution) {
  if (rows.count() > kMostResiduals) return {};
  std::vector<WeightedValue> residuals(place(rows.count()));
  for_each_block(rows, execution, [&](const Block& block) {
    const Evaluated here = evaluate(problem, block, from, true);
    for (Index i = 0; i < here.size(); ++i)
      residuals[place(block.first + i)] = {deviance_residual(here.y[place(i)], here.prior[place(i)], here[i]),
                                           here.frequency[place(i)]};
  });
  return five_quantiles(std::move(residuals));
}

}  // namespace lemma::glm
