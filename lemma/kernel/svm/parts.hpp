// lemma/kernel/svm/parts.hpp: what fitting and certifying machines share. Inner header: use lemma/kernel/svm.hpp.
#pragma once
#include <lemma/kernel/svm.hpp>
#include <lemma/kernel/svm/platt.hpp>

namespace lemma::svm {

/// The response of all rows, and how much each counts.
struct Outcomes {
  bool of_classes = true;
  Labels label;
  Vector y;
  std::vector<double> weight;  // frequencies
  Vector class_factors;
  std::vector<std::string> classes;

  Index count() const { return static_cast<Index>(weight.size()); }
  /// Cᵢ / C of a row.
  double factor(Index i) const {
    const auto at = static_cast<std::size_t>(i);
    return weight[at] * (of_classes ? class_factors(label[at]) : 1.0);
  }
};
/// Error when a class has no rows, a weight or a response is not usable, or all weights are 0.
Outcomes read_outcomes(const Svm& spec, const Rows& rows);

/// The fingerprint of rows in their order, with their responses and weights.
std::int64_t order_of(const Points& points, const Outcomes& outcomes);

/// Which of the given rows the model's support vectors are. The numbers in `support` count the rows of the fit in their
/// order; where the rows come in another one, support vectors are found by their features, and of several rows with these
/// one whose response and weight allow the multiplier.
struct SupportRows {
  std::vector<Index> of;
  bool as_numbered = true;
};
SupportRows support_rows(const SvmModel& model, const std::vector<struct Machine>& machines, const Points& points,
                         const Outcomes& outcomes);

/// What one machine tells apart, and the rows it learns from: those of a positive weight.
struct Machine {
  int negative = -1, positive = -1;  // −1: all other classes; both: numbers
  std::vector<Index> rows;
  Vector target;      // t = ±1, or y less the centre
  double centre = 0;  // of numbers, near their mean: far from 0 few digits would be left of y − f; b is told with it
  Vector factor;      // Cᵢ / C
  Vector weight;      // frequencies
  bool of_classes = true;

  Index count() const { return static_cast<Index>(rows.size()); }
  double total() const { return factor.sum(); }
};
/// How many machines so many classes take, and the negative and the positive class of each. No classes: numbers.
Index machines_for(const Svm& spec, Index classes);
Matrix machine_classes(const Svm& spec, Index classes);
std::vector<Machine> machines_of(const Svm& spec, const Outcomes& outcomes);
/// What a machine is called: "virginica against versicolor", "virginica against the rest", "" for numbers.
std::string machine_name(int negative, int positive, const std::vector<std::string>& classes);

/// C of a row of factor 1.
double row_cost(const Svm& spec, const Machine& machine);
/// C as the user counts it, from that of a row.
double users_cost(const Svm& spec, const Machine& machine, double cost);

/// A machine's solution measured on its rows; coefficients β = t α, and f = Σ β k + b.
struct Measured {
  double squared_norm = 0;  // ‖w‖²
  double primal = 0, dual = 0, absolute_gap = 0;
  double slack = 0;         // Σ Cᵢ ξᵢ / C
  double violation = 0;     // of the KKT conditions, the largest
  double sum_of_alpha = 0;  // Σ |β|
  double imbalance = 0;     // |Σ β| beside Σ |β|
  double outside = 0;       // of the box, or on the wrong side: the largest, beside Cᵢ
  double least_margin = 0;  // min t f, classes only
  Index n_free = 0, n_bounded = 0;

  /// (P − D) / P; 0 of 0.
  double gap() const;
  double margin(const Svm& spec, bool of_classes) const;
  double hull_distance() const;
};
/// `values`: Σ β k of the machine's rows, without b. `cost`: C, which may be infinite.
Measured measure(const Svm& spec, const Machine& machine, double cost, const Vector& beta, const Vector& values,
                 double bias);
/// Of the KKT conditions: 1, or the standard deviation of the numbers.
double unit_of(const Machine& machine);
/// By how much one row violates its KKT conditions.
double violation_of(bool of_classes, double epsilon, double target, double bound, double beta, double f);
/// C ξ / C.
double loss_of(bool of_classes, double epsilon, double target, double f);

/// Where a solver came to on one machine.
struct Trained {
  Vector beta, values;  // of the machine's rows
  double bias = 0, cost = 0;
  Measured measured;
  long long steps = 0;
  bool converged = false, unbounded = false;
  std::string stopped;
};

/// A machine with its kernel at its rows, ready to be solved for any C.
class Solver {
 public:
  Solver(const Svm& spec, const Machine& machine, const BoundKernel& kernel, bool has_gap);
  /// Until the gap, or where there is none the KKT conditions, are within `goal`; begins at `from`, if there is one,
  /// stretched to the new C.
  Trained solve(double cost, const Trained* from, const Execution& execution, double goal) const;
  /// With the C at which the sum of slacks is `slack`. Error when there is none.
  Trained solve_for_slack(double slack, const Execution& execution) const;

 private:
  Trained measured(const DualSolution& solution, double cost) const;

  const Svm& spec_;
  const Machine& machine_;
  const BoundKernel& kernel_;
  bool has_gap_;
  double unit_;  // of the KKT conditions: 1, or the spread of the numbers
  mutable std::shared_ptr<KernelCache> kept_;
};

/// f of each row of a machine, learned without the fifth of the rows it is in.
Vector cross_validated(const Svm& spec, const Machine& machine, const BoundKernel& kernel, double cost, bool has_gap,
                       std::uint64_t seed, const Execution& execution);

/// Platt's sigmoid of a machine, from its cross-validated values.
Sigmoid sigmoid_of(const Svm& spec, const Machine& machine, const BoundKernel& kernel, double cost, bool has_gap,
                   std::uint64_t seed, const Execution& execution);

/// True when the kernel is positive semidefinite at its points, as far as can be seen; else a warning says by how much
/// not. Error when it is not symmetric.
bool check_kernel(const BoundKernel& kernel, std::vector<std::string>* warnings, const Execution& execution);

/// The coefficients of machines with a linear kernel, in the units of the user's columns.
void find_planes(SvmModel& model);

/// Room for the numbers of so many machines.
void resize_numbers(SvmModel& model, Index machines);
/// The measured numbers as machine m of the model shows them.
void set_measured(SvmModel& model, Index m, const Measured& measured, bool has_gap);

/// What the machines are worth, and how they came to be.
struct Findings {
  std::vector<Measured> measured;
  std::vector<double> cost;  // C of a row of factor 1
  bool has_gap = true;
  long long steps = 0;
  std::string stopped;
};
Certificate certificate_of(const SvmModel& model, const Findings& findings);

/// A budget's own gap: P − D of the problem with Σ ξ ≤ t adds C |t − Σ ξ|.
double gap_with_budget(const Svm& spec, const Measured& measured, double cost);

}  // namespace lemma::svm
