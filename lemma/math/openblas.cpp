// lemma/math/openblas.cpp
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <lemma/core/error.hpp>
#include <lemma/math/openblas.hpp>
#include <optional>
#include <string_view>

namespace lemma {
namespace {

constexpr const char* kLibrary = "libopenblas.so.0";

/// An environment variable that has another value for the time of a load.
class TemporaryVariable {
 public:
  TemporaryVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~TemporaryVariable() {
    if (old_) setenv(name_, old_->c_str(), 1);
    else unsetenv(name_);
  }
  TemporaryVariable(const TemporaryVariable&) = delete;
  TemporaryVariable& operator=(const TemporaryVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

bool already_loaded() {
  void* handle = dlopen(kLibrary, RTLD_LAZY | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

/// One thread: the pool that OpenBLAS would start is never used, since our own tiles run side by side.
void* load() {
  const TemporaryVariable threads("OPENBLAS_NUM_THREADS", "1");
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

/// Loads again with the right kernels. Returns why that was not possible, or nothing.
std::string load_again(void*& handle, const std::string& core) {
  dlclose(handle);
  if (already_loaded()) {
    handle = load();
    return "it cannot be unloaded to be loaded again";
  }
  const TemporaryVariable choice("OPENBLAS_CORETYPE", core);
  handle = load();
  return "";
}

OpenBlas find_and_load() {
  OpenBlas blas;
  const SimdLevel cpu = simd_level();
  const bool somebody_elses = already_loaded(), users_choice = std::getenv("OPENBLAS_CORETYPE") != nullptr;
  blas.handle = load();
  blas.info.wanted = deserved_core(cpu);
  std::string why;
  if (is_slow_choice(text_of(blas.handle, "openblas_get_corename"), cpu)) {
    if (users_choice) why = "OPENBLAS_CORETYPE asks for them";
    else if (somebody_elses) why = "the program had loaded OpenBLAS before Lemma could choose";
    else why = load_again(blas.handle, blas.info.wanted);
  }
  blas.info.core = text_of(blas.handle, "openblas_get_corename");
  blas.info.config = text_of(blas.handle, "openblas_get_config");
  blas.info.library = file_of(blas.handle);
  blas.info.degraded = is_slow_choice(blas.info.core, cpu);
  if (blas.info.degraded) {
    if (why.empty()) why = "it has no kernels of that name";
    blas.info.warning = "OpenBLAS uses its " + blas.info.core + " kernels where this CPU deserves " + blas.info.wanted +
                        " (" + why +
                        "); matrix work is several times slower than with OPENBLAS_CORETYPE=" + blas.info.wanted;
  }
  if (const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(blas.handle, "openblas_set_num_threads")))
    set_threads(1);
  return blas;
}

bool is_one_of(std::string_view core, std::initializer_list<std::string_view> names) {
  const auto same = [&](std::string_view name) {
    return std::equal(core.begin(), core.end(), name.begin(), name.end(),
                      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  };
  return std::any_of(names.begin(), names.end(), same);
}

}  // namespace

std::string deserved_core(SimdLevel cpu) {
  return cpu == SimdLevel::avx512 ? "SkylakeX" : cpu == SimdLevel::avx2 ? "Haswell" : "";
}

bool is_slow_choice(std::string_view core, SimdLevel cpu) {
  const bool wide = is_one_of(core, {"SkylakeX", "Cooperlake", "SapphireRapids"});
  const bool middle = is_one_of(core, {"Haswell", "Zen", "Excavator"});
  // OpenBLAS's own choice for Zen CPUs with AVX-512 are its AVX2 kernels, under the name Zen.
  if (cpu == SimdLevel::avx512) return !wide && !is_one_of(core, {"Zen"});
  return cpu == SimdLevel::avx2 && !wide && !middle;
}

void* OpenBlas::routine(const char* name) const {
  void* found = dlsym(handle, name);
  if (!found)
    throw MachineError("the linear algebra library " + info.library + " has no routine " + name +
                       "; Debian's package libopenblas0-pthread has it");
  return found;
}

const OpenBlas& open_blas() {
  static const OpenBlas blas = find_and_load();
  return blas;
}

const BlasInfo& blas_info() { return open_blas().info; }

}  // namespace lemma
