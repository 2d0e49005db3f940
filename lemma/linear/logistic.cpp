// lemma/linear/logistic.cpp: the fit, λ by λ.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/logistic/parts.hpp>
#include <lemma/linear/logistic/sparse.hpp>
#include <lemma/linear/shared/share_explained.hpp>
#include <lemma/model/claim.hpp>

namespace lemma {
namespace {

using namespace logit;

constexpr Index kMostForHessian = 1500;   // columns
constexpr Index kMostForCurvature = 200;  // columns of a model that keeps its Hessian, to be updated by it
constexpr Index kSampleShare = 16, kLeastSample = 16'384;

/// Every k-th block of the rows: where to begin is learned from a few of them.
class Sample final : public Rows {
 public:
  Sample(const Rows& rows, Index every) : Rows(rows), rows_(rows), every_(every), size_(block_rows(rows)) {}
  Index count() const override { return rows_.count() / size_ / every_ * size_; }  // whole blocks alone
  Block read(Index first, Index size, BlockBuffer& buffer) const override {
    Block block = rows_.read(first / size_ * every_ * size_ + first % size_, size, buffer);
    block.first = first;
    return block;
  }

 private:
  const Rows& rows_;
  Index every_, size_;
};

/// The least λ for which all coefficients are 0; for l2 there is none, and glmnet's thousandfold stands in for it.
double largest_lambda(const Logistic& spec, const Loss& loss, const Null& null) {
  Vector gradient;
  loss.value(null.beta, gradient);
  double largest = 0;
  for (Index j = 0; j < loss.frame().width(); ++j)
    largest = std::max(largest, std::abs(gradient(j + 1)) / loss.frame().factor(j));
  const double share = spec.penalty == Penalty::l1            ? 1
                       : spec.penalty == Penalty::elastic_net ? std::max(spec.alpha, 1e-3)
                                                              : 1e-3;
  return largest > 0 ? largest / share : 1;
}

std::vector<double> lambdas_of(const Logistic& spec, const Loss& loss, const Null& null) {
  if (spec.lambda) return *spec.lambda;
  const bool wide = static_cast<double>(loss.frame().width()) > loss.frame().rows_weight;
  return lambda_path(largest_lambda(spec, loss, null), spec.path_length, spec.path_ratio.value_or(wide ? 1e-2 : 1e-4));
}

/// Newton's method on a sample: a start from which a pass or two over all rows is enough.
Vector start_on_sample(const Rows& rows, const Frame& frame, const Logistic& spec, double lambda, const Null& null,
                       const SolveOptions& options) {
  const Index every = std::min(kSampleShare, rows.count() / std::max(kLeastSample, 40 * frame.width()));
  if (every < 4 || rows.sparse()) return null.beta;
  const Sample sample(rows, every);
  const DenseLoss loss(sample, frame, options.execution);
  const double share = static_cast<double>(sample.count()) / static_cast<double>(rows.count());
  SolveOptions rough = options;
  rough.tolerance = 1e-4;
  rough.max_iterations = 15;
  Solution found = newton(loss, PenaltyTerm(spec, lambda * share), null.beta, rough);
  return found.beta.allFinite() && found.beta.cwiseAbs().maxCoeff() < 50 ? found.beta : null.beta;
}

/// The evidence, where the solver did not come to it.
void finish_certificate(Solution& solution, const Loss& loss, const PenaltyTerm& penalty, const Rows& rows,
                        const Execution& execution) {
  if (penalty.lambda() == 0 && solution.stopped != Stop::cancelled) {
    look_for_minimum(solution, Route::hessian, loss, rows, execution);
  } else if (penalty.lambda() == 0) {
    solution.dual_point = false;  // nobody asked whether there is a minimum
  } else if (solution.stopped != Stop::converged) {
    solution.gap = duality_gap(loss, penalty, solution.beta, loss.split(solution.beta));
  }
}

/// The solver for this shape and penalty, and the data as it needs them.
class Worker {
 public:
  Worker(const Logistic& spec, const Rows& rows, const Loss& loss, const Execution& execution)
      : solver_(spec.solver), loss_(loss), sparse_(dynamic_cast<const SparseLoss*>(&loss)) {
    const bool small = loss.frame().width() <= kMostForHessian, smooth = PenaltyTerm(spec, 1).smooth();
    if (solver_ == LogisticSolver::automatic)
      solver_ = small && (!sparse_ || loss.frame().width() <= kMostForCurvature) ? LogisticSolver::newton
                : !smooth                                                        ? LogisticSolver::coordinate
                : sparse_                                                        ? LogisticSolver::newton
                                                                                 : LogisticSolver::lbfgs;
    const bool by_rows = solver_ == LogisticSolver::sgd, by_columns = solver_ == LogisticSolver::coordinate && !small;
    if ((by_rows || by_columns) && !sparse_) {
      wide_ = SparseLoss::of_dense(rows, loss.frame(), execution);
      sparse_ = wide_.get();
    }
  }
  Solution solve(const PenaltyTerm& penalty, const Vector& start, const SolveOptions& how) const {
    const bool small = loss_.frame().width() <= (sparse_ ? kMostForCurvature : kMostForHessian);
    switch (solver_) {
      case LogisticSolver::coordinate:
        if (sparse_) return coordinate_descent(*sparse_, penalty, start, how);
        return newton(loss_, penalty, start, how, true);
      case LogisticSolver::newton:
        if (sparse_ && !small && penalty.smooth()) return newton_cg(*sparse_, penalty, start, how);
        if (sparse_ && !small) return coordinate_descent(*sparse_, penalty, start, how);
        return newton(loss_, penalty, start, how);
      case LogisticSolver::sgd: return stochastic(*sparse_, penalty, start, how);
      default: return descend(solver_, loss_, penalty, start, how);
    }
  }

