// lemma/linear/logistic/separation.cpp: without a penalty, is there a minimum at all, and how far is it?
#include <algorithm>
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/linear/shared/likelihood_gap.hpp>

namespace lemma::logit {
namespace {

constexpr Index kMostForHessian = 1500;  // columns

/// A class is a side; a proportion strictly between 0 and 1 lets its linear predictor go nowhere.
separation::Problem problem_of(const Frame& frame, const Rows& rows) {
  const auto side = [&frame](const Block& block, Index i) {
    const auto k = static_cast<std::size_t>(i);
    const double y = frame.of_classes ? block.label[k] : block.y[k];
    const double weight = block.weight_of(i) * (frame.of_classes ? frame.class_factor[block.label[k]] : 1.0);
    if (!(weight > 0)) return separation::kNoPart;
    return y == 0 ? 0 : y == 1 ? 1 : separation::kStays;
  };
  return {rows, frame.mean, frame.inverse_scale, frame.intercept, 2, side};
}

/// A row of coefficients as those of two classes, the first 0.
Matrix of_two(const Vector& beta) {
  Matrix out = Matrix::Zero(2, beta.size());
  out.row(1) = beta.transpose();
  return out;
}

std::optional<likelihood::Step> step_at(Route route, const Loss& loss, const Vector& beta) {
  if (route == Route::triangle) return {};
  Decrement found = newton_decrement(loss, PenaltyTerm(Logistic{}, 0), beta);
  return likelihood::Step{of_two(found.step), std::move(found.hessian), std::move(found.gradient), found.dependent};
}

}  // namespace

void look_for_minimum(Solution& at, Route route, const Loss& loss, const Rows& rows, const Execution& execution) {
  const Frame& frame = loss.frame();
  const separation::Problem problem = problem_of(frame, rows);
  at.overlap = {};
  at.dual_point = false;
  if (frame.width() <= kMostForHessian) {
    const likelihood::Point point{rows, frame, of_two(at.beta)};
    likelihood::Proof proof = prove(step_at(route, loss, at.beta), point, execution);
    at.gap = {proof.gap.objective, proof.gap.gap};
    at.dual_point = proof.holds();
    likelihood::Step& step = proof.step;
    if (separation::overlap_is_proved(step.curvature, step.gradient, separation::longest_row(problem, execution)))
      at.overlap.verdict = separation::Verdict::overlap;
    at.hessian = std::move(step.curvature);
  }
  if (at.overlap.verdict != separation::Verdict::overlap)
    at.overlap = separation::decide(problem, {of_two(at.beta)}, execution);
  if (at.overlap.verdict == separation::Verdict::overlap) return;
  at.stopped = at.overlap.separated() ? Stop::separated : Stop::overlap_unknown;
  at.dual_point = false;
}

}  // namespace lemma::logit
