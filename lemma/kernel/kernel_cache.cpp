// lemma/kernel/kernel_cache.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/kernel/kernel_cache.hpp>

namespace lemma {
namespace {

constexpr double kMegabyte = 1024.0 * 1024.0;
std::size_t at(Index i) { return static_cast<std::size_t>(i); }

double row_megabytes(Index points) { return static_cast<double>(points) * sizeof(float) / kMegabyte; }

}  // namespace

void require_two_rows(Index points, double megabytes) {
  if (megabytes >= 2 * row_megabytes(points)) return;
  throw Error(
      fmt::format("a cache of {} MB does not hold two rows of the kernel matrix of {} points: give it {:.3g} MB "
                  "or more",
                  megabytes, points, std::ceil(2000 * row_megabytes(points)) / 1000));
}

KernelCache::KernelCache(const BoundKernel& kernel, double megabytes)
    : kernel_(kernel), width_(at(kernel.count())), slot_of_(width_, -1) {
  require_two_rows(kernel.count(), megabytes);
  const double rows = megabytes / row_megabytes(kernel.count());
  most_ = std::max<Index>(2, static_cast<Index>(std::min(rows, static_cast<double>(kernel.count()))));
}

std::span<const float> KernelCache::row(Index point, const Execution& execution) {
  Index k = slot_of_[at(point)];
  if (k >= 0) {
    unlink(k);
  } else {
    if (std::ssize(numbers_) < most_) {
      k = std::ssize(numbers_);
      numbers_.push_back(std::make_unique_for_overwrite<float[]>(width_));
      for (auto* list : {&owner_, &newer_, &older_}) list->push_back(-1);
    } else {
      k = oldest_;
      unlink(k);
      slot_of_[at(owner_[at(k)])] = -1;
    }
    fill(point, slot(k), execution);
    owner_[at(k)] = point;
    slot_of_[at(point)] = k;
  }
  make_newest(k);
  return slot(k);
}

void KernelCache::fill(Index point, std::span<float> out, const Execution& execution) const {
  constexpr Index kTile = 4096;
  const auto n = static_cast<Index>(width_);
  const std::array which{point};
  parallel_for((n + kTile - 1) / kTile, Execution{.threads = execution.threads}, [&](Index tile) {
    const Index first = tile * kTile, size = std::min(kTile, n - first);
    Matrix block(1, size);
    kernel_.own_block(which, first, block);
    for (Index j = 0; j < size; ++j) out[at(first + j)] = static_cast<float>(block(0, j));
  });
}

void KernelCache::unlink(Index k) {
  const Index newer = newer_[at(k)], older = older_[at(k)];
  (newer >= 0 ? older_[at(newer)] : newest_) = older;
  (older >= 0 ? newer_[at(older)] : oldest_) = newer;
}

void KernelCache::make_newest(Index k) {
  newer_[at(k)] = -1;
  older_[at(k)] = newest_;
  (newest_ >= 0 ? newer_[at(newest_)] : oldest_) = k;
  newest_ = k;
}

}  // namespace lemma
