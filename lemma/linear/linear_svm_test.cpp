// lemma/linear/linear_svm_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/linear_svm.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/model/fit.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

/// Two overlapping classes, of which the second is more often where the first columns are large.
struct Clouds {
  Matrix x;
  Labels codes;
  std::vector<std::string> labels;
  Clouds(Index n, Index p, double apart = 1, std::uint64_t seed = 3) : x(normal_matrix(n, p, seed)) {
    for (Index i = 0; i < n; ++i) {
      codes.push_back(static_cast<int>(i % 3 == 0));
      labels.push_back(i % 3 == 0 ? "yes" : "no");
      x.row(i).head(std::min<Index>(p, 3)).array() += i % 3 == 0 ? apart : 0.0;
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(codes, {"no", "yes"});
    return out;
  }
};

LinearSvmModel fitted(const LinearSvm& spec, const Rows& rows, const CallOptions& options = {}) {
  return fit(Valid<LinearSvm>(spec), rows, options);
}

constexpr auto kLosses = {MarginLoss::hinge, MarginLoss::squared_hinge};
constexpr auto kSolvers = {LinearSvmSolver::exact, LinearSvmSolver::dual, LinearSvmSolver::pegasos};

/// Every way to treat the intercept.
std::vector<LinearSvm> with_each_intercept(LinearSvm spec) {
  LinearSvm penalised = spec, none = spec;
  penalised.bias = Bias::penalised;
  none.intercept = false;
  return {spec, penalised, none};
}

TEST(LinearSvm,
     OfTwoPointsIsTheMiddlePlane) {  // f = x: w = 1, b = 0, and the margin is as wide as the points are apart
  for (const auto loss : kLosses) {
    const auto m = fit(LinearSvm{.C = 1e6, .loss = loss}, Matrix{{1.0}, {-1.0}}, std::vector<std::string>{"b", "a"});
    EXPECT_NEAR(m.coefficients.of(0, 0), 1, 1e-5);
    EXPECT_NEAR(m.intercept.of(0), 0, 1e-9);
    EXPECT_EQ(m.n_support.of(0), 2);
  }
}

TEST(LinearSvm, WithASmallCMatchesTheHandCalculation) {
  // x = 1 (+), −1 (−), C = 0.1: both rows stay within the margin, α = C, so w = 0.2 and P = ½ 0.04 + 0.1 · 2 · 0.8.
  const auto m = fit(LinearSvm{.C = 0.1}, Matrix{{1.0}, {-1.0}}, std::vector<std::string>{"b", "a"});
  EXPECT_NEAR(m.coefficients.of(0, 0), 0.2, 1e-12);
  EXPECT_NEAR(m.intercept.of(0), 0, 1e-12) << "any b up to 0.8 in size does as well; the middle one is taken";
  EXPECT_NEAR(m.objective_primal.of(0), 0.18, 1e-12);
  EXPECT_NEAR(m.objective_dual.of(0), 0.18, 1e-12);
}

void expect_golden(const std::string& id, const Matrix& x, const std::vector<std::string>& labels) {
  const Golden golden(id);
  for (const double tolerance : {1e-4, 1e-9}) {
    const LinearSvm hinge{.bias = Bias::penalised, .tolerance = tolerance};
    LinearSvm squared = hinge;
    squared.loss = MarginLoss::squared_hinge;
    const auto h = fit(hinge, x, labels), s = fit(squared, x, labels);
    EXPECT_TRUE(golden.agrees("hinge_objective", h.objective_primal.of(0)));
    EXPECT_TRUE(golden.agrees("squared_hinge_objective", s.objective_primal.of(0)));
    Vector w(x.cols() + 1);
    w << s.coefficients.of.row(0).transpose(), s.intercept.of(0);
    EXPECT_TRUE(golden.agrees("squared_hinge_w", w));
    EXPECT_LT(h.gap.of(0), 1e-12);
    EXPECT_LT(s.gap.of(0), 1e-12);
  }
  LinearSvm squared{.loss = MarginLoss::squared_hinge, .bias = Bias::penalised, .solver = LinearSvmSolver::dual};
  squared.tolerance = 1e-10;
  squared.max_iterations = 100'000;
  EXPECT_TRUE(golden.agrees("squared_hinge_objective", fit(squared, x, labels).objective_primal.of(0)));
}

TEST(LinearSvm, AgreesWithLiblinearOnPima) {
  const Table table = dataset("pima_train");
  Matrix x(table.rows(), 7);
  Index j = 0;
  for (const char* name : {"npreg", "glu", "bp", "skin", "bmi", "ped", "age"}) {
    const auto& values = table.column(name).numbers().values;
    x.col(j) = Eigen::Map<const Vector>(values.data(), x.rows());
    x.col(j).array() -= x.col(j).mean();
    x.col(j) /= std::sqrt(x.col(j).squaredNorm() / static_cast<double>(x.rows() - 1));
    ++j;
  }
  std::vector<std::string> labels;
  for (Index i = 0; i < table.rows(); ++i) labels.emplace_back(table.column("type").text(i));
  expect_golden("linsvm_pima", x, labels);
}

TEST(LinearSvm, AgreesWithLiblinearOnIonosphere) {
  const Table table = dataset("ionosphere");
  Matrix x(table.rows(), 32);
  for (Index j = 0; j < 32; ++j)
    x.col(j) = Eigen::Map<const Vector>(table.column("V" + std::to_string(j + 3)).numbers().values.data(), x.rows());
  std::vector<std::string> labels;
  for (Index i = 0; i < table.rows(); ++i) labels.emplace_back(table.column("Class").text(i));
  expect_golden("linsvm_ionosphere", x, labels);
}

TEST(LinearSvm, EverySolverComesToTheSameObjective) {
  const Clouds data(300, 5);
  for (const auto loss : kLosses)
    for (const LinearSvm& spec : with_each_intercept({.loss = loss})) {
      const double best = fit(spec, data.x, data.labels).objective_primal.of(0);
      for (const auto solver : kSolvers) {
        LinearSvm other = spec;
        other.solver = solver;
        other.max_iterations = 10'000;
        const auto m = fit(other, data.x, data.labels);
        EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
        EXPECT_GE(m.objective_primal.of(0), best * (1 - 1e-12));
        EXPECT_LE(m.objective_primal.of(0), best * (1 + m.certificate.tolerance));
        EXPECT_LE(m.objective_dual.of(0), best * (1 + 1e-12)) << "weak duality";
      }
    }
}

TEST(LinearSvm, OfSparseRowsIsThatOfTheSameRowsWithTheirZeros) {
  Clouds data(400, 30);
  for (Index i = 0; i < 400; ++i)
    for (Index j = 0; j < 30; ++j)
      if ((i * 7 + j * 11) % 5 != 0) data.x(i, j) = 0;
  const Csr sparse = sparse_of(data.x);
  MemoryRows rows(sparse);
  rows.labels(data.codes, {"no", "yes"});
  for (const auto loss : kLosses)
    for (const LinearSvm& spec : with_each_intercept({.loss = loss})) {
      const auto dense = fitted(spec, data.rows()), same = fitted(spec, rows);
      EXPECT_LT((dense.coefficients.of - same.coefficients.of).cwiseAbs().maxCoeff(), 1e-8);
      EXPECT_TRUE(certify(same, rows, {}).holds());
      LinearSvm by_descent = spec;
      by_descent.solver = LinearSvmSolver::dual;
      const auto near = fitted(by_descent, rows);
      EXPECT_LE(near.objective_primal.of(0), dense.objective_primal.of(0) * (1 + 1e-4));
      EXPECT_TRUE(certify(near, rows, {}).holds()) << certify(near, rows, {}).message;
    }
}

TEST(LinearSvm, WithMoreColumnsThanRowsIsFoundByDescent) {
  const Clouds data(60, 1500);
  for (const auto loss : kLosses) {
    const auto m = fitted({.loss = loss}, data.rows());
    EXPECT_EQ(m.spec.solver, LinearSvmSolver::dual);
    EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_EQ(m.predict(data.x), data.codes);
    EXPECT_TRUE(certify(m, data.rows(), {}).holds());
  }
}

TEST(LinearSvm, DescentAndSubgradientsGiveTheSameBitsOnAnyNumberOfThreads) {
  const Clouds data(3000, 40);
  for (const auto solver : {LinearSvmSolver::dual, LinearSvmSolver::pegasos}) {
    CallOptions one, four;
    one.threads = 1;
    four.threads = 4;
    const LinearSvm spec{.solver = solver, .max_iterations = 40};
    EXPECT_EQ(fitted(spec, data.rows(), one).coefficients.of, fitted(spec, data.rows(), four).coefficients.of);
  }
}

TEST(LinearSvm, AFreeBiasMovesWithTheRowsAndAPenalisedOneDoesNot) {
  const Clouds data(200, 3);
  Matrix moved = data.x;
  moved.col(0).array() += 100;
  for (const auto loss : kLosses) {
    const auto here = fit(LinearSvm{.loss = loss}, data.x, data.labels),
               there = fit(LinearSvm{.loss = loss}, moved, data.labels);
    EXPECT_LT((here.coefficients.of - there.coefficients.of).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_NEAR(there.intercept.of(0), here.intercept.of(0) - 100 * here.coefficients.of(0, 0), 1e-7);
    const LinearSvm penalised{.loss = loss, .bias = Bias::penalised};
    EXPECT_GT((fit(penalised, data.x, data.labels).coefficients.of - fit(penalised, moved, data.labels).coefficients.of)
                  .cwiseAbs()
                  .maxCoeff(),
              1e-3);
  }
}

TEST(LinearSvm, WeightsAndClassWeightsAreCopiesOfRows) {
  const Clouds data(90, 3);
  CallOptions weighted;
  weighted.weights = Vector::Ones(90);
  std::vector<Index> copies;
  std::vector<std::string> labels;
  for (Index i = 0; i < 90; ++i) {
    weighted.weights(i) = data.codes[static_cast<std::size_t>(i)] ? 2 : 1;
    for (int copy = 0; copy < weighted.weights(i); ++copy) {
      copies.push_back(i);
      labels.push_back(data.labels[static_cast<std::size_t>(i)]);
    }
  }
  const Matrix x = data.x(copies, Eigen::all);
  for (const auto loss : kLosses) {
    const auto copied = fit(LinearSvm{.loss = loss}, x, labels);
    for (const auto& other :
         {fit(LinearSvm{.loss = loss}, data.x, data.labels, weighted),
          fit(LinearSvm{.loss = loss, .class_weights = std::vector{1.0, 2.0}}, data.x, data.labels)}) {
      EXPECT_LT((copied.coefficients.of - other.coefficients.of).cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_NEAR(copied.objective_primal.of(0), other.objective_primal.of(0), 1e-10);
    }
  }
}

TEST(LinearSvm, OfMoreClassesHasOnePlaneForEach) {
  const auto m = fit(LinearSvm{.C = 10}, formula("species ~ ."), dataset("iris"));
  EXPECT_EQ(m.planes(), 3);
  EXPECT_TRUE(m.certificate.holds());
  const Labels found = m.predict(dataset("iris"));
  int right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == static_cast<int>(i / 50);
  EXPECT_GE(right, 140);
  EXPECT_NE(m.summary({{"a", "b", "c", "d"}, {"s", "v", "w"}, "species"}).find("half width"), std::string::npos);
}

TEST(LinearSvm, TheNaturalWrongPlanesFailTheCertificate) {
  // Passes that end early give a plane that predicts well and is not the optimum: its certificate says so.
  const Clouds data(500, 10);
  const auto early = fitted({.solver = LinearSvmSolver::dual, .max_iterations = 2}, data.rows());
  EXPECT_FALSE(early.certificate.holds());
  EXPECT_EQ(early.certificate.stopped, "iteration limit");
  ASSERT_FALSE(early.warnings.empty());
  EXPECT_NE(early.warnings.back().find("not reached"), std::string::npos);
  EXPECT_FALSE(certify(early, data.rows(), {}).holds());
  // The least-squares plane, which nearly has the same error rate, fails as well.
  auto other = fitted({}, data.rows());
  ASSERT_TRUE(certify(other, data.rows(), {}).holds());
  std::vector<double> sides;
  for (const int code : data.codes) sides.push_back(code == 1 ? 1 : -1);
  MemoryRows numbers(data.x);
  numbers.response(sides);
  const LinearSolution squares = solve(scan(numbers, LeastSquares(10)));
  other.coefficients.of.row(0) = squares.coefficients.transpose();
  other.intercept.of(0) = squares.intercept;
  EXPECT_FALSE(certify(other, data.rows(), {}).holds());
}

TEST(LinearSvm, TheCertificateFailsOnDamagedNumbers) {
  const Clouds data(150, 4);
  for (const auto loss : kLosses) {
    const auto right = fitted({.loss = loss}, data.rows());
    ASSERT_TRUE(certify(right, data.rows(), {}).holds());
    auto moved = right, boast = right, support = right, bias = right;
    moved.coefficients.of(0, 2) += 1e-3;
    boast.objective_primal.of(0) *= 0.999;
    support.n_support.of(0) += 1;
    bias.intercept.of(0) += 1e-3;
    for (const auto& wrong : {moved, boast, support, bias}) EXPECT_FALSE(certify(wrong, data.rows(), {}).holds());
  }
}

// ---- Bad input ----

TEST(LinearSvmLimits, OneClassOrAClassWithoutWeightIsRefused) {
  const Clouds data(30, 2);
  const std::vector<std::string> one(30, "yes");
  EXPECT_NE(message_of([&] { fit(LinearSvm{}, data.x, one); }).find("at least two classes"), std::string::npos);
  CallOptions options;
  options.weights = Vector::Ones(30);
  for (Index i = 0; i < 30; i += 3) options.weights(i) = 0;
  EXPECT_NE(message_of([&] { fit(LinearSvm{}, data.x, data.labels, options); }).find("class 'yes' has no rows"),
            std::string::npos);
  const LinearSvm three{.class_weights = std::vector{1.0, 2.0, 3.0}};
  EXPECT_NE(message_of([&] { fit(three, data.x, data.labels); }).find("must have 2"), std::string::npos);
}

TEST(LinearSvmLimits, CMustBePositive) {
  for (const double c : {0.0, -1.0, std::nan("")})
    EXPECT_NE(message_of([&] { Valid<LinearSvm>(LinearSvm{.C = c}); }).find("C"), std::string::npos) << c;
}

TEST(LinearSvmLimits, EqualRowsOrOppositeDuplicatesGiveTheConstantPlaneOfTheLargerClass) {
  const Matrix equal = Matrix::Constant(9, 2, 3.0);
  std::vector<std::string> labels(9, "no");
  labels[0] = labels[1] = "yes";
  for (const auto loss : kLosses) {
    const auto m = fit(LinearSvm{.loss = loss}, equal, labels);
    EXPECT_TRUE(m.certificate.holds());
    EXPECT_LT(m.coefficients.of.cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT(m.intercept.of(0), 0);
    ASSERT_EQ(m.warnings.size(), 1U);
    EXPECT_NE(m.warnings[0].find("no column varies"), std::string::npos);
  }
  // Each row twice, with either label: w = 0 and P = C n, whatever b up to 1 in size; the middle one is taken.
  const Matrix half = normal_matrix(20, 3, 5);
  Matrix both(40, 3);
  both << half, half;
  std::vector<std::string> sides(40, "a");
  std::fill(sides.begin() + 20, sides.end(), "b");
  const auto m = fit(LinearSvm{}, both, sides);
  EXPECT_TRUE(m.certificate.holds());
  EXPECT_LT(m.coefficients.of.cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(m.intercept.of(0), 0, 1e-9);
  EXPECT_NEAR(m.objective_primal.of(0), 40, 1e-9);
}

TEST(LinearSvmLimits, ColumnsFarFromZeroAreProvedAgain) {
  RandomStream stream(4);
  Matrix x(60, 3);
  Labels codes;
  for (Index i = 0; i < 60; ++i) {
    codes.push_back(static_cast<int>(i % 2));
    for (Index j = 0; j < 3; ++j) x(i, j) = 1.7e9 + 100 * (stream.normal() + (j == 0 ? codes.back() : 0));
  }
  MemoryRows rows(x);
  rows.labels(codes, {"no", "yes"});
  for (const auto loss : {MarginLoss::hinge, MarginLoss::squared_hinge}) {
    const auto model = fit(Valid<LinearSvm>(LinearSvm{.loss = loss}), rows, {});
    ASSERT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_TRUE(certify(model, rows, {}).holds()) << certify(model, rows, {}).message;
    auto wrong = model;
    wrong.coefficients.of(0, 0) *= 1.2;
    EXPECT_FALSE(certify(wrong, rows, {}).holds());
  }
}

TEST(LinearSvmLimits, ScalesThatDifferAreWarnedOfAndHugeOnesRefused) {
  Clouds data(60, 3);
  EXPECT_TRUE(fit(LinearSvm{}, data.x, data.labels).warnings.empty());
  Matrix unlike = data.x;
  unlike.col(1) *= 1e4;
  const auto m = fit(LinearSvm{}, unlike, data.labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_NE(m.warnings[0].find("scale | linear_svm"), std::string::npos) << m.warnings[0];
  unlike.col(1) *= 1e120;
  EXPECT_NE(message_of([&] { fit(LinearSvm{}, unlike, data.labels); }).find("'x2' are about"), std::string::npos);
}

TEST(LinearSvmLimits, AConstantColumnHasNoPartBesideAFreeBias) {
  const Clouds data(60, 2);
  Matrix x(60, 3);
  x << data.x, Vector::Constant(60, 7.0);
  const auto with = fit(LinearSvm{}, x, data.labels), without = fit(LinearSvm{}, data.x, data.labels);
  EXPECT_NEAR(with.coefficients.of(0, 2), 0, 1e-12);
  EXPECT_LT((with.coefficients.of.leftCols(2) - without.coefficients.of).cwiseAbs().maxCoeff(), 1e-9);
}

}  // namespace
}  // namespace lemma
