// lemma/geometry/metric_test.cpp: metrics as they are written, and the distances they make.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/geometry/bound_metric.hpp>
#include <rapidcheck/gtest.h>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
using Row = std::vector<double>;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Matrix matrix(std::initializer_list<Row> rows) {
  Matrix out(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index i = 0;
  for (const Row& row : rows) out.row(i++) = Eigen::Map<const Vector>(row.data(), out.cols()).transpose();
  return out;
}

double distance(const Metric& metric, const Row& x, const Row& z) {
  return BoundMetric(metric, static_cast<Index>(x.size())).distance(x, z);
}
double distance(const char* metric, const Row& x, const Row& z) { return distance(Metric::parse(metric), x, z); }

TEST(Metric, IsReadAsItIsWritten) {
  for (const char* text :
       {"euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "minkowski(p=3)", "minkowski(p=inf)",
        "cosine", "correlation", "mahalanobis", "mahalanobis(covariance=[2, 0.5; 0.5, 1], centre=[1, -2])",
        "mahalanobis(covariance=[2])", "hamming", "jaccard", "gower", "gower(ranges=[1, 0, 2.5])"})
    EXPECT_EQ(Metric::parse(text).text(), text);
  EXPECT_EQ(Metric::parse(" minkowski ( 3 ) ").text(), "minkowski(p=3)");
  EXPECT_EQ(Metric::parse("minkowski(inf)").text(), "minkowski(p=inf)");
  EXPECT_EQ(Metric::parse("cityblock").text(), "manhattan");
  EXPECT_EQ(Metric().text(), "euclidean");
  EXPECT_EQ(Metric(MinkowskiMetric{.p = 4}).text(), "minkowski(p=4)");
}

TEST(Metric, SurvivesBeingAValue) {
  for (const char* text : {"manhattan", "minkowski(p=3)", "minkowski(p=inf)", "gower(ranges=[1, 0])",
                           "mahalanobis(covariance=[2, 0.5; 0.5, 1])"}) {
    Metric back;
    Codec<Metric>::read(back, from_json(to_json(Codec<Metric>::write(Metric::parse(text)))), "knn: metric");
    EXPECT_EQ(back.text(), text);
  }
  Metric metric;
  Codec<Metric>::read(metric, from_json(R"x({"kind": "minkowski(3)"})x"), "knn: metric");
  EXPECT_EQ(metric.text(), "minkowski(p=3)");
  Codec<Metric>::read(metric, from_json(R"({"p": 4})"), "knn: metric");
  EXPECT_EQ(metric.text(), "minkowski(p=4)");
  Codec<Metric>::read(metric, from_json(R"x({"kind": "minkowski(5)", "p": 6})x"), "knn: metric");
  EXPECT_EQ(metric.text(), "minkowski(p=6)");
}

TEST(Metric, PointsAtWhatItCannotRead) {
  const auto said = [](const char* text) { return message_of([&] { Metric::parse(text); }); };
  EXPECT_TRUE(contains(said("euclidian"), "did you mean 'euclidean'")) << said("euclidian");
  EXPECT_TRUE(contains(said("minkowski(3"), "\n  minkowski(3\n             ^"));
  EXPECT_TRUE(contains(said("minkowski(q=3)"), "p"));
  EXPECT_TRUE(contains(said("minkowski(1, p=2)"), "given twice"));
  EXPECT_TRUE(contains(said("manhattan(3)"), "manhattan takes 0 arguments"));
  EXPECT_TRUE(contains(said("manhattan 3"), "expected the end"));
  EXPECT_TRUE(contains(said(""), "expected a metric"));
  EXPECT_TRUE(contains(said("mahalanobis([1, 2; 3])"), "different lengths"));
  EXPECT_TRUE(contains(said("gower([1, x])"), "expected a number"));
}

TEST(Metric, RefusesWhatIsOutOfRange) {
  const auto said = [](const char* text, Index width = 2) {
    return message_of([&] { BoundMetric(Metric::parse(text), width); });
  };
  EXPECT_TRUE(contains(said("minkowski(0.5)"), "p is 0.5, must be at least 1"));
  EXPECT_TRUE(contains(said("gower([1, -1])"), "-1"));
  EXPECT_TRUE(contains(said("gower([1, 1])", 3), "2 ranges for rows of 3 columns"));
  EXPECT_TRUE(contains(said("mahalanobis([1, 2, 3; 4, 5, 6])"), "must be square"));
  EXPECT_TRUE(contains(said("mahalanobis([1, 2; 2, 1])"), "not positive definite"));
  EXPECT_TRUE(contains(said("mahalanobis([1, 1; 1, 1])"), "linear combination"));
  EXPECT_TRUE(contains(said("mahalanobis([1, 0.5; 0.1, 1])"), "not symmetric"));
  EXPECT_TRUE(contains(said("mahalanobis([1, 0; 0, 0])"), "the variance of column 2 is 0"));
  EXPECT_TRUE(contains(said("euclidean", 0), "columns"));
}

TEST(Metric, IsWhatTheFormulaSays) {
  const Row x = {1, 2, 3}, z = {4, 6, 3};
  EXPECT_EQ(distance("euclidean", x, z), 5);
  EXPECT_EQ(distance("sqeuclidean", x, z), 25);
  EXPECT_EQ(distance("manhattan", x, z), 7);
  EXPECT_EQ(distance("chebyshev", x, z), 4);
  EXPECT_NEAR(distance("minkowski(3)", x, z), std::cbrt(27 + 64), 1e-15 * 5);
  EXPECT_EQ(distance("minkowski(1)", x, z), 7);
  EXPECT_EQ(distance("minkowski(inf)", x, z), 4);
  EXPECT_NEAR(distance("cosine", x, z), 1 - 25 / std::sqrt(14.0 * 61), 1e-15);
  // means 2 and 13/3: (−1, 0, 1)·(−1/3, 5/3, −4/3) = −1, lengths √2 and √(42/9)
  EXPECT_NEAR(distance("correlation", x, z), 1 + 1 / std::sqrt(2 * 42.0 / 9), 1e-15);
  EXPECT_NEAR(distance("mahalanobis([9, 0, 0; 0, 4, 0; 0, 0, 1])", x, z), std::sqrt(1 + 4.0), 1e-15);
  EXPECT_EQ(distance("hamming", x, z), 2.0 / 3);
  EXPECT_EQ(distance("jaccard", {1, 1, 0, 0, 2}, {1, 0, 1, 0, 1}), 1 - 2.0 / 4);
  EXPECT_EQ(distance("jaccard", {0, 0}, {0, 0}), 0);
  // |1 − 4| / 6 by range, 2 ≠ 6 as codes, equal: (½ + 1 + 0) / 3
  EXPECT_EQ(distance("gower([6, 0, 1])", x, z), 0.5);
}

TEST(Metric, GowerLeavesOutWhatIsMissing) {
  EXPECT_EQ(distance("gower([6, 0, 1])", {1, kMissing, 3}, {4, 6, 3}), 0.25);
  EXPECT_EQ(distance("gower([6, 0, 1])", {1, 2, kMissing}, {4, 2, kMissing}), 0.25);
  EXPECT_TRUE(std::isnan(distance("gower([1, 1])", {kMissing, 1}, {1, kMissing})));
  const Matrix rows = matrix({{1, 0, 5, kMissing}, {4, 2, 5, kMissing}, {kMissing, 1, 5, kMissing}});
  const std::vector<Index> codes = {1};
  EXPECT_EQ(Metric(GowerMetric{}).resolved(rows, codes).text(), "gower(ranges=[3, 0, 0, 0])");
  EXPECT_EQ(Metric(GowerMetric{}).resolved(rows).text(), "gower(ranges=[3, 2, 0, 0])");
}

const char* const kAll[] = {
    "euclidean", "sqeuclidean",  "manhattan",
    "chebyshev", "minkowski(3)", "minkowski(1.5)",
    "cosine",    "correlation",  "mahalanobis([2, 0.5, 0, 0; 0.5, 1, 0, 0; 0, 0, 3, 1; 0, 0, 1, 1])",
    "hamming",   "jaccard",      "gower([1, 0, 2, 0])"};

/// Whole numbers make ties and equal columns; a last column keeps rows from being constant.
Row any_row() {
  Row row;
  for (int j = 0; j < 3; ++j) row.push_back(*rc::gen::inRange(-3, 4));
  row.push_back(*rc::gen::inRange(4, 6));
  return row;
}

RC_GTEST_PROP(Metric, IsSymmetricAndZeroOnlyWhereRowsAreEqualToIt, ()) {
  const Row x = any_row(), z = any_row();
  for (const char* text : kAll) {
    RC_ASSERT(distance(text, x, z) == distance(text, z, x));
    RC_ASSERT(distance(text, x, x) == 0);
    RC_ASSERT(distance(text, x, z) >= 0);
  }
}

RC_GTEST_PROP(Metric, ObeysTheTriangleInequalityWhereItSaysSo, ()) {
  const Row x = any_row(), y = any_row(), z = any_row();
  for (const char* text : kAll)
    if (Metric::parse(text).obeys_triangle_inequality()) {
      const double way = distance(text, x, y) + distance(text, y, z);
      RC_ASSERT(distance(text, x, z) <= way * (1 + 1e-14));
    }
}

TEST(Metric, BreaksTheTriangleInequalityWhereItSaysSo) {
  const auto breaks = [](const char* text, const Row& x, const Row& y, const Row& z) {
    EXPECT_FALSE(Metric::parse(text).obeys_triangle_inequality()) << text;
    EXPECT_GT(distance(text, x, z), distance(text, x, y) + distance(text, y, z)) << text;
  };
  breaks("sqeuclidean", {0}, {1}, {2});
  breaks("cosine", {1, 0}, {1, 1}, {0, 1});
  breaks("correlation", {1, 0, 0}, {1, 1, 0}, {0, 1, 0});
  breaks("gower([1, 1])", {0, 0}, {kMissing, 0}, {1, 0});  // the middle one does not know where they differ
}

TEST(Metric, KeepsItsDigitsAtEveryScale) {
  for (const double scale : {1e-300, 1e-200, 1e-150, 1.0, 1e150, 1e200, 1e300}) {
    const Row x = {scale, 2 * scale, 3 * scale}, z = {4 * scale, 6 * scale, 3 * scale};
    for (const char* text : {"euclidean", "minkowski(2)"}) EXPECT_NEAR(distance(text, x, z) / scale, 5, 1e-14) << scale;
    EXPECT_NEAR(distance("minkowski(3)", x, z) / scale, std::cbrt(91), 1e-14) << scale;
    EXPECT_NEAR(distance("manhattan", x, z) / scale, 7, 1e-14) << scale;
    EXPECT_NEAR(distance("cosine", x, z), 1 - 25 / std::sqrt(14.0 * 61), 1e-14) << scale;
    EXPECT_NEAR(distance("correlation", x, z), 1 + 1 / std::sqrt(2 * 42.0 / 9), 1e-14) << scale;
  }
  // a tile holds ordinary, huge and tiny distances side by side
  const Matrix rows = matrix({{0, 0}, {3, 4}, {3e200, 4e200}, {3e-200, 4e-200}});
  const PackedPoints points(BoundMetric(EuclideanMetric{}, 2), rows);
  std::vector<double> out(16);
  points.distances(rows.data(), 1, 0, 1, out.data());
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 5);
  EXPECT_NEAR(out[2] / 5e200, 1, 1e-15);
  EXPECT_NEAR(out[3] / 5e-200, 1, 1e-15);
}

