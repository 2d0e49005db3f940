// lemma/kernel/nu_svm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/nu_svm.hpp>
#include <lemma/kernel/nu_svm/solve.hpp>
#include <lemma/kernel/shared/pairs.hpp>
#include <lemma/kernel/shared/support.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace {

constexpr double kFeasible = 1e-9;  // of bounds and sums

/// The rows of one pair of classes, the second +1.
struct Machine {
  Index negative = 0, positive = 0;
  std::vector<Index> rows;
  Vector target, bound;  // ±1; weight over `mass`
  double mass = 0;
};

std::vector<Machine> machines_of(const KernelRows& data, Index classes) {
  std::vector<Machine> out;
  for (const auto& [negative, positive] : class_pairs(classes)) {
    Machine machine{negative, positive, {}, {}, {}};
    for (Index i = 0; i < data.count(); ++i)
      if (data.label_of(i) == negative || data.label_of(i) == positive) machine.rows.push_back(i);
    machine.bound = data.weight(machine.rows);
    machine.mass = machine.bound.sum();
    machine.bound /= machine.mass;
    machine.target.resize(machine.bound.size());
    for (Index i = 0; i < machine.target.size(); ++i)
      machine.target(i) = data.label_of(machine.rows[at(i)]) == positive ? 1 : -1;
    out.push_back(std::move(machine));
  }
  return out;
}

/// The weight of rows with t f < bound, over that of all.
double share_below(const Machine& machine, const Vector& values, double bias, double bound) {
  double sum = 0;
  for (Index i = 0; i < values.size(); ++i)
    if (machine.target(i) * (values(i) + bias) < bound) sum += machine.bound(i);
  return sum;
}

void require_possible(const NuSvm& spec, const Vector& counts, const std::vector<std::string>& classes) {
  for (const auto& [negative, positive] : class_pairs(counts.size())) {
    const Index fewer = counts(positive) < counts(negative) ? positive : negative;
    const double both = counts(negative) + counts(positive), most = 2 * counts(fewer) / both;
    if (spec.nu > most * (1 + 1e-12))
      throw Error(
          fmt::format("nu_svm: nu is {} and can be at most {}, as class '{}' has {} of {} rows{}; take a smaller nu",
                      format_significant(spec.nu), format_significant(most, 4), classes[at(fewer)],
                      format_significant(counts(fewer)), format_significant(both),
                      counts.size() == 2
                          ? std::string()
                          : fmt::format(" beside class '{}'", classes[at(fewer == positive ? negative : positive)])));
  }
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
  const Matrix& beta = dual_coefficients.of;
  const Index machines = class_count() * (class_count() - 1) / 2;
  require(counts.size() >= 2 && counts.allFinite() && (counts.array() > 0).all(), "nu_svm: a count is not usable");
  require(beta.rows() == machines && beta.cols() > 0 && beta.allFinite(), "nu_svm: a multiplier is not usable");
  support_vectors.check(NuSvm::name, spec.kernel, beta.cols());
  check_places(NuSvm::name, spec.kernel, places, support_vectors.width, beta.cols());
  for (const PathNumbers* each : {&rho, &bias, &objective, &cost, &n_support, &margin_errors})
    require(each->size() == machines && each->of.allFinite(), "nu_svm: a number of a machine is not usable");
  require((rho.of.array() > 0).all(), "nu_svm: its numbers do not fit together");
  for (Index m = 0; m < machines; ++m)
    require(n_support.of(m) == static_cast<double>((beta.row(m).array() != 0).count()),
            "nu_svm: its numbers do not fit together");
  for (Index i = 0; i < beta.cols(); ++i)
    require((beta.col(i).array() != 0).any(), "nu_svm: a row that is kept carries no plane");
}

Matrix NuSvmModel::machine_values(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, support_vectors.points(spec.kernel, places.of));
  const Matrix values = kernel.expand(x, dual_coefficients.of.transpose());
  return (values.rowwise() + bias.of.transpose()).array().rowwise() / rho.of.transpose().array();
}

NamedMatrix NuSvmModel::decisions_of_machines(const MatrixView& x) const {
  NamedMatrix out{machine_values(x), {}};
  for (const auto& [negative, positive] : class_pairs(class_count()))
    out.columns.push_back(column_of_pair(negative, positive));
  return out;
}

Matrix NuSvmModel::decision(const MatrixView& x) const {
  Matrix values = machine_values(x);
  return class_count() == 2 ? values : scores_of_pairs(values, class_count());
}

Labels NuSvmModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

