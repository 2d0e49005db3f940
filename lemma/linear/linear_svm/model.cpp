// lemma/linear/linear_svm/model.cpp: what a fitted model says of rows, and of itself.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/linear_svm.hpp>
#include <lemma/linear/shared/planes.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {

void LinearSvmModel::check() const {
  check_planes(LinearSvm::name, spec.intercept, {&objective_primal, &objective_dual, &gap, &n_support});
}

Matrix LinearSvmModel::decision(const MatrixView& x) const { return planes::decision(LinearSvm::name, affine(), x); }
Labels LinearSvmModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }
std::vector<NamedColumn> LinearSvmModel::diagnostics(const Block& block) const {
  return planes::diagnose(decision(block.x), block.label);
}

std::string LinearSvmModel::summary(const Names& names) const {
  std::vector<std::string> which, gaps;
  std::vector<double> half_widths;
  for (Index k = 0; k < planes(); ++k) {
    which.push_back(planes::name(names, k, planes()));
    gaps.push_back(residue_text(gap.of(k), spec.tolerance));
    const double length = coefficients.of.row(k).stableNorm();
    half_widths.push_back(length > 0 ? 1 / length : std::nan(""));
  }
  const auto column = [](const PathNumbers& of) { return std::vector<double>(of.of.begin(), of.of.end()); };
  TextTable table;
  table.words("", which);
  table.numbers("objective", column(objective_primal), 7);
  table.right("gap", gaps);
  table.numbers("support", column(n_support), 7);
  table.numbers("half width of the margin", half_widths, 4);
  return planes::table(affine(), spec.intercept, names) +
         fmt::format("\nLoss {}, C = {:.5g}, bias {}\n", name_of(spec.loss), spec.C,
                     spec.intercept ? name_of(spec.bias) : "none") +
         table.str({.gap = 2, .width = 100});
}

}  // namespace lemma
