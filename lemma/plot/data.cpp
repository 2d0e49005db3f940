// lemma/plot/data.cpp: which pictures of a table there are, which one suits it, and facets.
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/plot/data/kinds.hpp>
#include <lemma/plot/scale.hpp>
#include <tuple>

namespace lemma::plot {
namespace {

struct Kind {
  PictureKind told;
  Figure (*draw)(const Drawn&);
  bool whole = false;  // a picture of all columns, which has no facets and no axes of its own
};
constexpr std::array kKinds = {
    Kind{{"scatter", "points: 'y ~ x', 'class ~ x1 + x2'"}, scatter},
    Kind{{"line", "lines in the order of x: 'y ~ x', 'cbind(y1, y2) ~ x'"}, line},
    Kind{{"bar", "how often each level occurs: '~ g', 'class ~ g', or the mean of a number: 'y ~ g'"}, bar},
    Kind{{"box", "median, quartiles and outliers: 'y ~ g', '~ a + b', 'class ~ a + b'"}, box},
    Kind{{"violin", "the density of each level: 'y ~ g', '~ a + b'"}, violin},
    Kind{{"histogram", "how often values occur, bins by Freedman and Diaconis"}, histogram},
    Kind{{"density", "the same as a smooth curve: Gauss' kernel, Silverman's width"}, density},
    Kind{{"qq", "quantiles beside those of a normal distribution"}, qq},
    Kind{{"pairs", "every pair of columns, histograms on the diagonal"}, scatter_matrix, true},
    Kind{{"voronoi", "around each row of the plane where it is the nearest: '~ a + b', 'class ~ a + b'"}, voronoi},
    Kind{{"parallel", "a line for each row, a place for each column"}, parallel, true},
    Kind{{"correlation", "correlations of the columns as colours"}, correlation, true},
    Kind{{"missing", "where values are missing"}, missing, true},
    Kind{{"heatmap", "the standardised values of all rows and columns as colours"}, heatmap, true}};

const Kind& kind_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (kind.told.name == name) return kind;
    names.emplace_back(kind.told.name);
  }
  throw Error(
      fmt::format("there is no picture '{}'{}; there are {}", name, did_you_mean(name, names), join_words(names, 20)));
}

Figure drawn(const Kind& kind, const Table& table, const std::string& formula, const PlotOptions& options,
             const Table& whole, std::span<const Index> rows = {}) {
  require(table.rows() > 0, "there are no rows to draw");
  Figure out = kind.draw({table, variables(table, formula), options, !formula.empty(), whole, rows});
  if (options.log.empty()) return out;
  require(!kind.whole, fmt::format("--log does not go with {}", kind.told.name));
  make_logarithmic(out, options);
  return out;
}

/// One range for all panels, so that they can be compared.
void share_axes(std::vector<Panel>& panels) {
  Extents all;
  for (const Panel& panel : panels) {
    const Extents one = extents_of(panel);
    for (const double v : {one.x.least, one.x.greatest, one.x.least_positive}) all.x.add(v);
    for (const double v : {one.y.least, one.y.greatest, one.y.least_positive}) all.y.add(v);
  }
  const auto fix = [](Axis& axis, const Extent& extent) {
    if (axis.kind == ScaleKind::factor || !extent.any()) return;
    const Scale scale(axis, extent);
    const bool log = axis.kind == ScaleKind::log;
    axis.from = log ? std::pow(10.0, scale.from()) : scale.from();
    axis.to = log ? std::pow(10.0, scale.to()) : scale.to();
  };
  for (Panel& panel : panels) fix(panel.x, all.x), fix(panel.y, all.y);
}

Figure facets(const Kind& kind, const Table& table, const std::string& formula, const PlotOptions& options) {
  require(!kind.whole, fmt::format("--facet does not go with {}", kind.told.name));
  const Groups groups = groups_of(table.column(options.facet));
  Figure out;
  for (int g = 0; g < groups.count(); ++g) {
    std::vector<Index> rows;
    for (Index i = 0; i < table.rows(); ++i)
      if (groups.of(i) == g) rows.push_back(i);
    if (rows.empty()) continue;
    Figure one = drawn(kind, table.select(rows), formula, options, table, rows);
    require(one.panels.size() == 1,
            fmt::format("--facet takes a picture of one panel, and this one has {}", one.panels.size()));
    if (out.panels.empty()) out = one, out.panels.clear();
    out.panels.push_back(std::move(one.panels[0]));
    out.panels.back().title = options.facet + " = " + groups.names[static_cast<std::size_t>(g)];
  }
  require(!out.panels.empty(), fmt::format("'{}' is missing in every row", options.facet));
  out.description += fmt::format(" A panel for each value of {}.", options.facet);
  share_axes(out.panels);
  in_grid(out);
  return out;
}

}  // namespace

