// lemma/kernel/linear_svm_model.cpp: what a fitted model says of rows, and of itself.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/kernel/linear_svm.hpp>
#include <lemma/math/simd_logistic.hpp>

namespace lemma {

void LinearSvmModel::check() const {
  require(planes() >= 1 && width() >= 1 && coefficients.of.allFinite(), "linear_svm: the coefficients are not usable");
  for (const PathNumbers* each : {&intercept, &objective_primal, &objective_dual, &gap, &n_support})
    require(each->size() == planes() && each->of.allFinite(), "linear_svm: the numbers of the planes are not usable");
  require(class_factors.size() == (planes() == 1 ? 2 : planes()) && class_factors.allFinite(),
          "linear_svm: there must be a factor for each class");
  require(spec.intercept || (intercept.of.array() == 0).all(),
          "linear_svm: there is an intercept where none was fitted");
}

Matrix LinearSvmModel::decision(const MatrixView& x) const {
  require(x.cols() == width(),
          fmt::format("linear_svm: the model has {} columns and the rows have {}", width(), x.cols()));
  Matrix out(x.rows(), planes());
  Vector f(x.rows());
  for (Index k = 0; k < planes(); ++k) {
    const Vector w = coefficients.of.row(k);
    simd::rows_times(x, {w.data(), static_cast<std::size_t>(w.size())}, intercept.of(k),
                     {f.data(), static_cast<std::size_t>(f.size())});
    out.col(k) = f;
  }
  return out;
}

Labels LinearSvmModel::predict(const MatrixView& x) const {
  const Matrix f = decision(x);
  Labels out(static_cast<std::size_t>(x.rows()));
  for (Index i = 0; i < x.rows(); ++i) {
    Index best = 0;
    if (planes() == 1) best = f(i, 0) > 0 ? 1 : 0;
    else f.row(i).maxCoeff(&best);
    out[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return out;
}

std::string LinearSvmModel::summary(const Names& names) const {
  const auto class_name = [&](Index k) {
    const auto at = static_cast<std::size_t>(planes() == 1 ? 1 : k);
    return at < names.classes.size() ? names.classes[at] : fmt::format("class {}", at + 1);
  };
  std::vector<std::string> terms;
  if (spec.intercept) terms.emplace_back("(Intercept)");
  for (Index j = 0; j < width(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    terms.push_back(at < names.features.size() ? names.features[at] : fmt::format("x{}", j + 1));
  }
  TextTable table, planes_table;
  table.words("", terms);
  std::vector<std::string> which;
  std::vector<double> half_widths;
  for (Index k = 0; k < planes(); ++k) {
    std::vector<double> numbers;
    if (spec.intercept) numbers.push_back(intercept.of(k));
    for (Index j = 0; j < width(); ++j) numbers.push_back(coefficients.of(k, j));
    table.numbers(class_name(k), numbers, 5);
    which.push_back(class_name(k));
    const double length = coefficients.of.row(k).stableNorm();
    half_widths.push_back(length > 0 ? 1 / length : std::nan(""));
  }
  const auto column = [](const PathNumbers& of) { return std::vector<double>(of.of.begin(), of.of.end()); };
  planes_table.words("", which);
  planes_table.numbers("objective", column(objective_primal), 7);
  planes_table.numbers("gap", column(gap), 2);
  planes_table.numbers("support", column(n_support), 7);
  planes_table.numbers("half width of the margin", half_widths, 4);
  std::string out = "Planes (positive on the side of the class named):\n" + table.str({.gap = 2, .width = 100});
  out += fmt::format("\nLoss {}, C = {:.5g}, bias {}\n", name_of(spec.loss), spec.C,
                     spec.intercept ? name_of(spec.bias) : "none");
  return out + planes_table.str({.gap = 2, .width = 100});
}

}  // namespace lemma
