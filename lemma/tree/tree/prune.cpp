// lemma/tree/tree/prune.cpp
#include <lemma/tree/tree/prune.hpp>

#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <queue>

namespace lemma::tree {
namespace {

constexpr double kSame = 1e-10;  // of the root's risk: complexities that differ by rounding alone

/// A subtree laid out with its root first; splits for which `keep` is false become leaves.
GrownTree laid_out(const GrownTree& tree, const auto& keep) {
  GrownTree out;
  std::vector<std::pair<std::int32_t, std::int32_t>> waiting{{0, 0}};  // old place, new place
  out.push_back(tree[0]);
  while (!waiting.empty()) {
    const auto [from, to] = waiting.back();
    waiting.pop_back();
    if (tree[at(from)].is_leaf()) continue;
    if (!keep(from)) {
      Grown& leaf = out[at(to)];
      leaf.column = leaf.left = leaf.right = -1;
      leaf.gain = leaf.threshold = 0;
      leaf.sides.clear();
      leaf.surrogates.clear();
      leaf.missing_left = true;
      leaf.turned = false;
      continue;
    }
    const auto left = static_cast<std::int32_t>(out.size());
    out.push_back(tree[at(tree[at(from)].left)]);
    out.push_back(tree[at(tree[at(from)].right)]);
    out[at(to)].left = left;
    out[at(to)].right = left + 1;
    waiting.emplace_back(tree[at(from)].right, left + 1);
    waiting.emplace_back(tree[at(from)].left, left);
  }
  return out;
}

std::uint64_t mixed(std::uint64_t h) {  // the finaliser of splitmix64
  h += 0x9e3779b97f4a7c15ULL;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

}  // namespace

void find_complexities(GrownTree& tree) {
  const std::size_t n = tree.size();
  std::vector<std::int32_t> parent(n, -1);
  std::vector<double> below(n), leaves(n);  // risk and number of the leaves below
  std::vector<bool> whole(n, true);
  struct Link {
    double alpha;
    std::int32_t node;
    double leaves;
    bool operator>(const Link& other) const { return alpha != other.alpha ? alpha > other.alpha : node > other.node; }
  };
  std::priority_queue<Link, std::vector<Link>, std::greater<>> links;
  const auto offer = [&](std::int32_t i) {
    links.push({(tree[at(i)].risk - below[at(i)]) / (leaves[at(i)] - 1), i, leaves[at(i)]});
  };
  for (std::size_t i = n; i-- > 0;) {
    Grown& node = tree[i];
    node.complexity = 0;
    if (node.is_leaf()) {
      below[i] = node.risk;
      leaves[i] = 1;
      continue;
    }
    below[i] = below[at(node.left)] + below[at(node.right)];
    leaves[i] = leaves[at(node.left)] + leaves[at(node.right)];
    parent[at(node.left)] = parent[at(node.right)] = static_cast<std::int32_t>(i);
    offer(static_cast<std::int32_t>(i));
  }
  double alpha = -std::numeric_limits<double>::infinity();
  while (!links.empty()) {
    const Link weakest = links.top();
    links.pop();
    const std::int32_t i = weakest.node;
    if (!whole[at(i)] || leaves[at(i)] != weakest.leaves) continue;  // lost already, or offered anew
    if (weakest.alpha > alpha + kSame * tree[0].risk) alpha = weakest.alpha;
    std::vector<std::int32_t> lost{i};
    while (!lost.empty()) {
      const std::int32_t each = lost.back();
      lost.pop_back();
      if (tree[at(each)].is_leaf() || !whole[at(each)]) continue;
      whole[at(each)] = false;
      tree[at(each)].complexity = alpha;
      lost.push_back(tree[at(each)].left);
      lost.push_back(tree[at(each)].right);
    }
    const double more_risk = tree[at(i)].risk - below[at(i)], fewer = leaves[at(i)] - 1;
    for (std::int32_t up = parent[at(i)]; up >= 0; up = parent[at(up)]) {
      below[at(up)] += more_risk;
      leaves[at(up)] -= fewer;
      offer(up);
    }
  }
}

GrownTree pruned(const GrownTree& tree, double alpha) {
  return laid_out(tree, [&](std::int32_t i) { return tree[at(i)].complexity > alpha + kSame * 1e-2 * tree[0].risk; });
}

std::vector<CpRow> cp_table(const GrownTree& tree, double cp) {
  const double unit = tree[0].risk;
  std::vector<double> cps;
  for (const Grown& node : tree)
    if (!node.is_leaf()) cps.push_back(node.complexity / unit);
  std::sort(cps.begin(), cps.end(), std::greater<>());
  cps.erase(std::unique(cps.begin(), cps.end()), cps.end());
  cps.push_back(cp);
  std::vector<CpRow> out;
  for (const double each : cps) out.push_back({each, 0, 0});
  if (out.size() == 1) {
    out[0].error = 1;
    return out;
  }
  // A split takes off its risk minus its children's, in all trees that have it: those of a smaller cp.
  std::vector<double> splits(out.size(), 0), off(out.size(), 0);
  for (const Grown& node : tree) {
    if (node.is_leaf()) continue;
    const auto row = static_cast<std::size_t>(
        std::lower_bound(cps.begin(), cps.end() - 1, node.complexity / unit, std::greater<>()) - cps.begin());
    splits[row + 1] += 1;
    off[row + 1] += (node.risk - tree[at(node.left)].risk - tree[at(node.right)].risk) / unit;
  }
  double error = 1, count = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].splits = count += splits[i];
    out[i].error = error -= off[i];
  }
  return out;
}

