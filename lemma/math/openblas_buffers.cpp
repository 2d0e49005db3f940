// lemma/math/openblas_buffers.cpp
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <lemma/core/error.hpp>
#include <lemma/math/openblas.hpp>
#include <lemma/math/openblas_buffers.hpp>
#include <mutex>
#include <thread>

namespace lemma {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kBuffer = 128 * kMegabyte;   // BUFFER_SIZE of OpenBLAS's x86-64 builds for any CPU
constexpr std::size_t kLibrary = 56 * kMegabyte;   // its code and data, and those of the libraries that it needs
constexpr std::size_t kReserve = 128 * kMegabyte;  // left to everybody else when another buffer is mapped
constexpr unsigned kMostBuffers = 64;              // OpenBLAS gives up where more are in use than it can count

bool is_room_for(std::size_t bytes) {
  void* const trial = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial == MAP_FAILED) return false;
  ::munmap(trial, bytes);
  return true;
}

std::string limit_text() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "the system has not so much left";
  return fmt::format("ulimit -v allows {} MB in all", limit.rlim_cur / kMegabyte);
}

/// How many buffers there are (upper half) and how many are in use (lower half), in one number: a call enters only
/// while it sees a buffer for itself. No buffers are there while more are mapped.
class Buffers {
 public:
  void enter() {
    for (std::uint64_t now = state_;;) {
      if (in_use(now) < there(now)) {
        if (state_.compare_exchange_weak(now, now + 1)) return;
        continue;
      }
      if (!map_another()) state_.wait(now);
      now = state_;
    }
  }
  void leave() {
    --state_;
    state_.notify_all();
  }

 private:
  static constexpr std::uint64_t kOneBuffer = std::uint64_t{1} << 32;
  static std::uint64_t there(std::uint64_t state) { return state / kOneBuffer; }
  static std::uint64_t in_use(std::uint64_t state) { return state % kOneBuffer; }

  /// True when somebody may enter now.
  bool map_another() {
    const std::unique_lock lock(door_, std::try_to_lock);
    if (!lock) return false;  // somebody is at it, and tells
    std::uint64_t now = state_;
    if (in_use(now) < there(now)) return true;
    if (full_) return false;
    full_ = there(now) >= std::clamp(std::thread::hardware_concurrency(), 1u, kMostBuffers) ||
            !is_room_for(kBuffer + kReserve);
    if (full_) return false;
    const std::uint64_t before = there(now);
    now = state_ -= before * kOneBuffer;
    for (; in_use(now) > 0; now = state_) state_.wait(now);
    map(before + 1);
    state_ = (before + 1) * kOneBuffer;
    state_.notify_all();
    return true;
  }

  /// So many buffers held at the same time, with nobody else inside, are all mapped.
  void map(std::uint64_t count) {
    const auto allocate = reinterpret_cast<void* (*)(int)>(dlsym(open_blas().handle, "blas_memory_alloc"));
    const auto release = reinterpret_cast<void (*)(void*)>(dlsym(open_blas().handle, "blas_memory_free"));
    if (!allocate || !release) return;
    std::array<void*, kMostBuffers> held{};
    for (std::uint64_t k = 0; k < count; ++k) held[k] = allocate(0);
    for (std::uint64_t k = 0; k < count; ++k) release(held[k]);
  }

  std::atomic<std::uint64_t> state_ = kOneBuffer;  // loading the library maps the first
  std::mutex door_;
  bool full_ = false;
};

Buffers& buffers() {
  static Buffers all;
  return all;
}

}  // namespace

void require_room_for_blas() {
  if (!is_room_for(kLibrary + kBuffer))
    throw MachineError(
        fmt::format("out of memory: the linear algebra library OpenBLAS needs {} MB of addresses to start, and {}",
                    (kLibrary + kBuffer) / kMegabyte, limit_text()));
}

BlasTurn::BlasTurn() { buffers().enter(); }
BlasTurn::~BlasTurn() { buffers().leave(); }

}  // namespace lemma
