// lemma/math/simd/dispatch.hpp: which of Highway's targets runs. Inner header of the files that Highway compiles, which
// include Highway before it.
//
// Highway's own HWY_DYNAMIC_DISPATCH takes the widest target of the CPU, by a choice that all users of Highway in a
// process share. Lemma's follows `simd_setting()` (core/cpu.hpp) and leaves the shared one alone.
#pragma once

namespace hwy {
struct ChosenTarget;
}
namespace lemma::simd {
/// Made at the first use.
const hwy::ChosenTarget& chosen_target();
}  // namespace lemma::simd

#ifdef HWY_TARGETS
#if HWY_IDE || ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0)  // one target alone
#define LEMMA_DISPATCH(function) HWY_DYNAMIC_DISPATCH(function)
#else
#define LEMMA_DISPATCH(function) (*(HWY_DISPATCH_TABLE(function)[::lemma::simd::chosen_target().GetIndex()]))
#endif
#endif
