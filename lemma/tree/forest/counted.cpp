// lemma/tree/forest/counted.cpp
#include <algorithm>
#include <lemma/tree/forest/counted.hpp>
#include <limits>

namespace lemma::forest {
namespace {

/// Rows of a block, such that a column of it, and what is made of it, stays in the nearest cache and all of it in the next; none where
/// there are so many columns that most of a block would never be asked for.
std::uint32_t rows_of_block(const Plan& plan, const ForestRows& data) {
  constexpr Index kMost = 4096, kRoom = Index{1} << 18, kLevels = 10;
  return plan.columns * kLevels >= data.width ? static_cast<std::uint32_t>(std::min(kMost, kRoom / data.width)) : 0;
}

}  // namespace

bool CountedGrower::suits(const Plan& plan, const ForestRows& data) {
  return plan.random_cuts > 0 && plan.takes_all_rows() && plan.leaves == std::numeric_limits<Index>::max() &&
         data.classes == 2 && data.weight.empty() && data.factor.empty() && data.rows < (Index{1} << 31) &&
         std::all_of(data.levels.begin(), data.levels.end(), [](int levels) { return levels == 0; }) &&
         std::find(data.ranks.begin(), data.ranks.end(), kMissing) == data.ranks.end();
}

CountedGrower::CountedGrower(const Plan& plan, const ForestRows& data, std::uint64_t seed)
    : plan_(plan),
      data_(data),
      seed_(seed),
      most_near_(rows_of_block(plan, data)),
      draw_(data.width),
      spare_(at(data.rows)) {
  all_.reserve(at(data.rows));
  for (std::uint32_t row = 0; row < data.label.size(); ++row) all_.push_back(row << 1 | data.label[row]);
}

GrownTree CountedGrower::grow(Index tree) {
  stream_ = stream_of(seed_, tree);
  items_ = all_;
  leaves_.clear();
  GrownTree out;
  out.nodes = single_leaf(data_.levels);
  out.importance.assign(at(data_.width), 0.0);
  std::vector<Open> stack{{0, 0, 0, static_cast<std::uint32_t>(items_.size())}};
  while (!stack.empty()) {
    Open open = stack.back();
    stack.pop_back();
    Counts all{open.size(), 0};
    for (std::uint32_t i = open.begin; i < open.end; ++i) all.second += items_[i] & 1U;
    if (!open.near && open.size() <= most_near_ && all.second > 0 && all.second < all.rows) bring_near(open);
    if (!find_split(open, all)) {
      make_leaf(open, all, out);
      continue;
    }
    out.nodes.nodes[at(open.node)] = {.threshold = split_.threshold,
                                      .column = static_cast<std::uint32_t>(split_.column) & ((1U << 30) - 1),
                                      .missing_left = split_.missing_left};
    const Index left_node = out.nodes.split(open.node);
    out.importance[at(split_.column)] += split_.worth - all.worth();
    const std::uint32_t middle = open.begin + part(open);
    stack.push_back({left_node + 1, open.depth + 1, middle, open.end, open.near});
    stack.push_back(
        {left_node, open.depth + 1, open.begin, middle, open.near});  // the nodes below come before all others
  }
  std::sort(leaves_.begin(), leaves_.end(), [](const auto& a, const auto& b) { return a.first.node < b.first.node; });
  out.leaves.reserve(leaves_.size());
  if (plan_.keep_rows) out.leaf_of.resize(at(data_.rows));
  for (const auto& [open, leaf] : leaves_) {
    const auto number = static_cast<std::int32_t>(out.leaves.size());
    for (std::uint32_t i = open.begin; plan_.keep_rows && i < open.end; ++i) out.leaf_of[items_[i] >> 1] = number;
    out.leaves.push_back(leaf);
  }
  return out;
}

void CountedGrower::bring_near(Open& open) {
  const auto count = std::size_t{open.size()}, width = at(data_.width);
  block_.resize(count * width);
  block_items_.assign(items_.begin() + open.begin, items_.begin() + open.end);
  constexpr std::size_t kLine = 8;  // rows at a time: what they write to a column is a line of memory
  for (std::size_t first = 0; first < count; first += kLine) {
    const std::size_t end = std::min(count, first + kLine);
    const double* rows[kLine];
    for (std::size_t i = first; i < end; ++i) {
      rows[i - first] = data_.values.data() + std::size_t{block_items_[i] >> 1} * width;
      items_[open.begin + i] = static_cast<Item>(i) << 1 | (block_items_[i] & 1U);
    }
    for (std::size_t j = 0; j < width; ++j)
      for (std::size_t i = first; i < end; ++i) block_[j * count + i] = rows[i - first][j];
  }
  open.near = true;
}

bool CountedGrower::find_split(const Open& open, const Counts& all) {
  split_.column = -1;
  split_.worth = -1;
  if (all.second == 0 || all.second == all.rows || open.depth >= plan_.depth || all.rows < plan_.min_split ||
      all.rows < 2 * plan_.min_leaf)
    return false;
  draw_.begin(stream_, open.node);
  for (Index tried = 0; tried < plan_.columns && draw_.has_next();) {
    const Index column = draw_.next();
    asking_.before(all.rows);
    if (!gather(open, column)) continue;
    ++tried;
    cut_at_random(open, all, column);
  }
  return split_.found();
}

bool CountedGrower::gather(const Open& open, Index column) {
  const std::span<const Item> items = items_of(open);
  if (by_rank(open)) {
    rank_.resize(items.size());
    const auto ranks = data_.column(column, items.size());
    std::uint32_t least = kMissing, greatest = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::uint32_t rank = ranks[items[i] >> 1];
      rank_[i] = rank;
      least = std::min(least, rank);
      greatest = std::max(greatest, rank);
    }
    low_ = data_.low[at(column)][least];
    high_ = data_.low[at(column)][greatest];
  } else {
    value_.resize(items.size());
    const ColumnOfValues values = values_of(open, column);
    constexpr std::size_t kApart = 4;  // minima at once: none waits for the one before it
    double low[kApart], high[kApart];
    std::fill_n(low, kApart, std::numeric_limits<double>::infinity());
    std::fill_n(high, kApart, -std::numeric_limits<double>::infinity());
    const auto take = [&](std::size_t i, std::size_t k) {
      const double value = values[items[i]];
      value_[i] = value;
      low[k] = value < low[k] ? value : low[k];
      high[k] = value > high[k] ? value : high[k];
    };
    std::size_t i = 0;
    for (; i + kApart <= items.size(); i += kApart)
#pragma GCC unroll 4
      for (std::size_t k = 0; k < kApart; ++k) take(i + k, k);
    for (; i < items.size(); ++i) take(i, 0);
    low_ = *std::min_element(low, low + kApart);
    high_ = *std::max_element(high, high + kApart);
  }
  return low_ < high_;
}

