// lemma/geometry/voronoi.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/voronoi.hpp>

namespace lemma {
namespace {

using Side = Voronoi::Side;
constexpr Index kFirst = 16;  // neighbours that nearly every cell is made of

struct Corner {
  double x, y;
  Index other;  // beyond the side that begins here
};
/// A convex polygon around the site, which is at 0.
using Cell = std::vector<Corner>;

/// What lies nearer to 0 than to (dx, dy).
void cut(Cell& cell, double dx, double dy, Index other, Cell& out) {
  const double middle = 0.5 * (dx * dx + dy * dy);
  const auto beyond = [&](const Corner& c) { return dx * c.x + dy * c.y - middle; };
  out.clear();
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const Corner &a = cell[i], &b = cell[(i + 1) % cell.size()];
    const double from = beyond(a), to = beyond(b);
    if (from <= 0) out.push_back(a);
    if ((from <= 0) == (to <= 0)) continue;
    const double t = from / (from - to);
    out.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), from <= 0 ? other : a.other});
  }
  std::swap(cell, out);
}

double reach_of(const Cell& cell) {
  double out = 0;
  for (const Corner& c : cell) out = std::max(out, std::hypot(c.x, c.y));
  return out;
}

Neighbors searchable(const MatrixView& sites, const Voronoi::Box& box, const Execution& execution) {
  if (sites.cols() != 2)
    throw Error(fmt::format("a Voronoi diagram lies in the plane, and here are {} columns", sites.cols()));
  require(box.left < box.right && box.bottom < box.top, "a Voronoi diagram needs a rectangle that is not empty");
  for (Index i = 0; i < sites.rows(); ++i)
    if (!(sites(i, 0) >= box.left && sites(i, 0) <= box.right && sites(i, 1) >= box.bottom && sites(i, 1) <= box.top))
      throw Error(fmt::format("a Voronoi diagram: point {} is not in the rectangle", i + 1));
  return {sites, Metric(EuclideanMetric{}), SearchOptions{.structure = SearchBy::kd_tree}, execution};
}

}  // namespace

Voronoi::Voronoi(const MatrixView& sites, const Box& box, const Execution& execution)
    : search_(searchable(sites, box, execution)), cells_(static_cast<std::size_t>(sites.rows())) {
  const Index n = sites.rows();
  std::vector<Index> open;
  for (Index i = 0; i < n; ++i) open.push_back(i);
  for (Index k = std::min(kFirst, n); !open.empty(); k = std::min(4 * k, n)) {
    Matrix asked(static_cast<Index>(open.size()), 2);
    for (std::size_t o = 0; o < open.size(); ++o) asked.row(static_cast<Index>(o)) = sites.row(open[o]);
    const NeighborLists lists = search_.nearest(asked, k, execution);
    std::vector<Index> left;
    Cell cell, scratch;
    for (std::size_t o = 0; o < open.size(); ++o) {
      const Index i = open[o];
      const double x = sites(i, 0), y = sites(i, 1);
      cell = {{box.left - x, box.bottom - y, -1},
              {box.right - x, box.bottom - y, -1},
              {box.right - x, box.top - y, -1},
              {box.left - x, box.top - y, -1}};
      const auto rows = lists.rows_of(static_cast<Index>(o));
      const auto distances = lists.distances_of(static_cast<Index>(o));
      bool whole = k == n;
      for (std::size_t j = 0; j < rows.size(); ++j) {
        if (rows[j] == i) continue;
        if (distances[j] == 0) {
          if (rows[j] < i) cell.clear();  // an earlier site has it
          continue;
        }
        if (cell.empty() || distances[j] > 2 * reach_of(cell)) {
          whole = true;
          break;
        }
        cut(cell, sites(rows[j], 0) - x, sites(rows[j], 1) - y, rows[j], scratch);
      }
      if (!whole && !cell.empty()) {
        left.push_back(i);
        continue;
      }
      for (std::size_t c = 0; c < cell.size(); ++c) {
        const Corner &a = cell[c], &b = cell[(c + 1) % cell.size()];
        cells_[static_cast<std::size_t>(i)].push_back({a.x + x, a.y + y, b.x + x, b.y + y, a.other});
      }
    }
    open = std::move(left);
  }
}

double Voronoi::area(Index site) const {
  double twice = 0;
  const auto& sides = cell(site);
  for (const Side& s : sides)
    twice += (s.x0 - sides[0].x0) * (s.y1 - sides[0].y0) - (s.x1 - sides[0].x0) * (s.y0 - sides[0].y0);
  return 0.5 * twice;
}

std::vector<std::int32_t> Voronoi::locate(const MatrixView& points, const Execution& execution) const {
  return search_.nearest(points, 1, execution).row;
}

}  // namespace lemma
