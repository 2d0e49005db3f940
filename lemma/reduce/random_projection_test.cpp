// lemma/reduce/random_projection_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/random_projection.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(RandomProjection, TheBoundIsThatOfItsFormula) {
  EXPECT_EQ(johnson_lindenstrauss(1000, 0.1), 5921);  // as scikit-learn's johnson_lindenstrauss_min_dim, rounded up
  EXPECT_EQ(johnson_lindenstrauss(1000000, 0.5), 664);
}

TEST(RandomProjection, KeepsDistancesToTheShareOfTheBound) {
  const Matrix x = normal_matrix(150, 2000, 3);
  for (const auto kind : {Projection::gaussian, Projection::sparse}) {
    const auto model = fit(RandomProjection{.kind = kind, .epsilon = 0.4}, x);
    EXPECT_EQ(model.components(), johnson_lindenstrauss(150, 0.4));
    EXPECT_LT(model.components(), 400);
    EXPECT_GE(model.distortion(0), 0.6);
    EXPECT_LE(model.distortion(2), 1.4);
    EXPECT_NEAR(model.distortion(1), 1, 0.05);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_TRUE(model.warnings.empty());
  }
}

TEST(RandomProjection, SparseDirectionsHaveTheirShareOfEntries) {
  const auto model = fit(RandomProjection{.kind = Projection::sparse, .components = 50}, normal_matrix(20, 400, 3));
  EXPECT_NEAR(*model.spec.density, 0.05, 1e-12);
  const double share = static_cast<double>((model.directions.array() != 0).count()) / 20000.0;
  EXPECT_NEAR(share, 0.05, 0.01);
  EXPECT_NEAR(model.directions.maxCoeff(), std::sqrt(20.0 / 50), 1e-12);
}

TEST(RandomProjection, TheSeedDecidesTheDirectionsAndNothingElse) {
  const Matrix x = normal_matrix(30, 10, 3), other = normal_matrix(30, 10, 4);
  const RandomProjection spec{.components = 4};
  EXPECT_EQ(fit(spec, x).directions, fit(spec, other).directions);
  EXPECT_NE(fit(spec, x).directions, fit(spec, x, {.seed = 2}).directions);
}

TEST(RandomProjection, TheNaturalWrongScaleOfTheColumnsFails) {
  const Matrix x = normal_matrix(30, 10, 3);
  RandomProjectionModel model = fit(RandomProjection{.components = 4}, x);
  model.directions *= std::sqrt(4.0 / 10.0);  // 1/sqrt(p) in the place of 1/sqrt(k)
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(RandomProjection, WhereTheBoundAsksForMoreThanThereIsItSaysSo) {
  const auto model = fit(RandomProjection{}, normal_matrix(30, 4, 3));
  EXPECT_EQ(model.components(), 4);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_NE(model.warnings[0].find("nothing is promised"), std::string::npos);
  EXPECT_NE(message_of([] { fit(RandomProjection{.density = 0.5}, normal_matrix(9, 4, 3)); }).find("--kind sparse"),
            std::string::npos);
  const auto equal = fit(RandomProjection{.components = 2}, Matrix::Ones(5, 3));
  EXPECT_EQ(equal.distortion, Vector::Ones(3));
}

}  // namespace
}  // namespace lemma
