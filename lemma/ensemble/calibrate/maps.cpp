// lemma/ensemble/calibrate/maps.cpp
#include <algorithm>
#include <cmath>
#include <lemma/ensemble/calibrate/maps.hpp>
#include <lemma/math/special.hpp>
#include <numeric>

namespace lemma::calibrating {
namespace {

constexpr int kMostSteps = 200;
constexpr double kSteepest = 1000;
constexpr double kNoSpread = 1e-13;  // of equal scores, what rounding leaves

/// Weighted mean and spread of a column of scores.
struct Unit {
  double mean = 0, spread = 0;
};
Unit unit_of(const HeldOut& rows, Index map) {
  Unit out;
  const double n = rows.weight.sum();
  for (Index i = 0; i < rows.weight.size(); ++i) out.mean += rows.weight(i) * rows.score(i, map) / n;
  for (Index i = 0; i < rows.weight.size(); ++i) {
    const double d = rows.score(i, map) - out.mean;
    out.spread += rows.weight(i) * d * d / n;
  }
  out.spread = std::sqrt(out.spread);
  if (out.spread <= kNoSpread * std::abs(out.mean)) out.spread = 0;
  return out;
}

/// Platt's targets in the place of 0 and 1: as if one row more of each kind had been seen.
struct Targets {
  double high = 1, low = 0;
};
Targets targets_of(const HeldOut& rows, Index map) {
  double positive = 0, negative = 0;
  for (Index i = 0; i < rows.weight.size(); ++i) (rows.target(i, map) > 0 ? positive : negative) += rows.weight(i);
  return {(positive + 1) / (positive + 2), 1 / (negative + 2)};
}

/// Loss, gradient and Hessian of the sigmoid at slope a, offset b of standardised scores.
struct Curvature {
  double loss = 0, ga = 0, gb = 0, haa = 0, hab = 0, hbb = 0;
};
Curvature curvature(const HeldOut& rows, Index map, const Unit& unit, const Targets& targets, double a, double b) {
  Curvature out;
  for (Index i = 0; i < rows.weight.size(); ++i) {
    const double w = rows.weight(i);
    if (w == 0) continue;
    const double s = unit.spread > 0 ? (rows.score(i, map) - unit.mean) / unit.spread : 0;
    const double z = a * s + b, q = rows.target(i, map) > 0 ? targets.high : targets.low, p = logistic(z);
    out.loss += w * (log1p_exp(z) - q * z);
    out.ga += w * (p - q) * s;
    out.gb += w * (p - q);
    out.haa += w * p * (1 - p) * s * s;
    out.hab += w * p * (1 - p) * s;
    out.hbb += w * p * (1 - p);
  }
  return out;
}

/// Scores of a row as one for each class: of two classes one score is the odds of the second.
double score_of(const HeldOut& rows, Index i, Index k) {
  if (rows.score.cols() > 1) return rows.score(i, k);
  return k == 1 ? rows.score(i, 0) : 0.0;
}

/// The spread of scores about the row's own mean.
double spread_of(const HeldOut& rows) {
  double sum = 0;
  for (Index i = 0; i < rows.weight.size(); ++i) {
    double mean = 0;
    for (Index k = 0; k < rows.classes; ++k) mean += score_of(rows, i, k) / static_cast<double>(rows.classes);
    for (Index k = 0; k < rows.classes; ++k) {
      const double d = score_of(rows, i, k) - mean;
      sum += rows.weight(i) * d * d / static_cast<double>(rows.classes);
    }
  }
  return std::sqrt(sum / rows.weight.sum());
}

/// First and second derivative by β of Σ w (log Σ e^(β sₖ) − β s_y).
std::pair<double, double> derivatives(const HeldOut& rows, double beta) {
  double first = 0, second = 0;
  std::vector<double> s(at(rows.classes)), p(at(rows.classes));
  for (Index i = 0; i < rows.weight.size(); ++i) {
    if (rows.weight(i) == 0) continue;
    for (Index k = 0; k < rows.classes; ++k) s[at(k)] = score_of(rows, i, k);
    temper(s.data(), rows.classes, beta, p.data());
    double mean = 0, square = 0;
    for (std::size_t k = 0; k < s.size(); ++k) mean += p[k] * s[k];
    for (std::size_t k = 0; k < s.size(); ++k) square += p[k] * (s[k] - mean) * (s[k] - mean);
    first += rows.weight(i) * (mean - s[static_cast<std::size_t>(rows.label[at(i)])]);
    second += rows.weight(i) * square;
  }
  return {first, second};
}

}  // namespace

Sigmoid fit_sigmoid(const HeldOut& rows, Index map) {
  const Unit unit = unit_of(rows, map);
  const Targets targets = targets_of(rows, map);
  double a = 0, b = 0;
  Curvature now = curvature(rows, map, unit, targets, a, b);
  for (int step = 0; step < kMostSteps; ++step) {
    const double ridge = 1e-14 * (now.haa + now.hbb), haa = now.haa + ridge, hbb = now.hbb + ridge;
    const double determinant = haa * hbb - now.hab * now.hab;
    double da = -(hbb * now.ga - now.hab * now.gb) / determinant, db = -(haa * now.gb - now.hab * now.ga) / determinant;
    if (!(unit.spread > 0)) {
      da = 0;
      db = -now.gb / hbb;
    }
    const double fall = now.ga * da + now.gb * db;
    if (!(fall < 0)) break;
    double size = 1;
    Curvature next = curvature(rows, map, unit, targets, a + da, b + db);
    const double rounding = 1e-13 * (1 + std::abs(now.loss));  // below it slopes decide, which have more digits
    while (next.loss > now.loss + 1e-4 * size * fall + rounding && size > 1e-10) {
      size /= 2;
      next = curvature(rows, map, unit, targets, a + size * da, b + size * db);
    }
    const bool falls = next.loss < now.loss - rounding;
    if (falls || std::abs(next.ga) + std::abs(next.gb) < std::abs(now.ga) + std::abs(now.gb)) {
      a += size * da;
      b += size * db;
      now = next;
    } else {
      break;  // what is left is rounding
    }
  }
  if (!(unit.spread > 0)) return {0, b};
  return {a / unit.spread, b - a * unit.mean / unit.spread};
}

double gradient_of(const HeldOut& rows, Index map, const Sigmoid& sigmoid) {
  const Unit unit = unit_of(rows, map);
  const double a = sigmoid.slope * unit.spread, b = sigmoid.offset + sigmoid.slope * unit.mean;
  const Curvature at_it = curvature(rows, map, unit, targets_of(rows, map), a, b);
  if (!(unit.spread > 0) && sigmoid.slope != 0) return 1;
  return std::max(std::abs(at_it.ga), std::abs(at_it.gb)) / rows.weight.sum();
}

Steps fit_isotonic(const HeldOut& rows, Index map) {
  std::vector<Index> order;
  for (Index i = 0; i < rows.weight.size(); ++i)
    if (rows.weight(i) > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return rows.score(i, map) < rows.score(j, map); });
  struct Pool {
    double from, to, weight, sum;
    double mean() const { return sum / weight; }
  };
  std::vector<Pool> pools;
  for (std::size_t at_row = 0; at_row < order.size();) {
    const double s = rows.score(order[at_row], map);
    Pool next{s, s, 0, 0};
    for (; at_row < order.size() && rows.score(order[at_row], map) == s; ++at_row) {
      next.weight += rows.weight(order[at_row]);
      next.sum += rows.weight(order[at_row]) * rows.target(order[at_row], map);
    }
    pools.push_back(next);
    while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().to = last.to;
      pools.back().weight += last.weight;
      pools.back().sum += last.sum;
    }
  }
  Steps out;
  for (const auto& pool : pools) {
    out.score.push_back(pool.from);
    out.value.push_back(pool.mean());
    if (pool.to == pool.from) continue;
    out.score.push_back(pool.to);
    out.value.push_back(pool.mean());
  }
  return out;
}

