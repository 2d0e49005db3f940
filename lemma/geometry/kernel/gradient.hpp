// lemma/geometry/kernel/gradient.hpp: the positive numbers that a kernel depends on, and how its values change with their
// logarithms.
#pragma once
#include <lemma/geometry/kernel/bound.hpp>

namespace lemma {

/// A number above 0 in a kernel: a factor, a width, a period. Those that count (degree), choose (nu) or may be 0 or
/// negative are not among them.
struct Hyperparameter {
  std::string name;  // "constant", "rbf.sigma", "matern.lengths[2]"; of several alike the second is "rbf_2.sigma"
  double value;
};
/// In the order in which the kernel is written.
std::vector<Hyperparameter> hyperparameters(const Kernel& kernel);
/// The kernel with other values of them, in that order.
Kernel with_hyperparameters(const Kernel& kernel, const Vector& values);

/// ∂k/∂log θ for each hyperparameter θ, at pairs of the points.
class KernelGradient {
 public:
  /// The kernel must be resolved. The points must outlive it.
  KernelGradient(const Kernel& kernel, const Points& points);
  ~KernelGradient();
  KernelGradient(KernelGradient&&) noexcept;

  Index count() const { return count_; }

  /// sums(t) += Σ g(a, b) ∂k(point_(i+a), point_(j+b)) / ∂log θ_t over the tile of g. On the calling thread.
  void add(Index i, Index j, const Matrix& g, Vector& sums) const;

  /// Σ over all pairs of points of G ∂K/∂log θ_t for a symmetric G, given tile by tile: no derivative is ever kept.
  Vector trace(const std::function<Matrix(Index i, Index rows, Index j, Index columns)>& g,
               const Execution& execution = {}) const;

 private:
  class Node;
  const Points& points_;
  std::unique_ptr<const Node> root_;
  Index count_;
};

}  // namespace lemma