std::string NuSvmModel::summary(const Names& names) const {
  const auto name = [&](Index k) {
    return at(k) < names.classes.size() ? names.classes[at(k)] : fmt::format("class {}", k + 1);
  };
  if (class_count() == 2)
    return fmt::format(
        "Kernel: {}\n{} against {}, nu = {}\n\nrho = {}, b = {}, ½‖w‖² = {}: the plane of svm with C = {}\n"
        "{} carry the plane; {:.1f} % of the rows have a margin error\n",
        shown(spec.kernel), name(1), name(0), format_significant(spec.nu), format_significant(rho.of(0), 5),
        format_significant(bias.of(0), 5), format_significant(objective.of(0), 5), format_significant(cost.of(0), 5),
        count_of(static_cast<std::int64_t>(n_support.of(0)), "row"), 100 * margin_errors.of(0));
  const auto list = [](const Vector& v) { return std::vector<double>(v.begin(), v.end()); };
  std::vector<std::string> of;
  for (const auto& [negative, positive] : class_pairs(class_count()))
    of.push_back(fmt::format("{} against {}", name(positive), name(negative)));
  return fmt::format("Kernel: {}\na machine for each pair of classes, nu = {}; {} carry a plane\n\n",
                     shown(spec.kernel), format_significant(spec.nu), count_of(dual_coefficients.of.cols(), "row")) +
         TextTable()
             .words("", of)
             .numbers("rho", list(rho.of), 5)
             .numbers("b", list(bias.of), 5)
             .numbers("½‖w‖²", list(objective.of), 5)
             .numbers("C of svm", list(cost.of), 5)
             .numbers("carry it", list(n_support.of), 5)
             .numbers("margin errors", list(margin_errors.of), 3)
             .str();
}

NuSvmModel fit(const Valid<NuSvm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  if (rows.classes.size() == 2) require_memory(NuSvm::name, rows.count(), spec->gigabytes);
  const KernelRows data = kernel_rows(NuSvm::name, spec->kernel, rows, execution);
  NuSvmModel model;
  model.spec = *spec;
  model.spec.kernel = spec->kernel.resolved(data.points, data.weights());
  model.counts = class_counts(NuSvm::name, data, rows.classes);
  require_possible(*spec, model.counts, rows.classes);
  const std::vector<Machine> machines = machines_of(data, model.counts.size());
  for (const Machine& machine : machines)
    require_memory(NuSvm::name, static_cast<Index>(machine.rows.size()), spec->gigabytes);
  if (!model.spec.kernel.is_positive())
    require_positive(NuSvm::name, BoundKernel(model.spec.kernel, data.points), execution);
  const auto count = static_cast<Index>(machines.size());
  for (PathNumbers* each :
       {&model.rho, &model.bias, &model.objective, &model.cost, &model.n_support, &model.margin_errors})
    each->of.resize(count);
  Matrix beta = Matrix::Zero(count, data.count());
  std::vector<Vector> values;
  double worst = 0;
  long long steps = 0;
  std::string stopped = "converged";
  for (Index m = 0; m < count; ++m) {
    const Machine& machine = machines[at(m)];
    const auto share = [&](double done) { return (static_cast<double>(m) + done) / static_cast<double>(count); };
    const BoundKernel kernel(model.spec.kernel, data.points.select(machine.rows));
    const Matrix gram = kernel.gram(execution.part(share(0), share(0.2), "kernel matrix"));
    auto solution = nu_svm::solve(gram, machine.target, machine.bound, spec->nu, spec->tolerance,
                                  execution.part(share(0.2), share(1)));
    if (!(solution.plane.rho > 1e-12 * kernel.diagonal().cwiseAbs().maxCoeff()))
      throw Error(fmt::format(
          "nu_svm: to this kernel the rows of {} look alike: there is no margin at nu {}; take a smaller "
          "nu, or a kernel that tells more apart{}",
          count == 1
              ? std::string("both classes")
              : fmt::format("'{}' and '{}'", rows.classes[at(machine.negative)], rows.classes[at(machine.positive)]),
          format_significant(spec->nu), hidden_columns(data, rows)));
    model.rho.of(m) = solution.plane.rho;
    model.bias.of(m) = solution.plane.bias;
    model.objective.of(m) = solution.beta.dot(solution.values) / 2;
    model.cost.of(m) = 1 / (solution.plane.rho * machine.mass);
    model.n_support.of(m) = static_cast<double>((solution.beta.array() != 0).count());
    for (std::size_t i = 0; i < machine.rows.size(); ++i)
      beta(m, machine.rows[i]) = solution.beta(static_cast<Index>(i));
    values.push_back(std::move(solution.values));
    if (!(solution.gap <= worst)) worst = solution.gap;
    steps += solution.steps;
    if (solution.stopped != "converged") stopped = solution.stopped;
  }
  Support support = support_of(model.spec.kernel, data.points, beta);
  model.support_vectors = std::move(support.rows);
  model.places = std::move(support.places);
  model.dual_coefficients.of = std::move(support.beta);
  const BoundKernel carried(model.spec.kernel, model.support_vectors.points(model.spec.kernel, model.places.of));
  for (Index m = 0; m < count; ++m)
    model.margin_errors.of(m) =
        share_below(machines[at(m)], values[at(m)], model.bias.of(m),
                    model.rho.of(m) - known_to(model.spec.tolerance, model.objective.of(m), carried));
  model.certificate = gap_certificate(worst, model.spec.tolerance, steps, stopped);
  if (!model.certificate.holds()) model.warnings.push_back(fmt::format("the work ended early: {}", stopped));
  return model;
}

