// lemma/linear/logistic/separation.cpp: without a penalty, is there a minimum at all?
#include <algorithm>
#include <lemma/linear/logistic/parts.hpp>

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

}  // namespace

void look_for_separation(Solution& at, const Loss& loss, const PenaltyTerm& penalty, const Rows& rows,
                         const Execution& execution) {
  const separation::Problem problem = problem_of(loss.frame(), rows);
  const bool small = loss.frame().width() <= kMostForHessian;
  at.overlap = {};
  if (small) {
    Decrement found = newton_decrement(loss, penalty, at.beta);
    at.decrement = found.relative;
    at.objective = found.objective;
    if (separation::overlap_is_proved(found.hessian, found.gradient, separation::longest_row(problem, execution)))
      at.overlap.verdict = separation::Verdict::overlap;
    at.hessian = std::move(found.hessian);
  }
  if (at.overlap.verdict != separation::Verdict::overlap) {
    Matrix candidate = Matrix::Zero(2, loss.size());
    candidate.row(1) = at.beta.transpose();
    at.overlap = separation::decide(problem, {candidate}, execution);
  }
  if (at.overlap.verdict == separation::Verdict::overlap) return;
  at.stopped = at.overlap.separated() ? "separated" : "overlap not decided";
  at.decrement = std::max(at.decrement, 1.0);
}

}  // namespace lemma::logit
