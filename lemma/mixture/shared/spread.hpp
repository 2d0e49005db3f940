// lemma/mixture/shared/spread.hpp: weight, mean and covariance of rows that are to have a Gaussian density.
#pragma once
#include <lemma/core/rows.hpp>
#include <string_view>

namespace lemma::mixture {

struct Spread {
  double weight = 0;  // n = Σ w
  Vector mean;
  Matrix covariance;  // divisor n
};

/// Error, in the name of the method, where a number is not finite, no row has weight, or squares leave the range of numbers.
Spread spread_of(std::string_view method, const Rows& rows, const Execution& execution);

/// Error that names the first column without spread, and says what else there is: "leave it out<or>".
void require_spread_in_each(std::string_view method, const Spread& spread, const Rows& rows, std::string_view or_else);

/// The upper triangle R with RᵀR = the covariance. Error where columns depend on each other to working precision, which
/// leaves no density; `or_else` says what to do then.
Matrix triangle_of(std::string_view method, const Spread& spread, const Rows& rows, std::string_view or_else);

/// Σ yⱼ² of a row, in four chains whose order its length alone decides.
double square_sum(const double* y, Index n);

}  // namespace lemma::mixture
