// lemma/math/simd/dispatch.cpp
#include <hwy/targets.h>
#include <lemma/core/cpu.hpp>
#include <lemma/math/simd/dispatch.hpp>

namespace lemma::simd {
namespace {

/// The targets above a level. AVX3 is AVX-512 of Skylake-X; its successors' targets add nothing to floating point, and are
/// not used, so that one level means one target.
std::int64_t targets_above([[maybe_unused]] SimdLevel level) {
#if HWY_ARCH_X86
  constexpr std::int64_t newest = HWY_AVX3_DL;
  if (level == SimdLevel::avx512) return newest;
  return level == SimdLevel::avx2 ? newest | HWY_AVX3 : newest | HWY_AVX3 | HWY_AVX2;
#else
  return 0;
#endif
}

}  // namespace

const hwy::ChosenTarget& chosen_target() {
  struct Chosen : hwy::ChosenTarget {
    Chosen() { Update(hwy::SupportedTargets() & ~targets_above(simd_level())); }
  };
  static const Chosen one;
  return one;
}

}  // namespace lemma::simd
