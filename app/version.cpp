// app/version.cpp
#include "commands.hpp"

#include <fmt/core.h>
#include <lemma/core/cpu.hpp>
#include <lemma/core/version.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/simd.hpp>

namespace lemma::app {

std::string version_text(bool verbose) {
  std::string out = fmt::format("lemma {}\n", kVersion);
  if (!verbose) return out;
  const BlasInfo& blas = blas_info();
  out += fmt::format("compiler   {}\n", __VERSION__);
  out += fmt::format("CPU        {} ({})\n", cpu_model(), simd_name(simd_level()));
  out += fmt::format("threads    {}\n", default_threads());
  out += fmt::format("SIMD       {}\n", simd::level());
  out += fmt::format("BLAS       {}\n           {}\n           kernels {} (this CPU deserves {})\n", blas.library,
                     blas.config, blas.core, blas.wanted);
  if (blas.degraded) out += fmt::format("           warning: {}\n", blas.warning);
  return out;
}

}  // namespace lemma::app
