// lemma/reduce/select/again.cpp: the scores by other formulas and other sums: raw moments about the first row in twice the
// digits, counts by binary search, information as a divergence, neighbours by walking outwards.
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/reduce/select/parts.hpp>
#include <limits>
#include <numeric>

namespace lemma::filters {
namespace {

/// Σw, Σ w d and Σ w d² of d = x − x₁, from the last row to the first.
struct RawSums {
  long double w = 0, s = 0, q = 0;
  double shift = 0;
  double mean() const { return shift + static_cast<double>(s / w); }
  double squares() const { return static_cast<double>(std::max(0.0L, q - s * s / w)); }
};
std::vector<RawSums> raw_sums(const Columns& c, Index j) {
  std::vector<RawSums> out(at(std::max<Index>(1, c.classes)));
  for (auto& each : out) each.shift = c.x(0, j);
  for (Index i = c.rows(); i-- > 0;) {
    auto& sums = out[c.classes > 0 ? at(c.label[at(i)]) : 0];
    const long double d = static_cast<long double>(c.x(i, j)) - c.x(0, j);
    sums.w += c.w(i);
    sums.s += c.w(i) * d;
    sums.q += c.w(i) * d * d;
  }
  return out;
}

Tested two_classes(const Filter& filter, const Columns& c, Index j) {
  const auto sums = raw_sums(c, j);
  const RawSums &a = sums[0], &b = sums[1];
  const auto n0 = static_cast<double>(a.w), n1 = static_cast<double>(b.w);
  if (std::holds_alternative<TFilter>(filter)) {  // t² is the F of two groups
    const double within = a.squares() + b.squares(), gap = b.mean() - a.mean();
    const Tested f = f_of(gap * gap * n0 * n1 / (n0 + n1), within, 2, n0 + n1);
    return {std::copysign(std::sqrt(f.statistic), gap), f.p};
  }
  if (std::holds_alternative<WelchFilter>(filter))
    return welch_of(n0, a.mean(), a.squares(), n1, b.mean(), b.squares());
  const double gap = b.mean() - a.mean(), spread = a.squares() / (n0 - 1) + b.squares() / (n1 - 1);
  return {spread > 0 ? gap * gap / spread : 0.0, 0};
}

Tested anova(const Columns& c, Index j) {
  const auto sums = raw_sums(c, j);
  RawSums all;
  all.shift = c.x(0, j);
  double within = 0, groups = 0;
  for (const auto& each : sums) {
    if (!(each.w > 0)) continue;
    groups += 1;
    within += each.squares();
    all.w += each.w;
    all.s += each.s;
    all.q += each.q;
  }
  return f_of(std::max(0.0, all.squares() - within), within, groups, static_cast<double>(all.w));
}

/// From Σ (x + y)² and Σ (x − y)² of columns brought to unit length.
double correlation(const Columns& c, Index j) {
  const auto y = [&](Index i) { return c.classes > 0 ? static_cast<double>(c.label[at(i)]) : c.y(i); };
  long double n = 0, sx = 0, sy = 0, qx = 0, qy = 0;
  const double x0 = c.x(0, j), y0 = y(0);
  for (Index i = c.rows(); i-- > 0;) {
    const long double w = c.w(i), dx = static_cast<long double>(c.x(i, j)) - x0,
                      dy = static_cast<long double>(y(i)) - y0;
    n += w;
    sx += w * dx;
    sy += w * dy;
    qx += w * dx * dx;
    qy += w * dy * dy;
  }
  const long double vx = qx - sx * sx / n, vy = qy - sy * sy / n;
  if (!(vx > 0) || !(vy > 0)) return 0;
  long double plus = 0, minus = 0;
  for (Index i = c.rows(); i-- > 0;) {
    const long double u = (c.x(i, j) - x0 - sx / n) / std::sqrt(vx), v = (y(i) - y0 - sy / n) / std::sqrt(vy);
    plus += c.w(i) * (u + v) * (u + v);
    minus += c.w(i) * (u - v) * (u - v);
  }
  return static_cast<double>((plus - minus) / 4);
}

/// The values of one class in their order, with the weight up to each.
struct OneClass {
  std::vector<double> value, upto;
  double below(double x) const { return count(std::lower_bound(value.begin(), value.end(), x)); }
  double up_to(double x) const { return count(std::upper_bound(value.begin(), value.end(), x)); }
  double total() const { return upto.back(); }

