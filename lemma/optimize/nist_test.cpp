// lemma/optimize/nist_test.cpp: nonlinear least squares against the certified values of NIST's Misra1a.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/optimize/gradient_check.hpp>
#include <lemma/optimize/minimise.hpp>

namespace lemma {
namespace {

/// ½ Σ (y − b₁ (1 − e^{−b₂ x}))², with b = (100 u₁, 10⁻⁴ u₂) so that both unknowns are of size 1.
struct Misra1a {
  const Vector x{{77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0}};
  const Vector y{{10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78}};

  double value(const Vector& u) const {
    Vector unused(2);
    return value(u, unused);
  }
  double value(const Vector& u, Vector& g) const {
    double sum = 0;
    g.setZero(2);
    for (Index i = 0; i < x.size(); ++i) {
      const double decay = std::exp(-1e-4 * u[1] * x[i]), r = 100 * u[0] * (1 - decay) - y[i];
      sum += 0.5 * r * r;
      g[0] += r * 100 * (1 - decay);
      g[1] += r * 100 * u[0] * decay * 1e-4 * x[i];
    }
    return sum;
  }
  Matrix hessian(const Vector& u) const {
    Matrix h = Matrix::Zero(2, 2);
    for (Index i = 0; i < x.size(); ++i) {
      const double rate = 1e-4 * x[i], decay = std::exp(-u[1] * rate), r = 100 * u[0] * (1 - decay) - y[i];
      const double d0 = 100 * (1 - decay), d1 = 100 * u[0] * decay * rate;
      h(0, 0) += d0 * d0;
      h(0, 1) += d0 * d1 + r * 100 * decay * rate;
      h(1, 1) += d1 * d1 - r * 100 * u[0] * decay * rate * rate;
    }
    h(1, 0) = h(0, 1);
    return h;
  }
};

TEST(Nist, Misra1aToNineDigitsFromBothStarts) {
  const Misra1a f;
  ASSERT_TRUE(check_derivatives(f, Vector{{2, 4}}).holds());
  for (const Vector& start : {Vector{{5, 1}}, Vector{{2.5, 5}}}) {
    for (const Minimum& found : {newton(f, start), bfgs(f, start), lbfgs(f, start)}) {
      EXPECT_NEAR(100 * found.x[0] / 2.3894212918e+02, 1, 1e-9) << name_of(found.stopped);
      EXPECT_NEAR(1e-4 * found.x[1] / 5.5015643181e-04, 1, 1e-9) << name_of(found.stopped);
      EXPECT_NEAR(2 * found.value / 1.2455138894e-01, 1, 1e-9);  // NIST's sum of squares has no half
    }
  }
}

}  // namespace
}  // namespace lemma
