// lemma/plot/parts.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/formula.hpp>
#include <lemma/data/formula/removed.hpp>
#include <lemma/plot/parts.hpp>
#include <limits>

namespace lemma::plot {
namespace {

Column column_of(const Expression& expression, const Table& table) {
  const Expression& inner = without_parentheses(expression);
  if (inner.kind == Expression::Kind::name) return table.column(inner.text);
  if (inner.kind == Expression::Kind::call && inner.text == "factor" && !inner.arguments.empty()) {
    const Column of = column_of(inner.arguments[0], table);
    const Groups groups = groups_of(of);
    return {to_text(expression), Categories{{groups.code.begin(), groups.code.end()}, groups.names}};
  }
  return numeric(to_text(expression), evaluate(expression, table));
}

/// u:v as one column, with the levels that occur.
Column joint(const std::vector<Column>& columns) {
  if (columns.size() == 1) return columns[0];
  std::string name;
  for (const Column& column : columns) name += (name.empty() ? "" : ":") + column.name;
  std::vector<std::string> values;
  std::vector<bool> missing;
  for (Index i = 0; i < columns[0].rows(); ++i) {
    std::string value;
    bool gone = false;
    for (const Column& column : columns) {
      value += (&column == &columns[0] ? "" : ":") + column.text(i);
      gone = gone || column.is_missing(i);
    }
    values.push_back(value), missing.push_back(gone);
  }
  return categorical(name, values, missing);
}

}  // namespace

Variables variables(const Table& table, const std::string& text) {
  Variables out;
  if (text.empty()) return out;
  const Formula f = formula(text).expand(table.names());
  check_removed(f, table);
  std::vector<Column> responses;
  for (const Expression& each : f.response) {
    const Expression& inner = without_parentheses(each);
    if (inner.kind == Expression::Kind::call && inner.text == "cbind")
      for (const Expression& one : inner.arguments) out.response.push_back(column_of(one, table));
    else responses.push_back(column_of(each, table));
  }
  if (!responses.empty()) out.response.push_back(joint(responses));
  for (const Term& term : f.terms) {
    std::vector<Column> factors;
    for (const Expression& factor : term.factors) factors.push_back(column_of(factor, table));
    out.terms.push_back(joint(factors));
  }
  return out;
}

Groups groups_of(const Column& column) {
  Groups out{column.name, {}, {}};
  if (column.type() == ColumnType::categorical) {
    const Categories& all = column.categories();
    out.code.assign(all.codes.begin(), all.codes.end());
    out.names = all.levels;
    return out;
  }
  if (column.type() == ColumnType::text) {
    std::vector<bool> missing;
    for (Index i = 0; i < column.rows(); ++i) missing.push_back(column.is_missing(i));
    return groups_of(categorical(column.name, column.texts().values, missing));
  }
  constexpr std::size_t kMostGroups = 30;
  const auto& [values, quantity] = column.numbers();
  std::vector<double> levels = sorted_values(values);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  require(levels.size() <= kMostGroups,
          fmt::format(
              "'{}' has {} different numbers, too many for groups; up to {} are drawn, cut or choose another column",
              column.name, levels.size(), kMostGroups));
  for (const double value : values)
    out.code.push_back(std::isfinite(value)
                           ? static_cast<int>(std::lower_bound(levels.begin(), levels.end(), value) - levels.begin())
                           : -1);
  for (const double level : levels) out.names.push_back(to_text(level, quantity));
  return out;
}

Groups groups_for(const Table& table, const PlotOptions& options, const Column* otherwise) {
  if (!options.colour.empty()) return groups_of(table.column(options.colour));
  return otherwise ? groups_of(*otherwise) : Groups();
}

Legend legend_of(const Groups& groups, LegendEntry::Key key) {
  Legend out{groups.name, {}};
  for (std::size_t k = 0; k < groups.names.size(); ++k)
    out.entries.push_back({groups.names[k], series(static_cast<int>(k)), key});
  return out;
}

bool is_numeric(const Column& column) { return column.type() == ColumnType::numeric; }

bool few_values(const Column& column) {
  constexpr std::size_t kMost = 12;
  auto values = sorted_values(column.numbers().values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values.size() <= kMost;
}

void add_shaded(Figure& figure, Panel& panel, const Points& points, const Column& by, const std::vector<double>& all) {
  constexpr int kBands = 16;
  const auto& values = by.numbers().values;
  const auto sorted = sorted_values(all);
  require(!sorted.empty(), fmt::format("'{}' is missing in every row", by.name));
  const double low = sorted.front(), range = sorted.back() - low;
  for (int band = 0; band < kBands; ++band) {
    Points some;
    some.paint = sequential((band + 0.5) / kBands), some.paint.opacity = points.paint.opacity,
    some.radius = points.radius;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double share = range > 0 ? (values[i] - low) / range : 0.5;
      if (!std::isfinite(share) || std::min(static_cast<int>(share * kBands), kBands - 1) != band) continue;
      some.x.push_back(points.x[i]), some.y.push_back(points.y[i]);
      if (!points.tooltips.empty())
        some.tooltips.push_back(fmt::format("{}: {}", points.tooltips[i], format_significant(values[i], 4)));
    }
    if (!some.x.empty()) panel.marks.emplace_back(std::move(some));
  }
  figure.legend = {by.name, {}, Legend::Ramp{Paint::Of::sequential, low, low + range}};
}

std::vector<double> places_of(const Column& column) {
  if (is_numeric(column)) return column.numbers().values;
  require(column.type() == ColumnType::categorical,
          fmt::format("'{}' is text, which has no place on an axis; --na says what stands for a missing number, --type "
                      "{}=categorical makes levels of it",
                      column.name, column.name));
  std::vector<double> out;
  for (const auto code : column.categories().codes)
    out.push_back(code < 0 ? std::numeric_limits<double>::quiet_NaN() : code);
  return out;
}

Axis axis_of(const Column& column) {
  Axis axis{column.name};
  if (column.type() == ColumnType::categorical) axis.kind = ScaleKind::factor, axis.levels = column.categories().levels;
  else if (is_numeric(column) && column.numbers().quantity != Quantity::number) axis.kind = ScaleKind::time;
  return axis;
}

std::vector<double> sorted_values(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double value : values)
    if (std::isfinite(value)) out.push_back(value);
  std::sort(out.begin(), out.end());
  return out;
}

