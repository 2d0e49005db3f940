// lemma/bayes/conjugate/posterior.cpp: counts and sums of the rows, and the posterior that follows from them.
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/conjugate/parts.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/special.hpp>
#include <numbers>
#include <utility>

namespace lemma::conjugate {
namespace {

using Family = ConjugateFamily;

double log_beta(double a, double b) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }
/// log of the normalising constant of a Gamma(a, rate b) density: Γ(a) / bᵃ.
double log_gamma_constant(double a, double b) { return log_gamma(a) - a * std::log(b); }

}  // namespace

Conjugate held_against(const Conjugate& spec) {
  Conjugate out = spec;
  out.prior = std::exchange(out.against, {});
  return out;
}

std::vector<double> prior_of(const Conjugate& spec, Index levels) {
  if (spec.family == Family::dirichlet_multinomial) {
    const auto wanted = static_cast<std::size_t>(levels);
    if (spec.prior.size() <= 1) return std::vector<double>(wanted, spec.prior.empty() ? 1.0 : spec.prior[0]);
    if (spec.prior.size() != wanted)
      throw Error(fmt::format("conjugate: prior has {} numbers, and a column has {}; give one for each, or one for all",
                              spec.prior.size(), count_of(levels, "level")));
    return spec.prior;
  }
  if (!spec.prior.empty()) return spec.prior;
  if (spec.family == Family::normal_normal) return {0, 0.01, 0.5, 0.5};
  return {1, 1};
}

Sums::Sums(Labels level_counts, ConjugateFamily family)
    : levels(std::move(level_counts)), counts(family == ConjugateFamily::gamma_poisson) {
  Index all = 0;
  for (const int count : levels) all += count;
  mean = squares = Vector::Zero(static_cast<Index>(levels.size()));
  level_weights = Vector::Zero(all);
}

/// Means first, then squares about them.
void Sums::accumulate(const Block& block) {
  Sums here = *this;
  here.rows = 0;
  here.mean.setZero();
  here.squares.setZero();
  here.level_weights.setZero();
  for (Index i = 0; i < block.rows(); ++i) {
    const double w = block.weight_of(i);
    if (!(w > 0)) continue;
    here.rows += w;
    Index start = 0;
    for (Index j = 0; j < here.mean.size(); start += levels[at(j)], ++j) {
      const double x = block.x(i, j);
      if (levels[at(j)] == 0) here.mean(j) += w * x;
      else if (x >= 0 && x < levels[at(j)]) here.level_weights(start + static_cast<Index>(x)) += w;
    }
  }
  if (!(here.rows > 0)) return;
  here.mean /= here.rows;
  for (Index i = 0; i < block.rows(); ++i)
    for (Index j = 0; j < here.mean.size(); ++j)
      if (levels[at(j)] == 0) {
        const double d = block.x(i, j) - here.mean(j), w = block.weight_of(i);
        if (w > 0) here.squares(j) += w * (counts ? log_gamma(block.x(i, j) + 1) : d * d);
      }
  merge(here);
}

void Sums::merge(const Sums& other) {
  level_weights += other.level_weights;
  if (!(other.rows > 0)) return;
  const double n = rows + other.rows;
  const Vector apart = other.mean - mean;
  squares += other.squares;
  if (!counts) squares += rows * other.rows / n * apart.cwiseAbs2();
  mean += other.rows / n * apart;
  rows = n;
}

Sums sums_of(const ConjugateModel& model) {
  Sums out(model.levels, model.spec.family);
  out.rows = model.rows;
  out.mean = model.means;
  out.squares = model.squares;
  out.level_weights = model.level_weights;
  return out;
}

void take(ConjugateModel& model, const Sums& sums) {
  model.rows = sums.rows;
  model.means = sums.mean;
  model.squares = sums.squares;
  model.levels = sums.levels;
  model.level_weights = sums.level_weights;
}

std::vector<Index> starts(const Conjugate& spec, const Labels& levels) {
  std::vector<Index> out{0};
  for (const int count : levels)
    out.push_back(out.back() + (spec.family == Family::dirichlet_multinomial ? std::max(count, 1) : 1));
  return out;
}