double value_at(const double* score, const double* value, Index count, double s) {
  const Index after = std::upper_bound(score, score + count, s) - score;
  if (after == 0) return value[0];
  if (after == count) return value[count - 1];
  if (score[after - 1] == s || value[after] == value[after - 1]) return value[after - 1];
  const double part = (s - score[after - 1]) / (score[after] - score[after - 1]);
  return value[after - 1] + part * (value[after] - value[after - 1]);
}

double violation_of(const HeldOut& rows, Index map, const double* score, const double* value, Index count) {
  std::vector<Index> order;
  for (Index i = 0; i < rows.weight.size(); ++i)
    if (rows.weight(i) > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return rows.score(i, map) < rows.score(j, map); });
  double worst = 0, sum = 0;
  for (Index k = 1; k < count; ++k) worst = std::max(worst, value[k - 1] - value[k]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double s = rows.score(order[i], map), p = value_at(score, value, count, s);
    sum += rows.weight(order[i]) * (rows.target(order[i], map) - p);
    const bool last = i + 1 == order.size();
    const double next = last ? s : rows.score(order[i + 1], map);
    if (!last && next == s) continue;  // rows of one score are one
    worst = std::max(worst, -sum / rows.weight.sum());
    if (last || value_at(score, value, count, next) > p) worst = std::max(worst, std::abs(sum) / rows.weight.sum());
  }
  // and the curve turns only at scores that there are, from the first to the last
  if (!order.empty()) {
    const double unit = unit_of(rows, map).spread;
    for (Index k = 0; k < count; ++k) {
      const auto at_it =
          std::partition_point(order.begin(), order.end(), [&](Index i) { return rows.score(i, map) < score[k]; });
      double nearest = std::abs(score[k] - rows.score(at_it == order.end() ? order.back() : *at_it, map));
      if (at_it != order.begin()) nearest = std::min(nearest, std::abs(score[k] - rows.score(*(at_it - 1), map)));
      worst = std::max(worst, unit > 0 ? std::min(1.0, nearest / unit) : nearest);
    }
  }
  return worst;
}

