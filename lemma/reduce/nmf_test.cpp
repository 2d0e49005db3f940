// lemma/reduce/nmf_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/nonnegative.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/nmf.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Sums of parts that hardly overlap, and noise.
Matrix of_parts(Index n, Index p, Index parts, double noise, std::uint64_t seed = 3) {
  RandomStream stream(seed);
  Matrix w(n, parts), h = Matrix::Zero(parts, p);
  for (Index e = 0; e < w.size(); ++e) w.data()[e] = stream.uniform() < 0.3 ? 0 : stream.uniform();
  for (Index k = 0; k < parts; ++k)
    for (Index j = 0; j < p; ++j)
      if (j % parts == k || stream.uniform() < 0.2) h(k, j) = 0.5 + stream.uniform();
  Matrix x = w * h;
  for (Index e = 0; e < x.size(); ++e) x.data()[e] += noise * stream.uniform();
  return x;
}

TEST(Nmf, FindsPartsWithoutNoiseAgain) {
  const Matrix x = of_parts(80, 12, 3, 0);
  const auto model = fit(Nmf{.components = 3}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_GE(model.explained, 1 - 1e-6);
  EXPECT_LE((model.sums(model.transform(x)) - x).norm(), 1e-3 * x.norm());
}

TEST(Nmf, OfOnePartItIsTheFirstSingularVector) {
  const Matrix x = of_parts(50, 7, 2, 0.1);
  const auto model = fit(Nmf{.components = 1, .tolerance = 1e-10}, x);
  const Svd svd = thin_svd(x);
  EXPECT_LE((model.loadings.col(0) - svd.v.col(0)).norm(), 1e-8);
  EXPECT_NEAR(model.sizes(0), svd.s(0), 1e-8 * svd.s(0));
  EXPECT_NEAR(model.explained, svd.s(0) * svd.s(0) / x.squaredNorm(), 1e-9);
}

TEST(Nmf, TheObjectiveIsTheSumOfItsFormulaAndNeverRises) {
  const Matrix x = of_parts(60, 9, 4, 0.3);
  const auto model = fit(Nmf{.components = 3}, x);
  const Matrix w = model.transform(x);
  EXPECT_NEAR(model.objective, 0.5 * (x - w * model.loadings.transpose()).squaredNorm(), 1e-9 * x.squaredNorm());
  EXPECT_NEAR(model.explained, 1 - 2 * model.objective / x.squaredNorm(), 1e-10);
  EXPECT_TRUE((w.array() >= 0).all());
  for (Index k = 1; k < model.trace.size(); ++k) EXPECT_LE(model.trace(k), model.trace(k - 1) * (1 + 1e-12));
  EXPECT_LT(model.trace(model.trace.size() - 1), model.trace(0));
  for (Index k = 0; k < 3; ++k) {
    EXPECT_NEAR(model.loadings.col(k).norm(), 1, 1e-12);
    EXPECT_NEAR(model.sizes(k), w.col(k).norm(), 1e-9 * model.sizes(0));
  }
}

TEST(Nmf, ANewRowsCoordinatesAreItsOwnNonNegativeLeastSquares) {
  const auto model = fit(Nmf{.components = 3}, of_parts(60, 9, 3, 0.3));
  const Matrix fresh = of_parts(20, 9, 4, 0.5, 8), w = model.transform(fresh);
  for (Index i = 0; i < 20; ++i) {
    const Vector slope =
        model.loadings.transpose() * (model.loadings * w.row(i).transpose() - fresh.row(i).transpose());
    for (Index k = 0; k < 3; ++k) {
      EXPECT_GE(w(i, k), 0);
      EXPECT_GE(slope(k), -1e-12);
      EXPECT_LE(std::abs(slope(k) * w(i, k)), 1e-12);
    }
  }
}

TEST(Nmf, AWeightIsCopiesOfARow) {
  const Matrix x = of_parts(30, 6, 2, 0.3);
  Matrix twice(40, 6);
  twice << x, x.topRows(10);
  Vector weight = Vector::Ones(30);
  weight.head(10).setConstant(2);
  const auto weighted = fit(Nmf{.tolerance = 1e-9}, x, CallOptions{.weights = weight}),
             copied = fit(Nmf{.tolerance = 1e-9}, twice);
  EXPECT_LE((weighted.loadings - copied.loadings).norm(), 1e-5);
  EXPECT_NEAR(weighted.objective, copied.objective, 1e-9 * copied.objective);
}

TEST(Nmf, RandomStartsCanOnlyHelp) {
  const Matrix x = of_parts(60, 10, 5, 0.3);
  const auto one = fit(Nmf{.components = 4}, x), several = fit(Nmf{.components = 4, .restarts = 3}, x);
  EXPECT_LE(several.objective, one.objective * (1 + 1e-9));
  EXPECT_TRUE(several.certificate.holds()) << several.certificate.message;
}

TEST(Nmf, TheNaturalWrongFactorisationsFail) {
  const Matrix x = of_parts(60, 9, 4, 0.3);
  const MemoryRows rows(x);
  const NmfModel right = fit(Nmf{.components = 3}, x);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  const auto told = [&](Matrix h) {  // parts of length 1 in their order, with numbers that are right of them
    for (Index k = 0; k < h.cols(); ++k) h.col(k).normalize();
    NmfModel out = right;
    out.loadings = h;
    const Matrix w = out.transform(x);
    out.sizes = w.colwise().norm().transpose();
    out.objective = 0.5 * (x - w * h.transpose()).squaredNorm();
    out.explained = 1 - 2 * out.objective / x.squaredNorm();
    out.trace = Vector::Constant(1, out.objective);
    return certify(out, rows, {});
  };
  // Singular vectors with what is negative cut off, which is where the search begins.
  const Svd svd = thin_svd(x);
  EXPECT_FALSE(told(svd.v.leftCols(3).cwiseMax(1e-6)).holds());
  // Multiplicative rules stopped early.
  Matrix h = svd.v.leftCols(3).cwiseAbs(), w = (x * h).cwiseMax(1e-9);
  for (int round = 0; round < 30; ++round) {
    w = (w.array() * (x * h).array() / (w * (h.transpose() * h)).array()).matrix().eval();
    h = (h.array() * (x.transpose() * w).array() / (h * (w.transpose() * w)).array()).matrix().eval();
  }
  EXPECT_FALSE(told(h).holds());
  // Rows as parts.
  EXPECT_FALSE(told(x.topRows(3).transpose()).holds());
}

TEST(Nmf, WorkThatEndsEarlySaysSo) {
  const auto model = fit(Nmf{.components = 3, .max_iterations = 2}, of_parts(60, 9, 4, 0.3));
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.certificate.stopped, "iteration limit");
  EXPECT_NE(model.certificate.message.find("--max_iterations"), std::string::npos);
}

