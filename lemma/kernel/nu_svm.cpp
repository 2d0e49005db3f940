// lemma/kernel/nu_svm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/nu_svm.hpp>
#include <lemma/kernel/nu_svm/solve.hpp>
#include <lemma/kernel/shared/support.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace {

constexpr double kFeasible = 1e-9;  // of bounds and sums

Vector targets(const KernelRows& data) {
  Vector out(data.count());
  for (Index i = 0; i < data.count(); ++i) out(i) = data.label_of(i) == 1 ? 1 : -1;
  return out;
}

/// The weight of rows with t f < bound, over n.
double share_below(const KernelRows& data, const Vector& target, const Vector& values, double bias, double bound) {
  double sum = 0;
  for (Index i = 0; i < data.count(); ++i)
    if (target(i) * (values(i) + bias) < bound) sum += data.weight(i);
  return sum / data.mass();
}

void require_possible(const NuSvm& spec, const Vector& counts, const std::vector<std::string>& classes) {
  const double most = 2 * counts.minCoeff() / counts.sum();
  Index fewer = 0;
  counts.minCoeff(&fewer);
  if (spec.nu > most * (1 + 1e-12))
    throw Error(
        fmt::format("nu_svm: nu is {} and can be at most {}, as class '{}' has {} of {} rows; take a smaller nu",
                    format_significant(spec.nu), format_significant(most, 4), classes[at(fewer)],
                    format_significant(counts(fewer)), format_significant(counts.sum())));
}

/// Of columns that another one hides, being so much wider: what to do about it.
std::string hidden_columns(const KernelRows& data, const Rows& rows) {
  constexpr double kOneScale = 30;  // standard deviations of columns may differ by so much
  if (data.points.is_sparse()) return {};
  const Vector deviation = data.points.variances(data.weights()).cwiseSqrt();
  Index widest = 0, narrowest = 0;
  if (!(deviation.maxCoeff(&widest) > kOneScale * deviation.minCoeff(&narrowest))) return {};
  return fmt::format("; beside '{}' it hardly sees '{}': 'scale | nu_svm' brings columns to one scale",
                     rows.features[at(widest)], rows.features[at(narrowest)]);
}

}  // namespace

void NuSvm::check() const {
  require(!kernel.contains<Precomputed>(),
          "nu_svm: a precomputed kernel is not taken; name the kernel, or take svm, which takes one");
}

void NuSvmModel::check() const {
  const Index count = dual_coefficients.size();
  require(count > 0 && dual_coefficients.allFinite(), "nu_svm: a multiplier is not usable");
  support_vectors.check(NuSvm::name, spec.kernel, count);
  check_places(NuSvm::name, spec.kernel, places, support_vectors.width, count);
  for (const double each : {rho, bias, objective, cost, n_support, margin_errors})
    require(std::isfinite(each), "nu_svm: a number of the model is not usable");
  require(rho > 0 && n_support == static_cast<double>(count), "nu_svm: its numbers do not fit together");
  require(counts.size() == 2 && counts.allFinite() && (counts.array() > 0).all(), "nu_svm: a count is not usable");
}

Matrix NuSvmModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, support_vectors.points(spec.kernel, places.of));
  return (kernel.expand(x, Matrix(dual_coefficients)).array() + bias) / rho;
}

Labels NuSvmModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

std::string NuSvmModel::summary(const Names& names) const {
  const auto name = [&](std::size_t k) {
    return k < names.classes.size() ? names.classes[k] : fmt::format("class {}", k + 1);
  };
  return fmt::format(
      "Kernel: {}\n{} against {}, nu = {}\n\nrho = {}, b = {}, ½‖w‖² = {}: the plane of svm with C = {}\n"
      "{} carry the plane; {:.1f} % of the rows have a margin error\n",
      shown(spec.kernel), name(1), name(0), format_significant(spec.nu), format_significant(rho, 5),
      format_significant(bias, 5), format_significant(objective, 5), format_significant(cost, 5),
      count_of(static_cast<std::int64_t>(n_support), "row"), 100 * margin_errors);
}

