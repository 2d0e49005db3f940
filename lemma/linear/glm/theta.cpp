// lemma/linear/glm/theta.cpp: how much counts scatter beyond Poisson's: θ of the negative binomial family.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/glm/parts.hpp>
#include <lemma/math/special.hpp>

namespace lemma::glm {
namespace {

constexpr int kMostTurns = 200, kMostSteps = 50;
constexpr double kSettled = 1e-12;  // of log θ
constexpr double kFewest = 64;      // counts up to this are summed over, which loses no digits where θ is large

/// ψ(θ + y) − ψ(θ) and ψ'(θ) − ψ'(θ + y): for a count sums of 1 / (θ + k) and of their squares.
struct Differences {
  double psi = 0, slope = 0;
};
Differences differences(double theta, double y) {
  Differences out;
  if (y > kFewest || y != std::floor(y))
    return {digamma(theta + y) - digamma(theta), trigamma(theta) - trigamma(theta + y)};
  for (double k = 0; k < y; ++k) {
    const double inverse = 1 / (theta + k);
    out.psi += inverse;
    out.slope += inverse * inverse;
  }
  return out;
}

/// Σ w of d log L / dθ and of −d² log L / dθ² at given means.
struct ThetaScore {
  const Problem* problem;
  const Coefficients* at;
  double score = 0, information = 0;

  void accumulate(const Block& block) {
    const Evaluated rows = evaluate(*problem, block, *at, true);
    const double theta = problem->law.theta;
    for (Index i = 0; i < rows.size(); ++i) {
      if (rows.mass(i) == 0) continue;
      const double y = rows.y[static_cast<std::size_t>(i)], mean = rows[i].mean, both = theta + mean;
      const Differences of = differences(theta, y);
      score += rows.mass(i) * (of.psi - std::log1p(mean / theta) + (mean - y) / both);
      information += rows.mass(i) * (of.slope - mean / (theta * both) - (y - mean) / (both * both));
    }
  }
  void merge(const ThetaScore& other) {
    score += other.score;
    information += other.information;
  }
};

/// Σ w ((y − μ)² − y), above 0 where the counts scatter more than Poisson's, and Σ w (y / μ − 1)².
struct Scatter {
  const Problem* problem;
  const Coefficients* at;
  double beyond = 0, relative = 0, mass = 0;

  void accumulate(const Block& block) {
    const Evaluated rows = evaluate(*problem, block, *at, true);
    for (Index i = 0; i < rows.size(); ++i) {
      if (rows.mass(i) == 0) continue;
      const double y = rows.y[static_cast<std::size_t>(i)], mean = rows[i].mean;
      beyond += rows.mass(i) * ((y - mean) * (y - mean) - y);
      relative += rows.mass(i) * (y / mean - 1) * (y / mean - 1);
      mass += rows.mass(i);
    }
  }
  void merge(const Scatter& other) {
    beyond += other.beyond;
    relative += other.relative;
    mass += other.mass;
  }
};

double beside_means(Problem problem, const Coefficients& at, const Rows& rows, const Execution& execution) {
  double last = INFINITY;
  for (int k = 0; k < kMostSteps; ++k) {
    const double step = std::clamp(look_at_theta(problem, at, rows, execution).step, -2.0, 2.0);
    if (std::abs(step) >= last && last < 1e-6) break;  // rounding is all that is left
    problem.law.theta *= std::exp(step);
    last = std::abs(step);
    if (last <= kSettled) break;
  }
  return problem.law.theta;
}

}  // namespace

/// Newton in u = log θ: d log L / du = θ s and −d² log L / du² = θ² I − θ s. Where that is not positive, one unit uphill.
ThetaLook look_at_theta(const Problem& problem, const Coefficients& at, const Rows& rows, const Execution& execution) {
  const auto found = scan(rows, ThetaScore{&problem, &at}, execution);
  const double theta = problem.law.theta, slope = theta * found.score,
               curvature = theta * theta * found.information - slope;
  return {curvature > 0 ? slope / curvature : std::copysign(1.0, slope), found.information};
}

double learn_theta(Problem problem, const Survey& known, const Rows& rows, const Glm& spec,
                   const Execution& execution) {
  Problem poisson = problem;
  poisson.law = {GlmFamily::poisson, problem.law.link};
  const Fit start = maximise(poisson, known, rows, spec, execution.part(0, 0.3));
  const auto scatter = scan(rows, Scatter{&start.problem, &start.at}, execution.part(0.3, 0.35));
  if (!(scatter.beyond > 0))
    throw Error(fmt::format(
        "glm: {} scatters no more than a Poisson count would, so theta has no finite estimate; use --family "
        "poisson, or give --theta",
        rows.target.empty() ? "the response" : "'" + rows.target + "'"));
  problem.columns = start.problem.columns;
  problem.law.theta = scatter.mass / scatter.relative;
  Coefficients at = start.at;
  double last = INFINITY;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    const auto part = execution.part(1 - 0.65 * std::pow(0.8, turn), 1 - 0.65 * std::pow(0.8, turn + 1), "theta");
    const double theta = beside_means(problem, at, rows, part);
    const double moved = std::abs(std::log(theta / problem.law.theta));
    problem.law.theta = theta;
    if (moved <= kSettled || (moved >= last && last < 1e-9)) break;
    last = moved;
    const Held found = minimise_deviance(problem, at, rows, part, 1e-22);
    if (!std::isfinite(found.deviance)) break;
    at = found.at;
  }
  return problem.law.theta;
}

}  // namespace lemma::glm
