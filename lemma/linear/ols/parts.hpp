// lemma/linear/ols/parts.hpp: what fitting and certifying share. Inner header: use lemma/linear/ols.hpp.
#pragma once
#include <lemma/linear/ols.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>
#include <lemma/linear/shared/or_none.hpp>
#include <lemma/math/residuals.hpp>

namespace lemma::ols {

/// Σ w (fitted − mean)²: as a difference where that keeps its digits, else as ‖R b‖².
double explained_by(const LinearSolution& solution);

/// Least, quartiles (R's type 7) and largest of the residuals √precision · r; a row of weight k counts k times. Empty
/// beyond kMostResiduals rows.
Vector residual_quantiles(const OlsModel& model, const Rows& rows, const Execution& execution);

/// What the scores of the rows scatter by, for errors that are not classical, with the triangle of `model`.
ScoreScatter scatter_of(const OlsModel& model, const Rows& rows, const Execution& execution);
/// F for all slopes at once from a robust covariance.
double wald_f(const OlsModel& model);

Certificate certificate_of(const Excess& excess, long long refinements);

}  // namespace lemma::ols
