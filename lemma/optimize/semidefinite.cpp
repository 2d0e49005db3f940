// lemma/optimize/semidefinite.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/optimize/semidefinite.hpp>
#include <optional>

namespace lemma {
namespace {

constexpr double kToTheEdge = 0.95;  // of the way to where a matrix would no longer be definite
constexpr double kShorter = 0.8;

/// Rows of the sparse matrix times a dense one.
Matrix times(const Csr& a, const Matrix& x, const Execution& execution) {
  Matrix out = Matrix::Zero(a.rows(), x.cols());
  parallel_for(a.rows(), execution, [&](Index k) {
    for (Index e = a.start[at(k)]; e < a.start[at(k) + 1]; ++e) out.row(k) += a.value[at(e)] * x.row(a.column[at(e)]);
  });
  return out;
}

/// a_lᵀ v.
double along(const Csr& a, Index l, const double* v) {
  double sum = 0;
  for (Index e = a.start[at(l)]; e < a.start[at(l) + 1]; ++e) sum += a.value[at(e)] * v[a.column[at(e)]];
  return sum;
}

/// a_kᵀ X a_k of each, where rows of `ax` are a_kᵀ X.
Vector squares(const Csr& a, const Matrix& ax) {
  Vector out(a.rows());
  for (Index k = 0; k < a.rows(); ++k) out(k) = along(a, k, ax.row(k).data());
  return out;
}

/// Σ_k y_k a_k a_kᵀ.
Matrix weighted(const Csr& a, const Vector& y) {
  Matrix out = Matrix::Zero(a.width, a.width);
  for (Index k = 0; k < a.rows(); ++k)
    for (Index e = a.start[at(k)]; e < a.start[at(k) + 1]; ++e)
      for (Index f = a.start[at(k)]; f < a.start[at(k) + 1]; ++f)
        out(a.column[at(e)], a.column[at(f)]) += y(k) * a.value[at(e)] * a.value[at(f)];
  return out;
}

/// Σ_k y_k a_k a_kᵀ X, where rows of `ax` are a_kᵀ X.
Matrix weighted_times(const Csr& a, const Vector& y, const Matrix& ax) {
  Matrix out = Matrix::Zero(a.width, ax.cols());
  for (Index k = 0; k < a.rows(); ++k)
    for (Index e = a.start[at(k)]; e < a.start[at(k) + 1]; ++e)
      out.row(a.column[at(e)]) += (y(k) * a.value[at(e)]) * ax.row(k);
  return out;
}

bool is_definite(Matrix x) { return blas::cholesky(x); }

/// Z⁻¹, of a definite Z.
std::optional<Matrix> inverse(const Matrix& z) {
  Matrix r = z;
  if (!blas::cholesky(r)) return {};
  Matrix out = Matrix::Identity(z.rows(), z.cols());
  blas::solve_upper(blas::Op::transposed, r, out);
  blas::solve_upper(blas::Op::plain, r, out);
  return Matrix(0.5 * (out + out.transpose()));
}

double inner(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).sum(); }

/// How far x may go along the step while it stays above 0.
double longest(const Vector& x, const Vector& step) {
  double out = 1;
  for (Index k = 0; k < x.size(); ++k)
    if (step(k) < 0) out = std::min(out, -kToTheEdge * x(k) / step(k));
  return out;
}
double longest(const Matrix& x, const Matrix& step, double most) {
  double out = most;
  for (int tries = 0; tries < 60; ++tries, out *= kShorter)
    if (is_definite(x + out * step)) return tries == 0 && most == 1 ? out : kToTheEdge * out;
  return 0;
}

class InteriorPoint {
 public:
  InteriorPoint(const SemidefiniteProgramme& programme, const Execution& execution)
      : p_(programme), execution_(execution), n_(programme.a.width), m_(programme.a.rows()) {
    start();
  }

  double primal() const { return inner(p_.c, x_); }
  double dual() const { return p_.b.dot(y_); }
  double gap() const { return dual() - primal(); }
  const Matrix& x() const { return x_; }
  const Vector& y() const { return y_; }

