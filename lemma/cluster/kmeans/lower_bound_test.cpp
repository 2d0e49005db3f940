// lemma/cluster/kmeans/lower_bound_test.cpp
#include <gtest/gtest.h>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/kmeans/lower_bound.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <numeric>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Σ w ‖x − mean of its cluster‖², cluster c of row i being digit i of `code` in base k.
double within_of(const AlikeRows& rows, Index k, Index code) {
  Matrix sums = Matrix::Zero(k, rows.x.cols());
  Vector weight = Vector::Zero(k);
  double squares = 0;
  for (Index i = 0; i < rows.x.rows(); ++i, code /= k) {
    sums.row(code % k) += rows.w(i) * rows.x.row(i);
    weight(code % k) += rows.w(i);
    squares += rows.w(i) * rows.x.row(i).squaredNorm();
  }
  for (Index c = 0; c < k; ++c)
    if (weight(c) > 0) squares -= sums.row(c).squaredNorm() / weight(c);
  return squares;
}

/// The least of all partitions.
double best_within(const AlikeRows& rows, Index k) {
  const auto count = static_cast<Index>(std::pow(k, rows.x.rows()) + 0.5);
  double out = within_of(rows, k, 0);
  for (Index code = 1; code < count; ++code) out = std::min(out, within_of(rows, k, code));
  return out;
}

/// Every third flower.
Matrix some_iris() {
  const Table table = dataset("iris");
  Matrix x(50, 4);
  for (Index j = 0; j < 4; ++j)
    for (Index i = 0; i < 50; ++i) x(i, j) = table.column(j).numbers().values[at(3 * i)];
  return x;
}

Matrix three_clouds() {
  Matrix x = 0.3 * normal_matrix(30, 2, 5, 1);
  for (Index i = 0; i < 30; ++i) x(i, i % 3 == 2 ? 1 : 0) += i % 3 == 0 ? 0 : 8;
  return x;
}

TEST(KMeansLowerBound, IsBelowTheBestOfAllPartitionsAndNearIt) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    AlikeRows rows{normal_matrix(9, 2, seed, 1), Vector::Ones(9)};
    if (seed == 2) rows.w << 1, 2, 3, 1, 2, 3, 1, 0.5, 7;
    for (const Index k : {1, 2, 3}) {
      const double best = best_within(rows, k);
      const LowerBound found = lower_bound(rows, k, best, 400, {});
      EXPECT_LE(found.value, best) << "seed " << seed << ", k " << k;
      EXPECT_GE(found.value, 0.98 * best) << "seed " << seed << ", k " << k;
      EXPECT_LE(proved_bound(rows, k, found.pairs, found.triples), best * (1 + 1e-12));
    }
  }
}

TEST(KMeansLowerBound, HoldsForWhateverMultipliersAndTakesTheNegativeOnesForNothing) {
  const AlikeRows rows{normal_matrix(8, 2, 4, 1), Vector::LinSpaced(8, 1, 3)};
  const double best = best_within(rows, 3);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const Vector pairs = 0.02 * normal_matrix(36, 1, seed, 1).col(0);
    Matrix triples(2, 4);
    triples << 0, 1, 2, 0.01, 7, 3, 5, seed % 2 == 0 ? -1 : 0.02;
    EXPECT_LE(proved_bound(rows, 3, pairs, triples), best * (1 + 1e-12)) << seed;
    triples(1, 3) = std::max(0.0, triples(1, 3));
    EXPECT_EQ(proved_bound(rows, 3, pairs.cwiseMax(0.0), triples), proved_bound(rows, 3, pairs, triples));
  }
  // Without multipliers it is that of principal components: what k − 1 of them leave.
  EXPECT_GT(proved_bound(rows, 2, Vector::Zero(36), Matrix()), 0);
  EXPECT_EQ(proved_bound(rows, 2, Vector::Zero(35), Matrix()), 0) << "they do not fit";
}

