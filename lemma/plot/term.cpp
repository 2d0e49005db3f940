// lemma/plot/term.cpp: a figure in a terminal. A character is a field of 2 × 4 Braille dots; areas and cells are shaded blocks.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/plot/colours.hpp>
#include <lemma/plot/scale.hpp>

namespace lemma::plot {
namespace {

/// A grid of characters; each holds dots, or a character of its own, and a colour.
class Canvas {
 public:
  Canvas(int columns, int rows) : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns * rows)) {}
  int columns() const { return columns_; }
  int rows() const { return rows_; }

  /// x and y in dots: 2 columns by 4 rows a character.
  void dot(int x, int y, const Paint& paint) {
    if (x < 0 || y < 0 || x >= 2 * columns_ || y >= 4 * rows_) return;
    constexpr unsigned kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = at(x / 2, y / 4);
    cell.dots |= kBits[y % 4][x % 2];
    cell.paint = paint;
  }
  void put(int column, int row, char32_t code, const Paint& paint) {
    if (column < 0 || row < 0 || column >= columns_ || row >= rows_) return;
    at(column, row) = {0, code, paint};
  }
  std::string line(int row, bool colours) const {
    std::string out;
    for (int c = 0; c < columns_; ++c) {
      const Cell& cell = cells_[static_cast<std::size_t>(row * columns_ + c)];
      std::string shown = " ";
      if (cell.code || cell.dots) shown.clear(), append_utf8(shown, cell.code ? cell.code : U'\u2800' + cell.dots);
      const Colour colour = colour_of(cell.paint, true);
      if (colours && shown != " " && cell.paint.of != Paint::Of::ink)
        shown = fmt::format("\x1b[38;2;{};{};{}m{}\x1b[0m", colour.red, colour.green, colour.blue, shown);
      out += shown;
    }
    return out;
  }

 private:
  struct Cell {
    unsigned dots = 0;
    char32_t code = 0;
    Paint paint = ink();
  };
  Cell& at(int column, int row) { return cells_[static_cast<std::size_t>(row * columns_ + column)]; }
  int columns_, rows_;
  std::vector<Cell> cells_;
};

class Drawer {
 public:
  Drawer(Canvas& canvas, const Scale& x, const Scale& y) : canvas_(canvas), x_(x), y_(y) {}

  void operator()(const Points& m) {
    for (std::size_t i = 0; i < m.x.size(); ++i)
      dot(m.x[i], m.y[i], m.group.empty() ? m.paint : m.group[i] < 0 ? faint() : series(m.group[i]));
  }
  void operator()(const Line& m) {
    for (std::size_t i = 1; i < m.x.size(); ++i) line(m.x[i - 1], m.y[i - 1], m.x[i], m.y[i], m.paint);
  }
  void operator()(const Area& m) {
    (*this)(Line{m.x, m.lower, m.paint});
    (*this)(Line{m.x, m.upper, m.paint});
  }
  void operator()(const Segments& m) {
    for (std::size_t i = 0; i < m.x0.size(); ++i) line(m.x0[i], m.y0[i], m.x1[i], m.y1[i], m.paint);
  }
  /// Full blocks; of a ramp the shade that tells its place.
  void operator()(const Rectangles& m) {
    for (std::size_t i = 0; i < m.x0.size(); ++i) {
      const Paint& paint = m.paints.size() == 1 ? m.paints[0] : m.paints[i];
      const double left = column(std::min(m.x0[i], m.x1[i])), right = column(std::max(m.x0[i], m.x1[i]));
      const double top = row(std::max(m.y0[i], m.y1[i])), bottom = row(std::min(m.y0[i], m.y1[i]));
      if (!near(left, right) || !near(top, bottom)) continue;
      if (paint.of == Paint::Of::sequential || paint.of == Paint::Of::diverging) {
        const double depth = paint.of == Paint::Of::sequential ? paint.at : std::abs(2 * paint.at - 1);
        const char32_t shade = U" ░▒▓█"[std::clamp(static_cast<int>(depth * 5), 0, 4)];
        for (int r = round(top / 4); r < std::max(round(bottom / 4), round(top / 4) + 1); ++r)
          for (int c = round(left / 2); c < std::max(round(right / 2), round(left / 2) + 1); ++c)
            canvas_.put(c, r, shade, paint);
      } else {
        for (int y = round(top); y < round(bottom); ++y)
          for (int x = round(left); x < std::max(round(right), round(left) + 1); ++x) canvas_.dot(x, y, paint);
      }
    }
  }
  void operator()(const Words& m) {
    for (std::size_t i = 0; i < m.words.size(); ++i) {
      if (!near(column(m.x[i]), row(m.y[i]))) continue;
      std::string_view text = m.words[i];
      int c = round(column(m.x[i]) / 2) - (m.centred ? display_width(text) / 2 : -1);
      while (!text.empty()) {
        const Character first = first_character(text);
        canvas_.put(c++, static_cast<int>(row(m.y[i]) / 4), first.bytes ? first.code : U'?', m.paint);
        text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
      }
    }
  }

