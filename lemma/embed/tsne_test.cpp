// lemma/embed/tsne_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/embed/smacof.hpp>
#include <lemma/embed/tsne.hpp>
#include <lemma/embed/tsne/parts.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Three groups in five dimensions.
Matrix groups(Index n, double apart = 6) {
  Matrix x = normal_matrix(n, 5, 3);
  for (Index i = 0; i < n; ++i) x(i, i % 3) += apart;
  return x;
}

/// p of all pairs, from the bandwidths.
Matrix affinities(const Matrix& x, const Vector& sigma) {
  const Index n = x.rows();
  Matrix p = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j)
      if (j != i) p(i, j) = std::exp(-(x.row(i) - x.row(j)).squaredNorm() / (2 * sigma(i) * sigma(i)));
    p.row(i) /= p.row(i).sum();
  }
  return (p + p.transpose()) / (2.0 * static_cast<double>(n));
}

double divergence(const Matrix& p, const Matrix& y) {
  const Index n = y.rows();
  Matrix w = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      if (j != i) w(i, j) = 1 / (1 + (y.row(i) - y.row(j)).squaredNorm());
  const double z = w.sum();
  double sum = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      if (p(i, j) > 0) sum += p(i, j) * std::log(p(i, j) * z / w(i, j));
  return sum;
}

TEST(Tsne, IsStationaryAndTheDivergenceIsTheSumOfItsFormula) {
  const Matrix x = groups(90, 2);
  const auto model = fit(Tsne{.perplexity = 12.0}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::stationary);
  const Matrix p = affinities(x, model.bandwidths);
  const double found = divergence(p, model.places);
  EXPECT_NEAR(model.kl_divergence, found, 1e-10);
  const double unit = model.places.norm();
  for (std::uint64_t k = 0; k < 5; ++k) {  // no small move is lower by more than the gradient allows
    const Matrix moved = model.places + 1e-3 * unit / 90 * normal_matrix(90, 2, k);
    EXPECT_GE(divergence(p, moved), found - 1e-5 * (moved - model.places).norm());
  }
}

TEST(Tsne, EachRowHasThePerplexityAskedFor) {
  const Matrix x = groups(60);
  const auto model = fit(Tsne{.perplexity = 7.5, .max_iterations = 1}, x);
  for (Index i = 0; i < 60; ++i) {
    Vector p(60);
    for (Index j = 0; j < 60; ++j)
      p(j) =
          j == i ? 0 : std::exp(-(x.row(i) - x.row(j)).squaredNorm() / (2 * model.bandwidths(i) * model.bandwidths(i)));
    p /= p.sum();
    double entropy = 0;
    for (const double each : p) entropy -= each > 0 ? each * std::log(each) : 0;
    EXPECT_NEAR(std::exp(entropy), 7.5, 1e-9);
  }
}

TEST(Tsne, TheForcesAreTheSlopeOfTheDivergence) {
  const Matrix x = groups(25, 1);
  const Compared data = things_of("tsne", Input::rows, MemoryRows(x), Metric(), {});
  const tsne::Affinities p = tsne::affinities_of(data, TsneForces::exact, 6, {});
  const Matrix y = normal_matrix(25, 2, 9), slope = tsne::exact_forces(p, y, false, {}).gradient();
  for (const auto& [i, l] : {std::pair{0, 0}, {7, 1}, {24, 0}}) {
    Matrix up = y, down = y;
    up(i, l) += 1e-5, down(i, l) -= 1e-5;
    EXPECT_NEAR(slope(i, l), (divergence(p.dense, up) - divergence(p.dense, down)) / 2e-5, 1e-8);
  }
}

TEST(Tsne, ForcesOfGroupsAreThoseOfAllPairsWhenThetaIsZeroAndNearThemElse) {
  for (const Index dimensions : {1, 2, 3}) {
    const Matrix x = groups(300);
    const Compared data = things_of("tsne", Input::rows, MemoryRows(x), Metric(), {});
    tsne::Affinities p = tsne::affinities_of(data, TsneForces::barnes_hut, 99, {});
    p.dense = Matrix::Zero(300, 300);
    for (Index i = 0; i < 300; ++i)
      for (Index e = p.sparse.start[at(i)]; e < p.sparse.start[at(i) + 1]; ++e)
        p.dense(i, p.sparse.column[at(e)]) = p.sparse.value[at(e)];
    const Matrix y = 5 * normal_matrix(300, dimensions, 4);
    const tsne::Forces exact = tsne::exact_forces(p, y, false, {}), none = tsne::grouped_forces(p, y, 0, {}),
                       grouped = tsne::grouped_forces(p, y, 0.7, {});
    EXPECT_LE((none.gradient() - exact.gradient()).norm(), 1e-12 * exact.gradient().norm());
    EXPECT_LE((grouped.attraction - exact.attraction).norm(), 1e-12 * exact.attraction.norm());
    EXPECT_LE((grouped.repulsion - exact.repulsion).norm(), 0.1 * exact.repulsion.norm());
    EXPECT_NEAR(grouped.z, exact.z, 0.03 * exact.z);
  }
}

