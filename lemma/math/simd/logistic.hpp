// lemma/math/simd/logistic.hpp: the logistic loss of many rows at once.
#pragma once
#include <lemma/core/sparse.hpp>
#include <span>

namespace lemma::simd {

/// Σ w (log(1 + e^η) − y η) for rows with linear predictors η and responses y in [0, 1]; with p = 1 / (1 + e^−η),
///
///     residual = w (p − y),     curvature = w p (1 − p)     (where there is room for it),
///
/// each to a few units in the last place, also where p is nearly 0 or 1. No weights: all are 1.
double logistic_loss(std::span<const double> eta, std::span<const double> y, std::span<const double> weight,
                     std::span<double> residual, std::span<double> curvature = {});

/// out_i = start + x_i · b.
void rows_times(const MatrixView& x, std::span<const double> b, double start, std::span<double> out);
/// The same of rows without their zeros, from `first` on, to the same bits: the entries go to the sums that they would go to.
void sparse_rows_times(const Csr& x, Index first, std::span<const double> b, double start, std::span<double> out);
/// sum += Σ r_i x_i.
void add_rows(const MatrixView& x, std::span<const double> r, std::span<double> sum);

}  // namespace lemma::simd
