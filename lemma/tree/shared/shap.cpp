// lemma/tree/shared/shap.cpp
#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/tree/shared/shap.hpp>

namespace lemma {
namespace {

/// One more column on the way: weight[k] is that of all sets of k columns, times their shares.
template <class Step>
void extend(Step* way, Index length, Index column, double unknown, double known) {
  way[length] = {column, unknown, known, length == 0 ? 1.0 : 0.0};
  const auto size = static_cast<double>(length + 1);
  for (Index k = length - 1; k >= 0; --k) {
    way[k + 1].weight += known * way[k].weight * static_cast<double>(k + 1) / size;
    way[k].weight *= unknown * static_cast<double>(length - k) / size;
  }
}

/// The weights as they were without the column at `place`, added up.
template <class Step>
double sum_without(const Step* way, Index length, Index place) {
  const double known = way[place].known, unknown = way[place].unknown;
  double next = way[length - 1].weight, sum = 0;
  const auto size = static_cast<double>(length);
  for (Index k = length - 2; k >= 0; --k) {
    if (known != 0) {
      const double own = next * size / (static_cast<double>(k + 1) * known);
      sum += own;
      next = way[k].weight - own * unknown * static_cast<double>(length - 1 - k) / size;
    } else {
      sum += way[k].weight * size / (unknown * static_cast<double>(length - 1 - k));
    }
  }
  return sum;
}

template <class Step>
void take_out(Step* way, Index length, Index place) {
  const double known = way[place].known, unknown = way[place].unknown;
  double next = way[length - 1].weight;
  const auto size = static_cast<double>(length);
  for (Index k = length - 2; k >= 0; --k) {
    if (known != 0) {
      const double before = way[k].weight;
      way[k].weight = next * size / (static_cast<double>(k + 1) * known);
      next = before - way[k].weight * unknown * static_cast<double>(length - 1 - k) / size;
    } else {
      way[k].weight *= size / (unknown * static_cast<double>(length - 1 - k));
    }
  }
  for (Index k = place; k + 1 < length; ++k) {
    way[k].column = way[k + 1].column;
    way[k].unknown = way[k + 1].unknown;
    way[k].known = way[k + 1].known;
  }
}

}  // namespace

TreeShap::TreeShap(const TreeNodes& trees, const VectorView& values, const VectorView& cover)
    : trees_(trees), value_(at(trees.size()), 0.0), cover_(value_), mean_(value_) {
  require(values.size() == trees.leaves() && cover.size() == values.size(), "not every leaf has its value");
  std::vector<Index> depth(value_.size(), 0);
  for (Index i = 0; i < trees.size(); ++i) {
    if (trees.is_leaf(i)) continue;
    depth[at(trees.left(i))] = depth[at(trees.right(i))] = depth[at(i)] + 1;
    depth_ = std::max(depth_, depth[at(i)] + 1);
  }
  for (Index i = trees.size() - 1; i >= 0; --i) {
    if (trees.is_leaf(i)) {
      value_[at(i)] = mean_[at(i)] = values(trees[i].column);
      cover_[at(i)] = cover(trees[i].column);
      continue;
    }
    const Index left = trees.left(i), right = trees.right(i);
    cover_[at(i)] = cover_[at(left)] + cover_[at(right)];
    mean_[at(i)] = share(left, i) * mean_[at(left)] + share(right, i) * mean_[at(right)];
  }
}

void TreeShap::add(Index tree, const double* row, double* phi) const {
  const auto left = [&](Index i) {
    const TreeNode& node = trees_[i];
    return trees_.goes_left(node, row[node.column]) ? 1.0 : 0.0;
  };
  explain(tree, left, phi);
}

void TreeShap::add(Index tree, const std::function<double(Index)>& left, double* phi) const {
  explain(tree, left, phi);
}

template <class Left>
void TreeShap::explain(Index tree, const Left& left, double* phi) const {
  // Each level of the tree has a copy of the way to it: lengths 1 to depth + 1, and room for one more.
  std::vector<Step> ways(at((depth_ + 2) * (depth_ + 3)));
  extend(ways.data(), 0, -1, 1.0, 1.0);
  walk(trees_.roots[at(tree)], left, phi, ways.data(), 1);
}

template <class Left>
void TreeShap::walk(Index i, const Left& left, double* phi, Step* way, Index length) const {
  const TreeNode& node = trees_[i];
  if (node.is_leaf()) {
    for (Index k = 1; k < length; ++k)
      phi[way[k].column] += sum_without(way, length, k) * (way[k].known - way[k].unknown) * value_[at(i)];
    return;
  }
  const double to_left = left(i), to_right = 1 - to_left;
  const bool mostly_left = to_left >= to_right;
  const Index taken = mostly_left ? trees_.left(i) : trees_.right(i), other = mostly_left ? taken + 1 : taken - 1;
  double unknown = 1, known = 1;
  const auto* const seen =
      std::find_if(way + 1, way + length, [&](const Step& s) { return s.column == static_cast<Index>(node.column); });
  if (seen != way + length) {  // the column was asked before: its two answers count as one
    unknown = seen->unknown;
    known = seen->known;
    take_out(way, length, seen - way);
    --length;
  }
  for (const Index child : {taken, other}) {
    const double part = unknown * share(child, i);
    const double goes = known * (child == taken ? std::max(to_left, to_right) : std::min(to_left, to_right));
    if (part == 0 && goes == 0) continue;
    Step* const next = way + depth_ + 2;
    std::copy_n(way, length, next);
    extend(next, length, static_cast<Index>(node.column), part, goes);
    walk(child, left, phi, next, length + 1);
  }
}

}  // namespace lemma