 private:
  double column(double value) const { return x_.place(value) * (2 * canvas_.columns() - 1); }
  double row(double value) const { return (1 - y_.place(value)) * (4 * canvas_.rows() - 1); }
  static bool near(double a, double b) { return std::abs(a) < 1e5 && std::abs(b) < 1e5; }
  static int round(double value) { return static_cast<int>(std::lround(value)); }
  void dot(double x, double y, const Paint& paint) {
    if (near(column(x), row(y))) canvas_.dot(round(column(x)), round(row(y)), paint);
  }
  void line(double x0, double y0, double x1, double y1, const Paint& paint) {
    const double ax = column(x0), ay = row(y0), bx = column(x1), by = row(y1);
    if (!near(ax, ay) || !near(bx, by)) return;
    const int steps = std::max(1, round(std::max(std::abs(bx - ax), std::abs(by - ay))));
    for (int k = 0; k <= steps; ++k)
      canvas_.dot(round(ax + (bx - ax) * k / steps), round(ay + (by - ay) * k / steps), paint);
  }
  Canvas& canvas_;
  const Scale &x_, &y_;
};

std::string without_blanks_at_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string draw(const Panel& panel, const Terminal& terminal, int rows) {
  const Extents extents = extents_of(panel);
  const Scale x(panel.x, extents.x), y(panel.y, extents.y);
  const auto y_ticks = y.ticks(std::max(2, rows / (y.kind() == ScaleKind::factor ? 1 : 4)));
  int margin = 0;
  for (const Tick& tick : y_ticks) margin = std::max(margin, std::min(display_width(tick.text), 20));
  const int columns = std::max(10, terminal.columns - margin - 2);
  Canvas canvas(columns, rows);
  Drawer drawer(canvas, x, y);
  for (const Mark& mark : panel.marks) std::visit(drawer, mark);

  std::vector<std::string> left(static_cast<std::size_t>(rows));
  for (const Tick& tick : y_ticks) {
    const auto row = std::clamp(static_cast<int>((1 - y.place(tick.at)) * (4 * rows - 1) / 4), 0, rows - 1);
    std::string text = tick.text;
    while (display_width(text) > 20) text.pop_back();
    left[static_cast<std::size_t>(row)] = text;
  }
  std::string out;
  if (!panel.title.empty() || !panel.name.empty()) out += (panel.title.empty() ? panel.name : panel.title) + "\n";
  if (!panel.y.label.empty()) out += panel.y.label + "\n";
  for (int r = 0; r < rows; ++r) {
    const auto& text = left[static_cast<std::size_t>(r)];
    out +=
        without_blanks_at_end(pad_left(text, margin) + (text.empty() ? " │" : " ┤") + canvas.line(r, terminal.colours));
  }
  std::string rule, texts(static_cast<std::size_t>(margin + 2), ' ');
  for (int c = 0; c < columns; ++c) rule += "─";
  out += std::string(static_cast<std::size_t>(margin + 1), ' ') + "└" + rule + "\n";
  for (const Tick& tick : x.ticks(std::max(1, columns / 12))) {
    const int wide = display_width(tick.text),
              start = margin + 2 + static_cast<int>(x.place(tick.at) * (columns - 1)) - wide / 2;
    if (start >= display_width(texts) + (display_width(texts) > margin + 2 ? 1 : -wide) &&
        start + wide <= terminal.columns)
      texts = pad_right(texts, start) + tick.text;
  }
  out += without_blanks_at_end(texts);
  if (!panel.x.label.empty())
    out += std::string(static_cast<std::size_t>(margin + 2 + std::max(0, (columns - display_width(panel.x.label)) / 2)),
                       ' ') +
           panel.x.label + "\n";
  return out;
}

}  // namespace

std::string to_term(const Figure& figure, const Terminal& terminal) {
  constexpr std::size_t kMostPanels = 6;
  std::string out = figure.title.empty() ? "" : figure.title + "\n";
  const int rows = std::max(5, (terminal.rows - 6) / (figure.panels.size() > 1 ? 2 : 1));
  for (std::size_t k = 0; k < std::min(figure.panels.size(), kMostPanels); ++k)
    out += draw(figure.panels[k], terminal, rows);
  if (figure.panels.size() > kMostPanels)
    out += fmt::format("… {} not drawn here: -o FILE.svg has all\n",
                       count_of(static_cast<std::int64_t>(figure.panels.size() - kMostPanels), "more panel"));
  if (figure.legend.entries.empty()) return out;
  std::string line = figure.legend.title.empty() ? "" : figure.legend.title + ":";
  int wide = display_width(line);
  for (const LegendEntry& entry : figure.legend.entries) {
    const Colour c = colour_of(entry.paint, true);
    const int more = display_width(entry.text) + 4;
    if (wide > 0 && wide + more > terminal.columns) out += line + "\n", line.clear(), wide = 0;
    line += wide > 0 ? "  " : "";
    line +=
        (terminal.colours ? fmt::format("\x1b[38;2;{};{};{}m●\x1b[0m ", c.red, c.green, c.blue) : std::string("● ")) +
        entry.text;
    wide += more;
  }
  return out + line + "\n";
}

}  // namespace lemma::plot
