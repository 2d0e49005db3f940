// lemma/math/least_squares_solve.cpp: from a triangle to coefficients.
#include <Eigen/Householder>
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/twofold.hpp>
#include <utility>

namespace lemma {
namespace {

/// Of a column's raw length, what rounding its values can leave orthogonal to the others.
constexpr double kRounding = 4e-15;

/// The triangle [R z] of the columns that take part: column kept[i] has its diagonal in row i.
struct Reduced {
  blas::Columns t;  // the last column belongs to y
  std::vector<Index> kept, aliased;
  double least_share = 1;
};

/// Column `column` gets its diagonal in row `at`: what it has below, down to row `end`, is reflected into it
/// (Householder), and all columns to its right with it.
void reflect_into(blas::Columns& t, Index at, Index end, Index column) {
  const Index below = end - at - 1, right = t.cols() - column - 1;
  if (below == 0) return;
  double factor = 0, diagonal = 0;
  Vector essential(below), scratch(right);
  t.col(column).segment(at, below + 1).makeHouseholder(essential, factor, diagonal);
  t.block(at, column + 1, below + 1, right).applyHouseholderOnTheLeft(essential, factor, scratch.data());
  t(at, column) = diagonal;
  t.col(column).segment(at + 1, below).setZero();
}

/// Columns that are aliased stay where they are and cost nothing; the next that takes part reaches as many rows below its
/// diagonal as columns have been left out before it.
Reduced reduce(const LeastSquares& data, double tolerance) {
  Reduced out{data.triangle(), {}, {}, 1};
  const Index rows = out.t.rows();
  for (Index column = 0, at = 0; column < data.features(); ++column) {
    const Index end = std::min(rows, column + 1);
    const double length = out.t.col(column).head(end).stableNorm();
    const double part = at < end ? out.t.col(column).segment(at, end - at).stableNorm() : 0;
    const double raw = std::hypot(length, std::sqrt(data.mass()) * data.mean()(column));
    if (part <= tolerance * length || part <= kRounding * raw) {
      out.aliased.push_back(column);
      continue;
    }
    if (column % 64 == 0) ask();
    reflect_into(out.t, at++, end, column);
    out.kept.push_back(column);
    out.least_share = std::min(out.least_share, part / length);
  }
  return out;
}

double condition_of(Matrix r) {
  for (Index j = 0; j < r.cols(); ++j) r.col(j) /= r.col(j).stableNorm();
  const double reciprocal = blas::reciprocal_condition(r);
  return reciprocal > 0 ? 1 / reciprocal : INFINITY;
}

Vector kept_means(const LeastSquares& data, const LinearSolution& solution) { return data.mean()(solution.kept); }

}  // namespace

LinearSolution solve(const LeastSquares& data, double tolerance) {
  require(data.rows() > 0, "least squares: there are no rows to learn from");
  Reduced reduced = reduce(data, tolerance);
  const auto k = static_cast<Index>(reduced.kept.size());
  LinearSolution out;
  out.coefficients = Vector::Zero(data.features());
  const Matrix whole = reduced.t(Eigen::seqN(0, k), reduced.kept);
  out.triangle = whole.triangularView<Eigen::Upper>();
  for (Index i = 0; i < k; ++i)  // the diagonal of a triangle is positive here
    if (out.triangle(i, i) < 0) {
      out.triangle.row(i) *= -1;
      reduced.t.row(i) *= -1;
    }
  const auto z = reduced.t.col(data.features());
  out.residual_ss = z.tail(z.size() - k).squaredNorm();
  out.total_ss = z.squaredNorm();
  out.condition = k > 0 ? condition_of(out.triangle) : 1;
  out.least_share = reduced.least_share;
  Vector b = z.head(k);
  blas::solve_upper(blas::Op::plain, out.triangle, b);
  out.coefficients(reduced.kept) = b;
  out.kept = std::move(reduced.kept);
  out.aliased = std::move(reduced.aliased);
  if (data.intercept()) out.intercept = intercept_for(data, out.coefficients);
  return out;
}

double intercept_for(const LeastSquares& data, const VectorView& coefficients) {
  const Index p = data.features();
  const Vector &mean = data.mean(), &rest = data.mean_rest();
  Twofold intercept{mean(p), rest(p)};
  for (Index j = 0; j < p; ++j) intercept = intercept - Twofold{mean(j), rest(j)} * coefficients(j);
  return intercept.rounded();
}

Matrix unscaled_covariance(const LeastSquares& data, const LinearSolution& solution) {
  const Index k = solution.triangle.rows(), lead = data.intercept() ? 1 : 0;
  Matrix inverse = Matrix::Identity(k, k);
  blas::solve_upper(blas::Op::plain, solution.triangle, inverse);
  Matrix out(k + lead, k + lead), within(k, k);
  blas::outer_gram(inverse, within);
  within = Matrix(within.selfadjointView<Eigen::Upper>());
  out.bottomRightCorner(k, k) = within;
  if (lead == 0) return out;
  const Vector mean = kept_means(data, solution), spread = inverse.transpose() * mean;
  out.col(0).tail(k) = -(within * mean);
  out.row(0).tail(k) = out.col(0).tail(k).transpose();
  out(0, 0) = 1 / data.mass() + spread.squaredNorm();
  return out;
}

Vector unscaled_variances(const LeastSquares& data, const LinearSolution& solution) {
  const Index k = solution.triangle.rows(), lead = data.intercept() ? 1 : 0;
  Matrix inverse = Matrix::Identity(k, k);
  blas::solve_upper(blas::Op::plain, solution.triangle, inverse);
  Vector out(k + lead);
  out.tail(k) = inverse.rowwise().squaredNorm();
  if (lead == 1) out(0) = 1 / data.mass() + (inverse.transpose() * kept_means(data, solution)).squaredNorm();
  return out;
}

Vector quadratic_form(const LeastSquares& data, const LinearSolution& solution, const MatrixView& x) {
  const auto k = static_cast<Index>(solution.kept.size());
  Matrix rows(x.rows(), k);
  for (Index j = 0; j < k; ++j) {
    const Index column = solution.kept[static_cast<std::size_t>(j)];
    rows.col(j) = x.col(column).array() - data.mean()(column);
  }
  RightTriangle(solution.triangle).divide(rows);
  return rows.rowwise().squaredNorm().array() + (data.intercept() ? 1 / data.mass() : 0.0);
}

}  // namespace lemma
