// lemma/kernel/nadaraya_watson.hpp
#pragma once
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

/// Kernel regression (Nadaraya 1964, Watson 1964): the mean of the responses near x,
///
///     f(x) = Σ wᵢ K(x, xᵢ) yᵢ / Σ wᵢ K(x, xᵢ),      K(x, z) = exp(−½ Σⱼ ((xⱼ − zⱼ)/hⱼ)²),
///
/// or with degree 1 the value at x of the line through them, weighted alike (local linear regression, which has no bias
/// from a slope, not even at the ends). Of classes f is the share of each class among the rows near x, weighted alike: its
/// probability. h is in the columns' own units. One that is not given is c times the columns' standard deviations, c the one
/// of 40 between 0.02 and 5 with the least leave-one-out error; beyond kMostJudged rows that of so
/// many of them, evenly taken, and every fourth c is tried, then those beside the best.
///
/// Weights are found from their logarithms, beside the largest: far from all rows, where each K is 0 in 16 digits, f is that
/// of the nearest. A direction in which the rows near x do not spread has slope 0.
///
/// Cost         O(n p) for a prediction (n p² for degree 1), with few columns only the rows within about 10 h
///              (nadaraya_watson/smoother.hpp); n times that for the leave-one-out error. O(n) memory besides the rows.
/// Certificate  consistent: nothing is minimised, f is its definition. Checked is that the model keeps the rows of the fit and
///              that the leave-one-out error follows from them, by 1 − Sᵢᵢ in the place of leaving out.
struct NadarayaWatson {
  std::vector<double> bandwidth;
  int degree = 0;

  static constexpr std::string_view name = "nadaraya_watson";
  static constexpr MethodAbout about{.family = "kernel",
                                     .task = Task::regression,
                                     .summary = "kernel regression: a weighted mean, or line, of the rows nearby",
                                     .objective = "f(x) = Σ w K(x, xᵢ) yᵢ / Σ w K(x, xᵢ)",
                                     .example = "lemma fit nadaraya_watson mcycle 'accel ~ times' --bandwidth 1.5",
                                     .keeps_rows = true,
                                     .takes_weights = true,
                                     .either_response = true};
  static constexpr auto params() {
    return Listing{
        param("bandwidth", &NadarayaWatson::bandwidth,
              "standard deviation of the weights, in the columns' units: one for all or one for each; empty: by "
              "leave-one-out",
              above(0), Step::logarithmic),
        param("degree", &NadarayaWatson::degree, "0: the mean of the rows nearby; 1: the line through them",
              between(0, 1))};
  }
};
static_assert(Described<NadarayaWatson>);

namespace nadaraya {
class Smoother;
/// What predictions need, made when first asked for and kept with the model.
class Kept;
std::shared_ptr<Kept> nothing_kept();
}  // namespace nadaraya

struct NadarayaWatsonModel : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  /// Up to so many rows are left out one by one for each bandwidth that is tried.
  static constexpr Index kMostJudged = 4000;

  NadarayaWatson spec;
  Vector bandwidth;
  double loocv_mse = kNone, effective_df = kNone, rss = kNone;
  Matrix points;
  Vector response, weights;
  Index classes = 0;  // the response holds their codes; 0: it holds numbers
  std::shared_ptr<nadaraya::Kept> kept = nadaraya::nothing_kept();

  static constexpr std::size_t kNotStored = 1;  // kept
  static constexpr auto fields() {
    using M = NadarayaWatsonModel;
    return Listing{result("bandwidth", &M::bandwidth, "of each column, in its own units", kByFeature),
                   result("loocv_mse", &M::loocv_mse,
                          "mean squared error of predicting each row from all others; of classes that of their "
                          "probabilities, summed"),
                   result("effective_df", &M::effective_df, "trace of the matrix S in fitted = S y"),
                   result("rss", &M::rss, "sum of squared residuals, weighted"),
                   later(state("classes", &M::classes, "how many the response has; 0: it has numbers")),
                   state("points", &M::points, "the rows with a weight above 0"),
                   state("response", &M::response, "of the rows"),
                   state("weights", &M::weights, "of the rows")};
  }
  Index width() const { return points.cols(); }
  Index class_count() const { return classes; }
  Task task() const { return classes > 0 ? Task::classification : Task::regression; }
  void check() const;
  Vector predict(const MatrixView& x) const;  // numbers; Error of a model of classes, as classify is of one of numbers
  Labels classify(const MatrixView& x) const;
  Matrix probabilities(const MatrixView& x) const;  // Error for numbers
  std::string summary(const Names& names) const;
};

NadarayaWatsonModel fit(const Valid<NadarayaWatson>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const NadarayaWatsonModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<NadarayaWatson>();

}  // namespace lemma
