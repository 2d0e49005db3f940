// lemma/core/parallel.cpp
#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/parallel.hpp>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <tuple>
#include <utility>

namespace lemma {
namespace {

constexpr int kMostThreads = 1024;

// ---- how many ----

int cpus_by_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more CPUs than a cpu_set_t holds
}

/// "max 100000" or "150000 100000": microseconds of CPU time in each period.
double quota_v2(const std::string& folder) {
  std::ifstream in(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period) || quota == "max" || !(period > 0)) return HUGE_VAL;
  return std::strtod(quota.c_str(), nullptr) / period;
}

double quota_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || !(quota > 0) || !(period > 0)) return HUGE_VAL;
  return quota / period;
}

/// The least quota on the way from this process's control group up to the root.
double least_quota(const std::string& root, std::string group, double (*quota_of)(const std::string&)) {
  double least = quota_of(root);
  for (; group.size() > 1; group.resize(group.rfind('/'))) {
    least = std::min(least, quota_of(root + group));
    if (group.find('/') == std::string::npos) break;
  }
  return least;
}

double cpus_by_quota() {
  double least = HUGE_VAL;
  std::ifstream in("/proc/self/cgroup");  // lines such as "0::/user.slice" and "4:cpu,cpuacct:/docker/1f2e"
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string id, controllers, group;
    std::getline(fields, id, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, group);
    if (controllers.empty()) least = std::min(least, least_quota("/sys/fs/cgroup", group, quota_v2));
    if (("," + controllers + ",").find(",cpu,") != std::string::npos)
      least = std::min(least, least_quota("/sys/fs/cgroup/cpu", group, quota_v1));
  }
  return least;
}

int usable_cpus() {
  const int cpus = std::max(1, cpus_by_affinity());
  return static_cast<int>(std::clamp(std::ceil(cpus_by_quota()), 1.0, static_cast<double>(cpus)));
}

// ---- a crew of workers ----

/// True on a thread that is at work for a crew: a crew called together inside another shares its threads.
thread_local bool at_work = false;

struct AtWork {
  AtWork() { at_work = true; }
  ~AtWork() { at_work = before; }
  bool before = at_work;
};

/// Asked for more threads than it allows, TBB would write a warning.
int allowed(int threads) {
  using tbb::global_control;
  const auto most = global_control::active_value(global_control::max_allowed_parallelism);
  return static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), most));
}

/// Whom this thread works for.
thread_local const Execution* at_work_for = nullptr;

/// This thread's arena for that many threads. It is kept, since a new one costs some hundred microseconds.
tbb::task_arena& arena_of(int size) {
  thread_local int kept_size = 0;
  thread_local std::unique_ptr<tbb::task_arena> kept;
  if (kept_size != size) {
    kept = std::make_unique<tbb::task_arena>(size);
    kept_size = size;
  }
  return *kept;
}

/// As many of the threads asked for as the system starts. TBB starts its own where nobody can catch that it fails, while
/// pieces of work lie about that look at the stack; so the same number is tried here first, with twice the stack that TBB
/// gives. The results are the same with fewer.
int startable(int threads) {
  constexpr std::size_t kStack = std::size_t{8} << 20;
  static std::mutex door;
  static int proved = 1, most = kMostThreads;
  const std::lock_guard lock(door);
  if (threads <= proved || proved == most) return std::min(threads, proved);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return proved;
  pthread_attr_setstacksize(&attributes, kStack);
  std::array<pthread_t, kMostThreads> started{};
  std::atomic<bool> enough = false;
  const auto wait = [](void* flag) -> void* {
    static_cast<std::atomic<bool>*>(flag)->wait(false);
    return nullptr;
  };
  int count = 1;
  while (count < threads && pthread_create(&started[static_cast<std::size_t>(count)], &attributes, wait, &enough) == 0)
    ++count;
  enough = true;
  enough.notify_all();
  for (int k = 1; k < count; ++k) pthread_join(started[static_cast<std::size_t>(k)], nullptr);
  pthread_attr_destroy(&attributes);
  proved = count;
  if (count < threads) most = count;
  return count;
}

/// Work goes to another thread, and its results come back, inside TBB's compiled part, which a thread sanitizer cannot
/// see: so both sides also pass through here. It holds nothing.
void hand_over() {
  static std::atomic<unsigned> gate{0};
  gate.fetch_add(1, std::memory_order_acq_rel);
}

/// work() for each of `workers`, on up to `threads` at once, and no return before each has come back. The work is taken
/// from a shared counter by whoever is there, so it is all done even if no other thread ever comes. It must not throw.
void run_crew(int workers, int threads, const std::function<void()>& work) {
  if (workers <= 1) return work();
  const auto all = [&] {
    const auto one = [&](int) {
      hand_over();
      {
        const AtWork guard;
        work();
      }
      hand_over();
    };
    hand_over();
    // Isolated: a thread that waits here must not take up unrelated outer work in the middle of what it is doing.
    tbb::this_task_arena::isolate([&] { tbb::parallel_for(0, workers, one, tbb::simple_partitioner{}); });
    hand_over();
  };
  if (at_work) return all();
  const int started = startable(allowed(threads));
  if (started == 1) return work();
  arena_of(started).execute(all);
}

/// What a crew shares: the next piece of work, the earliest failure, and how far it is. Pieces are handed out in order,
/// so all pieces before a failed one have been begun and are finished: which failure is passed on never depends on
/// timing.
class Ledger {
 public:
  Ledger(Index count, const Execution& execution) : count_(count), failed_(count), execution_(execution) {}

