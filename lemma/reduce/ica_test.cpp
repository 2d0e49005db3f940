// lemma/reduce/ica_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/ica.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Sources that are far from normal on either side: even, double exponential, two values and some noise.
Matrix sources(Index n, std::uint64_t seed = 7) {
  RandomStream stream(seed);
  Matrix s(n, 3);
  for (Index i = 0; i < n; ++i) {
    s(i, 0) = stream.uniform() - 0.5;
    const double u = stream.uniform() - 0.5;
    s(i, 1) = (u < 0 ? 1 : -1) * std::log(1 - 2 * std::abs(u));
    s(i, 2) = (stream.uniform() < 0.5 ? -1 : 1) + 0.2 * stream.normal();
  }
  return s;
}
Matrix mixed(const Matrix& s, Index p, std::uint64_t seed = 9) {
  return (s * normal_matrix(s.cols(), p, seed)).rowwise() + Eigen::RowVectorXd::LinSpaced(p, 1, 5);
}
Matrix standardised(const Matrix& x) {
  const Matrix centred = x.rowwise() - x.colwise().mean();
  return centred *
         (std::sqrt(static_cast<double>(x.rows() - 1)) * centred.colwise().norm().cwiseInverse()).asDiagonal();
}

TEST(Ica, FindsMixedSourcesAgain) {
  const Matrix s = sources(4000), x = mixed(s, 3);
  for (const Contrast contrast : {Contrast::logcosh, Contrast::exp, Contrast::cube}) {
    const auto model = fit(Ica{.contrast = contrast}, x);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    const Matrix agreement = (standardised(s).transpose() * model.transform(x) / 3999.0).cwiseAbs();
    for (Index k = 0; k < 3; ++k) EXPECT_GE(agreement.col(k).maxCoeff(), 0.99) << name_of(contrast);
    EXPECT_GE(agreement.rowwise().maxCoeff().minCoeff(), 0.99);  // each source once
  }
}

