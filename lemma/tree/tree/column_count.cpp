// lemma/tree/tree/column_count.cpp
#include <algorithm>
#include <cmath>
#include <lemma/math/radix.hpp>
#include <lemma/tree/tree/column_count.hpp>
#include <lemma/tree/tree/running_median.hpp>
#include <numeric>

namespace lemma::tree {
namespace {

constexpr std::size_t kAllSets = 10;  // categories up to which every set is tried
constexpr std::uint32_t kMissing = 0xffffffffU;

/// A member and the rank of its value among those of the column: equal values have equal ranks.
struct Placed {
  std::uint32_t rank, member;
};

/// One column on its way down the tree.
class ColumnCount {
 public:
  ColumnCount(const TreeModel& model, const Recount& count, Index column, std::vector<SplitCount>& splits)
      : model_(model), count_(count), plan_(count.plan), column_(column), splits_(splits) {
    classes_ = is_of_classes(plan_.criterion) ? at(model.class_count()) : 0;
  }

  void run(const MatrixView& x) {
    std::vector<Placed> all = sorted(x);
    space_.resize(all.size());
    std::vector<std::pair<Index, std::span<Placed>>> waiting{{0, all}};
    while (!waiting.empty()) {
      const auto [node, values] = waiting.back();
      waiting.pop_back();
      if (model_.nodes.is_leaf(node)) continue;
      look_at(node, values);
      const std::size_t left = part(values, count_.nodes[at(node)].middle);
      waiting.emplace_back(model_.nodes.left(node), values.first(left));
      waiting.emplace_back(model_.nodes.right(node), values.subspan(left));
    }
  }

 private:
  /// All members by value, those without one last.
  std::vector<Placed> sorted(const MatrixView& x) {
    std::vector<KeyedRow> keyed;
    std::vector<std::uint32_t> missing;
    keyed.reserve(count_.members.size());
    for (std::size_t m = 0; m < count_.members.size(); ++m) {
      const double value = x(count_.members[m].row, column_);
      const auto member = static_cast<std::uint32_t>(m);
      if (std::isnan(value)) missing.push_back(member);
      else keyed.push_back({key_of(value), member});
    }
    radix_sort(keyed);
    std::vector<Placed> out;
    out.reserve(count_.members.size());
    for (std::size_t i = 0; i < keyed.size(); ++i) {
      if (i == 0 || keyed[i].key != keyed[i - 1].key) values_.push_back(number_of(keyed[i].key));
      out.push_back({static_cast<std::uint32_t>(values_.size() - 1), keyed[i].row});
    }
    for (const std::uint32_t member : missing) out.push_back({kMissing, member});
    return out;
  }
  /// Members before `middle` first, each side in its order; how many they are. Both places are written, and one moves on: which
  /// it is cannot be guessed.
  std::size_t part(std::span<Placed> values, std::size_t middle) {
    std::size_t left = 0, right = 0;
    for (const Placed each : values) {
      const std::size_t to_right = each.member >= middle ? 1 : 0;
      values[left] = each;
      space_[right] = each;
      left += 1 - to_right;
      right += to_right;
    }
    std::copy_n(space_.begin(), right, values.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
  }
  double value_of(const Placed& each) const { return values_[each.rank]; }

  Side empty() const {
    Side out;
    out.counts.assign(classes_, 0.0);
    return out;
  }
  void add(Side& side, const Member& member, double sign = 1) const {
    side.weight += sign * member.weight;
    if (classes_ > 0) {
      const auto k = static_cast<std::size_t>(member.label);
      side.counts[k] += sign * member.weight * (plan_.altered.empty() ? 1.0 : plan_.altered[k]);
      return;
    }
    const double y = member.y - centre_;
    side.sum += sign * member.weight * y;
    side.squares += sign * member.weight * y * y;
    if (plan_.criterion == TreeCriterion::poisson) side.logs += sign * member.weight * x_log_x(member.y);
  }
  void add(Side& side, const Side& other) const {
    side.weight += other.weight;
    side.sum += other.sum;
    side.squares += other.squares;
    side.logs += other.logs;
    for (std::size_t k = 0; k < classes_; ++k) side.counts[k] += other.counts[k];
  }
  /// What the rows of a side leave unsaid, by its definition.
  double unsaid(const Side& side) const {
    if (classes_ == 0) {
      if (!(side.weight > 0)) return 0;
      if (plan_.criterion == TreeCriterion::variance)
        return std::max(0.0, side.squares - side.sum * side.sum / side.weight);
      return side.sum > 0 ? 2 * (side.logs - side.sum * std::log(side.sum / side.weight))
                          : 0;  // counts: the centre is 0
    }
    double all = 0, out = 0, most = 0;
    for (const double n : side.counts) all += n;
    for (const double n : side.counts) {
      if (!(n > 0)) continue;
      if (plan_.criterion == TreeCriterion::gini) out += n * (all - n) / all;
      else if (plan_.criterion == TreeCriterion::entropy) out -= n * std::log(n / all);
      most = std::max(most, n);
    }
    return plan_.criterion == TreeCriterion::misclassification ? all - most : out;
  }
  double mean(const Side& side) const {
    if (classes_ == 0) return centre_ + side.sum / side.weight;
    double sum = 0, all = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      sum += static_cast<double>(k) * side.counts[k];
      all += side.counts[k];
    }
    return sum / all;
  }
  bool is_allowed(double left_weight, double right_weight, double left_value, double right_value,
                  const NodeCount& node) const {
    const double least = plan_.min_leaf * (1 - 1e-9);
    if (left_weight < least || right_weight < least) return false;
    if (plan_.monotone.empty()) return true;
    const int sign = plan_.monotone[at(column_)];
    return std::min(left_value, right_value) >= node.lower && std::max(left_value, right_value) <= node.upper &&
           (sign == 0 || sign * (right_value - left_value) >= 0);
  }

