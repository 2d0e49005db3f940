// lemma/plot/hexagons.hpp: how many points lie in each cell of a honeycomb. Inner header of the room.
#pragma once
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma::plot {

struct Hexagon {
  double x, y;  // its middle
  double count;
  int group;  // of most of its points; −1: there are no groups
};

/// Cells with sides of this length over [0, width] × [0, height], in the order of their rows; empty ones are left out.
std::vector<Hexagon> hexagons_of(const std::vector<double>& x, const std::vector<double>& y,
                                 const std::vector<int>& group, double width, double height, double side);

}  // namespace lemma::plot
