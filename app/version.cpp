// app/version.cpp
#include "commands.hpp"

#include <fmt/core.h>
#include <lemma/core/cpu.hpp>
#include <lemma/core/version.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/simd.hpp>

namespace lemma::app {
namespace {

std::string said_of(const SimdSetting& setting) {
  if (setting.portable) return "avx2, portable: the same bits on every CPU with AVX2";
  const bool capped = setting.level < cpu_level();
  return fmt::format("{}{}", simd_name(setting.level), capped ? ", as asked" : ", all this CPU has");
}

}  // namespace

std::string version_text(bool verbose) {
  std::string out = fmt::format("lemma {}\n", kVersion);
  if (!verbose) return out;
  const BlasInfo& blas = blas_info();
  out += fmt::format("compiler   {}\n", __VERSION__);
  out += fmt::format("CPU        {} ({})\n", cpu_model(), simd_name(cpu_level()));
  out += fmt::format("threads    {}\n", default_threads());
  out += fmt::format("SIMD       {} ({} kernels)\n", said_of(simd_setting()), simd::level());
  out += fmt::format("BLAS       {}\n           {}\n           kernels {}\n", blas.library, blas.config, blas.core);
  if (!blas.warning.empty()) out += fmt::format("           warning: {}\n", blas.warning);
  return out;
}

}  // namespace lemma::app
