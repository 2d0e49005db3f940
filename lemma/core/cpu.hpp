// lemma/core/cpu.hpp: what this machine's processor can do.
#pragma once
#include <string>
#include <string_view>

namespace lemma {

/// The widest vector instructions that the processor and the operating system offer; avx2 includes FMA, avx512 the
/// F, BW, DQ and VL parts (Skylake-X and later).
enum class SimdLevel { none, sse2, avx2, avx512 };
SimdLevel simd_level();
std::string_view simd_name(SimdLevel level);

/// "Intel(R) Xeon(R) …" as the system names it; empty when it does not.
std::string cpu_model();

}  // namespace lemma