TEST(Tsne, KeepsGroupsTogether) {
  const Matrix x = groups(150);
  for (const TsneForces forces : {TsneForces::exact, TsneForces::barnes_hut}) {
    const auto model = fit(Tsne{.forces = forces}, x);
    EXPECT_GE(model.trustworthiness, 0.95);
    Index torn = 0;  // the nearest place is of another group
    for (Index i = 0; i < 150; ++i) {
      Index nearest = -1;
      for (Index j = 0; j < 150; ++j)
        if (j != i && (nearest < 0 || (model.places.row(i) - model.places.row(j)).norm() <
                                          (model.places.row(i) - model.places.row(nearest)).norm()))
          nearest = j;
      torn += nearest % 3 != i % 3;
    }
    EXPECT_LE(torn, 2);
  }
}

TEST(Tsne, ByGroupsNothingIsClaimedAndThePictureIsAboutAsGood) {
  const Matrix x = groups(240, 3);
  const auto exact = fit(Tsne{}, x), grouped = fit(Tsne{.forces = TsneForces::barnes_hut}, x);
  EXPECT_EQ(grouped.certificate.strength, Strength::none);
  EXPECT_NE(grouped.certificate.message.find("--forces exact"), std::string::npos);
  EXPECT_NEAR(grouped.kl_divergence, exact.kl_divergence, 0.1 * exact.kl_divergence);
  TsneModel told = grouped;  // what it tells of the picture is looked at all the same
  told.kl_divergence *= 0.9;
  EXPECT_TRUE(certify(told, MemoryRows(x), {}).fails());
}

TEST(Tsne, ThePictureDoesNotDependOnTheOrderOfTheRows) {
  const Matrix x = groups(80, 3);
  const Matrix turned = x.colwise().reverse();
  for (const TsneForces forces : {TsneForces::exact, TsneForces::barnes_hut}) {
    const auto model = fit(Tsne{.forces = forces}, x), other = fit(Tsne{.forces = forces}, turned);
    EXPECT_EQ(Matrix(other.places.colwise().reverse()), model.places);
  }
}

TEST(Tsne, TheSeedFixesTheBitsOnAnyNumberOfThreads) {
  const Matrix x = groups(200, 3);
  for (const TsneForces forces : {TsneForces::exact, TsneForces::barnes_hut}) {
    const Tsne spec{.forces = forces, .start = TsneStart::random, .max_iterations = 300};
    const auto one = fit(spec, x, CallOptions{.seed = 5, .threads = 1}),
               three = fit(spec, x, CallOptions{.seed = 5, .threads = 3}), other = fit(spec, x, CallOptions{.seed = 6});
    EXPECT_EQ(one.places, three.places);
    EXPECT_NE(one.places, other.places);
  }
}

TEST(Tsne, DoesNotDependOnTheUnit) {
  const Matrix x = groups(60, 3);
  const auto plain = fit(Tsne{}, x), small = fit(Tsne{}, Matrix(0x1p-40 * x));
  EXPECT_EQ(small.places, plain.places);
  EXPECT_NEAR(small.kl_divergence, plain.kl_divergence, 1e-12);
  EXPECT_LE((0x1p40 * small.bandwidths - plain.bandwidths).norm(), 1e-9 * plain.bandwidths.norm());
}

TEST(Tsne, TheNaturalWrongPicturesFail) {
  const Matrix x = groups(90, 2);
  const MemoryRows rows(x);
  const TsneModel right = fit(Tsne{}, x);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  const auto with = [&](const TsneModel& other) {  // the same but for its places, told as they are
    TsneModel out = right;
    out.places = other.places;
    out.bandwidths = other.bandwidths;
    out.kl_divergence = other.kl_divergence;
    out.describe(x, BoundMetric(right.spec.metric, 5), {});
    return out;
  };
  EXPECT_FALSE(certify(with(fit(Tsne{.max_iterations = 20}, x)), rows, {}).holds());  // stopped early
  EXPECT_FALSE(certify(with(fit(Tsne{.forces = TsneForces::barnes_hut, .theta = 1}, x)), rows, {}).holds());
  EXPECT_FALSE(certify(with(fit(Tsne{.perplexity = 10.0}, x)), rows, {}).holds());
  TsneModel scaled = right;  // stress, not divergence
  scaled.places = fit(Smacof{}, x).places;
  EXPECT_FALSE(certify(scaled, rows, {}).holds());
}

TEST(Tsne, EqualRowsShareAPlaceAndCrowdsAreSaid) {
  Matrix x = groups(60);
  for (Index i = 1; i < 20; ++i) x.row(i) = x.row(0);
  const auto model = fit(Tsne{.perplexity = 5.0}, x);
  ASSERT_EQ(model.warnings.size(), 1U);
  // the 19 copies, their row, and one to which they are nearest
  EXPECT_EQ(model.warnings[0], "21 of 60 rows have more equally near rows than the perplexity");
  EXPECT_EQ(model.places.row(7), model.places.row(0));
  EXPECT_TRUE(model.places.allFinite());
}

TEST(Tsne, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fit(Tsne{.perplexity = 20.0}, groups(20)); }).find("perplexity is 20, must be below 19"),
            std::string::npos);
  EXPECT_NE(message_of([] { fit(Tsne{}, Matrix::Ones(5, 2)); }).find("all 5 rows are equal"), std::string::npos);
  EXPECT_NE(
      message_of([] { fit(Tsne{.dimensions = 4, .forces = TsneForces::barnes_hut}, groups(20)); }).find("at most 3"),
      std::string::npos);
  EXPECT_NE(
      message_of([] { fit(Tsne{.forces = TsneForces::exact, .gigabytes = 1e-6}, groups(40)); }).find("--gigabytes"),
      std::string::npos);
}

}  // namespace
}  // namespace lemma
