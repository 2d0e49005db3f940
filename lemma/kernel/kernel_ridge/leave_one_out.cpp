// lemma/kernel/kernel_ridge/leave_one_out.cpp: what is predicted of each row from all others: y − αᵢ / Bᵢᵢ.
#include <lemma/kernel/kernel_ridge/parts.hpp>

namespace lemma {

std::optional<Vector> leave_one_out(const KernelRidge& typed, const KernelRidgeModel& model, const Rows& rows,
                                    const Execution& execution) {
  const bool fixed = to_value(typed).at("kernel") == to_value(model.spec).at("kernel");
  if (!fixed || typed.lambda.size() != 1 || rows.has_weights || rows.count() > 4 * KernelRidgeModel::kMostLeftOut)
    return {};  // what is chosen by looking at the rows changes with them
  const KernelRows data = kernel_rows(KernelRidge::name, model.spec.kernel, rows, execution);
  if (data.count() != rows.count()) return {};
  const BoundKernel kernel(model.spec.kernel, data.points);
  const auto solution = kernel_ridge::solve_one(model.spec, kernel, data, typed.lambda[0], true, execution);
  const Vector out = data.y - solution.alpha.cwiseQuotient(solution.diagonal);
  if (!out.allFinite()) return {};
  return out;
}

}  // namespace lemma