 private:
  LogisticSolver solver_;
  const Loss& loss_;
  const SparseLoss* sparse_;
  std::unique_ptr<SparseLoss> wide_;
};

Vector start_of(const Matrix& given, const Frame& frame) {
  if (given.rows() != 1 || given.cols() != frame.width() + 1)
    throw Error(fmt::format(
        "logistic: the model to start from has {} columns and {} row{} of coefficients, and there are {} columns",
        given.cols() - 1, given.rows(), given.rows() == 1 ? "" : "s", frame.width()));
  return frame.inner(given.row(0));
}

void warn_of_separation(LogisticModel& model, const Solution& solution, const Rows& rows) {
  if (solution.overlap.separated())
    model.warnings.push_back(
        fmt::format("{}: without a penalty the coefficients grow without end and the best ones do not exist; use "
                    "--lambda above 0, or leave {} out",
                    in_words(solution.overlap, rows), solution.overlap.alone.size() == 1 ? "the column" : "columns"));
  if (solution.stopped == Stop::overlap_unknown)
    model.warnings.push_back(
        "it was not decided whether the classes overlap, without which there are no best coefficients; use --lambda "
        "above 0");
}

}  // namespace

void Logistic::check() const {
  if (lambda && lambda->empty()) throw Error("logistic: lambda is empty; give a number, several, or auto for a path");
  const bool kinked = penalty == Penalty::l1 || (penalty == Penalty::elastic_net && alpha > 0) ||
                      (penalty == Penalty::bridge && rho < 2);
  const bool needs_slopes =
      solver != LogisticSolver::automatic && solver != LogisticSolver::newton && solver != LogisticSolver::coordinate;
  if (kinked && needs_slopes)
    throw Error(fmt::format(
        "logistic: solver {} needs a penalty that is smooth, which {} is not; use auto, newton or coordinate",
        name_of(solver), name_of(penalty)));
}

namespace logit {

std::unique_ptr<Loss> loss_of(const Rows& rows, const Frame& frame, const Execution& execution) {
  if (rows.sparse()) return std::make_unique<SparseLoss>(*rows.sparse(), rows, frame, execution);
  return std::make_unique<DenseLoss>(rows, frame, execution);
}

double tolerance_of(const Logistic& spec) {
  return spec.solver == LogisticSolver::sgd ? std::max(1e-3, 1e3 * spec.tolerance) : spec.tolerance;
}

Null null_model(const Loss& loss, bool offset) {
  const Frame& frame = loss.frame();
  Vector beta = Vector::Zero(loss.size());
  if (frame.intercept) beta(0) = std::log(frame.response) - std::log(frame.mass - frame.response);
  if (!std::isfinite(beta(0))) beta(0) = frame.response > 0 ? 30 : -30;  // proportions that are all 0 or all 1
  if (!frame.intercept || !offset) {
    if (frame.intercept || !offset) {
      const double p = frame.intercept ? frame.response / frame.mass : 0.5;
      const auto part = [](double k, double share) { return k > 0 ? -k * std::log(share) : 0.0; };
      return {beta, part(frame.response, p) + part(frame.mass - frame.response, 1 - p)};
    }
    return {beta, loss.value(beta)};
  }
  // One dimension: Newton's method with the bound ¼ Σw on the curvature where it would leap.
  Vector gradient;
  double value = loss.value(beta, gradient);
  for (int i = 0; i < 200; ++i) {
    const Vector last = beta;
    const double step = 4 * gradient(0) / frame.mass;
    if (std::abs(gradient(0)) <= 1e-12 * frame.mass) break;
    beta(0) -= step;
    Vector next;
    const double found = loss.value(beta, next);
    // The secant through both gradients, when it is steep enough to be believed.
    const double bend = (next(0) - gradient(0)) / (beta(0) - last(0));
    gradient = next;
    value = found;
    if (bend > 0 && std::isfinite(next(0) / bend) && std::abs(next(0) / bend) < 1) {
      beta(0) -= next(0) / bend;
      value = loss.value(beta, gradient);
    }
  }
  return {beta, value};
}

Matrix users_curvature(const Frame& frame, const PenaltyTerm& penalty, const Matrix& hessian) {
  // β = T θ with β₀ = b₀ + mean·b and βⱼ = bⱼ / inverse_scaleⱼ: the Hessian in θ is TᵀHT.
  const Index p = frame.width();
  Matrix map = Matrix::Zero(p + 1, p + 1), inner = hessian;
  map(0, 0) = 1;
  if (!frame.intercept) inner(0, 0) = 0;
  for (Index j = 0; j < p; ++j) {
    inner(j + 1, j + 1) += penalty.quadratic(frame.factor(j));
    map(0, j + 1) = frame.intercept ? frame.mean(j) : 0.0;
    map(j + 1, j + 1) = frame.inverse_scale(j) > 0 ? 1 / frame.inverse_scale(j) : 0.0;
  }
  return map.transpose() * inner * map;
}

namespace {

Certificate begun(const Solution& at, double tolerance) {
  Certificate out;
  out.tolerance = claimed(tolerance);
  out.iterations = at.iterations;
  out.stopped = name_of(at.stopped);
  return out;
}

}  // namespace

Certificate certificate_of(const Solution& worst, const PenaltyTerm& penalty, double tolerance) {
  Certificate out = begun(worst, tolerance);
  out.strength = Strength::optimal;
  out.kind = "relative duality gap";
  out.value = worst.excess();
  if (worst.stopped == Stop::separated)
    out.message =
        "The classes are separated: the objective has no minimum, and its infimum is reached at no coefficients";
  else if (worst.stopped == Stop::overlap_unknown)
    out.message = "Whether the classes overlap was not decided, so that nothing is known of a minimum";
  else if (!worst.dual_point)
    out.message = "No dual point was found, so that nothing is known of how far the objective is from its least value";
  else
    out.message = fmt::format(
        "The objective exceeds the least possible one by at most {:.1e} of itself (allowed {:.0e}), as a dual point "
        "made of the residuals proves",
        out.value, out.tolerance);
  if (penalty.l2() > 0) {  // J is λ-strongly convex in the standardised coefficients
    out.error_bound = std::sqrt(2 * worst.gap.absolute / penalty.l2());
    out.message += fmt::format("; the penalised coefficients are within {:.1e} of the best ones", *out.error_bound);
  }
  out.message += ".";
  return out;
}

Certificate certificate_of_decrement(const Solution& at, double tolerance) {
  Certificate out = begun(at, tolerance);
  out.strength = Strength::stationary;
  out.kind = "relative Newton decrement";
  out.value = at.decrement;
  out.message = fmt::format("One more Newton step would lower the objective by {:.1e} of itself (allowed {:.0e}).",
                            out.value, out.tolerance);
  return out;
}

}  // namespace logit

LogisticModel fit(const Valid<Logistic>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const Frame frame = learn_frame(*spec, rows, execution.part(0, 0.2, "reading rows"));
  const auto owned = loss_of(rows, frame, execution);
  const Loss& loss = *owned;
  const Null null = null_model(loss, rows.has_offset);
  const std::vector<double> lambdas = lambdas_of(*spec, loss, null);

  LogisticModel model;
  model.spec = *spec;
  model.spec.lambda = lambdas;
  model.of_classes = frame.of_classes;
  model.class_factors = Vector{{frame.class_factor[0], frame.class_factor[1]}};
  model.null_deviance = 2 * (null.loss - frame.saturated);
  const auto count = static_cast<Index>(lambdas.size());
  model.lambda.of = Eigen::Map<const Vector>(lambdas.data(), count);
  model.coefficients.of.resize(count, frame.width());
  for (PathNumbers* each : {&model.intercept, &model.df, &model.deviance_ratio, &model.objective})
    each->of.resize(count);

  const Worker worker(*spec, rows, loss, execution);
  Vector start;
  for (Index k = 0; k < count; ++k) {
    const double lambda = lambdas[static_cast<std::size_t>(k)];
    const auto share = [&](Index of) { return 0.2 + 0.8 * static_cast<double>(of) / static_cast<double>(count); };
    SolveOptions how{tolerance_of(*spec), spec->max_iterations, execution.part(share(k), share(k + 1)), options.seed};
    if (k == 0 && options.start.size() > 0) start = start_of(options.start, frame);
    else if (k == 0) start = start_on_sample(rows, frame, *spec, lambda, null, how);
    const PenaltyTerm penalty(*spec, lambda);
    Solution solution = worker.solve(penalty, start, how);
    start = solution.beta;
    const Vector users = frame.users(solution.beta);
    model.coefficients.of.row(k) = users.tail(frame.width()).transpose();
    model.intercept.of(k) = users(0);
    model.objective.of(k) = solution.objective;
    model.df.of(k) = static_cast<double>((users.tail(frame.width()).array() != 0).count());
    const double deviance = 2 * (solution.objective - penalty.value(frame, solution.beta) - frame.saturated);
    model.deviance_ratio.of(k) = model.null_deviance > 0 ? share_explained(deviance, model.null_deviance) : 0.0;
    finish_certificate(solution, loss, penalty, rows, how.execution);
    model.trace = Eigen::Map<const Vector>(solution.trace.data(), static_cast<Index>(solution.trace.size()));
    warn_of_separation(model, solution, rows);
    if (solution.dependent && lambda == 0)
      model.warnings.push_back("columns are linear combinations of each other: their coefficients share one effect");
    if (k + 1 == count && penalty.smooth() && frame.width() <= kMostForCurvature && solution.hessian.size() > 0) {
      Vector gradient;  // the last Hessian of the solver is one of the coefficients before
      if (lambda > 0) loss.value(solution.beta, gradient, solution.hessian);
      model.curvature = users_curvature(frame, penalty, solution.hessian);
    }
    if (k == 0 || !(solution.excess() <= model.certificate.value))
      model.certificate = certificate_of(solution, penalty, tolerance_of(*spec));
  }
  return model;
}

template const Method& method_of<Logistic>();

}  // namespace lemma
