// lemma/mixture/shared/spread.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/mixture/shared/spread.hpp>

namespace lemma::mixture {
namespace {

constexpr double kDependent = 1e-7;  // of the triangle of the correlations: their own digits are lost then

void refuse_ranges(std::string_view method, const ColumnMoments& range) {
  const double far = std::max((range.greatest() - range.mean()).maxCoeff(), (range.mean() - range.least()).maxCoeff());
  if (!(far < 1e150) || (far > 0 && far < 1e-150))
    throw Error(fmt::format(
        "{0}: values lie up to {1} from the mean of their column, and their squares leave the range of numbers; scale "
        "the columns first ('scale | {0}')",
        method, format_significant(far, 3)));
}

}  // namespace

Spread spread_of(std::string_view method, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution.part(0, 0.3));
  const auto range = scan(rows, ColumnMoments(rows.width()), execution.part(0.3, 0.6));
  if (!(range.weight()(0) > 0))
    throw Error(fmt::format("{}: all weights are 0, so there are no rows to learn from", method));
  refuse_ranges(method, range);
  const auto moments = scan(rows, Moments(rows.width()), execution.part(0.6, 1));
  return {moments.weight(), moments.mean(), moments.covariance(moments.weight())};
}

void require_spread_in_each(std::string_view method, const Spread& spread, const Rows& rows, std::string_view or_else) {
  for (Index j = 0; j < rows.width(); ++j)
    if (!(spread.covariance(j, j) > 0))
      throw Error(fmt::format("{}: '{}' has the same value in all rows, which leaves no density; leave it out{}",
                              method, rows.features[at(j)], or_else));
}

Matrix triangle_of(std::string_view method, const Spread& spread, const Rows& rows, std::string_view or_else) {
  const Vector unit = spread.covariance.diagonal().cwiseSqrt();
  const Matrix correlation = unit.cwiseInverse().asDiagonal() * spread.covariance * unit.cwiseInverse().asDiagonal();
  const auto root = cholesky(correlation);
  if (root && blas::reciprocal_condition(*root) > kDependent) return *root * unit.asDiagonal();
  Index worst = 0;
  if (root) root->diagonal().minCoeff(&worst);
  throw Error(fmt::format(
      "{}: the {}{} are linearly dependent{}, which leaves no density; leave columns out, or reduce them ('pca | "
      "{}'){}",
      method, count_of(rows.width(), "column"),
      rows.count() <= rows.width() ? " of " + count_of(rows.count(), "row") : std::string(),
      root ? fmt::format(" to working precision ('{}' on those before it)", rows.features[at(worst)]) : std::string(),
      method, or_else));
}

double square_sum(const double* y, Index n) {
  double s[4] = {0, 0, 0, 0};
  Index j = 0;
  for (; j + 4 <= n; j += 4)
    for (Index c = 0; c < 4; ++c) s[c] += y[j + c] * y[j + c];
  for (; j < n; ++j) s[0] += y[j] * y[j];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

}  // namespace lemma::mixture
