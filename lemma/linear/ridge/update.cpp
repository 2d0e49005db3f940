// lemma/linear/ridge/update.cpp: a model after new rows, without the old ones.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/linear/ridge/parts.hpp>
#include <lemma/math/rows_like.hpp>

namespace lemma {

RidgeModel updated(const RidgeModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(),
          fmt::format("ridge: the model has {} columns and the rows have {}", model.width(), rows.width()));
  if (model.spec.choose == RidgeChoice::loo && model.lambda.size() > 1)
    throw Error("ridge: choose loo leaves each row out, and those before are not kept; fit it to all rows");
  if (model.seen_triangle.size() == 0)
    throw Error(
        fmt::format("ridge: this model does not keep what an update needs, which it does up to {} columns; fit it "
                    "to all rows",
                    RidgeModel::kMostKept));
  const Index p = model.width();
  const double n = model.seen_weight;
  const Matrix root = model.seen_triangle * std::sqrt(n / model.seen_mass);
  const WeightedRows past = rows_like(n, model.seen_mean, root);
  const Matrix x = past.x.leftCols(p);
  const Vector y = past.x.col(p);
  const std::vector<double> precision(past.weight.size(), model.seen_mass / n);
  MemoryRows before(x);
  before.response({y.data(), static_cast<std::size_t>(y.size())}).weights(past.weight);
  if (model.seen_mass != n) before.precision(precision);
  before.features = rows.features;
  before.target = rows.target;
  RidgeModel out = fit(Valid<Ridge>(model.spec), StackedRows({&before, &rows}), options);
  out.loo_mse.of.setConstant(RidgeModel::kNone);
  out.updates = model.updates + 1;
  out.certificate.message += " The rows before the update are in it by their triangle.";
  return out;
}

}  // namespace lemma
