// lemma/linear/multinomial/certify.cpp: the model held against the rows, seen anew.
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/multinomial/parts.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/held_out.hpp>
#include <limits>

namespace lemma {
namespace {

void compare(Comparison& same, std::string_view field, const Matrix& stored, const Matrix& expected, double tolerance) {
  same.number(field, static_cast<double>(stored.size()), static_cast<double>(expected.size()), 0, kAgree,
              "the length of ");
  if (same.finding()) return;
  for (Index i = 0; i < stored.rows(); ++i)
    for (Index j = 0; j < stored.cols(); ++j)
      same.entry(field, i * stored.cols() + j, stored(i, j), expected(i, j), std::abs(expected(i, j)) + 1e-300,
                 tolerance);
}

/// Of H in units in which its diagonal is 1.
double condition_of(const Matrix& hessian) {
  const Vector unit = hessian.diagonal().unaryExpr([](double h) { return h > 0 ? 1 / std::sqrt(h) : 0.0; });
  const Vector values = symmetric_eigen(Matrix(unit.asDiagonal() * hessian * unit.asDiagonal())).values;
  double least = values(0);
  for (const double each : values)
    if (each > 0) least = std::min(least, each);
  return values(0) / least;
}

}  // namespace

Certificate certify(const MultinomialModel& model, const Rows& rows, const Execution& execution) {
  using namespace softmax;
  const Loss loss(rows, learn_classes(model.spec, rows, execution.part(0, 0.2)), execution.part(0.2, 1));
  const PenaltyTerm penalty = penalty_of(model.spec);
  Solution at;
  at.b = from_users(model, loss.frame());
  at.stopped = Stop::looked_again;
  if (penalty.lambda() > 0) at.gap = duality_gap(loss, penalty, at.b, loss.split(at.b));
  else look_for_minimum(at, logit::Route::triangle, loss, execution);
  at.objective = at.gap.objective;
  Certificate out = softmax::certificate_of(at, penalty, model.spec.tolerance);
  if (!out.holds()) return out;

  Comparison same;
  compare(same, "counts", model.counts, loss.classes().counts, kAgree);
  same.relative("objective", model.objective, at.objective);
  const double deviance = 2 * (at.objective - penalty_value(penalty, loss.frame(), at.b));
  same.number("deviance", model.deviance, deviance, 2 * at.objective);
  same.relative("null_deviance", model.null_deviance, null_deviance(model));
  same.number("df", model.df, parameters_of(model, loss.frame()), 0);
  same.number("aic", model.aic, model.deviance + 2 * model.df, 2 * at.objective + 2 * model.df);
  for (Index j = 0; j < model.width(); ++j)
    if (loss.frame().inverse_scale(j) == 0)
      for (Index k = 0; k < model.coefficients.rows(); ++k) same.number("coefficients", model.coefficients(k, j), 0, 0);
  if (penalty.lambda() > 0 && model.spec.intercept)
    same.number("intercept", model.intercept.sum(), 0, model.intercept.cwiseAbs().maxCoeff());
  if (penalty.lambda() == 0 && !same.finding()) {
    MultinomialModel expected = model;
    judge(expected, loss.frame(), at.dependent ? Matrix() : at.hessian);
    // The Hessian of the fit is that of its last look, and its rounding counts as often as its condition says.
    const double loose = 1e-5 + 100 * std::numeric_limits<double>::epsilon() * condition_of(at.hessian);
    compare(same, "std_errors", model.std_errors, expected.std_errors, loose);
    compare(same, "z", model.z, expected.z, loose);
    compare(same, "p", model.p, expected.p, 1e-3);
    compare(same, "intercept_std_errors", model.intercept_std_errors, expected.intercept_std_errors, loose);
    compare(same, "intercept_z", model.intercept_z, expected.intercept_z, loose);
    compare(same, "intercept_p", model.intercept_p, expected.intercept_p, 1e-3);
  }
  compare_choice(same, model, rows, execution);
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
