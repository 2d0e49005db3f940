// lemma/math/openblas.cpp
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <lemma/core/environment.hpp>
#include <lemma/core/error.hpp>
#include <lemma/math/openblas.hpp>
#include <lemma/math/openblas_buffers.hpp>
#include <optional>
#include <string_view>

namespace lemma {
namespace {

constexpr const char* kLibrary = "libopenblas.so.0";

bool already_loaded() {
  void* handle = dlopen(kLibrary, RTLD_LAZY | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

/// One thread: the pool that OpenBLAS would start is never used, since our own tiles run side by side. The first product may
/// be one of many threads, which may be reading the environment.
void* load(const std::optional<std::string>& core) {
  std::vector<OtherEnvironment::Variable> variables = {{"OPENBLAS_NUM_THREADS", "1"}};
  if (core) variables.emplace_back("OPENBLAS_CORETYPE", *core);
  const OtherEnvironment other(variables);
  void* handle = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    throw MachineError(std::string("the linear algebra library ") + kLibrary + " cannot be loaded (" +
                       (why ? why : "no reason given") + "); Debian's package libopenblas0-pthread has it");
  }
  return handle;
}

std::string text_of(void* handle, const char* function) {
  using Function = const char* (*)();
  const auto ask = reinterpret_cast<Function>(dlsym(handle, function));
  const char* answer = ask ? ask() : nullptr;
  return answer ? answer : "";
}

std::string file_of(void* handle) {
  Dl_info where{};
  void* symbol = dlsym(handle, "dgemm_");
  return symbol && dladdr(symbol, &where) && where.dli_fname ? where.dli_fname : kLibrary;
}

std::string found_instead(const BlasInfo& info) { return "OpenBLAS uses its " + info.core + " kernels"; }

/// Why OpenBLAS has other kernels than it was to take.
std::string reason_of_others(bool somebody_elses, bool users_choice) {
  if (somebody_elses) return "the program had loaded OpenBLAS before Lemma could choose";
  return users_choice ? "OPENBLAS_CORETYPE asks for them" : "it has no kernels of that name";
}

std::string warning_of(const BlasInfo& info, const SimdSetting& setting, const std::string& why) {
  if (info.degraded)
    return found_instead(info) + " where this CPU deserves " + info.wanted + " (" + why +
           "); matrix work is several times slower than with OPENBLAS_CORETYPE=" + info.wanted;
  if (setting.asked && !info.wanted.empty() && !is_core(info.core, info.wanted))
    return found_instead(info) + " where " + std::string(simd_name(setting.level)) + " goes with " + info.wanted +
           " (" + why + ")";
  return "";
}

/// A level that was asked for goes before OPENBLAS_CORETYPE, and that before the level the CPU happens to have.
OpenBlas find_and_load() {
  OpenBlas blas;
  const SimdSetting& setting = simd_setting();
  BlasInfo& info = blas.info;
  info.wanted = core_for(setting);
  const bool somebody_elses = already_loaded();
  const bool users_choice = !setting.asked && std::getenv("OPENBLAS_CORETYPE") != nullptr;
  blas.handle = load(info.wanted.empty() || users_choice ? std::nullopt : std::optional(info.wanted));
  info.core = text_of(blas.handle, "openblas_get_corename");
  info.config = text_of(blas.handle, "openblas_get_config");
  info.library = file_of(blas.handle);
  info.degraded = is_slow_choice(info.core, setting.level);
  const std::string why = reason_of_others(somebody_elses, users_choice);
  info.warning = warning_of(info, setting, why);
  if (setting.portable && !is_core(info.core, info.wanted))
    throw MachineError("portable work needs OpenBLAS's " + info.wanted + " kernels, and " + found_instead(info) + " (" +
                       why + ")");
  if (const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(blas.handle, "openblas_set_num_threads")))
    set_threads(1);
  return blas;
}

bool is_one_of(std::string_view core, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return is_core(core, name); });
}

}  // namespace

bool is_core(std::string_view core, std::string_view name) {
  return std::equal(core.begin(), core.end(), name.begin(), name.end(),
                    [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

std::string core_for(const SimdSetting& setting) {
  if (setting.level == SimdLevel::avx512) return "SkylakeX";
  if (setting.level == SimdLevel::avx2) return "Haswell";
  return setting.asked ? "Prescott" : "";
}

bool is_slow_choice(std::string_view core, SimdLevel level) {
  const bool wide = is_one_of(core, {"SkylakeX", "Cooperlake", "SapphireRapids"});
  const bool middle = is_one_of(core, {"Haswell", "Zen", "Excavator"});
  // Zen is OpenBLAS's own choice for CPUs of that kind with AVX-512 too: a user may have it.
  if (level == SimdLevel::avx512) return !wide && !is_one_of(core, {"Zen"});
  return level == SimdLevel::avx2 && !wide && !middle;
}

void* OpenBlas::routine(const char* name) const {
  void* found = dlsym(handle, name);
  if (!found)
    throw MachineError("the linear algebra library " + info.library + " has no routine " + name +
                       "; Debian's package libopenblas0-pthread has it");
  return found;
}

const OpenBlas& open_blas() {
  static const OpenBlas blas = (require_room_for_blas(), find_and_load());
  return blas;
}

const BlasInfo& blas_info() { return open_blas().info; }

}  // namespace lemma
