// lemma/density/kde/certify.cpp: plain sums over all rows, in the columns' own units, against what the tree says.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <functional>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/density/kde/bandwidth.hpp>
#include <lemma/geometry/same_rows.hpp>
#include <lemma/model/comparison.hpp>
#include <limits>

namespace lemma {
namespace {

using density::DensityRows;
using density::kLogOfNothing;

constexpr Index kPlaces = 32;       // at which densities are held against plain sums, besides points between them
constexpr Index kAllByHand = 2000;  // up to so many rows all are left out by plain sums
constexpr double kRounding = 1e-9;

/// log Σ w D / (c_d h₁ ⋯ h_d (n − left)), row by row as the formula stands; `without` loses a copy.
double by_hand(const KdeModel& model, const DensityRows& rows, const Vector& place, Index without) {
  const bool gaussian = model.spec.kernel == DensityKernel::gaussian;
  std::vector<double> r2(at(rows.count()));
  double nearest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < rows.count(); ++i) {
    double sum = 0;
    for (Index j = 0; j < rows.width(); ++j) {
      const double u = (place(j) - rows.x(i, j)) / model.bandwidth(j);
      sum += u * u;
    }
    r2[at(i)] = sum;
    if (i != without || rows.weight(i) > 1) nearest = std::min(nearest, sum);
  }
  const double shift = gaussian ? nearest : 0;
  double total = 0, lost = 0;
  for (Index i = 0; i < rows.count(); ++i) {
    const double w = i == without ? std::max(rows.weight(i) - 1, 0.0) : rows.weight(i);
    if (w == 0) continue;
    const double value =
        w * (gaussian ? std::exp(-0.5 * (r2[at(i)] - shift)) : kde::profile(model.spec.kernel, r2[at(i)]));
    const double next = total + value;  // Kahan and Neumaier: another sum than the tree's
    lost += total >= value ? (total - next) + value : (value - next) + total;
    total = next;
  }
  double log_volume = kde::log_volume(model.spec.kernel, rows.width());
  for (const double h : model.bandwidth) log_volume += std::log(h);
  const double n = rows.mass - (without >= 0 ? 1 : 0);
  return std::log(total + lost) - 0.5 * shift - log_volume - std::log(n);
}

/// The farthest that a density is from the plain sum, relative to it: at rows of the fit, and midway between each two.
double worst_density(const KdeModel& model, const DensityRows& rows, const kde::Sums& tree,
                     const Execution& execution) {
  const auto chosen = kde::judged_rows(tree, kPlaces);
  const auto n = static_cast<Index>(chosen.size());
  Matrix places(2 * n, rows.width());
  for (Index k = 0; k < n; ++k) {
    const Index next = chosen[at((k + 1) % n)];
    places.row(2 * k) = rows.x.row(chosen[at(k)]);
    places.row(2 * k + 1) = 0.5 * rows.x.row(chosen[at(k)]) + 0.5 * rows.x.row(next);
  }
  Vector apart(2 * n);
  parallel_for(2 * n, execution, [&](Index i) {
    const double said = model.log_density(places.row(i))(0);
    const double found = by_hand(model, rows, places.row(i).transpose(), -1);
    if (found == -std::numeric_limits<double>::infinity()) apart(i) = said == kLogOfNothing ? 0 : 1;
    else apart(i) = std::abs(std::expm1(said - found)) - 1e-15 * std::abs(found);
  });
  return apart.maxCoeff();
}

// ---- the bandwidth ----

/// The value in a place of all copies in ascending order, counted down from the greatest.
double copy_at(const std::vector<std::pair<double, double>>& descending, double place, double mass) {
  double below = mass;
  for (const auto& [value, weight] : descending) {
    below -= weight;
    if (place >= below) return value;
  }
  return descending.back().first;
}

/// The rules that are formulas, from sums about the middle of the column and counts from above.
double formula_again(BandwidthRule rule, const DensityRows& rows, Index column) {
  std::vector<std::pair<double, double>> values;
  for (Index i = 0; i < rows.count(); ++i) values.emplace_back(rows.x(i, column), rows.weight(i));
  std::sort(values.begin(), values.end(), std::greater<>());
  const double n = rows.mass, middle = values[values.size() / 2].first;
  long double sum = 0, squares = 0;
  for (const auto& [value, weight] : values) {
    const long double d = static_cast<long double>(value) - middle;
    sum += weight * d;
    squares += weight * d * d;
  }
  const double sd = static_cast<double>(std::sqrt((squares - sum * sum / n) / (n - 1)));
  const auto quantile = [&](double p) {
    const double place = (n - 1) * p, low = std::floor(place), below = copy_at(values, low, n);
    return below + (place - low) * (copy_at(values, low + 1, n) - below);
  };
  const double range = (quantile(0.75) - quantile(0.25)) / 1.34, robust = range > 0 ? std::min(sd, range) : sd;
  const auto d = static_cast<double>(rows.width());
  const double shrink = std::exp(-std::log(n) / (d + 4));
  switch (rule) {
    case BandwidthRule::rule_of_thumb: return 1.06 * sd * shrink;
    case BandwidthRule::nrd0: return 0.9 * robust * shrink;
    case BandwidthRule::nrd: return 1.06 * robust * shrink;
    case BandwidthRule::silverman: return sd * shrink * std::exp(std::log(4 / (d + 2)) / (d + 4));
    default: return sd * shrink;
  }
}

/// Whether a bandwidth a hundredth wider or narrower makes left-out rows no likelier.
bool is_likeliest_nearby(const KdeModel& model, const DensityRows& rows, const Execution& execution) {
  const kde::Sums tree(rows.x, rows.weight, model.bandwidth, model.spec.kernel);
  const auto judged = kde::judged_rows(tree, std::min<Index>(rows.count(), kAllByHand));
  const auto likelihood = [&](double c) {
    KdeModel other = model;
    other.bandwidth *= c;
    Vector logs(static_cast<Index>(judged.size()));
    parallel_for(logs.size(), execution, [&](Index k) {
      const Index i = judged[at(k)];
      logs(k) = rows.weight(i) * std::max(by_hand(other, rows, rows.x.row(i).transpose(), i), kLogOfNothing);
    });
    return logs.sum();
  };
  const double here = likelihood(1), digits = 1e-9 * (rows.mass + std::abs(here));
  return likelihood(1.01) <= here + digits && likelihood(1 / 1.01) <= here + digits;
}

/// How far the bandwidth is from the one of its rule, relative to it.
double wrong_bandwidth(const KdeModel& model, const DensityRows& rows, const std::vector<std::string>& features,
                       const Execution& execution) {
  const auto* rule = std::get_if<BandwidthRule>(&model.spec.bandwidth);
  if (!rule) return 0;  // the given one, which check() holds it against
  density::require_spread("kde", rows, features, ", or give --bandwidth");
  const double deviation = kde::deviation_of(model.spec.kernel, rows.width());
  if (*rule == BandwidthRule::sheather_jones) {
    if (rows.width() != 1) return 1;
    const kde::PlugIn plug_in(density::SortedColumn(rows, 0));
    const double h = model.bandwidth(0) * deviation, low = h * (1 - 1e-6), high = h * (1 + 1e-6);
    return plug_in.right_side(low) > low && plug_in.right_side(high) < high ? 0 : 1;
  }
  double worst = 0;
  if (*rule == BandwidthRule::likelihood || *rule == BandwidthRule::half_splits) {
    const Vector unit = kde::scott_unit(model.spec.kernel, rows);
    const double c = model.bandwidth(0) / unit(0);
    for (Index j = 0; j < rows.width(); ++j) worst = std::max(worst, std::abs(model.bandwidth(j) / (c * unit(j)) - 1));
    if (*rule == BandwidthRule::likelihood) return is_likeliest_nearby(model, rows, execution) ? worst : 1;
    const Vector expected = kde::bandwidth_of(model.spec, rows, features, execution);
    return std::abs(model.bandwidth(0) / expected(0) - 1) <= 1e-5 ? worst : 1;
  }
  for (Index j = 0; j < rows.width(); ++j) {
    const double expected = formula_again(*rule, rows, j) / deviation;
    worst = std::max(worst, std::abs(model.bandwidth(j) - expected) / expected);
  }
  return worst;
}

/// The rows in the order in which the model keeps them.
DensityRows in_kept_order(const KdeModel& model, DensityRows rows) {
  const auto order = found_again(Points(model.points), Points(rows.x), [&] {
    return Ties{Matrix(model.weights), Matrix(rows.weight)};
  });
  if (!order) return rows;
  rows.x = Matrix(rows.x(*order, Eigen::all));
  rows.weight = Vector(rows.weight(*order));
  return rows;
}

}  // namespace

