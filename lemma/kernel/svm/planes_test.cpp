// lemma/kernel/svm/planes_test.cpp: the plane of a linear machine, and columns brought to one scale.
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream/rows.hpp>
#include <lemma/kernel/svm.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Certifies on the table it was fitted to.
template <class Model>
Certificate certified(const Model& m, const Table& table) {
  const DesignRows rows(m.design, m.design.train(table));
  return certify(m, rows, {});
}

TEST(SvmPlanes, ALinearMachineIsItsPlane) {
  const Table iris = dataset("iris");
  for (const bool standardize : {false, true}) {
    const auto m = fit(Svm{.kernel = LinearKernel{}, .standardize = standardize}, formula("species ~ ."), iris);
    ASSERT_EQ(m.coefficients.of.rows(), 3);
    const Matrix x = m.design.apply(iris).x;
    const Matrix by_plane = (x * m.coefficients.of.transpose()).rowwise() + m.intercept.of.transpose();
    EXPECT_LT((by_plane - m.machine_values(x)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_TRUE(certified(m, iris).holds()) << certified(m, iris).message;
  }
  const auto curved = fit(Svm{.kernel = Rbf{}}, formula("species ~ ."), iris);
  EXPECT_EQ(curved.coefficients.of.size(), 0);
  EXPECT_EQ(curved.intercept.size(), 0);
}

TEST(SvmPlanes, TheMarginIsOneOverTheLengthOfW) {
  const auto m = fit(Svm{.kernel = LinearKernel{}}, formula("type ~ ."), dataset("pima_train"));
  EXPECT_NEAR(m.margin.of(0), 1 / m.coefficients.of.row(0).norm(), 1e-9);
}

TEST(SvmStandardize, IsThePipelineWithScale) {
  const Table pima = dataset("pima_train");
  const auto m = fit(Svm{.C = 3, .kernel = Rbf{.gamma = 0.1}, .standardize = true}, formula("type ~ ."), pima);
  const Matrix x = m.design.apply(pima).x;
  const Vector mean = x.colwise().mean();
  Matrix z = x.rowwise() - mean.transpose();
  for (Index j = 0; j < z.cols(); ++j)
    z.col(j) /= std::sqrt(z.col(j).squaredNorm() / static_cast<double>(z.rows() - 1));
  std::vector<std::string> type;
  for (const auto code : pima.column("type").categories().codes)
    type.push_back(pima.column("type").categories().levels[static_cast<std::size_t>(code)]);
  const auto scaled = fit(Svm{.C = 3, .kernel = Rbf{.gamma = 0.1}}, z, type);
  EXPECT_LT((m.machine_values(x) - scaled.machine_values(z)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_TRUE(certified(m, pima).holds()) << certified(m, pima).message;
  const DesignData data = m.design.train(pima);
  Block block(data.x, 0);
  block.label = data.label;
  EXPECT_EQ(m.diagnostics(block).size(), 5U);  // the support vectors are found among the rows as they are
}

TEST(SvmStandardize, UnitsDoNotMatterAndDamageIsNoticed) {
  Table pima = dataset("pima_train");
  const auto m = fit(Svm{.standardize = true}, formula("type ~ glu + age"), pima);
  const auto other = fit(Svm{.standardize = true}, formula("type ~ I(1e6 * glu) + age"), pima);
  EXPECT_EQ(m.support.of, other.support.of);
  EXPECT_TRUE(m.warnings.empty());
  auto wrong = m;
  wrong.mean(0) += 1e-3;
  EXPECT_FALSE(certified(wrong, pima).holds());
  auto line = fit(Svm{.kernel = LinearKernel{}, .standardize = true}, formula("type ~ glu + age"), pima);
  line.coefficients.of(0, 1) *= 1.001;
  EXPECT_EQ(certified(line, pima).kind, "difference of coefficients");
}

TEST(SvmStandardize, WhatHasNoColumnsOfItsOwnIsRefused) {
  EXPECT_NE(
      message_of([] { Valid<Svm>(Svm{.kernel = Precomputed{}, .standardize = true}); }).find("columns of numbers"),
      std::string::npos);
}

}  // namespace
}  // namespace lemma
