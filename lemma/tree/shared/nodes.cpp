// lemma/tree/shared/nodes.cpp
#include <fmt/core.h>

#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/tree/shared/nodes.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr std::int64_t kMostNodes = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kMostColumns = (1U << 30) - 1;  // what a column has room for
constexpr Index kTogether = 8;  // rows on their way at once: one waits for memory while the others step

std::size_t words_of(int levels) { return (static_cast<std::size_t>(levels) + 31) / 32; }

template <class T>
Value array_of(std::span<const TreeNode> nodes, bool all, T number) {
  std::vector<double> out;
  for (const TreeNode& node : nodes)
    if (all || !node.is_leaf()) out.push_back(static_cast<double>(number(node)));
  return Value::Array{{static_cast<Index>(out.size())}, std::move(out)};
}

template <class T>
Value array_of(const std::vector<T>& numbers) {
  return Value::Array{{static_cast<Index>(numbers.size())}, {numbers.begin(), numbers.end()}};
}

}  // namespace

namespace {

/// One step of a row, without a branch: a leaf stays where it is.
std::int32_t step(const TreeNode* all, std::int32_t place, const double* row) {
  const TreeNode node = all[place];
  const std::int32_t asks = node.child != 0;
  const double value = row[node.column & static_cast<std::uint32_t>(-asks)];
  const std::int32_t right =
      static_cast<std::int32_t>(!(value < node.threshold)) &
      ~(static_cast<std::int32_t>(value != value) & static_cast<std::int32_t>(node.missing_left));
  return place + node.child + (right & asks);
}

}  // namespace

namespace {

/// All lanes step until all are at a leaf: of a small tree the ways are about as long, and nothing is to be guessed.
template <class Step>
void walk_in_step(const Step& step, std::int32_t root, const double* x, Index stride, std::int32_t* out) {
  std::int32_t place[kTogether];
  std::fill_n(place, kTogether, root);
  for (std::int64_t before = -1, now = 0; before != now;) {
    before = now;
    now = 0;
    for (Index k = 0; k < kTogether; ++k) now += place[k] = step(place[k], x + k * stride);
  }  // the sum grows until all are at a leaf
  std::copy_n(place, kTogether, out);
}

/// In a large tree ways differ: a row that arrives makes room for the next. Rows still on their way when none is left to begin
/// are marked by -1.
void walk_in_turn(const TreeNode* nodes, std::int32_t root, const double* x, Index rows, Index stride,
                  std::int32_t* out) {
  std::int32_t place[kTogether];
  Index row[kTogether];
  for (Index k = 0; k < kTogether; ++k) {
    place[k] = root;
    row[k] = k;
  }
  for (Index next = kTogether;;)
    for (Index k = 0; k < kTogether; ++k) {
      place[k] = step(nodes, place[k], x + row[k] * stride);
      if (!nodes[place[k]].is_leaf()) [[likely]]
        continue;
      out[row[k]] = place[k];
      if (next == rows) {
        for (Index other = 0; other < kTogether; ++other)
          if (other != k) out[row[other]] = -1;
        return;
      }
      row[k] = next++;
      place[k] = root;
    }
}

}  // namespace

void TreeNodes::leaves_of(const MatrixView& x, Index tree, std::span<std::int32_t> out) const {
  constexpr Index kLarge = 1024;  // nodes
  const Index begin = roots[at(tree)], end = tree + 1 < trees() ? roots[at(tree + 1)] : size(),
              stride = x.outerStride();
  bool asks_sets = x.cols() == 0;
  for (Index i = begin; i < end && !sets.empty(); ++i) asks_sets = asks_sets || (*this)[i].categories;
  Index first = 0;
  if (!asks_sets && end - begin > kLarge && x.rows() >= kTogether) {
    walk_in_turn(nodes.data(), roots[at(tree)], x.data(), x.rows(), stride, out.data());
    for (; first < x.rows(); ++first)
      if (out[at(first)] < 0) out[at(first)] = static_cast<std::int32_t>(leaf_of(x.data() + first * stride, tree));
    return;
  }
  const auto of_numbers = [&](std::int32_t place, const double* row) { return step(nodes.data(), place, row); };
  const auto of_any = [&](std::int32_t place, const double* row) {
    const TreeNode node = nodes[at(place)];
    if (node.is_leaf()) return place;
    return place + node.child + (goes_left(node, row[node.column]) ? 0 : 1);
  };
  for (; first + kTogether <= x.rows(); first += kTogether) {
    const double* const rows = x.data() + first * stride;
    if (asks_sets) walk_in_step(of_any, roots[at(tree)], rows, stride, out.data() + first);
    else walk_in_step(of_numbers, roots[at(tree)], rows, stride, out.data() + first);
  }
  for (; first < x.rows(); ++first)
    out[at(first)] = static_cast<std::int32_t>(leaf_of(x.data() + first * stride, tree));
}

