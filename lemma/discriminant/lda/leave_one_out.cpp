// lemma/discriminant/lda/leave_one_out.cpp: the posteriors of each row by the model without it.
//
// Without row x of class c the mean of the class is m_c − d / (n_c − 1), d = x − m_c, and the scatter within W − a d dᵀ with
// a = n_c / (n_c − 1): one rank, so W′⁻¹ follows from W⁻¹.
#include <cmath>
#include <lemma/discriminant/lda.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma {

std::optional<Matrix> leave_one_out(const LdaModel& model, const Rows& rows, const Execution& execution) {
  const auto* listed = std::get_if<std::vector<double>>(&model.spec.prior);
  const bool by_rows = !listed && std::get<Prior>(model.spec.prior) == Prior::proportions;
  if (rows.has_weights || !model.spec.shrinkage || *model.spec.shrinkage != 0 || (model.counts.array() < 2).any())
    return {};
  const double n = model.counts.sum(), divisor = model.divisor();
  const auto r = cholesky(Matrix(model.covariance * divisor));
  if (!r || divisor <= 1) return {};
  const Index classes = model.class_count();
  Matrix out(rows.count(), classes);
  for_each_block(rows, execution, [&](const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const Index c = block.label[static_cast<std::size_t>(i)];
      const double size = model.counts(c), a = size / (size - 1);
      Matrix from_means = (block.x.row(i).replicate(classes, 1) - model.means).transpose();
      from_means.col(c) *= a;  // the mean of its class moves away from it
      const Matrix u = solve_upper_transposed(*r, from_means);
      const Vector v = u.col(c) / a;
      Vector delta(classes);
      for (Index k = 0; k < classes; ++k) {
        const double along = u.col(k).dot(v);
        const double distance = u.col(k).squaredNorm() + a * along * along / (1 - a * v.squaredNorm());
        const double prior = by_rows ? (model.counts(k) - (k == c ? 1 : 0)) / (n - 1) : model.prior(k);
        delta(k) = std::log(prior) - 0.5 * (divisor - 1) * distance;
      }
      const Vector p = (delta.array() - delta.maxCoeff()).exp();
      out.row(block.first + i) = (p / p.sum()).transpose();
    }
  });
  if (!out.allFinite()) return {};
  return out;
}

}  // namespace lemma
