// lemma/core/cpu_test.cpp
#include <gtest/gtest.h>

#include <fstream>
#include <lemma/core/cpu.hpp>
#include <sstream>

namespace lemma {
namespace {

std::string cpu_flags() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("flags")) return line + " ";
  return "";
}

TEST(Cpu, SimdLevelAgreesWithTheSystem) {
  const std::string flags = cpu_flags();
  if (flags.empty()) GTEST_SKIP() << "the system does not list the flags of its CPU";
  EXPECT_EQ(simd_level() >= SimdLevel::avx2,
            flags.find(" avx2 ") != std::string::npos && flags.find(" fma ") != std::string::npos);
  EXPECT_EQ(simd_level() == SimdLevel::avx512, flags.find(" avx512vl ") != std::string::npos &&
                                                   flags.find(" avx512bw ") != std::string::npos &&
                                                   flags.find(" avx512dq ") != std::string::npos);
  EXPECT_FALSE(cpu_model().empty());
}

TEST(Cpu, LevelsHaveTheNamesTheToolPrints) {
  EXPECT_EQ(simd_name(SimdLevel::none), "none");
  EXPECT_EQ(simd_name(SimdLevel::sse2), "sse2");
  EXPECT_EQ(simd_name(SimdLevel::avx2), "avx2");
  EXPECT_EQ(simd_name(SimdLevel::avx512), "avx512");
}

}  // namespace
}  // namespace lemma
