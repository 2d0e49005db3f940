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

/// The kernels that a CPU deserves, by OpenBLAS's names; empty when the choice is up to OpenBLAS.
std::string deserved_core(SimdLevel cpu);
/// OpenBLAS's `core` uses narrower vectors than the CPU has.
bool is_slow_choice(std::string_view core, SimdLevel cpu);

}  // namespace lemma
