// lemma/linear/centroid_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/centroid.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/model/fit.hpp>

namespace lemma {
namespace {

using Words = std::vector<std::string>;

TEST(Centroid, MatchesTheAnswerByHand) {  // means (1, 0) and (5, 2): f(x) = (4, 2)·(x − (3, 1))
  const Matrix x{{0.0, 0.0}, {2.0, 0.0}, {4.0, 2.0}, {6.0, 2.0}};
  const auto m = fit(Centroid{}, x, Words{"a", "a", "b", "b"});
  EXPECT_EQ(m.means, (Matrix{{1.0, 0.0}, {5.0, 2.0}}));
  const Matrix at{{3.0, 1.0}, {4.0, 3.0}, {0.0, 0.0}};
  const Matrix f = m.decision(at);
  ASSERT_EQ(f.cols(), 1);
  EXPECT_NEAR(f(0, 0), 0, 1e-14);
  EXPECT_NEAR(f(1, 0), 8, 1e-13);
  EXPECT_NEAR(f(2, 0), -14, 1e-13);
  EXPECT_EQ(m.predict(at), (Labels{0, 1, 0}));
  const AffineMap map = m.affine();
  EXPECT_LT(((at * map.a.transpose()).rowwise() + map.b.transpose() - f).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Centroid, PredictsTheNearestMean) {
  const Table iris = dataset("iris");
  const auto m = fit(Centroid{}, formula("species ~ ."), iris);
  const Matrix x = m.design.apply(iris).x;
  const Labels found = m.predict(x);
  Index wrong = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    Index nearest = 0;
    (m.means.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
    EXPECT_EQ(found[static_cast<std::size_t>(i)], nearest);
    wrong += nearest != i / 50;
  }
  EXPECT_EQ(wrong, 11);  // as scikit-learn's NearestCentroid
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(Centroid, ScaledDoesNotDependOnTheUnits) {
  const Matrix x = normal_matrix(60, 3, 4);
  Words labels;
  for (Index i = 0; i < 60; ++i) labels.push_back(x(i, 0) + x(i, 1) > 0 ? "p" : "q");
  const Matrix other = x * Vector{{1e-6, 1.0, 1e9}}.asDiagonal();
  const auto a = fit(Centroid{.scale = true}, x, labels), b = fit(Centroid{.scale = true}, other, labels);
  EXPECT_LT((a.decision(x) - b.decision(other)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_TRUE(a.certificate.holds() && b.certificate.holds());
}

TEST(Centroid, TheNaturalWrongMeansFailTheCertificate) {
  const Matrix x = normal_matrix(90, 2, 7);
  Labels codes;
  for (int i = 0; i < 90; ++i) codes.push_back(i % 3);
  MemoryRows rows(x);
  rows.labels(codes, {"a", "b", "c"});
  const auto right = fit(Centroid{.scale = true}, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds());
  auto exchanged = right, divisor = right, pooled = right, counted = right;
  exchanged.means.row(0).swap(exchanged.means.row(1));
  divisor.scale *= std::sqrt(87.0 / 90.0);
  pooled.means.rowwise() = right.means.colwise().mean().eval();
  counted.counts(2) += 1;
  for (const auto& wrong : {exchanged, divisor, pooled, counted}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(Centroid, HardColumnsGetAnAnswerOrAClearError) {
  Matrix x = normal_matrix(40, 3, 2);
  Words labels;
  for (Index i = 0; i < 40; ++i) labels.push_back(i % 2 ? "a" : "b");
  x.col(1).setConstant(4);
  x.col(2) = x.col(0);
  const auto m = fit(Centroid{.scale = true}, x, labels);
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_NE(m.warnings[0].find("'x2'"), std::string::npos);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  for (const double scale : {1e-200, 1e200}) {
    const Matrix scaled = x * scale;
    CentroidModel other;
    const std::string answer = message_of([&] { other = fit(Centroid{}, scaled, labels); });
    if (answer != "no error") EXPECT_NE(answer.find("another unit"), std::string::npos) << answer;
    else EXPECT_TRUE(other.decision(scaled).allFinite());
  }
  CallOptions options;
  options.weights = Vector::Ones(40);
  for (Index i = 0; i < 40; i += 2) options.weights(i) = 0;
  EXPECT_NE(message_of([&] { fit(Centroid{}, x, labels, options); }).find("no row of class 'b'"), std::string::npos);
  const auto offset = fit(Centroid{}, Matrix(x.array() + 1e9), labels);
  EXPECT_EQ(offset.predict(Matrix(x.array() + 1e9)), fit(Centroid{}, x, labels).predict(x));
}

}  // namespace
}  // namespace lemma
