// lemma/linear/multinomial.cpp: the fit.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/multinomial/parts.hpp>
#include <lemma/linear/shared/likelihood_gap.hpp>
#include <lemma/linear/shared/newton.hpp>
#include <lemma/model/held_out.hpp>
#include <lemma/optimize/minimise.hpp>

namespace lemma {
namespace softmax {
namespace {

using logit::QuadraticModel;

constexpr Index kMostForHessian = 1500;
constexpr double kNoLoss = 1e-9;

Vector flat(const Matrix& b) { return Eigen::Map<const Vector>(b.data(), b.size()); }
Matrix shaped(const Vector& v, Index classes) {
  return Eigen::Map<const Matrix>(v.data(), classes, v.size() / classes);
}

/// Without a penalty the first class stays at 0; with one every class is free, up to a number added to all intercepts.
Vector factors(const Loss& loss, const PenaltyTerm& penalty) {
  const Vector one = logit::factors_of(loss.frame());
  Vector out(loss.size());
  for (Index k = 0; k < loss.classes().count(); ++k)
    out.segment(k * one.size(), one.size()) =
        k == 0 && penalty.lambda() == 0 ? Vector::Constant(one.size(), QuadraticModel::kFixed) : one;
  return out;
}

/// The loss does not change when all intercepts do by the same number: curvature in that direction does no harm.
void pin_intercepts(const Loss& loss, Matrix& hessian) {
  const Index classes = loss.classes().count(), terms = loss.terms();
  double mean = 0;
  for (Index k = 0; k < classes; ++k) mean += hessian(k * terms, k * terms) / static_cast<double>(classes);
  for (Index k = 0; k < classes; ++k)
    for (Index l = 0; l < classes; ++l) hessian(k * terms, l * terms) += mean;
}

struct Look {
  double objective;
  Matrix gradient, hessian;
};
Look look_at(const Loss& loss, const PenaltyTerm& penalty, const Matrix& b) {
  Look out;
  out.objective = loss.value(b, out.gradient, out.hessian) + penalty_value(penalty, loss.frame(), b);
  if (penalty.lambda() > 0) pin_intercepts(loss, out.hessian);
  return out;
}

class OfClasses final : public logit::NewtonProblem {
 public:
  OfClasses(const Loss& loss, const PenaltyTerm& penalty) : loss_(loss), penalty_(penalty) {}
  double look(const Vector& at, Vector& gradient, Matrix& hessian) const override {
    Look found = look_at(loss_, penalty_, shaped(at, loss_.classes().count()));
    gradient = flat(found.gradient);
    hessian = std::move(found.hessian);
    return found.objective;
  }
  Gap look_at_gap(const Vector& at, Vector& gradient) const override {
    const Matrix b = shaped(at, loss_.classes().count());
    const DualParts parts = loss_.split(b);
    Matrix slopes = -parts.of_class.front();
    for (std::size_t c = 1; c < parts.of_class.size(); ++c) slopes -= parts.of_class[c];
    gradient = flat(slopes);
    return duality_gap(loss_, penalty_, b, parts);
  }
  bool is_nothing(double objective) const override { return objective <= kNoLoss * loss_.frame().rows_weight; }

