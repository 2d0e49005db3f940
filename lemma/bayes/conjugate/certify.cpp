// lemma/bayes/conjugate/certify.cpp: the model held against the rows, seen anew.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/conjugate/parts.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/comparison.hpp>
#include <numbers>

namespace lemma {
namespace conjugate {

Look::Look(const ConjugateModel& of)
    : model(&of),
      shift(Vector::Zero(of.width())),
      squares(shift),
      level_weights(Vector::Zero(of.level_weights.size())) {}

void Look::accumulate(const Block& block) {
  const bool counts = model->spec.family == ConjugateFamily::gamma_poisson;
  for (Index i = 0; i < block.rows(); ++i) {
    const double w = block.weight_of(i);
    if (!(w > 0)) continue;
    rows += w;
    Index start = 0;
    for (Index j = 0; j < shift.size(); start += model->levels[at(j)], ++j) {
      const double x = block.x(i, j), d = x - model->means(j);
      if (model->levels[at(j)] > 0) {
        if (x >= 0 && x < model->levels[at(j)]) level_weights(start + static_cast<Index>(x)) += w;
      } else {
        shift(j) += w * d;
        squares(j) += w * (counts ? log_gamma(x + 1) : d * d);
      }
    }
  }
}

void Look::merge(const Look& other) {
  rows += other.rows;
  shift += other.shift;
  squares += other.squares;
  level_weights += other.level_weights;
}

void Look::add(const Sums& past) {
  const Vector d = past.mean - model->means;
  rows += past.rows;
  shift += past.rows * d;
  squares += past.squares;
  if (!past.counts) squares += past.rows * d.cwiseAbs2();
  level_weights += past.level_weights;
}

namespace {

double log_beta_density(double x, double a, double b) {
  return log_gamma(a + b) - log_gamma(a) - log_gamma(b) + (a - 1) * std::log(x) + (b - 1) * std::log1p(-x);
}
double log_gamma_density(double x, double a, double b) {
  return a * std::log(b) - log_gamma(a) + (a - 1) * std::log(x) - b * x;
}
double log_normal_density(double x, double mean, double variance) {
  return -0.5 * std::log(2 * std::numbers::pi * variance) - 0.5 * (x - mean) * (x - mean) / variance;
}

/// log p(rows) = log p(rows | θ) + log p(θ) − log p(θ | rows) at one θ, the middle of the posterior (Chib): no ratio of constants.
double evidence_at_a_point(const ConjugateModel& m, Index j) {
  const auto& spec = m.spec;
  const auto start = starts(spec, m.levels);
  const Index first = start[at(j)], levels = start[at(j) + 1] - first;
  const std::vector<double> prior = prior_of(spec, levels);
  const double n = m.rows, sum = n * m.means(j), a = m.posterior(first, 0);
  switch (spec.family) {
    case ConjugateFamily::beta_binomial: {
      const double b = m.posterior(first, 1), phi = a / (a + b);
      return sum * std::log(phi) + (n - sum) * std::log1p(-phi) + log_beta_density(phi, prior[0], prior[1]) -
             log_beta_density(phi, a, b);
    }
    case ConjugateFamily::gamma_poisson: {
      const double b = m.posterior(first, 1), rate = a / b;
      return sum * std::log(rate) - n * rate - m.squares(j) + log_gamma_density(rate, prior[0], prior[1]) -
             log_gamma_density(rate, a, b);
    }
    case ConjugateFamily::dirichlet_multinomial: {
      double out = 0, before = 0, after = 0;
      const double all = m.posterior.col(0).segment(first, levels).sum();
      for (Index l = 0; l < levels; ++l) {
        const double alpha = m.posterior(first + l, 0), pi = std::log(alpha / all);
        out +=
            m.level_weights(first + l) * pi + (prior[at(l)] - alpha) * pi - log_gamma(prior[at(l)]) + log_gamma(alpha);
        before += prior[at(l)];
        after += alpha;
      }
      return out + log_gamma(before) - log_gamma(after);
    }
    case ConjugateFamily::normal_normal: {
      const double k = m.posterior(first, 1);
      const double variance = spec.variance ? *spec.variance : m.posterior(first, 3) / m.posterior(first, 2);
      const double d = m.means(j) - a;
      double out = -0.5 * n * std::log(2 * std::numbers::pi * variance) - 0.5 * (m.squares(j) + n * d * d) / variance +
                   log_normal_density(a, prior[0], variance / prior[1]) - log_normal_density(a, a, variance / k);
      if (!spec.variance)
        out += log_gamma_density(1 / variance, prior[2], prior[3]) -
               log_gamma_density(1 / variance, m.posterior(first, 2), m.posterior(first, 3));
      return out;
    }
  }
  return 0;
}

/// By the probability inside the intervals, and the density at the ends of the shortest.
void compare_intervals(Comparison& same, const ConjugateModel& m) {
  const auto start = starts(m.spec, m.levels);
  Index row = 0;
  for (Index j = 0; j < m.width(); ++j)
    for (const Belief& each : beliefs(m.spec, m.posterior, start[at(j)], start[at(j) + 1] - start[at(j)])) {
      const auto q = m.quantities.row(row);
      same.entry("quantities", 6 * row, q(0), each.mean(), std::abs(each.mean()) + 1e-12);
      same.entry("quantities", 6 * row + 1, q(1), each.deviation(), std::abs(each.deviation()));
      const double rest = 0.5 * (1 - m.spec.level);
      same.entry("quantities", 6 * row + 2, each.cdf(q(2)), rest, 1, 1e-8);
      same.entry("quantities", 6 * row + 3, each.cdf(q(3)), 1 - rest, 1, 1e-8);
      same.entry("quantities", 6 * row + 5, each.cdf(q(5)) - each.cdf(q(4)), m.spec.level, 1, 1e-8);
      const bool bounded = each.kind == Belief::Kind::beta || each.kind == Belief::Kind::gamma;
      const bool at_an_end = bounded && (each.a <= 1 || (each.kind == Belief::Kind::beta && each.b <= 1));
      if (!at_an_end) same.entry("quantities", 6 * row + 4, each.log_density(q(4)), each.log_density(q(5)), 1, 1e-5);
      else same.entry("quantities", 6 * row + 4, q(4), each.highest_density(m.spec.level).first, 1);
      ++row;
    }
}

}  // namespace

Certificate certificate_of(const ConjugateModel& model, const Look& look) {
  Comparison same;
  ConjugateModel anew = model;
  const bool counts = model.spec.family == ConjugateFamily::gamma_poisson;
  same.relative("rows", model.rows, look.rows);
  for (Index l = 0; l < look.level_weights.size(); ++l)
    same.entry("level_weights", l, model.level_weights(l), look.level_weights(l), look.rows);
  for (Index j = 0; j < model.width(); ++j) {
    const double off = look.rows > 0 ? look.shift(j) / look.rows : 0;
    const double squares = look.squares(j) - (counts ? 0 : look.rows * off * off);
    const double spread = counts ? std::sqrt(model.means(j)) : std::sqrt(std::max(squares, 0.0) / look.rows);
    const double rounding = 1e-6 * std::abs(model.means(j)) + 1e-300;
    same.entry("means", j, off, 0, spread + rounding);
    same.entry("squares", j, model.squares(j), squares, std::abs(squares) + look.rows * rounding * rounding);
    anew.squares(j) = squares;
  }
  anew.rows = look.rows;
  anew.level_weights = look.level_weights;
  finish(anew);
  for (Index i = 0; i < anew.posterior.rows(); ++i)
    for (Index c = 0; c < anew.posterior.cols(); ++c)
      same.entry("posterior", i * anew.posterior.cols() + c, model.posterior(i, c), anew.posterior(i, c),
                 std::abs(anew.posterior(i, c)) + 1e-9 * (c == 0 ? 1 : 0));
  ConjugateModel other = anew;  // what the rows are with the other prior
  other.spec = held_against(model.spec);
  const bool held = model.log_bayes_factor.size() == model.width();
  if (held) finish(other);
  double worst = 0;
  for (Index j = 0; j < model.width(); ++j) {
    const double found = evidence_at_a_point(anew, j), size = std::abs(found) + look.rows;
    same.entry("log_evidence", j, model.log_evidence(j), found, size);
    worst = std::max(worst, std::abs(model.log_evidence(j) - found) / size);
    if (!held) continue;
    const double against = evidence_at_a_point(other, j);
    same.entry("log_bayes_factor", j, model.log_bayes_factor(j), found - against, size + std::abs(against));
  }
  compare_intervals(same, model);
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "difference of the evidence";
  out.value = worst;
  out.tolerance = 1e-9;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format(
      "The posterior is that of the rows, its intervals hold their probability, and the evidence is prior times "
      "likelihood "
      "over posterior at one point, up to {:.1e} of its size (allowed {:.0e}).",
      out.value, out.tolerance);
  if (same.finding()) {
    same.report(out);
    out.message = fmt::format("{}'{}' is not that of the rows: it is off by {:.1e} of its size (allowed {:.0e}).",
                              same.finding()->place.empty() ? "" : "Of these numbers " + same.finding()->place,
                              same.finding()->field, out.value, out.tolerance);
  }
  return out;
}

}  // namespace conjugate

Certificate certify(const ConjugateModel& model, const Rows& rows, const Execution& execution) {
  for (Index j = 0; j < rows.width(); ++j)
    require((rows.holds_codes(j) ? rows.levels[at(j)].size() : 0) == static_cast<std::size_t>(model.levels[at(j)]),
            "conjugate: the rows do not have the levels of the model");
  return conjugate::certificate_of(model, scan(rows, conjugate::Look(model), execution));
}

}  // namespace lemma
