// lemma/core/parallel_test.cpp
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <lemma/core/error.hpp>
#include <lemma/core/parallel.hpp>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace lemma {
namespace {

/// Lets eight threads run even where there are fewer CPUs.
class Parallel : public testing::Test {
  tbb::global_control eight_{tbb::global_control::max_allowed_parallelism, 8};
};
using FoldTree = Parallel;

Execution on(int threads, Progress* progress = nullptr) {
  Execution execution;
  execution.threads = threads;
  execution.progress = progress;
  return execution;
}

void rest(int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

/// The definition in the header, word for word.
std::string parentheses(Index first, Index count) {
  if (count == 1) return std::to_string(first);
  Index left = 1;
  while (2 * left < count) left *= 2;
  return "(" + parentheses(first, left) + " " + parentheses(first + left, count - left) + ")";
}

/// A fold of states of type T by plain functions.
template <class T>
T fold(Index count, const Execution& execution, auto leaf, auto merge) {
  const State root = fold_tree(
      count, execution, [&](Index i) -> State { return std::make_shared<T>(leaf(i)); },
      [&](State& into, State from) { merge(*static_cast<T*>(into.get()), *static_cast<T*>(from.get())); });
  return *static_cast<T*>(root.get());
}

std::string recorded(Index count, int threads) {
  return fold<std::string>(
      count, on(threads), [](Index i) { return std::to_string(i); },
      [](std::string& a, const std::string& b) { a = "(" + a + " " + b + ")"; });
}

TEST_F(FoldTree, MergesInTheTreeOfItsDefinitionForAnyNumberOfThreads) {
  EXPECT_EQ(parentheses(0, 7), "(((0 1) (2 3)) ((4 5) 6))");
  for (const int threads : {1, 2, 3, 8})
    for (Index count = 1; count <= 70; ++count) ASSERT_EQ(recorded(count, threads), parentheses(0, count));
}

TEST_F(FoldTree, SumsOfFloatsHaveTheSameBitsForAnyNumberOfThreads) {
  const auto sum = [](Index count, int threads) {
    return std::bit_cast<unsigned>(fold<float>(
        count, on(threads), [](Index i) { return std::sin(static_cast<float>(i)) * 1e3f; },
        [](float& a, float b) { a += b; }));
  };
  bool order_matters = false;
  for (const Index count : {1, 2, 3, 5, 17, 100, 255, 256, 257, 1000, 4099}) {
    const unsigned alone = sum(count, 1);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(sum(count, threads), alone) << count << " leaves";
    float in_line = 0;
    for (Index i = 0; i < count; ++i) in_line += std::sin(static_cast<float>(i)) * 1e3f;
    order_matters = order_matters || std::bit_cast<unsigned>(in_line) != alone;
  }
  EXPECT_TRUE(order_matters) << "these numbers could not show a change of the tree";
}

struct Counted {
  static inline std::atomic<int> alive = 0, most = 0;
  Counted() {
    int seen = most;
    for (const int now = ++alive; now > seen && !most.compare_exchange_weak(seen, now);) {}
  }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
};

TEST_F(FoldTree, KeepsFewStatesAliveAndLetsGoOfAllOfThem) {
  for (const int threads : {1, 2, 8}) {
    Counted::most = 0;
    const Index count = 1000;
    fold_tree(
        count, on(threads),
        [](Index i) -> State {
          if (i % 97 == 0) rest(500);  // stragglers leave unmerged neighbours behind
          return std::make_shared<Counted>();
        },
        [](State&, State) {});
    EXPECT_LE(Counted::most, threads == 1 ? 11 : (threads + 1) * 12) << threads << " threads";
    EXPECT_EQ(Counted::alive, 0);
  }
}

TEST_F(FoldTree, OneThreadWorksInOrderOnTheCallersThread) {
  std::vector<Index> order;
  const auto caller = std::this_thread::get_id();
  fold_tree(
      100, on(1),
      [&](Index i) -> State {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        order.push_back(i);
        return std::make_shared<int>();
      },
      [&](State&, State) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  std::vector<Index> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(FoldTree, NothingComesOfNoLeaves) {
  EXPECT_EQ(fold_tree(
                0, on(2), [](Index) { return State(); }, [](State&, State) {}),
            nullptr);
}

std::string failure_of(auto&& work) {
  try {
    work();
  } catch (const Cancelled&) { return "cancelled"; } catch (const std::exception& e) {
    return e.what();
  }
  return "no failure";
}

TEST_F(FoldTree, PassesOnTheFailureThatOneThreadWouldMeet) {
  // Leaf 40 fails at once, leaf 17 late, and the merge of leaves 0 … 15 (after leaf 15) latest of all.
  for (const bool merge_fails : {false, true})
    for (const int threads : {1, 2, 3, 8})
      for (int repeat = 0; repeat < 20; ++repeat) {
        const auto leaf = [&](Index i) {
          if (i == 17) rest(300);
          if (i == 17 || i == 40) throw Error("leaf " + std::to_string(i));
          return Index{1};
        };
        const auto merge = [&](Index& a, Index b) {
          a += b;
          if (a != 16 || !merge_fails) return;
          rest(300);
          throw Error("merge");
        };
        EXPECT_EQ(failure_of([&] { fold<Index>(100, on(threads), leaf, merge); }), merge_fails ? "merge" : "leaf 17");
      }
}

/// Says stop after it has been asked so many times; notes what it is told.
class Listener : public Progress {
 public:
  explicit Listener(int patience = 1 << 30) : patience_(patience) {}
  void report(double fraction, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    fractions.push_back(fraction);
    last_message = message;
  }
  bool cancelled() const override { return --patience_ < 0; }
  std::vector<double> fractions;
  std::string last_message;

 private:
  mutable std::atomic<int> patience_;
  std::mutex mutex_;
};

TEST_F(FoldTree, StopsWhenCancelled) {
  for (const int threads : {1, 4}) {
    Listener listener(20);
    std::atomic<int> leaves = 0;
    const auto leaf = [&](Index) { return static_cast<int>(++leaves); };
    const auto work = [&] { fold<int>(10000, on(threads, &listener), leaf, [](int&, int) {}); };
    EXPECT_EQ(failure_of(work), "cancelled");
    EXPECT_LE(leaves, 20);
  }
}

TEST_F(Parallel, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 8})
    for (const Index count : {0, 1, 2, 7, 1000, 100000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      parallel_for(count, on(threads), [&](Index i) { ++visits[static_cast<std::size_t>(i)]; });
      EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; })) << count;
    }
}