 private:
  double count(std::vector<double>::const_iterator it) const {
    return it == value.begin() ? 0.0 : upto[static_cast<std::size_t>(it - value.begin()) - 1];
  }
};
OneClass one_class(const Columns& c, Index j, int label) {
  std::vector<std::pair<double, double>> rows;
  for (Index i = 0; i < c.rows(); ++i)
    if (c.label[at(i)] == label) rows.emplace_back(c.x(i, j), c.w(i));
  std::sort(rows.begin(), rows.end());
  OneClass out;
  double total = 0;
  for (const auto& [value, weight] : rows) {
    out.value.push_back(value);
    out.upto.push_back(total += weight);
  }
  return out;
}

double threshold_error(const Columns& c, Index j) {
  const OneClass a = one_class(c, j, 0), b = one_class(c, j, 1);
  double best = std::min(a.total(), b.total());
  for (const auto* from : {&a, &b})
    for (const double cut : from->value) {
      const double right = a.up_to(cut) + b.total() - b.up_to(cut), n = a.total() + b.total();
      best = std::min({best, right, n - right});
    }
  return best / (a.total() + b.total());
}

double margin(const MarginFilter& how, const Columns& c, Index j) {
  const OneClass a = one_class(c, j, 0), b = one_class(c, j, 1);
  const auto low = [&](const OneClass& of) {
    for (const double v : of.value)
      if (of.up_to(v) > how.ignore) return v;
    return of.value.back();
  };
  const auto high = [&](const OneClass& of) {
    for (auto v = of.value.rbegin(); v != of.value.rend(); ++v)
      if (of.total() - of.below(*v) > how.ignore) return *v;
    return of.value.front();
  };
  const double gap = std::max(low(b) - high(a), low(a) - high(b));
  if (!how.scaled) return gap;
  RawSums all;
  for (const auto& each : raw_sums(c, j)) {
    all.w += each.w;
    all.s += each.s;
    all.q += each.q;
  }
  const double sd = std::sqrt(all.squares() / (static_cast<double>(all.w) - 1));
  return sd > 0 ? gap / sd : 0.0;
}

Tested auc(const Columns& c, Index j) {
  const OneClass a = one_class(c, j, 0), b = one_class(c, j, 1);
  const double first = a.total(), second = b.total(), n = first + second;
  double wins = 0, ties = 0;
  for (std::size_t i = 0; i < b.value.size(); ++i) {
    const double weight = b.upto[i] - (i > 0 ? b.upto[i - 1] : 0);
    wins += weight * (a.below(b.value[i]) + a.up_to(b.value[i])) / 2;
  }
  std::vector<double> all = a.value;
  all.insert(all.end(), b.value.begin(), b.value.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const double v : all) {
    const double t = a.up_to(v) - a.below(v) + b.up_to(v) - b.below(v);
    ties += t * (t - 1) * (t + 1);
  }
  const double area = wins / (first * second), variance = (n + 1 - ties / n / (n - 1)) / (12 * first * second);
  return {area, variance > 0 ? 2 * normal_upper(std::abs(area - 0.5) / std::sqrt(variance)) : 1.0};
}

/// ΣΣ p log(p / (p_a p_b)).
double divergence(const Matrix& counts) {
  const double n = counts.sum();
  double out = 0;
  for (Index i = counts.rows(); i-- > 0;)
    for (Index k = counts.cols(); k-- > 0;)
      if (counts(i, k) > 0)
        out += counts(i, k) / n * std::log(counts(i, k) / counts.row(i).sum() * (n / counts.col(k).sum()));
  return out;
}

/// n (Σ O² / (row · column) − 1).
double pearson(const Matrix& counts) {
  const double n = counts.sum();
  double sum = 0;
  for (Index i = counts.rows(); i-- > 0;)
    for (Index k = counts.cols(); k-- > 0;)
      if (counts(i, k) > 0) sum += counts(i, k) / counts.row(i).sum() * (counts(i, k) / counts.col(k).sum());
  return std::max(0.0, n * (sum - 1));
}

/// The bin of each row by asking every cut.
Binned slowly(const VectorView& values, const std::vector<double>& cuts) {
  Binned out{{}, static_cast<Index>(cuts.size()) + 1};
  for (const double value : values)
    out.bin.push_back(
        static_cast<int>(std::count_if(cuts.begin(), cuts.end(), [&](double cut) { return value > cut; })));
  return out;
}
Binned column(const Columns& c, Index j, int bins) {
  return c.levels[at(j)] > 0 ? binned(c, j, bins) : slowly(c.x.col(j), cuts_of(c.x.col(j), c.w, bins));
}
Binned response(const Columns& c, int bins) {
  return c.classes > 0 ? binned_response(c, bins) : slowly(c.y, cuts_of(c.y, c.w, bins));
}

/// The k-th least of max(|dx|, |dy|) to other rows, walking outwards along x; of one column dy is 0.
double kth_outwards(const std::vector<std::pair<double, double>>& by_x, std::size_t i, Index k, bool both) {
  std::vector<double> nearest;  // a heap of the k least
  const auto add = [&](std::size_t o) {
    const double dx = std::abs(by_x[o].first - by_x[i].first),
                 dy = both ? std::abs(by_x[o].second - by_x[i].second) : 0;
    nearest.push_back(std::max(dx, dy));
    std::push_heap(nearest.begin(), nearest.end());
    if (static_cast<Index>(nearest.size()) > k) {
      std::pop_heap(nearest.begin(), nearest.end());
      nearest.pop_back();
    }
  };
  const auto over = [&](double dx) { return static_cast<Index>(nearest.size()) == k && dx > nearest.front(); };
  for (std::size_t o = i; o-- > 0 && !over(by_x[i].first - by_x[o].first);) add(o);
  for (std::size_t o = i + 1; o < by_x.size() && !over(by_x[o].first - by_x[i].first); ++o) add(o);
  return nearest.front();
}

/// How many values are nearer, one after the other from the middle.
Index walk(const std::vector<double>& v, double x, double distance) {
  const auto inside = [&](double d) { return distance > 0 ? d < distance : d == 0; };
  const auto middle = std::lower_bound(v.begin(), v.end(), x);
  Index out = 0;
  for (auto it = middle; it != v.end() && inside(*it - x); ++it) ++out;
  for (auto it = middle; it != v.begin() && inside(x - *(it - 1)); --it) ++out;
  return out;
}

double neighbor_information(const Columns& c, Index j, Index neighbors, const std::vector<double>& psi) {
  const Index n = c.rows();
  std::vector<double> xs, ys;
  double sum = 0, used = 0;
  if (c.classes == 0) {
    const double sy = std::sqrt((c.y.array() - c.y.mean()).square().sum() / static_cast<double>(n - 1));
    const RawSums x = raw_sums(c, j)[0];
    const double sx = std::sqrt(x.squares() / static_cast<double>(n - 1));
    if (!(sx > 0) || !(sy > 0)) return 0;
    std::vector<std::pair<double, double>> points;
    for (Index i = 0; i < n; ++i) points.emplace_back(c.x(i, j) / unit_of(sx), c.y(i) / unit_of(sy));
    std::sort(points.begin(), points.end());
    for (const auto& [a, b] : points) {
      xs.push_back(a);
      ys.push_back(b);
    }
    std::sort(ys.begin(), ys.end());
    const Index k = std::min(neighbors, n - 1);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double radius = kth_outwards(points, i, k, true);
      sum += psi[at(walk(xs, points[i].first, radius))] + psi[at(walk(ys, points[i].second, radius))];
    }
    return std::max(0.0, psi[at(n)] + psi[at(k)] - sum / static_cast<double>(n));
  }
  std::vector<std::vector<std::pair<double, double>>> by_class(at(c.classes));
  for (Index i = 0; i < n; ++i) by_class[at(c.label[at(i)])].emplace_back(c.x(i, j), 0);
  for (auto& each : by_class) {
    std::sort(each.begin(), each.end());
    if (each.size() < 2) continue;
    for (const auto& point : each) xs.push_back(point.first);
    used += static_cast<double>(each.size());
  }
  std::sort(xs.begin(), xs.end());
  if (used == 0) return 0;
  for (const auto& each : by_class)
    for (std::size_t i = 0; i < each.size() && each.size() > 1; ++i) {
      const Index k = std::min<Index>(neighbors, static_cast<Index>(each.size()) - 1);
      const double radius = kth_outwards(each, i, k, false);
      sum += psi[at(k)] - psi[each.size()] - psi[at(walk(xs, each[i].first, radius))];
    }
  return std::max(0.0, psi[xs.size()] + sum / used);
}

}  // namespace

