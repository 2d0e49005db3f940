// lemma/kernel/svm/certify.cpp: the machines held against the rows, seen anew.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/svm/parts.hpp>
#include <lemma/kernel/svm/standardise.hpp>
#include <lemma/model/claim.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {
namespace svm {
namespace {

constexpr double kFeasible = 1e-8;  // of the box and of Σ β = 0, beside C and Σ |β|

std::string inseparable(const Measured& measured, const std::string& who) {
  return fmt::format(
      "{}No hyperplane separates the classes with this kernel. The multipliers, divided by their sum over each class, "
      "are the proof: they mix a point of each class's convex hull, and the two are {} apart, so no margin can be "
      "wider "
      "than about {}.",
      who, format_significant(measured.hull_distance(), 2), format_significant(measured.hull_distance() / 2, 2));
}

}  // namespace

bool check_kernel(const BoundKernel& kernel, std::vector<std::string>* warnings, const Execution& execution) {
  if (kernel.kernel().is_positive()) return true;
  const GramCheck found = check_gram(kernel, execution);
  if (!found.is_symmetric())
    throw Error(fmt::format("svm: the matrix of the kernel {} is {}", kernel.kernel().text(), found.text()));
  if (found.is_positive()) return true;
  if (warnings)
    warnings->push_back(
        fmt::format("kernel {}: {}; the problem is not convex, and the answer is one at which it is stationary",
                    kernel.kernel().text(), found.text()));
  return false;
}

void resize_numbers(SvmModel& model, Index machines) {
  for (PathNumbers* each : {&model.bias, &model.objective_primal, &model.objective_dual, &model.gap, &model.margin,
                            &model.n_free, &model.n_bounded, &model.n_support})
    each->of.resize(machines);
  model.hull_distance.of.resize(model.of_classes ? machines : 0);
}

void set_measured(SvmModel& model, Index m, const Measured& measured, bool has_gap) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  model.objective_primal.of(m) = std::isfinite(measured.primal) ? measured.primal : none;
  model.objective_dual.of(m) = measured.dual;
  model.gap.of(m) = has_gap ? measured.gap() : none;
  model.margin.of(m) = measured.margin(model.spec, model.of_classes);
  model.n_free.of(m) = static_cast<double>(measured.n_free);
  model.n_bounded.of(m) = static_cast<double>(measured.n_bounded);
  model.n_support.of(m) = static_cast<double>(measured.n_free + measured.n_bounded);
  if (model.of_classes) model.hull_distance.of(m) = measured.hull_distance();
}

Certificate certificate_of(const SvmModel& model, const Findings& findings) {
  Certificate out;
  out.strength = findings.has_gap ? Strength::optimal : Strength::stationary;
  out.kind = findings.has_gap ? "relative duality gap" : "violation of the KKT conditions";
  out.tolerance = claimed(model.spec.tolerance);
  out.iterations = findings.steps;
  out.stopped = findings.stopped;
  const bool several = findings.measured.size() > 1;
  Index worst = -1;
  for (std::size_t m = 0; m < findings.measured.size(); ++m) {
    const Measured& measured = findings.measured[m];
    double value = findings.has_gap ? gap_with_budget(model.spec, measured, findings.cost[m]) : measured.violation;
    // Beyond the box, or with Σ β ≠ 0, the multipliers are not of the dual and prove nothing.
    if (!(measured.outside <= kFeasible && measured.imbalance <= kFeasible))
      value = std::max({value, measured.outside, measured.imbalance, 10 * out.tolerance});
    if (worst < 0 || !(value <= out.value)) {
      worst = static_cast<Index>(m);
      out.value = value;
    }
  }
  const Measured& measured = findings.measured[at(worst)];
  const std::string where = several ? fmt::format(" (machine {} of {})", worst + 1, findings.measured.size()) : "";
  if (std::isinf(measured.primal)) {
    out.message = inseparable(measured, several ? fmt::format("Machine {}: ", worst + 1) : "");
  } else if (!(measured.outside <= kFeasible && measured.imbalance <= kFeasible)) {
    out.message = fmt::format("The multipliers are not feasible{}: beyond their bounds by {:.1e}, their sum {:.1e}.",
                              where, measured.outside, measured.imbalance);
  } else if (findings.has_gap) {
    out.message = fmt::format(
        "The primal objective {}{} exceeds the least possible one by at most {:.1e} of itself (allowed {:.0e}), as the "
        "multipliers prove, which are feasible for the dual.",
        format_significant(measured.primal, 7), where, out.value, out.tolerance);
    if (model.spec.slack)
      out.message += fmt::format(" The losses add up to {}, of {} allowed.", format_significant(measured.slack, 7),
                                 format_significant(*model.spec.slack, 7));
  } else {
    out.message = fmt::format(
        "No row violates its KKT conditions by more than {:.1e} (allowed {:.0e}){}. The kernel is not positive "
        "semidefinite: there is no duality gap, and other solutions may be better.",
        out.value, out.tolerance, where);
  }
  if (!out.holds() && out.value <= model.spec.tolerance) out.message += ended_too_soon(model.spec.tolerance);
  return out;
}