TEST(Metric, CosineSeesSmallAngles) {
  for (const double angle : {1e-3, 1e-6, 1e-9, 1e-12})
    EXPECT_NEAR(distance("cosine", {1, 0}, {std::cos(angle), std::sin(angle)}) / (angle * angle / 2), 1, 1e-6) << angle;
  EXPECT_EQ(distance("cosine", {3, 1, 2}, {6, 2, 4}), 0);
}

TEST(Metric, RefusesRowsWithoutADirection) {
  const auto said = [](const char* metric, const Matrix& rows) {
    return message_of([&] { BoundMetric(Metric::parse(metric), rows.cols()).mapped(rows); });
  };
  EXPECT_TRUE(contains(said("cosine", matrix({{1, 2}, {0, 0}})), "row 2 has no direction"));
  EXPECT_TRUE(contains(said("correlation", matrix({{1, 2, 3}, {0.1, 0.1, 0.1}})), "row 2 has no direction"));
  EXPECT_TRUE(contains(said("euclidean", matrix({{1, 2}, {0, kMissing}})), "row 2, column 2 is missing"));
  EXPECT_TRUE(contains(said("gower([1, 1])", matrix({{1, kMissing}, {HUGE_VAL, 0}})), "row 2, column 1 is infinite"));
  EXPECT_TRUE(
      contains(message_of([] { BoundMetric(Metric(), 2).mapped(Matrix::Zero(1, 3)); }), "2 columns, these have 3"));
}

