// lemma/kernel/svm/cache.hpp: rows of the kernel matrix as float32, kept while there is room. Inner header.
#pragma once
#include <lemma/core/matrix.hpp>
#include <memory>

namespace lemma {

class KernelCache {
 public:
  /// For rows of so many points, `width` numbers each, and never for less than two.
  KernelCache(Index points, Index width, double megabytes);

  /// How many have room.
  Index most() const { return most_; }

  /// The row of a point, or nullptr when it is not here.
  float* find(Index point);
  /// Room for the row of a point that is not here; the one that was not asked for longest makes it.
  float* claim(Index point);
  /// The row of a point, if it is here, is not to be found again.
  void forget(Index point) { slot_of_[static_cast<std::size_t>(point)] = -1; }

 private:
  void unlink(Index slot);
  void make_newest(Index slot);

  std::size_t width_;
  Index most_;
  std::vector<std::unique_ptr<float[]>> numbers_;  // of each slot
  std::vector<Index> owner_, newer_, older_;       // of each slot: its point, and its neighbours in order of use
  std::vector<Index> slot_of_;                     // of each point; −1: none
  Index newest_ = -1, oldest_ = -1;
};

/// Error naming the megabytes that would do, unless two rows of a number for each point have room.
void require_two_rows(Index points, double megabytes);

}  // namespace lemma
