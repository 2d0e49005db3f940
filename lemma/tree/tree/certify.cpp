// lemma/tree/tree/certify.cpp: what a tree tells, held against its rows.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/tree/tree/recount.hpp>
#include <numeric>

namespace lemma {
namespace {

using namespace tree;

constexpr double kShort = 1e-7;       // by which a split may fall short of the best, as a share of its gain
constexpr double kMostPruning = 5e7;  // nodes times trees that are pruned anew one by one

/// Zero where two things are the same, one where they are not.
void same(Comparison& out, std::string_view field, Index place, bool holds) {
  if (!holds) out.entry(field, place, 1, 0, 1);
}
/// Most numbers agree, and nothing is to be said of them.
void agree(Comparison& out, std::string_view field, Index place, double stored, double expected, double unit,
           double tolerance = kAgree) {
  if (!(std::abs(stored - expected) <= 0.5 * tolerance * unit))
    out.entry(field, place, stored, expected, unit, tolerance);
}

void compare_names(Comparison& out, const TreeModel& model, const Rows& rows) {
  std::vector<std::string> levels;
  for (const auto& each : rows.levels) levels.insert(levels.end(), each.begin(), each.end());
  const auto names = [&](std::string_view field, const auto& stored, const auto& expected) {
    if (stored == expected) return;
    const auto found = std::mismatch(stored.begin(), stored.end(), expected.begin(), expected.end());
    same(out, field, found.first - stored.begin(), false);
  };
  names("features", model.features, rows.features);
  names("levels", model.levels, levels);
  names("classes", model.classes, rows.classes);
  for (Index j = 0; j < model.width(); ++j)
    same(out, "nodes.levels", j, model.nodes.levels[at(j)] == level_counts(rows)[at(j)]);
}

void compare_nodes(Comparison& out, const TreeModel& model, const Recount& count) {
  const double n = count.nodes[0].weight, unit = count.nodes[0].risk;
  Matrix said(model.estimates.rows(), model.estimates.cols());
  for (Index i = 0; i < model.nodes.size(); ++i) {
    const NodeCount& node = count.nodes[at(i)];
    agree(out, "weight", i, model.weight(i), node.weight, n * 1e-3);
    for (Index k = 0; k < model.class_count(); ++k)
      agree(out, "counts", i, model.counts(i, k), node.counts[at(k)], n * 1e-3);
    agree(out, "loss", i, model.loss(i), node.risk, unit > 0 ? unit : 1);
    if (!(node.weight > 0)) return same(out, "nodes", i, false);
    if (model.of_classes()) said.row(i) = probabilities_of(count.plan, node.counts);
    else said(i, 0) = node.value;
  }
  const Matrix expected = estimates_of(model.spec, model.nodes, model.weight, said);
  const double size = model.of_classes() ? 1 : std::max(1e-300, expected.cwiseAbs().maxCoeff());
  for (Index i = 0; i < model.nodes.size(); ++i) {
    for (Index k = 0; k < expected.cols(); ++k) agree(out, "estimates", i, model.estimates(i, k), expected(i, k), size);
    if (model.of_classes()) same(out, "label", i, model.label[at(i)] == class_of(count.plan, expected.row(i)));
  }
}

/// Sizes and depths that the parameters ask for.
void compare_stops(Comparison& out, const TreeModel& model) {
  const Tree& spec = model.spec;
  for (Index i = 0; i < model.nodes.size(); ++i) {
    if (model.nodes.is_leaf(i)) continue;
    same(out, "min_split", i, model.weight(i) >= spec.min_split * (1 - 1e-9));
    for (const Index child : {model.nodes.left(i), model.nodes.right(i)})
      same(out, "min_leaf", child, model.weight(child) >= *spec.min_leaf * (1 - 1e-9));
    same(out, "depth", i, model.number(i) < std::ldexp(1.0, spec.depth));
    if (model.of_classes()) same(out, "purity", i, model.counts.row(i).maxCoeff() < spec.purity * model.weight(i));
    same(out, "min_decrease", i, model.gain(i) >= spec.min_decrease * model.weight(0) * (1 - 1e-6));
  }
  if (spec.leaves) same(out, "leaves", 0, model.nodes.leaves() <= *spec.leaves);
}

void compare_split(Comparison& out, const TreeModel& model, const Recount& count, Index i) {
  const SplitCount& split = count.splits[at(i)];
  const TreeNode& node = model.nodes[i];
  if (node.categories) {
    for (std::size_t code = 0; code < split.seen.size(); ++code) {
      same(out, "details.known", i,
           is_in(model.details.known, node.threshold, static_cast<double>(code)) == (split.seen[code] != 0));
      if (split.seen[code] == 0)
        same(out, "nodes.sets", i, !is_in(model.nodes.sets, node.threshold, static_cast<double>(code)));
    }
    same(out, "nodes.sets", i, split.left_mean < split.right_mean + 1e-12 * std::abs(split.right_mean));
  } else {
    const double middle = std::midpoint(split.low, split.high);
    same(out, "nodes.thresholds", i, node.threshold == (middle > split.low ? middle : split.high));
  }
  agree(out, "gain", i, model.gain(i), split.gain, std::max(split.gain, 1e-9 * std::abs(count.nodes[0].risk)), 1e-7);
  if (!node.categories && std::abs(split.left_mean - split.right_mean) > 1e-12 * std::abs(split.left_mean))
    same(out, "details.turned", i, (model.details.turned[at(i)] != 0) == (split.right_mean < split.left_mean));
  else if (node.categories) same(out, "details.turned", i, model.details.turned[at(i)] == 0);
  const double apart = split.left_weight - split.right_weight;
  if (model.spec.missing != TreeMissing::direction && std::abs(apart) > 1e-9 * split.left_weight)
    same(out, "nodes.missing_left", i, (node.missing_left != 0) == (apart > 0));
}

/// How far a surrogate agrees with its split, of each row of the node by itself.
void compare_surrogate(Comparison& out, const TreeModel& model, const Recount& count, const MatrixView& x,
                       std::size_t s) {
  const TreeDetails& all = model.details;
  const Index i = all.node[s], column = all.column[s];
  const NodeCount& node = count.nodes[at(i)];
  const TreeNode& asks = model.nodes[i];
  const int levels = model.nodes.levels[at(column)];
  const Way way{model};
  double agreeing = 0, left = 0, right = 0, low = -std::numeric_limits<double>::infinity(), high = -low;
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(levels), 0);
  for (std::size_t m = node.begin; m < node.end; ++m) {
    const Member& member = count.members[m];
    const double value = x(member.row, column), primary = x(member.row, asks.column);
    if (levels == 0 && !std::isnan(value))
      (value < all.threshold[s] ? low = std::max(low, value) : high = std::min(high, value));
    if (way.is_missing(i, primary)) continue;
    const bool goes_left = model.nodes.goes_left(asks, primary);
    (goes_left ? left : right) += member.weight;
    if (std::isnan(value)) continue;
    if (levels > 0) seen[static_cast<std::size_t>(value)] = 1;
    const bool sent_left =
        levels > 0 ? is_in(all.sets, all.threshold[s], value) : (value < all.threshold[s]) == (all.less_left[s] != 0);
    if (goes_left == sent_left) agreeing += member.weight;
  }
  const auto place = static_cast<Index>(s);
  const double total = left + right, majority = std::max(left, right) / total;
  agree(out, "details.agreement", place, all.agreement[s], agreeing / total, 1);
  agree(out, "details.adjusted", place, all.adjusted[s], (agreeing / total - majority) / (1 - majority), 1, 1e-7);
  for (std::size_t code = 0; code < seen.size(); ++code) {
    same(out, "details.sets_known", place,
         is_in(all.sets_known, all.threshold[s], static_cast<double>(code)) == (seen[code] != 0));
    if (seen[code] == 0)
      same(out, "details.sets", place, !is_in(all.sets, all.threshold[s], static_cast<double>(code)));
  }
  if (levels > 0) return same(out, "details.less_left", place, all.less_left[s] != 0);
  const double middle = std::midpoint(low, high);
  same(out, "details.threshold", place, all.threshold[s] == (middle > low ? middle : high));
}

/// The α at which each split is lost, found by collapsing the weakest links of the whole tree again and again.
Vector complexities_anew(const TreeNodes& nodes, const Vector& risk) {
  const Index n = nodes.size();
  std::vector<bool> kept(at(n), true);
  Vector out = Vector::Zero(n), below(n), leaves(n);
  double alpha = -std::numeric_limits<double>::infinity();
  while (!nodes.is_leaf(0) && kept[0]) {
    double weakest = std::numeric_limits<double>::infinity();
    for (Index i = n - 1; i >= 0; --i) {
      const bool split = !nodes.is_leaf(i) && kept[at(i)];
      below(i) = split ? below(nodes.left(i)) + below(nodes.right(i)) : risk(i);
      leaves(i) = split ? leaves(nodes.left(i)) + leaves(nodes.right(i)) : 1;
      if (split) weakest = std::min(weakest, (risk(i) - below(i)) / (leaves(i) - 1));
    }
    alpha = std::max(alpha, weakest);
    for (Index i = 0; i < n; ++i) {  // from the root down: a node below a lost one is lost with it
      if (nodes.is_leaf(i)) continue;
      if (kept[at(i)] && (risk(i) - below(i)) / (leaves(i) - 1) <= alpha + 1e-10 * risk(0)) {
        kept[at(i)] = false;
        out(i) = alpha;
      }
      if (kept[at(i)]) continue;
      for (const Index child : {nodes.left(i), nodes.right(i)})
        if (!nodes.is_leaf(child) && kept[at(child)]) {
          kept[at(child)] = false;
          out(child) = alpha;
        }
    }
  }
  return out;
}

/// The least R + α · leaves of all subtrees, from the leaves up.
double least_cost(const TreeNodes& nodes, const Vector& risk, double alpha) {
  Vector cost(nodes.size());
  for (Index i = nodes.size() - 1; i >= 0; --i) {
    cost(i) = risk(i) + alpha;
    if (!nodes.is_leaf(i)) cost(i) = std::min(cost(i), cost(nodes.left(i)) + cost(nodes.right(i)));
  }
  return cost(0);
}

void compare_table(Comparison& out, const TreeModel& model) {
  const double unit = model.loss(0);
  const Matrix& table = model.cp_table;
  const double last = table(table.rows() - 1, 0), nodes = static_cast<double>(model.nodes.size());
  if (model.spec.prune == TreePruning::cp || model.spec.prune == TreePruning::validation)
    out.number("cp_table", last, model.spec.cp, 1);
  else same(out, "cp_table", table.rows() - 1, last >= model.spec.cp);
  if (!(unit > 0) || model.nodes.is_leaf(0)) {
    same(out, "cp_table", 0, table.rows() == 1 && table(0, 1) == 0 && table(0, 2) == 1);
    return;
  }
  if (nodes * static_cast<double>(table.rows()) <= kMostPruning) {
    const Vector complexity = complexities_anew(model.nodes, model.loss) / unit;
    for (Index i = 0; i < model.nodes.size(); ++i) agree(out, "complexity", i, model.complexity(i), complexity(i), 1);
  }
  std::vector<double> cps;
  for (Index i = 0; i < model.nodes.size(); ++i)
    if (!model.nodes.is_leaf(i)) cps.push_back(model.complexity(i));
  std::sort(cps.begin(), cps.end(), std::greater<>());
  cps.erase(std::unique(cps.begin(), cps.end(), [](double a, double b) { return a - b <= 1e-10; }), cps.end());
  if (static_cast<Index>(cps.size()) + 1 != table.rows()) return same(out, "cp_table", table.rows(), false);
  const Index step = cps_apart(model);
  for (Index r = 0; r < table.rows(); ++r) {
    const double cp = table(r, 0);
    if (r + 1 < table.rows()) agree(out, "cp_table", r, cp, cps[at(r)], 1);
    if (r % step != 0 && r + 1 != table.rows()) continue;
    std::vector<bool> there(at(model.nodes.size()), false);
    there[0] = true;
    double error = 0, splits = 0;
    for (Index i = 0; i < model.nodes.size(); ++i) {
      if (!there[at(i)]) continue;
      if (model.nodes.is_leaf(i) || model.complexity(i) <= cp + 1e-12) {
        error += model.loss(i) / unit;
        continue;
      }
      ++splits;
      there[at(model.nodes.left(i))] = there[at(model.nodes.right(i))] = true;
    }
    agree(out, "cp_table", r, table(r, 1), splits, 1);
    agree(out, "cp_table", r, table(r, 2), error, 1);
    const double cost = error + cp * (splits + 1);
    if (cp >= 0) agree(out, "cp_table", r, cost, least_cost(model.nodes, model.loss, cp * unit) / unit, 1);
  }
}

}  // namespace