double quantile(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto left = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(left);
  return share == 0 ? sorted[left] : sorted[left] + share * (sorted[left + 1] - sorted[left]);
}

std::vector<double> bins_of(const std::vector<double>& sorted) {
  if (sorted.empty()) return {};
  constexpr double kMostBins = 200;
  const auto n = static_cast<double>(sorted.size());
  const double low = sorted.front(), range = sorted.back() - low, iqr = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  if (!(range > 0) || !std::isfinite(range)) return {low - 0.5, low + 0.5};
  double width = iqr > 0 ? 2 * iqr / std::cbrt(n) : range / (std::log2(n) + 1);
  width = std::max(width, range / kMostBins);
  const double power = std::pow(10.0, std::floor(std::log10(width)));
  double step =
      power;  // the nearest of 1, 2, 5, 10: rather too many bins than too few, for the IQR of two hills is wide
  for (const double factor : {2.0, 5.0, 10.0})
    if (std::abs(width - factor * power) < std::abs(width - step)) step = factor * power;
  std::vector<double> edges;
  for (double k = std::floor(low / step); edges.empty() || edges.back() <= sorted.back(); ++k)
    edges.push_back(k * step);
  return edges;
}

double bandwidth_of(const std::vector<double>& sorted) {
  const auto n = static_cast<double>(sorted.size());
  if (sorted.size() < 2) return 1;
  double mean = 0, squares = 0;
  for (const double v : sorted) mean += v / n;
  for (const double v : sorted) squares += (v - mean) * (v - mean);
  const double sd = std::sqrt(squares / (n - 1)), iqr = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  double spread = std::min(sd, iqr / 1.34);
  if (!(spread > 0)) spread = sd > 0 ? sd : std::abs(sorted[0]) > 0 ? std::abs(sorted[0]) : 1;
  return 0.9 * spread * std::pow(n, -0.2);
}

std::vector<double> density_at(const std::vector<double>& sorted, double bandwidth, const std::vector<double>& grid) {
  std::vector<double> out;
  const double scale = 1 / (static_cast<double>(sorted.size()) * bandwidth * std::sqrt(2 * std::acos(-1.0)));
  for (const double at : grid) {  // beyond nine bandwidths a normal density is below the last bit
    const auto first = std::lower_bound(sorted.begin(), sorted.end(), at - 9 * bandwidth);
    const auto last = std::upper_bound(first, sorted.end(), at + 9 * bandwidth);
    double sum = 0;
    for (auto v = first; v != last; ++v) sum += std::exp(-0.5 * (at - *v) * (at - *v) / (bandwidth * bandwidth));
    out.push_back(sum * scale);
  }
  return out;
}

