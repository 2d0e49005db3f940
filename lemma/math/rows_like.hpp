// lemma/math/rows_like.hpp: a few rows that stand for many.
#pragma once
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma {

/// Rows with given weights.
struct WeightedRows {
  Matrix x;
  std::vector<double> weight;
};

/// Rows of total weight n with the mean m and the scatter Σ w (x − m)(x − m)ᵀ = AᵀA: two for each row a of A, m ± √(k / n) a
/// for k rows, each of weight n / 2k. To whatever looks at weight, mean and scatter alone they are the rows these were taken
/// from.
WeightedRows rows_like(double weight, const Vector& mean, const MatrixView& root);

/// A with AᵀA = S for a positive semidefinite S, whose columns may be of any size; rows that would be rounding are left out.
Matrix root_of_scatter(const MatrixView& scatter);

}  // namespace lemma
