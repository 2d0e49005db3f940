// lemma/linear/logistic/parts.hpp: what fitting and certifying logistic share. Inner header: use lemma/linear/logistic.hpp.
#pragma once
#include <algorithm>
#include <functional>
#include <lemma/linear/logistic.hpp>
#include <lemma/linear/logistic/loss.hpp>
#include <lemma/linear/shared/separation.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/optimize/stop.hpp>

namespace lemma::logit {

/// One look at the rows: what standardising, the null model and the checks of the response need.
Frame learn_frame(const Logistic& spec, const Rows& rows, const Execution& execution);

/// x̃ from the moments of the columns (divisor n = frame.rows_weight); an Error names a value that is not usable.
void take_columns(Frame& frame, std::string_view method, const Rows& rows, const ColumnMoments& columns,
                  bool standardize, const Execution& execution);

/// For an update: the user's own units, the class factors of the model, and one class may be missing.
Frame update_frame(const LogisticModel& model, const Rows& rows, const Execution& execution);

/// A loss plus what is known of rows seen before: ½ (β − β̂)ᵀ H (β − β̂). It has no dual point.
class PastLoss final : public Loss {
 public:
  PastLoss(const Loss& loss, Vector centre, Matrix hessian)
      : Loss(loss.frame()), loss_(loss), centre_(std::move(centre)), hessian_(std::move(hessian)) {}
  double value(const Vector& beta) const override;
  double value(const Vector& beta, Vector& gradient) const override;
  double value(const Vector& beta, Vector& gradient, Matrix& hessian) const override;
  DualParts split(const Vector& beta) const override;
  double mismatch(const Vector& beta, double t_positive, double t_negative) const override;
  double known(const Vector& beta) const;  // the quadratic part

 private:
  const Loss& loss_;
  Vector centre_;
  Matrix hessian_;
};
/// The certificate of an updated model, from the new rows and the past that it keeps.
Certificate certify_updated(const LogisticModel& model, const Rows& rows, const Execution& execution);

/// Σⱼ pen(factorⱼ βⱼ) over the columns; the intercept, β₀, has no part in it.
class PenaltyTerm {
 public:
  PenaltyTerm(const Logistic& spec, double lambda);
  double lambda() const { return lambda_; }
  double l2() const { return l2_; }
  /// All of it is ½ Σ quadratic(factor) β².
  bool smooth() const { return l1_ == 0 && rho_ == 0; }
  /// On each side of 0 it is a parabola.
  bool parabolas() const { return rho_ == 0; }
  /// Its derivative where β is not 0, when it is made of parabolas.
  double slope(double beta, double factor) const {
    return (beta > 0 ? l1_ : -l1_) * factor + l2_ * factor * factor * beta;
  }
  double quadratic(double factor) const { return l2_ * factor * factor; }

  double value(double beta, double factor) const;
  double value(const Frame& frame, const Vector& beta) const;
  /// sup over β of zβ − pen(factor β): what a dual point costs. Infinite where |z| is too large.
  double conjugate(double z, double factor) const;
  /// The largest t in [0, 1] for which t z costs something finite.
  double feasible_share(double z, double factor) const;
  /// pen(β) + pen*(z) − z β ≥ 0: without cancellation for l2.
  double mismatch(double beta, double z, double factor) const;
  /// The x that minimises ½ h (x − a)² + pen(factor x).
  double shrink(double a, double h, double factor) const;

