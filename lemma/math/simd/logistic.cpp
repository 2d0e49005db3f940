// lemma/math/simd/logistic.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/logistic.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/logistic.hpp>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<double>;
using V = hn::Vec<Lanes>;
constexpr std::size_t kMost = HWY_MAX_BYTES / sizeof(double);

struct LossTerms {
  V loss, residual, curvature;
};

/// With e = e^−|η| and q = e / (1 + e), the smaller of p and 1 − p: what is nearly 1 is never subtracted from 1.
HWY_INLINE LossTerms terms_of(V eta, V y, V weight) {
  const Lanes d;
  const V one = hn::Set(d, 1.0), zero = hn::Zero(d);
  const V size = hn::Min(hn::Abs(eta), hn::Set(d, 745.0));  // beyond, e is 0 anyway
  const V e = hn::Exp(d, hn::Neg(size));
  const V q = hn::Div(e, hn::Add(one, e));
  const auto positive = hn::Ge(eta, zero);
  const V p_less_y = hn::IfThenElse(positive, hn::Sub(hn::Sub(one, y), q), hn::Sub(q, y));
  // log(1 + e^η) − yη = log(1 + e) + (1 − y) η for η ≥ 0, log(1 + e) − yη below.
  const V slope = hn::IfThenElse(positive, hn::Sub(one, y), hn::Neg(y));
  const V line = hn::IfThenElse(hn::Eq(slope, zero), zero, hn::Mul(slope, eta));  // 0 · ∞ is 0 here
  const V loss = hn::Add(hn::Log1p(d, e), line);
  const V known = hn::IfThenElse(hn::Eq(eta, eta), loss, eta);  // NaN stays NaN
  return {hn::Mul(weight, known), hn::Mul(weight, p_less_y), hn::Mul(weight, hn::Mul(q, hn::Sub(one, q)))};
}

HWY_INLINE V load_part(const double* from, std::size_t count) {
  HWY_ALIGN double part[kMost] = {};
  std::copy(from, from + count, part);
  return hn::Load(Lanes(), part);
}
HWY_INLINE void store_part(V v, double* to, std::size_t count) {
  HWY_ALIGN double part[kMost];
  hn::Store(v, Lanes(), part);
  std::copy(part, part + count, to);
}

double logistic_loss(const double* HWY_RESTRICT eta, const double* HWY_RESTRICT y, const double* HWY_RESTRICT weight,
                     std::size_t n, double* HWY_RESTRICT residual, double* HWY_RESTRICT curvature) {
  const Lanes d;
  const std::size_t width = hn::Lanes(d);
  const V one = hn::Set(d, 1.0);
  V sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    const LossTerms t = terms_of(hn::LoadU(d, eta + i), hn::LoadU(d, y + i), weight ? hn::LoadU(d, weight + i) : one);
    sum = hn::Add(sum, t.loss);
    hn::StoreU(t.residual, d, residual + i);
    if (curvature) hn::StoreU(t.curvature, d, curvature + i);
  }
  HWY_ALIGN double lanes[kMost];
  hn::Store(sum, d, lanes);
  double total = 0;
  for (std::size_t k = 0; k < width; ++k) total += lanes[k];
  if (i == n) return total;
  const std::size_t rest = n - i;
  const LossTerms t =
      terms_of(load_part(eta + i, rest), load_part(y + i, rest), weight ? load_part(weight + i, rest) : one);
  hn::Store(t.loss, d, lanes);
  for (std::size_t k = 0; k < rest; ++k) total += lanes[k];
  store_part(t.residual, residual + i, rest);
  if (curvature) store_part(t.curvature, curvature + i, rest);
  return total;
}

void rows_times(const double* HWY_RESTRICT x, std::size_t stride, std::size_t rows, std::size_t columns,
                const double* HWY_RESTRICT b, double start, double* HWY_RESTRICT out) {
  const Lanes d;
  const std::size_t width = hn::Lanes(d), whole = columns / width * width;
  for (std::size_t i = 0; i < rows; ++i) {
    const double* row = x + i * stride;
    V sum = hn::Zero(d), other = sum;
    std::size_t j = 0;
    for (; j + 2 * width <= whole; j += 2 * width) {
      sum = hn::MulAdd(hn::LoadU(d, row + j), hn::LoadU(d, b + j), sum);
      other = hn::MulAdd(hn::LoadU(d, row + j + width), hn::LoadU(d, b + j + width), other);
    }
    if (j < whole) sum = hn::MulAdd(hn::LoadU(d, row + j), hn::LoadU(d, b + j), sum);
    double rest = start;
    for (j = whole; j < columns; ++j) rest += row[j] * b[j];
    out[i] = rest + hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, other)));
  }
}

