// lemma/tree/forest/grow.cpp
#include <algorithm>
#include <cmath>
#include <lemma/tree/forest/grow.hpp>
#include <numeric>
#include <queue>

namespace lemma::forest {

TreeGrower::TreeGrower(const Plan& plan, const ForestRows& data, const Bags& bags, std::uint64_t seed)
    : plan_(plan), data_(data), bags_(bags), seed_(seed), search_(plan, data) {}

void TreeGrower::fill_bag(Index tree) {
  bags_.draw(tree, copies_);
  items_.clear();
  outside_.clear();
  for (std::uint32_t row = 0; row < copies_.size(); ++row) {
    if (!(copies_[row] > 0)) {
      outside_.push_back(row);
      continue;
    }
    Item item;
    item.row = row;
    item.w = copies_[row];
    if (data_.classes > 0) {
      item.label = data_.label[row];
      if (!data_.factor.empty()) item.w *= data_.factor[item.label];
      item.s = item.label == 1 ? item.w : 0;
    } else {
      item.s = item.w * data_.y[row];
    }
    items_.push_back(item);
  }
  spare_items_.resize(items_.size());
  spare_outside_.resize(outside_.size());
}

GrownTree TreeGrower::grow(Index tree) {
  stream_ = stream_of(seed_, tree);
  fill_bag(tree);
  search_.copies_of_rows(copies_);
  GrownTree out;
  out.nodes = single_leaf(data_.levels);
  out.importance.assign(at(data_.width), 0.0);
  leaves_.clear();
  if (plan_.leaves == std::numeric_limits<Index>::max()) grow_depth_first(out);
  else grow_best_first(out);
  std::sort(leaves_.begin(), leaves_.end(), [](const auto& a, const auto& b) { return a.first.node < b.first.node; });
  out.leaves.reserve(leaves_.size());
  if (plan_.keep_rows) out.leaf_of.resize(at(data_.rows));
  for (const auto& [open, leaf] : leaves_) {
    if (plan_.keep_rows) {
      const auto number = static_cast<std::int32_t>(out.leaves.size());
      for (std::uint32_t i = open.begin; i < open.end; ++i) out.leaf_of[items_[i].row] = number;
      for (std::uint32_t i = open.outside_begin; i < open.outside_end; ++i) out.leaf_of[outside_[i]] = number;
    }
    out.leaves.push_back(leaf);
  }
  out.outside = outside_;
  return out;
}

bool TreeGrower::find_split(const Open& open, Totals& totals) {
  const std::span<const Item> items(items_.data() + open.begin, open.end - open.begin);
  totals = search_.totals(items);
  split_.column = -1;
  if (totals.pure || open.depth >= plan_.depth || totals.copies < plan_.min_split || totals.copies < 2 * plan_.min_leaf)
    return false;
  search_.best(items, totals, stream_, open.node, split_);
  return split_.found();
}

void TreeGrower::grow_depth_first(GrownTree& out) {
  std::vector<Open> stack{
      {0, 0, 0, static_cast<std::uint32_t>(items_.size()), 0, static_cast<std::uint32_t>(outside_.size())}};
  Totals totals;
  while (!stack.empty()) {
    const Open open = stack.back();
    stack.pop_back();
    if (!find_split(open, totals)) {
      make_leaf(open, totals, out);
      continue;
    }
    const auto [left, right] = part(open, totals, split_, out);
    stack.push_back(right);
    stack.push_back(left);
  }
}

/// The leaf whose split gains most is split next, until there are as many as there may be.
void TreeGrower::grow_best_first(GrownTree& out) {
  struct Waiting {
    Open open;
    Totals totals;
    Split split;
  };
  std::vector<Waiting> waiting;
  std::priority_queue<std::pair<double, Index>> next;  // of equal gains the one that was seen first
  Index leaves = 1;
  const auto look_at = [&](const Open& open) {
    Totals totals;
    if (!find_split(open, totals)) return make_leaf(open, totals, out);
    next.emplace(split_.worth - totals.worth, -static_cast<Index>(waiting.size()));
    waiting.push_back({open, std::move(totals), split_});
  };
  look_at({0, 0, 0, static_cast<std::uint32_t>(items_.size()), 0, static_cast<std::uint32_t>(outside_.size())});
  while (!next.empty()) {
    const Waiting each = std::move(waiting[at(-next.top().second)]);
    next.pop();
    if (leaves >= plan_.leaves) {
      make_leaf(each.open, each.totals, out);
      continue;
    }
    ++leaves;
    const auto [left, right] = part(each.open, each.totals, each.split, out);
    look_at(left);
    look_at(right);
  }
}

std::pair<TreeGrower::Open, TreeGrower::Open> TreeGrower::part(const Open& open, const Totals& totals,
                                                               const Split& split, GrownTree& out) {
  TreeNode node;
  node.column = static_cast<std::uint32_t>(split.column) & ((1U << 30) - 1);
  node.missing_left = split.missing_left;
  std::size_t set = 0;
  const bool categories = data_.levels[at(split.column)] > 0;
  if (categories) {
    set = out.nodes.add_set(split.column);
    for (const std::uint32_t code : split.left) out.nodes.put_in_set(set, code);
    node.categories = 1;
    node.threshold = static_cast<double>(set);
  } else {
    node.threshold = split.threshold;
  }
  out.nodes.nodes[at(open.node)] = node;
  const Index left_node = out.nodes.split(open.node);
  out.importance[at(split.column)] += split.worth - totals.worth;

  const auto ranks = data_.column(split.column, open.end - open.begin);
  std::uint32_t left = 0, outside_left = 0;
  const auto both = [&](auto goes_left) {
    left = part_in_place(items_.data() + open.begin, open.end - open.begin, spare_items_.data(),
                         [&](const Item& item) { return goes_left(ranks[item.row]); });
    outside_left = part_in_place(outside_.data() + open.outside_begin, open.outside_end - open.outside_begin,
                                 spare_outside_.data(), [&](std::uint32_t row) { return goes_left(ranks[row]); });
  };
  if (categories) {
    both([&](std::uint32_t rank) { return rank == kMissing ? split.missing_left : out.nodes.in_set(set, rank); });
  } else if (plan_.random_cuts > 0 && !ForestRows::is_large(open.end - open.begin)) {
    const double* const values = data_.values.data() + split.column;
    const auto goes_left = [&](std::uint32_t row) {
      const double value = values[std::size_t{row} * at(data_.width)];
      return value < split.threshold || (split.missing_left && std::isnan(value));
    };
    left = part_in_place(items_.data() + open.begin, open.end - open.begin, spare_items_.data(),
                         [&](const Item& item) { return goes_left(item.row); });
    outside_left = part_in_place(outside_.data() + open.outside_begin, open.outside_end - open.outside_begin,
                                 spare_outside_.data(), goes_left);
  } else if (split.missing_left) {
    both([&](std::uint32_t rank) { return rank < split.cut || rank == kMissing; });
  } else {
    both([&](std::uint32_t rank) { return rank < split.cut; });
  }
  const std::uint32_t middle = open.begin + left, outside_middle = open.outside_begin + outside_left;
  return {Open{left_node, open.depth + 1, open.begin, middle, open.outside_begin, outside_middle},
          Open{left_node + 1, open.depth + 1, middle, open.end, outside_middle, open.outside_end}};
}

void TreeGrower::make_leaf(const Open& open, const Totals& totals, GrownTree& out) {
  GrownTree::Leaf leaf;
  leaf.weight = totals.w;
  leaf.begin = open.outside_begin;
  leaf.end = open.outside_end;
  if (data_.classes == 0) {
    leaf.value = totals.pure ? data_.y[items_[open.begin].row] : totals.s / totals.w;
  } else if (totals.pure) {
    leaf.label = static_cast<std::int32_t>(items_[open.begin].label);
  } else {
    std::vector<double> shares = totals.classes;
    if (data_.of_means()) shares = {totals.w - totals.s, totals.s};
    if (plan_.vote == ForestVote::majority) {
      leaf.label = static_cast<std::int32_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    } else {
      leaf.shares = static_cast<std::uint32_t>(out.shares.size());
      for (const double share : shares) out.shares.push_back(share / totals.w);
    }
  }
  leaves_.emplace_back(open, leaf);
}

}  // namespace lemma::forest