Scores score_again(const Filter& filter, const Columns& c, Index most, const std::vector<Index>& order,
                   const Execution& execution) {
  const auto run = [&](const std::function<Tested(Index)>& test) { return each_column(filter, c, execution, test); };
  if (std::holds_alternative<ThresholdFilter>(filter))
    return run([&](Index j) { return Tested{threshold_error(c, j), 0}; });
  if (const auto* how = std::get_if<MarginFilter>(&filter))
    return run([&](Index j) { return Tested{margin(*how, c, j), 0}; });
  if (std::holds_alternative<AucFilter>(filter)) return run([&](Index j) { return auc(c, j); });
  if (std::holds_alternative<CorrelationFilter>(filter))
    return run([&](Index j) { return correlation_test(std::clamp(correlation(c, j), -1.0, 1.0), c.w.sum()); });
  if (std::holds_alternative<AnovaFilter>(filter)) return run([&](Index j) { return anova(c, j); });
  if (const auto* how = std::get_if<NeighborInformationFilter>(&filter)) {
    const auto psi = digammas(c.rows() + 1);
    return run([&](Index j) { return Tested{neighbor_information(c, j, how->neighbors, psi), 0}; });
  }
  if (const auto* how = std::get_if<ChiSquaredFilter>(&filter)) {
    const Binned y = response(c, how->bins);
    return run([&](Index j) {
      const Matrix counts = counts_of(column(c, j, how->bins), y, c.w);
      const double df = degrees_of(counts), statistic = df > 0 ? pearson(counts) : 0;
      return Tested{statistic, df > 0 ? chi_squared_upper(statistic, df) : 1.0};
    });
  }
  if (const auto* how = std::get_if<InformationFilter>(&filter)) {
    const Binned y = response(c, how->bins);
    return run([&](Index j) {
      const Matrix counts = counts_of(column(c, j, how->bins), y, c.w);
      const double shared = std::max(0.0, divergence(counts)), df = degrees_of(counts);
      const double hx = entropy(counts.rowwise().sum()), hy = entropy(counts.colwise().sum().transpose());
      if (how->over == InformationOver::both) return Tested{hx + hy > 0 ? shared / ((hx + hy) / 2) : 0, 0};
      if (how->over == InformationOver::column) return Tested{hx > 0 ? shared / hx : 0, 0};
      return Tested{shared, df > 0 ? chi_squared_upper(2 * counts.sum() * shared, df) : 1.0};
    });
  }
  if (const auto* how = std::get_if<IncrementalFilter>(&filter)) {
    const Binned y = response(c, how->bins);
    std::vector<Binned> columns(at(c.width()));
    parallel_for(c.width(), execution, [&](Index j) { columns[at(j)] = column(c, j, how->bins); });
    const Informed by{[&](Index j) { return divergence(counts_of(columns[at(j)], y, c.w)); },
                      [&](Index j, Index k) { return divergence(counts_of(columns[at(k)], columns[at(j)], c.w)); }};
    return choose_incrementally(*how, c.width(), most, by, &order, execution);
  }
  return run([&](Index j) { return two_classes(filter, c, j); });
}

}  // namespace lemma::filters
