// lemma/tree/tree/search.hpp: the best split of a node on one column, by whichever criterion.
#pragma once
#include <algorithm>
#include <bit>
#include <lemma/tree/tree/grow.hpp>
#include <numeric>

namespace lemma::tree {

inline constexpr double kTie = 1e-9;  // a gain is greater only by more than this share: the first of equals stays
inline constexpr std::size_t kExhaustive =
    10;  // categories whose sets are all tried, where no order is known to be best

struct Candidate {
  Index column = -1;
  double gain = 0;
  std::uint32_t low = 0;                    // of numbers: the last rank that goes left
  std::uint32_t low_row = 0, high_row = 0;  // and a row on either side, nearest to the threshold
  Sides sides;                              // of categories
  bool turned = false, missing_left = true;
};

/// What every column of a node is searched by.
struct Wanted {
  const Plan& plan;
  const Grown& node;
  double floor;  // a gain below it is rounding
  double min_leaf() const { return plan.min_leaf * (1 - 1e-9); }
};

template <class Criterion>
class ColumnSearch {
 public:
  ColumnSearch(Criterion& criterion, const Wanted& wanted, Index column, int levels, std::span<const RankedRow> rows)
      : c_(criterion), wanted_(wanted), column_(column), levels_(levels) {
    std::size_t present = rows.size();
    if (!rows.empty() && rows.back().is_missing())
      present = static_cast<std::size_t>(
          std::partition_point(rows.begin(), rows.end(), [](const RankedRow& each) { return !each.is_missing(); }) -
          rows.begin());
    present_ = rows.first(present);
    missing_ = rows.subspan(present);
    sign_ = wanted.plan.monotone.empty() ? 0 : wanted.plan.monotone[at(column)];
    constrained_ = !wanted.plan.monotone.empty();
  }

  Candidate best() {
    if (present_.size() < 2 || present_.front().rank == present_.back().rank) return {};
    limit_ = wanted_.floor;
    if (wanted_.plan.missing == TreeMissing::direction && !missing_.empty()) {
      pass(false, true);
      pass(true, true);
    } else {
      pass(false, false);
    }
    return std::move(found_);
  }

 private:
  /// One way through the column; with missing values on one side where they take part.
  void pass(bool missing_left, bool with_missing) {
    c_.begin(wanted_.node.totals, present_, missing_, missing_.empty());
    if (with_missing)
      for (const RankedRow& each : missing_) c_.add_right(each.row);
    base_ = c_.worth();
    if (missing_left)
      for (const RankedRow& each : missing_) c_.move(each.row);
    missing_left_ = missing_left;
    with_missing_ = with_missing;
    if (levels_ == 0) numbers();
    else categories();
  }

  bool is_better(double& gain) {
    gain = c_.worth() - base_;
    if (!(gain > limit_)) return false;
    if (constrained_ && !is_allowed()) return false;
    limit_ = gain * (1 + kTie);
    return true;
  }
  bool is_allowed() const {
    const double l = c_.left_value(), r = c_.right_value(), low = wanted_.node.lower, high = wanted_.node.upper;
    return std::min(l, r) >= low && std::max(l, r) <= high && (sign_ == 0 || sign_ * (r - l) >= 0);
  }
  bool big_enough() const { return c_.left_weight() >= wanted_.min_leaf() && c_.right_weight() >= wanted_.min_leaf(); }
  void keep(double gain) {
    found_.column = column_;
    found_.gain = gain;
    found_.turned = !c_.left_is_lower();
    found_.missing_left = with_missing_ ? missing_left_ : c_.left_weight() >= c_.right_weight();
  }

  void numbers() {
    const double least = wanted_.min_leaf();
    for (std::size_t i = 0; i + 1 < present_.size(); ++i) {
      c_.move(present_[i].row);
      if (present_[i].rank == present_[i + 1].rank || c_.left_weight() < least) continue;
      if (c_.right_weight() < least) break;
      double gain;
      if (!is_better(gain)) continue;
      keep(gain);
      found_.low = present_[i].rank;
      found_.low_row = present_[i].row;
      found_.high_row = present_[i + 1].row;
    }
  }

  void categories() {
    lots_.clear();
    codes_.clear();
    for (const RankedRow& each : present_) {
      if (codes_.empty() || codes_.back() != each.rank) {
        codes_.push_back(each.rank);
        lots_.push_back(c_.lot());
      }
      c_.add(lots_.back(), each.row);
    }
    if (c_.order_is_best() || !Criterion::kExhaustive) ordered();
    else if (lots_.size() <= kExhaustive) all_sets();
    else one_against_the_rest();
  }
  /// Sets that begin the order of the categories by their means.
  void ordered() {
    std::vector<std::size_t> order(lots_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> score;
    for (const auto& lot : lots_) score.push_back(c_.score(lot));
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score[a] < score[b]; });
    std::size_t best = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      c_.move(lots_[order[i]], 1);
      double gain;
      if (!big_enough() || !is_better(gain)) continue;
      keep(gain);
      best = i + 1;
    }
    if (best == 0) return;
    std::vector<bool> left(lots_.size(), false);
    for (std::size_t i = 0; i < best; ++i) left[order[i]] = true;
    keep_sides(left);
  }
  /// Each set by one move from the last (Gray's code); the last category is always on the right.
  void all_sets() {
    std::uint32_t set = 0, best = 0;
    for (std::uint32_t step = 1; step < 1U << (lots_.size() - 1); ++step) {
      const auto which = static_cast<std::size_t>(std::countr_zero(step));
      set ^= 1U << which;
      c_.move(lots_[which], (set >> which & 1U) != 0 ? 1 : -1);
      double gain;
      if (!big_enough() || !is_better(gain)) continue;
      keep(gain);
      best = set;
    }
    if (best == 0) return;
    std::vector<bool> left(lots_.size(), false);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = (best >> i & 1U) != 0;
    keep_sides(left);
  }
  void one_against_the_rest() {
    std::size_t best = lots_.size();
    for (std::size_t i = 0; i < lots_.size(); ++i) {
      c_.move(lots_[i], 1);
      double gain;
      if (big_enough() && is_better(gain)) {
        keep(gain);
        best = i;
      }
      c_.move(lots_[i], -1);
    }
    if (best == lots_.size()) return;
    std::vector<bool> left(lots_.size(), false);
    left[best] = true;
    keep_sides(left);
  }
  /// Of sets the one with the lower mean is left, so that they need not be turned.
  void keep_sides(const std::vector<bool>& left) {
    found_.sides.assign(at(levels_), 0);
    for (std::size_t i = 0; i < codes_.size(); ++i) found_.sides[codes_[i]] = left[i] != found_.turned ? -1 : 1;
    if (found_.turned) found_.missing_left = !found_.missing_left;
    found_.turned = false;
  }

  Criterion& c_;
  const Wanted& wanted_;
  Index column_;
  int levels_, sign_ = 0;
  bool constrained_ = false, missing_left_ = false, with_missing_ = false;
  double base_ = 0, limit_ = 0;
  std::span<const RankedRow> present_, missing_;
  std::vector<typename Criterion::Lot> lots_;
  std::vector<std::uint32_t> codes_;
  Candidate found_;
};

/// A column that sends rows where the split sends them. `went`: of each row 0 left, 1 right, else it has no part in this.
/// `total_left`, `total_right`: the weight that the split sends there.
Surrogate find_surrogate(const SplitGround& ground, Index column, std::span<const RankedRow> rows,
                         const std::vector<std::uint8_t>& went, double total_left, double total_right);

}  // namespace lemma::tree
