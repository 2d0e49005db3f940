// lemma/math/least_squares.hpp: all that least squares needs from the rows, and its solution.
#pragma once
#include <lemma/core/rows.hpp>
#include <vector>

namespace lemma {

/// The rows' columns x and y reduced to n, means and a triangle:
///
///     RᵀR = Σ wᵢ ([xᵢ yᵢ] − mean)ᵀ ([xᵢ yᵢ] − mean),    wᵢ = weight · precision,
///
/// without the means when there is no intercept. Two triangles merge by a QR of one on the other and on the
/// difference of their means, so no condition number is ever squared, and an offset of the data costs no digits
/// (means are kept to twice the working precision). The response is y − offset.
///
/// A block gives its triangle by Cholesky or by Householder, as the estimated condition of its columns demands
/// (lemma/math/block_triangle.hpp): the route depends on the block's numbers alone.
///
/// As long as there are fewer rows than columns the triangle is a trapezoid with a row for each row (less one for the
/// mean): never more numbers than the rows have.
///
/// Cost  O(n p min(n, p)) time, O(p min(n, p)) memory.
class LeastSquares {
 public:
  enum class Route { by_condition, householder };
  explicit LeastSquares(Index features, bool intercept = true, Route route = Route::by_condition);

  void accumulate(const Block& block);
  void merge(const LeastSquares& other);

  Index features() const { return features_; }
  bool intercept() const { return intercept_; }
  Index rows() const { return rows_; }                     // rows that count: weight and precision above zero
  double weight() const { return weight_; }                // n = Σ weight, over those rows
  double mass() const { return mass_; }                    // Σ weight · precision
  double log_precision() const { return log_precision_; }  // Σ weight · log(precision), for the likelihood
  const Vector& mean() const { return mean_; }             // of x, then of y; zero without an intercept
  const Vector& mean_rest() const { return mean_rest_; }   // what rounding left out of `mean`
  /// Upper; the last column belongs to y. p + 1 rows, or as many as there are rows when these are fewer (at least one).
  const Eigen::MatrixXd& triangle() const { return r_; }

  std::vector<double> numbers() const;  // the whole state, flat
  static LeastSquares from_numbers(const std::vector<double>& numbers);

 private:
  Index features_, rows_ = 0;
  bool intercept_;
  Route route_;
  double weight_ = 0, mass_ = 0, log_precision_ = 0;
  Vector mean_, mean_rest_;
  Eigen::MatrixXd r_;
};

/// The coefficients that minimise Σ wᵢ (yᵢ − b₀ − xᵢ·b)². A column whose part orthogonal to the earlier kept ones
/// (and to the intercept) is shorter than `tolerance` times the column is aliased, as in R's lm: it takes no part.
struct LinearSolution {
  double intercept = 0;
  Vector coefficients;         // one for each column; 0 where aliased
  std::vector<Index> kept;     // columns that take part, in order
  std::vector<Index> aliased;  // the others, in order
  Matrix triangle;             // R of the kept columns: centred when there is an intercept
  double residual_ss = 0;      // Σ w r² at the minimum
  double total_ss = 0;         // Σ w (y − mean)², or Σ w y² without an intercept
  double condition = 1;        // estimated, of the kept (centred) columns scaled to unit length
  double least_share = 1;      // least length of an orthogonal part over its column's length: how near to rank loss

  Index rank(bool with_intercept) const { return static_cast<Index>(kept.size()) + (with_intercept ? 1 : 0); }
};

/// Chosen so that NIST's Filip (degree 10 on one narrow interval) keeps its columns while exact copies and sums of
/// columns are found; R's lm takes 1e-7 and loses Filip.
inline constexpr double kRankTolerance = 1e-12;
LinearSolution solve(const LeastSquares& data, double tolerance = kRankTolerance);

/// The best intercept beside given coefficients: mean(y) − mean(x)·b.
double intercept_for(const LeastSquares& data, const VectorView& coefficients);

/// (XᵀWX)⁻¹ for the terms [intercept, kept columns…] (without the intercept when there is none): times σ², the
/// covariance of the coefficients.
Matrix unscaled_covariance(const LeastSquares& data, const LinearSolution& solution);
/// Its diagonal alone.
Vector unscaled_variances(const LeastSquares& data, const LinearSolution& solution);

/// xᵢᵀ (XᵀWX)⁻¹ xᵢ for each row, by one triangular solve: times the row's weight·precision its leverage.
Vector quadratic_form(const LeastSquares& data, const LinearSolution& solution, const MatrixView& x);

}  // namespace lemma
