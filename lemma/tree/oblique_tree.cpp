// lemma/tree/oblique_tree.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/tree/oblique_tree/grow.hpp>
#include <lemma/tree/shared/columns.hpp>

namespace lemma {

ObliqueTreeModel fit(const Valid<ObliqueTree>& spec, const Rows& rows, const FitOptions& options) {
  require(rows.width() > 0, "oblique_tree: there are no columns to split; the formula names none");
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.05, "reading rows"));
  Matrix space;
  const MatrixView x = matrix_of(rows, space, execution);
  BlockBuffer buffer;
  const Block outcome = rows.outcome(0, rows.count(), buffer);
  bool any = false;
  for (Index i = 0; i < rows.count(); ++i) any = any || outcome.weight_of(i) > 0;
  require(any, "oblique_tree: no row has a weight above 0");
  ObliqueTreeModel model;
  model.spec = *spec;
  if (!model.spec.min_leaf) model.spec.min_leaf = std::max(1, (spec->min_split + 1) / 3);
  if (spec->directions == ObliqueDirections::random) model.seed = std::to_string(options.seed);
  oblique::grow(model, x, outcome, static_cast<Index>(rows.classes.size()), options.seed,
                execution.part(0.05, 0.7, "growing"));
  if (!std::isfinite(model.loss(0)))
    throw Error(fmt::format(
        "oblique_tree: the values of '{}' are so large that their squares are not finite; divide them by a constant",
        rows.target));
  if (model.loss(0) == 0)
    model.warnings.push_back(fmt::format("'{}' is the same in all rows: the tree is one leaf", rows.target));
  model.certificate = certify(model, rows, execution.part(0.7, 1, "certificate"));
  return model;
}

void ObliqueTreeModel::check() const {
  nodes.check(ObliqueTree::name);
  require(nodes.trees() == 1, "oblique_tree: there is more than one tree");
  require(spec.min_leaf.has_value(), "oblique_tree: min_leaf is not chosen");
  check_tallies(ObliqueTree::name, *this, nodes.size());
  require(directions.rows() == nodes.size() / 2 && nodes.width() == directions.rows() && directions.allFinite(),
          "oblique_tree: there is not one direction for each split");
  require(gain.size() == nodes.size() && gain.allFinite(), "oblique_tree: there is not one gain for each node");
  Index next = 0;
  for (Index i = 0; i < nodes.size(); ++i) {
    require(!nodes.is_leaf(i) || gain(i) == 0, "oblique_tree: a leaf has the gain of a split");
    require(nodes.is_leaf(i) || static_cast<Index>(nodes[i].column) == next++,
            "oblique_tree: the directions are not in the order of the nodes");
  }
  const bool digits = std::all_of(seed.begin(), seed.end(), [](char c) { return c >= '0' && c <= '9'; });
  require(digits && seed.size() < 21 && seed.empty() == (spec.directions == ObliqueDirections::linear),
          "oblique_tree: the seed is not one");
  for (const int each : nodes.levels) require(each == 0, "oblique_tree: a direction has categories");
}

double ObliqueTreeModel::along(Index node, const double* row) const {
  return oblique::product(directions.row(nodes[node].column).data(), row, width());
}

// ---- What it says of rows ----

Vector ObliqueTreeModel::leaf(const MatrixView& x) const {
  require_width(*this, x.cols());
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    Index node = 0;
    while (!nodes.is_leaf(node)) node = goes_left(node, x.row(i).data()) ? nodes.left(node) : nodes.right(node);
    out(i) = static_cast<double>(node);
  }
  return out;
}

Vector ObliqueTreeModel::predict(const MatrixView& x) const { return numbers_at(spec.name, leaf(x)); }
Labels ObliqueTreeModel::classify(const MatrixView& x) const { return labels_at(spec.name, leaf(x)); }
Matrix ObliqueTreeModel::probabilities(const MatrixView& x) const { return shares_at(spec.name, leaf(x)); }

std::string ObliqueTreeModel::summary(const Names& names) const {
  constexpr Index kMostTerms = 6;
  const auto children = [&](Index i) {
    return nodes.is_leaf(i) ? std::pair{i, i} : std::pair{nodes.left(i), nodes.right(i)};
  };
  const auto question = [&](Index i, bool left) {
    const auto a = directions.row(nodes[i].column);
    std::string text;
    Index terms = 0, more = 0;
    for (Index j = 0; j < width(); ++j) {
      if (a(j) == 0) continue;
      if (terms++ >= kMostTerms) ++more;
      else if (a(j) == 1) text += (text.empty() ? "" : " + ") + names.features[at(j)];
      else
        text += fmt::format("{}{} {}", text.empty() ? (a(j) < 0 ? "-" : "") : (a(j) < 0 ? " - " : " + "),
                            format_significant(std::abs(a(j)), 4), names.features[at(j)]);
    }
    if (more > 0) text += fmt::format(" + {}", count_of(more, "more term"));
    return fmt::format("{} {} {}", text, left ? "<" : ">=", format_significant(nodes[i].threshold, 5));
  };
  double lost = 0;
  for (Index i = 0; i < nodes.size(); ++i)
    if (nodes.is_leaf(i)) lost += loss(i);
  return outline(*this, names.classes, 127, children, question) +
         fmt::format("\n{}: {} of {} at the root, {}\n", of_classes() ? "Wrong" : "Squared error",
                     format_significant(lost, 5), format_significant(loss(0), 5),
                     nodes.leaves() == 1 ? "1 leaf" : fmt::format("{} leaves", nodes.leaves()));
}

template const Method& method_of<ObliqueTree>();

}  // namespace lemma
