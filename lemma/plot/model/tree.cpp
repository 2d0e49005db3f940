// lemma/plot/model/tree.cpp: a tree as it is drawn on a board, and the errors of the trees nested in it.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/plot/layout.hpp>
#include <lemma/plot/model/kinds.hpp>
#include <lemma/tree/tree.hpp>
#include <lemma/tree/tree/parts.hpp>

namespace lemma::plot {
namespace {

/// Leaves side by side from left to right, a node over the middle of its children.
struct Places {
  std::vector<double> x, depth;
  double leaves = 0, deepest = 0;
};

void place(const TreeModel& model, Index node, double depth, Places& out) {
  const auto at = static_cast<std::size_t>(node);
  out.depth[at] = depth;
  out.deepest = std::max(out.deepest, depth);
  if (model.nodes.is_leaf(node)) {
    out.x[at] = out.leaves++;
    return;
  }
  const Index left = model.nodes.left(node), right = model.nodes.right(node);
  place(model, left, depth + 1, out), place(model, right, depth + 1, out);
  out.x[at] = (out.x[static_cast<std::size_t>(left)] + out.x[static_cast<std::size_t>(right)]) / 2;
}

}  // namespace

Figure tree_nodes(const Shown& shown) {
  constexpr double kMostLeaves = 60, kHalf = 0.42, kHigh = 0.17, kQuestion = 0.2;
  const TreeModel& model = *model_cast<TreeModel>(shown.trained.model);
  const auto n = static_cast<std::size_t>(model.nodes.size());
  Places places{std::vector<double>(n), std::vector<double>(n)};
  place(model, 0, 0, places);
  require(places.leaves <= kMostLeaves, fmt::format("a tree of {:.0f} leaves is too large to be read: 'lemma prune' "
                                                    "makes a smaller one of it (up to {:.0f} are drawn)",
                                                    places.leaves, kMostLeaves));
  const bool classes = !model.classes.empty();
  Panel panel;
  panel.x.shown = panel.y.shown = panel.x.grid = panel.y.grid = false;
  panel.x.from = -0.6, panel.x.to = places.leaves - 0.4, panel.y.from = -places.deepest - 0.3, panel.y.to = 0.3;
  Segments branches;
  branches.paint = faint(), branches.width = 1.2;
  Rectangles boxes;
  Words told, asked;
  asked.paint = ink(), told.size = asked.size = 10;
  const auto y_of = [&](Index node) { return -places.depth[static_cast<std::size_t>(node)]; };
  const auto x_of = [&](Index node) { return places.x[static_cast<std::size_t>(node)]; };
  double widest = 60;
  for (Index node = 0; node < static_cast<Index>(n); ++node) {
    const double x = x_of(node), y = y_of(node), rows = model.weight(node);
    // of classes a bar of their shares, else one of the number
    double from = x - kHalf;
    for (Index k = 0; k < (classes ? model.counts.cols() : 1); ++k) {
      const double share = classes ? model.counts(node, k) / rows : 1;
      boxes.x0.push_back(from), boxes.x1.push_back(from + 2 * kHalf * share), from += 2 * kHalf * share;
      boxes.y0.push_back(y - kHigh), boxes.y1.push_back(y + kHigh);
      boxes.paints.push_back(series(classes ? static_cast<int>(k) : 0, 0.3));
      boxes.tooltips.push_back(
          classes ? fmt::format("node {}: {} of {} rows are {}", model.number(node),
                                format_significant(model.counts(node, k), 6), format_significant(rows, 6),
                                model.classes[static_cast<std::size_t>(k)])
                  : fmt::format("node {}: mean {} of {} rows", model.number(node),
                                format_significant(model.estimates(node, 0), 5), format_significant(rows, 6)));
    }
    const std::string what = classes
                                 ? model.classes[static_cast<std::size_t>(model.label[static_cast<std::size_t>(node)])]
                                 : format_significant(model.estimates(node, 0), 4);
    told.x.push_back(x), told.y.push_back(y),
        told.words.push_back(fmt::format("{} ({})", what, format_significant(rows, 6)));
    if (model.nodes.is_leaf(node)) continue;
    // What is asked stands below the node, and whoever says yes goes left.
    for (const Index child : {model.nodes.left(node), model.nodes.right(node)}) {
      branches.x0.push_back(x), branches.y0.push_back(y - kHigh - kQuestion), branches.x1.push_back(x_of(child)),
          branches.y1.push_back(y_of(child) + kHigh);
    }
    asked.x.push_back(x), asked.y.push_back(y - kHigh - kQuestion / 2);
    asked.words.push_back(fitted(tree::question(model, node, true), asked.size, 130));
    widest = std::max(widest, text_width(asked.words.back(), asked.size) * 0.8);
    widest = std::max(widest, text_width(told.words.back(), told.size) * 1.1);
  }
  panel.marks = {branches, boxes, told, asked};
  Figure out;
  out.width = std::max(480.0, (widest + 14) * places.leaves + 40), out.height = 95 * (places.deepest + 1) + 60;
  if (classes) {
    out.legend.title = shown.trained.design.target();
    for (std::size_t k = 0; k < model.classes.size(); ++k)
      out.legend.entries.push_back({model.classes[k], series(static_cast<int>(k)), LegendEntry::Key::area});
    out.width += 100;
  }
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("Tree of {} nodes, {:.0f} of them leaves; rows for which the condition holds go left.",
                                n, places.leaves);
  return out;
}

Figure cp_curve(const Shown& shown) {
  const Matrix table = *matrix_of(shown.trained, "cp_table");
  const bool crossed = table.cols() >= 5;
  Panel panel{"",
              {"splits", ScaleKind::factor, {}},
              {crossed ? "cross-validated error, of that of the root" : "error, of that of the root"},
              {}};
  Line line;
  Segments bars{{}, {}, {}, {}, series(0)};
  const Index column = crossed ? 3 : 2;
  Index best = 0;
  for (Index i = 0; i < table.rows(); ++i) {
    const auto x = static_cast<double>(i);
    panel.x.levels.push_back(format_significant(table(i, 1), 6));
    line.x.push_back(x), line.y.push_back(table(i, column));
    if (table(i, column) < table(best, column)) best = i;
    if (!crossed) continue;
    bars.x0.push_back(x), bars.x1.push_back(x);
    bars.y0.push_back(table(i, 3) - table(i, 4)), bars.y1.push_back(table(i, 3) + table(i, 4));
  }
  Points points{line.x, line.y, {}, {}};
  for (Index i = 0; i < table.rows(); ++i)
    points.tooltips.push_back(fmt::format("cp {}: {}", format_significant(table(i, 0), 4),
                                          count_of(static_cast<Index>(table(i, 1)), "split")));
  panel.marks = {bars, line, points};
  if (crossed) {  // the smallest tree below this line is that of the one-standard-error rule
    const double level = table(best, 3) + table(best, 4), last = static_cast<double>(table.rows() - 1);
    panel.marks.emplace_back(Line{{0, last}, {level, level}, faint(), 1.2, true});
  }
  Figure out;
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("Errors of {}; the least is that of {}.", count_of(table.rows(), "nested tree"),
                                count_of(static_cast<Index>(table(best, 1)), "split"));
  return out;
}

}  // namespace lemma::plot
