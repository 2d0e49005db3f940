// lemma/geometry/voronoi.hpp: who is nearest in the plane: a polygon around each point.
#pragma once
#include <lemma/geometry/neighbors.hpp>

namespace lemma {

/// The cells of points (sites) in a rectangle: cell i is where no other site is nearer than site i. A cell begins as the rectangle and
/// is cut by the perpendicular bisector of its site and each other, the nearest first; once the next site is twice as far as the
/// farthest corner of the cell, no other can cut it.
///
/// Of equal sites the first has the cell, the others have none. The point of a cell is found by the nearest neighbour (a kd-tree),
/// which of sites equally near takes the first.
///
/// Cost  O(n log n) for sites that are spread, O(n²) where one cell has nearly all others beside it.
class Voronoi {
 public:
  struct Box {
    double left, bottom, right, top;
  };
  /// A side of a cell, the cell on its left; `other`: the site on the other side, −1 at the end of the rectangle.
  struct Side {
    double x0, y0, x1, y1;
    Index other;
  };

  /// Sites: two columns. Error where one lies outside of the rectangle, or is not finite.
  Voronoi(const MatrixView& sites, const Box& box, const Execution& execution = {});

  Index count() const { return static_cast<Index>(cells_.size()); }
  /// Counterclockwise; empty for a site that an earlier one equals.
  const std::vector<Side>& cell(Index site) const { return cells_[static_cast<std::size_t>(site)]; }
  double area(Index site) const;
  /// In whose cell each point lies (two columns), inside the rectangle or outside of it.
  std::vector<std::int32_t> locate(const MatrixView& points, const Execution& execution = {}) const;

 private:
  Neighbors search_;
  std::vector<std::vector<Side>> cells_;
};

}  // namespace lemma
