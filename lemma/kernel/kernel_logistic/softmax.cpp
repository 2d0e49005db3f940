// lemma/kernel/kernel_logistic/softmax.cpp: Newton's method on all classes at once, each step by conjugate gradients.
#include <algorithm>
#include <cmath>
#include <lemma/kernel/kernel_logistic/softmax.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>

namespace lemma::kernel_logistic {
namespace {

constexpr double kRounding = 1e-18;   // a gap that no step makes smaller
constexpr double kLeastLeft = 1e-10;  // of a step: beyond, rounding gathers in directions of hardly any length
constexpr int kSteps = 12;            // of Newton's, about: for the progress bar
constexpr int kMostProducts = 5000;   // with the kernel matrix, in one step

/// W v for the curvature W = w (diag p − p pᵀ) of each row.
Matrix bent(const SoftmaxProblem& problem, const Matrix& p, const Matrix& v) {
  Matrix out(v.rows(), v.cols());
  for (Index i = 0; i < v.rows(); ++i) {
    const double mean = p.row(i).dot(v.row(i)), weight = problem.data.weight(i);
    out.row(i) = weight * p.row(i).array() * (v.row(i).array() - mean);
  }
  return out;
}

/// A change of α and b, and of F with them.
struct Direction {
  Matrix alpha, f;
  Vector intercept;
  Matrix eta() const { return f.rowwise() + intercept.transpose(); }
};

double dot(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).sum(); }

/// The minimum of the quadratic model, λδα + W(Kδα + 1δbᵀ) = −λ(α − α̃), by conjugate gradients in the functions' own inner
/// product Σ δαᵀKδα + δbᵀδb, in which the operator is self-adjoint: a product with K each, and nothing is factorised. Until what
/// is left has the share `enough` of the squared size that there was.
Direction newton_direction(const SoftmaxProblem& problem, const Matrix& off, const SoftmaxLoss& loss,
                           const std::function<Matrix(const Matrix&)>& of_kernel, double enough,
                           const Execution& execution) {
  const Index n = off.rows(), classes = off.cols();
  Direction at{Matrix::Zero(n, classes), Matrix::Zero(n, classes), Vector::Zero(classes)};
  Direction left{-problem.lambda * off, {}, Vector::Zero(classes)};
  if (problem.intercept) left.intercept = -loss.residual.colwise().sum().transpose();
  left.f = of_kernel(left.alpha);
  const auto squared = [](const Direction& d) { return dot(d.alpha, d.f) + d.intercept.squaredNorm(); };
  double size = squared(left);
  const double first = size;
  Direction along = left;
  for (int step = 0; step < kMostProducts && size > enough * first; ++step) {
    if (execution.cancelled()) throw Cancelled();
    const Matrix turned = bent(problem, loss.p, along.eta());
    Direction image{problem.lambda * along.alpha + turned, {}, Vector::Zero(classes)};
    if (problem.intercept) image.intercept = turned.colwise().sum().transpose();
    const double curvature = dot(image.alpha, along.f) + image.intercept.dot(along.intercept);
    if (!(curvature > 0)) break;
    const double length = size / curvature;
    at.alpha += length * along.alpha;
    at.f += length * along.f;
    at.intercept += length * along.intercept;
    left.alpha -= length * image.alpha;
    left.intercept -= length * image.intercept;
    left.f = of_kernel(left.alpha);
    const double share = squared(left) / size;
    if (!(share > 0)) break;
    size *= share;
    along.alpha = left.alpha + share * along.alpha;
    along.f = left.f + share * along.f;
    along.intercept = left.intercept + share * along.intercept;
  }
  return at;
}

Index own_class(const SoftmaxProblem& problem, Index i) { return problem.data.label_of(i); }

}  // namespace

SoftmaxLoss loss_at(const SoftmaxProblem& problem, const Matrix& eta) {
  SoftmaxLoss out{0, eta, {}};
  const Vector logs = softmax_rows(out.p);
  out.residual = out.p;
  for (Index i = 0; i < eta.rows(); ++i) {
    const double weight = problem.data.weight(i);
    out.value += weight * (logs(i) - eta(i, own_class(problem, i)));
    out.residual(i, own_class(problem, i)) =
        0;  // p − 1 as −Σ of the others: a class that is nearly sure keeps its digits
    out.residual(i, own_class(problem, i)) = -out.residual.row(i).sum();
    out.residual.row(i) *= weight;
  }
  return out;
}

/// Newton's method on as many numbers as there are classes, halved until the loss falls; all b may grow by the same number, so that
/// direction is given a curvature of its own.
Vector best_intercepts(const SoftmaxProblem& problem, const Matrix& f) {
  const Index classes = problem.classes;
  Vector b = Vector::Zero(classes);
  if (!problem.intercept) return b;
  const auto at = [&](const Vector& to) { return loss_at(problem, f.rowwise() + to.transpose()); };
  SoftmaxLoss loss = at(b);
  constexpr int kMost = 200;
  for (int step = 0; step < kMost; ++step) {
    Matrix curvature = Matrix::Zero(classes, classes);
    for (Index i = 0; i < f.rows(); ++i) {
      const Vector p = loss.p.row(i);
      curvature.diagonal() += problem.data.weight(i) * p;
      curvature -= problem.data.weight(i) * p * p.transpose();
    }
    const double unit = std::max(curvature.trace() / static_cast<double>(classes), 1e-300);
    curvature.array() += unit / static_cast<double>(classes);
    std::optional<Matrix> r;
    for (double more = 0; !r; more = more == 0 ? 1e-14 : 10 * more) {
      Matrix tried = curvature;
      tried.diagonal().array() += more * unit;
      r = cholesky(tried);
    }
    const Vector slope = loss.residual.colwise().sum();
    const Vector move = -solve_upper(*r, solve_upper_transposed(*r, Matrix(slope))).col(0);
    double t = 1;
    SoftmaxLoss next = at(b + move);
    // Near the minimum the loss is rounding, and the move alone tells how far it is: the dual needs Σ w (p − y) = 0.
    while (t > 1e-10 && !(next.value <= loss.value + 1e-12 * std::abs(loss.value))) next = at(b + (t /= 2) * move);
    if (t <= 1e-10) break;
    b += t * move;
    loss = std::move(next);
    if (t * move.cwiseAbs().maxCoeff() <= 1e-14 * (1 + b.cwiseAbs().maxCoeff())) break;
  }
  return b.array() - b.mean();
}