std::size_t TreeNodes::add_set(Index column) {
  const std::size_t begin = sets.size();
  sets.resize(begin + words_of(levels[at(column)]), 0);
  return begin;
}

Index TreeNodes::split(Index leaf) {
  const Index left = size();
  require(left < kMostNodes - 2, "a tree of more than 2^31 nodes");
  nodes.resize(nodes.size() + 2);
  nodes[at(leaf)].child = static_cast<std::int32_t>(left - leaf);
  return left;
}

void TreeNodes::append(const TreeNodes& other) {
  require(size() + other.size() < kMostNodes, "trees of more than 2^31 nodes");
  const auto nodes_before = static_cast<std::int32_t>(size());
  const auto sets_before = static_cast<double>(sets.size());
  nodes.insert(nodes.end(), other.nodes.begin(), other.nodes.end());
  for (auto node = nodes.begin() + nodes_before; node != nodes.end(); ++node)
    if (node->categories) node->threshold += sets_before;
  for (const std::int32_t root : other.roots) roots.push_back(nodes_before + root);
  sets.insert(sets.end(), other.sets.begin(), other.sets.end());
}

void TreeNodes::number_leaves() {
  std::uint32_t number = 0;
  for (TreeNode& node : nodes)
    if (node.is_leaf()) node = {.threshold = 0, .child = 0, .column = number++ & kMostColumns};
}

void TreeNodes::check(std::string_view method) const {
  const auto fail = [&](Index node, std::string_view what) {
    throw Error(fmt::format("{}: node {} {}", method, node, what));
  };
  for (const int count : levels)
    if (count < 0) throw Error(fmt::format("{}: a column has {} categories", method, count));
  if (roots.empty() || roots.front() != 0 || !std::is_sorted(roots.begin(), roots.end(), std::less_equal<>()) ||
      roots.back() >= size())
    throw Error(fmt::format("{}: the trees do not begin where they should", method));
  std::vector<bool> has_parent(nodes.size(), false);
  for (const std::int32_t root : roots) has_parent[static_cast<std::size_t>(root)] = true;
  std::size_t tree = 0;
  for (Index i = 0; i < size(); ++i) {
    while (tree + 1 < roots.size() && i >= roots[tree + 1]) ++tree;
    const Index end = tree + 1 < roots.size() ? roots[tree + 1] : size();
    const TreeNode& node = (*this)[i];
    if (!has_parent[at(i)]) fail(i, "is no node's child");
    if (node.is_leaf()) continue;
    if (node.child < 1 || right(i) >= end) fail(i, "has a child outside its tree");
    for (const Index child : {left(i), right(i)}) {
      if (has_parent[at(child)]) fail(child, "is the child of two nodes");
      has_parent[at(child)] = true;
    }
    if (static_cast<Index>(node.column) >= width()) fail(i, "asks a column that there is not");
    const int count = levels[node.column];
    if (node.categories != (count > 0)) fail(i, "asks for categories of numbers, or for numbers of categories");
    if (!node.categories) {
      if (!std::isfinite(node.threshold)) fail(i, "has a threshold that is not finite");
    } else if (!(node.threshold >= 0 && node.threshold == std::floor(node.threshold) &&
                 node.threshold + static_cast<double>(words_of(count)) <= static_cast<double>(sets.size()))) {
      fail(i, "has no set of categories");
    } else if (const int rest = count % 32; rest != 0) {
      if (sets[static_cast<std::size_t>(node.threshold) + words_of(count) - 1] >> rest != 0)
        fail(i, "sends categories left that there are not");
    }
  }
}

