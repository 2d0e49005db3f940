// lemma/tree/forest/grove.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/one_vs_rest.hpp>
#include <lemma/tree/forest/grove.hpp>
#include <lemma/tree/forest/walk.hpp>
#include <lemma/tree/shared/shap.hpp>

namespace lemma {

void forest::require_columns(std::string_view method, Index mtry, Index width) {
  if (mtry > width)
    throw Error(fmt::format("{}: mtry is {}, and there {} {}: it must be at most that", method, mtry,
                            width == 1 ? "is" : "are", count_of(width, "column")));
}

void forest::require_bags(std::string_view method, ForestImportance importance, bool replace, double share) {
  if (!replace && share == 1 && importance == ForestImportance::permutation)
    throw Error(
        fmt::format("{}: importance by permutation needs rows outside the bags; draw with --replace true, or a "
                    "--share below 1",
                    method));
}

Index Grove::rows_by_place() const {
  return static_cast<Index>(order.size()) - std::count(order.begin(), order.end(), -1);
}

void Grove::add_up(const MatrixView& x, Index first, Index last, Matrix& out) const {
  constexpr Index kBlock = 32768;  // rows that share what it costs to fetch a tree
  std::vector<std::int32_t> leaf(at(std::min(kBlock, x.rows()) + 1));
  for (Index begin = 0; begin < x.rows(); begin += kBlock) {
    const MatrixView rows = x.middleRows(begin, std::min(kBlock, x.rows() - begin));
    forest::Walk walk(trees, rows);
    for (Index tree = first; tree < last; ++tree) {
      walk.leaves_of(tree, leaf);
      for (Index i = 0; i < rows.rows(); ++i) {
        const auto number = static_cast<Index>(trees[leaf[at(i)]].column);
        if (!of_classes) {
          out(begin + i, 0) += leaf_value(number);
        } else if (const int label = leaf_class[at(number)]; label >= 0) {
          out(begin + i, label) += 1;
        } else {
          for (Index k = 0; k < out.cols(); ++k) out(begin + i, k) += leaf_shares(-1 - label, k);
        }
      }
    }
  }
}

Vector Grove::predict(const MatrixView& x) const {
  require(!of_classes, "this forest tells classes, not numbers: classify() gives them");
  require_width("forest", width(), x.cols());
  Matrix sum = Matrix::Zero(x.rows(), 1);
  add_up(x, 0, trees.trees(), sum);
  return sum.col(0) / static_cast<double>(trees.trees());
}

Matrix Grove::probabilities(const MatrixView& x) const {
  require(of_classes, "this forest predicts numbers, not classes: predict() gives them");
  require_width("forest", width(), x.cols());
  Matrix sum = Matrix::Zero(x.rows(), counts.size());
  add_up(x, 0, trees.trees(), sum);
  sum /= static_cast<double>(trees.trees());
  return sum;
}

Labels Grove::classify(const MatrixView& x) const { return greatest_class(probabilities(x)); }

Prediction Grove::prediction(const MatrixView& x, const PredictOptions& options) const {
  Prediction out;
  if (!of_classes) {
    if (options.asks(kValuePart)) out.add(kValuePart, predict(x));
    return out;
  }
  if (!options.asks(kClassPart) && !options.asks(kProbabilitiesPart)) return out;
  Matrix shares = probabilities(x);
  out.add(kClassPart, greatest_class(shares));
  return out.add(kProbabilitiesPart, std::move(shares));
}

Matrix Grove::leaves(const MatrixView& x) const {
  Matrix out(x.rows(), trees.trees());
  std::vector<std::int32_t> leaf(at(x.rows()));
  for (Index b = 0; b < trees.trees(); ++b) {
    trees.leaves_of(x, b, leaf);
    Index first = trees.roots[at(b)];  // the first leaf in the order of the nodes
    while (!trees.is_leaf(first)) ++first;
    for (Index i = 0; i < x.rows(); ++i)
      out(i, b) = static_cast<double>(trees[leaf[at(i)]].column - trees[first].column + 1);
  }
  return out;
}

Vector Grove::said_by_leaves(Index k) const {
  if (!of_classes) return leaf_value;
  Vector out(static_cast<Index>(leaf_class.size()));
  for (Index i = 0; i < out.size(); ++i) {
    const int label = leaf_class[at(i)];
    out(i) = label >= 0 ? (label == k ? 1.0 : 0.0) : leaf_shares(-1 - label, k);
  }
  return out;
}

Matrix Grove::shap(const MatrixView& x) const {
  require_width("forest", width(), x.cols());
  const Index outputs = of_classes ? counts.size() : 1;
  Matrix out = Matrix::Zero(x.rows(), outputs * width());
  for (Index k = 0; k < outputs; ++k) {
    const Vector values = said_by_leaves(k);
    const TreeShap explained(trees, values, leaf_weight);
    for (Index b = 0; b < trees.trees(); ++b)
      for (Index i = 0; i < x.rows(); ++i) explained.add(b, x.data() + i * x.outerStride(), &out(i, k * width()));
  }
  return out / static_cast<double>(trees.trees());
}

Matrix Grove::shap_base(const MatrixView& x) const {
  const Index outputs = of_classes ? counts.size() : 1;
  Matrix out = Matrix::Zero(x.rows(), outputs);
  for (Index k = 0; k < outputs; ++k) {
    const Vector values = said_by_leaves(k);
    const TreeShap explained(trees, values, leaf_weight);
    double sum = 0;
    for (Index b = 0; b < trees.trees(); ++b) sum += explained.base(b);
    out.col(k).setConstant(sum / static_cast<double>(trees.trees()));
  }
  return out;
}

Matrix Grove::said_by_trees(const MatrixView& x) const {
  Matrix out(x.rows(), trees.trees()), one(x.rows(), counts.size());
  for (Index b = 0; b < trees.trees(); ++b) {
    one.setZero();
    add_up(x, b, b + 1, one);
    out.col(b) = one.col(of_classes ? 1 : 0);
  }
  return out;
}

void Grove::check_grove(const forest::Plan& plan) const {
  const auto say = [&](bool holds, std::string_view what) {
    if (!holds) throw Error(fmt::format("{}: {}", plan.method, what));
  };
  const Index n = rows_by_place(), k = counts.size();
  trees.check(plan.method);
  say(trees.trees() == plan.trees, "there are not as many trees as the parameters say");
  say(importance.size() == width() && importance.allFinite(), "the importances of the columns are not usable");
  say(k >= 1 && counts.allFinite() && (counts.array() >= 0).all(), "the counts are not usable");
  const Index leaves = trees.leaves();
  say(leaf_value.size() == (of_classes ? 0 : leaves) && leaf_value.allFinite(),
      "the numbers of the leaves are not usable");
  say(static_cast<Index>(leaf_class.size()) == (of_classes ? leaves : 0), "there is not one class for each leaf");
  say(leaf_shares.cols() == (of_classes ? k : 0) && leaf_shares.allFinite() && (leaf_shares.array() >= 0).all(),
      "the shares of the leaves are not usable");
  say(leaf_weight.size() == leaves && leaf_weight.allFinite() && (leaf_weight.array() > 0).all(),
      "the weights of the leaves are not usable");
  Index next = 0;
  for (const int label : leaf_class) {
    if (label >= 0) say(label < k, "the class of a leaf is none of the classes");
    else say(-1 - static_cast<Index>(label) == next++, "the shares of a leaf are not where they should be");
  }
  say(next == leaf_shares.rows(), "there are shares of no leaf");
  std::vector<bool> seen(at(n), false);
  for (const int place : order) {
    if (place == -1) continue;
    say(place >= 0 && place < n && !seen[at(place)], "the places of the training rows are not usable");
    seen[at(place)] = true;
  }
  say(n > 0, "there are no training rows");
  say(weight.size() == 0 || (weight.size() == n && weight.allFinite() && (weight.array() > 0).all()),
      "the weights of the training rows are not usable");
  const bool has_oob = oob_error.has_value();
  say(!has_oob || std::isfinite(*oob_error), "the error out of the bag is not usable");
  say((oob_error_by_tree.size() == 0 || (has_oob && oob_error_by_tree.size() == plan.trees)) &&
          oob_error_by_tree.allFinite(),
      "there is not one error for each tree");
  say(oob.rows() == (has_oob ? static_cast<Index>(order.size()) : 0) && (!has_oob || oob.cols() == k) &&
          !oob.array().isInf().any(),
      "there is not one prediction out of the bag for each training row");
  const bool kept = plan.keep_rows;
  say(kept_rows.rows() == (kept ? n : 0) && (!kept || kept_rows.cols() == width()) &&
          kept_response.size() == (kept ? n : 0) && kept_response.allFinite() && none_infinite(kept_rows) &&
          static_cast<Index>(kept_leaves.size()) == (kept ? n * plan.trees : 0),
      "what is kept of the training rows is not usable");
  for (std::size_t i = 0; kept && i < kept_leaves.size(); ++i) {
    const auto b = i / at(n);
    const Index end = b + 1 < trees.roots.size() ? trees.roots[b + 1] : trees.size();
    say(kept_leaves[i] >= 0 && kept_leaves[i] < (end - trees.roots[b] + 1) / 2,
        "a kept row is in a leaf that there is not");
  }
  for (Index i = 0; kept && of_classes && i < n; ++i)
    say(kept_response(i) >= 0 && kept_response(i) < static_cast<double>(k) &&
            kept_response(i) == std::floor(kept_response(i)),
        "the class of a kept row is none of the classes");
}

namespace {

Index depth_of(const TreeNodes& trees) {
  std::vector<std::int32_t> depth(at(trees.size()), 0);
  std::int32_t deepest = 0;
  for (Index i = 0; i < trees.size(); ++i) {
    deepest = std::max(deepest, depth[at(i)]);
    if (!trees.is_leaf(i)) depth[at(trees.left(i))] = depth[at(trees.right(i))] = depth[at(i)] + 1;
  }
  return deepest;
}

}  // namespace

std::string Grove::grove_summary(const forest::Plan& plan, const Names& names) const {
  const double trees_count = static_cast<double>(trees.trees());
  std::string out = fmt::format(
      "{}, {} leaves each in the mean, {} deep at most\n{} of {} at a split, {}\n", count_of(trees.trees(), "tree"),
      format_significant(static_cast<double>(trees.leaves()) / trees_count, 4), count_of(depth_of(trees), "level"),
      plan.columns, count_of(width(), "column"),
      plan.takes_all_rows() ? std::string("all rows for each tree")
                            : fmt::format("{} of the rows drawn {} replacement", format_significant(plan.share, 4),
                                          plan.replace ? "with" : "without"));
  if (oob_error)
    out += fmt::format("\nOut of the bag: {} {}\n", of_classes ? "share of errors" : "mean squared error",
                       format_significant(*oob_error, 5));
  std::vector<Index> columns(at(width()));
  for (Index j = 0; j < width(); ++j) columns[at(j)] = j;
  std::stable_sort(columns.begin(), columns.end(), [&](Index a, Index b) { return importance(a) > importance(b); });
  constexpr Index kShown = 20;
  std::vector<std::string> labels;
  std::vector<double> shown;
  for (Index i = 0; i < std::min(kShown, width()); ++i) {
    const auto j = at(columns[at(i)]);
    labels.push_back(j < names.features.size() ? names.features[j] : fmt::format("x{}", j + 1));
    shown.push_back(importance(columns[at(i)]));
  }
  TextTable table;
  table.words("", labels);
  table.numbers(std::string(name_of(plan.importance)), shown, 4);
  out += fmt::format("\nImportance of columns{}:\n{}",
                     width() > kShown ? fmt::format(" (the first {} of {})", kShown, width()) : "", table.str());
  return out;
}

}  // namespace lemma
