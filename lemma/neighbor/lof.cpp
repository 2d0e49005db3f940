// lemma/neighbor/lof.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/neighbors.hpp>
#include <lemma/geometry/same_rows.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/neighbor/lof.hpp>
#include <mutex>
#include <numeric>

namespace lemma {
namespace lof {

/// The search structure, made when it is first asked for.
class Kept {
 public:
  const Neighbors& get(const LofModel& model) {
    std::call_once(made_, [&] { neighbors_.emplace(model.points, model.spec.metric); });
    return *neighbors_;
  }

 private:
  std::once_flag made_;
  std::optional<Neighbors> neighbors_;
};
std::shared_ptr<Kept> nothing_kept() { return std::make_shared<Kept>(); }

namespace {

constexpr double kLeastShare = 1e-10;  // of the mean k-distance: the least mean reach

/// 1 / mean of max(d_k(o), d(x, o)).
double density_of(const LofModel& model, std::span<const std::int32_t> rows, std::span<const double> distances) {
  double sum = 0;
  for (std::size_t j = 0; j < rows.size(); ++j) sum += std::max(model.k_distance(rows[j]), distances[j]);
  return 1 / std::max(sum / static_cast<double>(rows.size()), model.least_reach);
}

double score_of(const LofModel& model, std::span<const std::int32_t> rows, std::span<const double> distances) {
  if (model.spec.score == OutlierScore::distance) return distances.back();
  double sum = 0;
  for (const std::int32_t row : rows) sum += model.density(row);
  return sum / static_cast<double>(rows.size()) / density_of(model, rows, distances);
}

/// Between the values, as R's quantile() by default.
double quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

double usual_threshold(const LofModel& model) {
  if (model.spec.score == OutlierScore::lof) return 1.5;
  std::vector<double> sorted(model.scores.begin(), model.scores.end());
  std::sort(sorted.begin(), sorted.end());
  const double low = quantile(sorted, 0.25), high = quantile(sorted, 0.75);
  return high + 1.5 * (high - low);
}

double count_outliers(const LofModel& model) {
  return static_cast<double>((model.scores.array() > *model.spec.threshold).count());
}

/// The k nearest of a row from all its distances, sorted.
struct Sorted {
  std::vector<std::int32_t> rows;
  std::vector<double> distances;
  Sorted(const BoundMetric& metric, const Matrix& mapped, Index i, Index k) {
    std::vector<std::pair<double, std::int32_t>> all;
    for (Index j = 0; j < mapped.rows(); ++j)
      if (j != i) all.emplace_back(metric.between(&mapped(i, 0), &mapped(j, 0)), static_cast<std::int32_t>(j));
    std::partial_sort(all.begin(), all.begin() + k, all.end());
    for (Index j = 0; j < k; ++j) {
      rows.push_back(all[at(j)].second);
      distances.push_back(all[at(j)].first);
    }
  }
};

Certificate certificate_of(double worst, Index checked, Index rows) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "difference of scores";
  out.value = worst;
  out.tolerance = 1e-9;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format(
      "The k-distance, density and score of {} follow from all distances of the row, sorted, up to {:.1e} (allowed "
      "{:.0e}). "
      "There is no optimum to prove: the scores are what the rows say.",
      checked == rows ? "each row" : fmt::format("{} of {} rows", format_count(checked), format_count(rows)), out.value,
      out.tolerance);
  return out;
}

double apart(double a, double b) {
  if (a == b) return 0;
  const double d = std::abs(a - b) / std::max(std::abs(a), std::abs(b));
  return std::isnan(d) ? 1 : d;
}

Metric resolved(const Metric& metric, const Matrix& x, const Execution& execution) {
  if (const auto* mahalanobis = metric.get<MahalanobisMetric>(); mahalanobis && mahalanobis->covariance.size() == 0) {
    require(x.rows() > 1, "lof: one row alone has no covariance for the mahalanobis distance");
    const auto moments = scan(MemoryRows(x), Moments(x.cols()), execution);
    const Vector mean = moments.mean();
    return MahalanobisMetric{moments.covariance(moments.weight() - 1), {mean.begin(), mean.end()}};
  }
  return metric.resolved(x, {}, execution);
}

}  // namespace
}  // namespace lof

namespace {
constexpr Index kUsualK = 20;
}

void LofModel::check() const {
  const Index n = points.rows();
  require(spec.k && n > *spec.k && points.cols() > 0 && all_finite(points),
          "lof: the rows that are kept are not usable");
  for (const Vector* each : {&scores, &k_distance, &density})
    require(each->size() == n && each->allFinite() && (each->array() >= 0).all(),
            "lof: a number of a row is not usable");
  require((density.array() > 0).all() && least_reach > 0 && std::isfinite(least_reach) && std::isfinite(n_outliers),
          "lof: a density is not usable");
  require(spec.threshold.has_value(), "lof: there is no threshold");
  BoundMetric(spec.metric, width());  // Error where the metric does not suit the rows
}