namespace {

/// Σ β k of every row, from the rows that are kept; and whether these are the rows they should be.
struct SeenAnew {
  Matrix values;  // a column for each machine
  double other_rows = 0;
};

SeenAnew look(const SvmModel& model, const std::vector<Index>& support, const Rows& rows, const Execution& execution) {
  SeenAnew out;
  out.values.resize(rows.count(), model.machine_count());
  std::vector<Index> place(at(rows.count()), -1);
  for (std::size_t i = 0; i < support.size(); ++i) place[at(support[i])] = static_cast<Index>(i);
  const bool keeps = !model.spec.kernel.contains<Precomputed>();
  const BoundKernel kernel(model.spec.kernel, model.support_vectors.points(model.spec.kernel, model.support.of));
  const Matrix coefficients = model.dual_coefficients.of.transpose();
  std::vector<double> difference(at(rows.count()), 0.0);
  for_each_block(rows, execution, [&](const Block& block) {
    out.values.middleRows(block.first, block.rows()) =
        kernel.expand(block.x, coefficients, Execution{.threads = execution.threads});
    if (!keeps) return;
    for (Index i = 0; i < block.rows(); ++i) {
      const Index which[] = {place[at(block.first + i)]};
      if (which[0] < 0) continue;
      const Vector kept = kernel.points().rows(which).row(0), seen = block.x.row(i);
      difference[at(block.first + i)] = (kept - seen).cwiseAbs().maxCoeff() / (1e-300 + seen.cwiseAbs().maxCoeff());
    }
  });
  out.other_rows = *std::max_element(difference.begin(), difference.end());
  return out;
}

/// Margin and distance of the hulls tell ‖w‖², of which rounding leaves ε of the terms that cancel in it: with w = 0 no more.
void compare_lengths(Comparison& same, const SvmModel& model, Index m, const Measured& found, double tolerance) {
  double terms = 0;  // ‖w‖ ≤ Σ |β| √k(x, x)
  if (const Kernel& kernel = model.spec.kernel; !kernel.contains<Precomputed>()) {
    const BoundKernel own(kernel, model.support_vectors.points(kernel, model.support.of));
    terms = model.dual_coefficients.of.row(m).cwiseAbs().dot(own.diagonal().cwiseAbs().cwiseSqrt().transpose());
  }
  constexpr double kWrong = -std::numeric_limits<double>::infinity();
  const double expected = std::max(0.0, found.squared_norm), unit = expected + 1e-8 * terms * terms;
  const double margin = model.margin.of(m), root = model.hull_distance.of(m) * found.sum_of_alpha / 2;
  const double of_margin = std::isnan(margin) ? 0 : margin > 0 ? 1 / (margin * margin) : kWrong;
  same.number("margin", of_margin, expected, unit, tolerance);
  same.number("hull_distance", root >= 0 ? root * root : kWrong, expected, unit, tolerance);
}

/// The sigmoids learned again, on the same folds.
void compare_sigmoids(Comparison& same, const SvmModel& model, const std::vector<Machine>& machines, const Rows& rows,
                      const Findings& findings, const Execution& execution) {
  const Points points = Points::of(rows, execution);
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const BoundKernel own(model.spec.kernel, points.select(machines[m].rows));
    const Sigmoid sigmoid = sigmoid_of(model.spec, machines[m], own, findings.cost[m], findings.has_gap,
                                       static_cast<std::uint64_t>(model.fold_seed), execution);
    const auto at_m = static_cast<Index>(m);
    same.number("sigmoid_slope", model.sigmoid_slope.of(at_m), sigmoid.slope, 1 + std::abs(sigmoid.slope), 1e-6);
    same.number("sigmoid_offset", model.sigmoid_offset.of(at_m), sigmoid.offset, 1 + std::abs(sigmoid.offset), 1e-6);
  }
}

