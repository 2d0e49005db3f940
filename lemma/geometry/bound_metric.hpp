// lemma/geometry/bound_metric.hpp: a metric with all its numbers, ready to compare rows of one width.
//
// Every metric is a map of rows and a loop over columns. The map is done once for each row: C⁻¹'s root for mahalanobis,
// length 1 for cosine, nothing for most. The loop makes a *sum* (of squares, of sizes, …), from which the distance
// follows by a function that never falls. So searches compare sums, and distances are made of the few that matter.
//
// The distance of two rows depends on these two rows alone, d(x, z) = d(z, x) and d(x, x) = 0, all to the last bit; one
// pair, a tile and a tree give the same bits. Squares that would overflow or vanish (distances beyond 1e±150) are
// summed anew after scaling.
#pragma once
#include <cmath>
#include <cstdint>
#include <lemma/geometry/metric.hpp>
#include <lemma/math/simd/panels.hpp>

namespace lemma {

class BoundMetric {
 public:
  /// What the loop over columns adds up. The first four are those of simd::Gap; `power`, `overlap` and `mixed` give the
  /// distance itself.
  enum class Sum { squares, absolute, maximum, unequal, power, overlap, mixed };

  /// The metric must be resolved. Error when it does not suit the width, or its covariance is not positive definite.
  BoundMetric(const Metric& metric, Index width);
  /// The metric resolved from these rows, for rows like them.
  static BoundMetric of(const Metric& metric, const MatrixView& rows, std::span<const Index> codes = {},
                        const Execution& execution = {});

  const Metric& metric() const { return metric_; }
  Index width() const { return width_; }
  Sum sum() const { return sum_; }

  /// Of two rows as the user has them. Error where they cannot be compared (see `mapped`).
  double distance(std::span<const double> x, std::span<const double> z) const;

  /// Rows as the loops compare them, of the same width. Error naming row and column of a number that is not finite (for
  /// gower NaN is a missing value), or the row that has no direction (cosine of zeros, correlation of a constant).
  Matrix mapped(const MatrixView& rows, const Execution& execution = {}) const;

  // ---- of mapped rows; z may stand in a panel, its columns `stride` apart ----
  double between(const double* x, const double* z, Index stride = 1) const {
    return distance_of(sum_of(x, z, stride), x, z, stride);
  }
  double sum_of(const double* x, const double* z, Index stride = 1) const;
  /// The distance to which a sum belongs. NaN of gower's rows without a column known in both.
  double distance_of(double sum, const double* x, const double* z, Index stride = 1) const {
    if (finish_ != Finish::root)
      return finish_ == Finish::half ? 0.5 * sum : finish_ == Finish::share ? sum / share_ : sum;
    return sum >= kLow && sum <= kHigh ? std::sqrt(sum) : careful_root(x, z, stride);
  }
  /// Every pair with at most this distance has at most this sum.
  double reach(double distance) const;
  /// A distance of which the sum is a function that never falls, and which obeys the triangle inequality: √ of a sum of
  /// squares, else the sum. `mixed` has none.
  bool has_root() const { return sum_ != Sum::mixed; }
  double root(const double* x, const double* z) const;
  double sum_at_root(double root) const { return sum_ == Sum::squares ? root * root : root; }
  /// The sum is made of sizes |xⱼ − zⱼ| and grows with each of them: a box bounds it.
  bool is_by_columns() const { return sum_ <= Sum::maximum || sum_ == Sum::power; }

 private:
  enum class Finish { itself, root, half, share };

  // Between these a sum of squares has lost nothing to overflow or underflow that its last bit could show.
  static constexpr double kLow = 0x1p-1000, kHigh = 0x1p1020;
  double careful_root(const double* x, const double* z, Index stride) const;

  void map_row(Index row, const double* x, double* out) const;
  void bind(const MahalanobisMetric& metric);
  void bind(const GowerMetric& metric);
  friend class PackedPoints;

  Metric metric_;
  Index width_;
  Sum sum_ = Sum::squares;
  Finish finish_ = Finish::itself;
  double power_ = 2, share_ = 1;
  Matrix upper_;  // mahalanobis: R with RᵀR = C
  Vector centre_;
  std::vector<double> inverse_;  // gower: 1 / range, 0 for codes
};

/// Points packed in panels (see simd_panels.hpp): what distances are computed from, fast.
class PackedPoints {
 public:
  PackedPoints(BoundMetric metric, const MatrixView& rows, const Execution& execution = {});
  /// Rows that are mapped already, in the order given (empty: as they stand).
  static PackedPoints of_mapped(BoundMetric metric, const Matrix& rows, std::span<const std::int32_t> order = {});

  /// Without point i, whose place the last one takes.
  void drop(Index i);

  const BoundMetric& metric() const { return metric_; }
  Index count() const { return count_; }
  Index panels() const { return (count_ + simd::kPanel - 1) / simd::kPanel; }
  /// How many of a panel's places are taken.
  Index points_in(Index panel) const { return std::min(simd::kPanel, count_ - panel * simd::kPanel); }

  /// The mapped row i.
  void unpack(Index i, double* out) const;
  /// Where it begins; its columns are simd::kPanel apart.
  const double* at(Index i) const { return panel(i / simd::kPanel) + i % simd::kPanel; }

  /// out(i, 16 k + l): the sum, or the distance, of mapped row i of x (one after the other) and point l of panel first
  /// + k. Places that are not taken hold no meaning.
  void sums(const double* x, Index rows, Index first, Index panels, double* out) const;
  void distances(const double* x, Index rows, Index first, Index panels, double* out) const;
  /// Bit l is set when the sum of point l is at most the limit; then sums[l] is that sum.
  std::uint32_t within(const double* x, Index panel, double limit, double* sums) const;

 private:
  explicit PackedPoints(BoundMetric metric) : metric_(std::move(metric)) {}
  const double* panel(Index k) const { return numbers_.data() + k * simd::kPanel * metric_.width_; }

  BoundMetric metric_;
  Index count_ = 0;
  std::vector<double> numbers_;  // [panel][column][16 points]
};

}  // namespace lemma
