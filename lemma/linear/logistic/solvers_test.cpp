#include <cmath>
#include <gtest/gtest.h>
#include <lemma/linear/logistic.hpp>
#include <lemma/model/fit.hpp>
#include <random>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

/// Two classes that overlap, with correlated columns.
struct Data {
  Matrix x;
  Labels labels;
  Data(Index rows, Index columns, unsigned seed = 3) : x(rows, columns) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (Index i = 0; i < rows; ++i) {
      double eta = -0.3, z = 0;
      for (Index j = 0; j < columns; ++j) {
        z = normal(random) + 0.5 * z;
        x(i, j) = z + 2;
        if (j < 12) eta += (j % 3 == 0 ? 0.8 : j % 3 == 1 ? -0.6 : 0.0) * z;
      }
      labels.push_back(uniform(random) < 1 / (1 + std::exp(-eta)));
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(labels, {"no", "yes"});
    return out;
  }
};

LogisticModel fitted(const Logistic& spec, const Rows& rows) { return fit(Valid<Logistic>(spec), rows, {}); }

void expect_same_optimum(const LogisticModel& a, const LogisticModel& b, double tolerance, std::string_view what) {
  EXPECT_TRUE(a.certificate.holds()) << what << ": " << a.certificate.message;
  EXPECT_NEAR(a.objective.of(0), b.objective.of(0), 2 * a.certificate.tolerance * b.objective.of(0)) << what;
  EXPECT_LE((a.coefficients.of - b.coefficients.of).cwiseAbs().maxCoeff(), tolerance) << what;
  EXPECT_NEAR(a.intercept.of(0), b.intercept.of(0), 10 * tolerance) << what;
}

