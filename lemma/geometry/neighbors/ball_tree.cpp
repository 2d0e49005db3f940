// lemma/geometry/neighbors/ball_tree.cpp: balls around points, parted between two points far from each other (Omohundro
// 1989).
#include <cmath>
#include <lemma/geometry/neighbors/panel_tree.hpp>

namespace lemma::neighbors {
namespace {

class Balls {
 public:
  Balls(const BoundMetric& metric, const Matrix& mapped, Index nodes)
      : metric_(metric),
        mapped_(&mapped),
        centres_(static_cast<std::size_t>(metric.width() * nodes)),
        radii_(static_cast<std::size_t>(nodes)),
        rounding_(static_cast<double>(metric.width() + 16) * 0x1p-50) {}

  /// About the mean, where means make sense; else about a point.
  void enclose(Index node, Rows rows) {
    double* centre = at(node);
    std::copy_n(row(rows[0]), metric_.width(), centre);
    if (metric_.is_by_columns())
      for (std::size_t i = 1; i < rows.size(); ++i)
        for (Index j = 0; j < metric_.width(); ++j)
          centre[j] += (row(rows[i])[j] - centre[j]) / static_cast<double>(i + 1);
    double radius = 0;
    for (const std::int32_t i : rows) radius = std::max(radius, metric_.root(centre, row(i)));
    radii_[static_cast<std::size_t>(node)] = radius;
  }

  /// Nearer to the point a that is farthest from the centre, or to the point b farthest from a.
  void keys(Index node, Rows rows, std::vector<double>& out) const {
    const double* a = farthest(at(node), rows);
    const double* b = farthest(a, rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[i] = metric_.root(a, row(rows[i])) - metric_.root(b, row(rows[i]));
  }

  /// d(x, z) ≥ d(x, centre) − d(centre, z), less what rounding may have added. Balls overlap: of several that x is in
  /// the one with the nearest centre comes first.
  Bound lower(const double* x, Index node) const {
    const double radius = radii_[static_cast<std::size_t>(node)], distance = metric_.root(at(node), x);
    const double bound = distance - radius - rounding_ * (distance + radius);
    return {bound > 0 ? metric_.sum_at_root(bound) * (1 - 0x1p-50) : 0, distance};
  }

  void built() { mapped_ = nullptr; }

 private:
  const double* row(std::int32_t i) const { return &(*mapped_)(i, 0); }
  double* at(Index node) { return centres_.data() + node * metric_.width(); }
  const double* at(Index node) const { return centres_.data() + node * metric_.width(); }
  const double* farthest(const double* from, Rows rows) const {
    double most = -1;
    const double* out = from;
    for (const std::int32_t i : rows)
      if (const double distance = metric_.root(from, row(i)); distance > most) {
        most = distance;
        out = row(i);
      }
    return out;
  }

  BoundMetric metric_;
  const Matrix* mapped_;
  std::vector<double> centres_, radii_;
  double rounding_;
};

}  // namespace

std::unique_ptr<const SearchStructure> ball_tree(const BoundMetric& metric, const Matrix& mapped,
                                                 const Execution& execution) {
  return std::make_unique<PanelTree<Balls>>(metric, mapped, execution);
}

}  // namespace lemma::neighbors
