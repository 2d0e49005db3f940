// lemma/linear/ols/update.cpp: a model after new rows, without the old ones.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/linear/ols/parts.hpp>
#include <lemma/linear/shared/past_rows.hpp>
#include <numbers>

namespace lemma {
namespace {

/// Σ weight · log precision of the rows, which their likelihood tells.
double log_precision_of(const OlsModel& model, double n) {
  return 2 * model.log_likelihood + n * (std::log(2 * std::numbers::pi) + 1 - std::log(n) + std::log(model.rss));
}

void require_kept(const OlsModel& model) {
  if (model.errors() != StandardErrors::classical)
    throw Error(
        fmt::format("ols: errors {} need the residuals of all rows, and those before are not kept; fit it to all rows",
                    name_of(model.errors())));
  if (static_cast<Index>(model.kept.size()) < model.width())
    throw Error(
        "ols: a column of the model is aliased, and what it is a combination of is not kept; fit it to all rows");
}

}  // namespace

/// The rows before by what least squares see of them: about the mean of (x, y) the triangle [R  R b; 0  √rss], n rows, all of
/// precision mass / n.
OlsModel updated(const OlsModel& model, const Rows& rows, const FitOptions& options) {
  require_width(model, rows.width());
  require_kept(model);
  const Index k = model.triangle.rows();
  const double n = model.df_residual + static_cast<double>(model.rank);
  const Vector b = model.slopes();
  Matrix root = Matrix::Zero(k + 1, k + 1);
  root.topLeftCorner(k, k) = model.triangle;
  root.col(k).head(k) = model.triangle * b;
  root(k, k) = std::sqrt(model.rss);
  Vector mean(k + 1);
  mean << model.mean + model.mean_rest, model.intercept + model.mean.dot(b) + model.mean_rest.dot(b);
  const PastRows past(n, model.mass, mean, root, rows);
  OlsModel out = fit(Valid<Ols>(model.spec), StackedRows({&past.rows(), &rows}), options);
  out.residual_quantiles.resize(0);
  out.updates = model.updates + 1;
  if (model.has_precision) {  // of the rows before the precisions were not all alike
    const double more = 0.5 * (log_precision_of(model, n) - n * std::log(model.mass / n));
    out.log_likelihood = or_none(out.log_likelihood + more);
    out.aic = or_none(out.aic - 2 * more);
    out.bic = or_none(out.bic - 2 * more);
  }
  out.certificate.message += " The rows before the update are in it by their triangle.";
  return out;
}

}  // namespace lemma
