// lemma/kernel/svm/summary.cpp: what the machines look like, and where each training row stands.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/svm/parts.hpp>

namespace lemma {
namespace {

using namespace svm;

/// How many support vectors each class has: the sign of a coefficient tells the class. Empty when it does not.
std::vector<Index> support_by_class(const SvmModel& model) {
  std::vector<Index> out(at(model.class_count()), 0);
  if (!model.of_classes || model.machines(0, 0) < 0) return {};
  for (Index i = 0; i < model.dual_coefficients.of.cols(); ++i)
    for (Index m = 0; m < model.machine_count(); ++m) {
      const double beta = model.dual_coefficients.of(m, i);
      if (beta == 0) continue;
      ++out[static_cast<std::size_t>(model.machines(m, beta > 0 ? 1 : 0))];
      break;
    }
  return out;
}

std::string cost_text(const SvmModel& model) {
  const Svm& spec = model.spec;
  if (spec.slack && *spec.slack == 0) return "hard margin";
  if (spec.slack)
    return fmt::format("slack up to {} (that is C = {})", format_significant(*spec.slack, 6),
                       format_significant(spec.C, 6));
  if (std::isinf(spec.C)) return "hard margin (C without bound)";
  return fmt::format("C = {}{}", format_significant(spec.C, 6), spec.average ? " / n for each row" : "");
}

std::string heading(const SvmModel& model) {
  if (!model.of_classes)
    return fmt::format("Support vector regression: {}, epsilon = {}, kernel {}\n", cost_text(model),
                       format_significant(model.spec.epsilon, 6), shown(model.spec.kernel));
  return fmt::format("Support vector classification{}: {}, kernel {}\n",
                     model.machine_count() > 1 ? fmt::format(", {}", name_of(model.spec.classes)) : "",
                     cost_text(model), shown(model.spec.kernel));
}

std::vector<double> numbers(const Vector& v) { return {v.begin(), v.end()}; }

std::string machine_table(const SvmModel& model, const Names& names) {
  std::vector<std::string> who, gaps;
  for (Index m = 0; m < model.machine_count(); ++m) {
    who.push_back(
        machine_name(static_cast<int>(model.machines(m, 0)), static_cast<int>(model.machines(m, 1)), names.classes));
    gaps.push_back(std::isnan(model.gap.of(m)) ? "NA" : residue_text(model.gap.of(m), model.spec.tolerance));
  }
  TextTable table;
  if (model.of_classes) table.words("machine", who);
  table.numbers("support", numbers(model.n_support.of), 10)
      .numbers("free", numbers(model.n_free.of), 10)
      .numbers("bounded", numbers(model.n_bounded.of), 10)
      .numbers("bias", numbers(model.bias.of), 4)
      .numbers("margin", numbers(model.margin.of), 4)
      .numbers("primal", numbers(model.objective_primal.of), 6)
      .numbers("dual", numbers(model.objective_dual.of), 6)
      .right("gap", gaps);
  return table.str({.gap = 2, .width = 110});
}

/// w and b of machines with a linear kernel, in the user's units.
std::string plane_table(const SvmModel& model, const Names& names) {
  constexpr Index kMostShown = 30;
  const bool named = static_cast<Index>(names.features.size()) == model.width();
  if (model.coefficients.of.size() == 0 || model.width() > kMostShown || !named) return "";
  std::vector<std::string> terms{"(Intercept)"};
  terms.insert(terms.end(), names.features.begin(), names.features.end());
  TextTable table;
  table.words("", terms);
  for (Index m = 0; m < model.machine_count(); ++m) {
    std::vector<double> column{model.intercept.of(m)};
    for (const double w : model.coefficients.of.row(m)) column.push_back(w);
    table.numbers(model.of_classes ? machine_name(static_cast<int>(model.machines(m, 0)),
                                                  static_cast<int>(model.machines(m, 1)), names.classes)
                                   : "w",
                  column, 4);
  }
  return fmt::format("f(x) = x w + b{}:\n{}\n", model.spec.standardize ? ", in the columns' own units" : "",
                     table.str({.gap = 2, .width = 110}));
}

/// C, class factor and weight of a row, as one machine sees it.
double bound_of(const SvmModel& model, const Block& block, Index i, double cost) {
  const double factor = model.of_classes ? model.class_factors(block.label[at(i)]) : 1.0;
  return cost * factor * block.weight_of(i);
}

void require_same_rows(const SvmModel& model, const Block& block) {
  const auto& support = model.support.of;
  const auto fail = [] {
    throw Error(
        "svm: these are not the rows the model was fitted on, in their order: the support vectors are not there");
  };
  if (!support.empty() && support.back() >= block.first + block.rows() && block.first == 0) fail();
  if (model.spec.kernel.contains<Precomputed>()) return;
  const Points kept = model.support_vectors.points(model.spec.kernel, support);
  for (std::size_t s = 0; s < support.size(); ++s) {
    const Index i = support[s] - block.first, which[] = {static_cast<Index>(s)};
    if (i < 0 || i >= block.rows()) continue;
    Vector seen = block.x.row(i);
    if (model.spec.standardize) seen = (seen - model.mean).cwiseQuotient(model.deviation);
    const Vector row = kept.rows(which).row(0);
    if (!((row - seen).cwiseAbs().maxCoeff() <= 1e-9 * (1e-300 + row.cwiseAbs().maxCoeff()))) fail();
  }
}

}  // namespace

std::string SvmModel::summary(const Names& names) const {
  std::string out = heading(*this) + "\n" + machine_table(*this, names) + "\n" + plane_table(*this, names);
  out += fmt::format("{} kept", count_of(static_cast<Index>(support.of.size()), "support vector"));
  const auto counts = support_by_class(*this);
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < counts.size(); ++k)
    parts.push_back(fmt::format("{} of {}", counts[k],
                                k < names.classes.size() ? names.classes[k] : fmt::format("class {}", k + 1)));
  if (!parts.empty()) out += ": " + join_words(parts);
  out += "\n";
  if (has_probabilities()) out += "Probabilities: Platt's sigmoid, learned by 5-fold cross-validation\n";
  return out;
}