Certificate certify(const KdeModel& model, const Rows& rows, const Execution& execution) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "densities beside plain sums over all rows";
  out.tolerance = model.spec.tolerance + kRounding;
  out.stopped = "closed form";
  const DensityRows data = in_kept_order(model, density::density_rows(Kde::name, rows, execution.part(0, 0.1)));
  const auto fails = [&](std::string message) {
    out.value = 1;
    out.message = std::move(message);
    return out;
  };
  if (data.count() != model.points.rows() || data.x != model.points || data.weight != model.weights)
    return fails(fmt::format("The rows that the model keeps ({}) are not these ({}).",
                             format_count(model.points.rows()), format_count(data.count())));
  const double off = wrong_bandwidth(model, data, rows.features, execution.part(0.1, 0.5));
  if (!(off <= kRounding)) return fails("The bandwidth is not the one that its rule gives for these rows.");

  const kde::Sums tree(data.x, data.weight, model.bandwidth, model.spec.kernel);
  double log_volume = kde::log_volume(model.spec.kernel, data.width());
  for (const double h : model.bandwidth) log_volume += std::log(h);
  double told = 0;
  if (data.count() <= kAllByHand) {
    Vector logs(data.count());
    parallel_for(data.count(), execution.part(0.5, 0.9), [&](Index i) {
      logs(i) = data.weight(i) * std::max(by_hand(model, data, data.x.row(i).transpose(), i), kLogOfNothing);
    });
    told = logs.sum();
  } else {
    told = kde::left_out_likelihood(tree, data.weight, data.mass, 1, log_volume, KdeModel::kMostJudged,
                                    model.spec.tolerance, execution.part(0.5, 0.9));
  }
  const double apart = std::abs(told - model.loo_log_likelihood) / (data.mass + std::abs(told));
  out.value = std::max({worst_density(model, data, tree, execution.part(0.9, 1)), apart, 0.0});
  out.message = fmt::format(
      "Nothing is maximised: the density is a mean over the kept rows by its definition, the bandwidth the one of its "
      "rule. At {} it is that of plain sums up to {} (allowed {}){}.",
      count_of(2 * std::min(kPlaces, data.count()), "place"), residue_text(out.value, out.tolerance),
      format_significant(out.tolerance, 2),
      out.holds() ? "" : ", or its leave-one-out likelihood is not that of the rows");
  return out;
}

}  // namespace lemma
