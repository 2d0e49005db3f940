// lemma/cluster/dbscan/near_rows.cpp
#include <algorithm>
#include <bit>
#include <cmath>
#include <lemma/cluster/dbscan/near_rows.hpp>
#include <lemma/math/radix.hpp>
#include <numeric>

namespace lemma {
namespace {

using simd::kPanel;

constexpr Index kFewColumns = 6;       // up to so many boxes leave most of the others out
constexpr Index kFewest = 3;           // and so many have few cells around a cell
constexpr double kSlack = 1 + 1e-9;    // more than rounding takes from a bound
constexpr Index kPanelsTogether = 64;  // that one thread takes
constexpr std::size_t kCellsTogether = 256;

bool suits(const BoundMetric& metric, Index columns, double radius) {
  return metric.is_by_columns() && metric.width() <= columns && radius > 1e-140 && radius < 1e140;
}

class ByBoxes final : public NearRows {
 public:
  ByBoxes(const Matrix& points, const BoundMetric& metric, double radius, const Execution& execution)
      : NearRows(metric, radius),
        search_(neighbors::kd_tree(metric, metric.mapped(points), execution)),
        width_(metric.width()),
        sum_(metric.sum()),
        sides_(at(2 * width_ * 2 * panels())) {
    if (panels() > 0) enclose(0, 0, panels());
  }

  void for_each(const Execution& execution, const VisitNear& visit) const override {
    parallel_for((panels() + kPanelsTogether - 1) / kPanelsTogether, execution, [&](Index part) {
      std::vector<Index> around;
      std::vector<double> x(at(width_));
      std::vector<std::int32_t> near;
      double sums[kPanel];
      for (Index k = part * kPanelsTogether; k < std::min(panels(), (part + 1) * kPanelsTogether); ++k) {
        around.clear();
        descend(box_of(k), 0, 0, panels(), around);
        for (Index place = k * kPanel; place < std::min(points().count(), (k + 1) * kPanel); ++place) {
          points().unpack(place, x.data());
          near.clear();
          for (const Index other : around)
            for (std::uint32_t bits = points().within(x.data(), other, limit_, sums); bits != 0; bits &= bits - 1)
              near.push_back(search_->order()[at(other * kPanel + std::countr_zero(bits))]);
          visit(search_->order()[at(place)], near);
        }
      }
    });
  }

 private:
  const PackedPoints& points() const { return search_->points(); }
  Index panels() const { return points().panels(); }
  static Index middle(Index a, Index b) { return a + (b - a) / 2; }
  double* low(Index node) { return sides_.data() + 2 * width_ * node; }
  const double* low(Index node) const { return sides_.data() + 2 * width_ * node; }

  /// Nodes stand in preorder: those of c panels are 2c − 1.
  void enclose(Index node, Index a, Index b) {
    double* to = low(node);
    if (b - a == 1) {
      std::fill_n(to, width_, HUGE_VAL);
      std::fill_n(to + width_, width_, -HUGE_VAL);
      for (Index place = a * kPanel; place < std::min(points().count(), b * kPanel); ++place)
        for (Index j = 0; j < width_; ++j) {
          const double value = points().at(place)[j * kPanel];
          to[j] = std::min(to[j], value), to[width_ + j] = std::max(to[width_ + j], value);
        }
      return;
    }
    const Index m = middle(a, b), left = node + 1, right = node + 2 * (m - a);
    enclose(left, a, m);
    enclose(right, m, b);
    for (Index j = 0; j < width_; ++j) {
      to[j] = std::min(low(left)[j], low(right)[j]);
      to[width_ + j] = std::max(low(left)[width_ + j], low(right)[width_ + j]);
    }
  }

  const double* box_of(Index panel) const {
    Index node = 0, a = 0, b = panels();
    while (b - a > 1) {
      const Index m = middle(a, b);
      if (panel < m) b = m, ++node;
      else node += 2 * (m - a), a = m;
    }
    return low(node);
  }

  /// No sum of two points of these boxes is less, but for rounding.
  double least(const double* one, const double* other) const {
    double sum = 0;
    for (Index j = 0; j < width_; ++j) {
      const double gap = std::max({0.0, other[j] - one[width_ + j], one[j] - other[width_ + j]});
      if (sum_ == BoundMetric::Sum::squares) sum += gap * gap;
      else if (sum_ == BoundMetric::Sum::absolute) sum += gap;
      else sum = std::max(sum, gap);
    }
    return sum;
  }

  void descend(const double* box, Index node, Index a, Index b, std::vector<Index>& around) const {
    if (least(box, low(node)) > limit_ * kSlack) return;
    if (b - a == 1) return around.push_back(a);
    const Index m = middle(a, b);
    descend(box, node + 1, a, m, around);
    descend(box, node + 2 * (m - a), m, b, around);
  }

  std::unique_ptr<const SearchStructure> search_;
  Index width_;
  BoundMetric::Sum sum_;
  std::vector<double> sides_;  // of each node the least of every column, then the greatest
};

class ByCells final : public NearRows {
 public:
  ByCells(const Matrix& points, const BoundMetric& metric, double radius, const Execution& execution)
      : NearRows(metric, radius),
        width_(metric.width()),
        packed_(sorted(metric, metric.mapped(points, execution.part(0, 0)))) {}

