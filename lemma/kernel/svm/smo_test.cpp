// lemma/kernel/svm/smo_test.cpp: the dual problem against an interior point, and what its answer must satisfy.
#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/kernel/svm/smo.hpp>
#include <lemma/optimize/programme.hpp>
#include <limits>
#include <numeric>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Two overlapping clouds with labels ±1.
struct Clouds {
  Matrix x;
  std::vector<signed char> sign;

  Clouds(Index n, Index width, std::uint64_t seed, double apart = 1) : x(normal_matrix(n, width, seed)) {
    for (Index i = 0; i < n; ++i) {
      sign.push_back(i % 3 == 0 ? 1 : -1);
      x(i, 0) += apart * sign.back();
    }
  }
};

DualProblem classification(const BoundKernel& kernel, const std::vector<signed char>& sign, double bound) {
  DualProblem problem;
  problem.kernel = &kernel;
  problem.row.resize(sign.size());
  std::iota(problem.row.begin(), problem.row.end(), Index{0});
  problem.sign = sign;
  problem.linear = Vector::Constant(problem.size(), -1);
  problem.bound = Vector::Constant(problem.size(), bound);
  return problem;
}

/// α and α* of each row: t = +1, p = ε − y and t = −1, p = ε + y.
DualProblem regression(const BoundKernel& kernel, const Vector& y, double epsilon, double bound) {
  DualProblem problem;
  problem.kernel = &kernel;
  problem.linear.resize(2 * y.size());
  for (int side : {1, -1})
    for (Index i = 0; i < y.size(); ++i) {
      problem.linear(problem.size()) = epsilon - side * y(i);
      problem.row.push_back(i);
      problem.sign.push_back(static_cast<signed char>(side));
    }
  problem.bound = Vector::Constant(problem.size(), bound);
  return problem;
}

Matrix q_of(const DualProblem& problem) {
  const Matrix gram = problem.kernel->gram();
  Matrix q(problem.size(), problem.size());
  for (Index i = 0; i < q.rows(); ++i)
    for (Index j = 0; j < q.cols(); ++j)
      q(i, j) = problem.sign[at(i)] * problem.sign[at(j)] * gram(problem.row[at(i)], problem.row[at(j)]);
  return q;
}

double total_of(const DualProblem& problem, const Vector& alpha) {
  double total = 0;
  for (Index i = 0; i < alpha.size(); ++i) total += problem.sign[at(i)] * alpha(i);
  return total;
}

ProgrammeAnswer by_interior_point(const DualProblem& problem, double total = 0) {
  QuadraticProgramme programme;
  programme.q = q_of(problem);
  programme.linear.c = problem.linear;
  Matrix a(1, problem.size());
  for (Index i = 0; i < problem.size(); ++i) a(0, i) = problem.sign[at(i)];
  programme.linear.a = a;
  programme.linear.row_lower = programme.linear.row_upper = Vector::Constant(1, total);
  programme.linear.lower = Vector::Zero(problem.size());
  programme.linear.upper = problem.bound;
  return solve(programme);
}

/// The greatest violation of the KKT conditions, from Q and α alone.
double violation_of(const DualProblem& problem, const DualSolution& solution) {
  const Vector gradient = q_of(problem) * solution.alpha + problem.linear;
  double up = -kInfinity, low = kInfinity;
  for (Index i = 0; i < problem.size(); ++i) {
    const double t = problem.sign[at(i)], a = solution.alpha(i);
    if (t > 0 ? a < problem.bound(i) : a > 0) up = std::max(up, -t * gradient(i));
    if (t > 0 ? a > 0 : a < problem.bound(i)) low = std::min(low, -t * gradient(i));
  }
  return up - low;
}

SmoOptions tight(WorkingSet how = WorkingSet::pair) { return {.tolerance = 1e-9, .working_set = how}; }

