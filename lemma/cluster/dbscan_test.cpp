// lemma/cluster/dbscan_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/dbscan.hpp>
#include <lemma/cluster/dbscan/near_rows.hpp>
#include <lemma/cluster/dbscan/reach.hpp>
#include <lemma/core/random.hpp>
#include <lemma/geometry/graph/union_find.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Two crescents, one inside the other's arms, and a few rows far off.
Matrix crescents(Index n, std::uint64_t seed) {
  const Matrix noise = normal_matrix(n, 2, seed);
  Matrix x(n, 2);
  for (Index i = 0; i < n; ++i) {
    const double angle = 3.14159265358979 * static_cast<double>(i / 2) / static_cast<double>(n / 2);
    x(i, 0) = i % 2 == 0 ? std::cos(angle) : 1 - std::cos(angle);
    x(i, 1) = i % 2 == 0 ? std::sin(angle) : 0.5 - std::sin(angle);
    if (i < n - 4) x.row(i) += 0.04 * noise.row(i);
    else x.row(i) << 5.0 + static_cast<double>(n - i), -4;
  }
  return x;
}

/// The textbook: from each core row that has no cluster yet, all rows reachable from it by a queue; a border row goes to the
/// nearest core row.
Labels by_definition(const Matrix& x, const Vector& weight, double radius, int min_points) {
  const Index n = x.rows();
  const auto near = [&](Index i, Index j) { return (x.row(i) - x.row(j)).norm() <= radius; };
  std::vector<bool> core(at(n));
  for (Index i = 0; i < n; ++i) {
    double count = 0;
    for (Index j = 0; j < n; ++j) count += near(i, j) ? weight(j) : 0;
    core[at(i)] = count >= min_points && weight(i) > 0;
  }
  Labels out(at(n), -1);
  int next = 0;
  for (Index i = 0; i < n; ++i) {
    if (!core[at(i)] || out[at(i)] >= 0) continue;
    std::vector<Index> queue{i};
    out[at(i)] = next;
    while (!queue.empty()) {
      const Index from = queue.back();
      queue.pop_back();
      for (Index j = 0; j < n; ++j)
        if (core[at(j)] && out[at(j)] < 0 && near(from, j)) out[at(j)] = next, queue.push_back(j);
    }
    ++next;
  }
  for (Index i = 0; i < n; ++i) {
    if (core[at(i)]) continue;
    double least = radius;
    for (Index j = 0; j < n; ++j)
      if (core[at(j)] && near(i, j) && ((x.row(i) - x.row(j)).norm() < least || out[at(i)] < 0))
        least = (x.row(i) - x.row(j)).norm(), out[at(i)] = out[at(j)];
  }
  return out;
}

TEST(Dbscan, FindsTheDensityConnectedSetsOfTheTextbook) {
  for (const std::uint64_t seed : {1, 2, 3})
    for (const double radius : {0.1, 0.2, 0.5})
      for (const int min_points : {1, 4, 12}) {
        const Matrix x = crescents(200, seed);
        const auto model = fit(Dbscan{.radius = radius, .min_points = min_points}, x);
        EXPECT_EQ(model.assign(x), by_definition(x, Vector::Ones(200), radius, min_points))
            << radius << " " << min_points;
        EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
      }
}

TEST(Dbscan, PartsCrescentsThatNoCentresPartAndLeavesFarRowsOut) {
  const Matrix x = crescents(400, 7);
  const auto model = fit(Dbscan{.radius = 0.2}, x);
  ASSERT_EQ(model.k(), 2);
  EXPECT_EQ(model.noise, 4);
  const Labels label = model.assign(x);
  for (Index i = 0; i < 396; ++i) EXPECT_EQ(label[at(i)], label[at(i % 2)]) << i;
  EXPECT_EQ(label[399], -1);
}

TEST(Dbscan, IsTheSameBySearchTreesAndByAllDistances) {
  const Matrix x = crescents(1500, 3);
  const BoundMetric metric(Metric(), 2);
  const Neighbors tree(x, metric, SearchOptions{.structure = SearchBy::kd_tree});
  const Reach by_tree(x, tree, 0.1), plain(x, metric, 0.1, 5000, {}), by_balls(x, metric, 0.1, 100, {});
  EXPECT_EQ(plain.way(), "all distances");
  EXPECT_EQ(by_balls.way(), "a ball tree");
  std::vector<NeighborLists> lists[3];
  by_tree.for_each_piece({}, [&](Index, const NeighborLists& each) { lists[0].push_back(each); });
  plain.for_each_piece({}, [&](Index, const NeighborLists& each) { lists[1].push_back(each); });
  by_balls.for_each_piece({}, [&](Index, const NeighborLists& each) { lists[2].push_back(each); });
  EXPECT_EQ(lists[0], lists[1]);
  EXPECT_EQ(lists[0], lists[2]);
}

