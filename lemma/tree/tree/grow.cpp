// lemma/tree/tree/grow.cpp
#include <lemma/core/asking.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/progress.hpp>
#include <lemma/tree/tree/search.hpp>

namespace lemma::tree {
namespace {

constexpr std::size_t kWide = 8192;  // rows from which the columns of a node are searched on several threads
constexpr std::uint8_t kLeft = 0, kRight = 1, kUndecided = 2;

double floor_of(const Grown& node, const Plan& plan) {
  return is_of_classes(plan.criterion) ? 1e-12 * node.totals.weight : 1e-10 * node.risk;
}

bool is_pure(const Grown& node, const Plan& plan) {
  if (!is_of_classes(plan.criterion)) return node.least == node.most;
  const auto& counts = node.totals.counts;
  return *std::max_element(counts.begin(), counts.end()) >= plan.purity * node.totals.weight;
}

/// What ends the growth before any split is looked at.
bool is_final(const Grown& node, const Plan& plan) {
  return node.depth >= plan.depth || node.totals.weight < plan.min_split * (1 - 1e-9) || node.risk <= plan.alpha ||
         node.totals.weight < 2 * plan.min_leaf * (1 - 1e-9) || is_pure(node, plan);
}

/// Children keep to the side of the middle between them that a monotone column gives them.
void bound(const Grown& parent, Grown& left, Grown& right, const Plan& plan) {
  left.lower = right.lower = parent.lower;
  left.upper = right.upper = parent.upper;
  if (plan.monotone.empty()) return;
  const int sign = plan.monotone[at(parent.column)];
  if (sign == 0) return;
  const double middle = std::midpoint(std::clamp(left.value, parent.lower, parent.upper),
                                      std::clamp(right.value, parent.lower, parent.upper));
  (sign > 0 ? left : right).upper = middle;
  (sign > 0 ? right : left).lower = middle;
}

/// Some rows of each column, wherever they lie.
struct Segment {
  std::vector<RankedRow*> first;  // of each column
  std::size_t size = 0;
  std::span<RankedRow> rows(Index column) const { return {first[at(column)], size}; }
};

template <class Criterion>
class Grower {
 public:
  /// `order`: of each column the rows that take part, by rank.
  Grower(const RankedColumns& data, std::vector<std::vector<RankedRow>> order, const Plan& plan,
         const Execution& execution)
      : data_(data), plan_(plan), execution_(execution), went_(at(data.rows()), kUndecided), order_(std::move(order)) {
    ground_.data = &data;
    ground_.weight = data.weight;
    ground_.cost = plan.altered;
  }

  GrownTree grow() {
    Segment all;
    for (auto& each : order_) all.first.push_back(each.data());
    all.size = order_.front().size();
    require(all.size > 0, "tree: there are no rows to grow on");
    tree_.emplace_back();
    add_up(tree_[0], all.rows(0), ground_, plan_);
    root_weight_ = tree_[0].totals.weight;
    if (plan_.missing == TreeMissing::fractions) {
      require(!plan_.leaves, "tree: a number of leaves is not taken together with missing values by fractions");
      if (ground_.weight.empty()) ground_.weight.assign(at(data_.rows()), 1.0);
      std::vector<Criterion> criteria(1, Criterion(ground_));
      grow_in_fractions(0, all, criteria[0]);
    } else if (plan_.leaves) {
      grow_best_first(all);
    } else {
      grow_down(all);
    }
    return std::move(tree_);
  }

 private:
  struct Place {
    std::int32_t node;
    Segment rows;
    Candidate split;
  };

  // ---- One node ----

