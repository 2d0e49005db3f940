// lemma/plot/data/distributions.cpp: how the values of a column are spread, by levels and by classes.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/plot/data/kinds.hpp>

namespace lemma::plot {
namespace {

/// Side by side on a factor's axis: values by level, or one set a column.
struct Sets {
  Axis levels, values;
  std::vector<std::vector<double>> sorted;
  std::vector<int> colour;
  bool logarithmic = false;  // where a density is wanted, that of the logarithms
};

Sets by_levels(const Column& y, const Groups& groups, bool coloured) {
  Sets out{{groups.name, ScaleKind::factor, groups.names}, axis_of(y), {}, {}};
  for (int g = 0; g < groups.count(); ++g)
    out.sorted.push_back(sorted_in_group(y.numbers().values, groups, g)), out.colour.push_back(coloured ? g : 0);
  return out;
}

/// 'y ~ g': one panel of levels. '~ a + b', or no formula: one of columns. 'class ~ a + b': one a column, of classes.
std::vector<Sets> sets_of(const Drawn& drawn) {
  std::vector<Sets> out;
  const auto& response = drawn.named.response;
  if (response.size() == 1 && is_numeric(response[0])) {
    for (const Column& term : drawn.named.terms) out.push_back(by_levels(response[0], groups_of(term), false));
    require(!out.empty(), "by which levels? 'y ~ g'");
    return out;
  }
  const std::vector<Column> columns = drawn.numbers();
  if (drawn.classes() || !drawn.options.colour.empty()) {
    for (const Column& column : columns) out.push_back(by_levels(column, drawn.groups(), true));
    return out;
  }
  Sets all{{"", ScaleKind::factor, {}}, {}, {}, {}};
  if (columns.size() == 1) all.values = axis_of(columns[0]);
  for (const Column& column : columns) {
    all.levels.levels.push_back(column.name);
    all.sorted.push_back(sorted_values(column.numbers().values));
    all.colour.push_back(0);
  }
  return {all};
}

/// Tukey's: the box from quartile to quartile, whiskers to the last value within 1.5 of its height, beyond them points.
Panel box_panel(const Sets& sets) {
  Panel panel{"", sets.levels, sets.values, {}};
  panel.x.grid = false;
  Rectangles boxes;
  Segments medians{{}, {}, {}, {}, ink(), 2}, whiskers{{}, {}, {}, {}, ink()};
  Points outliers;
  outliers.paint = ink(0.6), outliers.radius = 2;
  const auto segment = [](Segments& to, double x0, double y0, double x1, double y1) {
    to.x0.push_back(x0), to.y0.push_back(y0), to.x1.push_back(x1), to.y1.push_back(y1);
  };
  for (std::size_t k = 0; k < sets.sorted.size(); ++k) {
    const auto& values = sets.sorted[k];
    if (values.empty()) continue;
    const double x = static_cast<double>(k), low = quantile(values, 0.25), middle = quantile(values, 0.5),
                 high = quantile(values, 0.75);
    const double reach = 1.5 * (high - low);
    const double first = *std::lower_bound(values.begin(), values.end(), low - reach);
    const double last = *std::prev(std::upper_bound(values.begin(), values.end(), high + reach));
    boxes.x0.push_back(x - 0.3), boxes.x1.push_back(x + 0.3), boxes.y0.push_back(low), boxes.y1.push_back(high);
    boxes.paints.push_back(series(sets.colour[k], 0.45));
    boxes.tooltips.push_back(fmt::format(
        "{}: median {}, quartiles {} and {}, {}", sets.levels.levels[k], format_significant(middle, 4),
        format_significant(low, 4), format_significant(high, 4), count_of(static_cast<Index>(values.size()), "value")));
    segment(medians, x - 0.3, middle, x + 0.3, middle);
    segment(whiskers, x, low, x, first), segment(whiskers, x, high, x, last);
    segment(whiskers, x - 0.12, first, x + 0.12, first), segment(whiskers, x - 0.12, last, x + 0.12, last);
    for (const double value : values)
      if (value < first || value > last) outliers.x.push_back(x), outliers.y.push_back(value);
  }
  boxes.outlined = true;
  panel.marks = {whiskers, boxes, medians, outliers};
  return panel;
}

/// Of numbers that are shown on a logarithmic axis: their logarithms, without those that have none.
std::vector<double> logarithms(const std::vector<double>& sorted) {
  std::vector<double> out;
  for (const double value : sorted)
    if (value > 0) out.push_back(std::log10(value));
  return out;
}
std::vector<double> powers(std::vector<double> exponents) {
  for (double& each : exponents) each = std::pow(10.0, each);
  return exponents;
}

std::vector<double> grid_for(const std::vector<double>& sorted, double width, int steps) {
  std::vector<double> out;
  const double from = sorted.front() - 3 * width, to = sorted.back() + 3 * width;
  for (int i = 0; i <= steps; ++i) out.push_back(from + (to - from) * i / steps);
  return out;
}

/// Lying, so that the names of the levels are read without turning the head; as high as its density, beside the highest.
Panel violin_panel(const Sets& sets) {
  Panel panel{"", sets.values, sets.levels, {}};
  panel.y.grid = false;
  std::vector<Area> areas;
  double highest = 0;
  for (std::size_t k = 0; k < sets.sorted.size(); ++k) {
    const std::vector<double> values = sets.logarithmic ? logarithms(sets.sorted[k]) : sets.sorted[k];
    if (values.empty()) continue;
    const double width = bandwidth_of(values);
    Area one{grid_for(values, width, 200), {}, {}, series(sets.colour[k], 0.5)};
    one.upper = density_at(values, width, one.x);
    if (sets.logarithmic) one.x = powers(std::move(one.x));
    highest = std::max(highest, *std::max_element(one.upper.begin(), one.upper.end()));
    one.lower.assign(one.x.size(), static_cast<double>(k));
    areas.push_back(std::move(one));
  }
  Segments quartiles{{}, {}, {}, {}, ink(), 4};
  Points medians;
  medians.paint = diverging(0.5), medians.radius = 2.5;  // white on ink
  for (Area& area : areas)
    for (std::size_t i = 0; i < area.x.size(); ++i) {
      const double half = 0.45 * area.upper[i] / highest, middle = area.lower[i];
      area.lower[i] = middle - half, area.upper[i] = middle + half;
    }
  for (std::size_t k = 0; k < sets.sorted.size(); ++k) {
    const auto& values = sets.sorted[k];
    if (values.empty()) continue;
    const auto y = static_cast<double>(k);
    quartiles.x0.push_back(quantile(values, 0.25)), quartiles.x1.push_back(quantile(values, 0.75));
    quartiles.y0.push_back(y), quartiles.y1.push_back(y);
    medians.x.push_back(quantile(values, 0.5)), medians.y.push_back(y);
  }
  for (Area& area : areas) panel.marks.emplace_back(std::move(area));
  panel.marks.emplace_back(quartiles), panel.marks.emplace_back(medians);
  return panel;
}

Figure of_sets(const Drawn& drawn, Panel (*draw)(const Sets&), std::string_view what) {
  Figure out;
  for (Sets& sets : sets_of(drawn)) {
    sets.logarithmic = drawn.logarithmic('x');
    out.panels.push_back(draw(sets));
  }
  if (out.panels.size() > 1) in_grid(out);
  const bool by_level = out.panels[0].x.kind == ScaleKind::factor;
  const Axis &levels = by_level ? out.panels[0].x : out.panels[0].y,
             &values = by_level ? out.panels[0].y : out.panels[0].x;
  out.description =
      fmt::format("{} of {} for {}.", what, values.label.empty() ? "each column" : values.label,
                  levels.label.empty() ? join_words(levels.levels) : levels.label + ": " + join_words(levels.levels));
  return out;
}

/// One panel for each column of numbers, its marks by `add`.
template <class Add>
Figure of_columns(const Drawn& drawn, LegendEntry::Key key, std::string_view what, const Add& add) {
  std::vector<Column> columns = drawn.numbers();
  if (drawn.named.terms.empty() && drawn.named.response.size() == 1 && is_numeric(drawn.named.response[0]))
    columns = drawn.named.response;
  const Groups groups = drawn.groups();
  Figure out;
  std::vector<std::string> names;
  for (const Column& column : columns) {
    Panel panel;
    panel.x = axis_of(column);
    add(panel, column, groups);
    out.panels.push_back(std::move(panel));
    names.push_back(column.name);
  }
  if (out.panels.size() > 1) in_grid(out);
  if (!groups.empty()) out.legend = legend_of(groups, key);
  out.description = fmt::format("{} of {}.", what, join_words(names));
  return out;
}

}  // namespace

void add_histogram(Panel& panel, const std::vector<double>& values, const Groups& groups,
                   const std::vector<double>& edges) {
  panel.y.from = 0;
  if (edges.empty()) return;
  Matrix counts = Matrix::Zero(groups.count(), static_cast<Index>(edges.size()) - 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int g = groups.of(static_cast<Index>(i));
    if (g < 0 || !(values[i] >= edges.front()) || !std::isfinite(values[i])) continue;
    ++counts(g, std::upper_bound(edges.begin() + 1, edges.end() - 1, values[i]) - edges.begin() - 1);
  }
  for (int g = 0; g < groups.count(); ++g) {
    Rectangles bars;
    for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
      const double count = counts(g, static_cast<Index>(k));
      if (count == 0) continue;
      bars.x0.push_back(edges[k]), bars.x1.push_back(edges[k + 1]), bars.y0.push_back(0), bars.y1.push_back(count);
      bars.tooltips.push_back(
          fmt::format("{} to {}: {}", format_significant(edges[k], 5), format_significant(edges[k + 1], 5), count));
    }
    bars.paints = {series(g, groups.empty() ? 0.8 : 0.5)}, bars.outlined = true;
    if (!bars.x0.empty()) panel.marks.emplace_back(std::move(bars));
  }
}