TEST(Nmf, PartsThatCarryNothingAreLeftOut) {
  Matrix x = Matrix::Zero(6, 4);
  for (Index i = 0; i < 6; ++i) x(i, 0) = x(i, 1) = static_cast<double>(i + 1);
  const auto model = fit(Nmf{.components = 3}, x);
  EXPECT_EQ(model.components(), 1);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_EQ(model.warnings[0], "2 of 3 parts carry nothing and are left out");
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Nmf, NamesTheCellThatCannotBeUsed) {
  Matrix x = of_parts(12, 4, 2, 0.1);
  x(6, 2) = -1.5;
  EXPECT_NE(message_of([&] { fit(Nmf{}, x); }).find("'x3' is -1.5 in row 7"), std::string::npos);
  EXPECT_NE(message_of([] { fit(Nmf{}, Matrix::Zero(5, 3)); }).find("all numbers are 0"), std::string::npos);
}

TEST(NonnegativeLeastSquares, IsTheBestOfAllActiveSets) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix a = normal_matrix(8, 5, seed), b = normal_matrix(8, 1, seed, 1), q = a.transpose() * a;
    const Vector c = a.transpose() * b, w = nonnegative_least_squares(q, c);
    EXPECT_LE(nonnegative_slack(q, c, w), 1e-12 * c.norm());
    Vector far = Vector::Zero(5);
    for (int sweep = 0; sweep < 5000; ++sweep) nonnegative_sweep(q, c.data(), far);
    EXPECT_LE((far - w).norm(), 1e-8);
  }
}

TEST(NonnegativeLeastSquares, OfColumnsThatDependOnEachOtherIsOneOfTheBest) {
  Matrix a = normal_matrix(8, 3, 1).cwiseAbs();
  a.col(2) = a.col(0);
  const Matrix q = a.transpose() * a;
  const Vector c = a.transpose() * Vector::Ones(8), w = nonnegative_least_squares(q, c);
  EXPECT_LE(nonnegative_slack(q, c, w), 1e-10);
  EXPECT_EQ(nonnegative_least_squares(q, Vector(-c)), Vector::Zero(3));
}

}  // namespace
}  // namespace lemma
