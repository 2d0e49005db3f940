// lemma/neighbor/lof.hpp: outliers by their neighbours.
#pragma once
#include <lemma/geometry/metric.hpp>
#include <lemma/model/method.hpp>
#include <memory>
#include <optional>

namespace lemma {

/// What is told of a row: how thin the rows are around it beside how thin they are around its neighbours, or how far the k-th is.
enum class OutlierScore { lof, distance };
constexpr auto names_of(OutlierScore) { return std::array<std::string_view, 2>{"lof", "distance"}; }

/// Outlier scores from the k nearest rows (of equally far ones those that come first). With d_k(o) the distance of row o to its
/// k-th neighbour, N(x) the k neighbours of x, and the local reachability density
///
///     lrd(x) = 1 / mean over o ∈ N(x) of max(d_k(o), d(x, o)),
///
///     lof       mean over o ∈ N(x) of lrd(o) / lrd(x)     about 1 among rows, larger outside (Breunig and others 2000)
///     distance  d_k(x)
///
/// A training row is not its own neighbour; a new row is held against all training rows. A mean of 0 (more than k equal rows) counts as
/// 1e-10 of the mean d_k. A row is called an outlier when its score is above the threshold: 1.5 for lof; for distances the upper
/// quartile of the training scores + 1.5 times the distance of the quartiles.
///
/// Cost         one search for the k neighbours of each row (geometry/neighbors.hpp); memory O(n p).
/// Certificate  consistent: of each row (beyond kMostChecked, of so many, evenly spread) the k-distance, density and score are
///              found anew from all its distances, sorted, and what the model says of its neighbours. There is no optimum.
struct Lof {
  std::optional<int> k;
  OutlierScore score = OutlierScore::lof;
  std::optional<double> threshold;
  Metric metric;

  static constexpr std::string_view name = "lof";
  static constexpr MethodAbout about{
      .family = "neighbor",
      .task = Task::transformation,
      .summary = "local outlier factor, or the distance to the k-th neighbour: a score of each row",
      .objective =
          "lof(x) = mean of lrd(o) / lrd(x) over the k neighbours o; 1 / lrd(x) = mean of max(d_k(o), d(x, o))",
      .example = "lemma fit lof faithful '~ .' --k 10",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{
        param("k", &Lof::k, "neighbours that are looked at; auto: 20, or all others where they are fewer", at_least(1)),
        param("score", &Lof::score, "lof: beside the neighbours' own; distance: to the k-th neighbour"),
        param("threshold", &Lof::threshold,
              "a row of a greater score is an outlier; auto: 1.5 for lof, by the quartiles for distance", at_least(0)),
        param("metric", &Lof::metric, "distance of two rows: a name, or one with numbers such as minkowski(3)")};
  }
};
static_assert(Described<Lof>);

namespace lof {
class Kept;
std::shared_ptr<Kept> nothing_kept();
}  // namespace lof

struct LofModel : Evidence {
  static constexpr Index kMostChecked = 4096;

  Lof spec;  // with the k and the threshold that were chosen
  Vector scores;
  double n_outliers = 0;
  Matrix points;
  Vector k_distance, density;
  double least_reach = 0;
  std::shared_ptr<lof::Kept> kept = lof::nothing_kept();

  static constexpr std::size_t kNotStored = 1;  // kept
  static constexpr auto fields() {
    using M = LofModel;
    return Listing{result("scores", &M::scores, "of each training row, from the rows beside it", Along{Axis::row}),
                   result("n_outliers", &M::n_outliers, "training rows whose score is above the threshold"),
                   state("points", &M::points, "the training rows"),
                   state("k_distance", &M::k_distance, "of each training row to its k-th neighbour"),
                   state("density", &M::density, "local reachability density of each training row"),
                   state("least_reach", &M::least_reach, "in the place of a mean reach of 0")};
  }
  static constexpr auto parts() {
    return Listing{part({"outlier", "yes where the score is above the threshold, else no"}, &LofModel::outlier)};
  }
  Index width() const { return points.cols(); }
  void check() const;
  /// Of new rows. A training row that is asked for again finds itself among its neighbours; `scores` are those without.
  Vector score(const MatrixView& x) const;
  Strings outlier(const MatrixView& x) const;
  Index output_width() const { return 1; }
  Matrix transform(const MatrixView& x) const { return score(x); }
  std::vector<std::string> output_names(const std::vector<std::string>&) const { return {"score"}; }
  std::string summary(const Names& names) const;
};

LofModel fit(const Valid<Lof>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LofModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Lof>();

}  // namespace lemma