void temper(const double* score, Index classes, double beta, double* p) {
  double largest = score[0], sum = 0;
  for (Index k = 1; k < classes; ++k) largest = std::max(largest, score[k]);
  for (Index k = 0; k < classes; ++k) sum += p[k] = std::exp(beta * (score[k] - largest));
  for (Index k = 0; k < classes; ++k) p[k] /= sum;
}

/// The derivative never falls: bisection between what is too small and too large, with Newton's step where that lies between.
double fit_temperature(const HeldOut& rows) {
  const double spread = spread_of(rows);
  if (!(spread > 0)) return 0;
  double low = 0, high = kSteepest / spread;
  if (derivatives(rows, low).first >= 0) return 0;
  if (derivatives(rows, high).first <= 0) return high;
  double beta = std::min(1 / spread, high / 2);
  for (int step = 0; step < kMostSteps; ++step) {
    const auto [first, second] = derivatives(rows, beta);
    if (first == 0) break;
    (first < 0 ? low : high) = beta;
    double next = second > 0 ? beta - first / second : low;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next == beta || !(next > low && next < high)) break;
    beta = next;
  }
  return beta;
}

double gradient_of(const HeldOut& rows, double beta) {
  const double spread = spread_of(rows), n = rows.weight.sum();
  if (!(spread > 0)) return beta == 0 ? 0 : 1;
  const double first = derivatives(rows, beta).first / (n * spread), limit = kSteepest / spread;
  if (beta == 0) return std::max(0.0, -first);
  if (std::abs(beta - limit) <= 1e-9 * limit) return std::max(0.0, first);
  return beta > 0 && beta < limit ? std::abs(first) : 1;
}

}  // namespace lemma::calibrating