TEST_F(Parallel, PassesOnTheFailureWithTheLowestIndex) {
  for (const int threads : {1, 2, 8})
    for (const Index count : {100, 100000})
      for (int repeat = 0; repeat < 10; ++repeat) {
        const auto body = [](Index i) {
          if (i == 23) rest(300);
          if (i >= 23 && i % 2 == 1) throw Error("index " + std::to_string(i));
        };
        EXPECT_EQ(failure_of([&] { parallel_for(count, on(threads), body); }), "index 23");
      }
}

TEST_F(Parallel, StopsWhenCancelledAndSaysSoFromWithinANestedLoop) {
  Listener listener(50);
  std::atomic<int> inner = 0;
  const auto work = [&] {
    parallel_for(1000, on(2, &listener), [&](Index) { parallel_for(10, on(2, &listener), [&](Index) { ++inner; }); });
  };
  EXPECT_EQ(failure_of(work), "cancelled");
  EXPECT_LE(inner, 50);
}

TEST_F(Parallel, NestedLoopsFinishAndShareTheThreadsOfTheOutermost) {
  std::atomic<int> at_work = 0, most = 0, done = 0;
  parallel_for(8, on(3), [&](Index) {
    parallel_for(8, on(8), [&](Index) {
      int seen = most;
      for (const int now = ++at_work; now > seen && !most.compare_exchange_weak(seen, now);) {}
      fold<int>(
          8, on(8), [&](Index) { return 1; }, [](int& a, int b) { a += b; });
      rest(200);
      --at_work;
      ++done;
    });
  });
  EXPECT_EQ(done, 64);
  EXPECT_LE(most, 3);
}

TEST_F(Parallel, AThreadInTheMiddleOfAPieceDoesNotTakeUpAnotherOuterPiece) {
  thread_local int depth = 0;
  std::atomic<int> deepest = 0;
  parallel_for(64, on(4), [&](Index) {
    ++depth;
    if (depth > deepest) deepest = depth;
    parallel_for(4, on(4), [&](Index) { rest(50); });
    --depth;
  });
  EXPECT_EQ(deepest, 1);
}

TEST_F(Parallel, ReportsItsShareOfTheCallersProgressInRisingOrder) {
  for (const int threads : {1, 4}) {
    Listener listener;
    parallel_for(5000, on(threads, &listener).part(0.5, 0.75, "counting"), [](Index) {});
    EXPECT_EQ(listener.last_message, "counting");
    ASSERT_FALSE(listener.fractions.empty());
    EXPECT_TRUE(std::is_sorted(listener.fractions.begin(), listener.fractions.end()));
    EXPECT_GT(listener.fractions.front(), 0.5);
    EXPECT_DOUBLE_EQ(listener.fractions.back(), 0.75);
    EXPECT_LE(listener.fractions.size(), 1000u);
  }
  Listener listener;
  parallel_for(10, on(1, &listener), [](Index) {});
  EXPECT_TRUE(listener.fractions.empty()) << "without a message nothing is said";
}

TEST(Execution, PartsOfPartsAreFractionsOfTheWhole) {
  Listener listener;
  const Execution half = on(1, &listener).part(0.5, 1.0);
  half.part(0.5, 1.0).report(0.5, "so far");
  EXPECT_EQ(listener.fractions, std::vector<double>{0.875});
}

TEST(Execution, ThreadsMustBeAtLeastOne) {
  EXPECT_EQ(failure_of([] { parallel_for(3, on(0), [](Index) {}); }), "threads is 0, must be at least 1");
  EXPECT_EQ(threads_of(on(5)), 5);
}

TEST(Execution, TheEnvironmentSetsTheDefaultNumberOfThreads) {
  const char* before = std::getenv("LEMMA_NUM_THREADS");
  const std::string kept = before ? before : "";
  unsetenv("LEMMA_NUM_THREADS");
  const int cpus = default_threads();
  EXPECT_GE(cpus, 1);
  EXPECT_LE(cpus, static_cast<int>(std::thread::hardware_concurrency()));
  setenv("LEMMA_NUM_THREADS", "7", 1);
  EXPECT_EQ(default_threads(), 7);
  for (const char* nonsense : {"0", "-2", "many", "3x", ""}) {
    setenv("LEMMA_NUM_THREADS", nonsense, 1);
    EXPECT_EQ(default_threads(), cpus) << "'" << nonsense << "'";
  }
  before ? setenv("LEMMA_NUM_THREADS", kept.c_str(), 1) : unsetenv("LEMMA_NUM_THREADS");
}

}  // namespace
}  // namespace lemma