 private:
  const Loss& loss_;
  const PenaltyTerm& penalty_;
};

Vector minimum(const QuadraticModel& model, bool& dependent) {
  return model.penalty.smooth() ? minimum_by_cholesky(model, dependent) : minimum_by_coordinates(model);
}

/// Coefficients of an existing model, in the user's units: a row for each class; one row is the second class against the
/// first.
Matrix start_of(const Matrix& given, const Loss& loss, const PenaltyTerm& penalty) {
  const Index classes = loss.classes().count(), rows = given.rows();
  if (given.cols() != loss.terms() || (rows != classes && !(rows == 1 && classes == 2)))
    throw Error(
        fmt::format("multinomial: the model to start from has {} columns and {} rows of coefficients, and there are {} "
                    "columns and {} classes",
                    given.cols() - 1, rows, loss.terms() - 1, classes));
  Matrix b = Matrix::Zero(classes, loss.terms());
  for (Index k = 0; k < rows; ++k) b.row(classes - rows + k) = loss.frame().inner(given.row(k)).transpose();
  if (penalty.lambda() > 0) return b.rowwise() - b.colwise().mean();
  return b.rowwise() - Eigen::RowVectorXd(b.row(0));
}

/// The part of the Hessian that belongs to the classes but the first.
Matrix without_first(const Loss& loss, const Matrix& hessian) {
  const Index n = loss.size() - loss.terms();
  return hessian.bottomRightCorner(n, n);
}

}  // namespace

Solution newton(const Loss& loss, const PenaltyTerm& penalty, Matrix start, const logit::SolveOptions& options) {
  const Index classes = loss.classes().count();
  logit::Solution found =
      logit::newton(OfClasses(loss, penalty), penalty, factors(loss, penalty), flat(start), options);
  Solution out;
  out.b = shaped(found.beta, classes);
  out.gap = found.gap;
  out.objective = found.objective;
  out.dependent = found.dependent;
  out.iterations = found.iterations;
  out.stopped = found.stopped;
  if (penalty.lambda() == 0) out.hessian = without_first(loss, found.hessian);
  return out;
}

Solution lbfgs(const Loss& loss, const PenaltyTerm& penalty, Matrix start, const logit::SolveOptions& options) {
  struct Smooth {
    const Loss& loss;
    const PenaltyTerm& penalty;
    Vector factor;
    double value(const Vector& v) const {
      const Matrix b = shaped(v, loss.classes().count());
      return loss.value(b) + penalty_value(penalty, loss.frame(), b);
    }
    double value(const Vector& v, Vector& gradient) const {
      const Matrix b = shaped(v, loss.classes().count());
      Matrix slopes;
      const double out = loss.value(b, slopes) + penalty_value(penalty, loss.frame(), b);
      gradient = flat(slopes);
      for (Index i = 0; i < v.size(); ++i) {
        if (factor(i) >= 0) gradient(i) += penalty.quadratic(factor(i)) * v(i);
        if (factor(i) == QuadraticModel::kFixed) gradient(i) = 0;
      }
      return out;
    }
  };
  const Smooth smooth{loss, penalty, factors(loss, penalty)};
  Solution out;
  double wanted = options.tolerance;
  MinimiseOptions how;
  how.most_iterations = options.max_iterations;
  how.tolerance = penalty.lambda() > 0 ? 1e-15 : 1e-11;
  how.stop = [&](const Iterate& at) {
    options.execution.report(0.5, "L-BFGS");
    if (penalty.lambda() == 0) return false;
    double bound = 0;
    for (Index i = 0; i < at.gradient.size(); ++i)
      if (smooth.factor(i) >= 0) bound += at.gradient(i) * at.gradient(i) / (2 * penalty.quadratic(smooth.factor(i)));
    if (bound > wanted * at.value) return false;
    const Matrix b = shaped(at.x, loss.classes().count());
    out.gap = duality_gap(loss, penalty, b, loss.split(b));
    wanted *= 0.1;
    return out.gap.relative() <= options.tolerance;
  };
  const Minimum found = lemma::lbfgs(smooth, flat(start), how);
  out.b = shaped(found.x, loss.classes().count());
  out.objective = found.value;
  out.iterations = found.iterations;
  out.stopped = found.stopped == Stop::by_caller ? Stop::converged : found.stopped;
  return out;
}

namespace {

likelihood::Step step_by_hessian(const Loss& loss, const Matrix& b) {
  const PenaltyTerm none(Logistic{}, 0);
  likelihood::Step out;
  const Look look = look_at(loss, none, b);
  const Vector at = flat(b), slopes = flat(look.gradient), factor = factors(loss, none);
  const QuadraticModel model{none, factor, at, slopes, look.hessian};
  out.d = shaped(minimum(model, out.dependent) - at, b.rows());
  out.curvature = without_first(loss, look.hessian);
  out.gradient = slopes.tail(loss.size() - loss.terms());
  return out;
}

}  // namespace

void look_for_minimum(Solution& at, logit::Route route, const Loss& loss, const Execution& execution) {
  const Frame& frame = loss.frame();
  const auto side = [](const Block& block, Index i) {
    return block.weight_of(i) > 0 ? block.label[static_cast<std::size_t>(i)] : separation::kNoPart;
  };
  const separation::Problem problem{
      loss.rows(), frame.mean, frame.inverse_scale, frame.intercept, loss.classes().count(), side};
  at.overlap = {};
  at.dual_point = false;
  if (loss.size() <= kMostForHessian) {
    const likelihood::Point point{loss.rows(), frame, at.b};
    likelihood::Proof proof = prove(
        route == logit::Route::triangle ? std::nullopt : std::optional(step_by_hessian(loss, at.b)), point, execution);
    likelihood::Step& step = proof.step;
    at.gap = {proof.gap.objective, proof.gap.gap};
    at.dual_point = proof.holds();
    at.dependent = step.dependent;
    if (separation::overlap_is_proved(step.curvature, step.gradient, separation::longest_row(problem, execution)))
      at.overlap.verdict = separation::Verdict::overlap;
    at.hessian = std::move(step.curvature);
  }
  if (at.overlap.verdict != separation::Verdict::overlap)
    at.overlap = separation::decide(problem, {at.b.rowwise() - Eigen::RowVectorXd(at.b.row(0))}, execution);
  if (at.overlap.verdict == separation::Verdict::overlap) return;
  at.stopped = at.overlap.separated() ? Stop::separated : Stop::overlap_unknown;
  at.dual_point = false;
}

PenaltyTerm penalty_of(const Multinomial& spec) {
  Logistic as;
  as.penalty = static_cast<Penalty>(spec.penalty);
  as.alpha = spec.alpha;
  return PenaltyTerm(as, spec.lambda.value_or(1));
}

Certificate certificate_of(const Solution& at, const PenaltyTerm& penalty, double tolerance) {
  logit::Solution as;
  as.gap = at.gap;
  as.dual_point = at.dual_point;
  as.iterations = at.iterations;
  as.stopped = at.stopped;
  return logit::certificate_of(as, penalty, tolerance);
}

}  // namespace softmax

void Multinomial::check() const {
  const bool kinked = penalty == MultinomialPenalty::l1 || (penalty == MultinomialPenalty::elastic_net && alpha > 0);
  if (kinked && lambda != 0.0 && solver == MultinomialSolver::lbfgs)
    throw Error(
        fmt::format("multinomial: solver lbfgs needs a penalty that is smooth, which {} is not; use auto or newton",
                    name_of(penalty)));
}

namespace {

/// From the least λ that leaves no coefficient (l2: a thousand times that for α = 1) down, as for logistic.
std::vector<double> path_for(const Multinomial& spec, const Rows& rows, const Execution& execution) {
  using namespace softmax;
  const Loss loss(rows, learn_classes(spec, rows, execution), execution);
  const Vector& counts = loss.classes().counts;
  Matrix at = Matrix::Zero(counts.size(), loss.terms()), slopes;
  if (spec.intercept) at.col(0) = (counts / counts.sum()).array().log();
  loss.value(at, slopes);
  double largest = 0;
  for (Index j = 0; j < loss.frame().width(); ++j)
    if (loss.frame().inverse_scale(j) > 0)
      largest = std::max(largest, slopes.col(j + 1).cwiseAbs().maxCoeff() / loss.frame().factor(j));
  const double share = spec.penalty == MultinomialPenalty::l1            ? 1
                       : spec.penalty == MultinomialPenalty::elastic_net ? std::max(spec.alpha, 1e-3)
                                                                         : 1e-3;
  const bool wide = static_cast<double>(loss.frame().width()) > counts.sum();
  return lambda_path(largest > 0 ? largest / share : 1, kTried, wide ? 1e-3 : 1e-5);
}

}  // namespace

MultinomialModel fit(const Valid<Multinomial>& spec, const Rows& rows, const FitOptions& options) {
  using namespace softmax;
  const Execution execution = options.execution();
  if (!spec->lambda) return fit_with_chosen(*spec, path_for(*spec, rows, execution.part(0, 0.02)), rows, options);
  const Loss loss(rows, learn_classes(*spec, rows, execution.part(0, 0.1, "reading rows")), execution);
  const PenaltyTerm penalty = penalty_of(*spec);
  const Vector& counts = loss.classes().counts;
  const double n = counts.sum();

  Matrix start = Matrix::Zero(counts.size(), loss.terms());
  if (spec->intercept) start.col(0) = (counts / n).array().log();
  start.col(0).array() -= penalty.lambda() > 0 ? start.col(0).mean() : start(0, 0);
  if (!spec->intercept) start.setZero();
  if (options.start.size() > 0) start = start_of(options.start, loss, penalty);
  const bool small = loss.size() <= kMostForHessian;
  if (!small && !penalty.smooth() && spec->solver == MultinomialSolver::automatic)
    throw Error(
        fmt::format("multinomial: {} classes times {} columns are too many for this penalty's Newton steps; use "
                    "--penalty l2, or --solver newton to try all the same",
                    counts.size(), loss.frame().width()));
  const bool by_newton =
      spec->solver == MultinomialSolver::newton || (spec->solver == MultinomialSolver::automatic && small);
  const logit::SolveOptions how{spec->tolerance, spec->max_iterations, execution.part(0.1, 0.9), options.seed};
  Solution solution = by_newton ? newton(loss, penalty, start, how) : softmax::lbfgs(loss, penalty, start, how);
  if (penalty.lambda() > 0 && solution.stopped != Stop::converged)
    solution.gap = duality_gap(loss, penalty, solution.b, loss.split(solution.b));
  if (penalty.lambda() == 0 && solution.stopped == Stop::cancelled)
    solution.dual_point = false;  // nobody asked whether there is a minimum
  else if (penalty.lambda() == 0) look_for_minimum(solution, logit::Route::hessian, loss, execution.part(0.9, 1));

  MultinomialModel model;
  model.spec = *spec;
  model.counts = counts;
  to_users(model, loss.frame(), solution.b);
  model.objective = solution.objective;
  model.deviance = 2 * (solution.objective - penalty_value(penalty, loss.frame(), solution.b));
  model.null_deviance = null_deviance(model);
  model.df = parameters_of(model, loss.frame());
  model.aic = model.deviance + 2 * model.df;
  if (penalty.lambda() == 0) judge(model, loss.frame(), solution.dependent ? Matrix() : solution.hessian);
  model.certificate = softmax::certificate_of(solution, penalty, spec->tolerance);
  if (solution.overlap.separated())
    model.warnings.push_back(
        fmt::format("{}: without a penalty the coefficients grow without end, and the best ones and their standard "
                    "errors do not exist; use --lambda above 0",
                    in_words(solution.overlap, rows)));
  else if (solution.stopped == Stop::overlap_unknown)
    model.warnings.push_back(
        "it was not decided whether the classes overlap, without which there are no best coefficients; use --lambda "
        "above 0");
  else if (penalty.lambda() == 0 && solution.dependent)
    model.warnings.push_back(
        "columns are constant or linear combinations of each other: their coefficients share one effect and have no "
        "standard errors");
  return model;
}

template const Method& method_of<Multinomial>();

}  // namespace lemma
