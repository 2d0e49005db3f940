// lemma/math/openblas.hpp: how OpenBLAS is found and loaded. Inner header: use lemma/math/blas.hpp.
#pragma once
#include <lemma/core/cpu.hpp>
#include <lemma/math/blas.hpp>
#include <string_view>

namespace lemma {

/// The library, loaded once with the kernels this CPU deserves, and never unloaded.
struct OpenBlas {
  void* handle = nullptr;
  BlasInfo info;
  /// The routine of that name. MachineError when the library has none.
  void* routine(const char* name) const;
};
const OpenBlas& open_blas();

/// The kernels that go with a setting, by OpenBLAS's names: one for a level, on whoever's CPU. Empty when the choice is up
/// to OpenBLAS, which knows the CPUs below AVX2 well.
std::string core_for(const SimdSetting& setting);
/// OpenBLAS's `core` uses narrower vectors than a level has.
bool is_slow_choice(std::string_view core, SimdLevel level);
/// The same name, in whatever letters.
bool is_core(std::string_view core, std::string_view name);

}  // namespace lemma
