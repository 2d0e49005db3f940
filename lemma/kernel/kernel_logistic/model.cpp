// lemma/kernel/kernel_logistic/model.cpp: what a fitted kernel logistic regression says of rows, and of itself.
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/kernel_logistic.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/held_out.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace {

/// Of several classes p_k = σ(η_k) / Σ σ(η_l), through log σ(η) = −log(1 + e^−η): none vanishes; or e^ηₖ / Σ e^ηₗ.
Matrix probabilities_at(const Matrix& eta, bool joint) {
  Matrix out(eta.rows(), std::max<Index>(2, eta.cols()));
  if (eta.cols() == 1) {
    for (Index i = 0; i < eta.rows(); ++i) out.row(i) << logistic(-eta(i, 0)), logistic(eta(i, 0));
    return out;
  }
  out = eta;
  if (!joint) out = eta.unaryExpr([](double each) { return -log1p_exp(-each); });
  softmax_rows(out);
  return out;
}

}  // namespace

void KernelLogistic::check() const {
  require(classes == KernelLogisticClasses::one_vs_rest || solver == KernelLogisticSolver::newton,
          "kernel_logistic: classes softmax is found by solver newton, and solver is stochastic");
}

void KernelLogisticModel::check() const {
  const Index rows = dual_coefficients.of.cols();
  require(rows > 0 && dual_coefficients.of.allFinite(), "kernel_logistic: a dual coefficient is not usable");
  points.check(KernelLogistic::name, spec.kernel, rows);
  check_places(KernelLogistic::name, spec.kernel, places, points.width, rows);
  require(counts.size() >= 2 && counts.allFinite() && functions() == functions_for(counts.size()),
          "kernel_logistic: the functions are not those of the classes");
  for (const PathNumbers* each : {&intercept, &objective, &deviance, &squared_norm}) {
    const bool of_all = is_joint() && (each == &objective || each == &deviance);
    require(each->size() == (of_all ? 1 : functions()) && each->of.allFinite(),
            "kernel_logistic: a number of each function is missing or not usable");
  }
  require(spec.intercept || intercept.of.isZero(0), "kernel_logistic: there is an intercept that was not to be fitted");
  check_choice(KernelLogistic::name, spec.lambda, lambda_path, held_out_loss);
}

Matrix KernelLogisticModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, points.points(spec.kernel, places.of));
  return kernel.expand(x, dual_coefficients.of.transpose()).rowwise() + intercept.of.transpose();
}

Matrix KernelLogisticModel::probabilities(const MatrixView& x) const {
  return probabilities_at(decision(x), is_joint());
}

Labels KernelLogisticModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

Prediction KernelLogisticModel::prediction(const MatrixView& x, const PredictOptions&) const {
  Matrix f = decision(x);
  Prediction out;
  out.add(kClassPart, greatest_class(f)).add(kProbabilitiesPart, probabilities_at(f, is_joint()));
  return out.add(kDecisionPart, std::move(f));
}

std::string KernelLogisticModel::summary(const Names& names) const {
  const auto list = [](const Vector& v) { return std::vector<double>(v.begin(), v.end()); };
  std::vector<std::string> of;
  for (Index k = 0; k < functions(); ++k) {
    const auto at = static_cast<std::size_t>(functions() == 1 ? 1 : k);
    of.push_back(at < names.classes.size() ? names.classes[at] : fmt::format("class {}", at + 1));
  }
  TextTable table;
  table.words("", of);
  if (spec.intercept) table.numbers("intercept", list(intercept.of), 6);
  if (is_joint()) {
    table.numbers("norm^2", list(squared_norm.of), 6);
    return fmt::format(
               "Kernel: {}\nλ = {}, {} kept\nObjective: {}, deviance: {}, of all classes together\n\n"
               "The logarithm of the odds between two classes is the difference of their f(x) + intercept:\n",
               shown(spec.kernel), format_significant(*spec.lambda) + choice_text(lambda_path),
               count_of(dual_coefficients.of.cols(), "row"), format_significant(objective.of(0), 6),
               format_significant(deviance.of(0), 6)) +
           table.str();
  }
  table.numbers("objective", list(objective.of), 6).numbers("deviance", list(deviance.of), 6);
  table.numbers("norm^2", list(squared_norm.of), 6);
  return fmt::format("Kernel: {}\nλ = {}, {} kept\n\nThe log odds of each class are f(x) + intercept:\n",
                     shown(spec.kernel), format_significant(*spec.lambda) + choice_text(lambda_path),
                     count_of(dual_coefficients.of.cols(), "row")) +
         table.str();
}

}  // namespace lemma
