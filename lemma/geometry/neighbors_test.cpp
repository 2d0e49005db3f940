// lemma/geometry/neighbors_test.cpp
#include <algorithm>
#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/geometry/neighbors.hpp>
#include <rapidcheck/gtest.h>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

constexpr SearchBy kStructures[] = {SearchBy::brute_force, SearchBy::kd_tree, SearchBy::ball_tree};
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool suits(SearchBy structure, const BoundMetric& metric) {
  return structure == SearchBy::kd_tree ? metric.is_by_columns()
                                        : structure != SearchBy::ball_tree || metric.has_root();
}

/// All distances, sorted: the textbook. Queries that are the points themselves leave themselves out.
NeighborLists written(const Matrix& points, const Matrix& queries, const BoundMetric& metric, Index k, double radius,
                      bool own) {
  NeighborLists out;
  out.start = {0};
  const Matrix x = metric.mapped(queries), z = metric.mapped(points);
  for (Index i = 0; i < queries.rows(); ++i) {
    std::vector<std::pair<double, std::int32_t>> all;
    for (Index j = 0; j < points.rows(); ++j) {
      const double d = metric.between(x.row(i).data(), z.row(j).data());
      if (d <= radius && !(own && i == j)) all.emplace_back(d, static_cast<std::int32_t>(j));
    }
    std::sort(all.begin(), all.end());
    if (static_cast<Index>(all.size()) > k) all.resize(at(k));
    for (const auto& [d, j] : all) {
      out.row.push_back(j);
      out.distance.push_back(d);
    }
    out.start.push_back(static_cast<Index>(out.row.size()));
  }
  return out;
}

void expect_as_written(const Matrix& points, const Matrix& queries, const Metric& metric, Index k, double radius,
                       const std::string& where) {
  const BoundMetric bound = BoundMetric::of(metric, points);
  const auto nearest = written(points, queries, bound, k, HUGE_VAL, false);
  const auto nearest_own = written(points, points, bound, k, HUGE_VAL, true);
  const auto within = written(points, queries, bound, points.rows(), radius, false);
  const auto within_own = written(points, points, bound, points.rows(), radius, true);
  for (const SearchBy structure : kStructures) {
    if (!suits(structure, bound)) continue;
    const Neighbors search(points, bound, SearchOptions{.structure = structure});
    ASSERT_EQ(search.structure(), structure);
    const std::string what = where + ", " + metric.text() + ", " + std::string(name_of(structure));
    ASSERT_TRUE(search.nearest(queries, k) == nearest) << what;
    ASSERT_TRUE(search.nearest_own(k) == nearest_own) << what;
    ASSERT_TRUE(search.within(queries, radius) == within) << what;
    ASSERT_TRUE(search.within_own(radius) == within_own) << what;
  }
}

const Metric kMetrics[] = {EuclideanMetric{},  SqEuclideanMetric{}, ManhattanMetric{},   ChebyshevMetric{},
                           MinkowskiMetric{3}, CosineMetric{},      CorrelationMetric{}, MahalanobisMetric{},
                           HammingMetric{},    JaccardMetric{},     GowerMetric{}};

TEST(Neighbors, AreTheSameFromEveryStructureOnRandomPoints) {
  for (const Index n : {1, 15, 16, 17, 150}) {
    const Matrix points = normal_matrix(n, 3, 1), queries = normal_matrix(20, 3, 2) * 2;
    for (const Metric& metric : kMetrics) {
      if (metric.get<MahalanobisMetric>() && n < 15) continue;
      for (const Index k : {1, 5, 40}) expect_as_written(points, queries, metric, k, 1.0, "random");
    }
  }
}

TEST(Neighbors, AreTheSameFromEveryStructureWhereDistancesTie) {
  Matrix points = normal_matrix(200, 4, 3).array().round();  // a grid, with many copies
  points.col(3).array() += 8;                                // no row is constant or zero
  const Matrix queries = points.topRows(25);
  for (const Metric& metric : kMetrics)
    for (const Index k : {1, 7, 300}) expect_as_written(points, queries, metric, k, 2.0, "tied");
}

