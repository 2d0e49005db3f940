// lemma/optimize/newton.cpp: Newton's method, with the Hessian factorised or, where there are only its products, with
// conjugate gradients inside.
#include <algorithm>
#include <cmath>
#include <lemma/math/factorise.hpp>
#include <lemma/optimize/descend.hpp>
#include <utility>

namespace lemma {
namespace {

using descent::State;

/// H + shift·I = RᵀR with the smallest shift tried that makes it positive definite.
Matrix shifted_cholesky(Matrix h) {
  const double size = std::max(h.diagonal().cwiseAbs().maxCoeff(), 1e-300);
  const double lowest = h.diagonal().minCoeff();
  double shift = lowest > 0 ? 0 : 1e-3 * size - lowest, added = 0;
  while (true) {
    h.diagonal().array() += shift - std::exchange(added, shift);
    if (auto r = cholesky(h)) return *std::move(r);
    shift = std::max(4 * shift, 1e-8 * size);
    require(std::isfinite(shift), "the Hessian is not finite");
  }
}

class NewtonByCholesky : public descent::Method {
 public:
  void direct(const Objective& f, State& state) override {
    Matrix h = f.hessian(state.x);
    require(h.allFinite(), "the Hessian is not finite");
    const Matrix r = shifted_cholesky(std::move(h));
    state.direction = -solve_upper(r, solve_upper_transposed(r, state.gradient));
  }
  double first_step(const State&) const override { return 1; }
};

/// H d = −∇f by conjugate gradients, exact enough for superlinear convergence and no more: it stops when the residual is below
/// min(½, √‖∇f‖) ‖∇f‖, or at a direction of no positive curvature (Nocedal and Wright, algorithm 7.1).
class NewtonByProducts : public descent::Method {
 public:
  void direct(const Objective& f, State& state) override {
    Vector& d = state.direction;
    const double norm = state.gradient.norm();
    const double enough = std::min(0.5, std::sqrt(norm)) * norm;
    d.setZero(), residual_ = state.gradient, p_ = -state.gradient;
    double square = residual_.squaredNorm();
    for (Index k = 0; k < 10 * d.size() + 10; ++k) {
      const Vector hp = f.hessian_times(state.x, p_);
      const double curvature = p_.dot(hp);
      if (!(curvature > 0)) {
        if (k == 0) d = -state.gradient;
        return;
      }
      const double alpha = square / curvature;
      d += alpha * p_, residual_ += alpha * hp;
      const double before = std::exchange(square, residual_.squaredNorm());
      if (std::sqrt(square) <= enough) return;
      p_ = (square / before) * p_ - residual_;
    }
  }
  double first_step(const State&) const override { return 1; }

 private:
  Vector residual_, p_;
};

}  // namespace

Minimum newton(const Objective& f, Vector start, const MinimiseOptions& options) {
  if (f.has_hessian()) {
    NewtonByCholesky method;
    return descent::run(f, std::move(start), options, method);
  }
  require(f.has_hessian_product(),
          "Newton's method needs an objective with a Hessian or its products; lbfgs needs neither");
  NewtonByProducts method;
  return descent::run(f, std::move(start), options, method);
}

}  // namespace lemma
