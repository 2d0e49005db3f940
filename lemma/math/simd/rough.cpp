// lemma/math/simd/rough.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/rough.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/rough.hpp>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Narrow = hn::ScalableTag<float>;
using VF = hn::Vec<Narrow>;
constexpr std::size_t kUnitWidth = static_cast<std::size_t>(RoughPoints::kUnit);
constexpr std::size_t kFloats = hn::MaxLanes(Narrow());
constexpr std::size_t kVectors = 2;                            // of points at once
constexpr std::size_t kRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;  // 16 sums in 32 registers, 8 in 16
static_assert(kUnitWidth % (kVectors * kFloats) == 0);

/// Scores of kCount rows with 2 vectors of points, as bits beside `shift`.
template <std::size_t kCount>
HWY_INLINE void scores(const float* HWY_RESTRICT x, std::size_t columns, const float* HWY_RESTRICT unit,
                       const float* HWY_RESTRICT half, const float* HWY_RESTRICT threshold, std::size_t shift,
                       std::uint32_t* HWY_RESTRICT bits, std::size_t stride) {
  const Narrow d;
  VF sum[kCount][kVectors];
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < kCount; ++i) {
    HWY_UNROLL(2)
    for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::LoadU(d, half + shift + v * kFloats);
  }
  for (std::size_t j = 0; j < columns; ++j) {
    VF z[kVectors];
    HWY_UNROLL(2)
    for (std::size_t v = 0; v < kVectors; ++v) z[v] = hn::LoadU(d, unit + j * kUnitWidth + shift + v * kFloats);
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < kCount; ++i) {
      const VF xj = hn::Set(d, x[i * columns + j]);
      HWY_UNROLL(2)
      for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::NegMulAdd(xj, z[v], sum[i][v]);
    }
  }
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < kCount; ++i) {
    const VF most = hn::Set(d, threshold[i]);
    HWY_UNROLL(2)
    for (std::size_t v = 0; v < kVectors; ++v) {
      std::uint8_t part[8] = {};
      hn::StoreMaskBits(d, hn::Le(sum[i][v], most), part);
      const std::uint32_t found = part[0] | static_cast<std::uint32_t>(part[1]) << 8;
      bits[i * stride] |= found << (shift + v * kFloats);
    }
  }
}

void rough_within(const float* x, std::size_t rows, std::size_t columns, const float* units, const float* half,
                  const float* thresholds, std::size_t count, std::uint32_t* bits) {
  std::fill(bits, bits + rows * count, 0);
  for (std::size_t u = 0; u < count; ++u) {
    const float* unit = units + u * kUnitWidth * columns;
    for (std::size_t shift = 0; shift < kUnitWidth; shift += kVectors * kFloats) {
      std::size_t i = 0;
      for (; i + kRows <= rows; i += kRows)
        scores<kRows>(x + i * columns, columns, unit, half + u * kUnitWidth, thresholds + i, shift,
                      bits + i * count + u, count);
      for (; i < rows; ++i)
        scores<1>(x + i * columns, columns, unit, half + u * kUnitWidth, thresholds + i, shift, bits + i * count + u,
                  count);
    }
  }
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {
HWY_EXPORT(rough_within);

namespace {
std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }
constexpr double kFarthest = 0x1p40;  // of a row, in the frame: beyond it float32 says nothing
}  // namespace

RoughPoints::RoughPoints(const MatrixView& rows)
    : count_(rows.rows()),
      width_(rows.cols()),
      origin_(Vector::Zero(width_)),
      units_(size_of(units() * kUnit * width_), 0.0f),
      half_(size_of(units() * kUnit), std::numeric_limits<float>::infinity()) {
  for (Index i = 0; i < count_; ++i) origin_ += (rows.row(i).transpose() - origin_) / static_cast<double>(i + 1);
  double most = 0;
  for (Index i = 0; i < count_; ++i) most = std::max(most, (rows.row(i).transpose() - origin_).cwiseAbs().maxCoeff());
  if (most > 0 && std::isfinite(most)) exponent_ = -std::ilogb(most) - 1;
  for (Index i = 0; i < count_; ++i) {
    float* to = units_.data() + i / kUnit * kUnit * width_ + i % kUnit;
    double squares = 0;
    for (Index j = 0; j < width_; ++j) {
      const double z = std::scalbn(rows(i, j) - origin_(j), exponent_);
      squares += z * z;
      to[j * kUnit] = static_cast<float>(z);
    }
    half_[size_of(i)] = static_cast<float>(0.5 * squares);
    longest_ = std::max(longest_, std::sqrt(squares));
  }
}

// With u = 2⁻²⁴, C the longest point: the roundings of x, z, ½‖z‖² and of the p steps are together at most
// 2 (p + 4) u (½C² + ‖x‖C), counted twice since a step may be two operations. What the exact sum, ‖x‖² and the move to
// the frame round is at most (p + 4) 2⁻⁴⁹ (‖x‖² + C²), what is lost to underflow below the last term.
RoughPoints::Queries RoughPoints::queries(const double* x, Index rows) const {
  Queries out;
  out.x.assign(size_of(rows * width_), 0.0f);
  const double p = static_cast<double>(width_) + 4, step = 1.05 * p * 0x1p-23, exact = p * 0x1p-49;
  for (Index i = 0; i < rows; ++i) {
    double squares = 0;
    for (Index j = 0; j < width_; ++j) {
      const double value = std::scalbn(x[i * width_ + j] - origin_(j), exponent_);
      squares += value * value;
    }
    const double norm = std::sqrt(squares);
    const bool usable = norm < kFarthest && width_ <= 8192;
    for (Index j = 0; usable && j < width_; ++j)
      out.x[size_of(i * width_ + j)] = static_cast<float>(std::scalbn(x[i * width_ + j] - origin_(j), exponent_));
    out.half_norm.push_back(0.5 * squares);
    out.error.push_back(usable ? step * longest_ * (norm + 0.5 * longest_) + exact * (squares + longest_ * longest_) +
                                     p * (1 + longest_) * 0x1p-100
                               : HUGE_VAL);
  }
  return out;
}

float RoughPoints::threshold(const Queries& queries, Index row, double limit) const {
  const double error = queries.error[size_of(row)];
  if (!(error < HUGE_VAL)) return std::numeric_limits<float>::infinity();
  const double score = std::scalbn(limit, 2 * exponent_ - 1) - queries.half_norm[size_of(row)] + error;
  if (!(score < std::numeric_limits<float>::max())) return std::numeric_limits<float>::infinity();
  return std::nextafter(static_cast<float>(score), std::numeric_limits<float>::infinity());
}

void RoughPoints::within(const Queries& queries, std::span<const float> thresholds, Index first, Index count,
                         std::uint32_t* bits) const {
  const std::size_t rows = queries.error.size();
  LEMMA_DISPATCH(rough_within)
  (queries.x.data(), rows, size_of(width_), units_.data() + first * kUnit * width_, half_.data() + first * kUnit,
   thresholds.data(), size_of(count), bits);
  const Index beyond = (first + count) * kUnit - count_;  // places of the last unit that no point takes
  if (beyond > 0)
    for (std::size_t i = 0; i < rows; ++i) bits[i * size_of(count) + size_of(count) - 1] &= ~std::uint32_t{0} >> beyond;
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
