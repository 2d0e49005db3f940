// lemma/core/cpu_test.cpp
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstdlib>
#include <fstream>
#include <lemma/core/cpu.hpp>
#include <lemma/core/error.hpp>
#include <optional>

namespace lemma {
namespace {

std::string cpu_flags() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("flags")) return line + " ";
  return "";
}

std::string refusal(const auto& call) {
  try {
    call();
  } catch (const Error& error) { return error.what(); }
  return "";
}

/// A variable of the environment that has another value for a while.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value) setenv(name, value, 1);
    else unsetenv(name);
  }
  ~Variable() {
    if (old_) setenv(name_, old_->c_str(), 1);
    else unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Cpu, ItsLevelAgreesWithTheSystem) {
  const std::string flags = cpu_flags();
  if (flags.empty()) GTEST_SKIP() << "the system does not list the flags of its CPU";
  EXPECT_EQ(cpu_level() >= SimdLevel::avx2,
            flags.find(" avx2 ") != std::string::npos && flags.find(" fma ") != std::string::npos);
  EXPECT_EQ(cpu_level() == SimdLevel::avx512, flags.find(" avx512vl ") != std::string::npos &&
                                                  flags.find(" avx512bw ") != std::string::npos &&
                                                  flags.find(" avx512dq ") != std::string::npos);
  EXPECT_FALSE(cpu_model().empty());
}

TEST(Cpu, EigensProductsAreCutAlikeOnEveryCpu) {
  (void)cpu_level();  // who asks for the CPU has Eigen's sizes set
  EXPECT_EQ(Eigen::l1CacheSize(), 32 * 1024);
  EXPECT_EQ(Eigen::l2CacheSize(), 256 * 1024);
  EXPECT_EQ(Eigen::l3CacheSize(), 2 * 1024 * 1024);
}

TEST(Simd, LevelsHaveTheNamesTheyAreAskedForBy) {
  for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512})
    EXPECT_EQ(simd_level_named(simd_name(level), "--simd"), level);
  const std::string message = refusal([] { simd_level_named("avx3", "--simd"); });
  EXPECT_NE(message.find("--simd is 'avx3', must be baseline, avx2 or avx512; this CPU"), std::string::npos) << message;
}

TEST(Simd, WithoutAWishTheCpuGivesAllItHas) {
  for (const SimdLevel cpu : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512})
    EXPECT_EQ(resolve({}, cpu), (SimdSetting{cpu, false, false}));
}

TEST(Simd, ALevelIsACapAndNotAWishTheCpuCannotGrant) {
  EXPECT_EQ(resolve({SimdLevel::baseline, false}, SimdLevel::avx512), (SimdSetting{SimdLevel::baseline, true, false}));
  EXPECT_EQ(resolve({SimdLevel::avx2, false}, SimdLevel::avx2), (SimdSetting{SimdLevel::avx2, true, false}));
  const std::string message = refusal([] { resolve({SimdLevel::avx512, false}, SimdLevel::avx2); });
  EXPECT_NE(message.find("avx512 was asked for; this CPU"), std::string::npos) << message;
  EXPECT_NE(message.find("has baseline and avx2"), std::string::npos) << message;
}

TEST(Simd, PortableIsAvx2EverywhereAndNothingElse) {
  EXPECT_EQ(resolve({{}, true}, SimdLevel::avx512), (SimdSetting{SimdLevel::avx2, true, true}));
  EXPECT_EQ(resolve({SimdLevel::avx2, true}, SimdLevel::avx2), (SimdSetting{SimdLevel::avx2, true, true}));
  EXPECT_NE(refusal([] { resolve({{}, true}, SimdLevel::baseline); }).find("needs AVX2 and FMA"), std::string::npos);
  EXPECT_NE(refusal([] {
              resolve({SimdLevel::baseline, true}, SimdLevel::avx512);
            }).find("baseline was asked for too"),
            std::string::npos);
}

TEST(Simd, TheEnvironmentIsReadAndItsMistakesAreNamed) {
  {
    const Variable level("LEMMA_SIMD", "avx2"), portable("LEMMA_PORTABLE", "1");
    EXPECT_EQ(simd_choice_of_environment().level, SimdLevel::avx2);
    EXPECT_TRUE(simd_choice_of_environment().portable);
  }
  {
    const Variable level("LEMMA_SIMD", ""), portable("LEMMA_PORTABLE", "0");
    EXPECT_FALSE(simd_choice_of_environment().level.has_value());
    EXPECT_FALSE(simd_choice_of_environment().portable);
  }
  const Variable level("LEMMA_SIMD", "AVX2"), portable("LEMMA_PORTABLE", "yes");
  EXPECT_NE(refusal([] { simd_choice_of_environment(); }).find("LEMMA_SIMD is 'AVX2'"), std::string::npos);
  const Variable none("LEMMA_SIMD", nullptr);
  EXPECT_NE(refusal([] { simd_choice_of_environment(); }).find("LEMMA_PORTABLE is 'yes'"), std::string::npos);
}

TEST(Simd, WhatIsInUseCanBeConfirmedButNotChanged) {
  const SimdSetting in_use = simd_setting();
  SimdChoice same;
  if (in_use.asked && !in_use.portable) same.level = in_use.level;
  same.portable = in_use.portable;
  EXPECT_NO_THROW(set_simd(same));
  const SimdLevel other = in_use.level == SimdLevel::baseline ? cpu_level() : SimdLevel::baseline;
  if (other == in_use.level) GTEST_SKIP() << "this CPU has one level alone";
  EXPECT_NE(refusal([&] { set_simd({other, false}); }).find("comes too late"), std::string::npos);
  EXPECT_EQ(simd_setting(), in_use);
}

}  // namespace
}  // namespace lemma
