// lemma/tree/optimal_tree.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/tree/optimal_tree.hpp>
#include <lemma/tree/optimal_tree/search.hpp>

namespace lemma {
namespace {

using namespace optimal;

/// A tree that was found, with its rows, becomes nodes with their numbers.
class Planting {
 public:
  Planting(const RankedColumns& data, OptimalTreeModel& model) : data_(data), model_(model) {
    model.nodes = single_leaf(data.levels);
    rank_.resize(at(data.width()), std::vector<std::uint32_t>(at(data.rows())));
    for (std::size_t j = 0; j < data.order.size(); ++j)
      for (const RankedRow& each : data.order[j]) rank_[j][each.row] = each.rank;
  }
  void plant(const Subtree& tree) {
    std::vector<std::uint32_t> all(at(data_.rows()));
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    plant(0, tree, all);
    model_.nodes.number_leaves();
    const Index n = model_.nodes.size();
    model_.weight.resize(n);
    model_.loss.resize(n);
    model_.counts.resize(n, data_.classes);
    model_.estimates.resize(n, std::max<Index>(1, data_.classes));
    model_.label.assign(data_.classes > 0 ? at(n) : 0, 0);
    for (Index i = 0; i < n; ++i) add_up(i);
  }

 private:
  void plant(Index node, const Subtree& tree, const std::vector<std::uint32_t>& rows) {
    rows_.resize(model_.nodes.nodes.size());
    rows_[at(node)] = rows;
    if (!tree) return;
    const Question& asks = tree->asks;
    const bool categories = data_.levels[at(asks.column)] > 0;
    std::vector<std::uint32_t> sides[2];
    for (const std::uint32_t row : rows) {
      const std::uint32_t rank = rank_[at(asks.column)][row];
      sides[(categories ? rank == asks.low : rank <= asks.low) ? 0 : 1].push_back(row);
    }
    const Index left = model_.nodes.split(node);
    TreeNode& to = model_.nodes.nodes[at(node)];
    to.column = static_cast<std::uint32_t>(asks.column) & 0x3fffffffU;
    to.categories = categories;
    if (categories) {
      const std::size_t begin = model_.nodes.add_set(asks.column);
      model_.nodes.put_in_set(begin, asks.low);
      to.threshold = static_cast<double>(begin);
    } else {
      to.threshold = data_.threshold(asks.column, asks.low, asks.high);
    }
    plant(left, tree->left, sides[0]);
    plant(left + 1, tree->right, sides[1]);
  }

  void add_up(Index node) {
    const auto& rows = rows_[at(node)];
    double weight = 0, sum = 0, squares = 0;
    for (const std::uint32_t row : rows) weight += data_.weight_of(row);
    model_.weight(node) = weight;
    if (data_.classes == 0) {
      const double first = data_.y[rows.front()];
      for (const std::uint32_t row : rows) sum += data_.weight_of(row) * (data_.y[row] - first);
      const double mean = first + sum / weight;
      for (const std::uint32_t row : rows)
        squares += data_.weight_of(row) * (data_.y[row] - mean) * (data_.y[row] - mean);
      model_.estimates(node, 0) = mean;
      model_.loss(node) = squares;
      return;
    }
    model_.counts.row(node).setZero();
    for (const std::uint32_t row : rows) model_.counts(node, data_.label[row]) += data_.weight_of(row);
    Index most = 0;
    model_.loss(node) = weight - model_.counts.row(node).maxCoeff(&most);
    model_.label[at(node)] = static_cast<int>(most);
    model_.estimates.row(node) = model_.counts.row(node) / weight;
  }

