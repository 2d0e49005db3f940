// lemma/plot/hexagons.cpp
#include <algorithm>
#include <cmath>
#include <lemma/plot/hexagons.hpp>
#include <numbers>

namespace lemma::plot {

std::vector<Hexagon> hexagons_of(const std::vector<double>& x, const std::vector<double>& y,
                                 const std::vector<int>& group, double width, double height, double side) {
  // Rows of cells are 1.5 sides apart, every other one moved by half a cell. The nearest middle is in one of two rows.
  const double wide = side * std::numbers::sqrt3, high = 1.5 * side;
  const auto columns = static_cast<Index>(width / wide) + 2, rows = static_cast<Index>(height / high) + 2;
  const int groups = group.empty() ? 1 : std::max(1, *std::max_element(group.begin(), group.end()) + 1);
  const auto middle_x = [&](Index row, Index column) {
    return (static_cast<double>(column) + (row % 2 ? 0.5 : 0)) * wide;
  };
  std::vector<double> counts(static_cast<std::size_t>(rows * columns * groups), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] >= 0 && x[i] <= width && y[i] >= 0 && y[i] <= height) || (!group.empty() && group[i] < 0)) continue;
    Index best_row = 0, best_column = 0;
    double best = INFINITY;
    const auto first = static_cast<Index>(y[i] / high);
    for (Index row = first; row <= first + 1 && row < rows; ++row) {
      const auto column =
          std::clamp<Index>(static_cast<Index>(std::floor(x[i] / wide - (row % 2 ? 0.5 : 0) + 0.5)), 0, columns - 1);
      const double dx = x[i] - middle_x(row, column), dy = y[i] - static_cast<double>(row) * high;
      if (dx * dx + dy * dy < best) best = dx * dx + dy * dy, best_row = row, best_column = column;
    }
    ++counts[static_cast<std::size_t>((best_row * columns + best_column) * groups + (group.empty() ? 0 : group[i]))];
  }
  std::vector<Hexagon> out;
  for (Index cell = 0; cell < rows * columns; ++cell) {
    const auto first = counts.begin() + cell * groups, last = first + groups;
    double total = 0;
    for (auto each = first; each != last; ++each) total += *each;
    if (total == 0) continue;
    const auto most = static_cast<int>(std::max_element(first, last) - first);
    out.push_back({middle_x(cell / columns, cell % columns), static_cast<double>(cell / columns) * high, total,
                   group.empty() ? -1 : most});
  }
  return out;
}

}  // namespace lemma::plot
