// lemma/kernel/svm/smo.hpp: the dual problem of every support vector machine, solved by sequential minimal optimisation.
//
//     minimise  ½ Σ_ij α_i α_j t_i t_j k(row_i, row_j) + Σ p_i α_i     subject to   0 ≤ α_i ≤ bound_i,   Σ t_i α_i = total
//
// Classification has a variable for each row and p = −1; ε-regression two for each row, t = ±1 and p = ε ∓ y.
#pragma once
#include <lemma/geometry/kernel/bound.hpp>

namespace lemma {

class KernelCache;  // rows of the kernel matrix, as they were made

struct DualProblem {
  const BoundKernel* kernel = nullptr;
  std::vector<Index> row;             // the point of each variable
  std::vector<signed char> sign;      // t_i
  Vector linear;                      // p
  Vector bound;                       // may be infinite: hard margin
  Vector start;                       // a feasible α to begin with; empty: zero (then total = 0)
  Vector start_gradient;              // ∇ there, of every variable, where it is known
  std::shared_ptr<KernelCache> kept;  // of an earlier solution with this kernel; none: made anew

  Index size() const { return static_cast<Index>(row.size()); }
};

/// How the next variables are chosen: two at a time, or a few hundred whose kernel rows are made by one matrix product.
enum class WorkingSet { automatic, pair, block };
constexpr auto names_of(WorkingSet) { return std::array<std::string_view, 3>{"automatic", "pair", "block"}; }

struct SmoOptions {
  double tolerance = 1e-3;  // greatest violation of the KKT conditions: max over I_up of −t∇ less the min over I_low
  double cache_megabytes = 200;
  Index most_steps = 0;   // pairs of variables moved; 0: a bound far beyond what a problem needs
  bool shrinking = true;  // in the end, look only at variables that are free or on the wrong side
  WorkingSet working_set = WorkingSet::automatic;
};

struct DualSolution {
  Vector alpha;
  Vector gradient;  // ∇ = Qα + p, of every variable
  double bias = 0;  // from the average over free variables, else the midpoint of [bias_low, bias_high]
  double bias_low = 0, bias_high = 0;  // what the variables at their bounds allow
  double objective = 0;                // ½ αᵀQα + pᵀα
  double violation = 0;                // of the KKT conditions, at the end
  Index steps = 0;
  bool converged = false;
  bool unbounded = false;  // an infinite bound, and the objective falls forever: the classes are not separable
  std::string stopped;     // why, in words
  std::shared_ptr<KernelCache> kept;  // for the next problem with this kernel; none where its rows are not kept
};

/// Same bits on any number of threads. A cancel gives back the α there is, with converged = false.
/// Memory O(n) and the cache. Error when the cache would not hold two rows of the kernel matrix.
DualSolution solve_dual(const DualProblem& problem, const SmoOptions& options, const Execution& execution = {});

}  // namespace lemma
