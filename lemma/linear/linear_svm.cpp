// lemma/linear/linear_svm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/linear_svm/entry_rows.hpp>
#include <lemma/linear/linear_svm/second_look.hpp>
#include <lemma/linear/shared/margin_problem.hpp>
#include <lemma/linear/shared/planes.hpp>
#include <lemma/model/claim.hpp>
#include <memory>
#include <optional>

namespace lemma {
namespace {

using namespace margin;

constexpr Index kFewColumns = 200, kMostColumns = 1000;
constexpr double kMostWork = 4e9;  // n p²: what a step of the exact solvers may cost
constexpr double kRough = 1e-6;    // tolerance from which on float32 entries are enough

LinearSvmSolver chosen_solver(const LinearSvm& spec, const Rows& rows) {
  if (spec.solver != LinearSvmSolver::automatic) return spec.solver;
  return few_columns(rows) ? LinearSvmSolver::exact : LinearSvmSolver::dual;
}

/// Columns far from 0 that are not taken about their means: the last bits of α decide what such a dual point proves, and whether
/// another look finds one as good is not known before it has been taken.
bool far_from_zero(const LinearSvm& spec, const Columns& columns) {
  if (centre_for(spec, columns).size() > 0) return false;
  constexpr double kFar = 1e3;
  for (Index j = 0; j < columns.centre.size(); ++j)
    if (std::abs(columns.centre(j)) > kFar * columns.spread(j) && columns.spread(j) > 0) return true;
  return false;
}

/// The plane in the user's units, judged by the numbers that it has there; where the solver's own dual point does not
/// prove it, or is in doubt, by what a second look at the rows finds.
Point settled(const LinearSvm& spec, const Problem& problem, const RowProducts& rows, Index plane, Point point,
              bool centred, bool doubtful, std::optional<SecondLook>& look, const Execution& execution) {
  const Vector& centre = rows.centre();
  if (centred && centre.size() > 0) point.theta(0) -= centre.dot(point.theta.tail(centre.size()));
  const Vector users = point.theta;
  point.theta = about_centre(users, centre);
  judge(problem, rows, point);
  if ((doubtful || !(point.gap() <= tolerance_of(spec))) && point.theta.allFinite() &&
      point.stopped != Stop::cancelled) {
    if (!look) look.emplace(spec, rows.rows(), execution);
    const Point second = look->at(look->problem(plane), users);
    point.primal = second.primal;
    point.dual = second.dual;
  }
  point.theta = users;
  return point;
}

}  // namespace

namespace margin {

bool few_columns(const Rows& rows) {
  const auto n = static_cast<double>(rows.count()), p = static_cast<double>(rows.width());
  return rows.width() <= kFewColumns || (rows.width() <= kMostColumns && p <= n && n * p * p <= kMostWork);
}

Vector centre_for(const LinearSvm& spec, const Columns& columns) {
  if (spec.intercept && spec.bias == Bias::free) return columns.centre;
  return {};
}

Vector about_centre(Vector theta, const Vector& centre) {
  if (centre.size() > 0) theta(0) += centre.dot(theta.tail(centre.size()));
  return theta;
}

Problem problem_of(const LinearSvm& spec, const Rows& rows, const std::vector<double>& factors, Index plane) {
  Problem out;
  out.loss = spec.loss;
  out.intercept = spec.intercept;
  out.bias = spec.bias;
  set_sides(out, rows, spec.C, factors, plane);
  return out;
}

double tolerance_of(const LinearSvm& spec) {
  return spec.solver == LinearSvmSolver::pegasos ? std::min(0.1, 100 * spec.tolerance) : spec.tolerance;
}

Certificate certificate_of(const Point& worst, double tolerance) {
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "relative duality gap";
  out.value = worst.gap();
  out.tolerance = claimed(tolerance, 1e-2);  // averaged subgradients prove no more
  out.iterations = worst.iterations;
  out.stopped = name_of(worst.stopped);
  out.error_bound =
      std::sqrt(2 * std::max(worst.primal - worst.dual, 1e-15 * worst.primal));  // P is 1-strongly convex in w
  out.message = fmt::format(
      "The objective exceeds the least possible one by at most {:.1e} of itself (allowed {:.0e}), as a feasible point "
      "of the "
      "dual proves; the coefficients are within {:.1e} of the best ones.",
      out.value, out.tolerance, *out.error_bound);
  return out;
}

}  // namespace margin

LinearSvmModel fit(const Valid<LinearSvm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Columns columns = look_at_columns(LinearSvm::name, rows, execution.part(0, 0.05, "looking at the columns"));
  const auto factors =
      class_factors(LinearSvm::name, spec->class_weights, class_counts(LinearSvm::name, rows), rows.classes);

  LinearSvmModel model;
  model.spec = *spec;
  model.spec.solver = chosen_solver(*spec, rows);
  model.class_factors = Eigen::Map<const Vector>(factors.data(), static_cast<Index>(factors.size()));
  if (auto complaint = complaint_about(LinearSvm::name, rows, columns); !complaint.empty())
    model.warnings.push_back(std::move(complaint));
  const Index planes = planes_for(rows);
  model.coefficients.of.resize(planes, rows.width());
  for (PathNumbers* each :
       {&model.intercept, &model.objective_primal, &model.objective_dual, &model.gap, &model.n_support})
    each->of.resize(planes);

  const RowProducts plain(rows, {}, execution), products(rows, centre_for(*spec, columns), execution);
  const bool doubtful = far_from_zero(*spec, columns);
  std::optional<SecondLook> look;  // where it is needed
  std::unique_ptr<EntryRows> entries;
  if (model.spec.solver != LinearSvmSolver::exact)
    entries = std::make_unique<EntryRows>(rows, tolerance_of(model.spec) >= kRough, execution);
  for (Index k = 0; k < planes; ++k) {
    const auto share = [&](Index of) { return 0.05 + 0.95 * static_cast<double>(of) / static_cast<double>(planes); };
    const SolveOptions how{tolerance_of(model.spec), spec->max_iterations, options.seed + static_cast<std::uint64_t>(k),
                           execution.part(share(k), share(k + 1))};
    const Problem problem = problem_of(*spec, rows, factors, k);
    const bool exact = model.spec.solver == LinearSvmSolver::exact;
    Point found = exact && problem.squared()                   ? newton(problem, products, how)
                  : exact                                      ? interior_point(problem, products, how)
                  : model.spec.solver == LinearSvmSolver::dual ? descend(problem, plain, *entries, how)
                                                               : pegasos(problem, plain, *entries, how);
    const Point point =
        settled(model.spec, problem, products, k, std::move(found), exact, doubtful, look, how.execution);
    lemma::planes::require_numbers(LinearSvm::name, point.theta.allFinite(), rows.features, columns.spread);
    model.coefficients.of.row(k) = point.theta.tail(rows.width()).transpose();
    model.intercept.of(k) = point.theta(0);
    model.objective_primal.of(k) = point.primal;
    model.objective_dual.of(k) = point.dual;
    model.gap.of(k) = point.gap();
    model.n_support.of(k) = support_weight(problem, rows, products.times(about_centre(point.theta, products.centre())));
    if (k == 0 || !(point.gap() <= model.certificate.value))
      model.certificate = certificate_of(point, tolerance_of(model.spec));
  }
  if (!model.certificate.holds() && model.spec.solver == LinearSvmSolver::pegasos)
    model.warnings.push_back(fmt::format(
        "pegasos is a rough method, whose gap falls like 1 / passes: it is {:.1e} after {} passes; --solver "
        "exact (few columns) or dual come closer",
        model.certificate.value, model.certificate.iterations));
  else if (!model.certificate.holds())
    model.warnings.push_back(
        fmt::format("the optimum was not reached ({}, gap {:.1e}): more --max_iterations or a smaller C, or "
                    "columns on like scales ('scale | linear_svm'), will help",
                    model.certificate.stopped, model.certificate.value));
  return model;
}

template const Method& method_of<LinearSvm>();

}  // namespace lemma