TEST(Neighbors, AreTheSameFromEveryStructureInManyDimensions) {
  const Matrix points = normal_matrix(120, 40, 4), queries = normal_matrix(10, 40, 5);
  for (const Metric& metric : kMetrics) expect_as_written(points, queries, metric, 9, 8.0, "many columns");
}

TEST(Neighbors, AreTheSameFromEveryStructureAtEveryScale) {
  for (const double scale : {1e-250, 1e-150, 1e150, 1e250}) {
    Matrix points = normal_matrix(100, 3, 6) * scale;
    points.row(7) *= 1e-30;
    points.row(8) = points.row(9);
    for (const Metric& metric : {Metric(EuclideanMetric{}), Metric(ManhattanMetric{}), Metric(MinkowskiMetric{3})})
      expect_as_written(points, points.topRows(12) * 1.5, metric, 6, scale, "scaled");
  }
}

TEST(Neighbors, AreTheSameFromEveryStructureWhereRootsOfDifferentSquaresAgree) {
  // squares 1 + i·2⁻⁵² have √ 1 + i·2⁻⁵³, which rounds to the same number for two neighbouring i
  Matrix points(40, 2);
  for (Index i = 0; i < 40; ++i) points.row(i) << 1, std::sqrt(static_cast<double>((i * 7) % 40) * 0x1p-52);
  expect_as_written(points, Matrix::Zero(1, 2), EuclideanMetric{}, 11, 1 + 0x1p-51, "roots");
}

/// Brute force filters in float32 where there are many points and columns.
TEST(Neighbors, AreTheSameThroughTheFilter) {
  Matrix points = normal_matrix(4500, 9, 11);
  points.topRows(1500) = points.topRows(1500).array().round();
  points.middleRows(1500, 100) = points.topRows(100);
  points.row(4499).setConstant(1e12);  // an outlier leaves the filter few digits
  Matrix queries = normal_matrix(40, 9, 12);
  queries.topRows(20) = points.topRows(20);
  queries.row(30).setConstant(-1e200);
  for (const double offset : {0.0, 1e7})
    for (const Metric& metric : {Metric(EuclideanMetric{}), Metric(CosineMetric{})}) {
      const Matrix z = points.array() + offset, x = queries.array() + offset;
      const BoundMetric bound(metric, 9);
      const Neighbors filtered(z, bound, SearchOptions{.structure = SearchBy::brute_force});
      ASSERT_TRUE(filtered.nearest(x, 7) == written(z, x, bound, 7, HUGE_VAL, false)) << metric.text() << offset;
      ASSERT_TRUE(filtered.nearest(x, 3000) == written(z, x, bound, 3000, HUGE_VAL, false)) << metric.text() << offset;
      for (const double radius : {0.3, 2.5, 6.0})
        ASSERT_TRUE(filtered.within(x, radius) == written(z, x, bound, 4500, radius, false)) << metric.text() << offset;
    }
}

RC_GTEST_PROP(Neighbors, AreWhatSortingAllDistancesGives, ()) {
  const Index n = *rc::gen::inRange(1, 120), p = *rc::gen::inRange(1, 6), k = *rc::gen::inRange(1, 40);
  const double step = *rc::gen::element(0.01, 0.5, 2.0);
  const auto seed = static_cast<std::uint64_t>(*rc::gen::inRange(0, 1 << 20));
  const Matrix points = (normal_matrix(n, p, seed) / step).array().round() * step;
  const BoundMetric metric(EuclideanMetric{}, p);
  const auto expected = written(points, points, metric, k, HUGE_VAL, true);
  for (const SearchBy structure : kStructures)
    RC_ASSERT(Neighbors(points, metric, SearchOptions{.structure = structure}).nearest_own(k) == expected);
}

