// lemma/kernel/shared/rows.hpp: what kernel methods that solve with the whole Gram matrix share: their rows in memory,
// and the matrix.
#pragma once
#include <lemma/geometry/kept_rows.hpp>
#include <lemma/geometry/kernel/bound.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {

/// Rows with their response and weights; rows of weight 0 are left out.
struct KernelRows {
  Points points;
  Vector y, weight;
  Labels label;    // of classes
  Index rows = 0;  // of the source, those left out too

  Index count() const { return points.count(); }
  double mass() const { return weight.sum(); }
  int label_of(Index i) const { return label[static_cast<std::size_t>(i)]; }
  std::span<const double> weights() const { return {weight.data(), static_cast<std::size_t>(weight.size())}; }
};

/// Error when a number cannot be used, or when the rows of a precomputed kernel are not a symmetric matrix.
KernelRows kernel_rows(std::string_view method, const Kernel& kernel, const Rows& rows, const Execution& execution);

/// The weight of each class's rows. Error naming a class that has none.
Vector class_counts(std::string_view method, const KernelRows& data, const std::vector<std::string>& classes);

/// The first row or place in which a model's kept rows are not those that it was fitted on.
void compare_rows(Comparison& same, const Kernel& kernel, const KeptRows& kept, const RowNumbers& places,
                  const Points& points);

/// The places of the rows, for a precomputed kernel; else none are needed.
RowNumbers kept_places(const Kernel& kernel, const Points& points);
/// Error unless there are `count` places below `width` for a precomputed kernel, and none for others.
void check_places(std::string_view method, const Kernel& kernel, const RowNumbers& places, Index width, Index count);

/// Error saying how much memory the Gram matrix of so many rows would take, when that is more than `gigabytes`.
void require_memory(std::string_view method, Index rows, double gigabytes);

}  // namespace lemma
