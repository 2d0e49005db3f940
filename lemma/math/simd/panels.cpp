// lemma/math/simd/panels.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/panels.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <cmath>
#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/panels.hpp>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<double>;
using V = hn::Vec<Wide>;
constexpr std::size_t kWidth = static_cast<std::size_t>(kPanel);
constexpr std::size_t kLanes = hn::MaxLanes(Wide());
constexpr std::size_t kVectors = kWidth / kLanes;
constexpr std::size_t kAtOnce = kVectors <= 2 ? 4 : kVectors <= 4 ? 2 : 1;  // rows: 8 sums in registers
constexpr std::size_t kChunk = 16;                                          // columns between two looks at the limit

template <Gap kGap>
HWY_INLINE V add(V sum, V x, V z) {
  const Wide d;
  if constexpr (kGap == Gap::unequal) {
    return hn::Add(sum, hn::IfThenElse(hn::Eq(x, z), hn::Zero(d), hn::Set(d, 1.0)));
  } else {
    const V gap = hn::Sub(x, z);
    if constexpr (kGap == Gap::squares) return hn::Add(sum, hn::Mul(gap, gap));
    else if constexpr (kGap == Gap::absolute) return hn::Add(sum, hn::Abs(gap));
    else return hn::Max(sum, hn::Abs(gap));
  }
}

template <Gap kGap, std::size_t kRows>
HWY_INLINE void block(const double* HWY_RESTRICT x, std::size_t columns, const double* HWY_RESTRICT panel,
                      double* HWY_RESTRICT out, std::size_t stride) {
  const Wide d;
  V sum[kRows][kVectors];
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  }
  for (std::size_t j = 0; j < columns; ++j) {
    V z[kVectors];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v) z[v] = hn::LoadU(d, panel + j * kWidth + v * kLanes);
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kRows; ++i) {
      const V xj = hn::Set(d, x[i * columns + j]);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] = add<kGap>(sum[i][v], xj, z[v]);
    }
  }
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[i][v], d, out + i * stride + v * kLanes);
  }
}

template <Gap kGap>
void sums(const double* x, std::size_t rows, std::size_t columns, const double* panels, std::size_t count,
          double* out) {
  const std::size_t stride = count * kWidth;
  for (std::size_t k = 0; k < count; ++k) {
    const double* panel = panels + k * kWidth * columns;
    double* to = out + k * kWidth;
    std::size_t i = 0;
    for (; i + kAtOnce <= rows; i += kAtOnce)
      block<kGap, kAtOnce>(x + i * columns, columns, panel, to + i * stride, stride);
    for (; i < rows; ++i) block<kGap, 1>(x + i * columns, columns, panel, to + i * stride, stride);
  }
}

void panel_sums(Gap gap, const double* x, std::size_t rows, std::size_t columns, const double* panels,
                std::size_t count, double* out) {
  switch (gap) {
    case Gap::squares: return sums<Gap::squares>(x, rows, columns, panels, count, out);
    case Gap::absolute: return sums<Gap::absolute>(x, rows, columns, panels, count, out);
    case Gap::maximum: return sums<Gap::maximum>(x, rows, columns, panels, count, out);
    case Gap::unequal: return sums<Gap::unequal>(x, rows, columns, panels, count, out);
  }
}

/// Sums never fall as columns join them, also after rounding: once all are beyond the limit they stay there.
template <Gap kGap>
std::uint32_t within(const double* HWY_RESTRICT x, std::size_t columns, const double* HWY_RESTRICT panel, double limit,
                     double* HWY_RESTRICT out) {
  const Wide d;
  const V most = hn::Set(d, limit);
  V sum[kVectors];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (std::size_t j = 0; j < columns;) {
    for (const std::size_t end = HWY_MIN(columns, j + kChunk); j < end; ++j) {
      const V xj = hn::Set(d, x[j]);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v)
        sum[v] = add<kGap>(sum[v], xj, hn::LoadU(d, panel + j * kWidth + v * kLanes));
    }
    if (j < columns) {
      V least = sum[0];
      HWY_UNROLL(8)
      for (std::size_t v = 1; v < kVectors; ++v) least = hn::Min(least, sum[v]);
      if (hn::AllTrue(d, hn::Gt(least, most))) return 0;
    }
  }
  std::uint32_t bits = 0;
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::StoreU(sum[v], d, out + v * kLanes);
    std::uint8_t part[8] = {};
    hn::StoreMaskBits(d, hn::Le(sum[v], most), part);
    bits |= static_cast<std::uint32_t>(part[0]) << (v * kLanes);
  }
  return bits;
}

std::uint32_t panel_within(Gap gap, const double* x, std::size_t columns, const double* panel, double limit,
                           double* out) {
  switch (gap) {
    case Gap::squares: return within<Gap::squares>(x, columns, panel, limit, out);
    case Gap::absolute: return within<Gap::absolute>(x, columns, panel, limit, out);
    case Gap::maximum: return within<Gap::maximum>(x, columns, panel, limit, out);
    default: return within<Gap::unequal>(x, columns, panel, limit, out);
  }
}

bool roots_between(double low, double high, double* HWY_RESTRICT s, std::size_t count) {
  const Wide d;
  const V least = hn::Set(d, low), most = hn::Set(d, high), mark = hn::Set(d, -1.0);
  bool outside = false;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V value = hn::LoadU(d, s + i);
    const auto inside = hn::And(hn::Ge(value, least), hn::Le(value, most));
    outside |= !hn::AllTrue(d, inside);
    hn::StoreU(hn::IfThenElse(inside, hn::Sqrt(value), mark), d, s + i);
  }
  for (; i < count; ++i) {
    const bool inside = s[i] >= low && s[i] <= high;
    outside |= !inside;
    s[i] = inside ? std::sqrt(s[i]) : -1.0;
  }
  return outside;
}

double least(const double* HWY_RESTRICT s, std::size_t count) {
  const Wide d;
  V best[4];
  for (V& each : best) each = hn::Set(d, HUGE_VAL);
  std::size_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < 4; ++v) best[v] = hn::Min(best[v], hn::LoadU(d, s + i + v * kLanes));
  }
  double lanes[kLanes], out = HUGE_VAL;
  hn::StoreU(hn::Min(hn::Min(best[0], best[1]), hn::Min(best[2], best[3])), d, lanes);
  for (const double each : lanes) out = HWY_MIN(out, each);
  for (; i < count; ++i) out = HWY_MIN(out, s[i]);
  return out;
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {
HWY_EXPORT(panel_sums);
HWY_EXPORT(panel_within);
HWY_EXPORT(roots_between);
HWY_EXPORT(least);

void panel_sums(Gap gap, const double* x, Index rows, Index columns, const double* panels, Index count, double* out) {
  LEMMA_DISPATCH(panel_sums)
  (gap, x, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), panels, static_cast<std::size_t>(count),
   out);
}

std::uint32_t panel_within(Gap gap, const double* x, Index columns, const double* panel, double limit, double* out) {
  return LEMMA_DISPATCH(panel_within)(gap, x, static_cast<std::size_t>(columns), panel, limit, out);
}

bool roots_between(double low, double high, std::span<double> numbers) {
  return LEMMA_DISPATCH(roots_between)(low, high, numbers.data(), numbers.size());
}

double least(std::span<const double> numbers) { return LEMMA_DISPATCH(least)(numbers.data(), numbers.size()); }

}  // namespace lemma::simd
#endif  // HWY_ONCE