TEST(Neighbors, AreTheSameOnAnyNumberOfThreads) {
  const Matrix points = normal_matrix(20000, 2, 7);  // enough that the tree is built on several threads
  for (const SearchBy structure : {SearchBy::kd_tree, SearchBy::ball_tree}) {
    const SearchOptions how{.structure = structure};
    const auto one = Neighbors(points, Metric(), how, {.threads = 1}).nearest_own(5, {.threads = 1});
    const auto four = Neighbors(points, Metric(), how, {.threads = 4}).nearest_own(5, {.threads = 4});
    EXPECT_TRUE(one == four);
  }
}

TEST(Neighbors, WithEpsilonAreNotFartherThanThatAndSometimesFarther) {
  const Matrix points = normal_matrix(2000, 3, 8);
  const auto exact = Neighbors(points, Metric(), SearchOptions{.structure = SearchBy::kd_tree}).nearest_own(10);
  for (const SearchBy structure : {SearchBy::kd_tree, SearchBy::ball_tree}) {
    const auto near = Neighbors(points, Metric(), SearchOptions{structure, 0.5}).nearest_own(10);
    bool farther = false;
    for (std::size_t i = 0; i < exact.distance.size(); ++i) {
      ASSERT_LE(near.distance[i], 1.5 * exact.distance[i]);
      ASSERT_GE(near.distance[i], exact.distance[i]);
      farther |= near.distance[i] > exact.distance[i];
    }
    EXPECT_TRUE(farther) << "epsilon spares nothing";
  }
}

TEST(Neighbors, StructureIsChosenAndTheReasonTold) {
  const auto chosen = [](const Matrix& points, const Metric& metric) {
    const Neighbors search(points, metric);
    return std::pair(search.structure(), search.choice());
  };
  EXPECT_EQ(chosen(normal_matrix(100, 3, 1), Metric()),
            std::pair(SearchBy::brute_force, std::string("brute force: 100 points are few")));
  EXPECT_EQ(chosen(normal_matrix(1000, 3, 1), Metric()),
            std::pair(SearchBy::kd_tree, std::string("kd-tree: 3 columns are few")));
  const auto many = chosen(normal_matrix(1000, 60, 1), Metric());
  EXPECT_EQ(many.first, SearchBy::brute_force);
  EXPECT_TRUE(contains(many.second, "in a trial trees looked at")) << many.second;
  // two dimensions inside twenty columns
  const Matrix flat = normal_matrix(8000, 2, 2) * normal_matrix(2, 20, 3);
  EXPECT_NE(chosen(flat, Metric()).first, SearchBy::brute_force);
  EXPECT_EQ(chosen(normal_matrix(1000, 3, 1), GowerMetric{}).second,
            "brute force: gower does not obey the triangle inequality");
}

TEST(Neighbors, RefuseWhatTheyCannotDo) {
  const Matrix points = normal_matrix(20, 3, 9);
  const auto said = [&](const Metric& metric, SearchBy structure) {
    return message_of([&] { Neighbors(points, metric, SearchOptions{.structure = structure}); });
  };
  EXPECT_TRUE(contains(said(HammingMetric{}, SearchBy::kd_tree), "a kd-tree cannot search by hamming"));
  EXPECT_TRUE(contains(said(GowerMetric{}, SearchBy::ball_tree), "triangle inequality"));
  const Neighbors search(points, Metric());
  EXPECT_TRUE(contains(message_of([&] { search.nearest(points, 0); }), "0 nearest"));
  EXPECT_TRUE(contains(message_of([&] { search.within(points, -1); }), "radius -1"));
  EXPECT_TRUE(contains(message_of([&] { search.within_own(NAN); }), "radius nan"));
  EXPECT_TRUE(contains(message_of([&] { search.nearest(Matrix::Zero(1, 2), 1); }), "these have 2"));
  Matrix broken = points;
  broken(4, 1) = NAN;
  EXPECT_TRUE(contains(message_of([&] { Neighbors(broken, Metric()); }), "row 5, column 2 is missing"));
  EXPECT_TRUE(contains(message_of([&] { search.nearest(broken, 1); }), "row 5, column 2 is missing"));
  EXPECT_TRUE(
      contains(message_of([&] { Neighbors(points, Metric(), SearchOptions{.epsilon = -1}); }), "epsilon is -1"));
}

