// lemma/mixture/shared/known_values.hpp: rows of which values may be missing, and one EM step by another route.
#pragma once
#include <lemma/mixture/shared/factors.hpp>
#include <string_view>

namespace lemma::factors {

/// What is known of the columns: of the values that are there.
struct Known {
  Vector mean, variance;  // divisor n
  double weight = 0;      // n, of rows with a value
  bool missing = false;
};
/// Error, in the name of the method, where a value is infinite, no row has a weight, or a column is constant or has no value.
Known known_values(std::string_view method, const Rows& rows, const Execution& execution);

/// Mean and covariance (divisor n) of the rows with missing values put at the mean of their column: where EM begins.
Matrix filled_covariance(const Rows& rows, const Vector& mean, const Execution& execution);

/// The step of `step`, each row by the covariance C_O of its known values: E z = W_Oᵀ C_O⁻¹ d, cov z = I − W_Oᵀ C_O⁻¹ W_O.
Step step_by_covariance(const Rows& rows, const Factors& at, Noise noise, const Vector& floor,
                        const Execution& execution);

}  // namespace lemma::factors