namespace {

/// The local line at x[i] over the rows [left, right), weighted by distance and `robust`.
double local_line(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& robust,
                  std::size_t i, std::size_t left, std::size_t right, double reach) {
  double sw = 0, swx = 0, swy = 0;
  std::vector<double> w(right - left);
  for (std::size_t j = left; j < right; ++j) {
    const double d = std::abs(x[j] - x[i]);
    if (d > 0.999 * reach) continue;
    const double u = d <= 0.001 * reach ? 0 : d / reach;
    w[j - left] = std::pow(1 - u * u * u, 3) * robust[j];
    sw += w[j - left], swx += w[j - left] * x[j], swy += w[j - left] * y[j];
  }
  if (!(sw > 0)) return y[i];
  double sxx = 0, sxy = 0;
  for (std::size_t j = left; j < right; ++j) {
    sxx += w[j - left] * (x[j] - swx / sw) * (x[j] - swx / sw);
    sxy += w[j - left] * (x[j] - swx / sw) * y[j];
  }
  const double range = x.back() - x.front();
  return swy / sw + (std::sqrt(sxx / sw) > 0.001 * range ? (x[i] - swx / sw) * sxy / sxx : 0);
}

}  // namespace

std::vector<double> lowess(const std::vector<double>& x, const std::vector<double>& y, double share, int rounds) {
  const std::size_t n = x.size();
  if (n < 2) return y;
  const auto near = std::clamp<std::size_t>(static_cast<std::size_t>(share * static_cast<double>(n) + 1e-7), 2, n);
  const double step = 0.01 * (x.back() - x.front());  // nearer places are joined by lines
  std::vector<double> robust(n, 1), fit(n);
  for (int round = 0; round <= rounds; ++round) {
    std::size_t left = 0, last = n;  // last: the place fitted before
    for (std::size_t i = 0; i < n;) {
      while (left + near < n && x[i] - x[left] > x[left + near] - x[i]) ++left;
      const double reach = std::max(x[i] - x[left], x[left + near - 1] - x[i]);
      std::size_t right = left + near;
      while (right < n && x[right] - x[i] <= reach) ++right;
      fit[i] = local_line(x, y, robust, i, left, right, reach);
      if (last < i)
        for (std::size_t j = last + 1; j < i; ++j)
          fit[j] = fit[last] + (fit[i] - fit[last]) * (x[j] - x[last]) / (x[i] - x[last]);
      last = i;
      std::size_t next = i + 1;
      while (next < n && x[next] == x[i]) fit[next] = fit[i], last = next, ++next;
      if (next >= n) break;
      std::size_t far = next;
      while (far + 1 < n && x[far + 1] <= x[last] + step) ++far;
      i = std::max(next, x[far] <= x[last] + step ? far : next);
    }
    if (round == rounds) break;
    std::vector<double> size(n);
    for (std::size_t i = 0; i < n; ++i) size[i] = std::abs(y[i] - fit[i]);
    std::vector<double> order = size;
    std::sort(order.begin(), order.end());
    const double six = 3 * (order[n / 2] + order[n - 1 - n / 2]);  // six medians
    if (!(six > 0)) break;
    for (std::size_t i = 0; i < n; ++i) {
      const double u = size[i] / six;
      robust[i] = u <= 0.001 ? 1 : u > 0.999 ? 0 : (1 - u * u) * (1 - u * u);
    }
  }
  return fit;
}

Segments contour(const std::vector<double>& x, const std::vector<double>& y, const Matrix& f, double level) {
  Segments out;
  const auto at = [](const std::vector<double>& v, Index i) { return v[static_cast<std::size_t>(i)]; };
  for (Index i = 0; i + 1 < f.rows(); ++i)
    for (Index j = 0; j + 1 < f.cols(); ++j) {
      std::vector<std::pair<double, double>> cut;  // where the level crosses the sides of the square, side after side
      const auto side = [&](double xa, double ya, double fa, double xb, double yb, double fb) {
        if ((fa < level) == (fb < level)) return;
        const double t = (level - fa) / (fb - fa);
        cut.emplace_back(xa + t * (xb - xa), ya + t * (yb - ya));
      };
      const double x0 = at(x, j), x1 = at(x, j + 1), y0 = at(y, i), y1 = at(y, i + 1);
      side(x0, y0, f(i, j), x1, y0, f(i, j + 1));
      side(x1, y0, f(i, j + 1), x1, y1, f(i + 1, j + 1));
      side(x1, y1, f(i + 1, j + 1), x0, y1, f(i + 1, j));
      side(x0, y1, f(i + 1, j), x0, y0, f(i, j));
      for (std::size_t k = 0; k + 1 < cut.size(); k += 2) {
        out.x0.push_back(cut[k].first), out.y0.push_back(cut[k].second);
        out.x1.push_back(cut[k + 1].first), out.y1.push_back(cut[k + 1].second);
      }
    }
  return out;
}

void in_grid(Figure& figure) {
  const auto n = figure.panels.size();
  const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  for (std::size_t k = 0; k < n; ++k)
    figure.panels[k].row = static_cast<int>(k / columns), figure.panels[k].column = static_cast<int>(k % columns);
  if (columns > 3)
    figure.width = 240.0 * static_cast<double>(columns),
    figure.height = 200.0 * std::ceil(static_cast<double>(n) / static_cast<double>(columns)) + 40;
}

}  // namespace lemma::plot