std::vector<NamedColumn> SvmModel::diagnostics(const Block& block) const {
  require(of_classes ? static_cast<Index>(block.label.size()) == block.rows()
                     : static_cast<Index>(block.y.size()) == block.rows(),
          "svm: diagnostics need the response of each row");
  require_same_rows(*this, block);
  const Matrix values = machine_values(block.x);
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<NamedColumn> out;
  for (Index m = 0; m < machine_count(); ++m) {
    const auto negative = static_cast<int>(machines(m, 0)), positive = static_cast<int>(machines(m, 1));
    const std::string which = machine_count() == 1 ? ""
                              : negative < 0       ? fmt::format("_{}", positive + 1)
                                                   : fmt::format("_{}_{}", negative + 1, positive + 1);
    double n = 0;  // rows of this machine
    Vector alpha = Vector::Zero(block.rows()), slack = alpha, margin_of_row = alpha, side = alpha, kkt = alpha;
    const auto takes = [&](Index i) {
      if (!(block.weight_of(i) > 0)) return false;
      if (of_classes && block.label[at(i)] < 0) return false;  // a class that the model never saw, or none
      return !of_classes || negative < 0 || block.label[at(i)] == negative || block.label[at(i)] == positive;
    };
    for (Index i = 0; i < block.rows(); ++i) n += takes(i) ? block.weight_of(i) : 0.0;
    const double cost = spec.average ? spec.C / n : spec.C;
    Vector beta = Vector::Zero(block.rows());
    for (std::size_t s = 0; s < support.of.size(); ++s)
      if (const Index i = support.of[s] - block.first; i >= 0 && i < block.rows())
        beta(i) = dual_coefficients.of(m, static_cast<Index>(s));
    for (Index i = 0; i < block.rows(); ++i) {
      if (!takes(i)) {
        alpha(i) = slack(i) = margin_of_row(i) = side(i) = kkt(i) = none;
        continue;
      }
      const double f = values(i, m);
      const double target = !of_classes ? block.y[at(i)] : block.label[at(i)] == positive ? 1.0 : -1.0;
      alpha(i) = of_classes ? std::abs(beta(i)) : beta(i);
      // f is a sum of many terms: what is smaller than its rounding is nothing
      const double nothing = 1e-12 * (std::abs(f) + std::abs(target));
      const auto or_nothing = [&](double value) { return value <= nothing ? 0 : value; };
      slack(i) = or_nothing(loss_of(of_classes, spec.epsilon, target, f));
      margin_of_row(i) = of_classes ? target * f : spec.epsilon - std::abs(target - f);
      const double beyond = margin_of_row(i) - (of_classes ? 1 : 0);
      side(i) = beyond > spec.tolerance ? 0 : beyond >= -spec.tolerance ? 1 : 2;
      kkt(i) = or_nothing(violation_of(of_classes, spec.epsilon, target, bound_of(*this, block, i, cost), beta(i), f));
    }
    out.push_back({(of_classes ? "alpha" : "beta") + which, alpha});
    out.push_back({"slack" + which, slack});
    out.push_back({"margin" + which, margin_of_row});
    out.push_back({"side" + which, side});
    out.push_back({"kkt" + which, kkt});
  }
  return out;
}

}  // namespace lemma