Figure histogram(const Drawn& drawn) {
  return of_columns(drawn, LegendEntry::Key::area, "Histogram",
                    [&](Panel& panel, const Column& column, const Groups& groups) {
                      panel.y.label = "rows";
                      const std::vector<double>& values = column.numbers().values;
                      const std::vector<double> sorted = sorted_values(values);
                      add_histogram(panel, values, groups,
                                    drawn.logarithmic('x') ? powers(bins_of(logarithms(sorted))) : bins_of(sorted));
                    });
}

Figure density(const Drawn& drawn) {
  return of_columns(
      drawn, LegendEntry::Key::line, "Density", [&](Panel& panel, const Column& column, const Groups& groups) {
        const bool logarithmic = drawn.logarithmic('x');
        panel.y.label = logarithmic ? "density of the logarithm" : "density", panel.y.from = 0;
        for (int g = 0; g < groups.count(); ++g) {
          auto sorted = sorted_in_group(column.numbers().values, groups, g);
          if (logarithmic) sorted = logarithms(sorted);
          if (sorted.empty()) continue;
          const double width = bandwidth_of(sorted);
          auto grid = grid_for(sorted, width, 300);
          const auto height = density_at(sorted, width, grid);
          if (logarithmic) grid = powers(std::move(grid));
          panel.marks.emplace_back(Area{grid, std::vector<double>(grid.size(), 0), height, series(g, 0.15)});
          panel.marks.emplace_back(Line{grid, height, series(g)});
        }
      });
}

