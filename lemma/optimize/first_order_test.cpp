// lemma/optimize/first_order_test.cpp: momentum, stochastic and proximal gradients, coordinate descent.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/optimize/coordinate.hpp>
#include <lemma/optimize/problems_test.hpp>
#include <lemma/optimize/programme.hpp>
#include <lemma/optimize/proximal.hpp>
#include <lemma/optimize/stochastic.hpp>
#include <rapidcheck/gtest.h>

namespace lemma {
namespace {

/// ½ Σ (x_i·w − y_i)², as a whole and in terms.
struct LeastSquares {
  Matrix x;
  Vector y;

  Index terms() const { return x.rows(); }
  double value(const Vector& w) const { return 0.5 * (x * w - y).squaredNorm(); }
  double value(const Vector& w, Vector& g) const {
    const Vector r = x * w - y;
    g = x.transpose() * r;
    return 0.5 * r.squaredNorm();
  }
  double batch(const Vector& w, std::span<const Index> which, Vector& g) const {
    double sum = 0;
    for (const Index i : which) {
      const double r = x.row(i).dot(w) - y[i];
      sum += 0.5 * r * r;
      g += r * x.row(i).transpose();
    }
    return sum;
  }
};

LeastSquares some_data(Index rows, Index columns, double noise, std::uint64_t seed = 1) {
  LeastSquares out{normal_matrix(rows, columns, seed), Vector()};
  RandomStream stream(seed, 7);
  out.y = out.x * Vector::LinSpaced(columns, -1, 2);
  for (double& v : out.y) v += noise * stream.normal();
  return out;
}

TEST(Momentum, ArrivesFasterThanGradientDescentInALongValley) {
  const problems::Quadratic f{10, 300};
  const MinimiseOptions options{.most_iterations = 20000, .tolerance = 1e-8};
  const Minimum ball = momentum(f, Vector::Zero(10), options), plain = gradient_descent(f, Vector::Zero(10), options);
  EXPECT_TRUE(ball.converged) << name_of(ball.stopped);
  EXPECT_TRUE(plain.converged) << name_of(plain.stopped);
  EXPECT_LE((ball.x - f.minimiser()).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT(ball.iterations, plain.iterations);
  EXPECT_THROW(momentum(f, Vector::Zero(10), {}, {.beta = 1}), Error);
}

TEST(StochasticGradient, ComesWithinAPercentOfTheLeastSquaresOptimum) {
  const LeastSquares f = some_data(2000, 6, 0.5);
  const Vector optimum = least_squares(f.x, f.y).w;
  const Minimum found = stochastic_gradient(f, Vector::Zero(6), {.passes = 40, .tolerance = 0, .seed = 3});
  const double least = f.value(optimum);
  EXPECT_LE(found.value - least, 1e-4 * least);  // the stated tolerance: a ten-thousandth of the objective
  EXPECT_LE((found.x - optimum).norm(), 0.01 * optimum.norm());
  EXPECT_EQ(found.iterations, 40);
}

TEST(StochasticGradient, WithoutNoiseItConvergesToTheToleranceAndSaysSo) {
  const LeastSquares f = some_data(500, 4, 0);
  const Minimum found = stochastic_gradient(f, Vector::Zero(4), {.batch = 8, .tolerance = 1e-6, .keep_trace = true});
  EXPECT_TRUE(found.converged) << name_of(found.stopped);
  EXPECT_LE((found.x - Vector::LinSpaced(4, -1, 2)).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_EQ(found.trace.size(), static_cast<std::size_t>(found.iterations) + 1);
}

TEST(StochasticGradient, TheSameSeedGivesTheSameBitsAndAnotherDoesNot) {
  const LeastSquares f = some_data(300, 4, 1);
  const SgdOptions options{.passes = 5, .seed = 8};
  SgdOptions other = options;
  other.seed = 9;
  EXPECT_EQ(stochastic_gradient(f, Vector::Zero(4), options).x, stochastic_gradient(f, Vector::Zero(4), options).x);
  EXPECT_NE(stochastic_gradient(f, Vector::Zero(4), options).x, stochastic_gradient(f, Vector::Zero(4), other).x);
}

TEST(StochasticGradient, AStepThatIsFarTooLongIsCutUntilItHolds) {
  const LeastSquares f = some_data(300, 4, 0.1);
  const Minimum found = stochastic_gradient(f, Vector::Zero(4), {.step = 1e6, .passes = 60, .tolerance = 0});
  EXPECT_TRUE(std::isfinite(found.value));
  EXPECT_LT(found.value, 0.01 * f.value(Vector::Zero(4)));
}

TEST(StochasticGradient, StepsThatDoNotMeetRobbinsAndMonroAreRefused) {
  const LeastSquares f = some_data(10, 2, 0);
  EXPECT_THROW(stochastic_gradient(f, Vector::Zero(2), {.power = 0.5}), Error);
  EXPECT_THROW(stochastic_gradient(f, Vector::Zero(2), {.power = 1.1}), Error);
  EXPECT_THROW(stochastic_gradient(f, Vector::Zero(2), {.batch = 0}), Error);
}

/// The largest violation of the lasso's conditions: |X_jᵀr| ≤ λ, with equality and the sign of w_j where w_j ≠ 0.
double lasso_violation(const LeastSquares& f, const Vector& w, double lambda) {
  const Vector correlation = f.x.transpose() * (f.y - f.x * w);
  double out = 0;
  for (Index j = 0; j < w.size(); ++j)
    out = std::max(out, w[j] != 0 ? std::abs(correlation[j] - std::copysign(lambda, w[j]))
                                  : std::max(std::abs(correlation[j]) - lambda, 0.0));
  return out;
}

TEST(Lasso, ByProximalGradientAndByCoordinatesIsTheSame) {
  const LeastSquares f = some_data(60, 20, 0.3);
  const double lambda = 15;
  const L1 penalty{Vector::Constant(1, lambda)};
  const MinimiseOptions options{.most_iterations = 5000, .tolerance = 1e-10};
  const Minimum prox = proximal_gradient(f, penalty, Vector::Zero(20), options);
  EXPECT_TRUE(prox.converged) << name_of(prox.stopped);
  EXPECT_LE(lasso_violation(f, prox.x, lambda), 1e-6);

  const Matrix q = f.x.transpose() * f.x;
  const Vector b = f.x.transpose() * f.y;
  const Minimum coordinates = coordinate_descent(q, b, {.l1 = Vector::Constant(20, lambda)}, Vector::Zero(20), options);
  EXPECT_TRUE(coordinates.converged) << name_of(coordinates.stopped);
  EXPECT_LE(lasso_violation(f, coordinates.x, lambda), 1e-6);
  EXPECT_LE((prox.x - coordinates.x).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_NEAR(prox.value, coordinates.value + 0.5 * f.y.squaredNorm(), 1e-9);
  EXPECT_GT((coordinates.x.array() == 0).count(), 0);  // some are out
  EXPECT_GT(lasso_violation(f, prox.x * 1.001, lambda), 1e-3);
}

TEST(Coordinate, OrthogonalColumnsAreThresholdedInOneRound) {
  const Minimum found = coordinate_descent(Matrix::Identity(4, 4), Vector{{3, -0.5, 1, -2}},
                                           {.l1 = Vector::Ones(4), .l2 = Vector{{0, 0, 0, 1}}}, Vector::Zero(4));
  EXPECT_EQ(found.iterations, 1);
  EXPECT_EQ(found.x, (Vector{{2, 0, 0, -0.5}}));
}

TEST(Coordinate, BoundsMakeItAQuadraticProgramme) {
  const LeastSquares f = some_data(40, 8, 0.5);
  Matrix q = f.x.transpose() * f.x;
  q = Matrix(0.5 * (q + q.transpose()));
  const Vector b = f.x.transpose() * f.y, lower = Vector::Zero(8), upper = Vector::Constant(8, 1.2);
  const Minimum found =
      coordinate_descent(q, b, {.lower = lower, .upper = upper}, Vector::Zero(8), {.tolerance = 1e-12});
  EXPECT_TRUE(found.converged) << name_of(found.stopped);
  const auto exact = solve(QuadraticProgramme{q, {.c = -b, .lower = lower, .upper = upper}});
  ASSERT_TRUE(exact.solved());
  EXPECT_LE((found.x - exact.x).cwiseAbs().maxCoeff(), 1e-6);
  const Box box{lower, upper};
  const Minimum prox = proximal_gradient(f, box, Vector::Zero(8), {.most_iterations = 5000});
  EXPECT_TRUE(prox.converged) << name_of(prox.stopped);
  EXPECT_LE((found.x - prox.x).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(Coordinate, AnObjectiveWithoutEndIsRefused) {
  EXPECT_THROW(coordinate_descent(Matrix::Zero(1, 1), Vector{{1.0}}, {}, Vector::Zero(1)), Error);
  EXPECT_EQ(coordinate_descent(Matrix::Zero(1, 1), Vector{{1.0}}, {.upper = Vector{{2.0}}}, Vector::Zero(1)).x[0], 2);
}

TEST(ProximalGradient, ASquaredPenaltyIsRidge) {
  const LeastSquares f = some_data(30, 5, 0.2);
  const SquaredL2 penalty{3};
  const Minimum found = proximal_gradient(f, penalty, Vector::Zero(5), {.most_iterations = 5000});
  EXPECT_TRUE(found.converged) << name_of(found.stopped);
  const Vector condition = f.x.transpose() * (f.x * found.x - f.y) + 3 * found.x;
  EXPECT_LE(condition.cwiseAbs().maxCoeff(), 1e-6);
}

TEST(ProximalGradient, OnTheSimplexItAgreesWithTheQuadraticProgramme) {
  const LeastSquares f = some_data(30, 6, 0.2);
  const SimplexSet simplex{1};
  const Minimum found = proximal_gradient(f, simplex, Vector::Zero(6), {.most_iterations = 5000});
  EXPECT_TRUE(found.converged) << name_of(found.stopped);
  Matrix q = f.x.transpose() * f.x;
  q = Matrix(0.5 * (q + q.transpose()));
  const auto exact = solve(QuadraticProgramme{q,
                                              {.c = -f.x.transpose() * f.y,
                                               .a = Matrix::Ones(1, 6),
                                               .row_lower = Vector{{1.0}},
                                               .row_upper = Vector{{1.0}},
                                               .lower = Vector::Zero(6)}});
  ASSERT_TRUE(exact.solved());
  EXPECT_LE((found.x - exact.x).cwiseAbs().maxCoeff(), 1e-6);
}

RC_GTEST_PROP(SimplexSet, TheProjectionLiesInTheSetAndNoPointOfItIsNearer, ()) {
  const Index n = *rc::gen::inRange(1, 8);
  RandomStream stream(*rc::gen::inRange<std::uint64_t>(0, 100000));
  Vector from(n), other(n);
  for (double& v : from) v = 2 * stream.normal();
  for (double& v : other) v = stream.uniform();
  other /= other.sum();
  Vector to = from;
  SimplexSet{}.prox(to, 1);
  RC_ASSERT(SimplexSet{}.value(to) == 0.0);
  RC_ASSERT((from - to).dot(other - to) <= 1e-12);  // the obtuse angle of a projection on a convex set
}

}  // namespace
}  // namespace lemma
