// lemma/math/least_squares_solve.cpp: from a triangle to coefficients.
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/math/twofold.hpp>
#include <utility>

namespace lemma {
namespace {

/// Of a column's raw length, what rounding its values can leave orthogonal to the others.
constexpr double kRounding = 4e-15;

/// The triangle [R z] with some columns taken out and made a triangle again.
struct Reduced {
  Matrix t;  // p + 1 rows; the last column belongs to y
  std::vector<Index> kept, aliased;
  double least_share = 1;
};

/// Column `at` leaves; the subdiagonal this makes is rotated away, row by row (Givens).
void remove_column(Matrix& t, Index at) {
  const Index last = t.cols() - 1;
  const Matrix right = t.rightCols(last - at);
  t.middleCols(at, last - at) = right;
  t.conservativeResize(Eigen::NoChange, last);
  for (Index k = at; k < last - 1; ++k) {
    const double a = t(k, k), b = t(k + 1, k), length = std::hypot(a, b);
    if (length == 0) continue;
    const double c = a / length, s = b / length;
    const auto right_part = Eigen::seq(k, last - 1);
    const Eigen::RowVectorXd upper = c * t(k, right_part) + s * t(k + 1, right_part);
    const Eigen::RowVectorXd lower = c * t(k + 1, right_part) - s * t(k, right_part);
    t(k, right_part) = upper;
    t(k + 1, right_part) = lower;
    t(k + 1, k) = 0;
  }
}

Reduced reduce(const LeastSquares& data, double tolerance) {
  Reduced out{data.triangle(), {}, {}, 1};
  for (Index column = 0, at = 0; column < data.features(); ++column) {
    const double length = out.t.col(at).head(at + 1).stableNorm(), part = std::abs(out.t(at, at));
    const double raw = std::hypot(length, std::sqrt(data.mass()) * data.mean()(column));
    if (part <= tolerance * length || part <= kRounding * raw) {
      out.aliased.push_back(column);
      remove_column(out.t, at);
    } else {
      out.kept.push_back(column);
      out.least_share = std::min(out.least_share, part / length);
      ++at;
    }
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
  out.triangle = reduced.t.topLeftCorner(k, k).triangularView<Eigen::Upper>();
  for (Index i = 0; i < k; ++i)  // the diagonal of a triangle is positive here
    if (out.triangle(i, i) < 0) {
      out.triangle.row(i) *= -1;
      reduced.t.row(i) *= -1;
    }
  const auto z = reduced.t.col(k);
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

Vector quadratic_form(const LeastSquares& data, const LinearSolution& solution, const MatrixView& x) {
  const auto k = static_cast<Index>(solution.kept.size());
  Matrix rows(x.rows(), k);
  for (Index j = 0; j < k; ++j) {
    const Index column = solution.kept[static_cast<std::size_t>(j)];
    rows.col(j) = x.col(column).array() - data.mean()(column);
  }
  blas::divide_by_upper(solution.triangle, rows);
  return rows.rowwise().squaredNorm().array() + (data.intercept() ? 1 / data.mass() : 0.0);
}

}  // namespace lemma
