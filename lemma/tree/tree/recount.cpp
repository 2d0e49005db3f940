// lemma/tree/tree/recount.cpp
#include <algorithm>
#include <cmath>
#include <lemma/tree/tree/column_count.hpp>
#include <mutex>
#include <numeric>

namespace lemma::tree {
namespace {

/// Leaves from left to right; each node's range of them.
std::vector<Index> leaf_order(const TreeNodes& nodes) {
  std::vector<Index> place(at(nodes.size()), 0);
  std::vector<Index> waiting{0};
  Index next = 0;
  while (!waiting.empty()) {
    const Index i = waiting.back();
    waiting.pop_back();
    if (nodes.is_leaf(i)) {
      place[at(i)] = next++;
      continue;
    }
    waiting.push_back(nodes.right(i));
    waiting.push_back(nodes.left(i));
  }
  return place;
}

void find_members(Recount& out, const TreeModel& model, const Rows& rows, const MatrixView& x,
                  const std::vector<std::uint8_t>& in) {
  BlockBuffer buffer;
  const Block outcome = rows.outcome(0, rows.count(), buffer);
  const auto place = leaf_order(model.nodes);
  const Way way{model};
  struct Part {
    Index place;
    Member member;
  };
  std::vector<Part> parts;
  std::size_t taking_part = 0;
  for (Index i = 0; i < rows.count(); ++i) {
    const double w = outcome.weight_of(i);
    if (!(w > 0) || (!in.empty() && in[taking_part++] == 0)) continue;
    Member member{i, w, outcome.label.empty() ? 0 : outcome.label[at(i)], outcome.y.empty() ? 0 : outcome.y[at(i)]};
    const double* row = x.row(i).data();
    if (model.spec.missing != TreeMissing::fractions) {
      parts.push_back({place[at(way.leaf(row))], member});
      continue;
    }
    way.each_leaf(row, [&](Index leaf, double share) {
      member.weight = w * share;
      parts.push_back({place[at(leaf)], member});
    });
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.place < b.place; });
  std::vector<std::size_t> first(at(model.nodes.leaves()) + 1, 0);
  for (const Part& each : parts) {
    ++first[at(each.place) + 1];
    out.members.push_back(each.member);
    out.label.push_back(static_cast<std::uint16_t>(each.member.label));
    out.weight.push_back(each.member.weight);
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  out.nodes.resize(at(model.nodes.size()));
  for (Index i = model.nodes.size() - 1; i >= 0; --i) {
    NodeCount& node = out.nodes[at(i)];
    if (model.nodes.is_leaf(i)) {
      node.begin = first[at(place[at(i)])];
      node.middle = node.end = first[at(place[at(i)]) + 1];
    } else {
      node.begin = out.nodes[at(model.nodes.left(i))].begin;
      node.middle = out.nodes[at(model.nodes.left(i))].end;
      node.end = out.nodes[at(model.nodes.right(i))].end;
    }
  }
}

void add_up(NodeCount& node, const std::vector<Member>& members, const Plan& plan, Index classes) {
  node.counts.assign(at(classes), 0.0);
  double sum = 0;
  for (std::size_t m = node.begin; m < node.end; ++m) {
    node.weight += members[m].weight;
    if (classes > 0) node.counts[static_cast<std::size_t>(members[m].label)] += members[m].weight;
    else sum += members[m].weight * members[m].y;
  }
  if (!(node.weight > 0)) return;
  if (classes > 0) {
    double least = std::numeric_limits<double>::infinity(), altered = 0;
    for (Index k = 0; k < classes; ++k) {
      double expected = 0;
      for (Index j = 0; j < classes; ++j) expected += plan.loss(j, k) * plan.prior_of(at(j)) * node.counts[at(j)];
      least = std::min(least, expected);
      const double n = node.counts[at(k)] * (plan.altered.empty() ? 1.0 : plan.altered[at(k)]);
      altered += n;
      node.value += static_cast<double>(k) * n;
    }
    node.value /= altered;
    node.risk = least;
    return;
  }
  node.value = node.mean = sum / node.weight;
  if (plan.criterion == TreeCriterion::absolute) {
    std::vector<std::pair<double, double>> all;
    for (std::size_t m = node.begin; m < node.end; ++m) all.emplace_back(members[m].y, members[m].weight);
    node.value = weighted_median(std::move(all));
  } else if (plan.criterion == TreeCriterion::poisson) {
    node.value = (1 + sum) / (1 / plan.rate + node.weight);
  }
  for (std::size_t m = node.begin; m < node.end; ++m) {
    const double y = members[m].y, off = y - node.value;
    node.risk += members[m].weight * (plan.criterion == TreeCriterion::variance ? off * off
                                      : plan.criterion == TreeCriterion::absolute
                                          ? std::abs(off)
                                          : 2 * (x_log_x(y) - y * std::log(node.value) - off));
  }
}

void find_bounds(Recount& out, const TreeModel& model) {
  for (Index i = 0; i < model.nodes.size(); ++i) {
    if (model.nodes.is_leaf(i)) continue;
    const NodeCount& node = out.nodes[at(i)];
    NodeCount &left = out.nodes[at(model.nodes.left(i))], &right = out.nodes[at(model.nodes.right(i))];
    left.lower = right.lower = node.lower;
    left.upper = right.upper = node.upper;
    const int sign = out.plan.monotone.empty() ? 0 : out.plan.monotone[model.nodes[i].column];
    if (sign == 0) continue;
    const double middle =
        std::midpoint(std::clamp(left.value, node.lower, node.upper), std::clamp(right.value, node.lower, node.upper));
    (sign > 0 ? left : right).upper = middle;
    (sign > 0 ? right : left).lower = middle;
  }
}

}  // namespace

Recount recount(const TreeModel& model, const Rows& rows, const MatrixView& x, const Execution& execution) {
  Recount out;
  std::vector<std::uint8_t> in;
  if (model.spec.validation > 0)
    in = kept_in(ranked_columns(Tree::name, rows, execution), model.spec.validation, std::stoull(model.seed));
  find_members(out, model, rows, x, in);
  const Index classes = model.class_count();
  NodeCount root = out.nodes[0];
  out.plan = plan_of(model.spec, std::vector<double>(at(classes), 1.0), 1);
  add_up(root, out.members, out.plan, classes);
  out.plan = plan_of(model.spec, root.counts, root.mean);
  parallel_for(model.nodes.size(), execution,
               [&](Index i) { add_up(out.nodes[at(i)], out.members, out.plan, classes); });
  find_bounds(out, model);
  out.plain_classes = classes == 2 && out.plan.criterion == TreeCriterion::gini && out.plan.altered.empty() &&
                      out.plan.monotone.empty() &&
                      std::all_of(out.weight.begin(), out.weight.end(), [](double w) { return w == 1; });
  out.splits.resize(out.nodes.size());
  std::mutex mutex;
  parallel_for(model.width(), execution, [&](Index j) {
    std::vector<SplitCount> found(out.nodes.size());
    count_column(model, out, j, x, found);
    const std::lock_guard lock(mutex);
    for (Index i = 0; i < model.nodes.size(); ++i) {
      const double best = std::max(out.splits[at(i)].best, found[at(i)].best);
      if (!model.nodes.is_leaf(i) && static_cast<Index>(model.nodes[i].column) == j)
        out.splits[at(i)] = std::move(found[at(i)]);
      out.splits[at(i)].best = best;
    }
  });
  return out;
}

}  // namespace lemma::tree