/// Of each row those in reach, in order.
std::vector<std::vector<std::int32_t>> sorted_lists(const NearRows& near, Index n, int threads) {
  std::vector<std::vector<std::int32_t>> out(at(n));
  near.for_each({.threads = threads}, [&](Index i, std::span<const std::int32_t> rows) {
    out[at(i)].assign(rows.begin(), rows.end());
    std::sort(out[at(i)].begin(), out[at(i)].end());
  });
  return out;
}

TEST(Dbscan, BoxesAndCellsFindThoseInReachToTheLastBit) {
  for (const std::string metric : {"euclidean", "manhattan", "chebyshev", "minkowski(p=3)", "sqeuclidean"})
    for (const Index width : {1, 2, 3, 5}) {
      Matrix x = normal_matrix(700, width, 11);
      x.topRows(300) =
          (4 * x.topRows(300)).array().round().matrix() / 4;  // copies, and distances that are the radius itself
      const Metric how = Metric::parse(metric);
      const BoundMetric bound(how, width);
      for (const double radius : {0.25, 0.5, 1e-3}) {
        std::vector<std::vector<std::int32_t>> expected(700);
        for (Index i = 0; i < 700; ++i)
          for (Index j = 0; j < 700; ++j)
            if (bound.between(x.row(i).data(), x.row(j).data()) <= radius)
              expected[at(i)].push_back(static_cast<std::int32_t>(j));
        const auto boxes = near_rows_by_boxes(x, bound, radius, {}), cells = near_rows_by_cells(x, bound, radius, {});
        EXPECT_EQ(sorted_lists(*boxes, 700, 2), expected) << metric << " " << width << " " << radius;
        EXPECT_EQ(cells == nullptr, width > 3);
        if (cells) { EXPECT_EQ(sorted_lists(*cells, 700, 2), expected) << metric << " " << width << " " << radius; }
      }
    }
  const BoundMetric plane(Metric(), 2);
  EXPECT_EQ(near_rows_by_boxes(Matrix::Ones(3, 2), plane, 0, {}), nullptr) << "copies alone: sums may vanish";
  EXPECT_EQ(near_rows_by_cells(Matrix::Ones(3, 2), plane, 1e200, {}), nullptr);
}

TEST(Dbscan, IsTheSameOnAnyNumberOfThreadsAndByTheGridsCertificate) {
  const Matrix x = crescents(24'000, 5);  // more than the certificate compares one by one
  const Dbscan spec{.radius = 0.01, .min_points = 9};
  const auto one = fit(spec, x, {.threads = 1}), two = fit(spec, x, {.threads = 2});
  EXPECT_EQ(one.clusters, two.clusters);
  EXPECT_EQ(one.core_rows, two.core_rows);
  EXPECT_EQ(one.sizes, two.sizes);
  EXPECT_EQ(one.mean_reach, two.mean_reach);
  ASSERT_TRUE(one.certificate.holds()) << one.certificate.message;
  EXPECT_NE(one.certificate.message.find("the cells of a grid"), std::string::npos) << one.certificate.message;
  ASSERT_GT(one.k(), 1);
  DbscanModel wrong = one;
  const Index last = wrong.clusters.size() - 1;
  wrong.clusters(last) = wrong.clusters(last) == 1 ? 2 : 1;
  EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds()) << "a core row told to be in another cluster";
  const Vector halves = Vector::Constant(x.rows(), 0.5);
  const auto weighted = fit(Dbscan{.radius = 0.01, .min_points = 5}, x, {.weights = halves});
  EXPECT_TRUE(weighted.certificate.holds()) << weighted.certificate.message;
  EXPECT_EQ(weighted.clusters, fit(Dbscan{.radius = 0.01, .min_points = 10}, x).clusters)
      << "weights that are not whole go another way";
}

