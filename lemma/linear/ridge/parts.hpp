// lemma/linear/ridge/parts.hpp: what fitting and certifying share. Inner header: use lemma/linear/ridge.hpp.
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
  Matrix a;                     // upper triangle; a trapezoid where there are fewer rows than columns
  Vector z;
  double rest;      // of Σ w y² (or Σ w (y − mean)²), what no column explains
  double total_ss;  // ‖z‖² + rest
};
Problem problem_of(const Ridge& spec, LeastSquares data);

/// K with KᵀK = P: the roots of the factors on a diagonal, or a matrix.
struct PenaltyRoot {
  Vector diagonal;
  Matrix full;  // in the place of the diagonal

  bool is_diagonal() const { return full.size() == 0; }
  Vector times(const Vector& c) const { return is_diagonal() ? Vector(diagonal.cwiseProduct(c)) : Vector(full * c); }
  Vector transposed_times(const Vector& c) const {
    return is_diagonal() ? Vector(diagonal.cwiseProduct(c)) : Vector(full.transpose() * c);
  }
};
PenaltyRoot penalty_root(const Ridge& spec, Index features);

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
/// Coordinates u of c in which a problem with more columns than rows is small. The rows see of c only its part in their own
/// span, c = E u + unseen, and the best c has nothing unseen:
///
///     c_held = K⁻¹ Q u_held   with  (A_held K⁻¹)ᵀ = Q L,      c_free = Q' u_free   with  A_freeᵀ = Q' L'.
///
/// At most twice as many coordinates as rows. With a penalty matrix, or enough rows, u is c.
class Seen {
 public:
  Seen(const Problem& problem, const PenaltyRoot& root);
  Index size() const { return a().cols(); }
  const Matrix& a() const { return small_ ? own_ : problem_.a; }  // A E
  const PenaltyRoot& root() const { return small_ ? of_u_ : root_; }
  const Problem& problem() const { return problem_; }

  Vector of(const Vector& c) const;
  Matrix of_rows(const Matrix& rows) const;  // rows E
  /// ‖K c‖² and ‖c_free‖² of what no row sees.
  struct Unseen {
    double held, free;
  };
  Unseen unseen(const Vector& c) const;
  /// The length of each row of E M: how far each c can be off when u is M times a vector of length 1. `held` is the length
  /// of what is unseen of K c.
  Vector reach(const Matrix& m, double held) const;

 private:
  const Problem& problem_;
  const PenaltyRoot& root_;
  bool small_;
  std::vector<Index> held_, free_;
  Matrix q_held_, q_free_;  // columns × coordinates
  Vector stretch_;          // 1 / K of the held ones
  Matrix own_;
  PenaltyRoot of_u_;
};

class Augmented {  // a pivoted Householder QR of A above √λ K, columns of unit length
 public:
  Augmented(const Seen& seen, double lambda);
  Distance distance(const Vector& coefficients, double intercept) const;
  double df() const;
  /// xᵀ (AᵀA + λP)⁻¹ x for rows x.
  Vector quadratic_form(const Matrix& rows) const;

 private:
  const Seen& seen_;
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