TEST(Mahalanobis, DoesNotChangeWhenColumnsAreMixed) {
  const Matrix x = normal_matrix(60, 3, 1), mix = matrix({{2, 1, 0}, {0, 1, 3}, {1, 0, 1}});
  const Matrix y = (x * mix).rowwise() + Eigen::RowVector3d(1e9, -1e9, 5e8);
  const auto before = BoundMetric::of(MahalanobisMetric{}, x), after = BoundMetric::of(MahalanobisMetric{}, y);
  for (Index i = 1; i < 60; ++i)  // the offset costs y seven digits, the metric nothing beyond them
    EXPECT_NEAR(before.distance({x.row(0).data(), 3}, {x.row(i).data(), 3}),
                after.distance({y.row(0).data(), 3}, {y.row(i).data(), 3}), 1e-5);
}

TEST(Mahalanobis, SaysWhichColumnDependsOnOthers) {
  Matrix x = normal_matrix(30, 4, 1);
  x.col(2) = 3 * x.col(0) - 2 * x.col(1);
  EXPECT_TRUE(
      contains(message_of([&] { BoundMetric::of(MahalanobisMetric{}, x); }), "column 3 is a linear combination"));
  EXPECT_TRUE(contains(message_of([&] { BoundMetric::of(MahalanobisMetric{}, x.topRows(1)); }), "too few"));
}