/// Entry j of a row belongs to lane j of its vector, and every second vector to the other sum; what lies behind the last whole
/// vector is added one by one. A zero would change no sum.
void sparse_rows_times(const Index* start_of, const std::int32_t* column, const double* HWY_RESTRICT value,
                       std::size_t rows, std::size_t columns, const double* HWY_RESTRICT b, double start,
                       double* HWY_RESTRICT out) {
  const Lanes d;
  const hn::CappedTag<double, 1> one;
  const std::size_t width = hn::Lanes(d), whole = columns / width * width;
  HWY_ALIGN double sums[2 * kMost];
  for (std::size_t i = 0; i < rows; ++i) {
    std::fill(sums, sums + 2 * width, 0.0);
    double rest = start;
    for (Index k = start_of[i]; k < start_of[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(column[k]);
      if (j >= whole) {
        rest += value[k] * b[j];
        continue;
      }
      double* to = sums + (j / width % 2) * width + j % width;
      hn::Store(hn::MulAdd(hn::Set(one, value[k]), hn::Set(one, b[j]), hn::Set(one, *to)), one, to);
    }
    out[i] = rest + hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Load(d, sums), hn::LoadU(d, sums + width))));
  }
}

void add_rows(const double* HWY_RESTRICT x, std::size_t stride, std::size_t rows, std::size_t columns,
              const double* HWY_RESTRICT r, double* HWY_RESTRICT sum) {
  const Lanes d;
  const std::size_t width = hn::Lanes(d), whole = columns / width * width;
  for (std::size_t i = 0; i < rows; i += 4) {
    const std::size_t count = std::min<std::size_t>(4, rows - i);
    const double* row = x + i * stride;
    if (count < 4) {
      for (std::size_t k = 0; k < count; ++k)
        for (std::size_t j = 0; j < columns; ++j) sum[j] += r[i + k] * row[k * stride + j];
      return;
    }
    const V r0 = hn::Set(d, r[i]), r1 = hn::Set(d, r[i + 1]), r2 = hn::Set(d, r[i + 2]), r3 = hn::Set(d, r[i + 3]);
    for (std::size_t j = 0; j < whole; j += width) {
      const V a = hn::MulAdd(r1, hn::LoadU(d, row + stride + j), hn::Mul(r0, hn::LoadU(d, row + j)));
      const V b = hn::MulAdd(r3, hn::LoadU(d, row + 3 * stride + j), hn::Mul(r2, hn::LoadU(d, row + 2 * stride + j)));
      hn::StoreU(hn::Add(hn::LoadU(d, sum + j), hn::Add(a, b)), d, sum + j);
    }
    for (std::size_t j = whole; j < columns; ++j)
      sum[j] += (r[i] * row[j] + r[i + 1] * row[stride + j]) +
                (r[i + 2] * row[2 * stride + j] + r[i + 3] * row[3 * stride + j]);
  }
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(logistic_loss);
HWY_EXPORT(rows_times);
HWY_EXPORT(sparse_rows_times);
HWY_EXPORT(add_rows);

double logistic_loss(std::span<const double> eta, std::span<const double> y, std::span<const double> weight,
                     std::span<double> residual, std::span<double> curvature) {
  return LEMMA_DISPATCH(logistic_loss)(eta.data(), y.data(), weight.empty() ? nullptr : weight.data(), eta.size(),
                                       residual.data(), curvature.empty() ? nullptr : curvature.data());
}

void rows_times(const MatrixView& x, std::span<const double> b, double start, std::span<double> out) {
  LEMMA_DISPATCH(rows_times)
  (x.data(), static_cast<std::size_t>(x.outerStride()), static_cast<std::size_t>(x.rows()),
   static_cast<std::size_t>(x.cols()), b.data(), start, out.data());
}

void sparse_rows_times(const Csr& x, Index first, std::span<const double> b, double start, std::span<double> out) {
  LEMMA_DISPATCH(sparse_rows_times)
  (x.start.data() + first, x.column.data(), x.value.data(), out.size(), static_cast<std::size_t>(x.width), b.data(),
   start, out.data());
}

void add_rows(const MatrixView& x, std::span<const double> r, std::span<double> sum) {
  LEMMA_DISPATCH(add_rows)
  (x.data(), static_cast<std::size_t>(x.outerStride()), static_cast<std::size_t>(x.rows()),
   static_cast<std::size_t>(x.cols()), r.data(), sum.data());
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
