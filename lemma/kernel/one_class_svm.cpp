// lemma/kernel/one_class_svm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/one_class_svm.hpp>
#include <lemma/kernel/shared/support.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace {

constexpr double kFeasible = 1e-9;  // of bounds and of Σ α = 1

/// Cᵢ = weightᵢ / (ν n).
Vector bounds(const OneClassSvm& spec, const KernelRows& data) { return data.weight / (spec.nu * data.mass()); }

/// A point of the dual to begin with: the first rows, as much as they may carry, until their sum is 1.
Vector first_rows(const Vector& bound) {
  Vector alpha = Vector::Zero(bound.size());
  double left = 1;
  for (Index i = 0; i < bound.size() && left > 0; ++i) {
    alpha(i) = std::min(bound(i), left);
    left -= alpha(i);
  }
  return alpha;
}

/// What multipliers are worth. `values`: ⟨w, φ(x)⟩ of the rows.
struct Standing {
  double squared_norm = 0, gap = 0;
  /// P − D = ‖w‖² − ρ + Σ C max(0, ρ − value), beside ½‖w‖².
  Standing(const Vector& bound, const Vector& values, double rho, double norm2) : squared_norm(norm2) {
    double above = squared_norm - rho;
    for (Index i = 0; i < values.size(); ++i) above += bound(i) * std::max(0.0, rho - values(i));
    gap = above == 0 ? 0 : squared_norm > 0 ? std::max(above, 0.0) / (squared_norm / 2) : 1;
    if (std::isnan(above)) gap = above;
  }
};

double weight_below(const KernelRows& data, const Vector& values, double bound) {
  double out = 0;
  for (Index i = 0; i < values.size(); ++i)
    if (values(i) < bound) out += data.weight(i);
  return out;
}

}  // namespace

void OneClassSvm::check() const {
  require(!kernel.contains<Precomputed>(), "one_class_svm: a precomputed kernel is not taken; name the kernel");
}

void OneClassSvmModel::check() const {
  const Index count = dual_coefficients.size();
  require(count > 0 && dual_coefficients.allFinite() && (dual_coefficients.array() > 0).all(),
          "one_class_svm: a multiplier is not usable");
  support_vectors.check(OneClassSvm::name, spec.kernel, count);
  check_places(OneClassSvm::name, spec.kernel, places, support_vectors.width, count);
  for (const double each : {rho, objective, n_support, n_outside, mass})
    require(std::isfinite(each), "one_class_svm: a number of the model is not usable");
  require(n_support == static_cast<double>(count) && mass > 0, "one_class_svm: its numbers do not fit together");
}

Vector OneClassSvmModel::score(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, support_vectors.points(spec.kernel, places.of));
  return kernel.expand(x, Matrix(dual_coefficients)).col(0).array() - rho;
}

Strings OneClassSvmModel::outlier(const MatrixView& x) const {
  const BoundKernel kernel(spec.kernel, support_vectors.points(spec.kernel, places.of));
  const double on_the_plane = known_to(spec.tolerance, objective, kernel);
  const Vector f = score(x);
  Strings out;
  for (const double each : f) out.emplace_back(each < -on_the_plane ? "yes" : "no");
  return out;
}

std::string OneClassSvmModel::summary(const Names&) const {
  return fmt::format(
      "Kernel: {}\nnu = {}: at most {} of {} rows may lie outside\n\nrho = {}, ½‖w‖² = {}\n"
      "{} carry the plane; {} lie outside\n",
      shown(spec.kernel), format_significant(spec.nu), format_significant(std::floor(spec.nu * mass + 1e-9)),
      format_significant(mass), format_significant(rho, 5), format_significant(objective, 5),
      count_of(static_cast<std::int64_t>(n_support), "row"), format_significant(n_outside));
}

