// lemma/reduce/select/filters.cpp
#include <lemma/reduce/select/filters.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/neighbors.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/reduce/select/parts.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

template <class F>
bool is(const Filter& filter) {
  return std::holds_alternative<F>(filter);
}

}  // namespace

std::string_view name_of(const Filter& filter) {
  return std::visit([](const auto& f) { return std::remove_cvref_t<decltype(f)>::name; }, filter);
}

bool has_p_values(const Filter& filter) {
  if (const auto* information = std::get_if<InformationFilter>(&filter))
    return information->over == InformationOver::none;
  return is<AutoFilter>(filter) || is<TFilter>(filter) || is<WelchFilter>(filter) || is<AucFilter>(filter) ||
         is<CorrelationFilter>(filter) || is<AnovaFilter>(filter) || is<ChiSquaredFilter>(filter);
}

bool takes_categories(const Filter& filter) {
  return is<ChiSquaredFilter>(filter) || is<InformationFilter>(filter) || is<IncrementalFilter>(filter);
}

std::string_view words_of(const Filter& filter) {
  constexpr std::array<std::string_view, 13> kWords{"score",
                                                    "t statistic",
                                                    "Welch's t statistic",
                                                    "Fisher's score",
                                                    "share of rows on the wrong side of the best threshold",
                                                    "margin between the classes",
                                                    "area under the ROC curve",
                                                    "correlation",
                                                    "F of a one-way analysis of variance",
                                                    "chi-squared of independence",
                                                    "mutual information in nats",
                                                    "mutual information in nats, from neighbours",
                                                    "mutual information less what chosen columns tell"};
  return kWords[filter.index()];
}

