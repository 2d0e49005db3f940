// lemma/math/simd/pairs.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/pairs.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/pairs.hpp>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<double>;
using V = hn::Vec<Lanes>;
constexpr Index kMostLanes = HWY_MAX_BYTES / sizeof(double);
static_assert(kPairStep % kMostLanes == 0);
constexpr double kInfinity = std::numeric_limits<double>::infinity();

HWY_INLINE V load(const double* from) { return hn::LoadU(Lanes(), from); }
HWY_INLINE V load(const float* from) { return hn::PromoteTo(Lanes(), hn::LoadU(hn::Rebind<float, Lanes>(), from)); }

template <class T>
HWY_INLINE Placed move(double size, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, const double* HWY_RESTRICT bar,
                       double* HWY_RESTRICT v, Index count) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const V factor = hn::Set(d, size), step = hn::Set(d, static_cast<double>(lanes));
  V best = hn::Set(d, -kInfinity), place = hn::Set(d, -1.0), here = hn::Iota(d, 0);
  for (Index j = 0; j < count; j += lanes, here = hn::Add(here, step)) {
    const V moved = hn::NegMulAdd(factor, hn::Sub(load(a + j), load(b + j)), hn::LoadU(d, v + j));
    hn::StoreU(moved, d, v + j);
    const V open = hn::Add(moved, hn::LoadU(d, bar + j));
    const auto greater = hn::Gt(open, best);
    best = hn::IfThenElse(greater, open, best);
    place = hn::IfThenElse(greater, here, place);
  }
  HWY_ALIGN double values[kMostLanes], places[kMostLanes];
  hn::Store(best, d, values);
  hn::Store(place, d, places);
  Placed found{-kInfinity, -1};
  for (Index k = 0; k < lanes; ++k) {
    const auto where = static_cast<Index>(places[k]);
    if (where >= 0 && (values[k] > found.value || (values[k] == found.value && where < found.place)))
      found = {values[k], where};
  }
  return found;
}

template <class T>
HWY_INLINE Partner partner(double up, double own, double least_curvature, const T* HWY_RESTRICT row,
                           const double* HWY_RESTRICT diagonal, const double* HWY_RESTRICT bar,
                           const double* HWY_RESTRICT v, Index count) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const V top = hn::Set(d, up), of_i = hn::Set(d, own), floor = hn::Set(d, least_curvature), zero = hn::Zero(d);
  const V two = hn::Set(d, 2.0), step = hn::Set(d, static_cast<double>(lanes));
  V square = zero, bend = hn::Set(d, 1.0), place = hn::Set(d, -1.0), least = hn::Set(d, kInfinity);
  V here = hn::Iota(d, 0);
  for (Index j = 0; j < count; j += lanes, here = hn::Add(here, step)) {
    const V open = hn::Add(hn::LoadU(d, v + j), hn::LoadU(d, bar + j));
    least = hn::Min(least, open);
    const V difference = hn::Sub(top, open);
    const V raw = hn::NegMulAdd(two, load(row + j), hn::Add(of_i, hn::LoadU(d, diagonal + j)));
    const V curvature = hn::IfThenElse(hn::Gt(raw, zero), raw, floor);
    const V squared = hn::Mul(difference, difference);
    // squared / curvature against square / bend, without dividing
    const auto better = hn::And(hn::Gt(difference, zero), hn::Gt(hn::Mul(squared, bend), hn::Mul(square, curvature)));
    square = hn::IfThenElse(better, squared, square);
    bend = hn::IfThenElse(better, curvature, bend);
    place = hn::IfThenElse(better, here, place);
  }
  HWY_ALIGN double gains[kMostLanes], places[kMostLanes], leasts[kMostLanes];
  hn::Store(hn::Div(square, bend), d, gains);
  hn::Store(place, d, places);
  hn::Store(least, d, leasts);
  Partner found{-1, kInfinity};
  double most = -1;
  for (Index k = 0; k < lanes; ++k) {
    if (leasts[k] < found.least) found.least = leasts[k];
    const auto where = static_cast<Index>(places[k]);
    if (where < 0 || gains[k] < most || (gains[k] == most && where > found.place)) continue;
    most = gains[k];
    found.place = where;
  }
  return found;
}

void add_floats(const float* const* rows, const double* weight, Index count, Index first, double* HWY_RESTRICT sum,
                Index size) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    const float *a = rows[i] + first, *b = rows[i + 1] + first, *c = rows[i + 2] + first, *e = rows[i + 3] + first;
    const V wa = hn::Set(d, weight[i]), wb = hn::Set(d, weight[i + 1]), wc = hn::Set(d, weight[i + 2]),
            we = hn::Set(d, weight[i + 3]);
    Index j = 0;
    for (; j + lanes <= size; j += lanes) {
      const V one = hn::MulAdd(wa, load(a + j), hn::Mul(wb, load(b + j)));
      const V other = hn::MulAdd(wc, load(c + j), hn::Mul(we, load(e + j)));
      hn::StoreU(hn::Add(hn::LoadU(d, sum + j), hn::Add(one, other)), d, sum + j);
    }
    for (; j < size; ++j)
      sum[j] += weight[i] * static_cast<double>(a[j]) + weight[i + 1] * static_cast<double>(b[j]) +
                weight[i + 2] * static_cast<double>(c[j]) + weight[i + 3] * static_cast<double>(e[j]);
  }
  for (; i < count; ++i)
    for (Index j = 0; j < size; ++j) sum[j] += weight[i] * static_cast<double>(rows[i][first + j]);
}

Placed move_doubles(double size, const double* a, const double* b, const double* bar, double* v, Index count) {
  return move(size, a, b, bar, v, count);
}
Placed move_floats(double size, const float* a, const float* b, const double* bar, double* v, Index count) {
  return move(size, a, b, bar, v, count);
}
Partner partner_of_doubles(double up, double own, double least_curvature, const double* row, const double* diagonal,
                           const double* bar, const double* v, Index count) {
  return partner(up, own, least_curvature, row, diagonal, bar, v, count);
}
Partner partner_of_floats(double up, double own, double least_curvature, const float* row, const double* diagonal,
                          const double* bar, const double* v, Index count) {
  return partner(up, own, least_curvature, row, diagonal, bar, v, count);
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(add_floats);
HWY_EXPORT(move_doubles);
HWY_EXPORT(move_floats);
HWY_EXPORT(partner_of_doubles);
HWY_EXPORT(partner_of_floats);

Placed move_and_find(double size, const double* a, const double* b, const double* bar, double* v, Index count) {
  return LEMMA_DISPATCH(move_doubles)(size, a, b, bar, v, count);
}
Placed move_and_find(double size, const float* a, const float* b, const double* bar, double* v, Index count) {
  return LEMMA_DISPATCH(move_floats)(size, a, b, bar, v, count);
}
Partner find_partner(double up, double own, double least_curvature, const double* row, const double* diagonal,
                     const double* bar, const double* v, Index count) {
  return LEMMA_DISPATCH(partner_of_doubles)(up, own, least_curvature, row, diagonal, bar, v, count);
}
Partner find_partner(double up, double own, double least_curvature, const float* row, const double* diagonal,
                     const double* bar, const double* v, Index count) {
  return LEMMA_DISPATCH(partner_of_floats)(up, own, least_curvature, row, diagonal, bar, v, count);
}

void add_weighted(std::span<const float* const> rows, std::span<const double> weight, Index first,
                  std::span<double> sum) {
  LEMMA_DISPATCH(add_floats)
  (rows.data(), weight.data(), std::ssize(rows), first, sum.data(), std::ssize(sum));
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
