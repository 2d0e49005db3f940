// lemma/geometry/kernel/bound.hpp: a kernel tied to the points it compares others with: blocks of the Gram matrix.
//
// An inner-product kernel is f(x·z), a distance kernel f(‖x − z‖²), with ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z on rows moved to
// the points' mean; so a block is one matrix product and f over it, vectorised. Where that difference loses its digits
// (rows that nearly agree) the distance is summed anew from the coordinates. Sums and products go block by block.
#pragma once
#include <lemma/geometry/kernel.hpp>
#include <lemma/geometry/points.hpp>

namespace lemma {

class KernelPart;  // one node of the expression, made ready for the points

class BoundKernel {
 public:
  /// The kernel must be resolved. Error when it does not suit the points: lengths of another width, a precomputed matrix
  /// that is not square, a custom kernel without its function, sparse points with a kernel that needs all columns.
  BoundKernel(const Kernel& kernel, Points points);
  ~BoundKernel();
  BoundKernel(BoundKernel&&) noexcept;
  BoundKernel& operator=(BoundKernel&&) noexcept;

  const Kernel& kernel() const { return kernel_; }
  const Points& points() const { return *points_; }
  Index count() const { return points_->count(); }

  // All run on the calling thread alone. Error when a value is not finite.
  /// out(i, j) = k(x_i, point_(first + j)) for new rows x.
  void cross_block(const MatrixView& x, Index first, Eigen::Ref<Matrix> out) const;
  /// out(i, j) = k(point_which[i], point_(first + j)).
  void own_block(std::span<const Index> which, Index first, Eigen::Ref<Matrix> out) const;

  /// sum[j] += Σ_i weight[i] k(point_which[i], point_(first + j)).
  void add_own(std::span<const Index> which, std::span<const double> weight, Index first, std::span<double> sum) const;
  /// A value is made anew in less time than it takes to fetch it from a table of them.
  bool is_quick() const;

  /// k(point_i, point_i), and k(x_i, x_i) for new rows. A precomputed kernel does not know the latter: Error.
  Vector diagonal() const;
  Vector diagonal_of(const MatrixView& x) const;

  // In tiles fixed by the shapes alone, on several threads.
  /// The upper triangle of the Gram matrix; below it only the tiles on the diagonal are written.
  void gram_upper(Eigen::Ref<Matrix> out, const Execution& execution = {}) const;
  Matrix gram(const Execution& execution = {}) const;                        // all points with all points
  Matrix cross(const MatrixView& x, const Execution& execution = {}) const;  // a row per new row
  /// Σ_j k(x_i, point_j) coefficients(j, c): the decision of a machine, without keeping the block.
  Matrix expand(const MatrixView& x, const MatrixView& coefficients, const Execution& execution = {}) const;
  /// The same at the points themselves.
  Matrix expand_own(const MatrixView& coefficients, const Execution& execution = {}) const;

 private:
  Kernel kernel_;
  std::shared_ptr<const Points> points_;  // the parts look at them
  std::unique_ptr<const KernelPart> part_;
};

/// Of a square matrix that should be symmetric and positive semidefinite: by how much it is not. Beyond `most` rows the
/// eigenvalues are those of a principal minor of `most` rows spread evenly: what fails there fails for the whole.
struct GramCheck {
  double asymmetry = 0;            // max |K_ij − K_ji| over max |K|
  double least = 0, greatest = 0;  // eigenvalues of the symmetric part
  Index rows_checked = 0;

  bool is_symmetric() const { return asymmetry <= 1e-10; }
  bool is_positive() const;  // least ≥ −(rounding of that many rows) · greatest
  std::string text() const;  // "smallest eigenvalue −0.31, largest 52.1: not positive semidefinite by 0.6 %"
};
GramCheck check_gram(const MatrixView& gram, Index most = 1500);
/// Of the kernel at its points.
GramCheck check_gram(const BoundKernel& kernel, const Execution& execution = {}, Index most = 1500);

}  // namespace lemma
