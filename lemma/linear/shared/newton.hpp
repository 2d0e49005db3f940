// lemma/linear/shared/newton.hpp: Newton's method for a penalised loss of classes whose Hessian fits in memory. Inner header.
#pragma once
#include <lemma/linear/shared/quadratic_model.hpp>

namespace lemma::logit {

/// A loss with its penalty, as Newton's method sees it: coefficients in one vector, every call a pass over the rows.
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;
  /// J; gradient and Hessian of the loss alone.
  virtual double look(const Vector& at, Vector& gradient, Matrix& hessian) const = 0;
  /// λ > 0: how far J is from its least value, and the gradient, without a Hessian.
  virtual Gap look_at_gap(const Vector& at, Vector& gradient) const = 0;
  /// λ = 0: whether so little of the loss is left that the rows must be separated.
  virtual bool is_nothing(double objective) const = 0;
};

/// A step goes to the minimum of the quadratic model (`factor`: what its coordinates are to the penalty) and is halved until J
/// falls. Where there is a gap, the last Hessian serves once it is good enough, and looks at the gap tell when to end.
Solution newton(const NewtonProblem& problem, const PenaltyTerm& penalty, const Vector& factor, Vector start,
                const SolveOptions& options, bool always_coordinates = false);

}  // namespace lemma::logit