void add_normal_quantiles(Panel& panel, const std::vector<double>& sorted, Points look) {
  const auto n = static_cast<double>(sorted.size());
  const double a = n <= 10 ? 3.0 / 8 : 0.5;  // R's ppoints
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    look.x.push_back(normal_quantile((static_cast<double>(i) + 1 - a) / (n + 1 - 2 * a)));
    look.y.push_back(sorted[i]);
  }
  if (sorted.size() > 1) {  // R's qqline: through the quartiles
    const double low = quantile(sorted, 0.25), high = quantile(sorted, 0.75), middle = (low + high) / 2;
    const double slope = (high - low) / (2 * normal_quantile(0.75)), from = look.x.front(), to = look.x.back();
    panel.marks.emplace_back(Line{{from, to}, {middle + slope * from, middle + slope * to}, faint(), 1.4, true});
  }
  panel.marks.emplace_back(std::move(look));
}

Figure qq(const Drawn& drawn) {
  const auto add = [](Panel& panel, const Column& column, const Groups& groups) {
    panel.y = axis_of(column), panel.x = {"quantiles of the normal distribution"};
    for (int g = 0; g < groups.count(); ++g) {
      const auto sorted = sorted_in_group(column.numbers().values, groups, g);
      if (sorted.empty()) continue;
      Points look;
      if (!groups.empty()) look.group.assign(sorted.size(), g);
      add_normal_quantiles(panel, sorted, std::move(look));
    }
  };
  return of_columns(drawn, LegendEntry::Key::point, "Normal quantiles", add);
}