RowGroups row_groups(const RankedColumns& data, std::uint64_t seed) {
  const std::size_t n = at(data.rows());
  std::vector<std::uint64_t> hash(n, mixed(seed));
  for (const auto& column : data.order)
    for (const RankedRow& each : column) hash[each.row] = mixed(hash[each.row] ^ each.rank);
  for (std::size_t i = 0; i < n; ++i)
    hash[i] = mixed(hash[i] ^ (data.classes > 0 ? data.label[i] : std::bit_cast<std::uint64_t>(data.y[i] + 0.0)));
  std::vector<std::uint64_t> all = hash;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  RowGroups out;
  out.count = static_cast<std::uint32_t>(all.size());
  for (const std::uint64_t each : hash)
    out.of.push_back(static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), each) - all.begin()));
  return out;
}

bool Walker::goes_left(const Grown& node, const double* row) const {
  const double value = row[node.column];
  if (!is_missing(node, value))
    return node.sides.empty() ? value < node.threshold : node.sides[static_cast<std::size_t>(value)] < 0;
  for (const Surrogate& each : node.surrogates) {
    const double other = row[each.column];
    if (std::isnan(other)) continue;
    if (each.sides.empty()) return (other < each.threshold) == each.less_left;
    if (each.sides[static_cast<std::size_t>(other)] != 0) return each.sides[static_cast<std::size_t>(other)] < 0;
  }
  return node.missing_left;
}

double Walker::loss(std::uint32_t row, const Grown& node) const {
  if (is_of_classes(plan.criterion)) {
    const std::size_t truth = data.label[row];
    return plan.prior_of(truth) * plan.loss(static_cast<Index>(truth), best_class(node.totals.counts, plan).first);
  }
  const double y = data.y[row], off = y - node.value;
  if (plan.criterion == TreeCriterion::variance) return off * off;
  if (plan.criterion == TreeCriterion::absolute) return std::abs(off);
  return 2 * (x_log_x(y) - y * std::log(node.value) - off);
}

