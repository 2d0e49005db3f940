// lemma/linear/ridge_parts.hpp: what fitting and certifying share. Inner header: use lemma/linear/ridge.hpp.
#pragma once
#include <functional>
#include <lemma/linear/ridge.hpp>
#include <lemma/math/least_squares.hpp>

namespace lemma::ridge {

/// An eigenvalue of P below this share of the largest is 0 to rounding.
inline constexpr double kNull = 1e-14;

/// The least-squares problem in standardised columns: minimise ½ ‖z − A c‖² + ½ rest + ½ λ ‖K c‖².
struct Problem {
  LeastSquares data;  // about the means, whether there is an intercept or not
  bool intercept;
  Vector scale;                 // c = scale · b
  std::vector<Index> constant;  // columns that say nothing beside the intercept; they are 0 in A
  Matrix a;                     // upper triangle
  Vector z;
  double rest;      // of Σ w y² (or Σ w (y − mean)²), what no column explains
  double total_ss;  // ‖z‖² + rest
};
Problem problem_of(const Ridge& spec, LeastSquares data);

/// The triangle K with KᵀK = P.
Matrix penalty_root(const Ridge& spec, Index features);

double intercept_of(const Problem& problem, const Vector& coefficients);
double residual_ss(const Problem& problem, const Vector& c);
double gcv(double n, double rss, double df);
/// The λ with the least criterion; where it is missing everywhere, the largest λ.
double choose_lambda(const RidgeModel& model);

/// Which λ has an answer for the leave-one-out error?
bool leaves_out(const Ridge& spec, const Rows& rows);

/// Σ w (r / (1 − h))² / n for each λ, in one scan. `leverages(rows)` gives for rows of centred, scaled columns the
/// quadratic forms, a column for each λ; the intercept's part is added here.
Vector leave_one_out(const Problem& problem, const RidgeModel& model, const Rows& rows,
                     const std::function<Matrix(const Matrix&)>& leverages, const Execution& execution);

/// How far coefficients are from the best ones, by another route than the fit's.
struct Distance {
  double relative;  // (J − min J) in units of what cancels in a residual
  double bound;     // no coefficient is further off, in the user's units
};
class Augmented {  // a pivoted Householder QR of A above √λ K, columns of unit length
 public:
  Augmented(const Problem& problem, const Matrix& root, double lambda);
  Distance distance(const Vector& coefficients, double intercept) const;
  double df() const;
  /// xᵀ (AᵀA + λP)⁻¹ x for rows x.
  Vector quadratic_form(const Matrix& rows) const;

 private:
  const Problem& problem_;
  const Matrix& root_;
  double lambda_;
  Matrix r_;  // rank square
  std::vector<Index> kept_;
  Vector length_;
  Vector target_;  // Qᵀ[z 0], as far as R reaches
  Matrix ahead_;   // R: all columns in the order of the pivots, for columns that are not kept
  std::vector<int> order_;
};

/// Of all λ the worst, as a certificate.
Certificate certificate_of(const Problem& problem, const RidgeModel& model);

}  // namespace lemma::ridge
