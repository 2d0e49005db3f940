// lemma/math/simd/kernel.hpp: the Gaussian kernel of many rows with many points, without a pass through memory.
//
// With rows stretched by √(2γ log₂e) and h = ½‖x‖² of the stretched row, exp(−γ‖x − z‖²) = 2^(x·z − h_x − h_z). Points
// lie in panels of a few vectors' width, so that products, power and weighted sum of a panel all happen in registers.
#pragma once
#include <lemma/core/matrix.hpp>
#include <span>

namespace lemma::simd {

/// Rows, stretched, with their h.
struct GaussianRows {
  Matrix rows;
  Vector half_norms;
  Index count() const { return rows.rows(); }
};

namespace detail {
/// The same as bare numbers, for the loops behind.
struct PanelsOf {
  const double* panels;
  const double* half_norms;
  std::size_t width;
};
struct RowsOf {
  const double* rows;
  const double* half_norms;
  std::size_t count;
};
}  // namespace detail

class GaussianPoints {
 public:
  /// Points best moved to their mean before.
  GaussianPoints(const MatrixView& points, double gamma);

  Index count() const { return count_; }
  Index width() const { return width_; }
  double greatest_half_norm() const { return greatest_half_norm_; }

  /// New rows, or some of the points themselves, made ready to be compared with the points.
  GaussianRows rows(const MatrixView& x) const;
  GaussianRows own_rows(std::span<const Index> which) const;

  // k(x, z) = k(z, x) and k(x, x) = 1 to the last bit.
  /// out(i, j) = k(x_i, point_(first + j)).
  void block(const GaussianRows& x, Index first, Eigen::Ref<Matrix> out) const;
  /// sum[j] += Σ_i weight[i] k(x_i, point_(first + j)).
  void add_at_points(const GaussianRows& x, std::span<const double> weight, Index first, std::span<double> sum) const;
  /// out[i] = Σ_j weight[j] k(x_i, point_j).
  void expand(const GaussianRows& x, std::span<const double> weight, std::span<double> out) const;

 private:
  detail::PanelsOf bare() const;
  Index panels_together() const;

  Index count_ = 0, width_ = 0, panel_ = 0;  // points in a panel
  double stretch_ = 1, greatest_half_norm_ = 0;
  std::vector<double> panels_;      // of each panel: its points' first column, their second, …
  std::vector<double> half_norms_;  // of the points, zeros to the end of the last panel
};

}  // namespace lemma::simd
