// lemma/linear/logistic/newton.cpp: Newton's method where the Hessian fits in memory.
#include <algorithm>
#include <lemma/linear/shared/newton.hpp>

namespace lemma::logit {
namespace {

constexpr double kNoLoss = 1e-9;  // share of the null model's loss: what is left is separated

class OfTwoClasses final : public NewtonProblem {
 public:
  OfTwoClasses(const Loss& loss, const PenaltyTerm& penalty) : loss_(loss), penalty_(penalty) {}
  double look(const Vector& at, Vector& gradient, Matrix& hessian) const override {
    return loss_.value(at, gradient, hessian) + penalty_.value(loss_.frame(), at);
  }
  Gap look_at_gap(const Vector& at, Vector& gradient) const override {
    const DualParts parts = loss_.split(at);
    gradient = parts.gradient();
    return duality_gap(loss_, penalty_, at, parts);
  }
  bool is_nothing(double objective) const override {
    return objective - loss_.frame().saturated <= kNoLoss * loss_.frame().mass;
  }

 private:
  const Loss& loss_;
  const PenaltyTerm& penalty_;
};

}  // namespace

Solution newton(const Loss& loss, const PenaltyTerm& penalty, Vector start, const SolveOptions& options,
                bool always_coordinates) {
  return newton(OfTwoClasses(loss, penalty), penalty, factors_of(loss.frame()), std::move(start), options,
                always_coordinates);
}

Decrement newton_decrement(const Loss& loss, const PenaltyTerm& penalty, const Vector& beta) {
  Decrement out;
  out.objective = loss.value(beta, out.gradient, out.hessian) + penalty.value(loss.frame(), beta);
  const Vector factor = factors_of(loss.frame());
  const QuadraticModel model{penalty, factor, beta, out.gradient, out.hessian};
  const Vector to = penalty.smooth() ? minimum_by_cholesky(model, out.dependent) : minimum_by_coordinates(model);
  out.relative = std::max(0.0, model.decrease(to)) / std::max(out.objective, 1e-300);
  out.step = to - beta;
  return out;
}

}  // namespace lemma::logit