TEST(Neighbors, OfNoPointsOfOneAndOfEqualOnes) {
  for (const SearchBy structure : kStructures) {
    const SearchOptions how{.structure = structure};
    const Neighbors none(Matrix(0, 2), Metric(), how), one(Matrix::Ones(1, 2), Metric(), how),
        equal(Matrix::Ones(50, 2), Metric(), how);
    EXPECT_EQ(none.nearest(Matrix::Ones(3, 2), 4).start, (std::vector<Index>{0, 0, 0, 0}));
    EXPECT_EQ(none.nearest_own(4).start, (std::vector<Index>{0}));
    EXPECT_EQ(one.nearest_own(4).start, (std::vector<Index>{0, 0}));
    EXPECT_EQ(one.within(Matrix::Ones(1, 2), 0).row, (std::vector<std::int32_t>{0}));
    const auto three = equal.nearest_own(3);
    EXPECT_EQ(std::vector(three.row.begin(), three.row.begin() + 6), (std::vector<std::int32_t>{1, 2, 3, 0, 2, 3}));
    EXPECT_EQ(equal.within_own(0).row.size(), 50u * 49);
    EXPECT_EQ(equal.nearest(Matrix(0, 2), 3).count(), 0);
  }
}

TEST(Neighbors, ThatGowerCannotCompareAreNobodys) {
  const Matrix points = (Matrix(3, 2) << 1, NAN, 2, 3, NAN, 4).finished();
  const auto lists = Neighbors(points, GowerMetric{}).nearest_own(2);
  EXPECT_EQ(lists.start, (std::vector<Index>{0, 1, 3, 4}));
  EXPECT_EQ(lists.row, (std::vector<std::int32_t>{1, 0, 2, 1}));
}

// ---- Projections: not all of them ----

/// What share of the true neighbours' number is at most as far as they are.
double share_found(const NeighborLists& truth, const NeighborLists& found) {
  double right = 0;
  for (Index i = 0; i < truth.count(); ++i)
    for (const double d : found.distances_of(i)) right += d <= truth.distances_of(i).back() ? 1 : 0;
  return right / static_cast<double>(truth.row.size());
}

TEST(Projections, FindTheShareThatTheySay) {
  const Matrix points = normal_matrix(6000, 5, 31) * normal_matrix(5, 24, 32), queries = points.topRows(300) * 1.01;
  const Neighbors exact(points, Metric(), SearchOptions{.structure = SearchBy::brute_force});
  const auto truth = exact.nearest(queries, 10);
  double before = 0;
  for (const double recall : {0.3, 0.9, 0.999}) {
    const Neighbors search(points, Metric(), SearchOptions{.structure = SearchBy::projections, .recall = recall});
    EXPECT_EQ(search.structure(), SearchBy::projections);
    const double found = share_found(truth, search.nearest(queries, 10));
    EXPECT_NEAR(found, search.recall(), 0.1) << recall;  // of 64 points
    EXPECT_GE(found, recall - 0.1);
    EXPECT_GE(found, before);
    before = found;
    EXPECT_TRUE(contains(search.choice(), "random projections: ")) << search.choice();
    EXPECT_TRUE(contains(search.choice(), "of the 10 nearest of 64 points it finds ")) << search.choice();
  }
  EXPECT_LT(
      share_found(truth, Neighbors(points, Metric(), SearchOptions{.structure = SearchBy::projections, .recall = 0.1})
                             .nearest(queries, 10)),
      0.97)
      << "fewer points are looked at than all";
}

