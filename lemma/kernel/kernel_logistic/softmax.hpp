// lemma/kernel/kernel_logistic/softmax.hpp: all classes together. Inner header: use lemma/kernel/kernel_logistic.hpp.
#pragma once
#include <lemma/kernel/kernel_logistic/parts.hpp>

namespace lemma::kernel_logistic {

/// A function for each class, η = F + 1bᵀ with a column for each:  J = Σ w (log Σₖ e^ηₖ − η of the class) + ½ λ Σₖ ‖fₖ‖².
struct SoftmaxProblem {
  const KernelRows& data;
  Index classes;
  double lambda;
  bool intercept;
};

/// Σ w (log Σₖ e^ηₖ − η of the class); the probabilities p, and w (p − y).
struct SoftmaxLoss {
  double value = 0;
  Matrix p, residual;
};
SoftmaxLoss loss_at(const SoftmaxProblem& problem, const Matrix& eta);

/// The b with the least loss for F at the rows: Σ w (p − y) = 0, Σ b = 0. All 0 when none is fitted.
Vector best_intercepts(const SoftmaxProblem& problem, const Matrix& f);

struct SoftmaxStanding {
  double loss = 0, objective = 0;
  Vector squared_norm;  // of each function
  double gap = 0;       // relative to the objective
};
/// `of_kernel`: V ↦ K V. F is K α.
SoftmaxStanding standing_of(const SoftmaxProblem& problem, const Matrix& alpha, const Matrix& f,
                            const Vector& intercept, const std::function<Matrix(const Matrix&)>& of_kernel);

struct SoftmaxSolution {
  Matrix alpha;  // a column for each class
  Vector intercept;
  SoftmaxStanding standing;
  long long iterations = 0;
  Stop stopped = Stop::not_yet;
};
SoftmaxSolution newton(const KernelLogistic& spec, const SoftmaxProblem& problem, const Matrix& gram,
                       const Execution& execution);

}  // namespace lemma::kernel_logistic
