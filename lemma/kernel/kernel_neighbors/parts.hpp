// lemma/kernel/kernel_neighbors/parts.hpp: the search for neighbours. Inner header: use lemma/kernel/kernel_neighbors.hpp.
#pragma once
#include <functional>
#include <lemma/kernel/kernel_neighbors.hpp>

namespace lemma::kernel_neighbors {

using Neighbors = KernelNeighborsModel::Neighbors;

class Search {
 public:
  /// `weight`: how many rows each point stands for.
  Search(const Kernel& kernel, Points points, const Vector& weight, int k);

  /// visit(i, the neighbours of row i of x), in no order, on several threads.
  void each(const MatrixView& x, const Execution& execution,
            const std::function<void(Index, const Neighbors&)>& visit) const;
  /// The same for the points themselves, each without one copy of it. `sort_all`: by sorting all points, for each.
  void each_left_out(bool sort_all, const Execution& execution,
                     const std::function<void(Index, const Neighbors&)>& visit) const;

 private:
  /// `left_out` is the point that lacks a copy; −1: none.
  Neighbors choose(const VectorView& kernel_row, double own, Index left_out, bool sort_all) const;
  Index block_rows() const;
  Matrix moved(const MatrixView& x) const;

  Vector centre_;  // of the points, for a linear kernel: distances do not change, and fewer digits cancel. Empty: none
  BoundKernel kernel_;
  const Vector& weight_;
  Vector diagonal_;
  bool even_;   // k(z, z) is the same for all points: the nearest has the largest k(x, z)
  bool whole_;  // no weight is below 1: k points are enough
  double k_;
};

/// What the neighbours say: votes of the classes that sum to 1, or the mean (one number).
Vector say(const KernelNeighborsModel& model, const Neighbors& neighbors);
double leave_one_out_error(const KernelNeighborsModel& model, const Points& points, bool sort_all,
                           const Execution& execution);

}  // namespace lemma::kernel_neighbors