Index tree::cps_apart(const TreeModel& model) {
  const double work = static_cast<double>(model.nodes.size()) * static_cast<double>(model.cp_table.rows());
  return std::max<Index>(1, static_cast<Index>(work / kMostPruning));
}

std::string tree::claim(Index splits, double worst, double tolerance, Index apart) {
  return fmt::format(
      "Each of {} is the best of all splits at its node up to {:.1e} of its gain (allowed {:.0e}), counted anew column "
      "by column; "
      "every row reaches the leaf where it is counted, and what is told of a node is its rows'. For {} of the "
      "table the tree "
      "is the best of all subtrees (that is an optimum); that the tree before pruning is the best of all trees is not "
      "claimed.",
      count_of(splits, "split"), worst, tolerance,
      apart == 1 ? std::string("each cp") : fmt::format("one in {} of the cps, and the last,", apart));
}

Certificate certify(const TreeModel& model, const Rows& rows, const Execution& execution) {
  Comparison found;
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "shortfall of a split beside the best of its node";
  out.tolerance = kShort;
  out.stopped = "every split counted";
  compare_names(found, model, rows);
  double worst = 0;
  if (!found.finding()) {
    Matrix space;
    const MatrixView x = matrix_of(rows, space, execution);
    const Recount count = recount(model, rows, x, execution);
    compare_nodes(found, model, count);
    compare_stops(found, model);
    for (Index i = 0; i < model.nodes.size(); ++i) {
      if (model.nodes.is_leaf(i)) continue;
      ++out.iterations;
      compare_split(found, model, count, i);
      worst = std::max(worst, (count.splits[at(i)].best - model.gain(i)) / model.gain(i));
    }
    for (std::size_t s = 0; s < model.details.node.size(); ++s) compare_surrogate(found, model, count, x, s);
    compare_table(found, model);
    const Vector importance = importance_of(model);
    for (Index j = 0; j < model.width(); ++j)
      agree(found, "importance", j, model.importance(j), importance(j), std::max(1e-300, importance.maxCoeff()));
  }
  out.value = worst;
  out.message = claim(static_cast<Index>(out.iterations), worst, kShort, cps_apart(model));
  if (const auto& wrong = found.finding()) {
    out.kind = "difference of " + wrong->field;
    out.value = wrong->value;
    out.tolerance = wrong->tolerance;
    out.message = fmt::format("The tree is not that of these rows: {}'{}' is not theirs.", wrong->place, wrong->field);
  }
  return out;
}

}  // namespace lemma
