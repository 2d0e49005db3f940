// lemma/plot/data/tables.cpp: all of a table at once, as colours.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <functional>
#include <lemma/cluster/agglomerative.hpp>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/plot/branches.hpp>
#include <lemma/plot/colours.hpp>
#include <lemma/plot/data/kinds.hpp>

namespace lemma::plot {
namespace {

/// Of the rows that have both; NaN where one of the two does not vary.
double correlation_of(const std::vector<double>& a, const std::vector<double>& b) {
  double n = 0, mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    n += 1;
    const double da = a[i] - mean_a, db = b[i] - mean_b;  // Welford's update
    mean_a += da / n, mean_b += db / n;
    aa += da * (a[i] - mean_a), bb += db * (b[i] - mean_b), ab += da * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

void cell(Rectangles& to, double x, double y, double high, Paint paint, std::string tooltip) {
  to.x0.push_back(x - 0.5), to.x1.push_back(x + 0.5), to.y0.push_back(y - high / 2), to.y1.push_back(y + high / 2);
  to.paints.push_back(paint), to.tooltips.push_back(std::move(tooltip));
}

Axis names_axis(const std::vector<Column>& columns) {
  Axis out{"", ScaleKind::factor, {}};
  for (const Column& column : columns) out.levels.push_back(column.name);
  out.grid = false;
  return out;
}

/// Rows that one cell stands for, so that no more than `most` are drawn.
Index rows_in_a_cell(Index rows, Index most) { return (rows + most - 1) / most; }

}  // namespace

Figure correlation(const Drawn& drawn) {
  constexpr std::size_t kMost = 100, kMostWithNumbers = 16;
  const std::vector<Column> columns = drawn.numbers();
  require(columns.size() <= kMost,
          fmt::format("{} columns are too many: up to {} are drawn, a formula chooses them", columns.size(), kMost));
  Panel panel{"", names_axis(columns), names_axis(columns), {}};
  std::reverse(panel.y.levels.begin(), panel.y.levels.end());
  const auto k = columns.size();
  Rectangles cells;
  Words numbers, light;  // on pale cells and on dark ones, whatever the paper is
  for (std::size_t r = 0; r < k; ++r)
    for (std::size_t c = 0; c < k; ++c) {
      const double value = r == c ? 1 : correlation_of(columns[r].numbers().values, columns[c].numbers().values);
      const double x = static_cast<double>(c), y = static_cast<double>(k - 1 - r);
      const std::string told = std::isfinite(value) ? fmt::format("{:.2f}", value) : "none";
      cell(cells, x, y, 1, std::isfinite(value) ? diverging(0.5 + value / 2) : faint(0.2),
           columns[r].name + ", " + columns[c].name + ": " + told);
      if (k > kMostWithNumbers || !std::isfinite(value)) continue;
      Words& to = takes_dark_words(cells.paints.back()) ? numbers : light;
      to.x.push_back(x), to.y.push_back(y), to.words.push_back(told);
    }
  numbers.size = light.size = k > 10 ? 9 : 11;
  numbers.paint = dark_words(), light.paint = pale_words();
  panel.marks = {cells, numbers, light};
  Figure out;
  out.width = std::max(480.0, 42.0 * static_cast<double>(k) + 200),
  out.height = std::max(400.0, 34.0 * static_cast<double>(k) + 120);
  out.panels.push_back(std::move(panel));
  out.legend = {"correlation", {}, Legend::Ramp{Paint::Of::diverging, -1, 1}};
  out.description =
      fmt::format("Correlations of {}, each of the rows that have both.", count_of(static_cast<Index>(k), "column"));
  return out;
}

Figure missing(const Drawn& drawn) {
  constexpr Index kMostCells = 200;
  std::vector<Column> columns = drawn.by_formula ? drawn.named.response : drawn.table.all();
  columns.insert(columns.end(), drawn.named.terms.begin(), drawn.named.terms.end());
  std::reverse(columns.begin(), columns.end());  // the first one on top
  const Index n = drawn.table.rows(), together = rows_in_a_cell(n, kMostCells);
  Panel panel{"", {"row"}, names_axis(columns), {}};
  panel.x.from = 0.5, panel.x.to = static_cast<double>(n) + 0.5;
  Rectangles cells;
  Index all = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const Index gone = columns[j].missing();
    all += gone;
    panel.y.levels[j] += fmt::format(" ({})", gone);
    for (Index first = 0; first < n; first += together) {
      const Index end = std::min(first + together, n);
      Index count = 0;
      for (Index i = first; i < end; ++i) count += columns[j].is_missing(i);
      if (count == 0) continue;
      const double share = static_cast<double>(count) / static_cast<double>(end - first);
      cells.x0.push_back(static_cast<double>(first) + 0.5), cells.x1.push_back(static_cast<double>(end) + 0.5);
      cells.y0.push_back(static_cast<double>(j) - 0.45), cells.y1.push_back(static_cast<double>(j) + 0.45);
      cells.paints.push_back(series(1, 0.35 + 0.65 * share));
      cells.tooltips.push_back(fmt::format("{}, rows {} to {}: {} missing", columns[j].name, first + 1, end, count));
    }
  }
  panel.marks.emplace_back(std::move(cells));
  Figure out;
  out.height = std::max(200.0, 24.0 * static_cast<double>(columns.size()) + 90);
  out.panels.push_back(std::move(panel));
  out.description = fmt::format("{} in {} and {}.", count_of(all, "missing value"), count_of(n, "row"),
                                count_of(static_cast<Index>(columns.size()), "column"));
  return out;
}

namespace {

/// Standard deviations from the column's mean; 0 where a value is missing.
Matrix standardised(const std::vector<Column>& columns, Index n) {
  Matrix out(n, static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto& values = columns[j].numbers().values;
    double count = 0, mean = 0, squares = 0;
    for (const double v : values)
      if (std::isfinite(v)) {
        const double gap = v - mean;
        mean += gap / ++count, squares += gap * (v - mean);
      }
    const double sd = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
    for (Index i = 0; i < n; ++i) {
      const double v = values[static_cast<std::size_t>(i)];
      out(i, static_cast<Index>(j)) = std::isfinite(v) && sd > 0 ? (v - mean) / sd : 0;
    }
  }
  return out;
}

Hierarchy hierarchy_of(const Matrix& rows) {
  const AgglomerativeModel found = fit(Agglomerative{}, rows);
  return {found.merges, found.heights, found.order};
}

/// Beside the cells, which begin at `edge`: heights go `room` away from it. `along` turns a leaf's number into its place.
Segments beside(const Hierarchy& tree, double edge, double room, bool above,
                const std::function<double(double)>& along) {
  Segments out;
  out.paint = faint(), out.width = 1;
  const double highest = std::max(tree.heights.maxCoeff(), 1e-300);
  const auto away = [&](double height) { return edge + room * height / highest; };
  for (const Branch& b : branches_of(tree)) {
    const double a0 = along(b.from_x), a1 = along(b.to_x), h0 = away(b.from_y), h1 = away(b.to_y);
    out.x0.push_back(above ? a0 : h0), out.x1.push_back(above ? a1 : h1);
    out.y0.push_back(above ? h0 : a0), out.y1.push_back(above ? h1 : a1);
  }
  return out;
}

/// The rows, or what stands for them, in an order in which neighbours are alike.
struct Arranged {
  std::vector<Index> order;
  std::optional<Hierarchy> tree = {};
};
Arranged arranged(const Matrix& things, bool by_likeness) {
  Arranged out;
  for (Index i = 0; i < things.rows(); ++i) out.order.push_back(i);
  if (!by_likeness || things.rows() < 3) return out;
  out.tree = hierarchy_of(things);
  for (Index i = 0; i < things.rows(); ++i)
    out.order[static_cast<std::size_t>(i)] = static_cast<Index>(out.tree->order(i)) - 1;
  return out;
}

}  // namespace

Figure heatmap(const Drawn& drawn) {
  constexpr Index kMostCells = 400, kMostArranged = 1'000;
  constexpr double kEnds = 3;  // standard deviations
  const std::vector<Column> columns = drawn.numbers();
  require(columns.size() <= 200,
          fmt::format("{} columns are too many for a heat map: a formula chooses them", columns.size()));
  const Index n = drawn.table.rows(), p = static_cast<Index>(columns.size());
  const Matrix z = standardised(columns, n);
  const bool alike = n <= kMostArranged && p > 1;
  const Arranged rows = arranged(z, alike), across = arranged(Matrix(z.transpose()), alike && p > 2);
  const Index together = rows_in_a_cell(n, kMostCells);
  std::vector<Column> in_order;
  for (const Index j : across.order) in_order.push_back(columns[static_cast<std::size_t>(j)]);
  Panel panel{"", names_axis(in_order), {rows.tree ? "rows, those that are alike together" : "row"}, {}};
  panel.y.from = 0.5, panel.y.to = static_cast<double>(n) + 0.5, panel.y.grid = false;
  Rectangles cells;
  for (Index j = 0; j < p; ++j) {
    const Index column = across.order[static_cast<std::size_t>(j)];
    const auto& values = columns[static_cast<std::size_t>(column)].numbers().values;
    for (Index first = 0; first < n; first += together) {
      const Index end = std::min(first + together, n);
      double sum = 0, seen = 0;
      for (Index i = first; i < end; ++i) {
        const Index row = rows.order[static_cast<std::size_t>(i)];
        if (std::isfinite(values[static_cast<std::size_t>(row)])) sum += z(row, column), ++seen;
      }
      cell(cells, static_cast<double>(j), (static_cast<double>(first + end) + 1) / 2, static_cast<double>(end - first),
           seen > 0 ? diverging(0.5 + std::clamp(sum / seen, -kEnds, kEnds) / (2 * kEnds)) : faint(0.3), "");
    }
  }
  cells.tooltips.clear();
  panel.marks.emplace_back(std::move(cells));
  if (rows.tree) {
    const double room = 0.18 * static_cast<double>(p) + 0.5;
    panel.y.shown = false;
    panel.x.from = -0.6 - room;
    panel.marks.emplace_back(beside(*rows.tree, -0.6, -room, false, [](double k) { return k + 1; }));
  }
  if (across.tree) {
    const double room = 0.15 * static_cast<double>(n),
                 edge = static_cast<double>(n) + 0.5 + 0.01 * static_cast<double>(n);
    panel.y.to = edge + room;
    panel.marks.emplace_back(beside(*across.tree, edge, room, true, [](double k) { return k; }));
  }
  Figure out;
  out.width = std::max(480.0, 40.0 * static_cast<double>(columns.size()) + 200);
  out.panels.push_back(std::move(panel));
  out.legend = {"deviations", {}, Legend::Ramp{Paint::Of::diverging, -kEnds, kEnds}};
  out.description =
      fmt::format("The values of {} in {}, in standard deviations from the column's mean{}{}.",
                  count_of(static_cast<Index>(columns.size()), "column"), count_of(n, "row"),
                  together > 1 ? fmt::format(", {} rows together", together) : "",
                  rows.tree ? "; rows and columns that are alike stand together, as their dendrograms say" : "");
  return out;
}

}  // namespace lemma::plot
