// lemma/linear/shared/likelihood_gap.hpp: how far a likelihood of classes is from its maximum, without a penalty. Inner header.
#pragma once
#include <lemma/linear/logistic/loss.hpp>
#include <optional>

/// With p_k = e^η_k / Σ e^η, η_k = x̃·b_k of a row, and y_k the share of class k in it, the loss is
///
///     J(B) = Σ w (log Σ_k e^η_k − Σ_k y_k η_k).
///
/// A direction D gives f_k = x̃·d_k, u_k = f_k − Σ p f and q_k = p_k (1 + u_k). Where no q is negative and
///
///     Σ w x̃ (y_k − q_k) = 0       for each class k,
///
/// q is a point of the dual, and no coefficients have a loss below J − Σ w KL(q ‖ p). The sums are 0 when D is Newton's step,
/// the least squares of u on y_k / p_k − 1 with weights w p_k: from a Hessian, or by the orthogonal triangle of these
/// squares, which `step_by_triangle` takes for a second opinion.
namespace lemma::likelihood {

/// Rows and coefficients: a row of `b` for each class, whose first is 0, in the coordinates of the frame.
struct Point {
  const Rows& rows;
  const logit::Frame& frame;
  Matrix b;

  Index classes() const { return b.rows(); }
  Index terms() const { return b.cols(); }
};

/// Newton's step, and what it was made of: Hessian and gradient of the loss, of the classes but the first.
struct Step {
  Matrix d;  // like b
  Matrix curvature;
  Vector gradient;
  bool dependent = false;  // columns are linear combinations of each other
};
/// By Householder's triangle: no product of two columns is ever added up. Where columns depend on each other, as the fit
/// means it, those that others nearly determine take no step.
Step step_by_triangle(const Point& at, const Execution& execution);

/// What q proves. One pass.
struct Gap {
  double objective = 0;  // J
  double gap = 0;        // Σ w KL(q ‖ p)
  double least = 1;      // of q / p: below 0 there is no dual point
  double apart = 0;      // the largest of the sums that should be 0, in units of their terms

  /// `dependent`: a column that others nearly determine may be left with the little that is its own.
  bool proved(bool dependent) const;
};
Gap gap_by(const Matrix& d, const Point& at, const Execution& execution);

/// A step and what it proves. The Hessian of nearly dependent columns has few digits: where the step made of it proves little,
/// or none is given, the triangle's is taken, so that a fit claims no less than a second look at it.
struct Proof {
  Step step;
  Gap gap;
  bool holds() const { return gap.proved(step.dependent); }
};
Proof prove(std::optional<Step> by_hessian, const Point& at, const Execution& execution);

}  // namespace lemma::likelihood
