// lemma/kernel/svm/cache.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/kernel/svm/cache.hpp>

namespace lemma {
namespace {

constexpr double kMegabyte = 1024.0 * 1024.0;

}  // namespace

void require_two_rows(Index points, double megabytes) {
  const double two_rows = 2 * static_cast<double>(points) * sizeof(float) / kMegabyte;
  if (megabytes >= two_rows) return;
  throw Error(
      fmt::format("a cache of {} megabytes does not hold two rows of the kernel matrix of {} points: give it {:.3g} "
                  "or more",
                  megabytes, points, std::ceil(1000 * two_rows) / 1000));
}

KernelCache::KernelCache(Index points, Index width, double megabytes) : width_(at(width)), slot_of_(at(points), -1) {
  const double rows = megabytes * kMegabyte / (static_cast<double>(width) * sizeof(float));
  most_ = std::max<Index>(2, static_cast<Index>(std::min(rows, static_cast<double>(points))));
}

float* KernelCache::find(Index point) {
  const Index slot = slot_of_[at(point)];
  if (slot < 0) return nullptr;
  unlink(slot);
  make_newest(slot);
  return numbers_[at(slot)].get();
}

float* KernelCache::claim(Index point) {
  Index slot = oldest_;
  if (std::ssize(numbers_) < most_) {
    slot = std::ssize(numbers_);
    numbers_.push_back(std::make_unique_for_overwrite<float[]>(width_));
    for (auto* list : {&owner_, &newer_, &older_}) list->push_back(-1);
  } else {
    unlink(slot);
    if (slot_of_[at(owner_[at(slot)])] == slot) slot_of_[at(owner_[at(slot)])] = -1;
  }
  owner_[at(slot)] = point;
  slot_of_[at(point)] = slot;
  make_newest(slot);
  return numbers_[at(slot)].get();
}

void KernelCache::unlink(Index slot) {
  const Index newer = newer_[at(slot)], older = older_[at(slot)];
  (newer >= 0 ? older_[at(newer)] : newest_) = older;
  (older >= 0 ? newer_[at(older)] : oldest_) = newer;
}

void KernelCache::make_newest(Index slot) {
  newer_[at(slot)] = -1;
  older_[at(slot)] = newest_;
  (newest_ >= 0 ? newer_[at(newest_)] : oldest_) = slot;
  newest_ = slot;
}

}  // namespace lemma
