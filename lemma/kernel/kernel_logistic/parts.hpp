// lemma/kernel/kernel_logistic/parts.hpp: what the solvers and the certificate share. Inner header: use
// lemma/kernel/kernel_logistic.hpp.
#pragma once
#include <functional>
#include <lemma/kernel/kernel_logistic.hpp>
#include <lemma/optimize/stop.hpp>

namespace lemma::kernel_logistic {

/// One class against all others.
struct Problem {
  const KernelRows& data;
  Vector y;  // 1 or 0
  double lambda;
  bool intercept;
  bool positive;  // the kernel: there is a dual

  Problem(const KernelLogistic& spec, const KernelRows& rows, Index function, Index functions, bool is_positive);
};

/// Σ w (log(1 + e^η) − y η); residual w (p − y) and curvature w p (1 − p) of each row.
struct Loss {
  double value = 0;
  Vector residual, curvature;
};
Loss loss_at(const Problem& problem, const Vector& eta);

/// The b with the least loss for f at the rows: Σ w (p − y) = 0. 0 when none is fitted.
double best_intercept(const Problem& problem, const Vector& f);

/// Where a function stands: its objective, and how far above the least it can be.
struct Standing {
  double loss = 0, squared_norm = 0, objective = 0;
  double gap = 0;  // relative to the objective; of a kernel without a dual the residual of λα = w (y − p), beside w
};
/// `of_kernel`: v ↦ K v. f is K α.
Standing standing_of(const Problem& problem, const Vector& alpha, const Vector& f, double intercept,
                     const std::function<Vector(const Vector&)>& of_kernel);

struct Solution {
  Vector alpha;
  double intercept = 0;
  Standing standing;
  long long iterations = 0;
  Stop stopped = Stop::not_yet;
};

/// The kernel matrix, and room for a factor beside it.
class GramAndFactor {
 public:
  GramAndFactor(const BoundKernel& kernel, const Execution& execution);
  /// K v.
  Vector times(const Vector& v) const;
  /// RᵀR = λI + S K S for a diagonal S. False when that is not positive definite.
  bool factorise(const Vector& s, double lambda, const Execution& execution);
  /// (RᵀR)⁻¹ v.
  Vector solve(const Vector& v) const;

 private:
  Index n_;
  Matrix both_;  // K in the lower triangle on the left, R in the upper triangle on the right
};

Solution newton(const KernelLogistic& spec, const Problem& problem, GramAndFactor& gram, const Execution& execution);
Solution stochastic(const KernelLogistic& spec, const Problem& problem, const BoundKernel& kernel, std::uint64_t seed,
                    std::uint64_t stream, const Execution& execution);

/// The gap that a solver must reach.
double tolerance_of(const KernelLogistic& spec);
Certificate certificate_of(const KernelLogistic& spec, double worst, bool positive, long long iterations, Stop stopped);

}  // namespace lemma::kernel_logistic
