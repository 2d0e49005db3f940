// lemma/mixture/shared/factors.hpp: rows as few hidden numbers and noise, some of their values missing.
//
//     x = μ + W z + e,    z ~ N(0, I_q),  e ~ N(0, Ψ), Ψ diagonal;   so  x ~ N(μ, C),  C = W Wᵀ + Ψ
//
// What is known of a row alone decides: with its values O, M = I + W_Oᵀ Ψ_O⁻¹ W_O and d = x_O − μ_O
//
//     E z = m = M⁻¹ W_Oᵀ Ψ_O⁻¹ d,   cov z = M⁻¹,   dᵀ C_O⁻¹ d = Σ (d − W_O m)² / ψ + ‖m‖²,   log det C_O = Σ log ψ + log det M,
//
// in which nothing cancels. EM (missing at random): each column is a least-squares fit to E (z, 1) over the rows where it is known, so
// that ℓ, the sum of the log densities of what is known, never falls.
#pragma once
#include <cstdint>
#include <lemma/core/rows.hpp>

namespace lemma::factors {

struct Factors {
  Vector mean;
  Matrix loadings;  // W: a row for each column of x
  Vector noise;     // ψ of each column
  Index width() const { return mean.size(); }
  Index count() const { return loadings.cols(); }
  Matrix covariance() const;  // C
};

/// What is known of the hidden numbers of a row.
struct Hidden {
  Vector mean;
  Matrix covariance;
  double log_density = 0;
  Index known = 0;  // values of the row
};

/// Asks rows about their hidden numbers.
class Asker {
 public:
  explicit Asker(const Factors& factors);
  Hidden of(const double* row) const;

 private:
  Hidden from(const Vector& d, const Matrix& w, const Vector& noise, const Matrix& root) const;
  const Factors& factors_;
  Matrix root_;  // of M where all values are known
};

/// Log density of each row's known values; NaN where none is.
Vector log_densities(const Factors& factors, const MatrixView& x);
/// E z of each row.
Matrix hidden_means(const Factors& factors, const MatrixView& x);
/// Rows with their missing values put at their expectation.
Matrix filled(const Factors& factors, const MatrixView& x);

enum class Noise { equal, own };

struct Step {
  double log_likelihood = 0, weight = 0, values = 0;
  Factors next;
};
/// One EM step. No ψ falls below the floor.
Step step(const Rows& rows, const Factors& at, Noise noise, const Vector& floor, const Execution& execution);

/// The farthest way of a mean or loading, in standard deviations of its column, or of a ψ relative to itself.
double distance(const Factors& from, const Factors& to);

struct Run {
  Factors factors;
  std::vector<double> trace;  // ℓ at each place on the way: it never falls
  double movement = 0;        // of the step that was not taken any more
  bool cancelled = false;
};
/// EM with accelerated steps (as in em.hpp) that never lower ℓ. Throws Cancelled before the first step is known.
Run run(const Rows& rows, const Factors& start, Noise noise, const Vector& floor, Index iterations, double movement,
        const Execution& execution);

/// The same density with W turned so that WᵀΨ⁻¹W is diagonal, its largest entry first, and the largest entry of each column of W
/// positive.
Factors turned(Factors factors);

/// Row i depends on the seed and i alone.
Matrix draw(const Factors& factors, Index count, std::uint64_t seed);

}  // namespace lemma::factors
