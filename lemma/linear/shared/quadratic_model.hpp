// lemma/linear/shared/quadratic_model.hpp: the quadratic model of a penalised loss, and its minimum. Inner header.
#pragma once
#include <lemma/linear/logistic/parts.hpp>

namespace lemma::logit {

/// J(x) ≈ loss + g·(x − β) + ½ (x − β)ᵀH(x − β) + pen(x). `factor`: of the penalty of each coordinate; kFree for one that has
/// none, kFixed for one that stays where it is.
struct QuadraticModel {
  static constexpr double kFree = -1, kFixed = -2;
  const PenaltyTerm& penalty;
  const Vector& factor;
  const Vector& beta;
  const Vector& gradient;
  const Matrix& hessian;

  double penalty_of(const Vector& x) const;
  /// What going from β to x saves, by the model.
  double decrease(const Vector& x) const;
};

/// The minimum by Cholesky, for l2, in units in which the diagonal is 1. Where columns depend on each other the diagonal is
/// raised a little, and of all minima the step goes to one nearby.
Vector minimum_by_cholesky(const QuadraticModel& model, bool& dependent);
/// The minimum by coordinate descent, for any penalty: sweeps over the coefficients that are not 0 until they rest, then
/// one over all.
Vector minimum_by_coordinates(const QuadraticModel& model);

/// What the coordinates of a frame are to its penalty.
Vector factors_of(const Frame& frame);

}  // namespace lemma::logit
