// lemma/core/asking.hpp: how often loops inside one piece of work ask whether it was cancelled.
#pragma once
#include <cstddef>
#include <lemma/core/hearing.hpp>

namespace lemma {

/// Counts operations and asks once for so many of them: small steps share a question, and a large one is not waited for long.
class Asking {
 public:
  static constexpr std::size_t kOften = 1U << 14;  // operations: far less than a millisecond

  /// So many operations are next.
  void before(std::size_t operations) {
    done_ += operations;
    if (done_ < kOften) return;
    done_ = 0;
    ask();
  }

 private:
  std::size_t done_ = 0;
};

}  // namespace lemma
