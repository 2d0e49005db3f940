// lemma/tree/forest/walk.cpp
#include <algorithm>
#include <lemma/tree/forest/walk.hpp>
#include <limits>

namespace lemma::forest {
namespace {

constexpr Index kTogether = 16, kStepsAtOnce = 4;
constexpr Index kFewRows = 256;  // for so few a tree is not laid out again

bool is_plain(const TreeNodes& trees, const MatrixView& x) {
  if (x.rows() < kFewRows) return false;
  if (std::any_of(trees.levels.begin(), trees.levels.end(), [](int levels) { return levels > 0; })) return false;
  for (Index i = 0; i < x.rows(); ++i) {
    bool finite = true;
    for (Index j = 0; j < x.cols(); ++j) finite &= std::isfinite(x(i, j));
    if (!finite) return false;
  }
  return true;
}

}  // namespace

Walk::Walk(const TreeNodes& trees, const MatrixView& x) : trees_(trees), x_(x), plain_(is_plain(trees, x)) {}

/// A leaf's left child is the leaf itself, and every number is below its threshold.
void Walk::lay_out(Index root, Index end) {
  steps_.resize(at(end - root));
  for (Index i = root; i < end; ++i) {
    const TreeNode& node = trees_[i];
    const auto place = static_cast<std::int32_t>(i - root);
    steps_[at(place)] = node.is_leaf()
                            ? Step{std::numeric_limits<double>::infinity(), place, 0}
                            : Step{node.threshold, place + node.child, static_cast<std::int32_t>(node.column)};
  }
}

void Walk::leaves_of(Index tree, std::span<std::int32_t> out) {
  if (!plain_) return trees_.leaves_of(x_, tree, out);
  const Index root = trees_.roots[at(tree)], rows = x_.rows(), stride = x_.outerStride();
  lay_out(root, tree + 1 < trees_.trees() ? trees_.roots[at(tree + 1)] : trees_.size());
  const Step* const steps = steps_.data();
  std::int32_t place[kTogether] = {};
  Index row[kTogether];
  const double* numbers[kTogether];
  Index next = 0;
  for (Index k = 0; k < kTogether; ++k) {
    row[k] = next++;
    numbers[k] = x_.data() + row[k] * stride;
  }
  for (Index open = kTogether; open > 0;) {
    for (Index step = 0; step < kStepsAtOnce; ++step)
      for (Index k = 0; k < kTogether; ++k) {
        const Step& at_node = steps[place[k]];
        place[k] = at_node.child + (numbers[k][at_node.column] < at_node.threshold ? 0 : 1);
      }
    for (Index k = 0; k < kTogether; ++k) {
      if (steps[place[k]].child != place[k] || row[k] < 0) continue;
      out[at(row[k])] = static_cast<std::int32_t>(root) + place[k];
      row[k] = next < rows ? next++ : -1;
      open -= row[k] < 0 ? 1 : 0;
      if (row[k] < 0) continue;
      numbers[k] = x_.data() + row[k] * stride;
      place[k] = 0;
    }
  }
}

}  // namespace lemma::forest
