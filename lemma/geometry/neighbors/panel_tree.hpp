// lemma/geometry/neighbors/panel_tree.hpp: a binary tree whose leaves are panels. Inner header: use
// lemma/geometry/neighbors.hpp.
//
// A node is a range [a, b) of panels. Its points are parted at panel (a + b) / 2 by a key that the bounds choose, so
// that every panel but the last is full, and the tree needs no pointers: nodes stand in preorder, and a subtree of c
// panels has 2c − 1 of them.
#pragma once
#include <lemma/geometry/neighbors/structure.hpp>
#include <lemma/math/simd/panels.hpp>
#include <numeric>

namespace lemma::neighbors {

using Rows = std::span<std::int32_t>;
struct Bound {
  double lower, order;
};

/// Bounds enclose each node's points and tell how near to a query they can be:
///     Bounds(metric, mapped, nodes)                 before the tree is built
///     enclose(node, rows)                           a box, a ball
///     keys(node, rows, keys)                        along which the rows are to be parted
///     lower(x, node)                                no sum of x with a point of the node is less (`lower`), and in
///                                                   which `order` to look at nodes
///     built()                                       the mapped rows are no longer needed
template <class Bounds>
class PanelTree final : public SearchStructure {
 public:
  PanelTree(const BoundMetric& metric, const Matrix& mapped, const Execution& execution)
      : PanelTree(metric, mapped, Build(metric, mapped, execution)) {}

  void search(const double* rows, Index count, Collector* collectors) const override {
    for (Index i = 0; i < count && points_.count() > 0; ++i)
      descend(rows + i * points_.metric().width(), 0, 0, points_.panels(), collectors[i]);
  }

  /// The leaf to which the nearer child leads each time.
  Index home(const double* x) const override {
    Index node = 0, a = 0, b = points_.panels();
    while (b - a > 1) {
      const Index m = middle(a, b), right = node + 2 * (m - a);
      if (bounds_.lower(x, node + 1).order <= bounds_.lower(x, right).order) b = m, ++node;
      else a = m, node = right;
    }
    return a;
  }

 private:
  static Index middle(Index a, Index b) { return a + (b - a + 1) / 2; }

  struct Build {
    Build(const BoundMetric& metric, const Matrix& mapped, const Execution& how)
        : execution(how.part(0, 0)),
          order(static_cast<std::size_t>(mapped.rows())),
          bounds(metric, mapped, 2 * ((mapped.rows() + simd::kPanel - 1) / simd::kPanel)) {
      std::iota(order.begin(), order.end(), 0);
      if (!order.empty()) node(0, 0, (mapped.rows() + simd::kPanel - 1) / simd::kPanel);
      bounds.built();
    }

    void node(Index self, Index a, Index b) {
      const Index from = a * simd::kPanel, to = std::min(b * simd::kPanel, static_cast<Index>(order.size()));
      const Rows rows(order.data() + from, static_cast<std::size_t>(to - from));
      bounds.enclose(self, rows);
      if (b - a == 1) return;
      const Index m = middle(a, b);
      part(self, rows, (m - a) * simd::kPanel);
      const auto child = [&](Index which) {
        if (which == 0) node(self + 1, a, m);
        else node(self + 2 * (m - a), m, b);
      };
      constexpr std::size_t kAlone = 8192;  // points that one thread parts by itself
      if (rows.size() > kAlone) return parallel_for(2, execution, child);
      child(0);
      child(1);
    }

    void part(Index self, Rows rows, Index at) {
      std::vector<double> keys(rows.size());
      bounds.keys(self, rows, keys);
      std::vector<Found> parted(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) parted[i] = {keys[i], rows[i]};
      std::nth_element(parted.begin(), parted.begin() + at, parted.end());
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = parted[i].row;
    }

    Execution execution;
    Order order;
    Bounds bounds;
  };

  PanelTree(const BoundMetric& metric, const Matrix& mapped, Build build)
      : SearchStructure(PackedPoints::of_mapped(metric, mapped, build.order), build.order),
        bounds_(std::move(build.bounds)) {}

  /// The nearer child first: what it finds may spare the other.
  void descend(const double* x, Index node, Index a, Index b, Collector& collector) const {
    if (b - a == 1) return scan(x, a, collector);
    const Index m = middle(a, b), right = node + 2 * (m - a);
    const Bound to_left = bounds_.lower(x, node + 1), to_right = bounds_.lower(x, right);
    if (to_left.order <= to_right.order) {
      if (to_left.lower <= collector.node_limit()) descend(x, node + 1, a, m, collector);
      if (to_right.lower <= collector.node_limit()) descend(x, right, m, b, collector);
    } else {
      if (to_right.lower <= collector.node_limit()) descend(x, right, m, b, collector);
      if (to_left.lower <= collector.node_limit()) descend(x, node + 1, a, m, collector);
    }
  }

  Bounds bounds_;
};

}  // namespace lemma::neighbors
