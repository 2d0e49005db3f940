// lemma/optimize/minimise_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/optimize/gradient_check.hpp>
#include <lemma/optimize/minimise.hpp>
#include <lemma/optimize/problems_test.hpp>
#include <limits>

namespace lemma {
namespace {

using problems::Beale, problems::Himmelblau, problems::Quadratic, problems::Rosenbrock;

struct Named {
  const char* name;
  Minimum (*run)(const Objective&, Vector, const MinimiseOptions&);
};
const Named quasi_newton[] = {
    {"conjugate_gradient", conjugate_gradient},
    {"bfgs", bfgs},
    {"lbfgs", [](const Objective& f, Vector x, const MinimiseOptions& o) { return lbfgs(f, std::move(x), o); }},
};

TEST(Derivatives, OfTheKnownProblemsAreRight) {
  EXPECT_TRUE(check_derivatives(Rosenbrock{}, Vector{{-1.2, 1, 0.3}}).holds());
  EXPECT_TRUE(check_derivatives(Beale{}, Vector{{1, 1}}).holds());
  EXPECT_TRUE(check_derivatives(Himmelblau{}, Vector{{0.5, -2}}).holds());
  EXPECT_TRUE(check_derivatives(Quadratic{5, 100}, Vector::Constant(5, 0.7)).holds());
}

struct WrongGradient : Rosenbrock {
  double value(const Vector& x) const { return Rosenbrock::value(x); }
  double value(const Vector& x, Vector& g) const {
    const double out = Rosenbrock::value(x, g);
    g[1] *= 1.001;
    return out;
  }
};
struct WrongHessian : Rosenbrock {
  Matrix hessian(const Vector& x) const { return Rosenbrock::hessian(x) + 0.01 * Matrix::Identity(x.size(), x.size()); }
};

TEST(Derivatives, AWrongEntryIsFoundAndNamed) {
  const DerivativeCheck gradient = check_derivatives(WrongGradient{}, Vector{{-1.2, 1, 0.3}});
  EXPECT_FALSE(gradient.holds());
  EXPECT_EQ(gradient.worst, 1);
  const DerivativeCheck hessian = check_derivatives(WrongHessian{}, Vector{{-1.2, 1, 0.3}});
  EXPECT_TRUE(hessian.gradient < 1e-6);
  EXPECT_GT(hessian.hessian, 1e-6);
}

TEST(Minimise, RosenbrocksValleyIsFollowedToItsEnd) {
  for (const auto& [name, run] : quasi_newton) {
    for (const Index n : {2, 10, 50}) {
      const Vector start = Vector::LinSpaced(n, 0, static_cast<double>(n - 1)).unaryExpr([](double i) {
        return static_cast<int>(i) % 2 ? 1.0 : -1.2;
      });
      const Minimum found = run(Rosenbrock{}, start, {});
      EXPECT_TRUE(found.converged) << name << ' ' << n << ' ' << name_of(found.stopped);
      // There is a second, local minimum for n ≥ 4 near x₁ = −1; either has a gradient of zero.
      if (n == 2) { EXPECT_LE((found.x - Vector::Ones(n)).cwiseAbs().maxCoeff(), 1e-8) << name; }
      EXPECT_LE(found.evaluations, 100 + 40 * n) << name;
    }
  }
  const Minimum found = newton(Rosenbrock{}, Vector{{-1.2, 1}});
  EXPECT_TRUE(found.converged);
  EXPECT_LE((found.x - Vector::Ones(2)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LE(found.iterations, 30);
}

TEST(Minimise, BealeAndHimmelblau) {
  for (const auto& [name, run] : quasi_newton) {
    const Minimum beale = run(Beale{}, Vector{{1, 1}}, {});
    EXPECT_TRUE(beale.converged) << name;
    EXPECT_NEAR(beale.x[0], 3, 1e-7) << name;
    EXPECT_NEAR(beale.x[1], 0.5, 1e-7) << name;
    const Minimum himmelblau = run(Himmelblau{}, Vector{{0, 0}}, {});
    EXPECT_NEAR(himmelblau.value, 0, 1e-15) << name;
  }
  // At the origin the Hessian is negative definite: an unshifted Newton step climbs to the maximum at (−0.27, −0.92).
  const Minimum shifted = newton(Himmelblau{}, Vector{{0, 0}});
  EXPECT_TRUE(shifted.converged);
  EXPECT_NEAR(shifted.value, 0, 1e-15);
}

TEST(Minimise, AQuadraticOfConditionAMillion) {
  const Quadratic f{30, 1e6};
  for (const auto& [name, run] : quasi_newton) {
    const Minimum found = run(f, Vector::Zero(30), {.most_iterations = 30000, .tolerance = 1e-9});
    EXPECT_TRUE(found.converged) << name << ": " << name_of(found.stopped);
    EXPECT_LE((found.x - f.minimiser()).cwiseAbs().maxCoeff(), 1e-8) << name;
  }
  const Minimum by_products = newton(f, Vector::Zero(30), {.tolerance = 1e-9});
  EXPECT_TRUE(by_products.converged) << name_of(by_products.stopped);
  EXPECT_LE((by_products.x - f.minimiser()).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Minimise, GradientDescentFallsAtEveryStepAndArrivesWhereTheValleyIsRound) {
  const Quadratic f{10, 20};
  const Minimum found = gradient_descent(f, Vector::Zero(10), {.keep_trace = true});
  EXPECT_TRUE(found.converged) << name_of(found.stopped);
  EXPECT_LE((found.x - f.minimiser()).cwiseAbs().maxCoeff(), 1e-9);
  ASSERT_EQ(found.trace.size(), static_cast<std::size_t>(found.iterations) + 1);
  for (std::size_t i = 1; i < found.trace.size(); ++i) EXPECT_LE(found.trace[i], found.trace[i - 1]);
  EXPECT_EQ(found.trace.back(), found.value);
}

TEST(Minimise, NewtonSolvesAQuadraticInOneStep) {
  struct Bowl : Quadratic {
    Matrix hessian(const Vector& x) const {
      Matrix h(n, n);
      for (Index j = 0; j < n; ++j) h.col(j) = hessian_times(x, Vector::Unit(n, j));
      return h;
    }
  };
  const Bowl f{{8, 1e4}};
  const Minimum found = newton(f, Vector::Zero(8), {.tolerance = 1e-9});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.iterations, 1);
}

TEST(Minimise, TheCallerMayStopAndLook) {
  long long seen = -1;
  MinimiseOptions options;
  options.stop = [&](const Iterate& now) {
    seen = now.iteration;
    return now.value < 1;
  };
  const Minimum found = lbfgs(Rosenbrock{}, Vector{{-1.2, 1}}, options);
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.stopped, Stop::by_caller);
  EXPECT_EQ(found.iterations, seen);
  EXPECT_LT(found.value, 1);
  EXPECT_EQ(lbfgs(Rosenbrock{}, Vector{{-1.2, 1}}, {.most_iterations = 2}).stopped, Stop::iteration_limit);
}

TEST(Minimise, TheSameStartGivesTheSameBits) {
  for (const auto& [name, run] : quasi_newton) {
    const Minimum a = run(Rosenbrock{}, Vector::Zero(20), {}), b = run(Rosenbrock{}, Vector::Zero(20), {});
    EXPECT_EQ(a.x, b.x) << name;
    EXPECT_EQ(a.evaluations, b.evaluations) << name;
  }
}

/// f = x − log x, with infinity outside: steps that leave the domain must come back.
struct Barrier {
  double value(const Vector& x) const {
    return x[0] > 0 ? x[0] - std::log(x[0]) : std::numeric_limits<double>::infinity();
  }
  double value(const Vector& x, Vector& g) const {
    g = Vector{{1 - 1 / x[0]}};
    return value(x);
  }
  Matrix hessian(const Vector& x) const { return Matrix{{1 / (x[0] * x[0])}}; }
};

TEST(Minimise, AStepOutOfTheDomainComesBack) {
  for (const double start : {1e-3, 7.0}) {
    for (const auto& [name, run] : quasi_newton) {
      const Minimum found = run(Barrier{}, Vector{{start}}, {});
      EXPECT_TRUE(found.converged) << name << ' ' << start;
      EXPECT_NEAR(found.x[0], 1, 1e-9) << name << ' ' << start;
    }
    EXPECT_NEAR(newton(Barrier{}, Vector{{start}}).x[0], 1, 1e-9);
    EXPECT_NEAR(gradient_descent(Barrier{}, Vector{{start}}).x[0], 1, 1e-9);
  }
  EXPECT_THROW(lbfgs(Barrier{}, Vector{{-1.0}}), Error);
}

TEST(Minimise, AnOffsetOfAMillionDoesNotKeepItFromTheOptimum) {
  struct Offset : Quadratic {
    double value(const Vector& x) const { return 1e6 + Quadratic::value(x); }
    double value(const Vector& x, Vector& g) const { return 1e6 + Quadratic::value(x, g); }
  };
  const Offset f{{10, 1e3}};  // values stop falling at a gradient of about 1e-4; slopes go on
  for (const auto& [name, run] : quasi_newton) {
    const Minimum found = run(f, Vector::Zero(10), {.tolerance = 1e-15});
    EXPECT_LE(found.gradient.cwiseAbs().maxCoeff(), 1e-8) << name << ' ' << name_of(found.stopped);
  }
}

}  // namespace
}  // namespace lemma