TEST(Smo, AgreesWithAnInteriorPoint) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Clouds clouds(20 + 5 * static_cast<Index>(seed), 3, seed);
    const Kernel kernels[] = {Rbf{.gamma = 0.5}, LinearKernel{}, Poly{.degree = 2, .gamma = 0.3}};
    const BoundKernel kernel(kernels[seed % 3], Points(clouds.x));
    for (const double bound : {0.1, 1.0, 30.0}) {
      const DualProblem problem = classification(kernel, clouds.sign, bound);
      const DualSolution solution = solve_dual(problem, tight());
      const ProgrammeAnswer answer = by_interior_point(problem);
      ASSERT_TRUE(answer.solved());
      EXPECT_TRUE(solution.converged) << solution.stopped;
      EXPECT_NEAR(solution.objective, answer.value, 1e-7 * std::max(1.0, std::abs(answer.value)));
      EXPECT_LE(violation_of(problem, solution), 1.01e-9 + 1e-11);
      EXPECT_NEAR(total_of(problem, solution.alpha), 0, 1e-11 * bound);
      EXPECT_NEAR(solution.bias, -answer.dual.rows(0), 1e-4 * std::max(1.0, std::abs(solution.bias)));
    }
  }
}

TEST(Smo, GivesTheGradientAndTheObjectiveOfItsAlpha) {
  const Clouds clouds(60, 4, 3);
  const BoundKernel kernel(Rbf{.gamma = 0.2}, Points(clouds.x));
  const DualProblem problem = classification(kernel, clouds.sign, 1);
  const DualSolution solution = solve_dual(problem, {.tolerance = 1e-2});
  const Matrix q = q_of(problem);
  const Vector gradient = q * solution.alpha + problem.linear;
  EXPECT_LE((solution.gradient - gradient).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(solution.objective, solution.alpha.dot(0.5 * (q * solution.alpha) + problem.linear), 1e-12);
  EXPECT_NEAR(solution.violation, violation_of(problem, solution), 1e-12);
  EXPECT_LE(solution.violation, 1e-2);
}

TEST(Smo, SolvesRegressionWithTwoVariablesForEachRow) {
  const Matrix x = normal_matrix(50, 2, 5);
  const Vector y = x.col(0).array().sin() + 0.3 * x.col(1).array().square();
  const BoundKernel kernel(Rbf{.gamma = 0.5}, Points(x));
  for (const double epsilon : {0.0, 0.05, 0.3}) {
    const DualProblem problem = regression(kernel, y, epsilon, 2);
    const DualSolution solution = solve_dual(problem, tight());
    const ProgrammeAnswer answer = by_interior_point(problem);
    ASSERT_TRUE(answer.solved());
    EXPECT_TRUE(solution.converged) << solution.stopped;
    EXPECT_NEAR(solution.objective, answer.value, 1e-7 * std::max(1.0, std::abs(answer.value)));
    if (epsilon == 0) continue;
    Vector coefficients = solution.alpha.head(50) - solution.alpha.tail(50);
    const Vector fitted = (kernel.gram() * coefficients).array() + solution.bias;
    for (Index i = 0; i < 50; ++i) {  // free multipliers stand on the edge of the tube, and none on both
      EXPECT_EQ(std::min(solution.alpha(i), solution.alpha(50 + i)), 0);
      if (solution.alpha(i) > 1e-8 && solution.alpha(i) < 2 - 1e-8) { EXPECT_NEAR(y(i) - fitted(i), epsilon, 1e-7); }
    }
  }
}

TEST(Smo, AnswersForARowGivenTwiceWithOppositeSigns) {
  Clouds clouds(20, 2, 7);
  Matrix twice(40, 2);
  twice << clouds.x, clouds.x;
  std::vector<signed char> sign = clouds.sign;
  for (const signed char t : clouds.sign) sign.push_back(static_cast<signed char>(-t));
  const BoundKernel kernel(Rbf{.gamma = 1}, Points(twice));
  const DualProblem problem = classification(kernel, sign, 1.5);
  const DualSolution solution = solve_dual(problem, tight());
  EXPECT_TRUE(solution.converged) << solution.stopped;
  EXPECT_NEAR(solution.objective, -60, 1e-8);  // every α at its bound, w = 0
}

TEST(Smo, FindsTheWidestMarginWithoutBounds) {
  Matrix x(4, 2);
  x << 0, 0, 0, 1, 2, 0, 2, 1;
  const BoundKernel kernel(LinearKernel{}, Points(x));
  const DualSolution solution = solve_dual(classification(kernel, {-1, -1, 1, 1}, kInfinity), tight());
  EXPECT_TRUE(solution.converged);
  EXPECT_FALSE(solution.unbounded);
  EXPECT_NEAR(solution.objective, -0.5, 1e-8);  // w = (1, 0), b = −1
  EXPECT_NEAR(solution.bias, -1, 1e-8);
}

TEST(Smo, SaysWhenNoMarginSeparatesTheClasses) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Clouds mixed(120, 2, seed, 0.3), apart(120, 2, seed, 8);
    const BoundKernel one(LinearKernel{}, Points(mixed.x)), other(LinearKernel{}, Points(apart.x));
    const DualSolution never = solve_dual(classification(one, mixed.sign, kInfinity), {});
    EXPECT_TRUE(never.unbounded) << never.stopped;
    EXPECT_FALSE(never.converged);
    const DualSolution found = solve_dual(classification(other, apart.sign, kInfinity), {});
    EXPECT_FALSE(found.unbounded);
    EXPECT_TRUE(found.converged) << found.stopped;
  }
  Matrix same(3, 1);
  same << 1, 1, 3;
  const BoundKernel kernel(Rbf{.gamma = 1}, Points(same));
  EXPECT_TRUE(solve_dual(classification(kernel, {1, -1, 1}, kInfinity), {}).unbounded);
}

