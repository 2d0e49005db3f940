// lemma/kernel/linear_svm_certify.cpp: a dual point from the plane and the rows alone, and the other numbers of the model.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/entry_rows.hpp>
#include <lemma/kernel/margin_problem.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/optimize/programme.hpp>

namespace lemma {
namespace margin {
namespace {

constexpr double kOnTheMargin = 1e-6;  // |t f − 1|, beside the size of the terms of f
constexpr Index kMostOnIt = 500;

/// α of the rows on the margin: those for which Σ α t x comes nearest to w, all others being given.
///
///     minimise ½ ‖Σ α t x‖² − Σ α,     0 ≤ α ≤ c,     Σ α t = 0 for a free bias.
void settle(const Problem& problem, const RowProducts& rows, const std::vector<Index>& on, Vector& alpha) {
  const auto m = static_cast<Index>(on.size());
  const Index first = problem.intercept && problem.bias == Bias::penalised ? 0 : 1, terms = rows.width() + 1 - first;
  const Vector given = rows.add_up(alpha.cwiseProduct(problem.t));
  Matrix z(m, terms);
  QuadraticProgramme programme;
  programme.linear.c.resize(m);
  programme.linear.lower = Vector::Zero(m);
  programme.linear.upper.resize(m);
  Matrix sides(1, m);
  for (Index k = 0; k < m; ++k) {
    const Index i = on[static_cast<std::size_t>(k)];
    z.row(k) = problem.t(i) * rows.row(i).tail(terms).transpose();
    programme.linear.c(k) = z.row(k).dot(given.tail(terms)) - 1;
    programme.linear.upper(k) = problem.c(i);
    sides(0, k) = problem.t(i);
  }
  programme.q = z * z.transpose();
  if (problem.free_bias()) {
    programme.linear.a = sides;
    programme.linear.row_lower = programme.linear.row_upper = Vector::Constant(1, -given(0));
  }
  // Near one is enough for a bound; where the programme has no point the classes cannot be balanced by these rows.
  const ProgrammeAnswer answer = solve(programme);
  for (Index k = 0; k < m; ++k)
    if (answer.x.size() == m && std::isfinite(answer.x(k))) alpha(on[static_cast<std::size_t>(k)]) = answer.x(k);
}

}  // namespace

Vector recovered_alpha(const Problem& problem, const RowProducts& rows, const Vector& theta) {
  const Vector f = rows.times(theta);
  Vector alpha = Vector::Zero(f.size());
  std::vector<std::pair<double, Index>> near;
  const double size = 1 + std::abs(theta(0));
  for (Index i = 0; i < f.size(); ++i) {
    const double slack = 1 - problem.t(i) * f(i);
    if (!(problem.c(i) > 0)) continue;
    if (problem.squared()) {
      alpha(i) = 2 * problem.c(i) * std::max(0.0, slack);
    } else if (std::abs(slack) <= kOnTheMargin * size) {
      near.emplace_back(std::abs(slack), i);
    } else {
      alpha(i) = slack > 0 ? problem.c(i) : 0.0;
    }
  }
  std::sort(near.begin(), near.end());
  std::vector<Index> on;
  for (const auto& [distance, i] : near) {
    if (static_cast<Index>(on.size()) < kMostOnIt) on.push_back(i);
    else alpha(i) = 0.5 * problem.c(i);
  }
  if (!on.empty()) settle(problem, rows, on, alpha);
  return alpha;
}

namespace {

/// The best dual point there is for this plane: from its margins, and where that is not enough by descent from there.
Point proved(const LinearSvm& spec, const Problem& problem, const RowProducts& rows, const Vector& theta,
             std::unique_ptr<EntryRows>& entries, const Execution& execution) {
  Point point;
  point.theta = theta;
  point.stopped = "looked at again";
  point.alpha = recovered_alpha(problem, rows, theta);
  judge(problem, rows, point);
  const double tolerance = tolerance_of(spec);
  if (point.gap() <= tolerance) return point;
  if (!entries) entries = std::make_unique<EntryRows>(rows.rows(), tolerance >= 1e-6, execution);
  // The least P possible is below this plane's own: half of what is allowed may be between them.
  Point lower = descend(problem, rows, *entries, {tolerance, spec.max_iterations, 1, execution}, point.alpha);
  if (lower.dual > point.dual) {
    point.dual = lower.dual;
    point.iterations = lower.iterations;
  }
  return point;
}

}  // namespace
}  // namespace margin

Certificate certify(const LinearSvmModel& model, const Rows& rows, const Execution& execution) {
  using namespace margin;
  check_rows(LinearSvm::name, LinearSvm::about, rows);
  require(rows.width() == model.width() && planes_for(rows) == model.planes(),
          fmt::format("linear_svm: the model has {} columns and {} planes, which the rows do not fit", model.width(),
                      model.planes()));
  model.check();
  if (!rows.sparse()) require_finite(rows, execution);
  const auto factors =
      class_factors(LinearSvm::name, model.spec.class_weights, class_counts(LinearSvm::name, rows), rows.classes);
  const RowProducts products(rows, {}, execution);
  std::unique_ptr<EntryRows> entries;
  Certificate out;
  Comparison same;
  for (Index k = 0; k < model.planes(); ++k) {
    const Problem problem = problem_of(model.spec, rows, factors, k);
    Vector theta(model.width() + 1);
    theta << model.intercept.of(k), model.coefficients.of.row(k).transpose();
    const Point point = proved(model.spec, problem, products, theta, entries, execution);
    if (k == 0 || !(point.gap() <= out.value)) out = certificate_of(point, tolerance_of(model.spec));

    const Vector f = products.times(theta);
    Vector slopes = theta;
    slopes(0) = 0;
    const double best = problem.best_bias(products.times(slopes)), unit = 1 + std::abs(best);
    const double value = model.objective_primal.of(k), dual = model.objective_dual.of(k);
    same.entry("objective_primal", k, value, point.primal, point.primal, 1e-9);
    same.entry("intercept", k, theta(0), best, unit, 1e-6);
    same.entry("n_support", k, model.n_support.of(k), support_weight(problem, rows, f), 0);
    same.entry("objective_dual", k, std::max(dual, value), value, value, 1e-9);  // D is nowhere above P
    same.entry("gap", k, model.gap.of(k), std::max(0.0, value - dual) / value, 1, 1e-12);
  }
  for (Index k = 0; k < model.class_factors.size(); ++k)
    same.entry("class_factors", k, model.class_factors(k), factors[static_cast<std::size_t>(k)], 1);
  if (out.holds() && same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
