// lemma/model/comparison.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/math/blas.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {

void Comparison::number(std::string_view field, double stored, double expected, double unit, double tolerance,
                        std::string place) {
  if (finding_ || stored == expected || (std::isnan(stored) && std::isnan(expected))) return;
  const double d = std::abs(stored - expected), share = std::isfinite(d) && std::isfinite(unit) ? d / (unit + d) : 1;
  const double allowed = std::min(tolerance, kLeastAgreement);
  if (!(share <= allowed)) finding_ = {std::string(field), std::move(place), share, allowed};
}

void Comparison::relative(std::string_view field, double stored, double expected, double tolerance) {
  number(field, stored, expected, std::abs(expected), tolerance);
}

void Comparison::entry(std::string_view field, Index j, double stored, double expected, double unit, double tolerance) {
  number(field, stored, expected, unit, tolerance, fmt::format("number {} of ", j + 1));
}

void Comparison::triangle(std::string_view field, const Matrix& stored, const MatrixView& expected, double tolerance) {
  if (finding_ || stored.rows() == 0) return;
  Matrix ratio = stored;
  blas::divide_by_upper(expected, ratio);
  for (Index i = 0; i < ratio.rows(); ++i)
    for (Index j = 0; j < ratio.cols(); ++j)
      entry(field, i * ratio.cols() + j, ratio(i, j), i == j ? 1 : 0, 1, tolerance);
}

void Comparison::covariance(const Matrix& stored, const std::vector<Index>& taking_part, const Matrix& part,
                            double tolerance) {
  if (finding_) return;
  const Index terms = stored.rows();
  Matrix expected = Matrix::Constant(terms, terms, std::numeric_limits<double>::quiet_NaN());
  expected(taking_part, taking_part) = part;
  const Vector error = expected.diagonal().cwiseSqrt();
  for (Index i = 0; i < terms; ++i)
    for (Index j = 0; j < terms; ++j)
      entry("covariance", i * terms + j, stored(i, j), expected(i, j), error(i) * error(j), tolerance);
}

void Comparison::report(Certificate& certificate) const {
  certificate.kind = "difference of " + finding_->field;
  certificate.value = finding_->value;
  certificate.tolerance = finding_->tolerance;
  certificate.message = fmt::format(
      "The coefficients are those of the rows, but {}'{}' is not: it is off by {:.1e} of its size (allowed {:.0e}).",
      finding_->place, finding_->field, finding_->value, finding_->tolerance);
}

}  // namespace lemma
