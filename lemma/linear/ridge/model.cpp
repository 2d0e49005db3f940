// lemma/linear/ridge/model.cpp: what a fitted ridge regression says of rows, and of itself.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/ridge.hpp>
#include <lemma/linear/shared/plane.hpp>

namespace lemma {

void RidgeModel::check() const {
  check_path(Ridge::name, spec.intercept, spec.penalty_factors, {&gcv, &loo_mse});
  const Index features = width();
  require(lambda.size() == static_cast<Index>(spec.lambda.size()), "ridge: the path does not fit its lambda");
  require(spec.penalty.size() == 0 || spec.penalty.rows() == features, "ridge: the penalty does not fit the columns");
  const bool seen = seen_triangle.size() > 0;
  require(updates >= 0 && seen_mean.size() == (seen ? features + 1 : 0) && seen_mean.allFinite() &&
              seen_triangle.cols() == (seen ? features + 1 : 0) && seen_triangle.allFinite() &&
              (seen ? seen_weight > 0 && seen_mass > 0 : seen_weight == 0 && seen_mass == 0),
          "ridge: what was seen of the rows is not usable");
}

Vector RidgeModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  return heights_of(x);
}

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
  return out + coefficient_table(names, spec.intercept, spec.standardize, true);
}

}  // namespace lemma
