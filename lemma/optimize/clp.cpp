// lemma/optimize/clp.cpp: the one place that knows Clp. Its library depends on LAPACK and so on OpenBLAS, which must not
// be loaded before math/openblas.cpp has chosen its kernels: therefore Clp is opened on first use, like OpenBLAS itself.
#include <coin/Clp_C_Interface.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/optimize/programme_parts.hpp>
#include <memory>
#include <mutex>
#include <thread>

namespace lemma::programme {
namespace {

constexpr const char* kLibrary = "libClp.so.1";

template <class Function>
Function* routine(void* handle, const char* name) {
  void* found = dlsym(handle, name);
  if (!found)
    throw MachineError(std::string("the linear programming library ") + kLibrary + " has no routine " + name +
                       "; Debian's package coinor-libclp1 has it");
  return reinterpret_cast<Function*>(found);
}

void* load() {
  blas_info();  // first, with the right kernels
  void* handle = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    throw MachineError(std::string("the linear programming library ") + kLibrary + " cannot be loaded (" +
                       (why ? why : "no reason given") + "); Debian's package coinor-libclp1 has it");
  }
  return handle;
}

struct Clp {
  void* handle = load();
  decltype(Clp_newModel)* new_model = routine<decltype(Clp_newModel)>(handle, "Clp_newModel");
  decltype(Clp_deleteModel)* delete_model = routine<decltype(Clp_deleteModel)>(handle, "Clp_deleteModel");
  decltype(Clp_setLogLevel)* set_log_level = routine<decltype(Clp_setLogLevel)>(handle, "Clp_setLogLevel");
  decltype(Clp_loadProblem)* load_problem = routine<decltype(Clp_loadProblem)>(handle, "Clp_loadProblem");
  decltype(Clp_setPrimalTolerance)* set_primal_tolerance =
      routine<decltype(Clp_setPrimalTolerance)>(handle, "Clp_setPrimalTolerance");
  decltype(Clp_setDualTolerance)* set_dual_tolerance =
      routine<decltype(Clp_setDualTolerance)>(handle, "Clp_setDualTolerance");
  decltype(Clp_setMaximumIterations)* set_most_iterations =
      routine<decltype(Clp_setMaximumIterations)>(handle, "Clp_setMaximumIterations");
  decltype(Clp_dual)* dual = routine<decltype(Clp_dual)>(handle, "Clp_dual");
  decltype(Clp_primal)* primal = routine<decltype(Clp_primal)>(handle, "Clp_primal");
  decltype(Clp_status)* status = routine<decltype(Clp_status)>(handle, "Clp_status");
  decltype(Clp_numberIterations)* iterations = routine<decltype(Clp_numberIterations)>(handle, "Clp_numberIterations");
  decltype(Clp_primalColumnSolution)* x =
      routine<decltype(Clp_primalColumnSolution)>(handle, "Clp_primalColumnSolution");
  decltype(Clp_dualRowSolution)* row_dual = routine<decltype(Clp_dualRowSolution)>(handle, "Clp_dualRowSolution");
  decltype(Clp_dualColumnSolution)* column_dual =
      routine<decltype(Clp_dualColumnSolution)>(handle, "Clp_dualColumnSolution");
};

const Clp& clp() {
  static const Clp library;
  return library;
}

/// Columns one after the other, as Clp wants them. A programme without rows (columns) gets a free row (a fixed column)
/// of zeros, since Clp has its own ideas about empty ones.
struct Columns {
  std::vector<CoinBigIndex> start;
  std::vector<int> row;
  std::vector<double> value;
  int rows = 0, columns = 0;
};

Columns columns_of(const LinearProgramme& p) {
  Columns out;
  out.rows = static_cast<int>(std::max<Index>(p.rows(), 1));
  out.columns = static_cast<int>(std::max<Index>(p.columns(), 1));
  out.start.assign(static_cast<std::size_t>(out.columns) + 1, 0);
  for_entries(p.a, [&](Index, Index j, double) { ++out.start[static_cast<std::size_t>(j) + 1]; });
  for (std::size_t j = 1; j < out.start.size(); ++j) out.start[j] += out.start[j - 1];
  out.row.resize(static_cast<std::size_t>(out.start.back()));
  out.value.resize(out.row.size());
  std::vector<CoinBigIndex> next = out.start;
  for_entries(p.a, [&](Index i, Index j, double value) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++);
    out.row[at] = static_cast<int>(i), out.value[at] = value;
  });
  return out;
}