  void look_at(Index node, std::span<const Placed> values) {
    const NodeCount& here = count_.nodes[at(node)];
    centre_ = plan_.criterion == TreeCriterion::poisson ? 0 : here.mean;
    const auto end =
        std::partition_point(values.begin(), values.end(), [](const Placed& v) { return v.rank != kMissing; });
    const std::span<const Placed> present(values.begin(), end), missing(end, values.end());
    if (static_cast<Index>(model_.nodes[node].column) == column_) count_own(node, present, missing);
    if (present.size() < 2) return;
    const bool both = plan_.missing == TreeMissing::direction && !missing.empty();
    double best = 0;
    for (const bool left : {false, true}) {
      if (left && !both) break;
      if (count_.plain_classes && model_.nodes.levels[at(column_)] == 0 && missing.empty())
        best = std::max(best, by_counts_of_two(here, present));
      else if (classes_ > 0 && model_.nodes.levels[at(column_)] == 0)
        best = std::max(best, by_classes(here, present, missing, both, left));
      else if (plan_.criterion == TreeCriterion::absolute)
        best = std::max(best, by_median(here, present, missing, both, left));
      else if (model_.nodes.levels[at(column_)] > 0) best = std::max(best, by_sets(here, present, missing, both, left));
      else best = std::max(best, by_thresholds(here, present, missing, both, left));
    }
    splits_[at(node)].best = std::max(splits_[at(node)].best, best);
  }