TEST(LogisticSolvers, AllReachTheSameOptimum) {
  const Data data(600, 8);
  const MemoryRows rows = data.rows();
  const LogisticModel newton = fitted({.solver = LogisticSolver::newton}, rows);
  for (const auto solver : {LogisticSolver::lbfgs, LogisticSolver::cg, LogisticSolver::gd, LogisticSolver::coordinate})
    expect_same_optimum(fitted({.solver = solver, .max_iterations = 20'000}, rows), newton, 1e-3, name_of(solver));
  expect_same_optimum(fitted({.solver = LogisticSolver::sgd}, rows), newton, 0.2, "sgd");
}

TEST(LogisticSolvers, SparseRowsGiveWhatDenseOnesDo) {
  const Data data(500, 6);
  const Csr x = sparse_of(data.x);
  MemoryRows sparse(x);
  sparse.labels(data.labels, {"no", "yes"});
  for (const auto penalty : {Penalty::l2, Penalty::l1, Penalty::elastic_net, Penalty::bridge})
    for (const bool intercept : {true, false})
      for (const auto solver : {LogisticSolver::newton, LogisticSolver::coordinate}) {
        const Logistic spec{.lambda = std::vector{3.0},
                            .penalty = penalty,
                            .intercept = intercept,
                            .solver = solver,
                            .tolerance = 1e-11};
        expect_same_optimum(fitted(spec, sparse), fitted(spec, data.rows()), 1e-4, name_of(penalty));
      }
}

TEST(LogisticSolvers, ManyColumnsAreWorkedOnOneByOneAndGiveTheSame) {
  const Data data(120, 1600);
  const MemoryRows rows = data.rows();
  const Csr x = sparse_of(data.x);
  MemoryRows sparse(x);
  sparse.labels(data.labels, {"no", "yes"});
  for (const auto penalty : {Penalty::l1, Penalty::l2}) {
    const Logistic spec{.lambda = std::vector{5.0}, .penalty = penalty};
    const LogisticModel a = fitted(spec, rows), b = fitted(spec, sparse);
    expect_same_optimum(a, b, 1e-3, name_of(penalty));
    if (penalty == Penalty::l1) {
      EXPECT_LT(a.df.of(0), 200);
      EXPECT_GT(a.df.of(0), 2);
    }
  }
}

TEST(LogisticSolvers, WithoutAPenaltyTheGradientIsZero) {
  const Data data(400, 5);
  const LogisticModel model = fitted({.lambda = std::vector{0.0}}, data.rows());
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  Vector slopes = Vector::Zero(5);
  double sum = 0;
  const Vector p = model.probabilities(data.x).col(1);
  for (Index i = 0; i < 400; ++i) {
    const double r = p(i) - data.labels[static_cast<std::size_t>(i)];
    slopes += r * data.x.row(i).transpose();
    sum += r;
  }
  EXPECT_LE(slopes.cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_NEAR(sum, 0, 1e-6);
}

/// b minimises J: no nearby point is lower. J is written here as in the textbook.
TEST(LogisticSolvers, TheBridgeIsMinimalForEveryPower) {
  const Data data(200, 4);
  for (const double rho : {1.0, 1.2, 1.5, 1.9, 2.0}) {
    const Logistic spec{.lambda = std::vector{4.0}, .penalty = Penalty::bridge, .rho = rho, .standardize = false};
    const LogisticModel model = fitted(spec, data.rows());
    EXPECT_TRUE(model.certificate.holds()) << rho << ": " << model.certificate.message;
    const auto objective = [&](const Vector& b, double b0) {
      double sum = 0;
      for (Index i = 0; i < 200; ++i) {
        const double eta = b0 + data.x.row(i) * b;
        sum += std::log1p(std::exp(eta)) - data.labels[static_cast<std::size_t>(i)] * eta;
      }
      for (const double c : b) sum += 4 / rho * std::pow(std::abs(c), rho);
      return sum;
    };
    const Vector b = model.coefficients.of.row(0);
    const double at = objective(b, model.intercept.of(0));
    EXPECT_NEAR(at, model.objective.of(0), 1e-9 * at);
    for (Index j = 0; j < 4; ++j)
      for (const double step : {-1e-3, 1e-3}) {
        Vector moved = b;
        moved(j) += step;
        EXPECT_GE(objective(moved, model.intercept.of(0)), at - 1e-10 * at) << rho << " " << j;
      }
  }
}

TEST(LogisticPath, WarmStartsGiveWhatEachLambdaGivesAlone) {
  const Data data(300, 10);
  const MemoryRows rows = data.rows();
  const LogisticModel path =
      fitted({.lambda = std::nullopt, .penalty = Penalty::l1, .path_length = 8, .path_ratio = 0.01}, rows);
  ASSERT_EQ(path.lambda.size(), 8);
  EXPECT_EQ(path.df.of(0), 0);  // the path begins where no coefficient is left
  EXPECT_TRUE(path.certificate.holds()) << path.certificate.message;
  for (Index k = 1; k < 8; ++k) {
    EXPECT_GT(path.deviance_ratio.of(k), path.deviance_ratio.of(k - 1));
    const LogisticModel one = fitted({.lambda = std::vector{path.lambda.of(k)}, .penalty = Penalty::l1}, rows);
    EXPECT_LE((one.coefficients.of.row(0) - path.coefficients.of.row(k)).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(LogisticPath, TheLambdaNamedLastPredicts) {
  const Data data(300, 10);
  const MemoryRows rows = data.rows();
  const LogisticModel path = fitted({.lambda = std::vector{1.0, 100.0, 10.0}}, rows),
                      alone = fitted({.lambda = std::vector{10.0}}, rows);
  EXPECT_EQ(path.lambda.of(path.chosen()), 10);
  EXPECT_LE((path.probabilities(data.x) - alone.probabilities(data.x)).cwiseAbs().maxCoeff(), 1e-6);
  const LogisticModel other = fitted({.lambda = std::vector{100.0}}, rows);
  EXPECT_GE((path.probabilities(data.x) - other.probabilities(data.x)).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(LogisticResponse, ProportionsWithWeightsAreCountsOfTheTwoClasses) {
  Matrix x(4, 1);
  x << 0, 1, 2, 3;
  const std::vector<double> share{0.2, 0.5, 0.25, 0.9}, trials{10, 4, 8, 10};
  Matrix copies(32, 1);
  Labels labels;
  Index at = 0;
  for (Index i = 0; i < 4; ++i)
    for (int k = 0; k < trials[static_cast<std::size_t>(i)]; ++k) {
      copies(at++, 0) = x(i, 0);
      labels.push_back(k < share[static_cast<std::size_t>(i)] * trials[static_cast<std::size_t>(i)]);
    }
  MemoryRows grouped(x), single(copies);
  grouped.response(share).weights(trials);
  single.labels(labels, {"no", "yes"});
  const LogisticModel a = fitted({}, grouped), b = fitted({}, single);
  EXPECT_EQ(a.task(), Task::regression);
  EXPECT_EQ(b.task(), Task::classification);
  EXPECT_NEAR(a.coefficients.of(0, 0), b.coefficients.of(0, 0), 1e-9);
  EXPECT_NEAR(a.intercept.of(0), b.intercept.of(0), 1e-9);
  EXPECT_NEAR(a.objective.of(0), b.objective.of(0), 1e-9);
}

TEST(LogisticResponse, ClassWeightsAreWeightsOfTheirRows) {
  const Data data(200, 3);
  std::vector<double> weights;
  for (const int label : data.labels) weights.push_back(label == 1 ? 3.0 : 1.0);
  MemoryRows weighted = data.rows();
  weighted.weights(weights);
  // Class weights do not change how columns are standardised; weights of rows do.
  const LogisticModel a = fitted({.standardize = false, .class_weights = std::vector{1.0, 3.0}}, data.rows()),
                      b = fitted({.standardize = false}, weighted);
  EXPECT_LE((a.coefficients.of - b.coefficients.of).cwiseAbs().maxCoeff(), 1e-9);
  const LogisticModel balanced = fitted({.standardize = false, .class_weights = ClassWeights::balanced}, data.rows());
  const Vector p = balanced.probabilities(data.x).col(1);
  double no = 0, yes = 0, of_no = 0, of_yes = 0;  // each class's mean residual is the same in size
  for (Index i = 0; i < 200; ++i) {
    const bool is = data.labels[static_cast<std::size_t>(i)] == 1;
    (is ? yes : no) += is ? 1 - p(i) : p(i);
    (is ? of_yes : of_no) += 1;
  }
  EXPECT_NEAR(yes / of_yes, no / of_no, 1e-6);
}

TEST(LogisticResponse, AnOffsetIsAKnownPartOfThePredictor) {
  const Data data(300, 3);
  std::vector<double> offset;
  for (Index i = 0; i < 300; ++i) offset.push_back(0.7 * data.x(i, 0) - 1);
  MemoryRows moved = data.rows();
  moved.offset(offset);
  const LogisticModel a = fitted({.lambda = std::vector{0.0}}, data.rows()),
                      b = fitted({.lambda = std::vector{0.0}}, moved);
  EXPECT_NEAR(a.coefficients.of(0, 0) - 0.7, b.coefficients.of(0, 0), 1e-6);
  EXPECT_NEAR(a.intercept.of(0) + 1, b.intercept.of(0), 1e-6);
  EXPECT_LE((a.probabilities(data.x) - b.probabilities(data.x, offset)).cwiseAbs().maxCoeff(), 1e-7);
}

}  // namespace
}  // namespace lemma