TEST(Smo, EndsOnAnIndefiniteKernel) {
  const Clouds clouds(80, 3, 11, 0.5);
  const BoundKernel kernel(Tanh{.gamma = 1, .offset = -2}, Points(clouds.x));
  const DualProblem problem = classification(kernel, clouds.sign, 10);
  const DualSolution solution = solve_dual(problem, {.tolerance = 1e-6});
  EXPECT_TRUE(solution.converged) << solution.stopped;
  EXPECT_LE(violation_of(problem, solution), 1e-6);
}

TEST(Smo, TakesTheMidpointWhenNoVariableIsFree) {
  Matrix x(2, 1);
  x << -1, 3;
  const BoundKernel kernel(LinearKernel{}, Points(x));
  const DualSolution solution = solve_dual(classification(kernel, {-1, 1}, 0.01), tight());
  EXPECT_EQ(solution.alpha(0), 0.01);
  EXPECT_EQ(solution.alpha(1), 0.01);
  EXPECT_NEAR(solution.bias, (solution.bias_low + solution.bias_high) / 2, 1e-15);
  EXPECT_NEAR(solution.bias_low, -1 + 0.04, 1e-12);
  EXPECT_NEAR(solution.bias_high, 1 - 0.12, 1e-12);
}

TEST(Smo, KeepsTheTotalItStartsWith) {
  const Clouds clouds(30, 2, 13);
  const BoundKernel kernel(Rbf{.gamma = 0.5}, Points(clouds.x));
  DualProblem problem = classification(kernel, clouds.sign, 1);
  problem.linear.setZero();
  problem.start = Vector::Zero(30);
  problem.start(0) = problem.start(3) = 1;  // both of sign +1
  problem.start(6) = 0.5;
  const DualSolution solution = solve_dual(problem, tight());
  const ProgrammeAnswer answer = by_interior_point(problem, 2.5);
  ASSERT_TRUE(answer.solved());
  EXPECT_NEAR(total_of(problem, solution.alpha), 2.5, 1e-12);
  EXPECT_NEAR(solution.objective, answer.value, 1e-7);
}

TEST(Smo, GoesOnWithWhatAnEarlierSolutionKnew) {
  const Clouds clouds(1300, 70, 12);  // of so many columns kernel values are kept
  const BoundKernel kernel(Rbf{.gamma = 0.01}, Points(clouds.x));
  DualProblem problem = classification(kernel, clouds.sign, 10);
  const DualSolution first = solve_dual(problem, {.tolerance = 0.1});
  ASSERT_TRUE(first.converged && first.kept);
  problem.start = first.alpha;
  const DualSolution anew = solve_dual(problem, {.tolerance = 1e-3});
  problem.start_gradient = first.gradient;
  problem.kept = first.kept;
  const DualSolution on = solve_dual(problem, {.tolerance = 1e-3});
  EXPECT_GT(on.steps, 0);
  EXPECT_EQ(on.alpha, anew.alpha);
  EXPECT_EQ(on.gradient, anew.gradient);
  EXPECT_EQ(on.kept, first.kept);
  EXPECT_LE(violation_of(problem, on), 1e-3);
}