  void for_each(const Execution& execution, const VisitNear& visit) const override {
    const auto parts = (cells_.size() + kCellsTogether - 1) / kCellsTogether;
    parallel_for(static_cast<Index>(parts), execution, [&](Index part) {
      std::vector<double> x(at(width_));
      std::vector<std::int32_t> near;
      const std::size_t first = at(part) * kCellsTogether;
      for (std::size_t c = first; c < std::min(cells_.size(), first + kCellsTogether); ++c) {
        const std::vector<Run> runs = around(cells_[c]);
        for (Index place = start_[c]; place < start_[c + 1]; ++place) {
          packed_.unpack(place, x.data());
          near.clear();
          for (const Run& run : runs) collect(x.data(), run, near);
          visit(order_[at(place)], near);
        }
      }
    });
  }

 private:
  static constexpr int kBits = 21;  // of a cell's number in one column,
  static constexpr double kMost =
      (1 << (kBits - 1)) - 4;  // which is 1 … kMost, so that the next cells have numbers too
  struct Run {
    Index first, last;  // places
  };

  /// Cells are a little wider than the farthest that two rows in reach may be apart in one column.
  PackedPoints sorted(const BoundMetric& metric, const Matrix& mapped) {
    const double apart = (metric.sum() == BoundMetric::Sum::squares ? std::sqrt(limit_) : limit_) * kSlack;
    std::vector<KeyedRow> keyed(at(mapped.rows()));
    for (Index i = 0; i < mapped.rows(); ++i) keyed[at(i)] = {0, static_cast<std::uint32_t>(i)};
    for (Index j = 0; j < width_; ++j) {
      const double least = mapped.col(j).minCoeff(), side = std::max(apart, (mapped.col(j).maxCoeff() - least) / kMost);
      for (Index i = 0; i < mapped.rows(); ++i)
        keyed[at(i)].key = keyed[at(i)].key << kBits | static_cast<std::uint64_t>((mapped(i, j) - least) / side + 1);
    }
    radix_sort(keyed);
    for (const KeyedRow& each : keyed) {
      if (cells_.empty() || cells_.back() != each.key) {
        cells_.push_back(each.key);
        start_.push_back(std::ssize(order_));
      }
      order_.push_back(static_cast<std::int32_t>(each.row));
    }
    start_.push_back(std::ssize(order_));
    return PackedPoints::of_mapped(metric, mapped, order_);
  }

  /// The places of a cell's neighbours; those that follow each other in the last column are one run.
  std::vector<Run> around(std::uint64_t cell) const {
    std::vector<Run> out;
    const auto place_of = [&](std::uint64_t key) {
      return start_[at(std::lower_bound(cells_.begin(), cells_.end(), key) - cells_.begin())];
    };
    const int rows = width_ > 1 ? 1 : 0, planes = width_ > 2 ? 1 : 0;
    for (int plane = -planes; plane <= planes; ++plane)
      for (int row = -rows; row <= rows; ++row) {
        const std::uint64_t middle = cell +
                                     static_cast<std::uint64_t>(static_cast<std::int64_t>(plane) << (2 * kBits)) +
                                     static_cast<std::uint64_t>(static_cast<std::int64_t>(row) << kBits);
        const Run run{place_of(middle - 1), place_of(middle + 2)};
        if (run.first < run.last) out.push_back(run);
      }
    return out;
  }

  void collect(const double* x, const Run& run, std::vector<std::int32_t>& near) const {
    double sums[kPanel];
    for (Index k = run.first / kPanel; k * kPanel < run.last; ++k)
      for (std::uint32_t bits = packed_.within(x, k, limit_, sums); bits != 0; bits &= bits - 1)
        if (const Index place = k * kPanel + std::countr_zero(bits); place >= run.first && place < run.last)
          near.push_back(order_[at(place)]);
  }

  Index width_;
  std::vector<std::uint64_t> cells_;  // that have rows, in order
  std::vector<Index> start_;          // the place of each one's first row
  std::vector<std::int32_t> order_;
  PackedPoints packed_;
};

}  // namespace

NearRows::NearRows(const BoundMetric& metric, double radius) : limit_(metric.reach(radius)) {
  while (metric.distance_of(limit_, nullptr, nullptr) > radius) limit_ = std::nextafter(limit_, 0.0);
}

std::unique_ptr<const NearRows> near_rows_by_boxes(const Matrix& points, const BoundMetric& metric, double radius,
                                                   const Execution& execution) {
  if (!suits(metric, kFewColumns, radius)) return nullptr;
  return std::make_unique<ByBoxes>(points, metric, radius, execution);
}

std::unique_ptr<const NearRows> near_rows_by_cells(const Matrix& points, const BoundMetric& metric, double radius,
                                                   const Execution& execution) {
  if (!suits(metric, kFewest, radius)) return nullptr;
  return std::make_unique<ByCells>(points, metric, radius, execution);
}

}  // namespace lemma
