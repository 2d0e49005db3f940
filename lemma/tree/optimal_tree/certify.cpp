// lemma/tree/optimal_tree/certify.cpp: what the tree tells, counted by walking each row, and that no tree costs less.
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/tree/optimal_tree.hpp>
#include <lemma/tree/optimal_tree/refute.hpp>
#include <lemma/tree/shared/columns.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kGap = 1e-9;  // of the root's loss

void compare(Comparison& found, const OptimalTreeModel& model, const Tallies& counted, const MatrixView& x,
             const Block& outcome) {
  compare_tallies(found, model, counted);
  const TreeNodes& nodes = model.nodes;
  // A threshold lies midway between the values next to it of the node's rows; a category that goes left is one.
  std::vector<double> below(at(nodes.size()), -INFINITY), above(at(nodes.size()), INFINITY);
  for (Index row = 0; row < x.rows(); ++row) {
    if (!(outcome.weight_of(row) > 0)) continue;
    for (Index i = 0; !nodes.is_leaf(i);) {
      const double value = x(row, nodes[i].column);
      const bool left = nodes.goes_left(nodes[i], value);
      if (left) below[at(i)] = std::max(below[at(i)], value);
      else above[at(i)] = std::min(above[at(i)], value);
      i = left ? nodes.left(i) : nodes.right(i);
    }
  }
  const double price = model.spec.cp * counted.loss(0), unit = counted.loss(0) > 0 ? counted.loss(0) : 1;
  double cost = price * static_cast<double>(nodes.leaves());
  std::vector<int> depth(at(nodes.size()), 0);
  for (Index i = 0; i < nodes.size(); ++i) {
    if (nodes.is_leaf(i)) {
      cost += counted.loss(i);
      continue;
    }
    depth[at(nodes.left(i))] = depth[at(nodes.right(i))] = depth[at(i)] + 1;
    if (depth[at(i)] >= model.spec.depth) found.entry("depth", i, 1, 0, 1);
    if (nodes[i].missing_left) found.entry("nodes.missing_left", i, 1, 0, 1);
    const std::size_t place = at(i);
    if (!nodes[i].categories) {
      const double middle = std::midpoint(below[place], above[place]);
      const bool holds = nodes[i].threshold == (middle > below[place] ? middle : above[place]);
      if (!holds) found.entry("nodes.thresholds", i, 1, 0, 1);
      continue;
    }
    int count = 0;
    for (int code = 0; code < nodes.levels[nodes[i].column]; ++code)
      count += nodes.in_set(static_cast<std::size_t>(nodes[i].threshold), static_cast<std::uint32_t>(code));
    if (count != 1) found.entry("nodes.sets", i, 1, 0, 1);
  }
  found.number("cost", model.cost, cost, unit);
  if (model.bound > model.cost) found.number("bound", model.bound, model.cost, unit);
}

}  // namespace

Certificate certify(const OptimalTreeModel& model, const Rows& rows, const Execution& execution) {
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "gap to the least cost of any tree";
  out.tolerance = kGap;
  out.stopped = "every split refuted";
  Matrix space;
  const MatrixView x = matrix_of(rows, space, execution);
  BlockBuffer buffer;
  const Block outcome = rows.outcome(0, rows.count(), buffer);
  Comparison found;
  std::vector<std::string> levels;
  for (const auto& each : rows.levels) levels.insert(levels.end(), each.begin(), each.end());
  if (levels != model.levels || level_counts(rows) != model.nodes.levels) found.number("levels", 1, 0, 1);
  Tallies counted;
  if (!found.finding()) {
    counted = tallies_of(model.nodes.size(), model.class_count(), outcome, x.rows(), [&](Index row, const auto& visit) {
      Index i = 0;
      for (visit(i); !model.nodes.is_leaf(i); visit(i))
        i = model.nodes.goes_left(model.nodes[i], x(row, model.nodes[i].column)) ? model.nodes.left(i)
                                                                                 : model.nodes.right(i);
    });
    compare(found, model, counted, x, outcome);
  }
  if (const auto& wrong = found.finding()) {
    out.kind = "difference of " + wrong->field;
    out.value = wrong->value;
    out.tolerance = wrong->tolerance;
    out.message = fmt::format("The tree is not that of these rows: {}'{}' is not theirs.", wrong->place, wrong->field);
    return out;
  }
  const double unit = counted.loss(0) > 0 ? counted.loss(0) : 1;
  const optimal::Sample sample{x, model.nodes.levels, outcome, model.class_count()};
  const auto refuted = optimal::refute(sample, model.spec.depth, model.spec.cp * counted.loss(0), model.bound,
                                       20LL * model.spec.max_iterations, execution);
  const double bound = std::min(model.bound, refuted.bound);
  out.iterations = refuted.subsets;
  out.value = std::max(0.0, (model.cost - bound) / unit);
  if (!refuted.complete || model.bound < model.cost) out.stopped = "iteration limit";
  if (out.holds()) {
    out.message = fmt::format(
        "No tree of depth {} on these rows costs less, up to {:.1e} of the root's loss (allowed {:.0e}): every split "
        "of every node "
        "was refuted anew, in {} of the rows; each row reaches the leaf where it is counted.",
        model.spec.depth, out.value, out.tolerance, count_of(refuted.subsets, "subset"));
  } else if (refuted.complete && refuted.bound < model.bound) {
    out.stopped = "a better tree";
    out.message = fmt::format(
        "A tree of depth {} costs {} where this one costs {}, of {} at the root: it is not the best.", model.spec.depth,
        format_significant(bound, 5), format_significant(model.cost, 5), format_significant(counted.loss(0), 5));
  } else {
    out.message = fmt::format(
        "The search came to its limit: the tree costs {}, and it is proved that none of depth {} costs less than {} (a "
        "gap of {:.1f} % "
        "of the root's loss). More --max_iterations, or a smaller --depth, may close it.",
        format_significant(model.cost, 5), model.spec.depth, format_significant(bound, 5), 100 * out.value);
  }
  return out;
}

}  // namespace lemma
