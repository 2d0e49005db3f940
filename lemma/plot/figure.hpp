// lemma/plot/figure.hpp: a picture before it is drawn: panels with axes, and marks in the units of the data.
#pragma once
#include <cstdint>
#include <lemma/data/table.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lemma::plot {

/// What a mark is drawn in: the ink of the theme, a colour of the palette, or a place on a ramp.
struct Paint {
  enum class Of { ink, faint, palette, sequential, diverging };
  Of of = Of::palette;
  int number = 0;  // in the palette, from 0; colours come again when there are more groups than colours
  double at = 0;   // on a ramp: 0 … 1
  double opacity = 1;
};
constexpr Paint ink(double opacity = 1) { return {Paint::Of::ink, 0, 0, opacity}; }
constexpr Paint faint(double opacity = 1) { return {Paint::Of::faint, 0, 0, opacity}; }
constexpr Paint series(int number, double opacity = 1) { return {Paint::Of::palette, number, 0, opacity}; }
constexpr Paint sequential(double at) { return {Paint::Of::sequential, 0, at, 1}; }
constexpr Paint diverging(double at) { return {Paint::Of::diverging, 0, at, 1}; }

// ---- marks; what is not finite is not drawn ----

struct Points {
  std::vector<double> x, y;
  std::vector<int> group;             // each point's number in the palette, and its shape; empty: all have `paint`
  std::vector<std::string> tooltips;  // one a point, or none
  Paint paint = series(0, 0.75);
  double radius = 3;
};
/// A line through the points in their order; what is not finite breaks it.
struct Line {
  std::vector<double> x, y;
  Paint paint = series(0);
  double width = 1.8;
  bool dashed = false;
  std::string tooltip = {};
};
/// Between two lines.
struct Area {
  std::vector<double> x, lower, upper;
  Paint paint = series(0, 0.25);
};
/// Bars, the boxes of a box plot, the cells of a heat map.
struct Rectangles {
  std::vector<double> x0, x1, y0, y1;
  std::vector<Paint> paints;  // one for each, or one for all
  std::vector<std::string> tooltips;
  bool outlined = false;
};
struct Segments {
  std::vector<double> x0, y0, x1, y1;
  Paint paint = ink();
  double width = 1.2;
  bool dashed = false, arrows = false;
};
/// Words at places. Those that would lie on one another are moved around their places, and left out where there is no room.
struct Words {
  std::vector<double> x, y;
  std::vector<std::string> words;
  Paint paint = ink();
  double size = 11;
  bool centred = true;   // on the place; else beside it
  double gap = 6;        // pixels from the place to a word beside it
  bool outward = false;  // beside it, first on the side away from zero: where an arrow ends
};
using Mark = std::variant<Points, Line, Area, Rectangles, Segments, Words>;

// ---- panels ----

enum class ScaleKind { linear, log, factor, time };

struct Axis {
  std::string label;
  ScaleKind kind = ScaleKind::linear;
  std::vector<std::string> levels;           // of a factor: level k lies at k
  std::optional<double> from = {}, to = {};  // else what the marks need, and a little more
  bool shown = true;                         // its ticks and their texts
  bool grid = true;
};

struct Panel {
  std::string title;
  Axis x, y;
  std::vector<Mark> marks;
  int row = 0, column = 0;
  bool equal = false;     // one unit is as long on either axis
  std::string name = {};  // what it shows, where neither its title nor its axes say so
};

struct LegendEntry {
  enum class Key { point, line, area };
  std::string text;
  Paint paint;
  Key key = Key::point;
  bool dashed = false;  // a line
};
/// Beside the panels: entries, or a ramp with its ends.
struct Legend {
  std::string title;
  std::vector<LegendEntry> entries;
  struct Ramp {
    Paint::Of of;
    double from, to;
  };
  std::optional<Ramp> ramp = {};
};

enum class Theme { automatic, light, dark };  // automatic: as the viewer's, where the format knows it, else light
enum class Format { svg, png, pdf, term };

struct Figure {
  std::string title;
  std::string description;  // what it shows, for those who cannot see it
  std::vector<Panel> panels;
  Legend legend;
  double width = 720, height = 480;  // in CSS pixels
  Theme theme = Theme::automatic;

  Index marks() const;   // things drawn: points, bars, lines, words
  Index points() const;  // points alone
};

/// More points than this become hexagons, so that a file stays below 1 MB.
inline constexpr Index kMostPoints = 50'000;
/// Up to so many points have tooltips and shapes of their own.
inline constexpr Index kMostTooltips = 3'000;

/// The same figure gives the same bytes.
std::string to_svg(const Figure& figure);
/// The same as a part of an HTML page, which has svg_rules() once among its styles. On paper they are the light ones.
std::string to_svg_in_page(const Figure& figure);
std::string svg_rules();

struct Terminal {
  int columns = 80, rows = 24;
  bool colours = false;
};
/// Braille dots and block characters, panel below panel.
std::string to_term(const Figure& figure, const Terminal& terminal = {});

/// By the end of a file's name: .svg, .png, .pdf, .txt; Error for another.
Format format_of(std::string_view path);
/// The bytes of a file. PNG has two pixels for each of the figure's.
std::string render(const Figure& figure, Format format);
void save(const Figure& figure, const std::string& path);

}  // namespace lemma::plot