TEST(Dbscan, WeightsAreCopiesAndRowsOfWeightZeroAreNotThere) {
  const Matrix x = crescents(150, 5);
  Vector weight(150);
  std::vector<Index> copies;
  for (Index i = 0; i < 150; ++i) {
    weight(i) = static_cast<double>(i % 4);
    for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
  }
  Matrix repeated(static_cast<Index>(copies.size()), 2);
  for (std::size_t i = 0; i < copies.size(); ++i) repeated.row(static_cast<Index>(i)) = x.row(copies[i]);
  const auto weighted = fit(Dbscan{}, x, {.weights = weight}), plain = fit(Dbscan{}, repeated);
  EXPECT_DOUBLE_EQ(*weighted.spec.radius, *plain.spec.radius) << "the knee too";
  EXPECT_EQ(weighted.assign(x), plain.assign(x));
  EXPECT_EQ(weighted.sizes, plain.sizes);
  EXPECT_EQ(weighted.noise, plain.noise);
  EXPECT_NEAR(weighted.mean_reach, plain.mean_reach, 1e-12 * plain.mean_reach);
  EXPECT_TRUE(weighted.certificate.holds()) << weighted.certificate.message;
}

TEST(Dbscan, TheNaturalWrongAlgorithmsFailTheCertificate) {
  const Matrix x = crescents(300, 2);
  const DbscanModel right = fit(Dbscan{.radius = 0.12, .min_points = 8}, x);
  ASSERT_TRUE(certify(right, MemoryRows(x), {}).holds());
  const auto holds = [&](const DbscanModel& model) { return certify(model, MemoryRows(x), {}).holds(); };
  {  // a row not counted as being in its own reach
    const DbscanModel others = fit(Dbscan{.radius = 0.12, .min_points = 9}, x);
    DbscanModel wrong = others;
    wrong.spec.min_points = 8;
    ASSERT_NE(others.core_rows.size(), right.core_rows.size());
    EXPECT_FALSE(holds(wrong));
  }
  {  // border rows that pass clusters on: components of all rows with a core row in reach
    DbscanModel wrong = right;
    const Labels label = right.assign(x);
    ASSERT_GT(right.k(), 1);
    wrong.clusters.setOnes();
    wrong.sizes = Vector::Constant(1, right.sizes.sum());
    wrong.core_sizes = Vector::Constant(1, right.core_sizes.sum());
    EXPECT_FALSE(holds(wrong)) << "two clusters that do not hang together are told as one";
  }
  {  // one cluster told as two
    DbscanModel wrong = right;
    const Index last = wrong.clusters.size() - 1;
    wrong.clusters(last) = wrong.clusters(last) == 1 ? 2 : 1;
    EXPECT_FALSE(holds(wrong));
  }
  {  // a radius without its border
    DbscanModel wrong = right;
    wrong.spec.radius = 0.11;
    EXPECT_FALSE(holds(wrong));
  }
}

TEST(Dbscan, NewRowsGoWithTheNearestCoreRowInReach) {
  Matrix x(8, 1);
  x << 0, 1, 2, 3, 20, 21, 22, 50;
  const auto model = fit(Dbscan{.radius = 1.5, .min_points = 3}, x);
  ASSERT_EQ(model.k(), 2);
  Matrix fresh(5, 1);
  fresh << -1, 3.4, 10, 21.4, 50;
  EXPECT_EQ(model.assign(fresh), (Labels{-1, 0, -1, 1, -1})) << "0 is no core row: it has two rows in reach";
  EXPECT_EQ(model.core_rows, (Vector(3) << 2, 3, 6).finished());
  EXPECT_DOUBLE_EQ(model.core_distance(fresh)(0), 2);
}

TEST(Dbscan, AnswersRowsThatAreAllEqualAndRowsThatAreAllNoise) {
  const auto equal = fit(Dbscan{}, Matrix::Constant(30, 2, 3.0));
  EXPECT_EQ(equal.k(), 1);
  EXPECT_EQ(*equal.spec.radius, 0);
  EXPECT_TRUE(equal.certificate.holds()) << equal.certificate.message;
  const Matrix few = normal_matrix(3, 2, 1);
  const auto noise = fit(Dbscan{}, few);
  EXPECT_EQ(noise.k(), 0);
  EXPECT_EQ(noise.noise, 3);
  ASSERT_EQ(noise.warnings.size(), 1U);
  EXPECT_NE(noise.warnings[0].find("all rows are noise"), std::string::npos);
  EXPECT_EQ(noise.assign(few), (Labels{-1, -1, -1}));
  EXPECT_TRUE(noise.certificate.holds());
  const Vector none = Vector::Zero(3);
  EXPECT_NE(message_of([&] { fit(Dbscan{}, few, {.weights = none}); }).find("all weights are 0"), std::string::npos);
}

}  // namespace
}  // namespace lemma
