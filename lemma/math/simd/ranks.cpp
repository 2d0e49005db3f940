// lemma/math/simd/ranks.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/ranks.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/ranks.hpp>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<double>;

/// Lets x[l] take its place among the `found` smallest so far, of which there is room for `most`; equals stay before it.
HWY_INLINE void insert(const double* x, Index l, Index* places, Index& found, Index most) {
  if (found == most && !(x[l] < x[places[most - 1]])) return;
  Index k = found < most ? found++ : most - 1;
  for (; k > 0 && x[l] < x[places[k - 1]]; --k) places[k] = places[k - 1];
  places[k] = l;
}

void smallest_of(const double* HWY_RESTRICT x, Index count, Index* HWY_RESTRICT places, Index most) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d)), step = 2 * lanes;
  Index found = 0, l = 0;
  for (; l < count && found < most; ++l) insert(x, l, places, found, most);
  for (; l + step <= count; l += step) {
    const auto last = hn::Set(d, x[places[most - 1]]);
    const auto nearer = hn::Or(hn::Lt(hn::LoadU(d, x + l), last), hn::Lt(hn::LoadU(d, x + l + lanes), last));
    if (hn::AllFalse(d, nearer)) continue;
    for (Index k = l; k < l + step; ++k) insert(x, k, places, found, most);
  }
  for (; l < count; ++l) insert(x, l, places, found, most);
}

/// How many of the numbers are below the bound, or equal it where that counts too.
template <bool equal>
HWY_INLINE Index below(const double* HWY_RESTRICT x, Index count, double bound) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto last = hn::Set(d, bound);
  Index out = 0, l = 0;
  for (; l + lanes <= count; l += lanes) {
    const auto each = hn::LoadU(d, x + l);
    out += static_cast<Index>(hn::CountTrue(d, equal ? hn::Le(each, last) : hn::Lt(each, last)));
  }
  for (; l < count; ++l) out += equal ? x[l] <= bound : x[l] < bound;
  return out;
}

Index rank(const double* x, Index count, Index j) {
  return below<true>(x, j, x[j]) + below<false>(x + j + 1, count - j - 1, x[j]);
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(smallest_of);
HWY_EXPORT(rank);

void smallest(std::span<const double> x, std::span<Index> places) {
  if (!places.empty()) LEMMA_DISPATCH(smallest_of)
  (x.data(), static_cast<Index>(x.size()), places.data(), static_cast<Index>(places.size()));
}

Index rank_of(std::span<const double> x, Index j) {
  return LEMMA_DISPATCH(rank)(x.data(), static_cast<Index>(x.size()), j);
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
