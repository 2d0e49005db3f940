// lemma/metric/losses.hpp: losses of predicted quantiles, means and intervals. One number for each row; weights are frequencies.
#pragma once
#include <lemma/linear/glm/family.hpp>
#include <lemma/metric/measure.hpp>

namespace lemma {

/// The loss whose mean a quantile minimises: level (y − q) where y is above the predicted q, (1 − level) (q − y) below it.
Vector pinball_losses(const VectorView& y, const VectorView& quantile, double level);

/// d(y, μ): twice what the log-likelihood of a mean μ lacks to that of μ = y. Their mean is the mean squared error for gaussian.
/// `theta` is of negative_binomial. Error where the family cannot have that y or μ, with the row.
Vector unit_deviances(const VectorView& y, const VectorView& mean, GlmFamily family, double theta = 1);

/// How often intervals hold what they are for, and how wide they are.
struct Coverage {
  double share = 0;  // of the rows whose y lies in [lower, upper]
  std::optional<Bounds> bounds;
  double mean_width = 0;
  double interval_score =
      0;  // mean of width + (2/α) (how far y lies outside), α = 1 − level (Gneiting and Raftery 2007)
};
Coverage coverage(const VectorView& y, const VectorView& lower, const VectorView& upper, double level,
                  const VectorView& weights = Vector());

/// What is asked for in words: "pinball=0.9", "deviance=poisson", "deviance=negative_binomial(2)", "coverage=0.95", "ece",
/// "ece=20", "brier_parts".
struct AskedMeasure {
  enum class Kind { pinball, deviance, coverage, ece, brier_parts };
  Kind kind = Kind::ece;
  double number = 0;  // level, theta or bins
  GlmFamily family = GlmFamily::gaussian;
};
/// Error that lists what there is.
AskedMeasure asked_measure(const std::string& words);

}  // namespace lemma