  Candidate search_column(Criterion& criterion, const Wanted& wanted, Index j, const Segment& rows) const {
    return ColumnSearch<Criterion>(criterion, wanted, j, data_.levels[at(j)], rows.rows(j)).best();
  }
  static void take_better(Candidate& best, Candidate&& other) {
    if (other.column >= 0 && other.gain > best.gain * (1 + kTie)) best = std::move(other);
  }
  /// The first of the best, column after column: on one thread with one criterion, or on several with one for each column.
  Candidate search(const Grown& node, const Segment& rows, std::vector<Criterion>& criteria) const {
    Candidate best;
    if (is_final(node, plan_)) return best;
    const Wanted wanted{plan_, node, std::max(floor_of(node, plan_), plan_.min_decrease * root_weight_ * (1 - kTie))};
    if (criteria.size() == 1) {
      Asking asking;
      for (Index j = 0; j < data_.width(); ++j) {
        asking.before(rows.size * std::max<std::size_t>(1, node.totals.counts.size()));
        take_better(best, search_column(criteria[0], wanted, j, rows));
      }
      return best;
    }
    std::vector<Candidate> found(criteria.size());
    parallel_for(data_.width(), execution_,
                 [&](Index j) { found[at(j)] = search_column(criteria[at(j)], wanted, j, rows); });
    for (Candidate& each : found) take_better(best, std::move(each));
    return best;
  }

  /// Where each row of the node goes by the split itself; true when some row's value is missing.
  bool send(const Candidate& split, const Segment& rows) {
    bool missing = false;
    for (const RankedRow& each : rows.rows(split.column)) {
      if (each.is_missing()) {
        went_[each.row] = kUndecided;
        missing = true;
      } else {
        const bool left = split.sides.empty() ? each.rank <= split.low : split.sides[each.rank] < 0;
        went_[each.row] = left ? kLeft : kRight;
      }
    }
    return missing;
  }

  void find_surrogates(Grown& node, const Candidate& split, const Segment& rows, bool wide) {
    double left = 0, right = 0;
    for (const RankedRow& each : rows.rows(split.column))
      if (went_[each.row] <= kRight) (went_[each.row] == kLeft ? left : right) += ground_.weight_of(each.row);
    node.missing_left = left >= right;
    if (plan_.surrogates == 0) return;
    std::vector<Surrogate> found(at(data_.width()));
    const auto look = [&](Index j) {
      if (j != split.column) found[at(j)] = find_surrogate(ground_, j, rows.rows(j), went_, left, right);
    };
    if (wide) parallel_for(data_.width(), execution_, look);
    else
      for (Index j = 0; j < data_.width(); ++j) look(j);
    std::erase_if(found, [](const Surrogate& each) { return each.column < 0 || !(each.adjusted > 1e-10); });
    std::stable_sort(found.begin(), found.end(),
                     [](const Surrogate& a, const Surrogate& b) { return a.agreement > b.agreement + 1e-12; });
    const auto kept = std::min(std::ssize(found), static_cast<std::ptrdiff_t>(plan_.surrogates));
    // Not moved as a whole: the room is that of a surrogate for each column, in every node of the tree.
    node.surrogates.assign(std::move_iterator(found.begin()), std::move_iterator(found.begin() + kept));
  }

  /// Rows without a value go where the first surrogate that has one sends them, else with the majority.
  void send_the_rest(const Grown& node, const Segment& rows) {
    for (const Surrogate& each : node.surrogates) {
      for (const RankedRow& entry : rows.rows(each.column)) {
        if (entry.is_missing()) break;
        if (went_[entry.row] != kUndecided) continue;
        if (each.sides.empty())
          went_[entry.row] = (data_.value(each.column, entry.row) < each.threshold) == each.less_left ? kLeft : kRight;
        else if (each.sides[entry.rank] != 0) went_[entry.row] = each.sides[entry.rank] < 0 ? kLeft : kRight;
      }
    }
    for (const RankedRow& entry : rows.rows(node.column))
      if (went_[entry.row] == kUndecided) went_[entry.row] = node.missing_left ? kLeft : kRight;
  }

  void decide(Grown& node, const Candidate& split, const Segment& rows, bool wide) {
    node.column = split.column;
    node.gain = split.gain;
    node.turned = split.turned;
    node.sides = split.sides;
    node.missing_left = split.missing_left;
    if (split.sides.empty()) node.threshold = data_.threshold_of_rows(split.column, split.low_row, split.high_row);
    const bool missing = send(split, rows);
    if (plan_.missing == TreeMissing::surrogates) find_surrogates(node, split, rows, wide);
    if (missing && plan_.missing != TreeMissing::fractions) send_the_rest(node, rows);
  }

