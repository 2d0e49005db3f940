// lemma/kernel/kernel_ridge/parts.hpp: what fitting and certifying share. Inner header: use lemma/kernel/kernel_ridge.hpp.
#pragma once
#include <lemma/kernel/kernel_ridge.hpp>

namespace lemma::kernel_ridge {

/// The response about its mean, when there is an intercept to take that up: fewer digits cancel.
struct Centred {
  Vector y;
  double mean;
};
Centred centred(const KernelRidge& spec, const KernelRows& data);

/// Of one λ.
struct Solution {
  Vector alpha;
  double intercept;
  Vector diagonal;  // of B; empty when it was not asked for
};
/// By a Cholesky factorisation. Error when K + λW⁻¹ is not positive definite, saying by how much.
Solution solve_one(const KernelRidge& spec, const BoundKernel& kernel, const KernelRows& data, double lambda,
                   bool leave_out, const Execution& execution);
/// By an eigendecomposition, all λ.
std::vector<Solution> solve_path(const KernelRidge& spec, const BoundKernel& kernel, const KernelRows& data,
                                 const Vector& lambdas, const Execution& execution);

struct Numbers {
  double rss = 0, objective = 0;
  double effective_df = KernelRidgeModel::kNone, loocv_mse = KernelRidgeModel::kNone;
};
Numbers numbers_of(const KernelRows& data, const Solution& solution, double lambda);

bool leaves_out(const KernelRidge& spec, Index rows);
/// The place of the least leave-one-out error; of the largest λ when there is none.
Index choose(const Vector& loocv_mse, const Vector& lambdas);

/// The duality gap of the λ that predicts.
Certificate certificate_of(const KernelRidgeModel& model, const BoundKernel& kernel, const KernelRows& data,
                           const Execution& execution);

}  // namespace lemma::kernel_ridge
