// lemma/linear/ridge/update.cpp: a model after new rows, without the old ones.
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/linear/ridge/parts.hpp>
#include <lemma/linear/shared/past_rows.hpp>

namespace lemma {

RidgeModel updated(const RidgeModel& model, const Rows& rows, const FitOptions& options) {
  require_width(model, rows.width());
  if (model.spec.choose == RidgeChoice::loo && model.lambda.size() > 1)
    throw Error("ridge: choose loo leaves each row out, and those before are not kept; fit it to all rows");
  if (model.seen_triangle.size() == 0)
    throw Error(
        fmt::format("ridge: this model does not keep what an update needs, which it does up to {} columns; fit it "
                    "to all rows",
                    RidgeModel::kMostKept));
  const PastRows past(model.seen_weight, model.seen_mass, model.seen_mean, model.seen_triangle, rows);
  RidgeModel out = fit(Valid<Ridge>(model.spec), StackedRows({&past.rows(), &rows}), options);
  out.loo_mse.of.setConstant(RidgeModel::kNone);
  out.updates = model.updates + 1;
  out.certificate.message += " The rows before the update are in it by their triangle.";
  return out;
}

}  // namespace lemma