OneClassSvmModel fit(const Valid<OneClassSvm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  if (!rows.sparse()) scan(rows, ColumnSizes(rows.width()), execution).require_usable(OneClassSvm::name, rows);
  const KernelRows data = kernel_rows(OneClassSvm::name, spec->kernel, rows, execution);
  OneClassSvmModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  const BoundKernel kernel(model.spec.kernel, data.points);
  require_positive(OneClassSvm::name, kernel, execution);
  const Vector bound = bounds(*spec, data);

  DualProblem problem;
  problem.kernel = &kernel;
  for (Index i = 0; i < data.count(); ++i) problem.row.push_back(i);
  problem.sign.assign(at(data.count()), 1);
  problem.linear = Vector::Zero(data.count());
  problem.bound = bound;
  problem.start = first_rows(bound);
  DualSolution solution;
  Vector values;
  double gap = 1;
  long long steps = 0;
  const double unit = std::max(kernel.diagonal().cwiseAbs().maxCoeff(), 1e-300);
  constexpr int kRounds = 14;
  for (int round = 0; round < kRounds; ++round) {
    SmoOptions how{.tolerance = unit * std::min(spec->tolerance, 1e-3) * std::pow(0.1, round),
                   .cache_megabytes = spec->cache};
    solution = solve_dual(problem, how, execution);
    steps += solution.steps;
    values = solution.gradient;  // Kα
    gap = Standing(bound, values, -solution.bias, solution.alpha.dot(values)).gap;
    if (gap <= spec->tolerance || !solution.converged) break;
    problem.start = solution.alpha;
    problem.start_gradient = solution.gradient;
    problem.kept = solution.kept;
  }
  model.rho = -solution.bias;
  model.mass = data.mass();
  const Support support = support_of(model.spec.kernel, data.points, solution.alpha.transpose());
  model.support_vectors = support.rows;
  model.places = support.places;
  model.dual_coefficients = support.beta.row(0);
  model.objective = solution.alpha.dot(values) / 2;
  model.n_support = static_cast<double>(support.beta.size());
  const BoundKernel carried(model.spec.kernel, support.rows.points(model.spec.kernel, support.places.of));
  model.n_outside = weight_below(data, values, model.rho - known_to(model.spec.tolerance, model.objective, carried));
  const bool cancelled = solution.stopped.starts_with("cancelled");
  model.certificate = gap_certificate(gap, model.spec.tolerance, steps, cancelled ? "cancelled" : solution.stopped);
  if (!model.certificate.holds()) model.warnings.push_back(fmt::format("the work ended early: {}", solution.stopped));
  return model;
}

Certificate certify(const OneClassSvmModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows data = kernel_rows(OneClassSvm::name, model.spec.kernel, rows, execution.part(0, 0.2));
  const Vector bound = bounds(model.spec, data), &alpha = model.dual_coefficients;
  const Points carried = model.support_vectors.points(model.spec.kernel, model.places.of);
  const BoundKernel kernel(model.spec.kernel, carried);
  const Vector at_support = kernel.expand_own(Matrix(alpha), execution.part(0.2, 0.3)).col(0);
  Vector values(data.count());
  constexpr Index kTogether = 1024;
  for (Index first = 0; first < data.count(); first += kTogether) {
    const Index size = std::min(kTogether, data.count() - first);
    values.segment(first, size) = kernel.expand(data.points.rows(first, size), Matrix(alpha), execution).col(0);
  }
  const Standing standing(bound, values, model.rho, alpha.dot(at_support));
  Certificate out = gap_certificate(standing.gap, model.spec.tolerance, 0, "looked at again");
  const double beyond = beyond_bounds(model.spec.kernel, model.support_vectors, model.places, alpha, data.points,
                                      Vector::Ones(data.count()), bound);
  const double off = std::abs(alpha.sum() - 1);
  if (!(beyond <= kFeasible) || !(off <= kFeasible)) {
    out.value = std::max({std::min(beyond, 1.0), off, 10 * out.tolerance});
    out.message =
        std::isinf(beyond)
            ? std::string("A row that carries the plane is none of these rows.")
            : fmt::format("The multipliers are not feasible: beyond their bounds by {:.1e}, their sum off 1 by {:.1e}.",
                          beyond, off);
    return out;
  }
  if (!out.holds()) return out;
  Comparison same;
  same.relative("mass", model.mass, data.mass());
  same.number("objective", model.objective, standing.squared_norm / 2, standing.squared_norm, 1e-7);
  const double width =
      known_to(model.spec.tolerance, standing.squared_norm / 2, kernel);  // rows near its edge may be counted or not
  const double least = weight_below(data, values, model.rho - 1.1 * width),
               most = weight_below(data, values, model.rho - 0.9 * width);
  same.number("n_outside", model.n_outside, std::clamp(model.n_outside, least, most), 0);
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<OneClassSvm>();

}  // namespace lemma