/// With q the probabilities at the best intercepts, α̃ = w (y − q)/λ, the gap is
///     Σ w (log Σ e^η − log Σ e^η* − q·(η − η*)) + ½ λ Σₖ (αₖ − α̃ₖ)ᵀ K (αₖ − α̃ₖ):   no large numbers cancel.
SoftmaxStanding standing_of(const SoftmaxProblem& problem, const Matrix& alpha, const Matrix& f,
                            const Vector& intercept, const std::function<Matrix(const Matrix&)>& of_kernel) {
  const Vector best = best_intercepts(problem, f);
  const SoftmaxLoss at_best = loss_at(problem, f.rowwise() + best.transpose());
  SoftmaxStanding out;
  out.loss = intercept == best ? at_best.value : loss_at(problem, f.rowwise() + intercept.transpose()).value;
  out.squared_norm = alpha.cwiseProduct(f).colwise().sum();
  out.objective = out.loss + 0.5 * problem.lambda * out.squared_norm.sum();
  const Matrix off = alpha + at_best.residual / problem.lambda;
  const double above = out.loss - at_best.value + 0.5 * problem.lambda * dot(off, of_kernel(off)) +
                       std::abs(at_best.residual.colwise().sum().transpose().dot(best));  // Σ α̃ is 0 up to rounding
  out.gap = std::isfinite(above) ? std::max(0.0, above) / out.objective : above;
  return out;
}

SoftmaxSolution newton(const KernelLogistic& spec, const SoftmaxProblem& problem, const Matrix& gram,
                       const Execution& execution) {
  const double lambda = problem.lambda;
  const std::function<Matrix(const Matrix&)> of_kernel = [&](const Matrix& v) {
    Matrix out(v.rows(), v.cols());
    blas::gemm(blas::Op::plain, gram, blas::Op::plain, v, out);
    return out;
  };
  Matrix f = Matrix::Zero(problem.data.count(), problem.classes);
  SoftmaxSolution at;
  at.alpha = f;
  at.intercept = best_intercepts(problem, f);
  at.stopped = Stop::iteration_limit;
  double last = 1e300;
  try {
    for (; at.iterations < spec.max_iterations; ++at.iterations) {
      execution.report(std::min(0.95, static_cast<double>(at.iterations) / kSteps), "Newton's method");
      at.standing = standing_of(problem, at.alpha, f, at.intercept, of_kernel);
      const double gap = at.standing.gap;
      if (gap <= spec.tolerance && (gap <= kRounding || gap > 0.01 * last)) {  // the last steps cost little
        at.stopped = Stop::converged;
        break;
      }
      last = gap;
      const SoftmaxSolution before = at;
      const Matrix eta = f.rowwise() + at.intercept.transpose();
      const SoftmaxLoss loss = loss_at(problem, eta);
      const Matrix off = at.alpha + loss.residual / lambda;  // α − α̃
      const Direction to =
          newton_direction(problem, off, loss, of_kernel, std::clamp(gap, kLeastLeft, 0.01), execution);
      const Matrix to_eta = to.eta();
      const double cross = dot(at.alpha, to.f), square = dot(to.alpha, to.f);
      const double slope = dot(loss.residual, to_eta) + lambda * cross;
      const auto objective_at = [&](double t) {
        return loss_at(problem, eta + t * to_eta).value +
               0.5 * lambda * (at.standing.squared_norm.sum() + t * (2 * cross + t * square));
      };
      const double noise = 1e-13 * at.standing.objective;
      double t = 1;
      while (t > 1e-10 && !(objective_at(t) <= at.standing.objective + 1e-4 * t * slope + noise)) t /= 2;
      if (t <= 1e-10) {
        at.stopped = Stop::no_step;
        break;
      }
      at.alpha += t * to.alpha;
      f = of_kernel(at.alpha);
      at.intercept = best_intercepts(problem, f);
      if (gap > spec.tolerance) continue;
      at.standing = standing_of(problem, at.alpha, f, at.intercept, of_kernel);
      if (at.standing.gap > gap) {  // nothing but rounding is left
        at.alpha = before.alpha;
        at.intercept = before.intercept;
        f = of_kernel(at.alpha);
        at.stopped = Stop::converged;
        break;
      }
    }
  } catch (const Cancelled&) {
    at.stopped = Stop::cancelled;
    f = of_kernel(at.alpha);
  }
  at.standing = standing_of(problem, at.alpha, f, at.intercept, of_kernel);
  return at;
}

}  // namespace lemma::kernel_logistic