Figure box(const Drawn& drawn) { return of_sets(drawn, box_panel, "Box plots"); }
Figure violin(const Drawn& drawn) { return of_sets(drawn, violin_panel, "Violins"); }

namespace {

/// How many rows of each level, or the mean of a number in them; stacked by classes.
Panel bar_panel(const Groups& levels, const Groups& stacked, const Column* mean_of) {
  Panel panel{"", {levels.name, ScaleKind::factor, levels.names}, {mean_of ? "mean of " + mean_of->name : "rows"}, {}};
  panel.x.grid = false, panel.y.from = mean_of ? std::optional<double>() : 0.0;
  const auto k = static_cast<std::size_t>(levels.count()), s = static_cast<std::size_t>(stacked.count());
  Matrix count = Matrix::Zero(static_cast<Index>(s), static_cast<Index>(k)), sum = count;
  for (std::size_t i = 0; i < levels.code.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const double value = mean_of ? mean_of->numbers().values[i] : 1;
    if (levels.of(row) < 0 || stacked.of(row) < 0 || std::isnan(value)) continue;
    count(stacked.of(row), levels.of(row)) += 1, sum(stacked.of(row), levels.of(row)) += value;
  }
  Rectangles bars;
  for (std::size_t level = 0; level < k; ++level) {
    double base = 0;
    for (std::size_t part = 0; part < s; ++part) {
      const double n = count(static_cast<Index>(part), static_cast<Index>(level));
      if (n == 0) continue;
      const double value = mean_of ? sum(static_cast<Index>(part), static_cast<Index>(level)) / n : n;
      const auto x = static_cast<double>(level);
      bars.x0.push_back(x - 0.38), bars.x1.push_back(x + 0.38), bars.y0.push_back(base),
          bars.y1.push_back(base + value);
      bars.paints.push_back(series(static_cast<int>(part), 0.85));
      bars.tooltips.push_back(fmt::format("{}{}: {}", levels.names[level],
                                          stacked.empty() ? "" : ", " + stacked.names[part],
                                          format_significant(value, 5)));
      base += value;
    }
  }
  panel.marks.emplace_back(std::move(bars));
  return panel;
}

}  // namespace

Figure bar(const Drawn& drawn) {
  const auto& response = drawn.named.response;
  const Column* mean_of = response.size() == 1 && is_numeric(response[0]) ? &response[0] : nullptr;
  std::vector<Column> columns = drawn.named.terms;
  if (columns.empty() && drawn.classes()) columns = {*drawn.classes()};
  if (!drawn.by_formula)
    for (const Column& column : drawn.table.all())
      if (column.type() == ColumnType::categorical) columns.push_back(column);
  require(!columns.empty(), "there is no column of levels to count: '~ g' names one");
  require(!mean_of || drawn.options.colour.empty(), "means cannot be stacked: leave out --color");
  const Groups stacked = mean_of ? Groups() : drawn.groups();
  Figure out;
  for (const Column& column : columns) out.panels.push_back(bar_panel(groups_of(column), stacked, mean_of));
  if (out.panels.size() > 1) in_grid(out);
  if (!stacked.empty()) out.legend = legend_of(stacked, LegendEntry::Key::area);
  out.description = fmt::format("Bars of {} by {}.", out.panels[0].y.label, out.panels[0].x.label);
  return out;
}

}  // namespace lemma::plot
