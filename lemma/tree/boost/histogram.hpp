// lemma/tree/boost/histogram.hpp: sums of slopes by bin, in whole numbers, so that their order does not matter.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <lemma/tree/boost/bins.hpp>
#include <span>
#include <vector>

namespace lemma::boost {

/// Sums of g and h in units of a power of two. `Packed` holds both in one word of 64 bits: 32 for Σg above, 32 for Σh below,
/// which no sum of rows leaves because the units are chosen by Σ|g| and Σh over all of them. `Exact` holds them in 64 bits each.
struct Sums {
  std::int64_t g = 0, h = 0;
  Sums operator+(const Sums& other) const { return {g + other.g, h + other.h}; }
  Sums operator-(const Sums& other) const { return {g - other.g, h - other.h}; }
};
struct Packed {
  static constexpr int kBits = 30;
  std::int64_t both = 0;
  Packed() = default;
  Packed(std::int64_t g, std::int64_t h) : both(static_cast<std::int64_t>(static_cast<std::uint64_t>(g) << 32) + h) {}
  void operator+=(const Packed& other) { both += other.both; }
  void operator-=(const Packed& other) { both -= other.both; }
  Sums sums() const { return {both >> 32, both & 0xffffffff}; }
};
struct Exact {
  static constexpr int kBits = 60;
  std::int64_t g = 0, h = 0;
  Exact() = default;
  Exact(std::int64_t slope, std::int64_t curvature) : g(slope), h(curvature) {}
  void operator+=(const Exact& other) { g += other.g, h += other.h; }
  void operator-=(const Exact& other) { g -= other.g, h -= other.h; }
  Sums sums() const { return {g, h}; }
};

/// The nearest whole number, of two the even one. Of smaller numbers by an addition that leaves no room for a fraction: the bits of
/// the sum, counted from those of 3 · 2⁵¹, are the whole number.
inline std::int64_t nearest(double x) {
  constexpr double kRoom = 0x1.8p52;
  if (std::abs(x) < 0x1p51) [[likely]]
    return std::bit_cast<std::int64_t>(x + kRoom) - std::bit_cast<std::int64_t>(kRoom);
  return std::llrint(x);
}

/// The unit of whole numbers: the power of two with which sums of this size stay below 2^bits.
double unit_for(double sum, int bits);

/// Whether the few bits of packed sums are enough for so many rows, and worth having.
inline bool are_packed(Index rows, bool exact) { return !exact && rows > (Index{1} << 15) && rows <= (Index{1} << 23); }

/// Adds the rows listed to a histogram with an entry for each bin of each column: on several threads where that pays.
template <class Entry>
void add_to_histogram(const BinnedRows& rows, std::span<const std::uint32_t> which, const Entry* slopes,
                      std::span<Entry> histogram, const Execution& execution);

/// of -= part, entry by entry.
template <class Entry>
void subtract(std::span<Entry> of, std::span<const Entry> part);

}  // namespace lemma::boost