  const RankedColumns& data_;
  OptimalTreeModel& model_;
  std::vector<std::vector<std::uint32_t>> rank_, rows_;  // of each column the rank of each row; of each node its rows
};

/// What a single leaf loses. Error where squares of numbers leave the range of numbers.
double root_loss(const RankedColumns& data, const Rows& rows) {
  OptimalTreeModel root;
  Planting(data, root).plant(nullptr);
  const double loss = root.loss(0);
  if (!std::isfinite(loss))
    throw Error(fmt::format(
        "optimal_tree: the values of '{}' are so large that their squares are not finite; divide them by a constant",
        rows.target));
  const bool constant =
      data.classes > 0 || std::all_of(data.y.begin(), data.y.end(), [&](double y) { return y == data.y[0]; });
  if (!constant && loss < 1e-280)
    throw Error(fmt::format(
        "optimal_tree: the values of '{}' lie so close together that their squares vanish; multiply them by a constant",
        rows.target));
  return loss;
}

}  // namespace

OptimalTreeModel fit(const Valid<OptimalTree>& spec, const Rows& rows, const FitOptions& options) {
  require(rows.width() > 0, "optimal_tree: there are no columns to split; the formula names none");
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.05, "reading rows"));
  const RankedColumns data = ranked_columns(OptimalTree::name, rows, execution.part(0.05, 0.1, "sorting columns"));
  OptimalTreeModel model;
  model.spec = *spec;
  const Wanted wanted{spec->depth, spec->cp * root_loss(data, rows), spec->max_iterations};
  const Searched found = search(data, wanted, execution.part(0.1, 0.6, "searching"));
  Planting(data, model).plant(found.best.tree);
  model.cost = wanted.price * static_cast<double>(model.nodes.leaves());
  for (Index i = 0; i < model.nodes.size(); ++i)
    if (model.nodes.is_leaf(i)) model.cost += model.loss(i);
  model.bound = found.complete ? model.cost : std::min(model.cost, found.best.bound);
  for (const auto& each : rows.levels) model.levels.insert(model.levels.end(), each.begin(), each.end());
  if (model.loss(0) == 0)
    model.warnings.push_back(fmt::format("'{}' is the same in all rows: the tree is one leaf", rows.target));
  if (!found.complete)
    model.warnings.push_back(
        fmt::format("the search ended after {}: the tree is the best found, and a better one may exist; "
                    "--max_iterations gives it more time",
                    count_of(found.subsets, "subset")));
  model.certificate = certify(model, rows, execution.part(0.6, 1, "certificate"));
  return model;
}

void OptimalTreeModel::check() const {
  nodes.check(OptimalTree::name);
  require(nodes.trees() == 1, "optimal_tree: there is more than one tree");
  check_tallies(OptimalTree::name, *this, nodes.size());
  require(std::isfinite(cost) && std::isfinite(bound), "optimal_tree: the cost or its bound is not a number");
  Index names = 0;
  for (const int each : nodes.levels) names += each;
  require(static_cast<Index>(levels.size()) == names, "optimal_tree: the names of the categories do not fit");
}

// ---- What it says of rows ----

Vector OptimalTreeModel::leaf(const MatrixView& x) const {
  require_width(*this, x.cols());
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) out(i) = static_cast<double>(nodes.leaf_of(x.row(i).data()));
  return out;
}

Vector OptimalTreeModel::predict(const MatrixView& x) const { return numbers_at(spec.name, leaf(x)); }
Labels OptimalTreeModel::classify(const MatrixView& x) const { return labels_at(spec.name, leaf(x)); }
Matrix OptimalTreeModel::probabilities(const MatrixView& x) const { return shares_at(spec.name, leaf(x)); }

std::string OptimalTreeModel::summary(const Names& names) const {
  const auto children = [&](Index i) {
    return nodes.is_leaf(i) ? std::pair{i, i} : std::pair{nodes.left(i), nodes.right(i)};
  };
  const auto question = [&](Index i, bool left) {
    const TreeNode& asks = nodes[i];
    const std::string& column = names.features[asks.column];
    if (!asks.categories) return fmt::format("{}{}{}", column, left ? "< " : ">=", format_significant(asks.threshold));
    std::size_t first = 0;
    for (std::size_t j = 0; j < asks.column; ++j) first += static_cast<std::size_t>(nodes.levels[j]);
    std::string level;
    for (int code = 0; code < nodes.levels[asks.column]; ++code)
      if (nodes.in_set(static_cast<std::size_t>(asks.threshold), static_cast<std::uint32_t>(code)))
        level = this->levels[first + static_cast<std::size_t>(code)];
    return fmt::format("{}{}{}", column, left ? "=" : "!=", level);
  };
  double lost = 0;
  for (Index i = 0; i < nodes.size(); ++i)
    if (nodes.is_leaf(i)) lost += loss(i);
  std::string out = outline(*this, names.classes, 511, children, question);
  out += fmt::format("\n{}: {} of {} at the root\n", of_classes() ? "Wrong" : "Squared error",
                     format_significant(lost, 5), format_significant(loss(0), 5));
  const bool proved = cost - bound <= 1e-9 * loss(0);
  out += proved ? fmt::format("No tree of depth {} does better.\n", spec.depth)
                : fmt::format("The tree costs {}, and none of depth {} less than {}: a better one may exist.\n",
                              format_significant(cost, 5), spec.depth, format_significant(bound, 5));
  return out;
}

template const Method& method_of<OptimalTree>();

}  // namespace lemma