/// Clp's infinity is the largest number, and it takes everything from 1e30 for it.
std::vector<double> for_clp(const Vector& bounds, double when_empty) {
  std::vector<double> out(bounds.data(), bounds.data() + bounds.size());
  for (double& b : out) b = std::clamp(b, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
  if (out.empty()) out.push_back(when_empty);
  return out;
}

/// Clp's C interface has no event to stop it by, short of messages that it prints. So a second thread asks, and takes
/// away the iterations that are left: Clp reads that number at each factorisation of its basis. The work itself is the
/// same whether somebody watches or not.
class Watch {
 public:
  Watch(Clp_Simplex* model, const Execution& execution) {
    cancelled_ = execution.cancelled();
    if (cancelled_) clp().set_most_iterations(model, 0);
    if (cancelled_ || !execution.progress) return;
    thread_ = std::jthread([this, model, &execution](const std::stop_token& end) {
      std::unique_lock lock(mutex_);
      while (!ended_.wait_for(lock, end, std::chrono::milliseconds(50), [&] { return end.stop_requested(); })) {
        if (!execution.cancelled()) continue;
        cancelled_ = true;
        clp().set_most_iterations(model, 0);
        return;
      }
    });
  }
  /// Ends the watching; true when the work was cancelled.
  bool end() {
    if (thread_.joinable()) thread_.request_stop(), thread_.join();
    return cancelled_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  bool cancelled_ = false;
  std::jthread thread_;
};

ClpStatus status_of(int status, bool cancelled) {
  if (status == 0) return ClpStatus::optimal;
  if (cancelled) return ClpStatus::cancelled;
  return status == 1 ? ClpStatus::infeasible : status == 2 ? ClpStatus::unbounded : ClpStatus::stopped;
}

}  // namespace

ClpAnswer run_clp(const LinearProgramme& p, const LinearProgrammeOptions& options) {
  const Clp& library = clp();
  const std::unique_ptr<Clp_Simplex, decltype(Clp_deleteModel)*> owner(library.new_model(), library.delete_model);
  Clp_Simplex* model = owner.get();
  library.set_log_level(model, 0);

  constexpr double most = std::numeric_limits<double>::max();
  const Columns a = columns_of(p);
  library.load_problem(model, a.columns, a.rows, a.start.data(), a.row.data(), a.value.data(),
                       for_clp(p.lower, 0).data(), for_clp(p.upper, 0).data(), for_clp(p.c, 0).data(),
                       for_clp(p.row_lower, -most).data(), for_clp(p.row_upper, most).data());
  library.set_primal_tolerance(model, options.tolerance);
  library.set_dual_tolerance(model, options.tolerance);
  const auto limit = std::min<long long>(options.most_iterations, std::numeric_limits<int>::max());
  library.set_most_iterations(model, static_cast<int>(limit));
  Watch watch(model, options.execution);
  options.simplex == Simplex::dual ? library.dual(model, 0) : library.primal(model, 0);

  ClpAnswer out;
  out.status = status_of(library.status(model), watch.end());
  out.iterations = library.iterations(model);
  out.x = Eigen::Map<const Vector>(library.x(model), p.columns());
  out.dual.rows = Eigen::Map<const Vector>(library.row_dual(model), p.rows());
  out.dual.columns = Eigen::Map<const Vector>(library.column_dual(model), p.columns());
  return out;
}

}  // namespace lemma::programme
