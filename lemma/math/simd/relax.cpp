// lemma/math/simd/relax.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/relax.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/relax.hpp>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::CappedTag<double, kSources>;

void relax_edges(const double* HWY_RESTRICT from, const std::int32_t* HWY_RESTRICT to,
                 const double* HWY_RESTRICT weight, Index count, double* HWY_RESTRICT length,
                 double* HWY_RESTRICT least) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  for (Index k = 0; k < count; ++k) {
    double* there = length + to[k] * kSources;
    const auto far = hn::Set(d, weight[k]);
    auto first = infinity;
    for (Index l = 0; l < kSources; l += lanes) {
      const auto way = hn::Add(hn::LoadU(d, from + l), far), old = hn::LoadU(d, there + l);
      const auto shorter = hn::Lt(way, old);
      hn::StoreU(hn::IfThenElse(shorter, way, old), d, there + l);
      first = hn::Min(first, hn::IfThenElse(shorter, way, infinity));
    }
    least[k] = hn::GetLane(hn::MinOfLanes(d, first));
  }
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(relax_edges);

void relax(const double* from, std::span<const std::int32_t> to, std::span<const double> weight, double* length,
           double* least) {
  LEMMA_DISPATCH(relax_edges)(from, to.data(), weight.data(), static_cast<Index>(to.size()), length, least);
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
