// lemma/embed/nonmetric_mds_test.cpp
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/embed/nonmetric_mds.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/embed/smacof.hpp>
#include <lemma/model/fit.hpp>
#include <numeric>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix distances_of(const Matrix& places) { return Dissimilarities::of_rows(places, Metric()).square(); }

Matrix numbers_of(const char* name, const char* columns) {
  const auto model = fit(NonmetricMds{.max_iterations = 1}, formula(columns), dataset(name));
  return model.design.apply(dataset(name)).x;
}
Matrix standardised(const Matrix& x) {
  const Matrix centred = x.rowwise() - x.colwise().mean();
  return centred *
         (std::sqrt(static_cast<double>(x.rows() - 1)) * centred.colwise().norm().cwiseInverse()).asDiagonal();
}

/// Stress-1 of places when pairs of equal δ are taken in the order of their numbers, as MASS does: neither treatment of ties, and
/// where there are some (iris has many) a little more than the primary one.
double stress_in_given_order(const Matrix& x, const Matrix& places) {
  std::vector<double> delta, distance, rank;
  std::vector<Index> order;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = i + 1; j < x.rows(); ++j) {
      order.push_back(static_cast<Index>(delta.size()));
      delta.push_back((x.row(i) - x.row(j)).norm());
      distance.push_back((places.row(i) - places.row(j)).norm());
    }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return delta[at(a)] < delta[at(b)]; });
  rank.resize(delta.size());
  for (std::size_t k = 0; k < order.size(); ++k) rank[at(order[k])] = static_cast<double>(k);
  const std::vector<double> t = rising(distance, rank, {}, order, TiedPairs::primary);
  double left = 0, size = 0;
  for (std::size_t p = 0; p < t.size(); ++p) {
    left += std::pow(t[p] - distance[p], 2);
    size += distance[p] * distance[p];
  }
  return std::sqrt(left / size);
}

void agrees_with(const Golden& golden, const Matrix& x) {
  const auto model = fit(NonmetricMds{}, x);
  const Matrix start = classical_places("test", Dissimilarities::of_rows(x, Metric()), 2);
  // Of iris, equal δ differ in their last bits by how a distance is summed, which decides the order: wider than 1e-4.
  EXPECT_TRUE(golden.agrees("stress1_percent_classical_start", 100 * stress_in_given_order(x, start), "rel", 5e-4));
  EXPECT_TRUE(golden.agrees("stress1_percent_classical_start", 100 * model.trace(0), "rel", 0.005));
  EXPECT_TRUE(golden.agrees("stress1_percent", 100 * model.stress));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(NonmetricMds, IsThatOfR) {
  const Matrix iris = numbers_of("iris", "~ . - species");
  Matrix distinct(149, 4);
  distinct << iris.topRows(142), iris.bottomRows(7);
  agrees_with(Golden("isomds_iris"), distinct);
  agrees_with(Golden("isomds_usarrests"), standardised(numbers_of("usarrests", "~ . - state")));
}

/// By its conditions: rising; and in each level the mean of the distances, of which no first part has a smaller mean.
TEST(NonmetricMds, RisingDistancesAreTheNearest) {
  RandomStream stream(3);
  std::vector<double> distance, delta;
  std::vector<Index> order;
  for (Index p = 0; p < 200; ++p) {
    delta.push_back(std::floor(20 * stream.uniform()));
    distance.push_back(stream.uniform() + 0.02 * delta.back());
    order.push_back(p);
  }
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return delta[at(a)] != delta[at(b)] ? delta[at(a)] < delta[at(b)] : a < b; });
  for (const auto ties : {TiedPairs::primary, TiedPairs::secondary}) {
    const std::vector<double> t = rising(distance, delta, {}, order, ties);
    double product = 0, sum = 0, least = HUGE_VAL;
    for (Index a = 0; a < 200; ++a) {
      product += t[at(a)] * (distance[at(a)] - t[at(a)]);
      sum += distance[at(a)] - t[at(a)];
      for (Index b = 0; b < 200; ++b) {
        const bool tied = delta[at(a)] == delta[at(b)] && ties == TiedPairs::secondary;
        EXPECT_TRUE(delta[at(a)] >= delta[at(b)] || t[at(a)] <= t[at(b)] + 1e-12);
        EXPECT_TRUE(!tied || std::abs(t[at(a)] - t[at(b)]) <= 1e-12);
      }
    }
    EXPECT_NEAR(product, 0,
                1e-10);  // the residual is orthogonal to t and to constants, and to steps upward it is not positive
    EXPECT_NEAR(sum, 0, 1e-10);
    for (double step = 0.5; step < 20; ++step) {
      double along = 0;
      for (Index a = 0; a < 200; ++a) along += delta[at(a)] > step ? distance[at(a)] - t[at(a)] : 0;
      least = std::min(least, -along);
    }
    EXPECT_GE(least, -1e-10);
  }
}

TEST(NonmetricMds, DependsOnTheOrderOfTheDissimilaritiesAlone) {
  const Matrix delta = distances_of(normal_matrix(25, 4, 3));
  const auto plain = fit(NonmetricMds{.input = Input::square}, delta);
  const auto cubed = fit(NonmetricMds{.input = Input::square, .restarts = 3}, Matrix(delta.array().cube()));
  EXPECT_LE(cubed.stress, 1.05 * plain.stress);
  for (Index k = 1; k < plain.trace.size(); ++k) EXPECT_LE(plain.trace(k), plain.trace(k - 1) + 1e-12);
}

TEST(NonmetricMds, TiesMayBeBrokenOrKept) {
  const Matrix delta = distances_of(normal_matrix(30, 4, 3)).array().ceil();
  Matrix square = delta;
  square.diagonal().setZero();
  const auto primary = fit(NonmetricMds{.input = Input::square}, square);
  const auto secondary = fit(NonmetricMds{.input = Input::square, .ties = TiedPairs::secondary}, square);
  EXPECT_LT(primary.stress, secondary.stress);
  EXPECT_TRUE(primary.certificate.holds()) << primary.certificate.message;
  EXPECT_TRUE(secondary.certificate.holds()) << secondary.certificate.message;
  NonmetricMdsModel told = primary;
  told.spec.ties = TiedPairs::secondary;
  EXPECT_FALSE(certify(told, MemoryRows(square), {}).holds());
}

TEST(NonmetricMds, TheNaturalWrongMetricScalingFails) {
  const Matrix x = normal_matrix(40, 5, 3);
  NonmetricMdsModel model = fit(NonmetricMds{}, x);
  model.places = fit(Smacof{}, x).places;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(NonmetricMds, BadInputIsRefused) {
  EXPECT_NE(message_of([] { fit(NonmetricMds{}, Matrix::Ones(5, 2)); }).find("all 5 things are equal"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
