// lemma/density/kde/bandwidth.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/kde/bandwidth.hpp>
#include <lemma/math/simd.hpp>
#include <limits>
#include <numbers>
#include <numeric>

namespace lemma::kde {
namespace {

using density::DensityRows;
using density::kLogOfNothing;
using density::SortedColumn;

constexpr Index kMostSearched = 2000;  // rows that a search looks at for each c
constexpr double kSearchError = 1e-9;  // of their densities
constexpr int kSplits = 10;
constexpr double kLeast = 0.02, kGreatest = 10;  // of c
constexpr std::size_t kBins = 2048;

/// The c between kLeast and kGreatest at which `goodness` is greatest: the best of a grid, then golden sections about it.
double best_factor(const auto& goodness, const Execution& execution) {
  constexpr int kGrid = 24, kSections = 34;
  const double low = std::log(kLeast), step = (std::log(kGreatest) - low) / (kGrid - 1);
  const auto part = [&](int done) {
    return execution.part(static_cast<double>(done) / (kGrid + kSections),
                          static_cast<double>(done + 1) / (kGrid + kSections), "choosing the bandwidth");
  };
  int best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (int g = 0; g < kGrid; ++g) {
    const double found = goodness(std::exp(low + g * step), part(g));
    if (found > most) {
      most = found;
      best = g;
    }
  }
  constexpr double kGolden = 0.6180339887498949;
  double a = low + std::max(best - 1, 0) * step, b = low + std::min(best + 1, kGrid - 1) * step;
  double c = b - kGolden * (b - a), d = a + kGolden * (b - a);
  double at_c = goodness(std::exp(c), part(kGrid)), at_d = goodness(std::exp(d), part(kGrid));
  for (int s = 0; s < kSections; ++s) {
    if (at_c >= at_d) {
      b = d;
      d = c;
      at_d = at_c;
      c = b - kGolden * (b - a);
      at_c = goodness(std::exp(c), part(kGrid + s));
    } else {
      a = c;
      c = d;
      at_c = at_d;
      d = a + kGolden * (b - a);
      at_d = goodness(std::exp(d), part(kGrid + s));
    }
  }
  return std::exp(0.5 * (a + b));
}

/// The rows by their values, column after column: copies of a row stand together.
std::vector<Index> by_values(const Matrix& x) {
  std::vector<Index> order(at(x.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    for (Index j = 0; j < x.cols(); ++j)
      if (x(a, j) != x(b, j)) return x(a, j) < x(b, j);
    return a < b;
  });
  return order;
}

/// The rows of a half, each as often as a coin falls for one of its copies.
struct Halves {
  Sums first;
  std::vector<Index> second;
  Vector second_weight;
  double first_mass, second_mass;
};

std::vector<Halves> halves_of(DensityKernel kernel, const DensityRows& rows, const Vector& unit) {
  for (const double w : rows.weight)
    if (w != std::floor(w))
      throw Error(
          fmt::format("kde: half_splits deals copies of rows out, and a weight is {:g}; give whole weights", w));
  const std::vector<Index> order = by_values(rows.x);
  std::vector<Halves> out;
  for (int s = 0; s < kSplits; ++s) {
    RandomStream coins(1, static_cast<std::uint64_t>(s));
    std::vector<Index> one, other;
    std::vector<double> one_weight, other_weight;
    double mass = 0, other_mass = 0;
    for (const Index i : order) {
      double here = 0;
      for (double copy = 0; copy < rows.weight(i); ++copy) here += coins.uniform() < 0.5 ? 1 : 0;
      if (here > 0) {
        one.push_back(i);
        one_weight.push_back(here);
        mass += here;
      }
      if (here < rows.weight(i)) {
        other.push_back(i);
        other_weight.push_back(rows.weight(i) - here);
        other_mass += rows.weight(i) - here;
      }
    }
    if (one.empty() || other.empty()) continue;
    const auto vector = [](const std::vector<double>& v) {
      return Vector(Eigen::Map<const Vector>(v.data(), static_cast<Index>(v.size())));
    };
    out.push_back({Sums(rows.x(one, Eigen::all), vector(one_weight), unit, kernel), other, vector(other_weight), mass,
                   other_mass});
  }
  if (out.empty()) throw Error("kde: half_splits found no half with rows on both sides; give more rows");
  return out;
}

double by_half_splits(DensityKernel kernel, const DensityRows& rows, const Vector& unit, const Execution& execution) {
  const auto halves = halves_of(kernel, rows, unit);
  const auto d = static_cast<double>(rows.width());
  return best_factor(
      [&](double c, const Execution& part) {
        double sum = 0;
        for (const Halves& each : halves) {
          const auto n = static_cast<Index>(each.second.size()), judged = std::min(n, kMostSearched / kSplits * 4);
          Vector logs(judged), weight(judged);
          parallel_for(judged, part, [&](Index k) {
            const Index i = k * n / judged;
            const Vector place = rows.x.row(each.second[at(i)]);
            weight(k) = each.second_weight(i);
            logs(k) = std::max(
                each.first.log_sum(place.data(), c, kSearchError) - d * std::log(c) - std::log(each.first_mass),
                kLogOfNothing);
          });
          sum += logs.dot(weight) / weight.sum();
        }
        return sum / static_cast<double>(halves.size());
      },
      execution);
}

double by_likelihood(DensityKernel kernel, const DensityRows& rows, const Vector& unit, const Execution& execution) {
  const Sums sums(rows.x, rows.weight, unit, kernel);
  return best_factor(
      [&](double c, const Execution& part) {
        return left_out_likelihood(sums, rows.weight, rows.mass, c, static_cast<double>(rows.width()) * std::log(c),
                                   kMostSearched, kSearchError, part);
      },
      execution);
}

/// Of the rules that are formulas; the standard deviation of the kernel.
double formula(BandwidthRule rule, const SortedColumn& column, Index d) {
  const double n = column.mass, power = 1 / static_cast<double>(d + 4), sd = column.standard_deviation();
  const double range = column.quartile_range() / 1.34;
  const double robust = range > 0 ? std::min(sd, range) : sd;
  switch (rule) {
    case BandwidthRule::rule_of_thumb: return 1.06 * sd * std::pow(n, -power);
    case BandwidthRule::nrd0: return 0.9 * robust * std::pow(n, -power);
    case BandwidthRule::nrd: return 1.06 * robust * std::pow(n, -power);
    case BandwidthRule::silverman: return sd * std::pow(4 / (static_cast<double>(d + 2) * n), power);
    default: return sd * std::pow(n, -power);
  }
}

}  // namespace

Vector given_bandwidth(const std::vector<double>& given, Index width) {
  if (given.size() == 1) return Vector::Constant(width, given[0]);
  if (static_cast<Index>(given.size()) != width)
    throw Error(fmt::format("kde: bandwidth has {}, and there {}; give one for all or one for each",
                            count_of(static_cast<Index>(given.size()), "number"),
                            width == 1 ? "is 1 column" : fmt::format("are {} columns", width)));
  return Eigen::Map<const Vector>(given.data(), width);
}

Vector scott_unit(DensityKernel kernel, const DensityRows& rows) {
  Vector out(rows.width());
  for (Index j = 0; j < rows.width(); ++j)
    out(j) = formula(BandwidthRule::scott, SortedColumn(rows, j), rows.width()) / deviation_of(kernel, rows.width());
  return out;
}

Vector bandwidth_of(const Kde& spec, const DensityRows& rows, const std::vector<std::string>& features,
                    const Execution& execution) {
  const Index d = rows.width();
  if (const auto* given = std::get_if<std::vector<double>>(&spec.bandwidth)) return given_bandwidth(*given, d);
  density::require_spread("kde", rows, features, ", or give --bandwidth");
  const auto rule = std::get<BandwidthRule>(spec.bandwidth);
  const double deviation = deviation_of(spec.kernel, d);
  if (rule == BandwidthRule::sheather_jones) {
    if (d != 1)
      throw Error(
          fmt::format("kde: sheather_jones is a rule for one column, and there are {}; take --bandwidth "
                      "likelihood",
                      d));
    return Vector::Constant(1, PlugIn(SortedColumn(rows, 0)).solution() / deviation);
  }
  if (rule == BandwidthRule::likelihood || rule == BandwidthRule::half_splits) {
    const Vector unit = scott_unit(spec.kernel, rows);
    return unit * (rule == BandwidthRule::likelihood ? by_likelihood(spec.kernel, rows, unit, execution)
                                                     : by_half_splits(spec.kernel, rows, unit, execution));
  }
  Vector out(d);
  for (Index j = 0; j < d; ++j) out(j) = formula(rule, SortedColumn(rows, j), d) / deviation;
  return out;
}

std::vector<Index> judged_rows(const Sums& sums, Index most) {
  const Index n = sums.count(), judged = std::min(n, most);
  std::vector<Index> out;
  for (Index k = 0; k < judged; ++k) out.push_back(sums.order()[at(k * n / judged)]);
  return out;
}

double left_out_likelihood(const Sums& sums, const Vector& weights, double mass, double c, double log_volume,
                           Index judged, double epsilon, const Execution& execution) {
  const auto rows = judged_rows(sums, judged);
  const auto n = static_cast<Index>(rows.size());
  Vector logs(n), weight(n);
  constexpr Index kTogether = 16;
  parallel_for((n + kTogether - 1) / kTogether, execution, [&](Index tile) {
    for (Index k = tile * kTogether; k < std::min(n, (tile + 1) * kTogether); ++k) {
      const Index i = rows[at(k)];
      weight(k) = weights(i);
      logs(k) = std::max(sums.log_sum_without(i, c, epsilon) - log_volume - std::log(mass - 1), kLogOfNothing);
    }
  });
  double sum = 0, told = 0;
  for (Index k = 0; k < n; ++k) {
    sum += weight(k) * logs(k);
    told += weight(k);
  }
  return sum * (mass / told);
}

// ---- Sheather and Jones (1991), as R's bw.SJ(method = "ste") ----

/// Of many values the pairs are those of bins; R takes 1,000 of them.
PlugIn::PlugIn(const density::SortedColumn& column, std::size_t most_values) : mass_(column.mass) {
  if (column.value.size() <= most_values) {
    value_ = column.value;
    weight_ = column.weight;
  } else {
    const double low = column.value.front(), width = (column.value.back() - low) / static_cast<double>(kBins);
    std::vector<double> count(kBins, 0.0);
    for (std::size_t i = 0; i < column.value.size(); ++i)
      count[std::min(kBins - 1, static_cast<std::size_t>((column.value[i] - low) / width))] += column.weight[i];
    for (std::size_t b = 0; b < kBins; ++b)
      if (count[b] > 0) {
        value_.push_back(low + (static_cast<double>(b) + 0.5) * width);
        weight_.push_back(count[b]);
      }
  }
  const double sd = column.standard_deviation(), range = column.quartile_range() / 1.349;
  scale_ = range > 0 ? std::min(sd, range) : sd;
  const double a = 1.24 * scale_ * std::pow(mass_, -1.0 / 7), b = 1.23 * scale_ * std::pow(mass_, -1.0 / 9);
  const double t = -sixth(b);
  if (!(t > 0)) throw Error("kde: sheather_jones finds no curvature in these few values; take another rule");
  alpha_ = 1.357 * std::pow(fourth(a) / t, 1.0 / 7);
}

/// Σᵢ Σⱼ wᵢ wⱼ p(δ) exp(−δ / 2), δ = ((xᵢ − xⱼ) / h)², over pairs of different copies twice and each copy with itself once.
double PlugIn::pairs(double h, bool sixth) const {
  constexpr double kFar = 1000;  // of δ: R leaves out what lies beyond
  double sum = 0, same = 0;
  const double at_zero = sixth ? -15 : 3;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    same += weight_[i] * (weight_[i] - 1) / 2 * at_zero;
    for (std::size_t j = i + 1; j < value_.size(); ++j) {
      const double gap = (value_[j] - value_[i]) / h, delta = gap * gap;
      if (delta >= kFar) break;
      const double p = sixth ? ((delta - 15) * delta + 45) * delta - 15 : (delta - 6) * delta + 3;
      sum += weight_[i] * weight_[j] * p * std::exp(-0.5 * delta);
    }
  }
  return 2 * (sum + same) + mass_ * at_zero;
}
double PlugIn::fourth(double h) const {
  return pairs(h, false) / (mass_ * (mass_ - 1) * std::pow(h, 5) * std::sqrt(2 * std::numbers::pi));
}
double PlugIn::sixth(double h) const {
  return pairs(h, true) / (mass_ * (mass_ - 1) * std::pow(h, 7) * std::sqrt(2 * std::numbers::pi));
}

double PlugIn::right_side(double h) const {
  const double curvature = fourth(alpha_ * std::pow(h, 5.0 / 7));
  if (!(curvature > 0)) return std::numeric_limits<double>::infinity();
  return std::pow(1 / (2 * std::sqrt(std::numbers::pi) * mass_ * curvature), 0.2);
}

/// By halving log h between bounds at which the right side is above and below h.
double PlugIn::solution() const {
  const double greatest = 1.144 * scale_ * std::pow(mass_, -0.2);
  double low = 0.1 * greatest, high = greatest;
  for (int tries = 0; !(right_side(low) > low); ++tries, low *= 0.5)
    if (tries > 40) throw Error("kde: sheather_jones has no solution for these values; take another rule");
  for (int tries = 0; !(right_side(high) < high); ++tries, high *= 1.5)
    if (tries > 40) throw Error("kde: sheather_jones has no solution for these values; take another rule");
  for (int step = 0; step < 60 && high - low > 1e-11 * high; ++step) {
    const double middle = std::sqrt(low * high);
    (right_side(middle) > middle ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace lemma::kde
