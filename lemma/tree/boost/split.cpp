// lemma/tree/boost/split.cpp
#include <algorithm>
#include <cmath>
#include <lemma/tree/boost/split.hpp>
#include <optional>

namespace lemma::boost {
namespace {

constexpr int kFewLevels = 4;        // of so many categories the order of means is taken as it is
constexpr double kRounding = 1e-12;  // of the gains that are compared

/// A side of a split in units of the loss.
struct Side {
  double g, h;
};

/// The first and the last `most` as if all were sorted; where those between them stand does not matter.
void sort_ends(std::vector<std::pair<double, int>>& ranked, int most) {
  if (2 * most >= static_cast<int>(ranked.size())) return std::sort(ranked.begin(), ranked.end());
  const auto low = ranked.begin() + most, high = ranked.end() - most;
  std::nth_element(ranked.begin(), low, ranked.end());
  std::nth_element(low, high, ranked.end());
  std::sort(ranked.begin(), low);
  std::sort(high, ranked.end());
}

/// One column of a node.
template <class Entry>
class Column {
 public:
  Column(const BinnedColumn& column, const Entry* entries, const Question& question, const SplitRules& rules,
         int direction)
      : column_(column), entries_(entries), question_(question), rules_(rules), direction_(direction), l2_(rules.l2) {
    bounded_ = !rules.direction.empty();
  }

  struct Best {
    double gain = 0;
    int bin = -1;  // numbers: the last that goes left; categories: how many of the order go left, from one end
    bool missing_left = false, from_above = false, sure = true;
    Side left{}, right{};
  };

  /// `weights`: of the rows in each bin; none: as far as curvature tells.
  Best of_numbers(const double* weights) {
    weights_ = weights;
    const Sums missing = column_.has_missing ? entries_[column_.missing()].sums() : Sums{};
    const double weight_missing = weights && column_.has_missing ? weights[column_.missing()] : 0;
    const bool two_ways = missing.g != 0 || missing.h != 0;
    Sums below;
    double weight = 0;
    const int last = two_ways ? column_.values() : column_.values() - 1;
    for (int b = 0; b < last; ++b) {
      const Sums entry = entries_[b].sums();
      below = below + entry;
      if (weights) weight += weights[b];
      if (entry.h == 0 && entry.g == 0) continue;  // nothing new
      look(below, weight, b, false, false);
      if (two_ways && b + 1 < column_.values()) look(below + missing, weight + weight_missing, b, true, false);
    }
    return best_;
  }

  /// Categories in the order of their own steps. Any set of them that is best is a beginning or an end of that order (Fisher).
  /// One of few rows says little of itself and stays right; how many rows it has is told by its share of the curvature.
  Best of_categories(const double* weights, std::vector<int>& order) {
    weights_ = weights;
    const bool few = column_.bins() <= kFewLevels;
    if (!few) l2_ += rules_.category_l2;
    const double smoothing = few ? 0.0 : rules_.category_smoothing;
    const double least = few ? 0.0 : (1 - kRounding) * rules_.category_rows * side(question_.sums).h / question_.weight;
    std::vector<std::pair<double, int>> ranked;
    for (int b = 0; b < column_.bins(); ++b) {
      const Sums sums = entries_[b].sums();
      if (sums.h <= 0) continue;
      const Side own = side(sums);
      if (own.h < least) continue;
      ranked.emplace_back(own.g / (own.h + smoothing), b);
    }
    const int count = static_cast<int>(ranked.size()), most = std::min(count, rules_.category_levels);
    sort_ends(ranked, most);
    order.clear();
    for (const auto& each : ranked) order.push_back(each.second);
    for (const bool from_above : {false, true}) {
      Sums taken;
      double weight = 0;
      for (int k = 0; k < most; ++k) {
        const int b = order[static_cast<std::size_t>(from_above ? count - 1 - k : k)];
        taken = taken + entries_[b].sums();
        if (weights) weight += weights[b];
        look(taken, weight, k + 1, false, from_above);
      }
    }
    return best_;
  }
  double l2() const { return l2_; }
  double step(const Side& at) const {
    return std::clamp(rules_.loss.step(at.g, at.h, rules_.l1, l2_), question_.low, question_.high);
  }