std::vector<Column> Drawn::numbers() const {
  const auto& columns = by_formula ? named.terms : table.all();
  std::vector<Column> out;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(out), is_numeric);
  if (out.empty() && by_formula && !columns.empty())
    throw Error(fmt::format("'{}' is {}: this picture is one of numbers", columns[0].name, name_of(columns[0].type())));
  require(!out.empty(), "there is no column of numbers to draw");
  return out;
}

const Column* Drawn::classes() const {
  return named.response.size() == 1 && !is_numeric(named.response[0]) ? &named.response[0] : nullptr;
}

std::vector<double> sorted_in_group(const std::vector<double>& values, const Groups& groups, int group) {
  std::vector<double> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (groups.of(static_cast<Index>(i)) == group) out.push_back(values[i]);
  return sorted_values(out);
}

Groups Drawn::groups() const {
  if (options.colour.empty()) return groups_for(table, options, classes());
  Groups out = groups_of(whole.column(options.colour));
  if (rows.empty()) return out;
  std::vector<int> code;
  for (const Index row : rows) code.push_back(out.code[static_cast<std::size_t>(row)]);
  out.code = std::move(code);
  return out;
}

std::vector<std::string> row_tooltips(const Drawn& drawn, const Groups& groups) {
  std::vector<std::string> out;
  if (drawn.table.rows() > kMostTooltips) return out;
  for (Index i = 0; i < drawn.table.rows(); ++i) {
    const int g = groups.of(i);
    out.push_back(fmt::format("row {}", drawn.number_of(i)) + (groups.empty() ? ""
                                                               : g < 0
                                                                   ? ": no " + groups.name
                                                                   : ": " + groups.names[static_cast<std::size_t>(g)]));
  }
  return out;
}

std::span<const PictureKind> data_kinds() {
  static const auto told = [] {
    std::array<PictureKind, kKinds.size()> out;
    std::transform(kKinds.begin(), kKinds.end(), out.begin(), [](const Kind& kind) { return kind.told; });
    return out;
  }();
  return told;
}

std::string_view kind_for(const Table& table, const std::string& formula) {
  constexpr std::size_t kMostPairs = 6;
  const Variables named = variables(table, formula);
  const auto& terms = formula.empty() ? table.all() : named.terms;
  std::size_t numbers = 0, levels = 0;
  for (const Column& column : terms) (is_numeric(column) ? numbers : levels) += column.type() != ColumnType::text;
  if (numbers + levels == 0) return formula.empty() ? "missing" : "scatter";  // which says what is wrong with a text
  const bool of_number = named.response.size() == 1 && is_numeric(named.response[0]);
  if (of_number && numbers > 0 && numbers + levels <= kMostPairs) return "scatter";
  if (of_number && numbers == 0) return "box";
  if (numbers == 0) return "bar";
  if (numbers == 1 && levels == 0) return named.response.empty() ? "histogram" : "box";
  return numbers <= kMostPairs ? "pairs" : "correlation";
}

Figure draw(std::string_view kind, const Table& table, const std::string& formula, const PlotOptions& options) {
  const Kind& found = kind_named(kind);
  Figure out =
      options.facet.empty() ? drawn(found, table, formula, options, table) : facets(found, table, formula, options);
  if (out.title.empty() && !table.source().empty())
    out.title = table.source() + (formula.empty() ? "" : ": " + formula);
  return dressed(std::move(out), options);
}

Figure pairs(const Table& table, const std::string& formula, const PlotOptions& options) {
  return draw("pairs", table, formula, options);
}

void make_logarithmic(Figure& figure, const PlotOptions& options) {
  for (const char c : options.log)
    require(c == 'x' || c == 'y', fmt::format("--log is '{}', must be x, y or xy", options.log));
  const auto make = [&](Axis& axis, char letter) {
    if (options.log.find(letter) == std::string::npos || axis.kind == ScaleKind::log) return;
    require(axis.kind == ScaleKind::linear, fmt::format("--log {}: '{}' is no axis of numbers", letter, axis.label));
    axis.kind = ScaleKind::log;
  };
  for (Panel& panel : figure.panels) make(panel.x, 'x'), make(panel.y, 'y');
}

Figure dressed(Figure figure, const PlotOptions& options) {
  if (!options.title.empty()) figure.title = options.title;
  for (Panel& panel : figure.panels) {
    if (!options.x_label.empty()) panel.x.label = options.x_label;
    if (!options.y_label.empty()) panel.y.label = options.y_label;
  }
  for (const auto& [asked, size, flag] :
       {std::tuple{options.width, &figure.width, "--width"}, {options.height, &figure.height, "--height"}})
    if (asked) {
      require(*asked >= 50 && *asked <= 10'000, fmt::format("{} is {}, must be from 50 to 10000 pixels", flag, *asked));
      *size = *asked;
    }
  figure.theme = options.theme;
  return figure;
}

}  // namespace lemma::plot
