// lemma/linear/shared/margin_problem.hpp: what the linear machines and their proofs share. Inner header: use linear_svm.hpp.
#pragma once
#include <lemma/linear/linear_svm.hpp>
#include <lemma/optimize/stop.hpp>
#include <string_view>

namespace lemma::margin {

/// Products with the rows [1 xᵢ − centre], in the fixed order of their blocks: the same bits on any number of threads.
/// A plane is θ = (b, w). Sparse rows stay sparse; they have no centre.
class RowProducts {
 public:
  RowProducts(const Rows& rows, Vector centre, const Execution& execution) : rows_(rows), centre_(std::move(centre)) {
    execution_.threads = execution.threads;  // each is short: the solvers ask whether to stop
  }
  Vector times(const Vector& theta) const;  // f(xᵢ) = b + (xᵢ − centre)·w
  Vector add_up(const Vector& r) const;     // Σ rᵢ [1 xᵢ − centre]
  Matrix gram(const Vector& d) const;  // Σ dᵢ [1 xᵢ − centre]ᵀ[1 xᵢ − centre], d ≥ 0: its upper triangle
  Vector row(Index i) const;           // [1 xᵢ − centre]
  const Rows& rows() const { return rows_; }
  const Vector& centre() const { return centre_; }  // empty: none
  Index width() const { return rows_.width(); }

 private:
  const Rows& rows_;
  Vector centre_;
  Execution execution_;
};

/// One plane's problem, but for the rows: their sides and costs. A cost of 0 takes no part.
struct Problem {
  MarginLoss loss = MarginLoss::hinge;
  bool intercept = true;
  Bias bias = Bias::free;
  Vector t, c;

  bool squared() const { return loss == MarginLoss::squared_hinge; }
  bool free_bias() const { return intercept && bias == Bias::free; }
  /// ½ ‖w‖² (+ ½ b²)
  double penalty(const Vector& theta) const;
  /// Σ c ℓ(t f)
  double losses(const Vector& f) const;
  /// The b for which Σ c ℓ(t (f + b)) (+ ½ b²) is least; the middle one where several are. 0 without an intercept.
  double best_bias(const Vector& f) const;
  /// Brings α within its bounds and, for a free bias, shrinks those of the class with the larger sum until Σ α t = 0.
  void make_feasible(Vector& alpha) const;
  /// D(α) for `sum` = Σ αᵢ tᵢ [1 xᵢ].
  double dual(const Vector& alpha, const Vector& sum) const;
};

/// A plane and the dual point that speaks for it.
struct Point {
  Vector theta, alpha;
  double primal = 0, dual = 0;
  long long iterations = 0;
  Stop stopped = Stop::not_yet;
  double gap() const;  // relative to P
};
/// P and D of the point from the rows alone; α is made feasible first.
void judge(const Problem& problem, const RowProducts& rows, Point& point);
/// The plane w = Σ α t x with its best bias, judged; `f` of the rows as well, where it is asked for.
Point plane_of(const Problem& problem, const RowProducts& rows, Vector alpha, Vector* f = nullptr);

/// What is learned of the columns before the work begins; Error names one that cannot be used.
struct Columns {
  Vector centre;  // dense rows: their means
  Vector spread;  // of each column: standard deviation, for sparse rows the largest entry
};

struct SolveOptions {
  double tolerance = 1e-4;
  int max_iterations = 1000;
  std::uint64_t seed = 1;
  Execution execution;
};
/// The hinge: an interior point method, then the optimum from the rows on the margin.
Point interior_point(const Problem& problem, const RowProducts& rows, const SolveOptions& options);
/// The squared hinge: Newton's method.
Point newton(const Problem& problem, const RowProducts& rows, const SolveOptions& options);

/// Rows with few columns' worth of memory, for the solvers that look at them one by one.
class EntryRows;
/// Coordinate descent on the dual, from `start` (empty: 0).
Point descend(const Problem& problem, const RowProducts& rows, const EntryRows& entries, const SolveOptions& options,
              const Vector& start = {});
/// Averaged stochastic subgradients.
Point pegasos(const Problem& problem, const RowProducts& rows, const EntryRows& entries, const SolveOptions& options);

/// Few enough for the exact solvers.
bool few_columns(const Rows& rows);
/// Where P and D are computed: about the means of the columns where that changes nothing but b, which keeps the
/// digits of columns far from 0: x·w + b = (x − centre)·w + (b + centre·w). Empty: as they are.
Vector centre_for(const LinearSvm& spec, const Columns& columns);
/// The user's plane about a centre.
Vector about_centre(Vector theta, const Vector& centre);
/// The best dual point there is for a plane about the centre of `rows`: from its margins, and where that is not
/// enough from a solver that looks for the optimum anew. Whatever it is, it bounds the least P from below.
Point proved(const LinearSvm& spec, const Problem& problem, const RowProducts& rows, const Vector& theta,
             const Execution& execution);

/// A dual point for a plane, from the margins of the rows alone.
Vector recovered_alpha(const Problem& problem, const RowProducts& rows, const Vector& theta);

Columns look_at_columns(std::string_view method, const Rows& rows, const Execution& execution);
/// That no column varies, or that some are on very different scales; empty otherwise.
std::string complaint_about(std::string_view method, const Rows& rows, const Columns& columns);

/// t and c = C · weight · class factor of plane k, from the labels and weights of the rows.
void set_sides(Problem& problem, const Rows& rows, double cost, const std::vector<double>& factors, Index plane);
/// The weight of the rows of each class.
std::vector<double> class_counts(std::string_view method, const Rows& rows);
/// The planes that tell the classes of these rows apart: one for two, one for each of more.
Index planes_for(const Rows& rows);
/// Weight of the rows with t f ≤ 1, but for rounding.
inline constexpr double kOnIt = 1e-7;
double support_weight(const Problem& problem, const Rows& rows, const Vector& f, double beyond = kOnIt);
Problem problem_of(const LinearSvm& spec, const Rows& rows, const std::vector<double>& factors, Index plane);
double tolerance_of(const LinearSvm& spec);
Certificate certificate_of(const Point& worst, double tolerance);

}  // namespace lemma::margin
