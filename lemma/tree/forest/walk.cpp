// lemma/tree/forest/walk.cpp
#include <algorithm>
#include <lemma/tree/forest/walk.hpp>

namespace lemma::forest {
namespace {

constexpr Index kTogether = 16, kStepsAtOnce = 6;

bool is_plain(const TreeNodes& trees, const MatrixView& x) {
  if (x.rows() < kTogether) return false;
  if (std::any_of(trees.levels.begin(), trees.levels.end(), [](int levels) { return levels > 0; })) return false;
  for (Index i = 0; i < x.rows(); ++i) {
    bool finite = true;
    for (Index j = 0; j < x.cols(); ++j) finite &= std::isfinite(x(i, j));
    if (!finite) return false;
  }
  return true;
}

/// How many nodes further on a row of finite numbers goes: none from a leaf, whose column is a number of its own and not to be read.
std::int32_t onward(const TreeNode& node, const double* row) {
  const std::uint32_t asks = node.child != 0 ? ~0U : 0U;
  const double value = row[node.column & asks];
  return node.child + static_cast<std::int32_t>(static_cast<std::uint32_t>(!(value < node.threshold)) & asks);
}

}  // namespace

Walk::Walk(const TreeNodes& trees, const MatrixView& x) : trees_(trees), x_(x), plain_(is_plain(trees, x)) {}

void Walk::leaves_of(Index tree, std::span<std::int32_t> out) {
  if (!plain_) return trees_.leaves_of(x_, tree, out);
  const Index rows = x_.rows(), stride = x_.outerStride();
  const std::int32_t root = trees_.roots[at(tree)];
  const TreeNode* const nodes = trees_.nodes.data();
  std::int32_t place[kTogether];
  Index row[kTogether];  // `rows`: none is left, and the last one is walked once more, for nothing
  const double* numbers[kTogether];
  for (Index k = 0; k < kTogether; ++k) {
    place[k] = root;
    row[k] = k;
    numbers[k] = x_.data() + k * stride;
  }
  for (Index next = kTogether;;) {
    for (Index step = 0; step < kStepsAtOnce; ++step)
#pragma GCC unroll 16
      for (Index k = 0; k < kTogether; ++k) place[k] += onward(nodes[place[k]], numbers[k]);
    for (Index k = 0; k < kTogether; ++k) {
      const Index arrived = -static_cast<Index>(nodes[place[k]].is_leaf());  // all bits or none: nothing to be guessed
      out[at(row[k])] = place[k];                                            // of a row on its way it is written again
      row[k] += (next - row[k]) & arrived;
      place[k] += (root - place[k]) & static_cast<std::int32_t>(arrived);
      numbers[k] = x_.data() + std::min(row[k], rows - 1) * stride;
      next = std::min(next - arrived, rows);
    }
    if (next == rows && std::all_of(row, row + kTogether, [&](Index i) { return i == rows; })) return;
  }
}

}  // namespace lemma::forest