  /// The split that the node has.
  void count_own(Index node, std::span<const Placed> present, std::span<const Placed> missing) {
    SplitCount& out = splits_[at(node)];
    const TreeNode& asks = model_.nodes[node];
    Side left = empty(), right = empty();
    RunningMedian medians[3];
    out.low = -std::numeric_limits<double>::infinity();
    out.high = -out.low;
    if (asks.categories) out.seen.assign(static_cast<std::size_t>(model_.nodes.levels[asks.column]), 0);
    const auto put = [&](const Member& member, bool to_left) {
      add(to_left ? left : right, member);
      if (plan_.criterion != TreeCriterion::absolute) return;
      medians[0].add(member.y, member.weight);
      medians[to_left ? 1 : 2].add(member.y, member.weight);
    };
    for (const Placed& each : present) {
      const double value = value_of(each);
      const bool to_left = model_.nodes.goes_left(asks, value);
      if (asks.categories) out.seen[static_cast<std::size_t>(value)] = 1;
      else if (to_left) out.low = std::max(out.low, value);
      else out.high = std::min(out.high, value);
      put(count_.members[each.member], to_left);
    }
    out.left_weight = left.weight;
    out.right_weight = right.weight;
    if (plan_.missing == TreeMissing::direction)
      for (const Placed& each : missing) put(count_.members[each.member], asks.missing_left != 0);
    if (!(left.weight > 0 && right.weight > 0)) return;
    out.left_mean = mean(left);
    out.right_mean = mean(right);
    if (plan_.criterion == TreeCriterion::absolute) {
      out.gain = medians[0].unsaid() - medians[1].unsaid() - medians[2].unsaid();
      out.left_mean = medians[1].median();
      out.right_mean = medians[2].median();
      return;
    }
    Side all = left;
    add(all, right);
    out.gain = unsaid(all) - unsaid(left) - unsaid(right);
  }

  Side sum_of(std::span<const Placed> values) const {
    Side out = empty();
    for (const Placed& each : values) add(out, count_.members[each.member]);
    return out;
  }

  /// What classes leave unsaid, by the definition of each criterion.
  double unsaid(const double* counts) const {
    double all = 0, squares = 0, most = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      all += counts[k];
      squares += counts[k] * counts[k];
      most = std::max(most, counts[k]);
    }
    if (plan_.criterion == TreeCriterion::gini) return all - squares / all;
    if (plan_.criterion == TreeCriterion::misclassification) return all - most;
    double out = 0;
    for (std::size_t k = 0; k < classes_; ++k)
      if (counts[k] > 0) out -= counts[k] * std::log(counts[k] / all);
    return out;
  }
  /// Of two classes of which every row counts 1, by Gini's index: n rows, n₁ of them of the second class, leave 2 n₁ (n − n₁) / n
  /// unsaid, and n is their place.
  double by_counts_of_two(const NodeCount& node, std::span<const Placed> present) const {
    const auto unsaid_of = [](double n, double second) { return second * (n - second) / n; };
    const double n = static_cast<double>(present.size()), second = node.counts[1], least = plan_.min_leaf * (1 - 1e-9);
    const std::uint16_t* const label = count_.label.data();
    double left = 0, left_second = 0, fewest = unsaid_of(n, second);
    const double before = fewest;
    for (std::size_t i = 0; i + 1 < present.size(); ++i) {
      left += 1;
      left_second += label[present[i].member];
      if (present[i].rank == present[i + 1].rank || left < least || n - left < least) continue;
      const double unsaid_both = unsaid_of(left, left_second) + unsaid_of(n - left, second - left_second);
      fewest = unsaid_both < fewest ? unsaid_both : fewest;
    }
    return 2 * (before - fewest);
  }
  /// Of classes, which have few numbers to hold: the same as by_thresholds on plain arrays.
  double by_classes(const NodeCount& node, std::span<const Placed> present, std::span<const Placed> missing,
                    bool with_missing, bool missing_left) {
    counts_.assign(3 * classes_, 0.0);
    double *left = counts_.data(), *right = left + classes_, *all = right + classes_;
    double left_weight = 0, right_weight = 0;
    const auto cost = [&](std::size_t k) { return plan_.altered.empty() ? 1.0 : plan_.altered[k]; };
    const auto put = [&](std::span<const Placed> values, double* side, double& weight) {
      for (const Placed& each : values) {
        const std::size_t k = count_.label[each.member];
        side[k] += count_.weight[each.member] * cost(k);
        weight += count_.weight[each.member];
      }
    };
    put(present, right, right_weight);
    if (with_missing) put(missing, missing_left ? left : right, missing_left ? left_weight : right_weight);
    for (std::size_t k = 0; k < classes_; ++k) all[k] = left[k] + right[k];
    const double before = unsaid(all), least = plan_.min_leaf * (1 - 1e-9);
    const bool constrained = !plan_.monotone.empty();
    double best = 0;
    for (std::size_t i = 0; i + 1 < present.size(); ++i) {
      const std::uint32_t member = present[i].member;
      const std::size_t k = count_.label[member];
      const double w = count_.weight[member], n = w * cost(k);
      left[k] += n;
      right[k] -= n;
      left_weight += w;
      right_weight -= w;
      if (present[i].rank == present[i + 1].rank || left_weight < least || right_weight < least) continue;
      if (constrained &&
          !is_allowed(left_weight, right_weight, left[1] / (left[0] + left[1]), right[1] / (right[0] + right[1]), node))
        continue;
      best = std::max(best, before - unsaid(left) - unsaid(right));
    }
    return best;
  }

