// lemma/math/simd/vector.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/vector.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/vector.hpp>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<double>;

double inner_product(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, std::size_t n) {
  const Lanes lanes;
  const std::size_t width = hn::Lanes(lanes);
  auto s0 = hn::Zero(lanes), s1 = s0, s2 = s0, s3 = s0;
  std::size_t j = 0;
  for (; j + 4 * width <= n; j += 4 * width) {
    s0 = hn::MulAdd(hn::LoadU(lanes, a + j), hn::LoadU(lanes, b + j), s0);
    s1 = hn::MulAdd(hn::LoadU(lanes, a + j + width), hn::LoadU(lanes, b + j + width), s1);
    s2 = hn::MulAdd(hn::LoadU(lanes, a + j + 2 * width), hn::LoadU(lanes, b + j + 2 * width), s2);
    s3 = hn::MulAdd(hn::LoadU(lanes, a + j + 3 * width), hn::LoadU(lanes, b + j + 3 * width), s3);
  }
  for (; j + width <= n; j += width) s0 = hn::MulAdd(hn::LoadU(lanes, a + j), hn::LoadU(lanes, b + j), s0);
  double sum = hn::GetLane(hn::SumOfLanes(lanes, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

void add_multiple(double factor, const double* HWY_RESTRICT x, double* HWY_RESTRICT y, std::size_t n) {
  const Lanes lanes;
  const std::size_t width = hn::Lanes(lanes);
  const auto f = hn::Set(lanes, factor);
  std::size_t j = 0;
  for (; j + 2 * width <= n; j += 2 * width) {
    const auto low = hn::MulAdd(f, hn::LoadU(lanes, x + j), hn::LoadU(lanes, y + j));
    const auto high = hn::MulAdd(f, hn::LoadU(lanes, x + j + width), hn::LoadU(lanes, y + j + width));
    hn::StoreU(low, lanes, y + j);
    hn::StoreU(high, lanes, y + j + width);
  }
  for (; j + width <= n; j += width)
    hn::StoreU(hn::MulAdd(f, hn::LoadU(lanes, x + j), hn::LoadU(lanes, y + j)), lanes, y + j);
  for (; j < n; ++j) y[j] += factor * x[j];
}

void rotate(double c, double s, double* HWY_RESTRICT x, double* HWY_RESTRICT y, std::size_t n) {
  const Lanes lanes;
  const std::size_t width = hn::Lanes(lanes);
  const auto cosine = hn::Set(lanes, c), sine = hn::Set(lanes, s);
  std::size_t j = 0;
  for (; j + width <= n; j += width) {
    const auto a = hn::LoadU(lanes, x + j), b = hn::LoadU(lanes, y + j);
    hn::StoreU(hn::MulAdd(cosine, a, hn::Mul(sine, b)), lanes, x + j);
    hn::StoreU(hn::NegMulAdd(sine, a, hn::Mul(cosine, b)), lanes, y + j);
  }
  for (; j < n; ++j) {
    const double a = x[j], b = y[j];
    x[j] = c * a + s * b;
    y[j] = c * b - s * a;
  }
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(inner_product);
HWY_EXPORT(add_multiple);
HWY_EXPORT(rotate);

double inner_product(std::span<const double> a, std::span<const double> b) {
  return LEMMA_DISPATCH(inner_product)(a.data(), b.data(), a.size());
}
void add_multiple(double factor, std::span<const double> x, std::span<double> y) {
  LEMMA_DISPATCH(add_multiple)(factor, x.data(), y.data(), x.size());
}
void rotate(double c, double s, std::span<double> x, std::span<double> y) {
  LEMMA_DISPATCH(rotate)(c, s, x.data(), y.data(), x.size());
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