 private:
  double lambda_, l1_ = 0, l2_ = 0, rho_ = 0;  // rho 0: no bridge
};

/// How far β is from the optimum, as far as the dual point of its residuals can tell.
struct Gap {
  double objective = 0, absolute = 0;
  double relative() const { return objective > 0 ? absolute / objective : absolute == 0 ? 0.0 : 1.0; }
};
Gap duality_gap(const Loss& loss, const PenaltyTerm& penalty, const Vector& beta, const DualParts& parts);

/// Where a solver came to.
struct Solution {
  Vector beta;
  double objective = 0;
  Gap gap;
  Matrix hessian;               // of the loss, at β or near it; empty where it was not needed
  bool dependent = false;       // columns are linear combinations of each other
  double decrement = 0;         // what the last quadratic model promised, relative to the objective
  separation::Finding overlap;  // λ = 0: whether there is a minimum at all
  bool dual_point = true;       // without one the gap bounds nothing
  long long iterations = 0;
  Stop stopped = Stop::not_yet;
  std::vector<double> trace;  // objective at the start and after each iteration

  /// How far J may be above its least value, relative to it; all of it where nothing is proved.
  double excess() const { return dual_point ? gap.relative() : std::max(gap.relative(), 1.0); }
};

struct SolveOptions {
  double tolerance = 1e-9;
  int max_iterations = 1000;
  Execution execution;
  std::uint64_t seed = 1;
};

/// Newton's method. Penalties that are not smooth go into the quadratic model, which coordinate descent minimises.
Solution newton(const Loss& loss, const PenaltyTerm& penalty, Vector start, const SolveOptions& options,
                bool always_coordinates = false);

/// For l2 the gap of the residuals' own dual point is Σ (∇J)² / 2k, were it not for the intercept.
double slope_gap(const Frame& frame, const PenaltyTerm& penalty, const Vector& gradient);
/// lbfgs, cg or gd: for l2.
Solution descend(LogisticSolver solver, const Loss& loss, const PenaltyTerm& penalty, Vector start,
                 const SolveOptions& options);

class SparseLoss;
/// Stochastic gradient descent over rows in memory: for l2.
Solution stochastic(const SparseLoss& loss, const PenaltyTerm& penalty, Vector start, const SolveOptions& options);
/// Newton's method with the Hessian only ever multiplied, by conjugate gradients: for l2.
Solution newton_cg(const SparseLoss& loss, const PenaltyTerm& penalty, Vector start, const SolveOptions& options);
/// Coordinate descent on the columns that matter: for any penalty.
Solution coordinate_descent(const SparseLoss& loss, const PenaltyTerm& penalty, Vector start,
                            const SolveOptions& options);

/// What one more Newton step would do, by a Hessian of its own: the decrease of the quadratic model relative to J.
struct Decrement {
  double relative = 0, objective = 0;
  bool dependent = false;  // columns are linear combinations of each other
  Vector step;
  Vector gradient;  // of the loss
  Matrix hessian;   // of the loss
};
Decrement newton_decrement(const Loss& loss, const PenaltyTerm& penalty, const Vector& beta);

/// The loss of these rows: without their zeros where that is how they lie in memory, else by scans.
std::unique_ptr<Loss> loss_of(const Rows& rows, const Frame& frame, const Execution& execution);

/// The gap that a solver must reach: sgd's is a thousand times that of the others, and at least 1e-3.
double tolerance_of(const Logistic& spec);

/// The best intercept alone, and its loss.
struct Null {
  Vector beta;
  double loss;
};
Null null_model(const Loss& loss, bool offset);

/// H of the objective in the user's units, from that of the loss inside; the intercept first.
Matrix users_curvature(const Frame& frame, const PenaltyTerm& penalty, const Matrix& hessian);

/// λ = 0: the duality gap at β, and whether the loss has a minimum at all; without one, or without an answer, there is no
/// dual point, and nothing is allowed to hold. The fit makes the dual point by its own Hessian, a second look by an orthogonal
/// triangle.
enum class Route { hessian, triangle };
void look_for_minimum(Solution& at, Route route, const Loss& loss, const Rows& rows, const Execution& execution);

Certificate certificate_of(const Solution& worst, const PenaltyTerm& penalty, double tolerance);
/// Where there is no dual point to be had: one more Newton step, relative to J.
Certificate certificate_of_decrement(const Solution& at, double tolerance);

}  // namespace lemma::logit