  /// Pieces [first, last) for the caller to do; the range is empty when nothing is left that is worth doing.
  std::pair<Index, Index> take(Index size) {
    if (execution_.cancelled()) cancelled_ = true;
    if (cancelled_ || next_ >= failed_) return {count_, count_};
    const Index first = next_.fetch_add(size);
    return {std::min(first, count_), std::min(first + size, count_)};
  }
  bool worth_doing(Index piece) const { return piece < failed_; }

  void fail(Index piece) {
    const std::lock_guard lock(mutex_);
    if (piece >= failed_) return;
    failed_ = piece;
    failure_ = std::current_exception();
  }

  void finish(Index pieces) {
    const Index done = done_ += pieces;
    if (execution_.message.empty() || !execution_.progress) return;
    constexpr Index kSteps = 1000;
    const Index step = done * kSteps / count_;
    if (step == (done - pieces) * kSteps / count_) return;
    const std::lock_guard lock(mutex_);
    if (step <= reported_) return;  // a later one has been quicker
    reported_ = step;
    execution_.report(static_cast<double>(step) / kSteps, execution_.message);
  }

  void settle() const {
    if (cancelled_) throw Cancelled();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const Index count_;
  std::atomic<Index> next_{0}, done_{0}, failed_;
  std::atomic<bool> cancelled_{false};
  const Execution& execution_;
  std::mutex mutex_;
  std::exception_ptr failure_;
  Index reported_ = 0;
};

// ---- the tree ----

/// Node j of level l covers leaves [j·2^l, (j+1)·2^l); what lies beyond the last leaf is not there, and a node with one
/// child is that child. Whoever brings the second of two siblings merges them and goes on upwards.
class Tree {
 public:
  Tree(Index count, const std::function<void(State&, State)>& merge) : count_(count), merge_(merge) {}

  /// Puts in the state of a leaf. `piece` follows the last leaf of the node at work, for the Ledger.
  void put(Index leaf, State state, Index& piece) {
    Index node = leaf;
    int level = 0;
    for (; (Index{1} << level) < count_; ++level, node /= 2) {
      const Index sibling = node ^ 1;
      if ((sibling << level) >= count_) continue;
      State other = exchange(level, node, sibling, state);
      if (!other) return;
      if (node & 1) std::swap(state, other);
      piece = std::min(count_, ((node / 2) + 1) << (level + 1)) - 1;
      merge_(state, std::move(other));
    }
    root_ = std::move(state);
  }
  State root() { return std::move(root_); }

 private:
  /// Takes the sibling's state when it waits, else leaves ours waiting.
  State exchange(int level, Index node, Index sibling, State& state) {
    const std::lock_guard lock(mutex_);
    if (auto found = waiting_.extract({level, sibling})) return std::move(found.mapped());
    waiting_.emplace(std::pair{level, node}, std::move(state));
    return nullptr;
  }

  const Index count_;
  const std::function<void(State&, State)>& merge_;
  std::mutex mutex_;
  std::map<std::pair<int, Index>, State> waiting_;
  State root_;
};

}  // namespace

Hearing::Hearing(const Execution& execution) : before_(at_work_for) { at_work_for = &execution; }
Hearing::~Hearing() { at_work_for = before_; }

Execution heard() {
  Execution out;
  if (!at_work_for) return out;
  out.threads = at_work_for->threads;
  out.progress = at_work_for->progress;
  return out;
}

void ask() {
  if (at_work_for && at_work_for->cancelled()) throw Cancelled();
}

int default_threads() {
  static const int cpus = usable_cpus();
  if (const char* text = std::getenv("LEMMA_NUM_THREADS")) {
    char* end = nullptr;
    const long threads = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && threads > 0) return static_cast<int>(std::min<long>(threads, kMostThreads));
  }
  return cpus;
}

int threads_of(const Execution& execution) {
  if (!execution.threads) return default_threads();
  if (*execution.threads < 1) throw Error(fmt::format("threads is {}, must be at least 1", *execution.threads));
  return std::min(*execution.threads, kMostThreads);
}

void parallel_for(Index count, const Execution& execution, const std::function<void(Index)>& body) {
  const int threads = threads_of(execution), workers = static_cast<int>(std::min<Index>(count, threads));
  if (count <= 0) return;
  Ledger ledger(count, execution);
  // Many small pieces are handed out several at a time, but never so many that a thread is left alone at the end.
  const Index size = std::clamp<Index>(count / (Index{64} * workers), 1, 256);
  run_crew(workers, threads, [&] {
    const Hearing hearing(execution);
    for (auto [i, last] = ledger.take(size); i < last; std::tie(i, last) = ledger.take(size)) {
      const Index first = i;
      try {
        for (; i < last && ledger.worth_doing(i); ++i) body(i);
      } catch (...) { ledger.fail(i); }
      ledger.finish(last - first);
    }
  });
  ledger.settle();
}

State fold_tree(Index count, const Execution& execution, const std::function<State(Index)>& leaf,
                const std::function<void(State& into, State from)>& merge) {
  const int threads = threads_of(execution), workers = static_cast<int>(std::min<Index>(count, threads));
  if (count <= 0) return nullptr;
  Ledger ledger(count, execution);
  Tree tree(count, merge);
  run_crew(workers, threads, [&] {
    const Hearing hearing(execution);
    for (Index i = ledger.take(1).first; i < count; i = ledger.take(1).first) {
      Index piece = i;
      try {
        if (ledger.worth_doing(i)) tree.put(i, leaf(i), piece);
      } catch (...) { ledger.fail(piece); }
      ledger.finish(1);
    }
  });
  ledger.settle();
  return tree.root();
}

}  // namespace lemma