void CountedGrower::cut_at_random(const Open& open, const Counts& all, Index column) {
  const std::span<const Item> items = items_of(open);
  for (int trial = 0; trial < plan_.random_cuts; ++trial) {
    double threshold = high_ - draw_.random().uniform() * (high_ - low_);
    if (!(threshold > low_)) threshold = high_;
    Counts left;
    const auto count = [&](const auto& goes_left) {  // without a turn that a CPU could guess wrong
      for (std::size_t i = 0; i < items.size(); ++i) {
        const std::uint32_t way = goes_left(i) ? 1 : 0;
        left.rows += way;
        left.second += way & items[i];
      }
    };
    std::uint32_t cut = kMissing;
    if (by_rank(open)) {
      const auto& low = data_.low[at(column)];
      cut = static_cast<std::uint32_t>(std::lower_bound(low.begin(), low.end(), threshold) - low.begin());
      count([&](std::size_t i) { return rank_[i] < cut; });
    } else {
      count([&](std::size_t i) { return value_[i] < threshold; });
    }
    const Counts right{all.rows - left.rows, all.second - left.second};
    if (left.rows < plan_.min_leaf || right.rows < plan_.min_leaf) continue;
    const double worth = left.worth() + right.worth();
    if (!(worth > split_.worth)) continue;
    split_.worth = worth;
    split_.column = column;
    split_.threshold = threshold;
    split_.cut = cut;
    split_.missing_left = 2 * std::uint64_t{left.rows} >= all.rows;
  }
}

std::uint32_t CountedGrower::part(const Open& open) {
  Item* const items = items_.data() + open.begin;
  if (by_rank(open)) {
    const auto ranks = data_.column(split_.column, open.size());
    return part_in_place(items, open.size(), spare_.data(), [&](Item item) { return ranks[item >> 1] < split_.cut; });
  }
  const ColumnOfValues values = values_of(open, split_.column);
  return part_in_place(items, open.size(), spare_.data(), [&](Item item) { return values[item] < split_.threshold; });
}

void CountedGrower::make_leaf(const Open& open, const Counts& all, GrownTree& out) {
  for (std::uint32_t i = open.begin; open.near && plan_.keep_rows && i < open.end; ++i)
    items_[i] = block_items_[items_[i] >> 1];
  GrownTree::Leaf leaf;
  leaf.weight = all.rows;
  const std::uint32_t first = all.rows - all.second;
  if (all.second == 0 || first == 0 || plan_.vote == ForestVote::majority) {
    leaf.label = all.second > first ? 1 : 0;
  } else {
    leaf.shares = static_cast<std::uint32_t>(out.shares.size());
    out.shares.push_back(first / leaf.weight);
    out.shares.push_back(all.second / leaf.weight);
  }
  leaves_.emplace_back(open, leaf);
}

}  // namespace lemma::forest
