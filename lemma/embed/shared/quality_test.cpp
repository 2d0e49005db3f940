// lemma/embed/shared/quality_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/embed/shared/embedded.hpp>

namespace lemma {
namespace {

Dissimilarities things(const Matrix& x) { return Dissimilarities::of_rows(x, Metric()); }

TEST(Quality, OfAPerfectPictureInAnyUnitIsPerfect) {
  const Matrix x = normal_matrix(50, 2, 1);
  const Quality found = quality_of(things(x), {}, 1000 * x);
  EXPECT_LE(found.stress_1, 1e-14);
  EXPECT_EQ(found.trustworthiness, 1);
  EXPECT_EQ(found.continuity, 1);
  EXPECT_EQ(found.kept_neighbors, 1);
  EXPECT_EQ(found.neighbors, 10);
  EXPECT_EQ(found.shepard.rows(), 10);
  EXPECT_LE((1000 * found.shepard.col(0) - found.shepard.col(1)).cwiseAbs().maxCoeff(), 1e-9);
}

/// By their definitions: full sorts, no shortcut.
Quality by_definition(const Matrix& far, const Matrix& near, Index k) {
  const Index n = far.rows();
  const auto ranks = [&](const Matrix& d, Index i) {
    std::vector<Index> order, rank(at(n), 0);
    for (Index j = 0; j < n; ++j)
      if (j != i) order.push_back(j);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return d(i, a) < d(i, b); });
    for (Index r = 0; r < n - 1; ++r) rank[at(order[at(r)])] = r + 1;
    return rank;
  };
  Quality out;
  double torn = 0, wrong = 0, kept = 0;
  for (Index i = 0; i < n; ++i) {
    const auto of_things = ranks(far, i), of_places = ranks(near, i);
    for (Index j = 0; j < n; ++j) {
      if (j == i) continue;
      const bool close = of_things[at(j)] <= k, seen = of_places[at(j)] <= k;
      kept += close && seen;
      if (seen && !close) wrong += static_cast<double>(of_things[at(j)] - k);
      if (close && !seen) torn += static_cast<double>(of_places[at(j)] - k);
    }
  }
  const auto count = static_cast<double>(n), size = static_cast<double>(k);
  out.trustworthiness = 1 - 2 * wrong / (count * size * (2 * count - 3 * size - 1));
  out.continuity = 1 - 2 * torn / (count * size * (2 * count - 3 * size - 1));
  out.kept_neighbors = kept / (count * size);
  return out;
}

TEST(Quality, IsWhatItsDefinitionsSay) {
  const Matrix x = normal_matrix(40, 4, 1), flat = x.leftCols(1);
  const Quality found = quality_of(things(x), {}, flat);
  const Quality expected = by_definition(things(x).square(), things(flat).square(), 10);
  EXPECT_NEAR(found.trustworthiness, expected.trustworthiness, 1e-14);
  EXPECT_NEAR(found.continuity, expected.continuity, 1e-14);
  EXPECT_NEAR(found.kept_neighbors, expected.kept_neighbors, 1e-14);
  const Dissimilarities far = things(x), near = things(flat);
  const Vector a = Vector::Map(far.kept().data(), 780), d = Vector::Map(near.kept().data(), 780);
  EXPECT_NEAR(found.stress_1, std::sqrt(1 - std::pow(a.dot(d), 2) / (a.squaredNorm() * d.squaredNorm())), 1e-12);
}

TEST(Quality, ShepardsGroupsAreThoseOfASort) {
  const Matrix places = normal_matrix(90, 2, 2);
  const Dissimilarities near = things(places);
  for (const double step :
       {0.0, 0.5, 100.0}) {  // without ties, with many, all equal; a far-off thing stretches the bins
    std::vector<double> far(near.kept().begin(), near.kept().end()), weight(far.size(), 1.0);
    for (std::size_t p = 0; p < far.size(); ++p) {
      far[p] = step > 0 ? step * std::ceil(far[p] * far[p] / step) : p < 89 ? 1e6 * far[p] : far[p] * far[p];
      if (p % 7 == 3) weight[p] = 0;
    }
    std::vector<std::pair<double, double>> pairs;
    for (std::size_t p = 0; p < far.size(); ++p)
      if (weight[p] > 0) pairs.emplace_back(far[p], near.kept()[p]);
    std::sort(pairs.begin(), pairs.end());
    const Quality found = quality_of(Dissimilarities::of_triangle(far), weight, places, {.threads = 2});
    ASSERT_EQ(found.shepard.rows(), 10);
    for (std::size_t g = 0; g < 10; ++g) {
      const std::size_t from = g * pairs.size() / 10, to = (g + 1) * pairs.size() / 10;
      Vector a(static_cast<Index>(to - from)), d = a;
      for (std::size_t p = from; p < to; ++p)
        a(static_cast<Index>(p - from)) = pairs[p].first, d(static_cast<Index>(p - from)) = pairs[p].second;
      const double sd = std::sqrt((d.array() - d.mean()).square().sum() / static_cast<double>(d.size() - 1));
      EXPECT_NEAR(found.shepard(static_cast<Index>(g), 0), a.mean(), 1e-12 * a.mean());
      EXPECT_NEAR(found.shepard(static_cast<Index>(g), 1), d.mean(), 1e-12);
      EXPECT_NEAR(found.shepard(static_cast<Index>(g), 2), sd, 1e-12);
    }
  }
}

TEST(Quality, OfUnknownPairsNoNeighboursAreTold) {
  const Matrix x = normal_matrix(5, 2, 1);
  std::vector<double> weight(10, 1.0);
  weight[3] = 0;
  const Quality found = quality_of(things(x), weight, x);
  EXPECT_TRUE(std::isnan(found.trustworthiness));
  EXPECT_LE(found.stress_1, 1e-14);
  EXPECT_EQ(found.shepard.rows(), 9);
}

}  // namespace
}  // namespace lemma
