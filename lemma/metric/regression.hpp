// lemma/metric/regression.hpp: predicted numbers against true ones. Error means prediction − truth.
#pragma once
#include <lemma/metric/measure.hpp>

namespace lemma {

/// With e = prediction − y and n = Σw. R² and the explained variance compare with the mean of the evaluated rows, so both
/// are 0 for a prediction that is that mean, and may be negative. What is not defined (R² of a constant y) is NaN.
/// Cost  O(n log n).
struct RegressionScore {
  double n = 0;              // Σw
  double mse = 0, rmse = 0;  // Σ w e² / n and its root
  double mae = 0;            // Σ w |e| / n
  double median_absolute_error = 0;
  double max_error = 0;           // max |e|
  double bias = 0;                // Σ w e / n: above 0 when the predictions are too large
  double r_squared = 0;           // 1 − Σ w e² / Σ w (y − ȳ)²
  double explained_variance = 0;  // 1 − Σ w (e − ē)² / Σ w (y − ȳ)²
  double mape = 0;                // mean of |e / y|; not defined when some y is 0
  double pearson = 0;
  double spearman = 0;  // Pearson's correlation of the mid-ranks
  double kendall = 0;   // τ_b (Kendall 1945), by merge sort (Knight 1966)
  std::optional<Bounds> mse_bounds, mae_bounds, bias_bounds;
};

/// Weights are frequencies. Error on unequal lengths, no rows, NaN or infinity.
RegressionScore score_regression(const VectorView& y, const VectorView& prediction,
                                 const VectorView& weights = Vector());

/// r2 rmse mae … as front ends list them.
std::vector<Measure> measures(const RegressionScore& score);

double pearson_correlation(const VectorView& a, const VectorView& b, const VectorView& weights = Vector());
double spearman_correlation(const VectorView& a, const VectorView& b, const VectorView& weights = Vector());
double kendall_correlation(const VectorView& a, const VectorView& b, const VectorView& weights = Vector());
/// The middle value; of an even number the mean of the two in the middle. Weight k is k copies.
double weighted_median(const VectorView& values, const VectorView& weights = Vector());

}  // namespace lemma
