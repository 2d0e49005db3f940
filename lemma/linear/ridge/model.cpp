// lemma/linear/ridge/model.cpp: what a fitted ridge regression says of rows, and of itself.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/ridge.hpp>

namespace lemma {

void RidgeModel::check() const {
  const Index count = lambda.size(), features = width();
  require(count > 0 && count == static_cast<Index>(spec.lambda.size()), "ridge: the path does not fit its lambda");
  require(coefficients.size() == count, "ridge: the coefficients do not fit the path");
  for (const PathNumbers* each : {&intercept, &df, &rss, &deviance_ratio, &gcv, &loo_mse, &objective})
    require(each->size() == count, "ridge: arrays over the path differ in length");
  require(scale.size() == features && scale.allFinite() && (scale.array() > 0).all(), "ridge: the scale is not usable");
  require(coefficients.of.allFinite() && intercept.of.allFinite() && lambda.of.allFinite(),
          "ridge: a coefficient is not usable");
  require(spec.intercept || intercept.of.isZero(0), "ridge: there is an intercept where none was fitted");
  require(spec.penalty_factors.empty() || static_cast<Index>(spec.penalty_factors.size()) == features,
          "ridge: the penalty factors do not fit the columns");
  require(spec.penalty.size() == 0 || spec.penalty.rows() == features, "ridge: the penalty does not fit the columns");
  chosen();
}

Index RidgeModel::chosen() const {
  for (Index k = 0; k < lambda.size(); ++k)
    if (lambda.of(k) == chosen_lambda) return k;
  throw Error("ridge: the chosen lambda is none of the path");
}

Vector RidgeModel::slopes() const { return coefficients.of.row(chosen()); }

Vector RidgeModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Vector b = slopes();
  const double b0 = intercept.of(chosen());
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) out(i) = x.row(i).dot(b) + b0;  // each row alone: the same bits in any company
  return out;
}

AffineMap RidgeModel::affine() const { return {slopes().transpose(), Vector::Constant(1, intercept.of(chosen()))}; }

std::string RidgeModel::summary(const Names& names) const {
  require(static_cast<Index>(names.features.size()) == width(), "ridge: each column needs a name");
  const auto list = [](const Vector& v) { return std::vector<double>(v.begin(), v.end()); };
  std::string out;
  TextTable path;
  path.numbers("lambda", list(lambda.of)).numbers("df", list(df.of)).numbers("deviance ratio", list(deviance_ratio.of));
  path.numbers("rss", list(rss.of), 5).numbers("gcv", list(gcv.of), 5);
  if (!loo_mse.of.array().isNaN().all()) path.numbers("loo mse", list(loo_mse.of), 5);
  std::vector<std::string> marks;
  for (Index k = 0; k < lambda.size(); ++k) marks.emplace_back(k == chosen() && lambda.size() > 1 ? "predicts" : "");
  if (lambda.size() > 1) path.words("", marks);
  out += path.str() + "\n";
  if (lambda.size() > 1)
    out += fmt::format("Coefficients at lambda = {} (least {}):\n", format_significant(chosen_lambda, 4),
                       spec.choose == RidgeChoice::loo ? "leave-one-out error" : "generalised cross-validation");
  else out += "Coefficients:\n";
  std::vector<std::string> terms;
  std::vector<double> estimates, standardised;
  if (spec.intercept) {
    terms.emplace_back("(Intercept)");
    estimates.push_back(intercept.of(chosen()));
    standardised.push_back(kNone);
  }
  const Vector b = slopes();
  for (Index j = 0; j < width(); ++j) {
    terms.push_back(names.features[static_cast<std::size_t>(j)]);
    estimates.push_back(b(j));
    standardised.push_back(b(j) * scale(j));
  }
  TextTable table;
  table.words("", terms).numbers("estimate", estimates);
  if (spec.standardize) {
    auto cells = format_column(standardised, 4);
    if (spec.intercept) cells[0] = "";
    table.right("per sd", cells);
  }
  return out + table.str();
}

}  // namespace lemma
