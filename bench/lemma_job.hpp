// bench/lemma_job.hpp: what Lemma's side of every workload shares: its data, the clock, the certificate.
#pragma once
#include <chrono>
#include <ctime>
#include <fmt/core.h>
#include <functional>
#include <lemma/data/npy.hpp>
#include <lemma/lemma.hpp>
#include <map>
#include <string>

namespace lemma::bench {

/// One call of lemma_bench.
struct Job {
  std::string data;
  CallOptions options;
  std::string file(const std::string& name) const { return data + "/" + name; }
  Execution execution() const { return FitOptions(options).execution(); }
  Matrix matrix(const std::string& name) const { return read_npy_matrix(file(name)); }
};

struct Clock {
  std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
  std::clock_t cpu = std::clock();
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count(); }
  double cpu_seconds() const { return static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC; }
};

/// Runs the work under the clock and notes its times; the quality is taken afterwards.
template <class Work>
auto timed(Value& out, const Work& work) {
  const Clock clock;
  auto result = work();
  out.set("seconds", clock.seconds());
  out.set("cpu", clock.cpu_seconds());
  return result;
}

inline void evidence(Value& out, const Certificate& certificate) {
  out.set("note", fmt::format("certificate {}", certificate.holds() ? "holds" : "does not hold"));
}

/// What lemma_bench can do, by the names of workloads.py.
using Workloads = std::map<std::string, std::function<Value(const Job&)>>;
Workloads tree_workloads();
Workloads cluster_workloads();
Workloads manifold_workloads();
Workloads network_workloads();
Workloads neighbor_workloads();

}  // namespace lemma::bench
