// lemma/math/simd/triangle.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/triangle.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/triangle.hpp>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<double>;
using V = hn::Vec<Lanes>;
constexpr std::size_t kLanes = hn::MaxLanes(Lanes());
constexpr std::size_t kVectors =
    kLanes >= 8 ? 4 : 2;  // of rows side by side: with kColumns that many chains in registers
constexpr std::size_t kColumns = 4;
constexpr std::size_t kWidth = kVectors * kLanes;

std::size_t rows_at_once() { return kWidth; }

/// The columns [first, first + Count) of kWidth rows: what the columns before them leave, then their own corner.
template <std::size_t Count>
HWY_INLINE void columns_of(const double* HWY_RESTRICT x, std::size_t stride, const double* HWY_RESTRICT centre,
                           const double* HWY_RESTRICT r, std::size_t r_stride, const double* HWY_RESTRICT inverse,
                           std::size_t first, double* HWY_RESTRICT quotient, V (&sum)[kColumns][kVectors]) {
  const Lanes d;
  V rest[Count][kVectors];
  HWY_UNROLL(4)
  for (std::size_t c = 0; c < Count; ++c) {
    const V middle = hn::Set(d, centre[first + c]);
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v)
      rest[c][v] = hn::Sub(hn::LoadU(d, x + (first + c) * stride + v * kLanes), middle);
  }
  for (std::size_t i = 0; i < first; ++i) {
    const double* row = r + i * r_stride + first;
    V y[kVectors];
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) y[v] = hn::LoadU(d, quotient + i * kWidth + v * kLanes);
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < Count; ++c) {
      const V factor = hn::Set(d, row[c]);
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < kVectors; ++v) rest[c][v] = hn::NegMulAdd(y[v], factor, rest[c][v]);
    }
  }
  HWY_UNROLL(4)
  for (std::size_t c = 0; c < Count; ++c) {
    const V share = hn::Set(d, inverse[first + c]);
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V y = hn::Mul(rest[c][v], share);
      hn::StoreU(y, d, quotient + (first + c) * kWidth + v * kLanes);
      V& chain = sum[Count == kColumns ? c : 0][v];
      chain = hn::Add(chain, hn::Mul(y, y));
      HWY_UNROLL(4)
      for (std::size_t after = c + 1; after < Count; ++after)
        rest[after][v] = hn::NegMulAdd(y, hn::Set(d, r[(first + c) * r_stride + first + after]), rest[after][v]);
    }
  }
}

void squares(const double* x, std::size_t stride, std::size_t columns, const double* centre, const double* r,
             std::size_t r_stride, const double* inverse, double* quotient, double* out) {
  const Lanes d;
  V sum[kColumns][kVectors];
  HWY_UNROLL(4)
  for (std::size_t c = 0; c < kColumns; ++c) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) sum[c][v] = hn::Zero(d);
  }
  std::size_t j = 0;
  for (; j + kColumns <= columns; j += kColumns)
    columns_of<kColumns>(x, stride, centre, r, r_stride, inverse, j, quotient, sum);
  if (columns - j == 3) columns_of<3>(x, stride, centre, r, r_stride, inverse, j, quotient, sum);
  else if (columns - j == 2) columns_of<2>(x, stride, centre, r, r_stride, inverse, j, quotient, sum);
  else if (columns - j == 1) columns_of<1>(x, stride, centre, r, r_stride, inverse, j, quotient, sum);
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < kVectors; ++v)
    hn::StoreU(hn::Add(hn::Add(sum[0][v], sum[1][v]), hn::Add(sum[2][v], sum[3][v])), d, out + v * kLanes);
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(rows_at_once);
HWY_EXPORT(squares);

RowsAside::RowsAside(const MatrixView& x, std::span<const double> origin)
    : rows_(lemma::at(x.rows())), columns_(lemma::at(x.cols())) {
  require(origin.size() == columns_, "rows aside: the origin does not fit");
  const std::size_t together = LEMMA_DISPATCH(rows_at_once)();
  stride_ = (rows_ + together - 1) / together * together;
  numbers_.assign(columns_ * stride_, 0.0);
  quotient_.resize(columns_ * together);
  for (std::size_t i = 0; i < rows_; ++i) {
    const double* row = x.row(static_cast<Index>(i)).data();
    for (std::size_t j = 0; j < columns_; ++j) numbers_[j * stride_ + i] = row[j] - origin[j];
  }
}

void RowsAside::squares(std::span<const double> centre, const MatrixView& r, std::span<const double> inverse,
                        std::span<double> out) {
  require(centre.size() == columns_ && inverse.size() == columns_ && lemma::at(r.rows()) == columns_ &&
              lemma::at(r.cols()) == columns_ && out.size() == rows_,
          "rows aside: the sizes do not fit");
  const std::size_t together = LEMMA_DISPATCH(rows_at_once)();
  double room[64];
  for (std::size_t i = 0; i < rows_; i += together) {
    const std::size_t here = std::min(together, rows_ - i);
    double* to = here == together ? out.data() + i : room;
    LEMMA_DISPATCH(squares)
    (numbers_.data() + i, stride_, columns_, centre.data(), r.data(), lemma::at(r.outerStride()), inverse.data(),
     quotient_.data(), to);
    if (to == room) std::copy_n(room, here, out.data() + i);
  }
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