NuSvmModel fit(const Valid<NuSvm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_memory(NuSvm::name, rows.count(), spec->gigabytes);
  const KernelRows data = kernel_rows(NuSvm::name, spec->kernel, rows, execution);
  NuSvmModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  model.counts = class_counts(NuSvm::name, data, rows.classes);
  require_possible(*spec, model.counts, rows.classes);
  const BoundKernel kernel(model.spec.kernel, data.points);
  require_positive(NuSvm::name, kernel, execution);
  const Vector target = targets(data), bound = data.weight / data.mass();
  const Matrix gram = kernel.gram(execution.part(0, 0.2, "kernel matrix"));
  const auto solution = nu_svm::solve(gram, target, bound, spec->nu, spec->tolerance, execution.part(0.2, 1));
  model.rho = solution.plane.rho;
  model.bias = solution.plane.bias;
  model.objective = solution.beta.dot(solution.values) / 2;
  if (!(model.rho > 1e-12 * kernel.diagonal().cwiseAbs().maxCoeff()))
    throw Error(fmt::format(
        "nu_svm: to this kernel the rows of both classes look alike: there is no margin at nu {}; take a smaller "
        "nu, or a kernel that tells more apart{}",
        format_significant(spec->nu), hidden_columns(data, rows)));
  model.cost = 1 / (model.rho * data.mass());
  const Support support = support_of(model.spec.kernel, data.points, solution.beta);
  model.support_vectors = support.rows;
  model.places = support.places;
  model.dual_coefficients = support.beta;
  model.n_support = static_cast<double>(support.beta.size());
  const BoundKernel carried(model.spec.kernel, support.rows.points(model.spec.kernel, support.places.of));
  model.margin_errors = share_below(data, target, solution.values, model.bias,
                                    model.rho - known_to(model.spec.tolerance, model.objective, carried));
  model.certificate = gap_certificate(solution.gap, model.spec.tolerance, solution.steps, solution.stopped);
  if (!model.certificate.holds()) model.warnings.push_back(fmt::format("the work ended early: {}", solution.stopped));
  return model;
}

Certificate certify(const NuSvmModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows data = kernel_rows(NuSvm::name, model.spec.kernel, rows, execution.part(0, 0.2));
  const Vector target = targets(data), bound = data.weight / data.mass(), &beta = model.dual_coefficients;
  const BoundKernel kernel(model.spec.kernel, model.support_vectors.points(model.spec.kernel, model.places.of));
  const double squared_norm = beta.dot(kernel.expand_own(Matrix(beta), execution.part(0.2, 0.3)).col(0));
  Vector values(data.count());
  constexpr Index kTogether = 1024;
  for (Index first = 0; first < data.count(); first += kTogether) {
    const Index size = std::min(kTogether, data.count() - first);
    values.segment(first, size) = kernel.expand(data.points.rows(first, size), Matrix(beta), execution).col(0);
  }
  const double gap = nu_svm::relative_gap(model.spec.nu, target, bound, values, {model.rho, model.bias}, squared_norm);
  Certificate out = gap_certificate(gap, model.spec.tolerance, 0, "looked at again");
  const double beyond =
      beyond_bounds(model.spec.kernel, model.support_vectors, model.places, beta, data.points, target, bound);
  const double off = std::max(std::abs(beta.sum()), std::abs(beta.lpNorm<1>() - model.spec.nu)) / model.spec.nu;
  if (!(beyond <= kFeasible) || !(off <= kFeasible)) {
    out.value = std::max({std::min(beyond, 1.0), off, 10 * out.tolerance});
    out.message =
        std::isinf(beyond)
            ? std::string("A row that carries the plane is none of these rows, or of another class.")
            : fmt::format("The multipliers are not feasible: beyond their bounds by {:.1e}, their sums off by {:.1e}.",
                          beyond, off);
    return out;
  }
  if (!out.holds()) return out;
  Comparison same;
  const Vector counts = class_counts(NuSvm::name, data, rows.classes);
  for (Index k = 0; k < 2; ++k) same.entry("counts", k, model.counts(k), counts(k), counts.sum());
  same.number("objective", model.objective, squared_norm / 2, squared_norm, 1e-7);
  same.relative("cost", model.cost, 1 / (model.rho * data.mass()));
  const double width =
      known_to(model.spec.tolerance, squared_norm / 2, kernel);  // rows near its edge may be counted or not
  const double least = share_below(data, target, values, model.bias, model.rho - 1.1 * width),
               most = share_below(data, target, values, model.bias, model.rho - 0.9 * width);
  same.number("margin_errors", model.margin_errors, std::clamp(model.margin_errors, least - 1e-12, most + 1e-12), 0);
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<NuSvm>();

}  // namespace lemma