TEST(Smo, DoesNotTakeRowsOfOtherPointsForItsOwn) {
  const Clouds clouds(1300, 70, 12);
  const BoundKernel kernel(Rbf{.gamma = 0.01}, Points(clouds.x));
  DualProblem problem = classification(kernel, clouds.sign, 1);
  const auto kept = solve_dual(problem, {}).kept;
  problem.row.erase(problem.row.begin());
  problem.sign.erase(problem.sign.begin());
  problem.linear.conservativeResize(1299);
  problem.bound.conservativeResize(1299);
  const DualSolution alone = solve_dual(problem, {});
  problem.kept = kept;
  EXPECT_EQ(solve_dual(problem, {}).alpha, alone.alpha);
  EXPECT_EQ(alone.kept, nullptr);
}

TEST(Smo, TakesSomeOfTheRows) {
  const Clouds clouds(40, 2, 17);
  std::vector<Index> some;
  std::vector<signed char> sign;
  for (Index i = 1; i < 40; i += 2) {
    some.push_back(i);
    sign.push_back(clouds.sign[at(i)]);
  }
  const BoundKernel all(Rbf{.gamma = 0.5}, Points(clouds.x)), few(Rbf{.gamma = 0.5}, Points(clouds.x).select(some));
  const DualProblem alone = classification(few, sign, 1);
  DualProblem among = alone;
  among.kernel = &all;
  among.row = some;
  EXPECT_EQ(solve_dual(among, tight()).alpha, solve_dual(alone, tight()).alpha);
}

TEST(Smo, ConvergesWithRoomForTwoRows) {
  const Clouds clouds(600, 3, 19);
  const BoundKernel kernel(Rbf{.gamma = 0.3}, Points(clouds.x));
  const DualProblem problem = classification(kernel, clouds.sign, 1);
  const double two_rows = 2 * 600 * 4 / (1024.0 * 1024.0);
  const DualSolution narrow =
      solve_dual(problem, {.tolerance = 1e-6, .cache_megabytes = two_rows, .working_set = WorkingSet::pair});
  const DualSolution wide = solve_dual(problem, {.tolerance = 1e-6, .working_set = WorkingSet::pair});
  EXPECT_TRUE(narrow.converged) << narrow.stopped;
  EXPECT_LE(violation_of(problem, narrow), 1.01e-6);
  EXPECT_NEAR(narrow.objective, wide.objective, 1e-6);
  const std::string said = message_of([&] { solve_dual(problem, {.cache_megabytes = 0.9 * two_rows}); });
  EXPECT_NE(said.find("give it 0.005 or more"), std::string::npos) << said;
}

TEST(Smo, ReachesTheSameByBlocksAsByPairs) {
  const Clouds clouds(1100, 4, 37);
  const Kernel kernels[] = {Rbf{.gamma = 0.3}, Poly{.degree = 2, .gamma = 0.1}, Laplace{.gamma = 0.5},
                            Kernel::parse("rbf(0.1) + 0.2*linear")};
  for (const Kernel& one : kernels) {
    const BoundKernel kernel(one, Points(clouds.x));
    for (const double bound : {0.1, 3.0}) {
      const DualProblem problem = classification(kernel, clouds.sign, bound);
      const DualSolution pairs = solve_dual(problem, {.tolerance = 1e-4, .working_set = WorkingSet::pair});
      for (const bool shrinking : {true, false}) {
        const DualSolution blocks =
            solve_dual(problem, {.tolerance = 1e-4, .shrinking = shrinking, .working_set = WorkingSet::block});
        EXPECT_TRUE(blocks.converged) << blocks.stopped;
        EXPECT_NEAR(blocks.objective, pairs.objective, 1e-6 * std::abs(pairs.objective)) << one.text();
        EXPECT_NEAR(blocks.bias, pairs.bias, 1e-3);
      }
      const DualSolution blocks = solve_dual(problem, {.tolerance = 1e-4, .working_set = WorkingSet::block});
      EXPECT_LE(violation_of(problem, blocks), 1.01e-4);
    }
  }
}

