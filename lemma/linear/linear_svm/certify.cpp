// lemma/linear/linear_svm/certify.cpp: a dual point from the plane and the rows alone, and the other numbers of the model.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/linear_svm/entry_rows.hpp>
#include <lemma/linear/linear_svm/second_look.hpp>
#include <lemma/linear/shared/margin_problem.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/optimize/programme.hpp>

namespace lemma {
namespace margin {
namespace {

constexpr double kOnTheMargin = 1e-6;  // |t f − 1|, beside the size of the terms of f
constexpr Index kMostOnIt = 500;
constexpr int kLeastSteps = 200;  // of a solver that looks for a bound, however few the fit was allowed

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

Point proved(const LinearSvm& spec, const Problem& problem, const RowProducts& rows, const Vector& theta,
             const Execution& execution) {
  Point point;
  point.theta = theta;
  point.stopped = Stop::looked_again;
  point.alpha = recovered_alpha(problem, rows, theta);
  judge(problem, rows, point);
  const double tolerance = tolerance_of(spec);
  if (point.gap() <= tolerance) return point;
  // Where the margins do not say enough (rows on many of them, columns on very different scales) any other dual point
  // will do.
  const SolveOptions how{tolerance, std::max(spec.max_iterations, kLeastSteps), 1, execution};
  const auto take = [&](const Point& lower) {
    if (!(lower.dual > point.dual)) return;
    point.dual = lower.dual;
    point.iterations = lower.iterations;
  };
  if (few_columns(rows.rows()))
    take(problem.squared() ? newton(problem, rows, how) : interior_point(problem, rows, how));
  if (point.gap() <= tolerance) return point;
  const EntryRows entries(rows.rows(), tolerance >= 1e-6, execution);
  take(descend(problem, RowProducts(rows.rows(), {}, execution), entries, how, point.alpha));
  return point;
}

namespace {

/// Asked of the rows as they were given, so that a message names them by their numbers there.
const Rows& usable(const Rows& given, const Execution& execution) {
  require_finite(given, execution);
  return given;
}

}  // namespace

SecondLook::SecondLook(const LinearSvm& of, const Rows& given, const Execution& how)
    : spec(of),
      execution(how),
      in_order(usable(given, how.part(0, 0.02)), how.part(0.02, 0.04)),
      rows(*in_order),
      columns(look_at_columns(LinearSvm::name, rows, how.part(0.04, 0.05))),
      factors(class_factors(LinearSvm::name, of.class_weights, class_counts(LinearSvm::name, rows), rows.classes)),
      products(rows, centre_for(of, columns), how) {}

Point SecondLook::at(const Problem& problem, const Vector& users) const {
  return proved(spec, problem, products, about_centre(users, products.centre()), execution);
}

}  // namespace margin

Certificate certify(const LinearSvmModel& model, const Rows& given, const Execution& execution) {
  using namespace margin;
  const SecondLook look(model.spec, given, execution);
  const Rows& rows = look.rows;
  const RowProducts& products = look.products;
  const auto& factors = look.factors;
  Certificate out;
  Comparison same;
  for (Index k = 0; k < model.planes(); ++k) {
    const Problem problem = look.problem(k);
    Vector users(model.width() + 1);
    users << model.intercept.of(k), model.coefficients.of.row(k).transpose();
    const Point point = look.at(problem, users);
    const Vector& theta = point.theta;
    if (k == 0 || !(point.gap() <= out.value)) out = certificate_of(point, tolerance_of(model.spec));

    const Vector f = products.times(theta);
    Vector slopes = theta;
    slopes(0) = 0;
    const double best = problem.best_bias(products.times(slopes));
    // b was rounded in the user's units, where it may be large.
    const double rounding = 1e-15 * (std::abs(model.intercept.of(k)) + std::abs(theta(0)));
    const double unit = 1 + std::abs(best) + 1e6 * rounding;
    const double value = model.objective_primal.of(k), dual = model.objective_dual.of(k);
    same.entry("objective_primal", k, value, point.primal, point.primal, 1e-9);
    same.entry("intercept", k, theta(0), best, unit, 1e-6);
    const double near = 0.5 * kOnIt + rounding;  // rows so near to the border of the count may be on either side of it
    const double least = support_weight(problem, rows, f, kOnIt - near),
                 most = support_weight(problem, rows, f, kOnIt + near);
    same.entry("n_support", k, model.n_support.of(k), std::clamp(model.n_support.of(k), least, most), 0);
    same.entry("objective_dual", k, std::max(dual, value), value, value, 1e-9);  // D is nowhere above P
    same.entry("gap", k, model.gap.of(k), std::max(0.0, value - dual) / value, 1, 1e-12);
  }
  for (Index k = 0; k < model.class_factors.size(); ++k)
    same.entry("class_factors", k, model.class_factors(k), factors[static_cast<std::size_t>(k)], 1);
  if (out.holds() && same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