TEST(KMeansLowerBound, ProvesThatTheClustersOfFlowersAreTheBest) {
  const Matrix x = some_iris();
  const KMeansModel model = fit(KMeans{.k = 3, .restarts = 30, .bound = 600}, x);
  EXPECT_GE(model.lower_bound, model.total_within * (1 - 1e-3));
  EXPECT_LE(model.lower_bound, model.total_within);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_NE(model.certificate.message.find("lower bound"), std::string::npos);
  EXPECT_NE(model.summary({{"a", "b", "c", "d"}, {}, ""}).find("No clustering into 3 has less"), std::string::npos);

  // In another order, and some of the rows as copies.
  Matrix turned(51, 4);
  turned << x.colwise().reverse(), x.row(7);
  const KMeansModel twice = fit(KMeans{.k = 3, .restarts = 30, .bound = 100}, turned);
  const Matrix backwards = x.colwise().reverse();
  EXPECT_TRUE(certify(model, MemoryRows(backwards), {}).holds());
  EXPECT_TRUE(certify(twice, MemoryRows(turned), {}).holds());
  EXPECT_FALSE(certify(model, MemoryRows(turned), {}).holds());
}

TEST(KMeansLowerBound, TellsAPoorFixedPointFromTheBest) {
  const Matrix x = three_clouds();
  Matrix start(3, 2);
  start << 0, 0.5, 0, -0.5, 5, 5;  // two centres in one cloud, one for the other two
  const KMeansModel poor = fit(KMeans{.start = start, .bound = 100}, x), best = fit(KMeans{.k = 3, .bound = 100}, x);
  ASSERT_GT(poor.total_within, 5 * best.total_within);
  EXPECT_TRUE(poor.certificate.holds()) << poor.certificate.message;
  EXPECT_LE(poor.lower_bound, best.total_within * (1 + 1e-12));
  EXPECT_GE(poor.lower_bound, best.total_within * (1 - 1e-5));
  EXPECT_NE(best.summary({{"a", "b"}, {}, ""}).find("the best there is"), std::string::npos);
}

TEST(KMeansLowerBound, FailsTheNaturalWrongBounds) {
  const Matrix x = some_iris();
  const MemoryRows rows(x);
  const KMeansModel model = fit(KMeans{.k = 3, .bound = 100}, x);
  ASSERT_TRUE(certify(model, rows, {}).holds());
  KMeansModel wrong = model;
  wrong.lower_bound = wrong.total_within;  // the best of the starts, as if there were no other clusterings
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
  wrong = model;
  wrong.bound_pairs *= 1.01;
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
  wrong = model;
  wrong.bound_pairs.resize(0);  // a claim without its proof
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
  wrong.lower_bound = 0;  // asked for, and not there
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
  // One eigenvalue too few proves too much: it is the bound for k − 1, which has more within.
  wrong = model;
  wrong.lower_bound = proved_bound(alike_rows("kmeans", rows, {}), 2, model.bound_pairs, model.bound_triples);
  EXPECT_GT(wrong.lower_bound, model.lower_bound);
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(KMeansLowerBound, IsOneOfTheMetricsOwnSquares) {
  const Matrix x = some_iris();
  const KMeansModel model = fit(KMeans{.k = 2, .metric = MahalanobisMetric{}, .bound = 200}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(certify(model, MemoryRows(x), {}).holds());
  EXPECT_GT(model.lower_bound, 0.9 * model.total_within);
  EXPECT_LE(model.lower_bound, model.total_within);
}

TEST(KMeansLowerBound, IsRefusedOfManyRowsAndGoneAfterAnUpdate) {
  const Matrix many = normal_matrix(1001, 1, 1, 1);
  EXPECT_NE(message_of([&] { fit(KMeans{.k = 2, .bound = 10}, many); }).find("more than 1,000 different rows"),
            std::string::npos);
  const Matrix x = three_clouds();
  const KMeansModel model = fit(KMeans{.k = 3, .bound = 50}, x);
  const Matrix news = some_iris().leftCols(2);
  const KMeansModel more = updated(model, MemoryRows(news), {});
  EXPECT_EQ(more.lower_bound, 0);
  EXPECT_EQ(more.bound_pairs.size(), 0);
  EXPECT_EQ(fit(KMeans{.k = 3}, x).lower_bound, 0);
  const KMeansModel equal = fit(KMeans{.k = 1, .bound = 10}, Matrix::Constant(5, 2, 0.1));
  EXPECT_EQ(equal.lower_bound, 0);
  EXPECT_TRUE(equal.certificate.holds()) << equal.certificate.message;
}

}  // namespace
}  // namespace lemma