TEST(Smo, IsExactByBlocksToo) {
  const Clouds clouds(1200, 3, 41);
  for (const Kernel& one : {Kernel(Rbf{.gamma = 0.5}), Kernel(Laplace{.gamma = 0.5})}) {
    const BoundKernel kernel(one, Points(clouds.x));
    const DualProblem problem = classification(kernel, clouds.sign, 1);
    const DualSolution solution = solve_dual(problem, tight(WorkingSet::block));
    EXPECT_TRUE(solution.converged) << solution.stopped;
    EXPECT_LE(violation_of(problem, solution), 1.01e-9);
    EXPECT_NEAR(solution.objective, solve_dual(problem, tight()).objective, 1e-8);
  }
}

TEST(Smo, SolvesRegressionByBlocks) {
  const Matrix x = normal_matrix(900, 2, 43);
  const Vector y = x.col(0).array().sin() + 0.3 * x.col(1).array().square();
  for (const Kernel& one : {Kernel(Rbf{.gamma = 0.5}), Kernel(Laplace{.gamma = 0.5})}) {
    const BoundKernel kernel(one, Points(x));
    const DualProblem problem = regression(kernel, y, 0.02, 5);
    const DualSolution pairs = solve_dual(problem, {.tolerance = 1e-5, .working_set = WorkingSet::pair});
    const DualSolution blocks = solve_dual(problem, {.tolerance = 1e-5, .working_set = WorkingSet::block});
    EXPECT_TRUE(blocks.converged) << blocks.stopped;
    EXPECT_LE(violation_of(problem, blocks), 1.01e-5);
    EXPECT_NEAR(blocks.objective, pairs.objective, 1e-5 * std::abs(pairs.objective));
  }
}

TEST(Smo, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Clouds clouds(1700, 5, 47);
  for (const Kernel& one : {Kernel(Rbf{.gamma = 0.2}), Kernel(Laplace{.gamma = 0.2})}) {
    const BoundKernel kernel(one, Points(clouds.x));
    const DualProblem problem = classification(kernel, clouds.sign, 1);
    for (const WorkingSet how : {WorkingSet::pair, WorkingSet::block}) {
      const DualSolution alone = solve_dual(problem, {.working_set = how}, {.threads = 1});
      const DualSolution together = solve_dual(problem, {.working_set = how}, {.threads = 3});
      EXPECT_EQ(alone.alpha, together.alpha);
      EXPECT_EQ(alone.gradient, together.gradient);
      EXPECT_EQ(alone.bias, together.bias);
    }
  }
}

TEST(Smo, ConvergesByBlocksWithRoomForFewRows) {
  const Clouds clouds(300, 3, 53);
  for (const Kernel& one : {Kernel(Rbf{.gamma = 0.3}), Kernel(Laplace{.gamma = 0.3})}) {
    const BoundKernel kernel(one, Points(clouds.x));
    const DualProblem problem = classification(kernel, clouds.sign, 1);
    for (const double rows : {2.0, 40.0}) {
      const double megabytes = rows * 300 * 4 / (1024.0 * 1024.0);
      const DualSolution solution =
          solve_dual(problem, {.tolerance = 1e-4, .cache_megabytes = megabytes, .working_set = WorkingSet::block});
      EXPECT_TRUE(solution.converged) << solution.stopped;
      EXPECT_LE(violation_of(problem, solution), 1.01e-4);
    }
  }
}

TEST(Smo, SeparatesByBlocksOrSaysThatNothingDoes) {
  const Clouds apart(1500, 3, 59, 8), mixed(1500, 3, 59, 0.5);
  const BoundKernel one(LinearKernel{}, Points(apart.x)), other(LinearKernel{}, Points(mixed.x));
  const DualSolution found = solve_dual(classification(one, apart.sign, kInfinity), {});
  EXPECT_TRUE(found.converged) << found.stopped;
  const DualSolution pairs = solve_dual(classification(one, apart.sign, kInfinity), {.working_set = WorkingSet::pair});
  EXPECT_NEAR(found.objective, pairs.objective, 1e-3 * std::abs(pairs.objective));
  const DualSolution never = solve_dual(classification(other, mixed.sign, kInfinity), {});
  EXPECT_TRUE(never.unbounded) << never.stopped;
}

