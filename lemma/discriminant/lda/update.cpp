// lemma/discriminant/lda/update.cpp: a model after new rows, without the old ones.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/discriminant/lda/parts.hpp>
#include <lemma/discriminant/shared/past_classes.hpp>
#include <lemma/math/rows_like.hpp>

namespace lemma {
namespace {

/// The scatter within the classes before shrinkage. Where nothing was left of the correlations, none are needed.
Matrix within_scatter(const LdaModel& model) {
  const double kept = 1 - model.spec.shrinkage.value_or(0);
  Matrix out = kept > 0 ? Matrix(model.covariance / kept) : Matrix::Zero(model.width(), model.width());
  out.diagonal() = model.covariance.diagonal();
  return out * model.divisor();
}

}  // namespace

/// Each class is given rows of the shape of all, m_k ± √(r / n) a for the r rows a of a root of the scatter within: together
/// they have that scatter.
LdaModel updated(const LdaModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width() && static_cast<Index>(rows.classes.size()) == model.class_count(),
          "lda: the rows do not have the columns and classes of the model");
  const Matrix root = root_of_scatter(within_scatter(model));
  const double n = model.counts.sum();
  const PastClasses past(rows, model.counts, model.means,
                         [&](Index k) { return Matrix(std::sqrt(model.counts(k) / n) * root); });
  LdaModel out = fit(Valid<Lda>(model.spec), StackedRows({&past.rows(), &rows}), options);
  out.certificate.message += " The rows before the update are in it by their means and pooled covariance.";
  return out;
}

}  // namespace lemma
