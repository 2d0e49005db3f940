// lemma/core/hearing.hpp: a cancel reaches work that lies deep below the loop or the method that was given the Progress.
#pragma once
#include <lemma/core/parallel.hpp>

namespace lemma {

/// While it lives, this thread works for `execution`: `ask` and `heard` below speak of it. Parallel loops and scans set
/// it for each of their pieces, so that a statistic which takes minutes for one block, or a factorisation it calls, is
/// as easy to stop as the loop itself. An execution without progress makes deaf: what a cancelled fit still finishes.
class Hearing {
 public:
  explicit Hearing(const Execution& execution);
  ~Hearing();
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

 private:
  const Execution* before_;
};

/// For inner loops: the threads and the progress of the work this thread is at, which says nothing. Outside of any it
/// asks nobody.
Execution heard();

/// Throws Cancelled when the work that this thread is at has been cancelled. Long work asks a few times a second.
void ask();

}  // namespace lemma
