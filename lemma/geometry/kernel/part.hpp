// lemma/geometry/kernel/part.hpp: one node of a kernel expression, made ready for the points it compares others with.
#pragma once
#include <lemma/geometry/kernel.hpp>
#include <lemma/geometry/points.hpp>

namespace lemma {

class KernelPart {
 public:
  using Out = Eigen::Ref<Matrix>;
  virtual ~KernelPart() = default;
  /// out(i, j) = k(x_i, point_(first + j)).
  virtual void cross(const MatrixView& x, Index first, Out out) const = 0;
  /// out(i, j) = k(point_which[i], point_(first + j)).
  virtual void own(std::span<const Index> which, Index first, Out out) const = 0;
  virtual Vector diagonal() const = 0;
  virtual Vector diagonal_of(const MatrixView& x) const = 0;

  /// out[i] = Σ_j weight[j] k(x_i, point_j) over all `points`.
  virtual void expand(const MatrixView& x, std::span<const double> weight, std::span<double> out) const;
  /// sum[j] += Σ_i weight[i] k(point_which[i], point_(first + j)).
  virtual void add_own(std::span<const Index> which, std::span<const double> weight, Index first,
                       std::span<double> sum) const;
  /// No value can overflow.
  virtual bool is_bounded() const { return false; }
  /// A value is made anew in less time than it takes to fetch it from a table of them.
  virtual bool is_quick() const { return false; }
};

/// The resolved kernel, for points that the caller keeps alive.
std::unique_ptr<const KernelPart> make_part(const Kernel& kernel, const Points& points);

}  // namespace lemma
