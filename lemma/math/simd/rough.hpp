// lemma/math/simd/rough.hpp: which points may be near a row: a float32 filter that never leaves one out.
//
// Rows and points are moved to the points' mean and scaled by a power of two. ½‖x − z‖² = ½‖x‖² + score, with score =
// ½‖z‖² − x·z: one fused operation for each column in the place of three, on vectors twice as wide. A bound on its
// error goes into the threshold, so that every point whose sum of squares (as simd::panel_sums rounds it) is at most a
// limit passes, and few others do. Who passes is to be compared exactly.
#pragma once
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <span>
#include <vector>

namespace lemma::simd {

class RoughPoints {
 public:
  static constexpr Index kUnit = 32;  // points whose bits come together

  /// A point in each row.
  explicit RoughPoints(const MatrixView& rows);

  Index units() const { return (count_ + kUnit - 1) / kUnit; }

  /// Rows made ready to be compared.
  struct Queries {
    std::vector<float> x;
    std::vector<double> half_norm;  // ½‖x‖²
    std::vector<double> error;      // of a score; infinite where float32 can say nothing
  };
  Queries queries(const double* x, Index rows) const;
  /// Every point with Σ (xⱼ − zⱼ)² ≤ limit has at most this score.
  float threshold(const Queries& queries, Index row, double limit) const;

  /// bits[i · count + u], bit l: point l of unit first + u has at most the threshold of row i.
  void within(const Queries& queries, std::span<const float> thresholds, Index first, Index count,
              std::uint32_t* bits) const;

 private:
  Index count_, width_;
  Vector origin_;
  int exponent_ = 0;          // of the scale
  double longest_ = 0;        // of the points, in the frame
  std::vector<float> units_;  // [unit][column][32 points]
  std::vector<float> half_;   // ½‖z‖²; infinite where there is no point
};

}  // namespace lemma::simd
