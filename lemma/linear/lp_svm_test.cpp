// lemma/linear/lp_svm_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/linear_svm.hpp>
#include <lemma/linear/lp_svm.hpp>
#include <lemma/model/fit.hpp>
#include <limits>
#include <tests/message_of.hpp>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

constexpr double kHard = std::numeric_limits<double>::infinity();

/// Two classes that differ in the first two of many columns.
struct Columns {
  Matrix x;
  Labels codes;
  std::vector<std::string> labels;
  Columns(Index n, Index p, double apart) : x(normal_matrix(n, p, 9)) {
    for (Index i = 0; i < n; ++i) {
      codes.push_back(static_cast<int>(i % 2));
      labels.push_back(i % 2 ? "yes" : "no");
      x.row(i).head(2).array() += i % 2 ? apart : -apart;
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.labels(codes, {"no", "yes"});
    return out;
  }
};

TEST(LpSvm, MatchesTheHandCalculation) {
  // x = 2 (+) and 0 (−): with b = −w both margins are w, so the objective is w + 2 C (1 − w) up to w = 1. For C > ½ it falls
  // until w = 1, for C < ½ it is least at w = 0, where every b up to 1 in size does as well and the middle one is taken.
  const Matrix x{{2.0}, {0.0}};
  const std::vector<std::string> labels{"b", "a"};
  const auto whole = fit(LpSvm{.C = 10}, x, labels), cheap = fit(LpSvm{.C = 0.2}, x, labels);
  EXPECT_NEAR(whole.coefficients.of(0, 0), 1, 1e-12);
  EXPECT_NEAR(whole.intercept.of(0), -1, 1e-12);
  EXPECT_NEAR(whole.objective.of(0), 1, 1e-12);
  EXPECT_EQ(cheap.coefficients.of(0, 0), 0);
  EXPECT_NEAR(cheap.intercept.of(0), 0, 1e-12);
  EXPECT_NEAR(cheap.objective.of(0), 0.4, 1e-12);
  EXPECT_EQ(cheap.n_zero.of(0), 1);
}

TEST(LpSvm, LeavesOutColumnsThatDoNotHelp) {
  const Columns data(200, 30, 1.5);
  const auto m = fit(LpSvm{.C = 0.1}, data.x, data.labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_GE(m.n_zero.of(0), 20);
  EXPECT_GT(m.coefficients.of(0, 0), 0);
  EXPECT_GT(m.coefficients.of(0, 1), 0);
  int right = 0;
  const Labels found = m.predict(data.x);
  for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == data.codes[i];
  EXPECT_GE(right, 190);
}

TEST(LpSvm, HardMarginsExistWhereTheClassesAreSeparated) {
  const Columns apart(60, 4, 4), mixed(60, 4, 0.1);
  const auto m = fit(LpSvm{.C = kHard}, apart.x, apart.labels);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.slack.of(0), 0);
  const Matrix f = m.decision(apart.x);
  for (Index i = 0; i < 60; ++i) EXPECT_GE((i % 2 ? 1 : -1) * f(i, 0), 1 - 1e-9);
  EXPECT_TRUE(certify(m, apart.rows(), {}).holds());
  const auto soft = fit(LpSvm{.C = 1e6}, apart.x, apart.labels);
  EXPECT_NEAR(soft.objective.of(0), m.objective.of(0), 1e-7 * m.objective.of(0)) << "a large C is as good";
  const std::string refusal = message_of([&] { fit(LpSvm{.C = kHard}, mixed.x, mixed.labels); });
  EXPECT_NE(refusal.find("no plane separates the classes"), std::string::npos);
  EXPECT_NE(refusal.find("rows "), std::string::npos) << refusal;
}

TEST(LpSvm, SparseRowsGiveTheSamePlane) {
  Columns data(120, 12, 1);
  for (Index i = 0; i < 120; ++i)
    for (Index j = 0; j < 12; ++j)
      if ((i + j) % 3 == 0) data.x(i, j) = 0;
  const Csr sparse = sparse_of(data.x);
  MemoryRows rows(sparse);
  rows.labels(data.codes, {"no", "yes"});
  for (const bool intercept : {true, false}) {
    const Valid<LpSvm> spec(LpSvm{.C = 0.3, .intercept = intercept});
    const auto dense = fit(spec, data.rows(), {}), same = fit(spec, rows, {});
    EXPECT_LT((dense.coefficients.of - same.coefficients.of).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_NEAR(dense.intercept.of(0), same.intercept.of(0), 1e-9);
    EXPECT_TRUE(certify(same, rows, {}).holds());
  }
}

TEST(LpSvm, TheNaturalWrongPlanesFailTheCertificate) {
  const Columns data(100, 5, 0.7);
  const auto right = fit(Valid<LpSvm>(LpSvm{}), data.rows(), {});
  ASSERT_TRUE(certify(right, data.rows(), {}).holds());
  auto moved = right, shorter = right, bias = right, boast = right;
  moved.coefficients.of(0, 3) += 1e-4;
  shorter.coefficients.of *= 0.999;  // nearly the optimum, and as good a classifier
  auto squared = right;              // the plane with the least sum of squares in the place of absolute values
  const auto svm = fit(LinearSvm{}, data.x, data.labels);
  squared.coefficients = svm.coefficients;
  squared.intercept = svm.intercept;
  bias.intercept.of(0) += 1e-3;
  boast.slack.of(0) *= 0.99;
  for (const auto& wrong : {moved, shorter, squared, bias, boast})
    EXPECT_FALSE(certify(wrong, data.rows(), {}).holds());
}

TEST(LpSvm, SaysTheSlackOfEachRow) {
  const Columns data(50, 3, 0.5);
  const auto m = fit(Valid<LpSvm>(LpSvm{}), data.rows(), {});
  BlockBuffer buffer;
  const auto rows = data.rows();
  const auto columns = m.diagnostics(rows.read(0, 50, buffer));
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0].name, "slack");
  EXPECT_NEAR(columns[0].values.sum(), m.slack.of(0), 1e-9);
  EXPECT_NEAR(m.objective.of(0), m.coefficients.of.cwiseAbs().sum() + columns[0].values.sum(), 1e-9);
}

TEST(LpSvm, HardColumnsGetAnAnswerOrAClearError) {
  const Columns data(40, 2, 1);
  EXPECT_NE(message_of([&] { fit(LpSvm{}, data.x, std::vector<std::string>(40, "no")); }).find("at least two classes"),
            std::string::npos);
  const auto equal = fit(LpSvm{}, Matrix::Constant(40, 2, 3.0), data.labels);
  EXPECT_TRUE(equal.certificate.holds());
  EXPECT_EQ(equal.n_zero.of(0), 2);
  EXPECT_NE(equal.warnings.at(0).find("no column varies"), std::string::npos);
  Matrix twice(80, 2);
  twice << data.x, data.x;
  std::vector<std::string> opposite = data.labels;
  for (const auto& label : data.labels) opposite.emplace_back(label == "yes" ? "no" : "yes");
  const auto none = fit(LpSvm{}, twice, opposite);  // each row with either label
  EXPECT_TRUE(none.certificate.holds());
  EXPECT_EQ(none.n_zero.of(0), 2);
  EXPECT_NEAR(none.objective.of(0), 80, 1e-9);
}

}  // namespace
}  // namespace lemma