TEST(Ica, SourcesAreUncorrelatedOfUnitVarianceAndTheMixtureIsTheRows) {
  const Matrix x = mixed(sources(500), 3);
  const auto model = fit(Ica{}, x);
  const Matrix s = model.transform(x);
  EXPECT_LE((s.transpose() * s / 499.0 - Matrix::Identity(3, 3)).norm(), 1e-10);
  EXPECT_LE((model.inverse(s) - x).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((model.unmixing.transpose() * model.mixing - Matrix::Identity(3, 3)).norm(), 1e-10);
  EXPECT_NEAR(model.explained.sum(), 1, 1e-12);
  Matrix turned = model.mixing;
  turn_columns(turned);
  EXPECT_EQ(turned, model.mixing);
  for (Index k = 1; k < 3; ++k) EXPECT_LE(model.explained(k), model.explained(k - 1));
}

TEST(Ica, DoesNotDependOnTheUnitsOfTheColumns) {
  const Matrix x = mixed(sources(800), 3);
  Matrix other = x;
  other.col(0) *= 1e6, other.col(2) *= 1e-4;
  const Matrix s = fit(Ica{}, x).transform(x), t = fit(Ica{}, other).transform(other);
  const Matrix agreement = (s.transpose() * t / 799.0).cwiseAbs();
  for (Index k = 0; k < 3; ++k) EXPECT_NEAR(agreement.col(k).maxCoeff(), 1, 1e-6);
}

TEST(Ica, FewerSourcesThanColumnsAreThoseOfThePrincipalComponents) {
  Matrix x = mixed(sources(600), 5);
  x += 0.01 * normal_matrix(600, 5, 4);
  const auto model = fit(Ica{.components = 3}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const Eigenpairs axes = symmetric_eigen(Matrix(centred.transpose() * centred / 599.0), 3);
  EXPECT_NEAR(model.mixing.squaredNorm(), axes.values.sum(), 1e-9 * axes.values.sum());
  const auto all = fit(Ica{}, x);
  EXPECT_EQ(all.components(), 5);
  IcaModel other = fit(Ica{.components = 2}, x);
  ASSERT_TRUE(certify(other, MemoryRows(x), {}).holds());
  other.mixing = all.mixing.leftCols(2);  // two sources of all, not of the first two axes
  other.unmixing = all.unmixing.leftCols(2);
  other.explained = all.explained.head(2);
  EXPECT_FALSE(certify(other, MemoryRows(x), {}).holds());
}

TEST(Ica, TheNaturalWrongAxesFail) {
  const Matrix x = mixed(sources(600), 3);
  const MemoryRows rows(x);
  const IcaModel right = fit(Ica{}, x);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  const Matrix centred = x.rowwise() - x.colwise().mean(), covariance = centred.transpose() * centred / 599.0;
  const Eigenpairs axes = symmetric_eigen(covariance);
  IcaModel principal = right;  // whitened, but not turned
  principal.mixing = axes.vectors * axes.values.cwiseSqrt().asDiagonal();
  principal.unmixing = axes.vectors * axes.values.cwiseSqrt().cwiseInverse().asDiagonal();
  principal.explained = axes.values / axes.values.sum();
  const Certificate found = certify(principal, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_EQ(found.kind, "gain of a rotation");
  IcaModel divided_by_n = right;
  divided_by_n.mixing *= std::sqrt(599.0 / 600.0);
  divided_by_n.unmixing /= std::sqrt(599.0 / 600.0);
  EXPECT_FALSE(certify(divided_by_n, rows, {}).holds());
  IcaModel contrast = right;
  contrast.spec.contrast = Contrast::cube;
  EXPECT_FALSE(certify(contrast, rows, {}).holds());
  IcaModel early = fit(Ica{.max_iterations = 1}, x);
  EXPECT_FALSE(certify(early, rows, {}).holds());
  EXPECT_NE(early.certificate.message.find("--max_iterations"), std::string::npos);
}

TEST(Ica, OfNormalRowsTheSearchEndsAllTheSame) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const auto model = fit(Ica{}, normal_matrix(120, 5, seed));
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
}

TEST(Ica, SaysWhenColumnsDependOnEachOther) {
  Matrix x = mixed(sources(300), 3);
  x.col(2) = x.col(0) - x.col(1);
  const auto model = fit(Ica{}, x);
  EXPECT_EQ(model.components(), 2);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_EQ(model.warnings[0], "columns depend on each other: there are 2 sources for 3 columns");
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LE((model.inverse(model.transform(x)) - x).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Ica, OfNearlyDependentColumnsASecondLookAgrees) {
  for (const double apart : {1e-5, 1e-4})
    for (const std::uint64_t seed : {1, 2, 3}) {
      Matrix x = mixed(sources(80, seed), 3).rowwise() - Eigen::RowVector3d(1, 3, 5);
      x.col(2) = x.col(0) + 2 * x.col(1) + apart * normal_matrix(80, 1, seed).col(0);
      const auto model = fit(Ica{}, x);
      ASSERT_EQ(model.components(), 3);
      EXPECT_TRUE(model.certificate.holds()) << apart << ", " << seed << ": " << model.certificate.message;
      const Certificate again = certify(model, MemoryRows(x), {});
      EXPECT_TRUE(again.holds()) << apart << ", " << seed << ": " << again.message;
    }
}

TEST(Ica, AColumnThatDoesNotVaryHasNoPartInFewerSources) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Matrix x = normal_matrix(50, 5, seed);
    x.col(2).setConstant(0.1);
    const auto model = fit(Ica{.components = 2}, x);
    EXPECT_EQ(model.unmixing.row(2).norm(), 0) << seed;
    EXPECT_EQ(model.mixing.row(2).norm(), 0) << seed;
    const Certificate again = certify(model, MemoryRows(x), {});
    EXPECT_EQ(again.holds(), model.certificate.holds()) << seed << ": " << again.message;
  }
}

TEST(Ica, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fit(Ica{.components = 6}, mixed(sources(50), 4)); }).find("must be at most 3"),
            std::string::npos);
  EXPECT_NE(message_of([] { fit(Ica{}, Matrix::Ones(5, 2)); }).find("no column varies"), std::string::npos);
  EXPECT_NE(message_of([] { fit(Ica{}, Matrix::Ones(1, 2)); }).find("at least two rows"), std::string::npos);
}

}  // namespace
}  // namespace lemma
