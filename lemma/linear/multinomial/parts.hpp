// lemma/linear/multinomial/parts.hpp: what fitting and certifying multinomial share. Inner header.
#pragma once
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/linear/multinomial.hpp>

namespace lemma::softmax {

using logit::Frame;
using logit::Gap;
using logit::PenaltyTerm;

struct Classes {
  Frame frame;
  Vector counts;  // weight of each class
  Index count() const { return counts.size(); }
};
Classes learn_classes(const Multinomial& spec, const Rows& rows, const Execution& execution);
PenaltyTerm penalty_of(const Multinomial& spec);

/// For the rows of each class c: Σ u (1, x̃), u = w (y − p), as K × (p + 1), and Σ w (1 / p_c − 1).
struct DualParts {
  double loss = 0;
  std::vector<Matrix> of_class;
  Vector pearson;
};

/// Σ w (log Σ e^η − η_class) at B, whose row k holds the coefficients of 1 and x̃ for class k. Every call is one pass.
class Loss {
 public:
  Loss(const Rows& rows, Classes classes, Execution execution)
      : rows_(rows), classes_(std::move(classes)), execution_(std::move(execution)) {}
  const Rows& rows() const { return rows_; }
  const Classes& classes() const { return classes_; }
  const Frame& frame() const { return classes_.frame; }
  Index terms() const { return frame().width() + 1; }
  Index size() const { return classes_.count() * terms(); }

  double value(const Matrix& b) const;
  double value(const Matrix& b, Matrix& gradient) const;
  /// The Hessian in the order of B's rows, both triangles.
  double value(const Matrix& b, Matrix& gradient, Matrix& hessian) const;
  DualParts split(const Matrix& b) const;
  /// Σ w KL(q ‖ p), q = y − t_c (y − p).
  double mismatch(const Matrix& b, const Vector& t) const;

 private:
  const Rows& rows_;
  Classes classes_;
  Execution execution_;
};

double penalty_value(const PenaltyTerm& penalty, const Frame& frame, const Matrix& b);
Gap duality_gap(const Loss& loss, const PenaltyTerm& penalty, const Matrix& b, const DualParts& parts);

struct Solution {
  Matrix b;
  Gap gap;
  double objective = 0;
  Matrix hessian;  // λ = 0: of the classes but the first
  separation::Finding overlap;
  bool dual_point = true;  // without one the gap bounds nothing
  bool dependent = false;
  long long iterations = 0;
  Stop stopped = Stop::iteration_limit;
};
Solution newton(const Loss& loss, const PenaltyTerm& penalty, Matrix start, const logit::SolveOptions& options);
Solution lbfgs(const Loss& loss, const PenaltyTerm& penalty, Matrix start, const logit::SolveOptions& options);
/// λ = 0: the duality gap at B, and whether the loss has a minimum at all, as in `logistic`.
void look_for_minimum(Solution& at, logit::Route route, const Loss& loss, const Execution& execution);

Certificate certificate_of(const Solution& at, const PenaltyTerm& penalty, double tolerance);

double null_deviance(const MultinomialModel& model);
/// Coefficients that are not 0, and the intercepts that are free.
double parameters_of(const MultinomialModel& model, const Frame& frame);
/// Standard errors from the Hessian of the classes but the first; NaN where columns depend on each other.
void judge(MultinomialModel& model, const Frame& frame, const Matrix& hessian);
/// b to the user's units, as the model states them; and back.
void to_users(MultinomialModel& model, const Frame& frame, const Matrix& b);
Matrix from_users(const MultinomialModel& model, const Frame& frame);

}  // namespace lemma::softmax