Certificate certify(const NuSvmModel& model, const Rows& rows, const Execution& execution) {
  const KernelRows data = kernel_rows(NuSvm::name, model.spec.kernel, rows, execution.part(0, 0.2));
  const Vector counts = class_counts(NuSvm::name, data, rows.classes);
  require(counts.size() == model.counts.size(), "nu_svm: the rows have other classes");
  const std::vector<Machine> machines = machines_of(data, counts.size());
  const Matrix betas = model.dual_coefficients.of.transpose();
  const BoundKernel kernel(model.spec.kernel, model.support_vectors.points(model.spec.kernel, model.places.of));
  const Matrix at_support = kernel.expand_own(betas, execution.part(0.2, 0.3));
  Matrix all(data.count(), betas.cols());
  constexpr Index kTogether = 1024;
  for (Index first = 0; first < data.count(); first += kTogether) {
    const Index size = std::min(kTogether, data.count() - first);
    all.middleRows(first, size) = kernel.expand(data.points.rows(first, size), betas, execution);
  }
  Comparison same;
  double worst = 0, beyond = 0, off = 0;
  for (Index k = 0; k < counts.size(); ++k) same.entry("counts", k, model.counts(k), counts(k), counts.sum());
  for (Index m = 0; m < betas.cols(); ++m) {
    const Machine& machine = machines[at(m)];
    const Vector beta = betas.col(m), values = all(machine.rows, m);
    const double squared_norm = beta.dot(at_support.col(m)), rho = model.rho.of(m), bias = model.bias.of(m);
    const double gap =
        nu_svm::relative_gap(model.spec.nu, machine.target, machine.bound, values, {rho, bias}, squared_norm);
    if (!(gap <= worst)) worst = gap;
    const double over = beyond_bounds(model.spec.kernel, model.support_vectors, model.places, beta,
                                      data.points.select(machine.rows), machine.target, machine.bound);
    if (!(over <= beyond)) beyond = over;
    off = std::max({off, std::abs(beta.sum()) / model.spec.nu, std::abs(beta.lpNorm<1>() / model.spec.nu - 1)});
    same.entry("objective", m, model.objective.of(m), squared_norm / 2, squared_norm, 1e-7);
    const double cost = 1 / (rho * machine.mass);
    same.entry("cost", m, model.cost.of(m), cost, cost);
    const double width =
        known_to(model.spec.tolerance, squared_norm / 2, kernel);  // rows near its edge may be counted or not
    const double least = share_below(machine, values, bias, rho - 1.1 * width),
                 most = share_below(machine, values, bias, rho - 0.9 * width);
    same.entry("margin_errors", m, model.margin_errors.of(m),
               std::clamp(model.margin_errors.of(m), least - 1e-12, most + 1e-12), 0);
  }
  Certificate out = gap_certificate(worst, model.spec.tolerance, 0, "looked at again");
  if (!(beyond <= kFeasible) || !(off <= kFeasible)) {
    out.value = std::max({std::min(beyond, 1.0), off, 10 * out.tolerance});
    out.message =
        std::isinf(beyond)
            ? std::string("A row that carries the plane is none of these rows, or of another class.")
            : fmt::format("The multipliers are not feasible: beyond their bounds by {:.1e}, their sums off by {:.1e}.",
                          beyond, off);
    return out;
  }
  if (out.holds() && same.finding()) same.report(out);
  return out;
}

template const Method& method_of<NuSvm>();

}  // namespace lemma
