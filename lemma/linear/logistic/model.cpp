// lemma/linear/logistic/model.cpp: what a fitted model says of rows, and of itself.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/logistic.hpp>
#include <lemma/math/simd/logistic.hpp>
#include <lemma/math/special.hpp>

namespace lemma {

void LogisticModel::check() const {
  const Index p = width(), count = lambda.size();
  require(count >= 1 && spec.lambda && static_cast<Index>(spec.lambda->size()) == count,
          "logistic: the path and its penalties do not fit together");
  require(coefficients.size() == count && intercept.size() == count && df.size() == count &&
              deviance_ratio.size() == count && objective.size() == count,
          "logistic: the numbers of the path do not fit together");
  require(coefficients.of.allFinite() && intercept.of.allFinite() && lambda.of.allFinite() && objective.of.allFinite(),
          "logistic: a fitted value is not finite");
  require(df.of.allFinite() && deviance_ratio.of.allFinite() && std::isfinite(null_deviance),
          "logistic: a fitted value is not finite");
  require(trace.allFinite(), "logistic: the trace is not usable");
  require(class_factors.size() == 2 && class_factors.allFinite(), "logistic: there must be two class factors");
  require(spec.intercept || (intercept.of.array() == 0).all(), "logistic: there is an intercept where none was fitted");
  for (const Matrix* each : {&curvature, &past_curvature})
    require(each->size() == 0 || (each->rows() == p + 1 && each->cols() == p + 1 && each->allFinite()),
            "logistic: the curvature does not fit the columns");
  require((past.size() == 0 && past_curvature.size() == 0) ||
              (past.size() == p + 1 && past_curvature.size() > 0 && past.allFinite()),
          "logistic: what was known before the update does not fit the columns");
}

Matrix LogisticModel::decision(const MatrixView& x, Offset offset) const {
  require_width(*this, x.cols());
  const Vector b = coefficients.of.row(chosen());
  Matrix eta(x.rows(), 1);
  simd::rows_times(x, {b.data(), static_cast<std::size_t>(b.size())}, intercept.of(chosen()),
                   {eta.data(), static_cast<std::size_t>(eta.size())});
  for (std::size_t i = 0; i < offset.size(); ++i) eta(static_cast<Index>(i), 0) += offset[i];
  return eta;
}

Vector LogisticModel::predict(const MatrixView& x, Offset offset) const {
  require(!of_classes, "logistic: this model tells classes, not numbers: classify() and probabilities() give them");
  return value_of(decision(x, offset));
}

Vector LogisticModel::value_of(const Matrix& planes) {
  return planes.col(0).unaryExpr([](double eta) { return logistic(eta); });
}

Matrix LogisticModel::probabilities(const MatrixView& x, Offset offset) const {
  require(of_classes, "logistic: this model predicts proportions, not classes: predict() gives them");
  return probabilities_of(decision(x, offset));
}

Matrix LogisticModel::probabilities_of(const Matrix& planes) {
  Matrix out(planes.rows(), 2);
  for (Index i = 0; i < planes.rows(); ++i) out.row(i) << logistic(-planes(i, 0)), logistic(planes(i, 0));
  return out;
}

Labels LogisticModel::classify(const MatrixView& x, Offset offset) const {
  require(of_classes, "logistic: this model predicts proportions, not classes: predict() gives them");
  const Matrix eta = decision(x, offset);
  Labels out;
  for (Index i = 0; i < x.rows(); ++i) out.push_back(eta(i, 0) > 0 ? 1 : 0);
  return out;
}

AffineMap LogisticModel::affine() const {
  return {coefficients.of.row(chosen()), Vector::Constant(1, intercept.of(chosen()))};
}

std::string LogisticModel::summary(const Names& names) const {
  std::string out;
  if (names.classes.size() == 2)
    out += fmt::format("Log-odds of '{}' against '{}'\n\n", names.classes[1], names.classes[0]);
  if (lambda.size() > 1) {
    TextTable path;
    path.numbers("lambda", {lambda.of.begin(), lambda.of.end()}, 5);
    path.numbers("df", {df.of.begin(), df.of.end()}, 5);
    path.numbers("deviance ratio", {deviance_ratio.of.begin(), deviance_ratio.of.end()}, 4);
    out += path.str({.gap = 2, .width = 100}) +
           fmt::format("\nCoefficients of the last, lambda = {:.5g}:\n", lambda.of(chosen()));
  } else {
    out += "Coefficients:\n";
  }
  TextTable table;
  std::vector<std::string> terms;
  std::vector<double> estimates, odds;
  const auto add = [&](std::string name, double b) {
    terms.push_back(std::move(name));
    estimates.push_back(b);
    odds.push_back(std::exp(std::min(b, 700.0)));
  };
  if (spec.intercept) add("(Intercept)", intercept.of(chosen()));
  for (Index j = 0; j < width(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    add(at < names.features.size() ? names.features[at] : fmt::format("x{}", j + 1), coefficients.of(chosen(), j));
  }
  table.words("", terms);
  table.numbers("Estimate", estimates, 5);
  table.numbers("Odds ratio", odds, 5);
  out += table.str({.gap = 2, .width = 100});
  const Index k = chosen();
  out += fmt::format("\nPenalty {}, lambda = {:.5g}: objective {:.8g}, {} of {} coefficients not 0\n",
                     name_of(spec.penalty), lambda.of(k), objective.of(k), df.of(k), width());
  out += fmt::format("Null deviance {:.6g}, share explained {:.4f}\n", null_deviance, deviance_ratio.of(k));
  return out;
}

}  // namespace lemma
