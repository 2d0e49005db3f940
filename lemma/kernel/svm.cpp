// lemma/kernel/svm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/svm/parts.hpp>
#include <lemma/kernel/svm/platt.hpp>
#include <lemma/kernel/svm/standardise.hpp>

namespace lemma {
namespace {

using namespace svm;

constexpr Index kSmallMachine = 2000;  // several of these are trained side by side, larger ones one after the other
constexpr double kOneScale = 30;       // standard deviations of columns may differ by so much

bool compares_scales(const Kernel& kernel) {
  return !kernel.any_of([](const Kernel& part) {
    const Rbf* rbf = part.get<Rbf>();
    const Matern* matern = part.get<Matern>();
    return part.get<Precomputed>() || part.get<Spectrum>() || part.get<Periodic>() ||
           std::holds_alternative<CustomKernel>(part.node()) ||
           (rbf && (!rbf->lengths.empty() || rbf->metric.size() > 0)) || (matern && !matern->lengths.empty());
  });
}

void warn_of_scales(SvmModel& model, const Points& points, const std::vector<double>& weight, const Rows& rows) {
  if (points.is_sparse() || !compares_scales(model.spec.kernel)) return;
  const Vector deviation = points.variances(weight).cwiseSqrt();
  Index widest = -1, narrowest = -1;
  for (Index j = 0; j < deviation.size(); ++j) {
    if (!(deviation(j) > 0)) continue;
    if (widest < 0 || deviation(j) > deviation(widest)) widest = j;
    if (narrowest < 0 || deviation(j) < deviation(narrowest)) narrowest = j;
  }
  if (widest < 0 || !(deviation(widest) > kOneScale * deviation(narrowest))) return;
  model.warnings.push_back(fmt::format(
      "columns have very different scales: the standard deviation of '{}' is {} and that of '{}' {}, so the "
      "kernel hardly sees the second; 'scale | svm' brings them to one",
      rows.features[at(widest)], format_significant(deviation(widest), 3), rows.features[at(narrowest)],
      format_significant(deviation(narrowest), 3)));
}

/// Whole numbers are taken as classes; a count or an age is better taken as the number it is.
void warn_of_numbers(SvmModel& model, const Rows& rows) {
  constexpr std::size_t kMany = 20;
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("-0123456789") == std::string::npos;
  };
  if (rows.classes.size() > kMany && std::all_of(rows.classes.begin(), rows.classes.end(), is_number))
    model.warnings.push_back(
        fmt::format("the whole numbers of '{0}' are taken as {1} classes; for a regression write I({0})", rows.target,
                    rows.classes.size()));
}

/// A machine with the kernel at its rows. When these are all rows, that is the one kernel of the fit.
struct Place {
  std::optional<BoundKernel> own;
  const BoundKernel* kernel;
  Place(const BoundKernel& whole, const Machine& machine) : kernel(&whole) {
    if (machine.count() == whole.count()) return;
    own.emplace(whole.kernel(), whole.points().select(machine.rows));
    kernel = &*own;
  }
};

struct Learned {
  Trained trained;
  Sigmoid sigmoid;
};

Learned learn(const Svm& spec, const Machine& machine, const BoundKernel& whole, double cost, bool has_gap,
              std::uint64_t seed, const Execution& execution) {
  const Place place(whole, machine);
  const Solver solver(spec, machine, *place.kernel, has_gap);
  Learned out;
  const bool folds = spec.probabilities && machine.of_classes;
  const Execution own = execution.part(0, folds ? 0.2 : 1.0);
  out.trained =
      spec.slack ? solver.solve_for_slack(*spec.slack, own) : solver.solve(cost, nullptr, own, spec.tolerance);
  if (folds)
    out.sigmoid = sigmoid_of(spec, machine, *place.kernel, out.trained.cost, has_gap, seed, execution.part(0.2, 1));
  return out;
}

/// The rows that are support vectors of some machine, and their coefficients in each.
void keep_support(SvmModel& model, const std::vector<Machine>& machines, const std::vector<Learned>& learned,
                  const Points& points) {
  std::vector<char> used(at(points.count()), 0);
  for (std::size_t m = 0; m < machines.size(); ++m)
    for (Index i = 0; i < machines[m].count(); ++i)
      if (learned[m].trained.beta(i) != 0) used[at(machines[m].rows[at(i)])] = 1;
  std::vector<Index> place(used.size(), -1);
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) {
      place[i] = static_cast<Index>(model.support.of.size());
      model.support.of.push_back(static_cast<Index>(i));
    }
  model.support_vectors = KeptRows::of(model.spec.kernel, points.select(model.support.of));
  model.dual_coefficients.of =
      Matrix::Zero(static_cast<Index>(machines.size()), static_cast<Index>(model.support.of.size()));
  for (std::size_t m = 0; m < machines.size(); ++m)
    for (Index i = 0; i < machines[m].count(); ++i)
      if (learned[m].trained.beta(i) != 0)
        model.dual_coefficients.of(static_cast<Index>(m), place[at(machines[m].rows[at(i)])]) =
            learned[m].trained.beta(i);
}

