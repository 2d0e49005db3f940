// lemma/kernel/kernel_part.hpp: one node of a kernel expression, made ready for the points it compares others with.
#pragma once
#include <lemma/kernel/kernel.hpp>
#include <lemma/kernel/points.hpp>

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
};

/// The resolved kernel, for points that the caller keeps alive.
std::unique_ptr<const KernelPart> make_part(const Kernel& kernel, const Points& points);

}  // namespace lemma