  /// One round: along the affine direction to see how much of the gap it would close, then along the one that aims there.
  /// False when numbers give no way on.
  bool step() {
    const std::optional<Matrix> z_inverse = inverse(z_);
    if (!z_inverse) return false;
    const Matrix ax = times(p_.a, x_, execution_), az = times(p_.a, *z_inverse, execution_);
    const Vector of_inverse = squares(p_.a, az);
    Matrix system(m_, m_);
    parallel_for(m_, execution_, [&](Index k) {
      for (Index l = k; l < m_; ++l) system(k, l) = along(p_.a, l, ax.row(k).data()) * along(p_.a, l, az.row(k).data());
      system(k, k) += s_(k) / y_(k);
    });
    if (!blas::cholesky(system)) return false;
    const double mu = gap() / static_cast<double>(n_ + m_);
    // Towards XZ = target I; the products of the steps before, where they are given, take the second order into account.
    const auto direction = [&](double target, const Direction* before) {
      Direction d;
      Matrix second = Matrix::Zero(n_, n_);
      d.y = target * (of_inverse + y_.cwiseInverse()) - p_.b;
      if (before) {
        const Matrix turned = transposed_multiply(weighted_times(p_.a, before->y, before->ax), *z_inverse, execution_);
        second = 0.5 * (turned + turned.transpose());
        d.y -= squares(p_.a, times(p_.a, second, execution_)) + before->s.cwiseProduct(before->y).cwiseQuotient(y_);
      }
      blas::solve_upper(blas::Op::transposed, system, d.y);
      blas::solve_upper(blas::Op::plain, system, d.y);
      d.z = weighted(p_.a, d.y);
      const Matrix turned = transposed_multiply(weighted_times(p_.a, d.y, ax), *z_inverse, execution_);
      d.x = target * *z_inverse - x_ - 0.5 * (turned + turned.transpose()) - second;
      d.ax = times(p_.a, d.x, execution_);
      d.s = -squares(p_.a, d.ax);
      d.primal = longest(x_, d.x, longest(s_, d.s));
      d.dual = longest(z_, d.z, longest(y_, d.y));
      return d;
    };
    const Direction affine = direction(0, nullptr);
    const double left =
        std::max(0.0, p_.b.dot(y_ + affine.dual * affine.y) - inner(p_.c, x_ + affine.primal * affine.x)) /
        static_cast<double>(n_ + m_);
    // The farther the affine direction leads, the more it is trusted (Toh, Todd and Tütüncü 1999).
    const double trust = std::max(1.0, 3 * std::pow(std::min(affine.primal, affine.dual), 2));
    const Direction d = direction(std::clamp(std::pow(left / mu, trust), 1e-4, 1.0) * mu, &affine);
    if (!(std::max(d.primal, d.dual) > 1e-8)) return false;
    x_ += d.primal * d.x;
    y_ += d.dual * d.y;
    z_ = weighted(p_.a, y_) - p_.c;
    s_ = p_.b - squares(p_.a, times(p_.a, x_, execution_));
    return s_.minCoeff() > 0 && y_.minCoeff() > 0;
  }

 private:
  struct Direction {
    Matrix x, z, ax;  // ax: rows a_kᵀ x
    Vector y, s;
    double primal = 0, dual = 0;  // how far to go
  };

  /// X = t I and y = u 1, with t small and u large enough.
  void start() {
    const Vector ones = Vector::Ones(m_);
    x_ = Matrix::Identity(n_, n_);
    const Vector lengths = squares(p_.a, times(p_.a, x_, execution_));
    x_ *= 0.5 * (p_.b.array() / lengths.array()).minCoeff();
    s_ = p_.b - squares(p_.a, times(p_.a, x_, execution_));
    const Matrix plain = weighted(p_.a, ones);
    double u = std::max(1e-12, p_.c.cwiseAbs().maxCoeff());
    for (int tries = 0; tries < 200; ++tries, u *= 2)
      if (is_definite(u * plain - p_.c)) break;
    y_ = 2 * u * ones;
    z_ = weighted(p_.a, y_) - p_.c;
    if (!is_definite(z_))
      throw Error("a semidefinite programme whose constraints do not span the space has no least bound");
  }

  const SemidefiniteProgramme& p_;
  const Execution& execution_;
  Index n_, m_;
  Matrix x_, z_;
  Vector y_, s_;
};

void check(const SemidefiniteProgramme& p) {
  require(p.c.rows() == p.c.cols() && p.c.rows() == p.a.width && p.a.rows() == p.b.size() && p.b.size() > 0,
          "a semidefinite programme whose parts do not fit together");
  require(p.c.allFinite() && p.b.allFinite(), "a semidefinite programme with a number that is not finite");
  for (Index k = 0; k < p.b.size(); ++k) {
    if (!(p.b(k) > 0))
      throw Error(fmt::format("bound {} of a semidefinite programme is {:g}, must be above 0", k + 1, p.b(k)));
    if (p.a.start[at(k)] == p.a.start[at(k) + 1])
      throw Error(fmt::format("constraint {} of a semidefinite programme is empty", k + 1));
  }
}

}  // namespace

SemidefiniteAnswer solve(const SemidefiniteProgramme& programme, const SemidefiniteOptions& options) {
  check(programme);
  const Execution silent = options.execution.part(0, 0);
  InteriorPoint point(programme, silent);
  SemidefiniteAnswer out;
  const auto take = [&] {
    out.x = point.x(), out.y = point.y();
    out.primal = point.primal(), out.dual = point.dual();
    out.converged = out.gap() <= options.tolerance * std::max(std::abs(out.dual), 1e-300);
  };
  take();
  const double first = std::log(std::max(out.gap(), 1e-300));
  while (!out.converged && out.iterations < options.most_iterations) {
    if (options.execution.cancelled()) throw Cancelled();
    if (!point.step()) break;
    const double before = out.gap();
    take();
    ++out.iterations;
    const double last = std::log(std::max(options.tolerance * std::abs(out.dual), 1e-300));
    options.execution.report(std::clamp((first - std::log(std::max(out.gap(), 1e-300))) / (first - last), 0.0, 1.0),
                             "interior points");
    if (out.gap() > 0.999 * before && out.gap() < 1e-6 * std::abs(out.dual)) break;  // rounding is all that is left
  }
  return out;
}

}  // namespace lemma
