// lemma/plot/layout.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/plot/layout.hpp>

namespace lemma::plot {
namespace {

// Hundredths of the font's size, from ' ' to '~'.
constexpr std::array<std::uint8_t, 95> kWidths{
    32, 40, 46, 84, 64, 95, 78, 27, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63,  63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};

constexpr double kWidestTick = 120, kWidestLegend = 190, kSlant = 0.64, kGap = 14;

double widest(const std::vector<Tick>& ticks) {
  double out = 0;
  for (const Tick& tick : ticks) out = std::max(out, text_width(tick.text, kTickSize));
  return out;
}

/// Whether their texts fit side by side on so much room, which [0, 1] takes.
bool side_by_side(const std::vector<Tick>& ticks, const Scale& scale, double width) {
  double end = -1e9;
  for (const Tick& tick : ticks) {
    const double at = scale.place(tick.at) * width, half = text_width(tick.text, kTickSize) / 2;
    if (at - half < end + 6) return false;
    end = at + half;
  }
  return true;
}

double legend_width(const Figure& figure) {
  const Legend& legend = figure.legend;
  if (legend.entries.empty() && !legend.ramp) return 0;
  double width = text_width(legend.title, kBold * kLabelSize);
  for (const auto& entry : legend.entries) width = std::max(width, 24 + text_width(entry.text, kTickSize));
  return std::min(std::max(width, legend.ramp ? 60.0 : 30.0), std::min(kWidestLegend, figure.width / 3)) + 2 * kGap;
}

void cut(std::vector<Tick>& ticks) {
  for (Tick& tick : ticks) tick.text = fitted(tick.text, kTickSize, kWidestTick);
}

/// Ticks for an area of about this size.
void choose_ticks(PlacedPanel& placed, double width, double height) {
  const bool levels_x = placed.x.kind() == ScaleKind::factor, levels_y = placed.y.kind() == ScaleKind::factor;
  placed.y_ticks = placed.y.ticks(static_cast<int>(height / (levels_y ? 13 : 34)));
  cut(placed.y_ticks);
  if (levels_x) {
    placed.x_ticks = placed.x.ticks(std::max(1, static_cast<int>(width / 14)));
    cut(placed.x_ticks);
    placed.slanted = !side_by_side(placed.x_ticks, placed.x, width);
    return;
  }
  for (int most = std::max(2, static_cast<int>(width / 45)); most >= 1; --most) {
    placed.x_ticks = placed.x.ticks(most);
    if (side_by_side(placed.x_ticks, placed.x, width)) return;
  }
}

double room_left(const PlacedPanel& placed) {
  const Axis& axis = placed.panel->y;
  return (axis.shown ? widest(placed.y_ticks) + 9 : 0) + (axis.label.empty() ? 0 : 19) + 3;
}

double room_below(const PlacedPanel& placed) {
  const Axis& axis = placed.panel->x;
  const double texts = placed.slanted ? widest(placed.x_ticks) * kSlant + 14 : kTickSize + 8;
  return (axis.shown ? texts : 0) + (axis.label.empty() ? 0 : 19) + 3;
}

/// The longer axis shows more, so that a unit is as long on both.
void make_equal(PlacedPanel& placed) {
  const double unit_x = placed.area.width / (placed.x.to() - placed.x.from());
  const double unit_y = placed.area.height / (placed.y.to() - placed.y.from());
  if (unit_x > unit_y) placed.x.widen(unit_x / unit_y);
  else placed.y.widen(unit_y / unit_x);
}

}  // namespace

double text_width(std::string_view text, double size) {
  double width = 0;
  while (!text.empty()) {
    const Character c = first_character(text);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes == 1 && c.code >= 32 && c.code < 127) width += kWidths[c.code - 32] / 100.0;
    else width += 0.68 * display_width(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return width * size;
}

std::string fitted(std::string_view text, double size, double width) {
  if (text_width(text, size) <= width) return std::string(text);
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const std::size_t next = bytes + std::max<std::size_t>(first_character(text.substr(bytes)).bytes, 1);
    if (text_width(text.substr(0, next), size) + size > width) break;
    bytes = next;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

namespace {

/// What all panels leave one another: how wide and high their areas are, which are of one size.
struct Grid {
  std::vector<double> left, below, above;
  double wide = 0, high = 0;
};

Grid grid_of(const Layout& placed, double width, double height, int rows, int columns) {
  Grid out;
  out.left.assign(static_cast<std::size_t>(columns), 0), out.below.assign(static_cast<std::size_t>(rows), 0),
      out.above = out.below;
  for (const PlacedPanel& each : placed.panels) {
    auto& l = out.left[static_cast<std::size_t>(each.panel->column)];
    auto& b = out.below[static_cast<std::size_t>(each.panel->row)];
    auto& a = out.above[static_cast<std::size_t>(each.panel->row)];
    l = std::max(l, room_left(each)), b = std::max(b, room_below(each));
    a = std::max(a, each.panel->title.empty() ? 4.0 : 22.0);
  }
  double taken_wide = (columns - 1) * kGap, taken_high = (rows - 1) * 6.0;
  for (const double l : out.left) taken_wide += l;
  for (std::size_t r = 0; r < out.below.size(); ++r) taken_high += out.below[r] + out.above[r];
  out.wide = std::max(10.0, (width - taken_wide) / columns), out.high = std::max(10.0, (height - taken_high) / rows);
  return out;
}

}  // namespace

Layout layout(const Figure& figure) {
  Layout out;
  int rows = 1, columns = 1;
  for (const Panel& panel : figure.panels)
    rows = std::max(rows, panel.row + 1), columns = std::max(columns, panel.column + 1);
  const double legend = legend_width(figure);
  const double top = figure.title.empty() ? 10 : 40, bottom = 8, side = 12;
  const double width = figure.width - 2 * side - legend, height = figure.height - top - bottom;

  for (const Panel& panel : figure.panels) {
    const Extents extents = extents_of(panel);
    out.panels.push_back({&panel, {}, Scale(panel.x, extents.x), Scale(panel.y, extents.y), {}, {}});
  }
  // The room that texts take decides how large the areas are, and these which texts there are: begin with a guess, and look again.
  Grid grid;
  grid.wide = std::max(20.0, width / columns - 50), grid.high = std::max(20.0, height / rows - 45);
  for (int look = 0; look < 3; ++look) {
    for (PlacedPanel& placed : out.panels) choose_ticks(placed, grid.wide, grid.high);
    grid = grid_of(out, width, height, rows, columns);
  }
  for (PlacedPanel& placed : out.panels) {
    const Panel& panel = *placed.panel;
    Box& area = placed.area;
    area = {side, top, grid.wide, grid.high};
    for (int c = 0; c <= panel.column; ++c)
      area.left += grid.left[static_cast<std::size_t>(c)] + (c > 0 ? grid.wide + kGap : 0);
    for (int r = 0; r <= panel.row; ++r)
      area.top += grid.above[static_cast<std::size_t>(r)] +
                  (r > 0 ? grid.high + grid.below[static_cast<std::size_t>(r) - 1] + 6 : 0);
    if (panel.equal) make_equal(placed), choose_ticks(placed, grid.wide, grid.high);
  }
  if (legend > 0) out.legend = {figure.width - legend + kGap / 2, top + 4, legend - kGap, height - 8};
  return out;
}

}  // namespace lemma::plot