void take_numbers(SvmModel& model, const std::vector<Machine>& machines, const std::vector<Learned>& learned,
                  bool has_gap) {
  const Index count = static_cast<Index>(machines.size());
  resize_numbers(model, count);
  const bool sigmoids = model.spec.probabilities && model.of_classes;
  for (PathNumbers* each : {&model.sigmoid_slope, &model.sigmoid_offset}) each->of.resize(sigmoids ? count : 0);
  model.machines.resize(count, 2);
  for (Index m = 0; m < count; ++m) {
    const Measured& measured = learned[at(m)].trained.measured;
    model.machines.row(m) << machines[at(m)].negative, machines[at(m)].positive;
    model.bias.of(m) = machines[at(m)].centre + learned[at(m)].trained.bias;
    set_measured(model, m, measured, has_gap);
    if (!sigmoids) continue;
    model.sigmoid_slope.of(m) = learned[at(m)].sigmoid.slope;
    model.sigmoid_offset.of(m) = learned[at(m)].sigmoid.offset;
  }
}

void warn_of_outcome(SvmModel& model, const std::vector<Machine>& machines, const std::vector<Learned>& learned,
                     const std::vector<std::string>& classes) {
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const Trained& trained = learned[m].trained;
    std::string who = machine_name(machines[m].negative, machines[m].positive, classes);
    if (machines.size() > 1) who += ": ";
    else who.clear();
    if (std::isinf(trained.cost) && std::isinf(trained.measured.primal))
      model.warnings.push_back(
          fmt::format("{}no hyperplane separates the classes with this kernel: means of their rows, by the "
                      "multipliers, are {} apart; "
                      "use a finite C, or a kernel that tells more apart",
                      who, format_significant(trained.measured.hull_distance(), 2)));
    else if (!trained.converged)
      model.warnings.push_back(fmt::format("{}the work ended early: {}", who, trained.stopped));
    const Vector& values = trained.values;
    if (machines[m].of_classes && values.maxCoeff() - values.minCoeff() <= 1e-9 * (1 + values.cwiseAbs().maxCoeff()))
      model.warnings.push_back(
          fmt::format("{}to this kernel all rows look the same: the decision is constant and there is no margin", who));
  }
}