 private:
  Side side(const Sums& sums) const {
    return {static_cast<double>(sums.g) * rules_.unit_g, static_cast<double>(sums.h) * rules_.unit_h};
  }
  double gain_of(const Side& at) const {
    if (!bounded_) return Loss::gain(at.g, at.h, rules_.l1, l2_);
    const double v = step(at);
    return -(at.g * v + 0.5 * (at.h + l2_) * v * v + rules_.l1 * std::abs(v));
  }
  void look(const Sums& taken, double weight, int bin, bool missing_left, bool from_above) {
    const Side left = side(taken), right = side(question_.sums - taken);
    if (!(left.h >= rules_.min_hessian && right.h >= rules_.min_hessian && left.h > 0 && right.h > 0)) return;
    bool sure = true;
    if (weights_) {
      if (!total_) total_ = total_weight();
      if (weight < rules_.min_rows || *total_ - weight < rules_.min_rows) return;
    } else {
      const double least = rules_.min_rows * rules_.largest_curvature;
      if (std::min(left.h, right.h) < least) {
        if (rules_.loss.has_unit_curvature()) return;
        sure = false;
      }
    }
    const double before = gain_of(side(question_.sums)), of_left = gain_of(left), of_right = gain_of(right);
    const double gain = of_left + of_right - before;
    if (!(gain > best_.gain && gain > rules_.min_gain && gain > kRounding * (of_left + of_right))) return;
    if (direction_ != 0 && direction_ * (step(right) - step(left)) < 0) return;
    best_ = {gain, bin, missing_left, from_above, sure, left, right};
  }
  double total_weight() const {
    double sum = 0;
    for (int b = 0; b < column_.bins(); ++b) sum += weights_[b];
    return sum;
  }

  const BinnedColumn& column_;
  const Entry* entries_;
  const Question& question_;
  const SplitRules& rules_;
  int direction_;
  double l2_;
  bool bounded_ = false;
  const double* weights_ = nullptr;
  std::optional<double> total_;
  Best best_;
};

void write_left(const BinnedColumn& column, const std::vector<int>& order, int bin, bool missing_left, bool from_above,
                std::vector<std::uint8_t>& left) {
  left.assign(static_cast<std::size_t>(column.values()) + 1, 0);
  if (column.levels > 0) {
    const int count = static_cast<int>(order.size());
    for (int k = 0; k < bin; ++k)
      left[static_cast<std::size_t>(order[static_cast<std::size_t>(from_above ? count - 1 - k : k)])] = 1;
  } else {
    for (int b = 0; b <= bin; ++b) left[static_cast<std::size_t>(b)] = 1;
    left[static_cast<std::size_t>(column.missing())] = missing_left ? 1 : 0;
  }
}

}  // namespace

template <class Entry>
Split best_split(const BinnedRows& rows, std::span<const Entry> histogram, const Question& question,
                 const SplitRules& rules) {
  Split out;
  std::vector<int> order;
  for (Index j = 0; j < std::ssize(rows.columns); ++j) {
    const BinnedColumn& about = rows.columns[at(j)];
    if (about.is_constant() || (question.allowed && !(*question.allowed)[at(j)])) continue;
    const int direction = rules.direction.empty() ? 0 : rules.direction[at(j)];
    const Entry* const entries = histogram.data() + about.first;
    const auto look = [&](const double* weights) {
      Column<Entry> column(about, entries, question, rules, direction);
      const auto best = about.levels > 0 ? column.of_categories(weights, order) : column.of_numbers(weights);
      if (!(best.gain > out.gain)) return true;
      if (!best.sure) return false;
      out.gain = best.gain;
      out.column = j;
      out.bin = best.bin;
      out.left_step = column.step(best.left);
      out.right_step = column.step(best.right);
      write_left(about, order, best.bin, best.missing_left, best.from_above, out.left);
      out.missing_left = out.left.back() != 0;
      return true;
    };
    if (!look(nullptr)) look(question.weights(j).data());
  }
  return out;
}

template Split best_split(const BinnedRows&, std::span<const Packed>, const Question&, const SplitRules&);
template Split best_split(const BinnedRows&, std::span<const Exact>, const Question&, const SplitRules&);

}  // namespace lemma::boost