  double by_thresholds(const NodeCount& node, std::span<const Placed> present, std::span<const Placed> missing,
                       bool with_missing, bool missing_left) const {
    Side left = empty(), right = sum_of(present);
    if (with_missing) add(missing_left ? left : right, sum_of(missing));
    Side all = left;
    add(all, right);
    const double before = unsaid(all);
    double best = 0;
    for (std::size_t i = 0; i + 1 < present.size(); ++i) {
      const Member& member = count_.members[present[i].member];
      add(left, member);
      add(right, member, -1);
      if (present[i].rank == present[i + 1].rank) continue;
      const bool constrained = !plan_.monotone.empty();
      if (!is_allowed(left.weight, right.weight, constrained ? mean(left) : 0, constrained ? mean(right) : 0, node))
        continue;
      best = std::max(best, before - unsaid(left) - unsaid(right));
    }
    return best;
  }

  /// Every set of few categories, each added up; of many those that the order of their means begins, or one against the rest. Where a
  /// leaf must have several rows that order is what counts for two classes and numbers, as in rpart: a set out of it can be better only
  /// because the better ones in it are too small.
  double by_sets(const NodeCount& node, std::span<const Placed> present, std::span<const Placed> missing,
                 bool with_missing, bool missing_left) const {
    std::vector<Side> lots;
    for (std::size_t i = 0; i < present.size(); ++i) {
      if (i == 0 || present[i].rank != present[i - 1].rank) lots.push_back(empty());
      add(lots.back(), count_.members[present[i].member]);
    }
    const Side rest = with_missing ? sum_of(missing) : empty();
    double best = 0;
    const auto attempt = [&](const auto& is_left) {
      Side left = empty(), right = empty();
      for (std::size_t k = 0; k < lots.size(); ++k) add(is_left(k) ? left : right, lots[k]);
      if (with_missing) add(missing_left ? left : right, rest);
      if (!is_allowed(left.weight, right.weight, mean(left), mean(right), node)) return;
      Side all = left;
      add(all, right);
      best = std::max(best, unsaid(all) - unsaid(left) - unsaid(right));
    };
    if (lots.size() <= kAllSets && (classes_ > 2 || plan_.min_leaf <= 1)) {
      for (std::uint32_t set = 1; set + 1 < 1U << lots.size(); ++set)
        attempt([&](std::size_t k) { return (set >> k & 1U) != 0; });
    } else if (classes_ > 2) {
      for (std::size_t one = 0; one < lots.size(); ++one) attempt([&](std::size_t k) { return k == one; });
    } else {
      std::vector<std::size_t> order(lots.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return mean(lots[a]) < mean(lots[b]); });
      std::vector<Side> after(lots.size() + 1, empty());  // what is right of each place
      if (with_missing && !missing_left) after.back() = rest;
      for (std::size_t k = lots.size(); k-- > 0;) {
        after[k] = after[k + 1];
        add(after[k], lots[order[k]]);
      }
      Side left = with_missing && missing_left ? rest : empty();
      Side all = left;
      add(all, after[0]);
      for (std::size_t k = 0; k + 1 < lots.size(); ++k) {
        add(left, lots[order[k]]);
        const Side& right = after[k + 1];
        if (is_allowed(left.weight, right.weight, mean(left), mean(right), node))
          best = std::max(best, unsaid(all) - unsaid(left) - unsaid(right));
      }
    }
    return best;
  }

