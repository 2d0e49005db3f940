// lemma/core/parallel.hpp: loops over independent pieces of work, and a fold whose tree never depends on the threads.
#pragma once
#include <functional>
#include <lemma/core/matrix.hpp>
#include <lemma/core/progress.hpp>
#include <memory>
#include <optional>
#include <string>

namespace lemma {

/// With how many threads to work, and whom to tell. Results never depend on it.
struct Execution {
  std::optional<int> threads;  // empty: default_threads()
  Progress* progress = nullptr;
  double from = 0, to = 1;  // the share of the caller's progress bar that this work fills
  std::string message;      // what loops and scans say while they run; empty: they say nothing

  /// The same, for the part of the work between two fractions of it: `execution.part(0.2, 0.9, "reading rows")`.
  Execution part(double begin, double end, std::string saying = {}) const {
    return {threads, progress, from + begin * (to - from), from + end * (to - from), std::move(saying)};
  }
  void report(double fraction, std::string_view saying) const {
    lemma::report(progress, from + fraction * (to - from), saying);
  }
  bool cancelled() const { return lemma::cancelled(progress); }
};

/// LEMMA_NUM_THREADS if it is a positive number, else the CPUs this process may use (its affinity and its cgroup's
/// quota).
int default_threads();
/// The threads asked for, or the default. Error when fewer than one is asked for.
int threads_of(const Execution& execution);

/// body(i) for every i in [0, count), on several threads, in no order. Of several exceptions the one with the lowest i
/// is passed on. Throws Cancelled when progress says so. Loops nest: an inner one shares the threads of the outer.
void parallel_for(Index count, const Execution& execution, const std::function<void(Index)>& body);

/// A fold over leaves 0 … count−1 in a binary tree given by the leaf's index alone: the left half of a range holds the
/// largest power of two of leaves that is smaller than the range. `leaf(i)` makes a state, `merge(a, b)` folds b into
/// a. States are opaque here; leaves are begun in order, so at most (threads + 1)·(log₂(count) + 2) are alive. Of
/// several exceptions the one that a single thread would have met is passed on. Throws Cancelled when progress says so.
/// Nothing comes of no leaves.
using State = std::shared_ptr<void>;
State fold_tree(Index count, const Execution& execution, const std::function<State(Index)>& leaf,
                const std::function<void(State& into, State from)>& merge);

}  // namespace lemma
