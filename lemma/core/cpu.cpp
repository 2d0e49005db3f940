// lemma/core/cpu.cpp
#include <fstream>
#include <lemma/core/cpu.hpp>

namespace lemma {

SimdLevel simd_level() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx2 && avx512 ? SimdLevel::avx512 : avx2 ? SimdLevel::avx2 : SimdLevel::sse2;
#else
  return SimdLevel::none;
#endif
}

std::string_view simd_name(SimdLevel level) {
  constexpr std::string_view names[] = {"none", "sse2", "avx2", "avx512"};
  return names[static_cast<std::size_t>(level)];
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

}  // namespace lemma