void cross_validate(std::vector<CpRow>& table, const RankedColumns& data, const PackedOrder& order,
                    const std::vector<std::uint8_t>& in, const MatrixView& x, const GrownTree& tree, const Plan& plan,
                    int folds, const RowGroups& groups, const Execution& execution) {
  const auto takes_part = [&](std::size_t i) { return in.empty() || in[i] != 0; };
  const auto count = std::min(static_cast<std::uint32_t>(folds), groups.count);
  const double unit = tree[0].risk, all = tree[0].totals.weight;
  if (count < 2 || !(unit > 0)) return;
  std::vector<double> middle{
      std::numeric_limits<double>::infinity()};  // where the trees are pruned: cps on either side
  for (std::size_t i = 1; i < table.size(); ++i)
    middle.push_back(table[i].cp > 0 ? std::sqrt(table[i - 1].cp * table[i].cp) : std::max(0.0, table[i].cp));
  struct Sums {
    std::vector<double> loss, squares;
  };
  std::vector<Sums> sums(count, {std::vector<double>(table.size(), 0.0), std::vector<double>(table.size(), 0.0)});
  const auto try_fold = [&](Index fold) {
    std::vector<std::uint8_t> train(at(data.rows()), 0);
    double weight = 0;
    for (std::size_t i = 0; i < train.size(); ++i) {
      train[i] = takes_part(i) && groups.of[i] % count != static_cast<std::uint32_t>(fold);
      if (train[i]) weight += data.weight_of(static_cast<std::uint32_t>(i));
    }
    if (!(weight > 0)) return;
    Plan own = plan;
    own.alpha = plan.alpha * weight / all;
    GrownTree grown = grow(data, order, train, own, execution.part(0, 0));
    find_complexities(grown);
    const Walker walker{x, data, plan};
    for (std::size_t i = 0; i < train.size(); ++i) {
      if (train[i] || !takes_part(i)) continue;
      const double* row = x.row(data.source[i]).data();
      const double w = data.weight_of(static_cast<std::uint32_t>(i));
      std::size_t node = 0;
      double loss = walker.loss(static_cast<std::uint32_t>(i), grown[0]);
      for (std::size_t k = 0; k < table.size(); ++k) {
        bool moved = false;
        while (!grown[node].is_leaf() && grown[node].complexity > middle[k] * unit * weight / all) {
          node = at(walker.goes_left(grown[node], row) ? grown[node].left : grown[node].right);
          moved = true;
        }
        if (moved) loss = walker.loss(static_cast<std::uint32_t>(i), grown[node]);
        sums[at(fold)].loss[k] += w * loss;
        sums[at(fold)].squares[k] += w * loss * loss;
      }
    }
  };
  constexpr Index kMany = Index{1} << 21;  // cells: a fold has its own order of them, and enough for all threads to do
  if (data.rows() * data.width() < kMany) {
    parallel_for(static_cast<Index>(count), execution, try_fold);
  } else {
    for (Index fold = 0; fold < static_cast<Index>(count); ++fold) {
      execution.report(static_cast<double>(fold) / count, execution.message);
      try_fold(fold);
    }
  }
  for (std::size_t k = 0; k < table.size(); ++k) {
    double loss = 0, squares = 0;
    for (const Sums& each : sums) {
      loss += each.loss[k];
      squares += each.squares[k];
    }
    table[k].cross_error = loss / unit;
    table[k].deviation = std::sqrt(std::max(0.0, squares - loss * loss / all)) / unit;
  }
}

GrownTree pruned_by(const GrownTree& tree, const RankedColumns& data, const std::vector<std::uint8_t>& in,
                    const MatrixView& x, const Plan& plan) {
  std::vector<double> here(tree.size(), 0.0), below(tree.size(), 0.0);
  const Walker walker{x, data, plan};
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] != 0) continue;
    const auto row = static_cast<std::uint32_t>(i);
    for (std::size_t node = 0;;) {
      here[node] += data.weight_of(row) * walker.loss(row, tree[node]);
      if (tree[node].is_leaf()) break;
      node = at(walker.goes_left(tree[node], x.row(data.source[i]).data()) ? tree[node].left : tree[node].right);
    }
  }
  std::vector<bool> kept(tree.size(), false);
  for (std::size_t i = tree.size(); i-- > 0;) {
    below[i] = here[i];
    if (tree[i].is_leaf()) continue;
    const double split = below[at(tree[i].left)] + below[at(tree[i].right)];
    kept[i] = split < here[i] - kSame * here[0];
    if (kept[i]) below[i] = split;
  }
  return laid_out(tree, [&](std::int32_t i) { return kept[at(i)]; });
}

}  // namespace lemma::tree
