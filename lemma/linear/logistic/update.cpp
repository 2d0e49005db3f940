// lemma/linear/logistic/update.cpp: a model after new rows, without the old ones.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/linear/shared/share_explained.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace logit {

double PastLoss::known(const Vector& beta) const {
  const Vector d = beta - centre_;
  return 0.5 * d.dot(hessian_ * d);
}

double PastLoss::value(const Vector& beta) const { return loss_.value(beta) + known(beta); }

double PastLoss::value(const Vector& beta, Vector& gradient) const {
  const double loss = loss_.value(beta, gradient);
  gradient += hessian_ * (beta - centre_);
  return loss + known(beta);
}

double PastLoss::value(const Vector& beta, Vector& gradient, Matrix& hessian) const {
  const double loss = loss_.value(beta, gradient, hessian);
  gradient += hessian_ * (beta - centre_);
  hessian += hessian_;
  return loss + known(beta);
}

DualParts PastLoss::split(const Vector&) const { throw Error("logistic: an updated model has no duality gap"); }
double PastLoss::mismatch(const Vector&, double, double) const {
  throw Error("logistic: an updated model has no duality gap");
}

namespace {

/// The numbers of an updated model that follow from its coefficients and the new rows.
void describe(LogisticModel& model, const Loss& rows_alone, const PastLoss& loss, const Vector& beta, bool offset) {
  const Frame& frame = loss.frame();
  const double objective = loss.value(beta), deviance = 2 * (objective - loss.known(beta) - frame.saturated);
  model.null_deviance = std::max(0.0, 2 * (null_model(rows_alone, offset).loss - frame.saturated));
  model.objective.of = Vector::Constant(1, objective);
  model.df.of = Vector::Constant(1, static_cast<double>((beta.tail(frame.width()).array() != 0).count()));
  model.deviance_ratio.of =
      Vector::Constant(1, model.null_deviance > 0 ? share_explained(deviance, model.null_deviance) : 0.0);
}

Certificate certificate_at(const PastLoss& loss, const Vector& beta, double tolerance, long long iterations,
                           Stop stopped, Matrix& hessian) {
  const PenaltyTerm penalty(Logistic{}, 0);
  Decrement found = newton_decrement(loss, penalty, beta);
  hessian = std::move(found.hessian);
  Solution at;
  at.decrement = found.relative;
  at.iterations = iterations;
  at.stopped = stopped;
  Certificate out = certificate_of_decrement(at, tolerance);
  out.message += " The rows before the update are in it by their quadratic approximation.";
  return out;
}

}  // namespace

Certificate certify_updated(const LogisticModel& model, const Rows& rows, const Execution& execution) {
  const auto inner = loss_of(rows, update_frame(model, rows, execution.part(0, 0.3)), execution.part(0.3, 1));
  const PastLoss loss(*inner, model.past, model.past_curvature);
  Vector beta(model.width() + 1);
  beta << model.intercept.of(0), model.coefficients.of.row(0).transpose();
  Matrix hessian;
  Certificate out = certificate_at(loss, beta, model.spec.tolerance, 0, Stop::looked_again, hessian);
  if (!out.holds()) return out;
  LogisticModel expected = model;
  describe(expected, *inner, loss, beta, rows.has_offset);
  Comparison same;
  same.relative("objective", model.objective.of(0), expected.objective.of(0));
  same.number("null_deviance", model.null_deviance, expected.null_deviance, expected.objective.of(0));
  same.number("df", model.df.of(0), expected.df.of(0), 0);
  same.number("deviance_ratio", model.deviance_ratio.of(0), expected.deviance_ratio.of(0), 1);
  const Vector size = hessian.diagonal().cwiseMax(0).cwiseSqrt();
  for (Index i = 0; i < hessian.rows(); ++i)
    for (Index j = 0; j < hessian.cols(); ++j)
      if (model.spec.intercept || (i > 0 && j > 0))
        same.number("curvature", model.curvature(i, j), hessian(i, j), size(i) * size(j) + 1e-300, 1e-6);
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace logit

LogisticModel updated(const LogisticModel& model, const Rows& rows, const FitOptions& options) {
  using namespace logit;
  require_width(model, rows.width());
  if (model.curvature.size() == 0)
    throw Error(
        "logistic: this model does not keep what an update needs, which only fits by newton with an l2 penalty and at "
        "most 200 columns do; fit it to all rows");
  const Execution execution = options.execution();
  LogisticModel out = model;
  const Index last = model.chosen();
  out.past.resize(model.width() + 1);
  out.past << model.intercept.of(last), model.coefficients.of.row(last).transpose();
  out.past_curvature = model.curvature;
  out.lambda.of = Vector::Constant(1, model.lambda.of(last));
  out.spec.lambda = std::vector<double>{model.lambda.of(last)};

  const auto inner = loss_of(rows, update_frame(model, rows, execution.part(0, 0.2)), execution.part(0.2, 1));
  const PastLoss loss(*inner, out.past, out.past_curvature);
  const SolveOptions how{model.spec.tolerance, model.spec.max_iterations, execution.part(0.2, 0.9), options.seed};
  const Solution found = newton(loss, PenaltyTerm(Logistic{}, 0), out.past, how);
  out.coefficients.of = found.beta.tail(model.width()).transpose();
  out.intercept.of = Vector::Constant(1, model.spec.intercept ? found.beta(0) : 0.0);
  out.trace = Eigen::Map<const Vector>(found.trace.data(), static_cast<Index>(found.trace.size()));
  describe(out, *inner, loss, found.beta, rows.has_offset);
  out.warnings.clear();
  out.certificate =
      certificate_at(loss, found.beta, model.spec.tolerance, found.iterations, found.stopped, out.curvature);
  if (!model.spec.intercept) {
    out.curvature.row(0).setZero();
    out.curvature.col(0).setZero();
  }
  return out;
}

}  // namespace lemma
