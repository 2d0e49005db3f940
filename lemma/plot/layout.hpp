// lemma/plot/layout.hpp: where panels, texts and the legend lie on the paper. Inner header of the room.
#pragma once
#include <lemma/plot/scale.hpp>

namespace lemma::plot {

struct Box {
  double left = 0, top = 0, width = 0, height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
  bool overlaps(const Box& other) const {
    return left < other.right() && other.left < right() && top < other.bottom() && other.top < bottom();
  }
};

inline constexpr double kTickSize = 11, kLabelSize = 12, kTitleSize = 15;

inline constexpr double kBold = 1.14;  // bold letters of a size are as wide as others of so much more

/// As wide as DejaVu Sans sets it, which is wider than most.
double text_width(std::string_view text, double size);
/// The text, or as much of it as fits and an ellipsis.
std::string fitted(std::string_view text, double size, double width);

struct PlacedPanel {
  const Panel* panel;
  Box area;  // of the data
  Scale x, y;
  std::vector<Tick> x_ticks, y_ticks;
  bool slanted = false;  // the texts of x_ticks, where they would overlap
  double left_of(double value) const { return area.left + x.place(value) * area.width; }
  double top_of(double value) const { return area.bottom() - y.place(value) * area.height; }
};

struct Layout {
  std::vector<PlacedPanel> panels;
  Box legend;  // width 0: there is none
};
Layout layout(const Figure& figure);

}  // namespace lemma::plot
