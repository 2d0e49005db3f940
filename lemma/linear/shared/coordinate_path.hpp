// lemma/linear/shared/coordinate_path.hpp: the elastic net for every λ of a path, by coordinate descent on working sets.
#pragma once
#include <lemma/linear/shared/coordinate_factor.hpp>
#include <lemma/linear/shared/standardise.hpp>

namespace lemma {

/// The penalty λ Σ fⱼ (α |cⱼ| + ½ (1−α) cⱼ²), with c ≥ 0 where asked.
struct NetPenalty {
  double alpha = 1;
  Vector factors;
  bool positive = false;

  double l1(Index j, double lambda) const { return lambda * alpha * factors(j); }
  double l2(Index j, double lambda) const { return lambda * (1 - alpha) * factors(j); }
};

struct PathLimits {
  double tolerance = 1e-10;  // of the duality gap, in units of ½ ‖y‖²
  int sweeps = 100'000;      // at most, for each λ
};

/// The solution at one λ, on the scale of the penalty.
struct PathPoint {
  double lambda = 0;
  std::vector<Index> support;  // rising
  Vector values;               // of the support
  long long sweeps = 0;
  bool converged = false;
};

/// Minimises ½ ‖y − Z c‖² + penalty for one λ after the other, each from the last.
///
/// Within a working set the problem is quadratic with the Gram matrix ZᵀZ of that set: a step of one coordinate costs one
/// row of it, and h = Zᵀr comes with it. When the set is solved, columns outside that violate |zⱼ·r| ≤ λα fⱼ join it.
/// Which of them have to be looked at: first those that the sequential strong rule |zⱼ·r| ≥ α fⱼ (2λ − λ_before) names, then
/// all but those that are safe, since with r' the residual at which all zⱼ·r' were last found
///
///     |zⱼ·r| ≤ |zⱼ·r'| + ‖zⱼ‖ ‖r − r'‖.
///
/// With fewer columns than rows the Gram matrix of all columns is made first and the working set is everything (covariance
/// updates); else it grows (naive updates are products with the residual, one for each column that is looked at).
/// The last steps are taken at once: a Cholesky solve for the coefficients that are not 0, whose factor is kept from λ to λ.
class CoordinatePath {
 public:
  CoordinatePath(const StandardisedColumns& columns, NetPenalty penalty, PathLimits limits, const Execution& execution);

  /// The smallest λ at which every penalised coefficient is 0.
  double largest_lambda();
  /// Moves to λ from wherever it is. Stops early, not converged, when cancelled.
  PathPoint move_to(double lambda);

 private:
  void join(const std::vector<Index>& newcomers);
  void start_from(double lambda);
  void solve_working_set(double lambda, PathPoint& point);
  bool polish(double lambda);
  bool factorise(const std::vector<Index>& active, double lambda);
  void gradient_anew();
  void gradient_at_solution(double lambda);
  bool confirmed(double lambda, double allowed);
  double objective(double lambda) const;
  struct Sweep {
    double fall = 0;    // the largest fall of the objective by one step, twice
    Index changes = 0;  // coefficients that became 0, or something else, or changed their sign
  };
  enum class Steps { of_all, of_zeros };
  Sweep sweep(double lambda, Steps steps);
  double gap(double lambda) const;
  Vector residual() const;
  void refresh();
  bool admit_violators(double lambda);
  std::vector<Index> violators(const std::vector<Index>& of, double lambda);

  const StandardisedColumns& columns_;
  NetPenalty penalty_;
  PathLimits limits_;
  Execution execution_;
  bool covariance_;  // all columns are in the working set

  // The working set: its columns, and for each its Gram row, zⱼ·y, c, h = zⱼ·r.
  std::vector<Index> members_;
  std::vector<char> is_member_;
  Matrix gram_;  // the first members_.size() rows and columns are in use
  Vector q_, c_, h_;
  ActiveFactor factor_;
  std::vector<Index> solved_for_;  // members in the order of the factor
  double lambda_ = 0;              // where c is
  Vector c_before_, h_before_;     // at the λ before that
  double lambda_before_ = 0;

  // Outside it: zⱼ·r' at the residual r', and the latest known zⱼ·r of each column.
  Vector known_, latest_, at_;
};

}  // namespace lemma