  /// Left rows first, each side in its order. Of a side that is not needed the rows are lost.
  std::size_t part(std::span<RankedRow> rows, std::vector<RankedRow>& space, bool keep_right) const {
    space.resize(rows.size());
    std::size_t left = 0, right = 0;
    for (const RankedRow each : rows) {  // both are written, and one of the places moves on
      const std::size_t to_right = went_[each.row];
      rows[left] = each;
      space[right] = each;
      left += 1 - to_right;
      right += to_right;
    }
    if (keep_right) std::copy_n(space.begin(), right, rows.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
  }

  struct Children {
    std::int32_t left, right;
    Segment left_rows, right_rows;
  };
  /// The node becomes a split: two children with their numbers, and the rows of each together.
  Children divide(GrownTree& tree, std::int32_t at_node, const Candidate& split, const Segment& rows, bool wide,
                  std::vector<RankedRow>& space) {
    decide(tree[at(at_node)], split, rows, wide);
    Children out;
    out.left = static_cast<std::int32_t>(tree.size());
    out.right = out.left + 1;
    tree.resize(tree.size() + 2);
    Grown &node = tree[at(at_node)], &left = tree[at(out.left)], &right = tree[at(out.right)];
    node.left = out.left;
    node.right = out.right;
    left.depth = right.depth = node.depth + 1;
    const std::size_t size = part(rows.rows(split.column), space, true);
    add_up(left, rows.rows(split.column).first(size), ground_, plan_);
    add_up(right, rows.rows(split.column).subspan(size), ground_, plan_);
    bound(node, left, right, plan_);
    const bool keep_left = !is_final(left, plan_), keep_right = !is_final(right, plan_);
    if (keep_left || keep_right) {
      if (wide) {
        parallel_for(data_.width(), execution_, [&](Index j) {
          std::vector<RankedRow> own;
          if (j != split.column) part(rows.rows(j), own, keep_right);
        });
      } else {
        for (Index j = 0; j < data_.width(); ++j)
          if (j != split.column) part(rows.rows(j), space, keep_right);
      }
    }
    out.left_rows.first = out.right_rows.first = rows.first;
    for (RankedRow*& each : out.right_rows.first) each += size;
    out.left_rows.size = size;
    out.right_rows.size = rows.size - size;
    return out;
  }

  // ---- The order of nodes ----

  std::vector<Criterion> wide_criteria() const {
    return std::vector<Criterion>(std::max<std::size_t>(2, at(data_.width())), Criterion(ground_));
  }

  /// Large nodes one after the other, their columns side by side; then the subtrees of small ones side by side.
  void grow_down(const Segment& all) {
    auto criteria = wide_criteria();
    std::vector<RankedRow> space;
    std::vector<Place> waiting{{0, all, {}}}, small;
    while (!waiting.empty()) {
      Place place = std::move(waiting.back());
      waiting.pop_back();
      if (place.rows.size < kWide) {
        small.push_back(std::move(place));
        continue;
      }
      const Candidate split = search(tree_[at(place.node)], place.rows, criteria);
      if (split.column < 0) continue;
      Children made = divide(tree_, place.node, split, place.rows, true, space);
      waiting.push_back({made.right, std::move(made.right_rows), {}});
      waiting.push_back({made.left, std::move(made.left_rows), {}});
    }
    std::vector<GrownTree> subtrees(small.size());
    parallel_for(static_cast<Index>(small.size()), execution_,
                 [&](Index i) { subtrees[at(i)] = grow_small(tree_[at(small[at(i)].node)], small[at(i)].rows); });
    for (std::size_t i = 0; i < small.size(); ++i) graft(small[i].node, std::move(subtrees[i]));
  }

  GrownTree grow_small(const Grown& root, const Segment& rows) {
    GrownTree tree{root};
    std::vector<Criterion> criteria(1, Criterion(ground_));
    std::vector<RankedRow> space;
    std::vector<Place> waiting{{0, rows, {}}};
    while (!waiting.empty()) {
      if (tree.size() % 64 == 1 && execution_.cancelled()) throw Cancelled();
      Place place = std::move(waiting.back());
      waiting.pop_back();
      const Candidate split = search(tree[at(place.node)], place.rows, criteria);
      if (split.column < 0) continue;
      Children made = divide(tree, place.node, split, place.rows, false, space);
      waiting.push_back({made.right, std::move(made.right_rows), {}});
      waiting.push_back({made.left, std::move(made.left_rows), {}});
    }
    return tree;
  }

  /// A subtree, whose root is a node of the tree, in its place.
  void graft(std::int32_t node, GrownTree&& subtree) {
    const auto shift = static_cast<std::int32_t>(tree_.size()) - 1;
    for (Grown& each : subtree)
      if (!each.is_leaf()) {
        each.left += shift;
        each.right += shift;
      }
    tree_[at(node)] = std::move(subtree[0]);
    for (std::size_t i = 1; i < subtree.size(); ++i) tree_.push_back(std::move(subtree[i]));
  }

  /// Always the split of the greatest gain, until there are so many leaves.
  void grow_best_first(const Segment& all) {
    auto criteria = wide_criteria();
    std::vector<RankedRow> space;
    std::vector<Place> waiting;
    const auto offer = [&](std::int32_t node, Segment rows) {
      Candidate split = search(tree_[at(node)], rows, criteria);
      if (split.column >= 0) waiting.push_back({node, std::move(rows), std::move(split)});
    };
    offer(0, all);
    for (Index leaves = 1; leaves < *plan_.leaves && !waiting.empty(); ++leaves) {
      const auto best = std::max_element(waiting.begin(), waiting.end(), [](const Place& a, const Place& b) {
        return a.split.gain * (1 + kTie) < b.split.gain;
      });
      const Place place = std::move(*best);
      waiting.erase(best);
      Children made = divide(tree_, place.node, place.split, place.rows, true, space);
      offer(made.left, std::move(made.left_rows));
      offer(made.right, std::move(made.right_rows));
    }
  }

  // ---- Rows that go both ways ----

  /// Rows without a value are in both children, each with the share of the weight that went there.
  void grow_in_fractions(std::int32_t at_node, const Segment& rows, Criterion& criterion) {
    if (execution_.cancelled()) throw Cancelled();
    std::vector<Criterion> criteria(1, criterion);
    const Candidate split = search(tree_[at(at_node)], rows, criteria);
    if (split.column < 0) return;
    decide(tree_[at(at_node)], split, rows, false);
    double left = 0, right = 0;
    for (const RankedRow& each : rows.rows(split.column))
      if (went_[each.row] <= kRight) (went_[each.row] == kLeft ? left : right) += ground_.weight_of(each.row);
    tree_[at(at_node)].missing_left = left >= right;
    std::vector<std::vector<RankedRow>> parts[2];
    std::vector<std::pair<std::uint32_t, double>> undecided;  // rows, and what they weigh here
    for (const RankedRow& each : rows.rows(split.column))
      if (went_[each.row] == kUndecided) undecided.emplace_back(each.row, ground_.weight_of(each.row));
    for (const std::uint8_t side : {kLeft, kRight})
      for (Index j = 0; j < data_.width(); ++j) {
        auto& to = parts[side].emplace_back();
        for (const RankedRow& each : rows.rows(j))
          if (went_[each.row] == side || went_[each.row] == kUndecided) to.push_back(each);
      }
    const auto first = static_cast<std::int32_t>(tree_.size());
    tree_.resize(tree_.size() + 2);
    tree_[at(at_node)].left = first;
    tree_[at(at_node)].right = first + 1;
    const auto weigh = [&](std::uint8_t side) {
      for (const auto& [row, weight] : undecided)
        ground_.weight[row] = weight * (side == kLeft ? left : right) / (left + right);
    };
    for (const std::uint8_t side : {kLeft, kRight}) {
      weigh(side);
      Grown& child = tree_[at(first + side)];
      child.depth = tree_[at(at_node)].depth + 1;
      add_up(child, parts[side][0], ground_, plan_);
    }
    bound(tree_[at(at_node)], tree_[at(first)], tree_[at(first + 1)], plan_);
    for (const std::uint8_t side : {kLeft, kRight}) {
      weigh(side);
      Segment segment;
      for (auto& each : parts[side]) segment.first.push_back(each.data());
      segment.size = parts[side][0].size();
      grow_in_fractions(first + side, segment, criterion);
    }
    for (const auto& [row, weight] : undecided) ground_.weight[row] = weight;
  }

  const RankedColumns& data_;
  const Plan& plan_;
  const Execution& execution_;
  SplitGround ground_;
  std::vector<std::uint8_t> went_;
  std::vector<std::vector<RankedRow>> order_;
  GrownTree tree_;
  double root_weight_ = 0;
};

/// Σ w (y − value)², Σ w |y − value|, or the deviance of counts.
double risk_of(const Grown& node, std::span<const RankedRow> rows, const SplitGround& ground, const Plan& plan) {
  double sum = 0;
  for (const RankedRow& each : rows) {
    const double y = ground.data->y[each.row], off = y - node.value, w = ground.weight_of(each.row);
    if (plan.criterion == TreeCriterion::variance) sum += w * off * off;
    else if (plan.criterion == TreeCriterion::absolute) sum += w * std::abs(off);
    else sum += 2 * w * (x_log_x(y) - y * std::log(node.value) - off);
  }
  return sum;
}

}  // namespace

std::pair<int, double> best_class(std::span<const double> counts, const Plan& plan) {
  double all = 0;
  for (std::size_t j = 0; j < counts.size(); ++j) all += plan.prior_of(j) * counts[j];
  int best = 0;
  double least = 0;
  for (Index k = 0; k < static_cast<Index>(counts.size()); ++k) {
    double expected = 0;
    for (Index j = 0; j < static_cast<Index>(counts.size()); ++j)
      expected += plan.prior_of(at(j)) * counts[at(j)] * plan.loss(j, k);
    if (k > 0 && !(expected < least - 1e-12 * all)) continue;
    best = static_cast<int>(k);
    least = expected;
  }
  return {best, least};
}

void add_up(Grown& node, std::span<const RankedRow> rows, const SplitGround& ground, const Plan& plan) {
  NodeTotals& totals = node.totals;
  if (is_of_classes(plan.criterion)) {
    totals.counts.assign(at(ground.data->classes), 0.0);
    for (const RankedRow& each : rows) totals.counts[ground.data->label[each.row]] += ground.weight_of(each.row);
    double sum = 0, all = 0;
    for (std::size_t k = 0; k < totals.counts.size(); ++k) {
      totals.weight += totals.counts[k];
      all += totals.counts[k] * ground.cost_of(k);
      sum += totals.counts[k] * ground.cost_of(k) * static_cast<double>(k);
    }
    node.value = sum / all;
    node.risk = best_class(totals.counts, plan).second;
    return;
  }
  double sum = 0;
  const double origin = ground.data->y[rows.front().row];
  node.least = node.most = origin;
  for (const RankedRow& each : rows) {
    const double y = ground.data->y[each.row], w = ground.weight_of(each.row);
    totals.weight += w;
    sum += w * (y - origin);
    node.least = std::min(node.least, y);
    node.most = std::max(node.most, y);
  }
  totals.mean = origin + sum / totals.weight;
  node.value = totals.mean;
  if (plan.criterion == TreeCriterion::absolute) {
    std::vector<std::pair<double, double>> all;
    for (const RankedRow& each : rows) all.emplace_back(ground.data->y[each.row], ground.weight_of(each.row));
    node.value = weighted_median(std::move(all));
  } else if (plan.criterion == TreeCriterion::poisson) {
    node.value = (1 + totals.weight * totals.mean) / (1 / plan.rate + totals.weight);
  }
  node.risk = risk_of(node, rows, ground, plan);
}

namespace {

GrownTree grow_on(const RankedColumns& data, std::vector<std::vector<RankedRow>> order, const Plan& plan,
                  const Execution& execution) {
  const auto by = [&]<class Criterion>() { return Grower<Criterion>(data, std::move(order), plan, execution).grow(); };
  switch (plan.criterion) {
    case TreeCriterion::gini: return by.template operator()<ClassSides<TreeCriterion::gini>>();
    case TreeCriterion::entropy: return by.template operator()<ClassSides<TreeCriterion::entropy>>();
    case TreeCriterion::misclassification:
      return by.template operator()<ClassSides<TreeCriterion::misclassification>>();
    case TreeCriterion::variance: return by.template operator()<MeanSides<TreeCriterion::variance>>();
    case TreeCriterion::poisson: return by.template operator()<MeanSides<TreeCriterion::poisson>>();
    case TreeCriterion::absolute: return by.template operator()<MedianSides>();
  }
  throw Error("tree: there is no such criterion");
}

}  // namespace

PackedOrder::PackedOrder(RankedColumns& data, const Execution& execution) : columns_(at(data.width())) {
  parallel_for(data.width(), execution, [&](Index j) {
    const std::vector<RankedRow> order = std::move(data.order[at(j)]);
    Column& out = columns_[at(j)];
    out.present = at(std::partition_point(order.begin(), order.end(), [](auto each) { return !each.is_missing(); }) -
                     order.begin());
    out.row.resize(order.size());
    std::uint32_t before = RankedRow::kMissing;
    for (std::size_t i = 0; i < order.size(); ++i) {
      out.row[i] = order[i].row | (order[i].rank != before ? kFirst : 0);  // of missing values too: a rank of their own
      before = order[i].rank;
    }
    for (std::size_t i = 0; i < out.present && data.levels[at(j)] > 0; ++i)
      if ((out.row[i] & kFirst) != 0) out.rank.push_back(order[i].rank);
  });
}

std::vector<RankedRow> PackedOrder::rows(Index column, const std::vector<std::uint8_t>& in, std::size_t size) const {
  const Column& from = columns_[at(column)];
  std::vector<RankedRow> out(size + 1);  // each is written, and the place moves on where it takes part
  RankedRow* to = out.data();
  std::uint32_t ranks = 0;
  const auto copy = [&](const auto& takes_part) {
    std::size_t i = 0;
    for (; i < from.present; ++i) {
      const std::uint32_t row = from.row[i] & ~kFirst;
      ranks += from.row[i] >> 31;
      *to = {row, ranks - 1};
      to += takes_part(row);
    }
    for (; i < from.row.size(); ++i) {
      *to = {from.row[i] & ~kFirst, RankedRow::kMissing};
      to += takes_part(from.row[i] & ~kFirst);
    }
  };
  if (in.empty()) copy([](std::uint32_t) { return std::ptrdiff_t{1}; });
  else copy([&](std::uint32_t row) { return static_cast<std::ptrdiff_t>(in[row] != 0); });
  out.pop_back();
  for (RankedRow& each : out)
    if (from.rank.empty() || each.is_missing()) break;
    else each.rank = from.rank[each.rank];
  return out;
}

GrownTree grow(const RankedColumns& data, const PackedOrder& packed, const std::vector<std::uint8_t>& in,
               const Plan& plan, const Execution& execution) {
  std::vector<std::vector<RankedRow>> order(at(data.width()));
  const auto size = in.empty() ? data.rows() : std::count_if(in.begin(), in.end(), [](auto each) { return each != 0; });
  parallel_for(data.width(), execution, [&](Index j) { order[at(j)] = packed.rows(j, in, at(size)); });
  return grow_on(data, std::move(order), plan, execution);
}

GrownTree grow_in_place(RankedColumns& data, const Plan& plan, const Execution& execution) {
  return grow_on(data, std::move(data.order), plan, execution);
}

}  // namespace lemma::tree
