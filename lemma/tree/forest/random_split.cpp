// lemma/tree/forest/random_split.cpp: splits drawn at random, the best of which is taken.
#include <algorithm>
#include <cmath>
#include <lemma/tree/forest/sides.hpp>
#include <limits>

namespace lemma::forest {
namespace {

/// Two columns often part the few rows of a node alike. Which of two such splits is taken must not hang on the order in which their
/// sums were added up: of numbers in units of their deviation the first of equals stays.
constexpr double kRounding = 1e-12;

}  // namespace

/// Of a large node the ranks, which say as much and are read straight on.
bool SplitSearch::gather_values(std::span<const Item> items, Index column) {
  by_rank_ = ForestRows::is_large(items.size());
  if (by_rank_) {
    const bool differ = gather(items, column);
    if (missing_.size() == items.size()) return false;
    low_ = data_.low[at(column)][least_];
    high_ = data_.low[at(column)][greatest_];
    return differ;
  }
  value_.resize(items.size());
  missing_.clear();
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  const double* const values = data_.values.data() + column;
  const auto width = at(data_.width);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const double value = values[std::size_t{items[i].row} * width];
    value_[i] = value;
    lowest = value < lowest ? value : lowest;
    highest = value > highest ? value : highest;
    if (std::isnan(value)) [[unlikely]]
      missing_.push_back(static_cast<std::uint32_t>(i));
  }
  low_ = lowest;
  high_ = highest;
  return missing_.size() < items.size() && (low_ < high_ || !missing_.empty());
}

/// A threshold anywhere between the least and the greatest value, each place equally likely.
template <class Sides>
void SplitSearch::cut_at_random(std::span<const Item> items, const Totals& totals, Index column, Split& out) {
  const auto counted = [this](const Item& item) { return copies(item); };
  Sides sides(totals, counts_);
  Candidates candidates{totals.copies, put_apart(sides, items, missing_, counted), plan_.min_leaf, 0, out.worth};
  if (data_.classes == 0) candidates.margin = kRounding * totals.w;
  const bool all = !(low_ < high_);  // what is missing against what is not
  for (int trial = 0; trial < plan_.random_cuts; ++trial) {
    double threshold = high_ - draw_.random().uniform() * (high_ - low_);
    if (!(threshold > low_)) threshold = high_;
    if (all) threshold = std::numeric_limits<double>::max();
    if (trial > 0) sides.start_again();
    const auto take = [&](const auto& way) {
      sides.move_all(items, way);
      candidates.left = sides.left_weight();
      if (data_.factor.empty()) return;
      candidates.left = 0;
      for (std::size_t i = 0; i < items.size(); ++i) candidates.left += way(i) * copies(items[i]);
    };
    candidates.right_too = !all;
    if (by_rank_) {
      const std::uint32_t cut = rank_from(column, threshold);
      take([&](std::size_t i) { return rank_[i] < cut ? 1.0 : 0.0; });
    } else {
      take([&](std::size_t i) { return value_[i] < threshold ? 1.0 : 0.0; });
    }
    const int way = candidates.consider(sides);
    if (way == 0) continue;
    out.worth = candidates.best;
    out.column = column;
    out.missing_left = way == 2;
    out.threshold = threshold;
    out.cut = kMissing;
  }
}

/// Each category that is here goes left or right, and so does, as one more, what is missing or not here.
template <class Sides>
void SplitSearch::part_at_random(std::span<const Item> items, const Totals& totals, Index column, Split& out) {
  const auto counted = [this](const Item& item) { return copies(item); };
  codes_.assign(rank_.begin(), rank_.end());
  std::sort(codes_.begin(), codes_.end());
  codes_.erase(std::unique(codes_.begin(), codes_.end()), codes_.end());
  if (codes_.back() == kMissing) codes_.pop_back();
  Sides sides(totals, counts_);
  Candidates candidates{totals.copies, put_apart(sides, items, missing_, counted), plan_.min_leaf, 0, out.worth};
  if (data_.classes == 0) candidates.margin = kRounding * totals.w;
  std::vector<bool> left(at(data_.levels[at(column)]), false);
  for (int trial = 0; trial < plan_.random_cuts; ++trial) {
    std::size_t count = 0;
    do {  // not all on one side
      count = 0;
      for (const std::uint32_t code : codes_) {
        left[code] = (draw_.random().bits() & 1) != 0;
        count += left[code] ? 1 : 0;
      }
    } while (codes_.size() > 1 && (count == 0 || count == codes_.size()));
    candidates.right_too = codes_.size() > 1;
    if (!candidates.right_too) left[codes_[0]] = true;
    if (trial > 0) sides.start_again();
    candidates.left = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (rank_[i] != kMissing && left[rank_[i]]) {
        sides.move(items[i]);
        candidates.left += copies(items[i]);
      }
    const int way = candidates.consider(sides);
    if (way == 0) continue;
    out.worth = candidates.best;
    out.column = column;
    out.missing_left = way == 2;
    out.left.clear();
    std::size_t next = 0;
    for (std::uint32_t code = 0; code < left.size(); ++code) {
      const bool here = next < codes_.size() && codes_[next] == code;
      if (here) ++next;
      if (here ? left[code] : out.missing_left) out.left.push_back(code);
    }
  }
}

template void SplitSearch::cut_at_random<MeanSides>(std::span<const Item>, const Totals&, Index, Split&);
template void SplitSearch::cut_at_random<ClassSides>(std::span<const Item>, const Totals&, Index, Split&);
template void SplitSearch::part_at_random<MeanSides>(std::span<const Item>, const Totals&, Index, Split&);
template void SplitSearch::part_at_random<ClassSides>(std::span<const Item>, const Totals&, Index, Split&);

}  // namespace lemma::forest
