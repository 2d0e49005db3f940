// lemma/tree/tree/model.cpp: the model made of a grown tree, what ties its numbers together, and its file.
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/tree/tree/parts.hpp>
#include <numeric>

namespace lemma {
namespace tree {
namespace {

std::vector<double> per_row(const std::vector<double>& prior, const std::vector<double>& frequency) {
  std::vector<double> out;
  for (std::size_t k = 0; k < prior.size(); ++k) out.push_back(frequency[k] > 0 ? prior[k] / frequency[k] : 1.0);
  return out;
}

/// The sets of a category split: which go left, and which were there at all.
void put_sides(const Sides& sides, std::size_t begin, std::vector<std::uint32_t>& left,
               std::vector<std::uint32_t>& known) {
  const std::size_t words = (sides.size() + 31) / 32;
  left.resize(begin + words, 0);
  known.resize(begin + words, 0);
  for (std::size_t k = 0; k < sides.size(); ++k) {
    if (sides[k] < 0) left[begin + k / 32] |= 1U << (k % 32);
    if (sides[k] != 0) known[begin + k / 32] |= 1U << (k % 32);
  }
}

void add_surrogate(TreeDetails& details, std::int32_t node, const Surrogate& each) {
  details.node.push_back(node);
  details.column.push_back(static_cast<std::int32_t>(each.column));
  details.less_left.push_back(each.less_left);
  details.agreement.push_back(each.agreement);
  details.adjusted.push_back(each.adjusted);
  details.threshold.push_back(each.sides.empty() ? each.threshold : static_cast<double>(details.sets.size()));
  if (!each.sides.empty()) put_sides(each.sides, details.sets.size(), details.sets, details.sets_known);
}

}  // namespace

Plan plan_of(const Tree& spec, std::span<const double> counts, double rate) {
  Plan out;
  out.criterion = *spec.criterion;
  out.missing = spec.missing;
  out.min_split = spec.min_split;
  out.min_leaf = spec.min_leaf.value_or(1);
  out.min_decrease = spec.min_decrease;
  out.purity = spec.purity;
  out.depth = spec.depth;
  out.surrogates = spec.surrogates;
  if (spec.leaves) out.leaves = *spec.leaves;
  for (const double each : spec.monotone) out.monotone.push_back(static_cast<int>(each));
  out.rate = rate > 0 ? rate : 1;
  if (!is_of_classes(out.criterion)) return out;

  const auto k = static_cast<Index>(counts.size());
  out.loss = Matrix::Ones(k, k) - Matrix(Matrix::Identity(k, k));
  if (!spec.loss.empty()) out.loss = Eigen::Map<const Matrix>(spec.loss.data(), k, k);
  const bool plain = spec.prior.index() == 0 && std::get<0>(spec.prior) == Prior::proportions;
  if (plain && spec.loss.empty()) return out;
  const Vector weights = Eigen::Map<const Vector>(counts.data(), k);
  const Vector prior = prior_of(spec.prior, weights);
  Vector altered = prior.array() * out.loss.rowwise().sum().array();
  altered /= altered.sum();
  std::vector<double> frequency;
  for (const double each : counts) frequency.push_back(each / weights.sum());
  if (!plain) out.prior = per_row({prior.begin(), prior.end()}, frequency);
  out.altered = per_row({altered.begin(), altered.end()}, frequency);
  return out;
}

std::vector<std::uint8_t> kept_in(const RankedColumns& data, double aside, std::uint64_t seed) {
  if (!(aside > 0)) return {};
  const RowGroups groups = row_groups(data, seed);
  const double most = std::round(aside * groups.count);
  std::vector<std::uint8_t> out;
  bool any_in = false, any_out = false;
  for (const std::uint32_t each : groups.of) {
    out.push_back(each < most ? 0 : 1);
    (out.back() != 0 ? any_in : any_out) = true;
  }
  require(any_in && any_out, "tree: validation keeps all rows aside, or none; there are too few");
  return out;
}

Eigen::RowVectorXd probabilities_of(const Plan& plan, std::span<const double> counts) {
  Eigen::RowVectorXd out(static_cast<Index>(counts.size()));
  for (Index k = 0; k < out.size(); ++k) out(k) = plan.prior_of(at(k)) * counts[at(k)];
  return out / out.sum();
}

int class_of(const Plan& plan, const Eigen::Ref<const Eigen::RowVectorXd>& p) {
  int best = 0;
  double least = 0;
  for (Index k = 0; k < p.size(); ++k) {
    const double expected = p.dot(plan.loss.col(k));
    if (k > 0 && !(expected < least - 1e-12)) continue;
    best = static_cast<int>(k);
    least = expected;
  }
  return best;
}

Matrix estimates_of(const Tree& spec, const TreeNodes& nodes, const VectorView& weight, const Matrix& said) {
  Matrix out = said;
  const Index n = nodes.size(), last = said.cols() - 1;
  Vector lower = Vector::Constant(n, -std::numeric_limits<double>::infinity()), upper = -lower;
  for (Index i = 0; i < n; ++i) {
    if (nodes.is_leaf(i)) continue;
    const Index left = nodes.left(i), right = nodes.right(i);
    for (const Index child : {left, right}) {
      lower(child) = lower(i);
      upper(child) = upper(i);
      if (spec.shrink > 0)
        out.row(child) = (weight(child) * said.row(child) + spec.shrink * out.row(i)) / (weight(child) + spec.shrink);
    }
    if (spec.monotone.empty()) continue;
    if (const double sign = spec.monotone[nodes[i].column]; sign != 0) {
      const double middle = std::midpoint(std::clamp(said(left, last), lower(i), upper(i)),
                                          std::clamp(said(right, last), lower(i), upper(i)));
      upper(sign > 0 ? left : right) = middle;
      lower(sign > 0 ? right : left) = middle;
    }
    for (const Index child : {left, right}) {
      out(child, last) = std::clamp(out(child, last), lower(child), upper(child));
      if (last == 1) out(child, 0) = 1 - out(child, 1);
    }
  }
  return out;
}

Vector numbers_of(const TreeNodes& nodes, const std::vector<std::uint8_t>& turned) {
  Vector out = Vector::Ones(nodes.size());
  for (Index i = 0; i < nodes.size(); ++i) {
    if (nodes.is_leaf(i)) continue;
    const bool right_first = turned[at(i)] != 0;
    out(nodes.left(i)) = 2 * out(i) + (right_first ? 1 : 0);
    out(nodes.right(i)) = 2 * out(i) + (right_first ? 0 : 1);
  }
  return out;
}

Vector importance_of(const TreeModel& model) {
  Vector out = Vector::Zero(model.width());
  for (Index i = 0; i < model.nodes.size(); ++i)
    if (!model.nodes.is_leaf(i)) out(model.nodes[i].column) += model.gain(i);
  const auto& details = model.details;
  for (std::size_t s = 0; s < details.node.size(); ++s)
    out(details.column[s]) += model.gain(details.node[s]) * details.adjusted[s];
  return out;
}

Matrix matrix_of(const std::vector<CpRow>& table) {
  const bool crossed = !std::isnan(table[0].cross_error);
  Matrix out(static_cast<Index>(table.size()), crossed ? 5 : 3);
  for (Index i = 0; i < out.rows(); ++i) {
    const CpRow& row = table[at(i)];
    out.row(i).head(3) << row.cp, row.splits, row.error;
    if (crossed) out.row(i).tail(2) << row.cross_error, row.deviation;
  }
  return out;
}

TreeModel model_of(const Tree& spec, const GrownTree& grown, const Plan& plan, const Labels& levels) {
  TreeModel out;
  out.spec = spec;
  const auto n = static_cast<Index>(grown.size());
  const bool classes = is_of_classes(plan.criterion);
  const Index k = classes ? static_cast<Index>(grown[0].totals.counts.size()) : 0;
  out.nodes.levels = levels;
  out.nodes.nodes.resize(grown.size());
  out.weight.resize(n);
  out.loss.resize(n);
  out.gain = out.complexity = Vector::Zero(n);
  out.counts.resize(n, k);
  Matrix said(n, classes ? k : 1);
  const double unit = grown[0].risk > 0 ? grown[0].risk : 1;
  for (Index i = 0; i < n; ++i) {
    const Grown& node = grown[at(i)];
    out.weight(i) = node.totals.weight;
    out.loss(i) = node.risk;
    for (Index j = 0; j < k; ++j) out.counts(i, j) = node.totals.counts[at(j)];
    if (classes) said.row(i) = probabilities_of(plan, node.totals.counts);
    else said(i, 0) = node.value;
    out.details.turned.push_back(!node.is_leaf() && node.turned);
    if (node.is_leaf()) continue;
    TreeNode& to = out.nodes.nodes[at(i)];
    to.column = static_cast<std::uint32_t>(node.column) & 0x3fffffffU;
    to.child = node.left - static_cast<std::int32_t>(i);
    to.missing_left = node.missing_left;
    to.categories = !node.sides.empty();
    to.threshold = node.sides.empty() ? node.threshold : static_cast<double>(out.nodes.sets.size());
    if (!node.sides.empty()) put_sides(node.sides, out.nodes.sets.size(), out.nodes.sets, out.details.known);
    out.gain(i) = node.gain;
    out.complexity(i) = node.complexity / unit;
    for (const Surrogate& each : node.surrogates) add_surrogate(out.details, static_cast<std::int32_t>(i), each);
  }
  out.nodes.number_leaves();
  out.number = numbers_of(out.nodes, out.details.turned);
  out.estimates = estimates_of(spec, out.nodes, out.weight, said);
  for (Index i = 0; classes && i < n; ++i) out.label.push_back(class_of(plan, out.estimates.row(i)));
  out.importance = importance_of(out);
  return out;
}

TreeModel cut(const TreeModel& model, const std::vector<bool>& keep) {
  std::vector<Index> from{0};  // old node of each new one
  TreeModel out = model;
  TreeNodes& nodes = out.nodes;
  TreeDetails& details = out.details;
  nodes.nodes.assign(1, {});
  nodes.sets.clear();
  details = {};
  std::vector<std::pair<Index, Index>> waiting{{0, 0}};
  while (!waiting.empty()) {
    const auto [old, now] = waiting.back();
    waiting.pop_back();
    if (model.nodes.is_leaf(old) || !keep[at(old)]) continue;
    const Index left = nodes.split(now);
    const std::int32_t child = nodes.nodes[at(now)].child;
    nodes.nodes[at(now)] = model.nodes[old];
    nodes.nodes[at(now)].child = child;
    from.resize(nodes.nodes.size());
    from[at(left)] = model.nodes.left(old);
    from[at(left + 1)] = model.nodes.right(old);
    waiting.emplace_back(model.nodes.right(old), left + 1);
    waiting.emplace_back(model.nodes.left(old), left);
  }
  const auto copy_set = [](const std::vector<std::uint32_t>& source, std::vector<std::uint32_t>& to, double begin,
                           int levels) {
    const auto first = source.begin() + static_cast<std::ptrdiff_t>(begin);
    to.insert(to.end(), first, first + (levels + 31) / 32);
  };
  const auto select = [&](const auto& all) {
    std::remove_cvref_t<decltype(all)> some = all;
    some.resize(nodes.size(), all.cols());
    for (Index i = 0; i < nodes.size(); ++i) some.row(i) = all.row(from[at(i)]);
    return some;
  };
  for (Index i = 0; i < nodes.size(); ++i) {
    TreeNode& node = nodes.nodes[at(i)];
    const Index old = from[at(i)];
    details.turned.push_back(!node.is_leaf() && model.details.turned[at(old)]);
    if (node.is_leaf()) continue;
    const int count = nodes.levels[node.column];
    if (node.categories) {
      const double begin = node.threshold;
      node.threshold = static_cast<double>(nodes.sets.size());
      copy_set(model.nodes.sets, nodes.sets, begin, count);
      copy_set(model.details.known, details.known, begin, count);
    }
    const auto& all = model.details;
    const auto range = std::equal_range(all.node.begin(), all.node.end(), static_cast<std::int32_t>(old));
    for (auto s = static_cast<std::size_t>(range.first - all.node.begin());
         s < static_cast<std::size_t>(range.second - all.node.begin()); ++s) {
      details.node.push_back(static_cast<std::int32_t>(i));
      details.column.push_back(all.column[s]);
      details.less_left.push_back(all.less_left[s]);
      details.agreement.push_back(all.agreement[s]);
      details.adjusted.push_back(all.adjusted[s]);
      const int levels = nodes.levels[static_cast<std::size_t>(all.column[s])];
      details.threshold.push_back(levels > 0 ? static_cast<double>(details.sets.size()) : all.threshold[s]);
      if (levels == 0) continue;
      copy_set(all.sets, details.sets, all.threshold[s], levels);
      copy_set(all.sets_known, details.sets_known, all.threshold[s], levels);
    }
  }
  nodes.number_leaves();
  out.number = select(model.number);
  out.weight = select(model.weight);
  out.counts = select(model.counts);
  out.estimates = select(model.estimates);
  out.loss = select(model.loss);
  out.gain = select(model.gain);
  out.complexity = select(model.complexity);
  for (Index i = 0; i < nodes.size(); ++i)
    if (nodes.is_leaf(i)) out.gain(i) = out.complexity(i) = 0;
  out.label.clear();
  for (Index i = 0; !model.label.empty() && i < nodes.size(); ++i) out.label.push_back(model.label[at(from[at(i)])]);
  out.importance = importance_of(out);
  return out;
}

// ---- Ways ----

bool Way::is_missing(Index node, double value) const {
  const TreeNode& at_node = model.nodes[node];
  return model.nodes.is_missing(at_node, value) ||
         (at_node.categories && !is_in(model.details.known, at_node.threshold, value));
}

std::optional<bool> Way::goes_left(Index node, const double* row) const {
  const TreeNode& at_node = model.nodes[node];
  if (!is_missing(node, row[at_node.column])) return model.nodes.goes_left(at_node, row[at_node.column]);
  const auto& all = model.details;
  auto s = static_cast<std::size_t>(
      std::lower_bound(all.node.begin(), all.node.end(), static_cast<std::int32_t>(node)) - all.node.begin());
  for (; s < all.node.size() && all.node[s] == node; ++s) {
    const double value = row[all.column[s]];
    const int levels = model.nodes.levels[static_cast<std::size_t>(all.column[s])];
    if (levels == 0) {
      if (!std::isnan(value)) return (value < all.threshold[s]) == (all.less_left[s] != 0);
    } else if (value >= 0 && value < levels && is_in(all.sets_known, all.threshold[s], value)) {
      return is_in(all.sets, all.threshold[s], value);
    }
  }
  return {};
}

void Way::each_leaf(const double* row, const std::function<void(Index, double)>& visit) const {
  std::vector<std::pair<Index, double>> waiting{{0, 1.0}};
  while (!waiting.empty()) {
    const auto [node, share] = waiting.back();
    waiting.pop_back();
    if (model.nodes.is_leaf(node)) {
      visit(node, share);
      continue;
    }
    const Index left = model.nodes.left(node), right = model.nodes.right(node);
    if (const auto goes = goes_left(node, row)) {
      waiting.emplace_back(*goes ? left : right, share);
    } else {
      const double all = model.weight(left) + model.weight(right);
      waiting.emplace_back(right, share * model.weight(right) / all);
      waiting.emplace_back(left, share * model.weight(left) / all);
    }
  }
}

double Way::left_share(Index node, const double* row) const {
  if (const auto goes = goes_left(node, row)) return *goes ? 1.0 : 0.0;
  if (model.spec.missing != TreeMissing::fractions) return model.nodes[node].missing_left ? 1.0 : 0.0;
  const Index left = model.nodes.left(node);
  return model.weight(left) / (model.weight(left) + model.weight(left + 1));
}

}  // namespace tree
}  // namespace lemma