Vector LofModel::score(const MatrixView& x) const {
  require_width(*this, x.cols());
  const NeighborLists lists = kept->get(*this).nearest(x, *spec.k);
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) out(i) = lof::score_of(*this, lists.rows_of(i), lists.distances_of(i));
  return out;
}

Strings LofModel::outlier(const MatrixView& x) const {
  Strings out;
  for (const double each : score(x)) out.emplace_back(each > *spec.threshold ? "yes" : "no");
  return out;
}

std::string LofModel::summary(const Names&) const {
  std::vector<Index> order(at(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto shown = std::min<std::size_t>(10, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](Index a, Index b) { return std::pair(-scores(a), a) < std::pair(-scores(b), b); });
  std::vector<std::string> rows;
  std::vector<double> of;
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(std::to_string(order[i] + 1));
    of.push_back(scores(order[i]));
  }
  return fmt::format("{} of {} by the {} nearest, {} distance\n{} above the threshold of {}\n\nGreatest scores:\n",
                     spec.score == OutlierScore::lof ? "Local outlier factors" : "Distances to the k-th neighbour",
                     count_of(points.rows(), "row"), *spec.k, spec.metric.name(),
                     count_of(static_cast<std::int64_t>(n_outliers), "row"), format_significant(*spec.threshold, 5)) +
         TextTable().right("row", rows).numbers("score", of, 4).str();
}

LofModel fit(const Valid<Lof>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.05));
  LofModel model;
  model.spec = *spec;
  scan(rows, ColumnSizes(rows.width()), execution).require_usable(Lof::name, rows);
  model.points = gather(rows, execution.part(0.05, 0.1));
  require(model.points.rows() > 1, "lof: one row alone has no neighbours");
  if (!spec->k) model.spec.k = static_cast<int>(std::min<Index>(kUsualK, model.points.rows() - 1));
  const int k = *model.spec.k;
  if (k >= model.points.rows())
    throw Error(fmt::format("lof: k is {}, and there are {}: k must be below that, as a row is not its own neighbour",
                            k, count_of(model.points.rows(), "row")));
  model.spec.metric = lof::resolved(spec->metric, model.points, execution);
  const NeighborLists lists =
      model.kept->get(model).nearest_own(k, execution.part(0.1, 0.9, "searching for neighbours"));
  const Index n = model.points.rows();
  model.k_distance.resize(n);
  model.density.resize(n);
  model.scores.resize(n);
  for (Index i = 0; i < n; ++i) {
    require(std::ssize(lists.distances_of(i)) == k && std::isfinite(lists.distances_of(i).back()),
            fmt::format("lof: row {} has fewer than {} rows that it can be compared with", i + 1, k));
    model.k_distance(i) = lists.distances_of(i).back();
  }
  const double mean = model.k_distance.mean();
  require(std::isfinite(mean), "lof: the distances are too large to be added up; use other units");
  model.least_reach = mean > 0 ? lof::kLeastShare * mean : 1;
  for (Index i = 0; i < n; ++i) model.density(i) = lof::density_of(model, lists.rows_of(i), lists.distances_of(i));
  for (Index i = 0; i < n; ++i) model.scores(i) = lof::score_of(model, lists.rows_of(i), lists.distances_of(i));
  if (!model.spec.threshold) model.spec.threshold = lof::usual_threshold(model);
  model.n_outliers = lof::count_outliers(model);
  model.certificate = certify(model, rows, execution.part(0.9, 1));
  return model;
}

Certificate certify(const LofModel& model, const Rows& rows, const Execution& execution) {
  const Matrix x = gather(rows, execution.part(0, 0.1));
  const Index n = model.points.rows(), checked = std::min(n, LofModel::kMostChecked);
  const auto order = found_again(Points(model.points), Points(x), {});
  if (!order) {
    Certificate out = lof::certificate_of(1, checked, n);
    out.message = "The rows that the model keeps are not these rows.";
    return out;
  }
  const BoundMetric metric(model.spec.metric, model.width());
  const Matrix mapped = metric.mapped(model.points, execution);
  Vector off = Vector::Zero(checked);
  parallel_for(checked, execution.part(0.1, 1), [&](Index c) {
    const Index i = c * n / checked;
    const lof::Sorted near(metric, mapped, i, *model.spec.k);
    off(c) = std::max({lof::apart(model.k_distance(i), near.distances.back()),
                       lof::apart(model.density(i), lof::density_of(model, near.rows, near.distances)),
                       lof::apart(model.scores(i), lof::score_of(model, near.rows, near.distances))});
  });
  Certificate out = lof::certificate_of(off.maxCoeff(), checked, n);
  if (!out.holds()) return out;
  Comparison same;
  const double mean = model.k_distance.mean();
  same.relative("least_reach", model.least_reach, mean > 0 ? lof::kLeastShare * mean : 1);
  same.number("n_outliers", model.n_outliers, lof::count_outliers(model), 0);
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<Lof>();

}  // namespace lemma