/// One pair, a tile of any shape and a panel's limit give the same bits.
TEST(PackedPoints, GiveThePairsOwnBitsWhateverStandsBeside) {
  Matrix x = normal_matrix(37, 4, 2);
  x.bottomRows(20) = (2 * x.bottomRows(20).array()).round();
  x.col(3).array() += 10;  // no row is constant or zero
  for (const char* text : kAll) {
    const BoundMetric metric(Metric::parse(text), 4);
    const PackedPoints all(metric, x), some(metric, x.middleRows(3, 20));
    const Matrix mapped = metric.mapped(x);
    std::vector<double> tile(37 * 48), part(5 * 32), sums(16);
    all.distances(mapped.data(), 37, 0, 3, tile.data());
    some.distances(mapped.data() + 4, 5, 0, 2, part.data());
    for (Index i = 0; i < 37; ++i)
      for (Index j = 0; j < 37; ++j) {
        const double d = metric.distance({x.row(i).data(), 4}, {x.row(j).data(), 4});
        ASSERT_EQ(tile[static_cast<std::size_t>(i * 48 + j)], d) << text;
        if (i >= 1 && i < 6 && j >= 3 && j < 23) {
          ASSERT_EQ(part[static_cast<std::size_t>((i - 1) * 32 + j - 3)], d) << text;
        }
        const auto bits = all.within(mapped.row(i).data(), j / 16, metric.reach(d), sums.data());
        ASSERT_TRUE(bits >> (j % 16) & 1) << text << ": reach leaves out its own distance";
      }
    EXPECT_EQ(all.within(mapped.row(0).data(), 2, HUGE_VAL, sums.data()), 31u) << "five places of the last are taken";
  }
}

}  // namespace
}  // namespace lemma