Labels level_counts(const Rows& rows) {
  Labels out(static_cast<std::size_t>(rows.width()), 0);
  for (std::size_t j = 0; j < rows.levels.size(); ++j) out[j] = static_cast<int>(rows.levels[j].size());
  return out;
}

TreeNodes single_leaf(Labels levels) {
  TreeNodes out;
  out.nodes.resize(1);
  out.levels = std::move(levels);
  return out;
}

std::vector<std::int64_t> whole_numbers(const Value& value, const std::string& where, std::int64_t least,
                                        std::int64_t most) {
  const Vector numbers = value.as_vector(where);
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(numbers.size()));
  for (const double number : numbers) {
    if (!(number >= static_cast<double>(least) && number <= static_cast<double>(most) && number == std::floor(number)))
      throw Error(fmt::format("{}: {} is not a whole number from {} to {}", where, number, least, most));
    out.push_back(static_cast<std::int64_t>(number));
  }
  return out;
}

Value Codec<TreeNodes>::write(const TreeNodes& trees) {
  const auto column = [](const TreeNode& node) { return node.is_leaf() ? -1.0 : static_cast<double>(node.column); };
  return Value::Object{
      {"columns", array_of(trees.nodes, true, column)},
      {"thresholds", array_of(trees.nodes, false, [](const TreeNode& node) { return node.threshold; })},
      {"children", array_of(trees.nodes, false, [](const TreeNode& node) { return node.child; })},
      {"missing_left", array_of(trees.nodes, false, [](const TreeNode& node) { return node.missing_left; })},
      {"roots", array_of(trees.roots)},
      {"sets", array_of(trees.sets)},
      {"levels", array_of(trees.levels)}};
}

void Codec<TreeNodes>::read(TreeNodes& field, const Value& value, const std::string& where) {
  const auto numbers = [&](std::string_view key, std::int64_t least, std::int64_t most) {
    return whole_numbers(value.at(key), where + "." + std::string(key), least, most);
  };
  const auto columns = numbers("columns", -1, kMostColumns), children = numbers("children", 1, kMostNodes),
             missing_left = numbers("missing_left", 0, 1), roots = numbers("roots", 0, kMostNodes),
             sets = numbers("sets", 0, std::numeric_limits<std::uint32_t>::max()),
             levels = numbers("levels", 0, kMostNodes);
  const Vector thresholds = value.at("thresholds").as_vector(where + ".thresholds");
  const auto asking =
      static_cast<std::size_t>(std::count_if(columns.begin(), columns.end(), [](auto c) { return c >= 0; }));
  require(children.size() == asking && missing_left.size() == asking && at(thresholds.size()) == asking,
          where + ": there is not one threshold, child and direction for each node that asks");
  TreeNodes out;
  out.roots.assign(roots.begin(), roots.end());
  out.sets.assign(sets.begin(), sets.end());
  out.levels.assign(levels.begin(), levels.end());
  out.nodes.resize(columns.size());
  for (std::size_t i = 0, k = 0; i < columns.size(); ++i) {
    if (columns[i] < 0) continue;
    TreeNode& node = out.nodes[i];
    node.column = static_cast<std::uint32_t>(columns[i]) & kMostColumns;
    node.categories =
        columns[i] < static_cast<std::int64_t>(levels.size()) && levels[static_cast<std::size_t>(columns[i])] > 0;
    node.threshold = thresholds(static_cast<Index>(k));
    node.child = static_cast<std::int32_t>(children[k]);
    node.missing_left = missing_left[k] != 0;
    ++k;
  }
  out.number_leaves();
  out.check(where);
  field = std::move(out);
}

}  // namespace lemma
