// lemma/geometry/neighbors/brute_force.cpp: a few queries at a time with all panels, tile by tile.
#include <bit>
#include <lemma/core/hearing.hpp>
#include <lemma/geometry/neighbors/structure.hpp>
#include <lemma/math/simd/panels.hpp>
#include <lemma/math/simd/rough.hpp>
#include <numeric>
#include <optional>

namespace lemma {

using simd::kPanel;

void SearchStructure::offer(const double* x, Index place, double sum, Collector& collector) const {
  collector.offer(order_[static_cast<std::size_t>(place)],
                  points_.metric().distance_of(sum, x, points_.at(place), kPanel));
}

void SearchStructure::scan(const double* x, Index panel, Collector& collector) const {
  double sums[kPanel];
  ++collector.looked_at;
  for (std::uint32_t bits = points_.within(x, panel, collector.limit(), sums); bits != 0; bits &= bits - 1) {
    const Index l = std::countr_zero(bits);
    if (sums[l] <= collector.limit()) offer(x, panel * kPanel + l, sums[l], collector);
  }
}

namespace neighbors {
namespace {

constexpr Index kPanels = 64;          // of a tile
constexpr Index kFilterColumns = 2;    // from here on the filter is faster than the tile
constexpr Index kFilterPoints = 4096;  // and from here on it pays to make it

class BruteForce final : public SearchStructure {
 public:
  BruteForce(PackedPoints points, Order order, const Matrix& mapped)
      : SearchStructure(std::move(points), std::move(order)) {
    if (points_.metric().sum() == BoundMetric::Sum::squares && mapped.cols() >= kFilterColumns &&
        mapped.rows() >= kFilterPoints)
      rough_.emplace(mapped);
  }

  /// The first tile gives every query its first neighbours; of the others the filter lets through what may be nearer.
  void search(const double* rows, Index count, Collector* collectors) const override {
    if (rough_) {
      tile(rows, count, 0, kPanels, collectors);
      filter(rows, count, kPanels * kPanel / simd::RoughPoints::kUnit, collectors);
    } else {
      for (Index first = 0; first < points_.panels(); first += kPanels) {
        ask();
        tile(rows, count, first, std::min(kPanels, points_.panels() - first), collectors);
      }
    }
  }

 private:
  void tile(const double* rows, Index count, Index first, Index panels, Collector* collectors) const {
    std::vector<double> sums(static_cast<std::size_t>(count * panels * kPanel));
    points_.sums(rows, count, first, panels, sums.data());
    const Index taken = std::min(panels * kPanel, points_.count() - first * kPanel);
    for (Index i = 0; i < count; ++i)
      for (Index l = 0; l < taken; ++l)
        if (const double sum = sums[static_cast<std::size_t>(i * panels * kPanel + l)]; sum <= collectors[i].limit())
          offer(rows + i * points_.metric().width(), first * kPanel + l, sum, collectors[i]);
  }

  void filter(const double* rows, Index count, Index first, Collector* collectors) const {
    constexpr Index kUnit = simd::RoughPoints::kUnit, kUnits = kPanels * kPanel / kUnit;  // as many points as a tile
    const auto queries = rough_->queries(rows, count);
    std::vector<float> thresholds(static_cast<std::size_t>(count));
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(count * kUnits));
    for (; first < rough_->units(); first += kUnits) {
      ask();
      const Index units = std::min(kUnits, rough_->units() - first);
      for (Index i = 0; i < count; ++i)
        thresholds[static_cast<std::size_t>(i)] = rough_->threshold(queries, i, collectors[i].limit());
      rough_->within(queries, thresholds, first, units, bits.data());
      if (many(std::span(bits).first(static_cast<std::size_t>(count * units)))) {
        const Index panel = first * kUnit / kPanel;
        tile(rows, count, panel, std::min(kPanels, points_.panels() - panel), collectors);
        continue;
      }
      for (Index i = 0; i < count; ++i)
        for (Index u = 0; u < units; ++u)
          for (std::uint32_t left = bits[static_cast<std::size_t>(i * units + u)]; left != 0; left &= left - 1)
            recheck(rows + i * points_.metric().width(), (first + u) * kUnit + std::countr_zero(left), collectors[i]);
    }
  }

  /// So many pass that a tile is faster than one after the other.
  static bool many(std::span<const std::uint32_t> bits) {
    std::size_t passed = 0;
    for (const std::uint32_t each : bits) passed += static_cast<std::size_t>(std::popcount(each));
    return passed * 8 > bits.size() * 32;
  }

  void recheck(const double* x, Index place, Collector& collector) const {
    const double sum = points_.metric().sum_of(x, points_.at(place), kPanel);
    if (sum <= collector.limit()) offer(x, place, sum, collector);
  }

  std::optional<simd::RoughPoints> rough_;
};

}  // namespace

std::unique_ptr<const SearchStructure> brute_force(const BoundMetric& metric, const Matrix& mapped) {
  SearchStructure::Order order(static_cast<std::size_t>(mapped.rows()));
  std::iota(order.begin(), order.end(), 0);
  return std::make_unique<BruteForce>(PackedPoints::of_mapped(metric, mapped), std::move(order), mapped);
}

}  // namespace neighbors
}  // namespace lemma
