// lemma/optimize/problems_test.hpp: functions whose minima are known.
#pragma once
#include <cmath>
#include <lemma/optimize/objective.hpp>

namespace lemma::problems {

/// Σ 100 (x_{i+1} − x_i²)² + (1 − x_i)²: a bent valley, least value 0 at (1, …, 1).
struct Rosenbrock {
  double value(const Vector& x) const {
    Vector unused(x.size());
    return value(x, unused);
  }
  double value(const Vector& x, Vector& g) const {
    double sum = 0;
    g.setZero(x.size());
    for (Index i = 0; i + 1 < x.size(); ++i) {
      const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
      sum += 100 * a * a + b * b;
      g[i] += -400 * a * x[i] - 2 * b;
      g[i + 1] += 200 * a;
    }
    return sum;
  }
  Matrix hessian(const Vector& x) const {
    Matrix h = Matrix::Zero(x.size(), x.size());
    for (Index i = 0; i + 1 < x.size(); ++i) {
      h(i, i) += 1200 * x[i] * x[i] - 400 * x[i + 1] + 2;
      h(i + 1, i + 1) += 200;
      h(i, i + 1) += -400 * x[i], h(i + 1, i) += -400 * x[i];
    }
    return h;
  }
};

/// Beale's function: least value 0 at (3, ½).
struct Beale {
  double value(const Vector& x) const {
    Vector unused(2);
    return value(x, unused);
  }
  double value(const Vector& x, Vector& g) const {
    const double c[] = {1.5, 2.25, 2.625};
    double sum = 0, power = 1;
    g.setZero(2);
    for (int k = 0; k < 3; ++k) {
      const double before = power;  // y^k
      power *= x[1];
      const double r = c[k] - x[0] + x[0] * power;
      sum += r * r;
      g[0] += 2 * r * (power - 1);
      g[1] += 2 * r * x[0] * (k + 1) * before;
    }
    return sum;
  }
};

/// (x² + y − 11)² + (x + y² − 7)²: four minima of value 0.
struct Himmelblau {
  double value(const Vector& x) const {
    Vector unused(2);
    return value(x, unused);
  }
  double value(const Vector& x, Vector& g) const {
    const double a = x[0] * x[0] + x[1] - 11, b = x[0] + x[1] * x[1] - 7;
    g.resize(2);
    g[0] = 4 * a * x[0] + 2 * b, g[1] = 2 * a + 4 * b * x[1];
    return a * a + b * b;
  }
  Matrix hessian(const Vector& x) const {
    return Matrix{{12 * x[0] * x[0] + 4 * x[1] - 42, 4 * x[0] + 4 * x[1]},
                  {4 * x[0] + 4 * x[1], 4 * x[0] + 12 * x[1] * x[1] - 26}};
  }
};

/// ½ Σ κ^{i/(n−1)} (x_i − 1)², turned by a reflection so that no axis is special: condition κ, least value 0 at the
/// reflection of (1, …, 1).
struct Quadratic {
  Index n;
  double kappa;

  Vector reflect(const Vector& x) const {
    const Vector v = Vector::LinSpaced(n, 1, 2);
    return x - 2 * v.dot(x) / v.squaredNorm() * v;
  }
  Vector scales() const {
    return Vector::LinSpaced(n, 0, 1).unaryExpr([this](double t) { return std::pow(kappa, t); });
  }
  Vector minimiser() const { return reflect(Vector::Ones(n)); }
  double value(const Vector& x) const {
    Vector unused(n);
    return value(x, unused);
  }
  double value(const Vector& x, Vector& g) const {
    const Vector r = reflect(x) - Vector::Ones(n), scaled = scales().cwiseProduct(r);
    g = reflect(scaled);
    return 0.5 * r.dot(scaled);
  }
  Vector hessian_times(const Vector&, const Vector& v) const { return reflect(scales().cwiseProduct(reflect(v))); }
};

}  // namespace lemma::problems
