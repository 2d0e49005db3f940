// lemma/geometry/neighbors/kd_tree.cpp: boxes around points, parted across their widest side (Bentley 1975; Friedman,
// Bentley and Finkel 1977). Boxes are as tight as their points, not cells of a partition of space.
#include <cmath>
#include <lemma/geometry/neighbors/panel_tree.hpp>

namespace lemma::neighbors {
namespace {

class Boxes {
 public:
  Boxes(const BoundMetric& metric, const Matrix& mapped, Index nodes)
      : mapped_(&mapped),
        width_(metric.width()),
        sum_(metric.sum()),
        sides_(static_cast<std::size_t>(2 * width_ * nodes)) {
    if (const auto* minkowski = metric.metric().get<MinkowskiMetric>()) power_ = minkowski->p;
  }

  void enclose(Index node, Rows rows) {
    double* low = sides_.data() + 2 * width_ * node;
    double* high = low + width_;
    std::fill(low, high, HUGE_VAL);
    std::fill(high, high + width_, -HUGE_VAL);
    for (const std::int32_t row : rows) {
      const double* x = &(*mapped_)(row, 0);
      for (Index j = 0; j < width_; ++j) {
        low[j] = x[j] < low[j] ? x[j] : low[j];
        high[j] = x[j] > high[j] ? x[j] : high[j];
      }
    }
  }

  void keys(Index node, Rows rows, std::vector<double>& out) const {
    const double* low = sides_.data() + 2 * width_ * node;
    Index widest = 0;
    for (Index j = 1; j < width_; ++j)
      if (low[width_ + j] - low[j] > low[width_ + widest] - low[widest]) widest = j;
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = (*mapped_)(rows[i], widest);
  }

  /// The loop of the metric itself over the gaps between x and the box, each of which is at most that to a point
  /// inside: rounding is monotone, so the bound holds to the last bit. (Powers are not that sure of their last bits.)
  Bound lower(const double* x, Index node) const {
    const double sum = least(x, node);
    return {sum, sum};
  }

  void built() { mapped_ = nullptr; }

 private:
  double least(const double* x, Index node) const {
    const double* low = sides_.data() + 2 * width_ * node;
    double sum = 0;
    switch (sum_) {
      case BoundMetric::Sum::squares:
        for (Index j = 0; j < width_; ++j) {
          const double g = gap(x, low, j);
          sum += g * g;
        }
        return sum;
      case BoundMetric::Sum::absolute:
        for (Index j = 0; j < width_; ++j) sum += gap(x, low, j);
        return sum;
      default:
        for (Index j = 0; j < width_; ++j) sum = std::max(sum, gap(x, low, j));
    }
    return sum_ == BoundMetric::Sum::power && sum > 0 ? powers(x, low, sum) : sum;
  }

  double gap(const double* x, const double* low, Index j) const {
    const double below = low[j] - x[j], above = x[j] - low[width_ + j], outside = below > above ? below : above;
    return outside > 0 ? outside : 0;
  }
  double powers(const double* x, const double* low, double most) const {
    double sum = 0;
    for (Index j = 0; j < width_; ++j) sum += std::pow(gap(x, low, j) / most, power_);
    return most * std::pow(sum, 1 / power_) * (1 - 1e-12);
  }

  const Matrix* mapped_;
  Index width_;
  BoundMetric::Sum sum_;
  double power_ = 2;
  std::vector<double> sides_;  // of each node the least of every column, then the greatest
};

}  // namespace

std::unique_ptr<const SearchStructure> kd_tree(const BoundMetric& metric, const Matrix& mapped,
                                               const Execution& execution) {
  return std::make_unique<PanelTree<Boxes>>(metric, mapped, execution);
}

}  // namespace lemma::neighbors
