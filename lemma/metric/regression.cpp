// lemma/metric/regression.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/regression.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kNotDefined = std::numeric_limits<double>::quiet_NaN();

/// Σ w (v − v̄)²
double squares_about_mean(const VectorView& v, const VectorView& w) {
  const double mean = detail::mean(v, w);
  return (w.array() * (v.array() - mean).square()).sum();
}

double mean_relative_error(const VectorView& e, const VectorView& y, const VectorView& w) {
  if (((y.array() == 0) && (w.array() > 0)).any()) return kNotDefined;
  double sum = 0;
  for (Index i = 0; i < y.size(); ++i)
    if (w(i) > 0) sum += w(i) * std::abs(e(i) / y(i));
  return sum / w.sum();
}

std::optional<Bounds> root(const std::optional<Bounds>& squares) {
  if (!squares) return {};
  return Bounds{std::sqrt(std::max(0.0, squares->lower)), std::sqrt(squares->upper)};
}

}  // namespace

double pearson_correlation(const VectorView& a, const VectorView& b, const VectorView& weights) {
  const Vector w = detail::frequencies(a.size(), weights);
  const double mean_a = detail::mean(a, w), mean_b = detail::mean(b, w);
  const double product = (w.array() * (a.array() - mean_a) * (b.array() - mean_b)).sum();
  const double r = detail::share(product, std::sqrt(squares_about_mean(a, w)) * std::sqrt(squares_about_mean(b, w)));
  return std::isnan(r) ? r : std::clamp(r, -1.0, 1.0);
}

RegressionScore score_regression(const VectorView& y, const VectorView& prediction, const VectorView& weights) {
  if (y.size() != prediction.size())
    throw Error(fmt::format("there are {} predictions for {}", prediction.size(), count_of(y.size(), "row")));
  const Vector w = detail::frequencies(y.size(), weights);
  detail::require_numbers(y, "the response");
  detail::require_numbers(prediction, "the prediction");
  const Vector e = prediction - y, size = e.cwiseAbs(), squares = e.cwiseAbs2();
  const double spread = squares_about_mean(y, w);
  RegressionScore out;
  out.n = w.sum();
  out.mse = detail::mean(squares, w);
  out.rmse = std::sqrt(out.mse);
  out.mae = detail::mean(size, w);
  out.median_absolute_error = weighted_median(size, w);
  out.max_error = (w.array() > 0).select(size.array(), 0.0).maxCoeff();
  out.bias = detail::mean(e, w);
  out.r_squared = 1 - detail::share(squares.dot(w), spread);
  out.explained_variance = 1 - detail::share(squares_about_mean(e, w), spread);
  out.mape = mean_relative_error(e, y, w);
  out.pearson = pearson_correlation(y, prediction, w);
  out.spearman = spearman_correlation(y, prediction, w);
  out.kendall = kendall_correlation(y, prediction, w);
  out.mse_bounds = bounds_of_mean(squares, w);
  out.mae_bounds = bounds_of_mean(size, w);
  out.bias_bounds = bounds_of_mean(e, w);
  if (out.mse_bounds) out.mse_bounds->lower = std::max(0.0, out.mse_bounds->lower);
  if (out.mae_bounds) out.mae_bounds->lower = std::max(0.0, out.mae_bounds->lower);
  return out;
}

std::vector<Measure> measures(const RegressionScore& score) {
  return {
      {"r_squared", score.r_squared, "share of the variance explained, against the mean of these rows", true, {}},
      {"rmse", score.rmse, "root of the mean squared error", false, root(score.mse_bounds)},
      {"mse", score.mse, "mean squared error", false, score.mse_bounds},
      {"mae", score.mae, "mean absolute error", false, score.mae_bounds},
      {"median_absolute_error", score.median_absolute_error, "half of the rows have a smaller error", false, {}},
      {"max_error", score.max_error, "the largest absolute error", false, {}},
      {"mape", score.mape, "mean of |error / response|; not defined when a response is 0", false, {}},
      {"bias", score.bias, "mean of prediction - response; 0 is best", false, score.bias_bounds},
      {"explained_variance", score.explained_variance, "R squared without the bias", true, {}},
      {"pearson", score.pearson, "correlation of prediction and response", true, {}},
      {"spearman", score.spearman, "correlation of their ranks", true, {}},
      {"kendall", score.kendall, "pairs in the same order less pairs in the other (tau b)", true, {}},
  };
}

}  // namespace lemma