std::vector<Belief> beliefs(const Conjugate& spec, const Matrix& posterior, Index start, Index levels) {
  using Kind = Belief::Kind;
  const double a = posterior(start, 0);
  switch (spec.family) {
    case Family::beta_binomial: return {{Kind::beta, a, posterior(start, 1)}};
    case Family::gamma_poisson: return {{Kind::gamma, a, posterior(start, 1)}};
    case Family::dirichlet_multinomial: {
      const double all = posterior.col(0).segment(start, levels).sum();
      std::vector<Belief> out;
      for (Index l = 0; l < levels; ++l)
        out.push_back({Kind::beta, posterior(start + l, 0), all - posterior(start + l, 0)});
      return out;
    }
    case Family::normal_normal: {
      const double k = posterior(start, 1);
      if (spec.variance) return {{Kind::normal, a, std::sqrt(*spec.variance / k)}};
      const double shape = posterior(start, 2), rate = posterior(start, 3);
      return {{Kind::student, a, std::sqrt(rate / shape / k), 2 * shape}, {Kind::inverse_gamma, shape, rate}};
    }
  }
  return {};
}

namespace {

/// The row of the posterior of a column of numbers, and the logarithm of its evidence.
double update_numbers(const ConjugateModel& model, Index j, Eigen::Ref<Eigen::RowVectorXd> row) {
  const Conjugate& spec = model.spec;
  const std::vector<double> prior = prior_of(spec, 0);
  const double n = model.rows, mean = model.means(j), sum = n * mean, squares = model.squares(j);
  if (spec.family == Family::beta_binomial) {
    row << prior[0] + sum, prior[1] + (n - sum);
    return log_beta(row(0), row(1)) - log_beta(prior[0], prior[1]);
  }
  if (spec.family == Family::gamma_poisson) {  // the squares are Σ log x!
    row << prior[0] + sum, prior[1] + n;
    return log_gamma_constant(row(0), row(1)) - log_gamma_constant(prior[0], prior[1]) - squares;
  }
  const double m = prior[0], k = prior[1], apart = mean - m, k_after = k + n;
  const double about = squares + k * n / k_after * apart * apart;
  row(0) = (k * m + sum) / k_after;
  row(1) = k_after;
  if (spec.variance)
    return -0.5 * n * std::log(2 * std::numbers::pi * *spec.variance) + 0.5 * std::log(k / k_after) -
           0.5 * about / *spec.variance;
  row(2) = prior[2] + 0.5 * n;
  row(3) = prior[3] + 0.5 * about;
  return -0.5 * n * std::log(2 * std::numbers::pi) + 0.5 * std::log(k / k_after) + log_gamma_constant(row(2), row(3)) -
         log_gamma_constant(prior[2], prior[3]);
}

/// The same of a column of levels, in the first column of so many rows.
double update_levels(const ConjugateModel& model, Index first, Index levels, Eigen::Ref<Matrix> rows) {
  const std::vector<double> prior = prior_of(model.spec, levels);
  double before = 0, after = 0, out = 0;
  for (Index l = 0; l < levels; ++l) {
    const double count = model.level_weights(first + l);
    rows(l, 0) = prior[at(l)] + count;
    before += prior[at(l)];
    after += rows(l, 0);
    out += log_gamma(rows(l, 0)) - log_gamma(prior[at(l)]);
  }
  return out + log_gamma(before) - log_gamma(after);
}

}  // namespace

void finish(ConjugateModel& model) {
  const Conjugate& spec = model.spec;
  const bool by_level = spec.family == Family::dirichlet_multinomial;
  const Index p = model.width();
  const auto start = starts(spec, model.levels);
  const Index numbers = by_level ? 1 : spec.family == Family::normal_normal && !spec.variance ? 4 : 2;
  model.posterior = Matrix::Zero(start.back(), numbers);
  model.log_evidence = Vector::Zero(p);
  std::vector<Belief> all;
  for (Index j = 0; j < p; ++j) {
    const Index levels = start[at(j) + 1] - start[at(j)];
    if (by_level) {
      model.log_evidence(j) =
          update_levels(model, start[at(j)], levels, model.posterior.middleRows(start[at(j)], levels));
    } else {
      Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(numbers);
      model.log_evidence(j) = update_numbers(model, j, row);
      model.posterior.row(j) = row;
    }
    for (const Belief& each : beliefs(spec, model.posterior, start[at(j)], levels)) all.push_back(each);
  }
  model.log_bayes_factor = Vector();
  if (!spec.against.empty()) {
    ConjugateModel other = model;
    other.spec = held_against(spec);
    finish(other);
    model.log_bayes_factor = model.log_evidence - other.log_evidence;
  }
  model.quantities.resize(static_cast<Index>(all.size()), 6);
  const double rest = 0.5 * (1 - spec.level);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [low, high] = all[i].highest_density(spec.level);
    model.quantities.row(static_cast<Index>(i)) << all[i].mean(), all[i].deviation(), all[i].quantile(rest),
        all[i].quantile(1 - rest), low, high;
  }
}

}  // namespace lemma::conjugate
