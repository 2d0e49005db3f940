// lemma/core/cpu.hpp: what this machine's processor can do, and how much of it Lemma uses.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace lemma {

/// Vector instructions, each level with those before it: `baseline` is what the processor has without AVX2 (SSE on
/// x86-64), avx2 includes FMA, avx512 the F, BW, DQ and VL parts (Skylake-X and later).
enum class SimdLevel { baseline, avx2, avx512 };
std::string_view simd_name(SimdLevel level);
/// The level of that name; an Error says what `setting` (such as "--simd") may be.
SimdLevel simd_level_named(std::string_view name, std::string_view setting);

/// The widest that the processor and the operating system offer.
SimdLevel cpu_level();
/// "Intel(R) Xeon(R) …" as the system names it; empty when it does not.
std::string cpu_model();

/// What is asked for. No level: all that the CPU has. Portable: the kernels that every CPU with AVX2 and FMA can run,
/// and no others, so that all of them get the same bits.
struct SimdChoice {
  std::optional<SimdLevel> level;
  bool portable = false;
};
/// What is in force. The same level (and the same build) gives the same bits; `asked`: somebody set it.
struct SimdSetting {
  SimdLevel level = SimdLevel::baseline;
  bool asked = false, portable = false;
  bool operator==(const SimdSetting&) const = default;
};

/// LEMMA_SIMD and LEMMA_PORTABLE. Error when one is not a word it may be.
SimdChoice simd_choice_of_environment();
/// The choice on a CPU of that level; Error when the CPU lacks it, or the choice contradicts itself.
SimdSetting resolve(const SimdChoice& choice, SimdLevel cpu);

/// The kernels are chosen once in a process: by this call, or by the environment at their first use. Error when they
/// are in use already and are others.
void set_simd(const SimdChoice& choice);
const SimdSetting& simd_setting();
inline SimdLevel simd_level() { return simd_setting().level; }

}  // namespace lemma
