// lemma/tree/boost/loss.hpp: what boosting makes smaller: losses ℓ(y, f) of a score f, their slopes, and the best step of a leaf.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
#include <span>
#include <string_view>

namespace lemma {

/// μ = f for the first four; p = 1 / (1 + e^−f) for logistic and 1 / (1 + e^−2f) for exponential, t = ±1; μ = e^f for the next
/// three; softmax has a score for each class.
enum class BoostLoss { squared, absolute, huber, quantile, logistic, exponential, poisson, gamma, tweedie, softmax };
constexpr auto names_of(BoostLoss) {
  return std::array<std::string_view, 10>{"squared",     "absolute", "huber", "quantile", "logistic",
                                          "exponential", "poisson",  "gamma", "tweedie",  "softmax"};
}

}  // namespace lemma

namespace lemma::boost {

inline constexpr double kLongestStep = 4;  // of a leaf on the scale of logarithms, before shrinkage: a factor of e⁴

/// A loss with its number: the quantile's level, the place where Huber's loss turns linear, the power of Tweedie's variance.
struct Loss {
  BoostLoss kind = BoostLoss::squared;
  double alpha = 0.5, delta = 1, power = 1.5;
  Index classes = 0;  // 0: numbers

  bool of_classes() const { return classes > 0; }
  Index outputs() const { return kind == BoostLoss::softmax ? classes : 1; }
  bool has_log_link() const {
    return kind == BoostLoss::poisson || kind == BoostLoss::gamma || kind == BoostLoss::tweedie;
  }
  /// The step of a leaf is a quantile of its residuals.
  bool by_quantile() const { return kind == BoostLoss::absolute || kind == BoostLoss::quantile; }
  double level() const { return kind == BoostLoss::quantile ? alpha : 0.5; }
  /// Curvature is the same for all rows: it counts them.
  bool has_unit_curvature() const { return kind <= BoostLoss::quantile; }
  /// With the step of a leaf, or a share of it, the loss cannot rise: the step is that of a convex function's minimum, or of a
  /// parabola above it. Newton's step of logistic and softmax has no such bound.
  bool never_rises() const { return kind != BoostLoss::logistic && kind != BoostLoss::softmax; }
  /// The largest ∂²ℓ/∂f² there can be; 0: there is none.
  double largest_curvature() const;

  /// ℓ of a row with one score. Of counts and positive numbers half the deviance.
  double of(double y, double f) const;
  /// −log p of the row's class, for its scores of all classes.
  double of_scores(int label, const double* scores) const;
  /// g = w ∂ℓ/∂f and h = w ∂²ℓ/∂f², for rows with one score. Of quantiles h = w.
  void slopes(std::span<const double> y, std::span<const double> f, std::span<const double> w, std::span<double> g,
              std::span<double> h) const;
  /// The same and Σ w ℓ.
  double slopes_and_loss(std::span<const double> y, std::span<const double> f, std::span<const double> w,
                         std::span<double> g, std::span<double> h) const;
  /// Of softmax, for one class, from the probability p of it: h = p (1 − p) K / (K − 1), as Friedman has it.
  void slopes_of_class(double p, bool is_it, double w, double& g, double& h) const;

  /// The step that makes the loss of a leaf's rows least, from the sums G of g and H of h; Newton's −G / (H + l2), with |G| less
  /// l1, where that is the rule or where there is a penalty.
  double step(double g, double h, double l1, double l2) const;
  /// Σ w ℓ falls by about this much (½ G² / (H + l2)) when a leaf with these sums makes its step.
  static double gain(double g, double h, double l1, double l2);
  /// The score that all rows begin with: of the mean (of each class its share), or of the level's quantile.
  double start_of_mean(double mean) const;
  double mean_of(double score) const;  // μ or p of a score
  /// Whether a number can be a response.
  bool takes(double y) const;
  std::string_view wants() const;
};

/// Of each class its share of e^score.
void softmax(const double* scores, Index classes, double* out);

/// The smallest value at or below which at least `level` of the weight lies. Orders what it is given.
struct Weighted {
  double value, weight;
};
double weighted_quantile(std::span<Weighted> values, double level);

}  // namespace lemma::boost
