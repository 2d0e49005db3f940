// lemma/tree/shared/worth.cpp
#include <algorithm>
#include <bit>
#include <lemma/tree/shared/worth.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kExactly = 1e-12;  // half of the weight, to rounding

}  // namespace

void MedianSides::Side::clear(std::size_t size) {
  weights.assign(size + 1, 0.0);
  sums.assign(size + 1, 0.0);
  weight = sum = 0;
}

void MedianSides::Side::add(const MedianSides& of, std::uint32_t row, double sign) {
  const double w = sign * of.ground_->weight_of(row), y = of.ground_->data->y[row];
  weight += w;
  sum += w * y;
  for (std::size_t i = of.rank_[row]; i < weights.size(); i += i & (~i + 1)) {
    weights[i] += w;
    sums[i] += w * y;
  }
}

MedianSides::Side::Half MedianSides::Side::half(const MedianSides& of) const {
  const double target = weight / 2;
  std::size_t place = 0;
  double below = 0, below_sum = 0;
  for (std::size_t step = std::bit_floor(weights.size() - 1); step > 0; step /= 2)
    if (place + step < weights.size() && below + weights[place + step] < target - kExactly * weight) {
      place += step;
      below += weights[place];
      below_sum += sums[place];
    }
  return {of.y_[std::min(place + 1, of.y_.size() - 1)], below, below_sum};
}

double MedianSides::Side::unsaid(const MedianSides& of) const {
  if (!(weight > 0)) return 0;
  const Half at = half(of);
  return std::max(0.0, (at.value * at.weight - at.sum) + ((sum - at.sum) - at.value * (weight - at.weight)));
}

void MedianSides::begin(const NodeTotals&, std::span<const RankedRow> present, std::span<const RankedRow> missing,
                        bool) {
  std::vector<std::uint32_t> rows;
  for (const auto& part : {present, missing})
    for (const RankedRow& each : part) rows.push_back(each.row);
  const auto& y = ground_->data->y;
  std::sort(rows.begin(), rows.end(), [&](auto a, auto b) { return y[a] < y[b]; });
  y_.assign(1, 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || y[rows[i]] != y_.back() || y_.size() == 1) y_.push_back(y[rows[i]]);
    rank_[rows[i]] = static_cast<std::uint32_t>(y_.size() - 1);
  }
  left_.clear(y_.size() - 1);
  right_.clear(y_.size() - 1);
  for (const RankedRow& each : present) right_.add(*this, each.row, 1);
}

double MedianSides::score(const Lot& lot) const {
  std::vector<std::pair<double, double>> all;
  for (const std::uint32_t row : lot.rows) all.emplace_back(ground_->data->y[row], ground_->weight_of(row));
  return weighted_median(std::move(all));
}

double weighted_median(std::vector<std::pair<double, double>> all) {
  std::sort(all.begin(), all.end());
  double weight = 0, below = 0;
  for (const auto& each : all) weight += each.second;
  for (std::size_t i = 0; i < all.size(); ++i) {
    below += all[i].second;
    if (below < weight / 2 - kExactly * weight) continue;
    const bool exactly = below <= weight / 2 + kExactly * weight && i + 1 < all.size();
    return exactly ? std::midpoint(all[i].first, all[i + 1].first) : all[i].first;
  }
  return all.empty() ? 0 : all.back().first;
}

}  // namespace lemma