  /// What either side leaves unsaid about its median, from both ends.
  double by_median(const NodeCount& node, std::span<const Placed> present, std::span<const Placed> missing,
                   bool with_missing, bool missing_left) const {
    std::vector<Placed> order(present.begin(), present.end());
    const bool categories = model_.nodes.levels[at(column_)] > 0;
    if (categories) {  // in the order of their medians
      std::vector<std::pair<double, double>> medians;
      for (std::size_t i = 0, j; i < order.size(); i = j) {
        std::vector<std::pair<double, double>> lot;
        for (j = i; j < order.size() && order[j].rank == order[i].rank; ++j)
          lot.emplace_back(count_.members[order[j].member].y, count_.members[order[j].member].weight);
        const double median = weighted_median(lot);
        for (std::size_t k = i; k < j; ++k) medians.emplace_back(median, value_of(order[k]));
      }
      std::vector<std::size_t> place(order.size());
      std::iota(place.begin(), place.end(), std::size_t{0});
      std::stable_sort(place.begin(), place.end(), [&](auto a, auto b) { return medians[a] < medians[b]; });
      std::vector<Placed> sorted;
      for (const std::size_t each : place) sorted.push_back(order[each]);
      order = std::move(sorted);
    }
    const std::size_t n = order.size();
    std::vector<double> unsaid_left(n), value_left(n), unsaid_right(n), value_right(n), weight_left(n), weight_right(n);
    const auto walk = [&](bool from_left, auto& unsaid_of, auto& value_of, auto& weight_of) {
      RunningMedian median;
      double weight = 0;
      const auto put = [&](const Member& member) {
        median.add(member.y, member.weight);
        weight += member.weight;
      };
      if (with_missing && missing_left == from_left)
        for (const Placed& each : missing) put(count_.members[each.member]);
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = from_left ? k : n - 1 - k;
        put(count_.members[order[i].member]);
        unsaid_of[i] = median.unsaid();
        value_of[i] = median.median();
        weight_of[i] = weight;
      }
    };
    walk(true, unsaid_left, value_left, weight_left);
    walk(false, unsaid_right, value_right, weight_right);
    RunningMedian all;
    for (const Placed& each : order) all.add(count_.members[each.member].y, count_.members[each.member].weight);
    for (const Placed& each : missing)
      if (with_missing) all.add(count_.members[each.member].y, count_.members[each.member].weight);
    double best = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (order[i].rank == order[i + 1].rank) continue;
      if (!is_allowed(weight_left[i], weight_right[i + 1], value_left[i], value_right[i + 1], node)) continue;
      best = std::max(best, all.unsaid() - unsaid_left[i] - unsaid_right[i + 1]);
    }
    return best;
  }

  const TreeModel& model_;
  const Recount& count_;
  const Plan& plan_;
  Index column_;
  std::vector<SplitCount>& splits_;
  std::size_t classes_ = 0;
  double centre_ = 0;
  std::vector<double> values_;  // by rank
  std::vector<Placed> space_;
  std::vector<double> counts_;
};

}  // namespace

void count_column(const TreeModel& model, const Recount& count, Index column, const MatrixView& x,
                  std::vector<SplitCount>& splits) {
  ColumnCount(model, count, column, splits).run(x);
}

}  // namespace lemma::tree