TEST(Projections, TellTrueDistancesAndAreTheSameOnAnyThreads) {
  const Matrix points = normal_matrix(900, 12, 33);
  const SearchOptions how{.structure = SearchBy::projections, .recall = 0.8};
  const auto one = Neighbors(points, Metric(), how, {.threads = 1}).nearest_own(4, {.threads = 1});
  EXPECT_TRUE(one == Neighbors(points, Metric(), how, {.threads = 3}).nearest_own(4, {.threads = 3}));
  const BoundMetric bound(Metric(), 12);
  for (Index i = 0; i < one.count(); ++i)
    for (std::size_t j = 0; j < one.rows_of(i).size(); ++j) {
      EXPECT_NE(one.rows_of(i)[j], i);
      EXPECT_EQ(one.distances_of(i)[j], bound.between(points.row(i).data(), points.row(one.rows_of(i)[j]).data()));
    }
}

TEST(Projections, AreChosenAmongManyPointsOfManyColumnsWhereMostNeighboursAreEnough) {
  const Matrix points = normal_matrix(20000, 16, 34);
  EXPECT_EQ(Neighbors(points, Metric(), SearchOptions{.recall = 0.5}).structure(), SearchBy::projections);
  EXPECT_EQ(Neighbors(points.topRows(2000), Metric(), SearchOptions{.recall = 0.5}).recall(), 1);
  EXPECT_EQ(Neighbors(points.leftCols(2), Metric(), SearchOptions{.recall = 0.5}).structure(), SearchBy::kd_tree);
}

TEST(Projections, OfEqualAndOfHugePointsAndWhatTheyCannotDo) {
  const SearchOptions how{.structure = SearchBy::projections};
  const auto equal = Neighbors(Matrix::Ones(100, 3), Metric(), how).nearest_own(3);
  EXPECT_EQ(equal.row.size(), 300u);
  EXPECT_EQ(Neighbors(normal_matrix(300, 3, 1) * 1e250, Metric(), how).nearest_own(2).row.size(), 600u);
  EXPECT_TRUE(contains(message_of([&] { Neighbors(Matrix::Ones(9, 2), HammingMetric{}, how); }), "projections"));
  EXPECT_TRUE(contains(message_of([&] {
                         Neighbors(Matrix::Ones(9, 2), Metric(), SearchOptions{SearchBy::projections, 0.1});
                       }),
                       "say recall"));
  EXPECT_TRUE(contains(message_of([&] { Neighbors(Matrix::Ones(9, 2), Metric(), SearchOptions{.recall = 0}); }),
                       "recall is 0"));
}

class CancelledAtOnce final : public Progress {
 public:
  void report(double, std::string_view) override {}
  bool cancelled() const override { return true; }
};

TEST(Neighbors, SearchCanBeCancelled) {
  CancelledAtOnce progress;
  const Matrix points = normal_matrix(500, 2, 1);
  const Neighbors search(points, Metric());
  EXPECT_THROW(search.nearest_own(3, {.progress = &progress}), Cancelled);
  EXPECT_THROW(Neighbors(points, Metric(), SearchOptions{}, {.progress = &progress}), Cancelled);
}

class Heard final : public Progress {
 public:
  void report(double fraction, std::string_view message) override {
    if (message == "searching") last = std::max(last.load(), fraction);
  }
  bool cancelled() const override { return false; }
  std::atomic<double> last = 0;
};

TEST(Neighbors, SearchReportsHowFarItIs) {
  Heard progress;
  const Neighbors search(normal_matrix(2000, 2, 1), Metric());
  search.nearest_own(3, {.threads = 1, .progress = &progress, .message = "searching"});
  EXPECT_EQ(progress.last, 1);
}

}  // namespace
}  // namespace lemma