TEST(Smo, HoldsWithHighBoundsAndRowsThatNearlyAgree) {
  Clouds clouds(240, 2, 61);
  for (Index i = 0; i + 1 < 240; i += 4) clouds.x.row(i + 1) = clouds.x.row(i).array() + 1e-6;
  const BoundKernel kernel(Rbf{.gamma = 0.5}, Points(clouds.x));
  const DualProblem problem = classification(kernel, clouds.sign, 2000);
  const DualSolution blocks = solve_dual(problem, {.working_set = WorkingSet::block});
  EXPECT_TRUE(blocks.converged) << blocks.stopped;
  EXPECT_LE(violation_of(problem, blocks), 1.01e-3);
  const DualSolution pairs = solve_dual(problem, {.working_set = WorkingSet::pair});
  EXPECT_NEAR(blocks.objective, pairs.objective, 1e-5 * std::abs(pairs.objective));
}

class CancelAfter : public Progress {
 public:
  explicit CancelAfter(int calls) : left_(calls) {}
  void report(double, std::string_view) override {}
  bool cancelled() const override { return --left_ < 0; }

 private:
  mutable std::atomic<int> left_;
};

TEST(Smo, GivesBackWhatItHasWhenCancelled) {
  const Clouds clouds(400, 3, 23);
  const BoundKernel kernel(Rbf{.gamma = 0.3}, Points(clouds.x));
  const DualProblem problem = classification(kernel, clouds.sign, 100);
  for (const WorkingSet how : {WorkingSet::pair, WorkingSet::block}) {
    CancelAfter cancel(how == WorkingSet::pair ? 3 : 12);
    const DualSolution solution = solve_dual(problem, tight(how), {.threads = 1, .progress = &cancel});
    EXPECT_FALSE(solution.converged);
    EXPECT_GT(solution.alpha.sum(), 0);
    EXPECT_LT(solution.objective, 0);
    EXPECT_NE(solution.stopped.find("cancelled"), std::string::npos) << solution.stopped;
    const Vector gradient = q_of(problem) * solution.alpha + problem.linear;
    EXPECT_LE((solution.gradient - gradient).cwiseAbs().maxCoeff(), 1e-10);
  }
}

TEST(Smo, StopsAtTheLimitOfSteps) {
  const Clouds clouds(100, 3, 29);
  const BoundKernel kernel(Rbf{.gamma = 0.3}, Points(clouds.x));
  SmoOptions options = tight();
  options.most_steps = 7;
  const DualSolution solution = solve_dual(classification(kernel, clouds.sign, 1), options);
  EXPECT_EQ(solution.steps, 7);
  EXPECT_FALSE(solution.converged);
}

TEST(Smo, RefusesAProblemThatIsNone) {
  const Clouds clouds(10, 2, 31);
  const BoundKernel kernel(LinearKernel{}, Points(clouds.x));
  const DualProblem good = classification(kernel, clouds.sign, 1);
  const auto said = [&](auto&& change) {
    DualProblem bad = good;
    change(bad);
    return message_of([&] { solve_dual(bad, {}); });
  };
  EXPECT_NE(said([](DualProblem& p) { p.row[3] = 10; }).find("row 10"), std::string::npos);
  EXPECT_NE(said([](DualProblem& p) { p.sign[3] = 0; }).find("not 1 or -1"), std::string::npos);
  EXPECT_NE(said([](DualProblem& p) { p.bound(2) = -1; }).find("bound -1"), std::string::npos);
  EXPECT_NE(said([](DualProblem& p) { p.linear.resize(3); }).find("3 linear terms"), std::string::npos);
  EXPECT_NE(said([](DualProblem& p) { p.start = Vector::Constant(10, 2); }).find("outside [0, 1]"), std::string::npos);
}

}  // namespace
}  // namespace lemma