SvmModel fit_as_they_are(const Valid<Svm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.02));
  SvmModel model;
  model.spec = *spec;
  const Outcomes outcomes = read_outcomes(*spec, rows);
  model.of_classes = outcomes.of_classes;
  model.class_factors = outcomes.class_factors;
  if (!model.of_classes && std::isinf(spec->C) && !spec->slack)
    throw Error("svm: C is inf, a hard margin between classes; for numbers it must be finite");
  const std::vector<Machine> machines = machines_of(*spec, outcomes);
  if (spec->slack && machines.size() > 1)
    throw Error(fmt::format("svm: slack is the budget of one machine, and {} classes take {}; use C",
                            rows.classes.size(), machines.size()));

  if (spec->kernel.contains<Precomputed>() && rows.width() != rows.count())
    throw Error(fmt::format("svm: a precomputed kernel is a square matrix, a column for each row; it has {} and {}",
                            count_of(rows.count(), "row"), count_of(rows.width(), "column")));
  Points points = Points::of(rows, execution.part(0.02, 0.05));
  model.spec.kernel = spec->kernel.resolved(points, outcomes.weight);
  warn_of_numbers(model, rows);
  warn_of_scales(model, points, outcomes.weight, rows);
  const BoundKernel whole(model.spec.kernel, std::move(points));
  const bool has_gap = check_kernel(whole, &model.warnings, execution);

  const Svm chosen = model.spec;  // with the kernel that was resolved
  std::vector<Learned> learned(machines.size());
  const auto one = [&](Index m, const Execution& how) {
    learned[at(m)] =
        learn(chosen, machines[at(m)], whole, row_cost(chosen, machines[at(m)]), has_gap, options.seed, how);
  };
  const auto count = static_cast<double>(machines.size());
  const bool side_by_side =
      machines.size() > 1 && std::all_of(machines.begin(), machines.end(),
                                         [](const Machine& machine) { return machine.count() <= kSmallMachine; });
  if (side_by_side) {
    Execution loop;
    loop.threads = execution.threads;
    parallel_for(static_cast<Index>(machines.size()), loop, [&](Index m) { one(m, execution); });
  } else {
    for (Index m = 0; m < static_cast<Index>(machines.size()); ++m)
      one(m, execution.part(0.05 + 0.95 * static_cast<double>(m) / count,
                            0.05 + 0.95 * static_cast<double>(m + 1) / count));
  }

  if (spec->slack) model.spec.C = users_cost(chosen, machines[0], learned[0].trained.cost);
  if (spec->probabilities && model.of_classes) model.fold_seed = static_cast<std::int64_t>(options.seed);
  keep_support(model, machines, learned, whole.points());
  model.order = order_of(whole.points(), outcomes);
  take_numbers(model, machines, learned, has_gap);
  warn_of_outcome(model, machines, learned, rows.classes);

  Findings findings;
  findings.has_gap = has_gap;
  findings.stopped = "converged";
  bool all_converged = true;
  for (const Learned& each : learned) {
    findings.measured.push_back(each.trained.measured);
    findings.cost.push_back(each.trained.cost);
    findings.steps += each.trained.steps;
    if (each.trained.unbounded) findings.stopped = "not separable";
    else if (!each.trained.converged && all_converged)
      findings.stopped = execution.cancelled() ? "cancelled" : each.trained.stopped;
    all_converged = all_converged && each.trained.converged && !each.trained.unbounded;
  }
  model.certificate = certificate_of(model, findings);
  return model;
}

}  // namespace

void Svm::check() const {
  if (standardize && (kernel.contains<Precomputed>() || kernel.contains<Spectrum>()))
    throw Error("svm: standardize is for columns of numbers, and this kernel takes a matrix or texts");
}

SvmModel fit(const Valid<Svm>& spec, const Rows& rows, const FitOptions& options) {
  SvmModel model;
  if (spec->standardize) {
    require_finite(rows, options.execution());
    const ColumnScale scale = column_scale(rows, options.execution());
    Svm plain = *spec;
    plain.standardize = false;
    model = fit_as_they_are(plain, StandardisedRows(rows, scale.mean, scale.deviation), options);
    model.spec.standardize = true;
    model.mean = scale.mean;
    model.deviation = scale.deviation;
  } else {
    model = fit_as_they_are(spec, rows, options);
  }
  find_planes(model);
  return model;
}

template const Method& method_of<Svm>();

}  // namespace lemma
