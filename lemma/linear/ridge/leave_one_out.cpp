// lemma/linear/ridge/leave_one_out.cpp: what is predicted of each row from all others: y − r / (1 − h), with h the diagonal of
// the hat matrix.
#include <lemma/linear/ridge.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma {

std::optional<Vector> leave_one_out(const RidgeModel& model, const Rows& rows, const Execution& execution) {
  const Ridge& spec = model.spec;
  if (spec.standardize || spec.lambda.size() != 1 || !(spec.lambda[0] > 0) || !spec.penalty_factors.empty() ||
      spec.penalty.size() > 0 || rows.has_weights || rows.has_precision)
    return {};  // standard deviations, and a λ that was chosen, change with the rows
  Matrix x = gather(rows, execution);
  const Index n = x.rows();
  if (spec.intercept) x.rowwise() -= x.colwise().mean().eval();
  Matrix a = x.transpose() * x;
  a.diagonal().array() += spec.lambda[0];
  const auto r = cholesky(a);
  if (!r) return {};
  const Matrix half = solve_upper_transposed(*r, x.transpose());
  Vector out(n);
  for_each_block(rows, execution, [&](const Block& block) {
    const Vector fitted = model.predict(block.x);
    for (Index i = 0; i < block.rows(); ++i) {
      const double h = half.col(block.first + i).squaredNorm() + (spec.intercept ? 1 / static_cast<double>(n) : 0);
      const double y = block.y[static_cast<std::size_t>(i)], residual = y - block.offset_of(i) - fitted(i);
      out(block.first + i) = y - residual / (1 - h);
    }
  });
  if (!out.allFinite()) return {};
  return out;
}

}  // namespace lemma
