// lemma/kernel/kernel_cache.hpp: rows of the kernel matrix, kept while there is room. Inner header.
#pragma once
#include <lemma/kernel/bound_kernel.hpp>

namespace lemma {

/// K(point_i, ·) at every point, as float32; the one that was not asked for longest makes room.
class KernelCache {
 public:
  /// Error when not even two rows have room.
  KernelCache(const BoundKernel& kernel, double megabytes);

  /// Stays valid until the row of another two points has been asked for.
  std::span<const float> row(Index point, const Execution& execution);

 private:
  void fill(Index point, std::span<float> out, const Execution& execution) const;
  std::span<float> slot(Index k) { return {numbers_[static_cast<std::size_t>(k)].get(), width_}; }

  const BoundKernel& kernel_;
  std::size_t width_;
  Index most_;                                     // slots that may be
  std::vector<std::unique_ptr<float[]>> numbers_;  // of each slot
  std::vector<Index> owner_, newer_, older_;       // of each slot: its point, and its neighbours in order of use
  std::vector<Index> slot_of_;                     // of each point; −1: none
  Index newest_ = -1, oldest_ = -1;

  void unlink(Index k);
  void make_newest(Index k);
};

/// Error naming the megabytes that would do, unless two rows of so many numbers have room.
void require_two_rows(Index points, double megabytes);

}  // namespace lemma