namespace filters {
namespace {

using std::size_t;

/// Rows of two classes along a column, in the order of their values.
struct Sorted {
  std::vector<double> value, first, second;  // weight of each class at each distinct value
  double total_first = 0, total_second = 0;
};
Sorted sorted(const Columns& c, Index j) {
  std::vector<Index> order(at(c.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto x = c.x.col(j);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x(a) < x(b); });
  Sorted out;
  for (const Index i : order) {
    if (out.value.empty() || x(i) > out.value.back()) {
      out.value.push_back(x(i));
      out.first.push_back(0);
      out.second.push_back(0);
    }
    (c.label[at(i)] == 0 ? out.first : out.second).back() += c.w(i);
    (c.label[at(i)] == 0 ? out.total_first : out.total_second) += c.w(i);
  }
  return out;
}

double threshold_error(const Columns& c, Index j) {
  const Sorted s = sorted(c, j);
  const double n = s.total_first + s.total_second;
  double wrong = s.total_second,
         best = std::min(wrong, n - wrong);      // all rows above the threshold are of the first class
  for (size_t v = 0; v < s.value.size(); ++v) {  // … and now those up to this value are of the second
    wrong += s.first[v] - s.second[v];
    best = std::min({best, wrong, n - wrong});
  }
  return best / n;
}

/// The value beyond which `ignore` rows of a class lie, from below or from above.
double end_of(const std::vector<double>& value, const std::vector<double>& weight, double ignore, bool from_above) {
  double passed = 0;
  for (size_t k = 0; k < value.size(); ++k) {
    const size_t v = from_above ? value.size() - 1 - k : k;
    passed += weight[v];
    if (passed > ignore) return value[v];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double deviation_of(const Columns& c, Index j) {
  const double n = c.w.sum(), mean = c.x.col(j).dot(c.w) / n;
  return n > 1 ? std::sqrt(((c.x.col(j).array() - mean).square() * c.w.array()).sum() / (n - 1)) : 0.0;
}

double margin(const MarginFilter& how, const Columns& c, Index j) {
  const Sorted s = sorted(c, j);
  const double ignore = how.ignore;
  const double up = end_of(s.value, s.second, ignore, false) - end_of(s.value, s.first, ignore, true);
  const double down = end_of(s.value, s.first, ignore, false) - end_of(s.value, s.second, ignore, true);
  const double gap = std::max(up, down), sd = how.scaled ? deviation_of(c, j) : 1.0;
  return sd > 0 ? gap / sd : 0.0;
}

Tested auc_test(double area, double first, double second, double ties) {
  const double n = first + second;
  const double variance = first * second / 12 * (n + 1 - ties / (n * (n - 1)));
  const double z = variance > 0 ? (area - 0.5) * first * second / std::sqrt(variance) : 0.0;
  return {area, 2 * normal_upper(std::abs(z))};
}

/// Mann and Whitney's test with the variance corrected for ties.
Tested auc_of(const Columns& c, Index j) {
  const Sorted s = sorted(c, j);
  double below = 0, wins = 0, ties = 0;
  for (size_t v = 0; v < s.value.size(); ++v) {
    wins += s.second[v] * (below + s.first[v] / 2);
    below += s.first[v];
    const double t = s.first[v] + s.second[v];
    ties += t * t * t - t;
  }
  return auc_test(wins / (s.total_first * s.total_second), s.total_first, s.total_second, ties);
}

double correlation(const Columns& c, Index j) {
  const double n = c.w.sum();
  Vector y = c.y;
  if (c.classes > 0) y = Vector::NullaryExpr(c.rows(), [&](Index i) { return double(c.label[at(i)]); });
  const Vector dx = c.x.col(j).array() - c.x.col(j).dot(c.w) / n, dy = y.array() - y.dot(c.w) / n;
  const double sx = (dx.array().square() * c.w.array()).sum(), sy = (dy.array().square() * c.w.array()).sum();
  const double sxy = (dx.array() * dy.array() * c.w.array()).sum();
  return sx > 0 && sy > 0 ? std::clamp(sxy / std::sqrt(sx) / std::sqrt(sy), -1.0, 1.0) : 0.0;
}

Tested anova(const Columns& c, Index j) {
  const ClassSums s = class_sums(c, j);
  const double n = s.weight.sum(), mean = s.weight.dot(s.mean) / n;
  const double between = (s.weight.array() * (s.mean.array() - mean).square()).sum();
  return f_of(between, s.squares.sum(), static_cast<double>((s.weight.array() > 0).count()), n);
}

/// Of sorted values: for each the distance to its k-th neighbour, the least half width of a window of k + 1 about it.
std::vector<double> kth_distances(const std::vector<double>& v, Index k) {
  const auto n = static_cast<Index>(v.size());
  std::vector<double> out(v.size());
  for (Index i = 0; i < n; ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (Index from = std::max<Index>(0, i - k); from <= i && from + k < n; ++from)
      least = std::min(least, std::max(v[at(i)] - v[at(from)], v[at(from + k)] - v[at(i)]));
    out[at(i)] = least;
  }
  return out;
}

/// How many of the sorted values are nearer than `distance`; equal ones count where the distance is 0.
Index nearer(const std::vector<double>& v, double x, double distance) {
  const double d = distance > 0 ? std::nextafter(distance, 0.0) : 0.0;
  return std::upper_bound(v.begin(), v.end(), d, [&](double r, double each) { return each - x > r; }) -
         std::lower_bound(v.begin(), v.end(), d, [&](double each, double r) { return x - each > r; });
}

/// Ross: ψ(n) + mean of ψ(k) − ψ(n_class) − ψ(m), m the rows nearer than the k-th neighbour in the class. A class of one row
/// takes no part.
double information_of_classes(const Columns& c, Index j, Index neighbors, const std::vector<double>& psi) {
  std::vector<std::vector<double>> by_class(at(c.classes));
  for (Index i = 0; i < c.rows(); ++i) by_class[at(c.label[at(i)])].push_back(c.x(i, j));
  std::vector<double> all;
  for (auto& each : by_class) {
    std::sort(each.begin(), each.end());
    if (each.size() > 1) all.insert(all.end(), each.begin(), each.end());
  }
  if (all.empty()) return 0;
  std::sort(all.begin(), all.end());
  double sum = 0;
  for (const auto& each : by_class) {
    if (each.size() < 2) continue;
    const Index k = std::min<Index>(neighbors, static_cast<Index>(each.size()) - 1);
    const auto distance = kth_distances(each, k);
    for (size_t i = 0; i < each.size(); ++i)
      sum += psi[at(k)] - psi[each.size()] - psi[at(nearer(all, each[i], distance[i]))];
  }
  return std::max(0.0, psi[all.size()] + sum / static_cast<double>(all.size()));
}

/// Kraskov's first: ψ(n) + ψ(k) − mean of ψ(n_x) + ψ(n_y), counts nearer than the k-th neighbour by the larger of |dx|, |dy|.
double information_of_numbers(const Columns& c, Index j, Index neighbors, const std::vector<double>& psi) {
  const Index n = c.rows(), k = std::min(neighbors, n - 1);
  const double sd = deviation_of(c, j), mean_y = c.y.mean();
  const double sd_y = std::sqrt((c.y.array() - mean_y).square().sum() / static_cast<double>(n - 1));
  if (!(sd > 0) || !(sd_y > 0)) return 0;
  Matrix points(n, 2);
  points.col(0) = c.x.col(j) / unit_of(sd);
  points.col(1) = c.y / unit_of(sd_y);
  Execution alone;
  alone.threads = 1;  // columns share the threads
  const auto found =
      Neighbors(points, Metric(ChebyshevMetric{}), SearchOptions{SearchBy::kd_tree}, alone).nearest_own(k, alone);
  std::vector<double> xs(at(n)), ys(at(n));
  for (Index i = 0; i < n; ++i) {
    xs[at(i)] = points(i, 0);
    ys[at(i)] = points(i, 1);
  }
  std::sort(xs.begin(), xs.end());
  std::sort(ys.begin(), ys.end());
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    const double radius = found.distances_of(i).back();
    sum += psi[at(nearer(xs, points(i, 0), radius))] + psi[at(nearer(ys, points(i, 1), radius))];
  }
  return std::max(0.0, psi[at(n)] + psi[at(k)] - sum / static_cast<double>(n));
}

Tested information_test(const InformationFilter& how, const Matrix& counts) {
  const double shared = std::max(0.0, information(counts)), n = counts.sum();
  const double of_column = entropy(counts.rowwise().sum()), of_response = entropy(counts.colwise().sum().transpose());
  if (how.over == InformationOver::both)
    return {of_column + of_response > 0 ? 2 * shared / (of_column + of_response) : 0, 0};
  if (how.over == InformationOver::column) return {of_column > 0 ? shared / of_column : 0, 0};
  const double df = degrees_of(counts);
  return {shared, df > 0 ? chi_squared_upper(2 * n * shared, df) : 1.0};  // 2 n I is the likelihood ratio
}

}  // namespace

Scores score(const Filter& filter, const Columns& c, Index most, const Execution& execution) {
  const auto run = [&](const std::function<Tested(Index)>& test) { return each_column(filter, c, execution, test); };
  const auto of_two = [&](const auto& test) {
    return run([&](Index j) {
      const ClassSums s = class_sums(c, j);
      return test(s.weight(0), s.mean(0), s.squares(0), s.weight(1), s.mean(1), s.squares(1));
    });
  };
  if (is<TFilter>(filter)) return of_two(t_of);
  if (is<WelchFilter>(filter)) return of_two(welch_of);
  if (is<FisherFilter>(filter))
    return of_two([](double n0, double m0, double ss0, double n1, double m1, double ss1) {
      const double spread = ss0 / (n0 - 1) + ss1 / (n1 - 1);
      return Tested{spread > 0 ? (m1 - m0) * (m1 - m0) / spread : 0.0, 0};
    });
  if (is<ThresholdFilter>(filter)) return run([&](Index j) { return Tested{threshold_error(c, j), 0}; });
  if (const auto* how = std::get_if<MarginFilter>(&filter))
    return run([&](Index j) { return Tested{margin(*how, c, j), 0}; });
  if (is<AucFilter>(filter)) return run([&](Index j) { return auc_of(c, j); });
  if (is<CorrelationFilter>(filter))
    return run([&](Index j) { return correlation_test(correlation(c, j), c.w.sum()); });
  if (is<AnovaFilter>(filter)) return run([&](Index j) { return anova(c, j); });
  if (const auto* how = std::get_if<NeighborInformationFilter>(&filter)) {
    const auto psi = digammas(c.rows() + 1);
    return run([&](Index j) {
      return Tested{c.classes > 0 ? information_of_classes(c, j, how->neighbors, psi)
                                  : information_of_numbers(c, j, how->neighbors, psi),
                    0};
    });
  }
  if (const auto* how = std::get_if<ChiSquaredFilter>(&filter)) {
    const Binned response = binned_response(c, how->bins);
    return run([&](Index j) {
      const Matrix counts = counts_of(binned(c, j, how->bins), response, c.w);
      const double df = degrees_of(counts), statistic = df > 0 ? chi_squared(counts) : 0.0;
      return Tested{statistic, df > 0 ? chi_squared_upper(statistic, df) : 1.0};
    });
  }
  if (const auto* how = std::get_if<InformationFilter>(&filter)) {
    const Binned response = binned_response(c, how->bins);
    return run([&](Index j) { return information_test(*how, counts_of(binned(c, j, how->bins), response, c.w)); });
  }
  const auto& how = std::get<IncrementalFilter>(filter);
  const Binned response = binned_response(c, how.bins);
  std::vector<Binned> columns(at(c.width()));
  parallel_for(c.width(), execution, [&](Index j) { columns[at(j)] = binned(c, j, how.bins); });
  const Informed by{[&](Index j) { return information(counts_of(columns[at(j)], response, c.w)); },
                    [&](Index j, Index k) { return information(counts_of(columns[at(j)], columns[at(k)], c.w)); }};
  return choose_incrementally(how, c.width(), most, by, nullptr, execution);
}

}  // namespace filters
}  // namespace lemma