Certificate certify_as_they_are(const SvmModel& model, const Rows& rows, const Execution& execution) {
  require(model.support.of.empty() || model.support.of.back() < rows.count(),
          fmt::format("svm: the model has a support vector in row {}, and there are {} rows",
                      model.support.of.empty() ? 0 : model.support.of.back() + 1, rows.count()));
  const Outcomes outcomes = read_outcomes(model.spec, rows);
  const std::vector<Machine> machines = machines_of(model.spec, outcomes);
  require(model.machine_count() == static_cast<Index>(machines.size()), "svm: the rows have other classes");
  const SupportRows support = support_rows(model, machines, Points::of(rows, execution), outcomes);
  const SeenAnew seen = look(model, support.of, rows, execution);
  Findings findings;
  findings.stopped = "looked at again";
  if (!model.spec.kernel.is_positive())
    findings.has_gap = check_kernel(BoundKernel(model.spec.kernel, Points::of(rows, execution)), nullptr, execution);

  SvmModel expected;  // its numbers
  expected.spec = model.spec;
  expected.of_classes = model.of_classes;
  resize_numbers(expected, model.machine_count());
  Comparison same;
  same.number("support_vectors", seen.other_rows, 0, 1);
  std::vector<Index> place(at(rows.count()), -1);
  for (std::size_t i = 0; i < support.of.size(); ++i) place[at(support.of[i])] = static_cast<Index>(i);
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const Machine& machine = machines[m];
    const auto column = static_cast<Index>(m);
    Vector beta = Vector::Zero(machine.count()), values(machine.count());
    double used = 0;
    for (Index i = 0; i < machine.count(); ++i) {
      const Index row = machine.rows[at(i)], kept = place[at(row)];
      if (kept >= 0) beta(i) = model.dual_coefficients.of(column, kept);
      values(i) = seen.values(row, column);
      used += std::abs(beta(i));
    }
    const double all = model.dual_coefficients.of.row(column).cwiseAbs().sum();
    same.number("dual_coefficients", used, all, all);  // none of rows that the machine does not learn from
    const double cost = row_cost(model.spec, machine);
    findings.cost.push_back(cost);
    findings.measured.push_back(
        measure(model.spec, machine, cost, beta, values, model.bias.of(column) - machine.centre));
    set_measured(expected, column, findings.measured.back(), findings.has_gap);
  }
  Certificate out = certificate_of(model, findings);
  if (!out.holds()) return out;

  constexpr double kSame = 1e-7;  // the solver's own sums are of another order
  // Which of two rows with equal features and other weights had which multiplier, only their order tells.
  const bool bounds_known = support.as_numbered || std::all_of(outcomes.weight.begin(), outcomes.weight.end(),
                                                               [&](double w) { return w == outcomes.weight[0]; });
  for (Index m = 0; m < model.machine_count(); ++m) {
    const double size = std::abs(expected.objective_primal.of(m));
    same.number("objective_primal", model.objective_primal.of(m), expected.objective_primal.of(m), size, kSame);
    same.number("objective_dual", model.objective_dual.of(m), expected.objective_dual.of(m), size, kSame);
    same.number("gap", model.gap.of(m), expected.gap.of(m), model.spec.tolerance, 1e-4);
    if (model.of_classes) compare_lengths(same, model, m, findings.measured[at(m)], kSame);
    else same.number("margin", model.margin.of(m), expected.margin.of(m), expected.margin.of(m), kSame);
    if (bounds_known) {
      same.number("n_free", model.n_free.of(m), expected.n_free.of(m), 0);
      same.number("n_bounded", model.n_bounded.of(m), expected.n_bounded.of(m), 0);
    }
    same.number("n_support", model.n_support.of(m), expected.n_support.of(m), 0);
  }
  for (Index k = 0; k < model.class_count(); ++k)
    same.number("class_factors", model.class_factors(k), outcomes.class_factors(k), outcomes.class_factors(k));
  if (model.has_probabilities() && support.as_numbered && !same.finding())
    compare_sigmoids(same, model, machines, rows, findings, execution);
  if (same.finding()) same.report(out);
  else if (!support.as_numbered)
    out.message += fmt::format(
        " The rows come in another order than at the fit: the numbers of the support vectors{}{} follow that one and "
        "were not checked.",
        bounds_known ? "" : ", how many are at their bound",
        model.has_probabilities() ? ", and the sigmoids' folds" : "");
  return out;
}

/// Means and deviations of the columns, and the planes, that follow from the rows and the multipliers.
void compare_columns(Comparison& same, const SvmModel& model, const Rows& rows, const Execution& execution) {
  if (model.spec.standardize) {
    const ColumnScale scale = column_scale(rows, execution);
    for (Index j = 0; j < model.width(); ++j) {
      same.entry("mean", j, model.mean(j), scale.mean(j), scale.deviation(j) + 1e-6 * std::abs(scale.mean(j)));
      same.entry("deviation", j, model.deviation(j), scale.deviation(j), scale.deviation(j));
    }
  }
  if (model.coefficients.of.size() == 0) return;
  SvmModel expected = model;
  find_planes(expected);
  for (Index m = 0; m < model.machine_count(); ++m) {
    const double size = expected.coefficients.of.row(m).cwiseAbs().maxCoeff() + 1e-300;
    for (Index j = 0; j < model.width(); ++j)
      same.entry("coefficients", m * model.width() + j, model.coefficients.of(m, j), expected.coefficients.of(m, j),
                 size);
    same.entry("intercept", m, model.intercept.of(m), expected.intercept.of(m),
               std::abs(expected.intercept.of(m)) + std::abs(model.bias.of(m)) + 1e-300);
  }
}

}  // namespace
}  // namespace svm

Certificate certify(const SvmModel& model, const Rows& rows, const Execution& execution) {
  using namespace svm;
  Comparison same;
  compare_columns(same, model, rows, execution);
  Certificate out;
  if (model.spec.standardize) {
    SvmModel plain = model;
    plain.spec.standardize = false;
    plain.coefficients.of.resize(0, 0);
    plain.intercept.of.resize(0);
    plain.mean.resize(0);
    plain.deviation.resize(0);
    out = certify_as_they_are(plain, StandardisedRows(rows, model.mean, model.deviation), execution);
  } else {
    out = certify_as_they_are(model, rows, execution);
  }
  if (out.holds() && same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
