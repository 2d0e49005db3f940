// lemma/linear/logistic/certify.cpp: the model held against the rows, seen anew.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace {

using namespace logit;

constexpr double kSameBends = 2e-3;  // models of earlier versions hold the Hessian of the last look but one

Vector stored_at(const LogisticModel& model, Index k) {
  Vector out(model.width() + 1);
  out << model.intercept.of(k), model.coefficients.of.row(k).transpose();
  return out;
}

void compare_curvature(Comparison& same, const LogisticModel& model, const Matrix& expected) {
  if (model.curvature.size() == 0) return;
  const Vector size = expected.diagonal().cwiseMax(0).cwiseSqrt();
  for (Index i = 0; i < expected.rows(); ++i)
    for (Index j = 0; j < expected.cols(); ++j)
      same.number("curvature", model.curvature(i, j), expected(i, j), size(i) * size(j) + 1e-300, kSameBends);
}

}  // namespace

Certificate certify(const LogisticModel& model, const Rows& rows, const Execution& execution) {
  if (model.past.size() > 0) return certify_updated(model, rows, execution);
  const Frame frame = learn_frame(model.spec, rows, execution.part(0, 0.2));
  const auto loss = loss_of(rows, frame, execution);
  const Null null = null_model(*loss, rows.has_offset);
  Certificate out;
  Comparison same;
  std::vector<double> objectives, deviances;
  for (Index k = 0; k < model.lambda.size(); ++k) {
    const PenaltyTerm penalty(model.spec, (*model.spec.lambda)[static_cast<std::size_t>(k)]);
    Solution at;
    at.beta = frame.inner(stored_at(model, k));
    at.stopped = Stop::looked_again;
    if (penalty.lambda() > 0) at.gap = duality_gap(*loss, penalty, at.beta, loss->split(at.beta));
    else look_for_minimum(at, Route::triangle, *loss, rows, execution);
    at.objective = at.gap.objective;
    objectives.push_back(at.objective);
    deviances.push_back(2 * (at.objective - penalty.value(frame, at.beta) - frame.saturated));
    const Certificate one = certificate_of(at, penalty, tolerance_of(model.spec));
    if (k == 0 || !(one.value <= out.value)) out = one;
  }
  if (!out.holds()) return out;

  const double null_deviance = 2 * (null.loss - frame.saturated);
  for (const int k : {0, 1}) same.number("class_factors", model.class_factors(k), frame.class_factor[k], 1);
  same.number("null_deviance", model.null_deviance, null_deviance, null.loss);
  for (Index k = 0; k < model.lambda.size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const auto coefficients = model.coefficients.of.row(k).array();
    same.number("lambda", model.lambda.of(k), (*model.spec.lambda)[at], (*model.spec.lambda)[at]);
    same.number("objective", model.objective.of(k), objectives[at], objectives[at]);
    same.number("df", model.df.of(k), static_cast<double>((coefficients != 0).count()), 0);
    same.number("deviance_ratio", model.deviance_ratio.of(k),
                null_deviance > 0 ? 1 - deviances[at] / null_deviance : 0.0, 1);
    for (Index j = 0; j < model.width(); ++j)
      if (frame.inverse_scale(j) == 0) same.number("coefficients", model.coefficients.of(k, j), 0, 0);
  }
  if (!same.finding() && model.curvature.size() > 0) {
    const PenaltyTerm penalty(model.spec, model.spec.lambda->back());
    Vector gradient;
    Matrix hessian;
    loss->value(frame.inner(stored_at(model, model.chosen())), gradient, hessian);
    compare_curvature(same, model, users_curvature(frame, penalty, hessian));
  }
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
