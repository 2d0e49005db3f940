// lemma/core/cpu.cpp
#include <Eigen/Core>
#include <cstdlib>
#include <fmt/core.h>
#include <fstream>
#include <hwy/targets.h>
#include <lemma/core/cpu.hpp>
#include <lemma/core/error.hpp>
#include <mutex>

namespace lemma {
namespace {

constexpr SimdLevel kLevels[] = {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512};

/// Eigen cuts its products by the sizes of the caches it finds, and where a sum is cut decides its last bit. With these
/// sizes, those of a common CPU, they are cut alike everywhere.
[[maybe_unused]] const bool eigen_cuts_alike = [] {
  Eigen::setCpuCacheSizes(32 * 1024, 256 * 1024, 2 * 1024 * 1024);
  return true;
}();

/// "baseline and avx2"
std::string levels_up_to(SimdLevel most) {
  std::string out;
  for (const SimdLevel level : kLevels) {
    if (level > most) break;
    if (!out.empty()) out += level == most ? " and " : ", ";
    out += simd_name(level);
  }
  return out;
}

std::string this_cpu(SimdLevel has) {
  const std::string model = cpu_model();
  return fmt::format("this CPU{} has {}", model.empty() ? "" : " (" + model + ")", levels_up_to(has));
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The one setting of the process. What can be made only once (the choice of OpenBLAS's kernels is a part of it) is
/// kept once.
struct Kept {
  std::mutex mutex;
  std::optional<SimdSetting> chosen, in_use;
};
Kept& kept() {
  static Kept one;
  return one;
}

SimdSetting begin_to_use() {
  const std::lock_guard lock(kept().mutex);
  if (!kept().chosen) kept().chosen = resolve(simd_choice_of_environment(), cpu_level());
  kept().in_use = kept().chosen;
  return *kept().in_use;
}

std::string described(const SimdSetting& setting) {
  return setting.portable ? "portable" : std::string(simd_name(setting.level));
}

}  // namespace

std::string_view simd_name(SimdLevel level) {
  constexpr std::string_view names[] = {"baseline", "avx2", "avx512"};
  return names[static_cast<std::size_t>(level)];
}

SimdLevel simd_level_named(std::string_view name, std::string_view setting) {
  for (const SimdLevel level : kLevels)
    if (simd_name(level) == name) return level;
  throw Error(fmt::format("{} is '{}', must be baseline, avx2 or avx512; {}", setting, name, this_cpu(cpu_level())));
}

SimdLevel cpu_level() {
#if defined(__x86_64__)
  const auto targets = hwy::SupportedTargets();  // some of the instructions that come with AVX2 are Highway's alone
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && (targets & HWY_AVX2) != 0;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      (targets & HWY_AVX3) != 0;
  return avx2 && avx512 ? SimdLevel::avx512 : avx2 ? SimdLevel::avx2 : SimdLevel::baseline;
#else
  return SimdLevel::baseline;
#endif
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

SimdChoice simd_choice_of_environment() {
  SimdChoice out;
  if (const auto level = variable("LEMMA_SIMD"); !level.empty()) out.level = simd_level_named(level, "LEMMA_SIMD");
  const auto portable = variable("LEMMA_PORTABLE");
  if (!portable.empty() && portable != "0" && portable != "1")
    throw Error(fmt::format("LEMMA_PORTABLE is '{}', must be 1 (the same bits on every CPU with AVX2) or 0", portable));
  out.portable = portable == "1";
  return out;
}

SimdSetting resolve(const SimdChoice& choice, SimdLevel cpu) {
  if (choice.portable && choice.level && *choice.level != SimdLevel::avx2)
    throw Error(fmt::format("portable work is done with avx2 on every CPU, and {} was asked for too",
                            simd_name(*choice.level)));
  if (choice.portable && cpu < SimdLevel::avx2) throw Error("portable work needs AVX2 and FMA; " + this_cpu(cpu));
  if (choice.level && *choice.level > cpu)
    throw Error(fmt::format("{} was asked for; {}", simd_name(*choice.level), this_cpu(cpu)));
  return {choice.portable ? SimdLevel::avx2 : choice.level.value_or(cpu), choice.portable || choice.level,
          choice.portable};
}

void set_simd(const SimdChoice& choice) {
  const SimdSetting setting = resolve(choice, cpu_level());
  const std::lock_guard lock(kept().mutex);
  if (kept().in_use && *kept().in_use != setting)
    throw Error(fmt::format("the vector units are chosen before their first use: {} is in use, and {} comes too late",
                            described(*kept().in_use), described(setting)));
  kept().chosen = setting;
}

const SimdSetting& simd_setting() {
  static const SimdSetting setting = begin_to_use();
  return setting;
}

}  // namespace lemma
