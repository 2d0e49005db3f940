// lemma/kernel/kernel_ridge/model.cpp: what a fitted kernel ridge regression says of rows, and of itself.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/shown.hpp>
#include <lemma/kernel/kernel_ridge.hpp>

namespace lemma {

void KernelRidgeModel::check() const {
  points.check(KernelRidge::name, spec.kernel, dual_coefficients.size());
  check_places(KernelRidge::name, spec.kernel, places, points.width, dual_coefficients.size());
  require(dual_coefficients.size() > 0 && dual_coefficients.allFinite(),
          "kernel_ridge: a dual coefficient is not usable");
  const Index count = lambda.size();
  require(count > 0 && count == static_cast<Index>(spec.lambda.size()),
          "kernel_ridge: the path does not fit its lambda");
  for (const PathNumbers* each : {&effective_df, &rss, &loocv_mse, &objective})
    require(each->size() == count, "kernel_ridge: arrays over the path differ in length");
  require(std::isfinite(chosen_lambda) && chosen_lambda > 0, "kernel_ridge: the chosen lambda is not usable");
  require(std::isfinite(intercept) && (spec.intercept || intercept == 0), "kernel_ridge: the intercept is not usable");
}

Vector KernelRidgeModel::predict(const MatrixView& x) const {
  require_width(*this, x.cols());
  const BoundKernel kernel(spec.kernel, points.points(spec.kernel, places.of));
  return kernel.expand(x, Matrix(dual_coefficients)).col(0).array() + intercept;
}

std::string KernelRidgeModel::summary(const Names&) const {
  const auto list = [](const Vector& v) { return std::vector<double>(v.begin(), v.end()); };
  TextTable path;
  path.numbers("lambda", list(lambda.of));
  if (!effective_df.of.array().isNaN().all()) path.numbers("df", list(effective_df.of), 5);
  path.numbers("rss", list(rss.of), 5);
  if (!loocv_mse.of.array().isNaN().all()) path.numbers("loo mse", list(loocv_mse.of), 5);
  if (lambda.size() > 1) {
    std::vector<std::string> marks;
    for (const double each : lambda.of) marks.emplace_back(each == chosen_lambda ? "predicts" : "");
    path.words("", marks);
  }
  std::string out = fmt::format("Kernel: {}\n{} kept\n", shown(spec.kernel), count_of(dual_coefficients.size(), "row"));
  if (spec.intercept) out += fmt::format("Intercept: {}\n", format_significant(intercept, 6));
  return out + "\n" + path.str();
}

}  // namespace lemma
