// lemma/cluster/dp_means_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/dp_means.hpp>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/core/random.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix groups(Index n, std::uint64_t seed, double apart = 10) {
  Matrix x = normal_matrix(n, 2, seed);
  for (Index i = 0; i < n; ++i) x(i, 0) += apart * static_cast<double>(i % 4), x(i, 1) += i % 2 == 0 ? apart : 0;
  return x;
}

double objective_of(const Matrix& x, const Matrix& centers, double lambda) {
  double out = lambda * static_cast<double>(centers.rows());
  for (Index i = 0; i < x.rows(); ++i) out += (centers.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff();
  return out;
}

TEST(DpMeans, FindsTheNumberOfClustersWhereTheyAreApart) {
  const Matrix x = groups(200, 3);
  const auto model = fit(DpMeans{.lambda = 60}, x);
  EXPECT_EQ(model.k(), 4);
  EXPECT_NEAR(model.total_within, fit(KMeans{.k = 4}, x).total_within, 1e-9 * model.total_within);
  EXPECT_NEAR(model.objective, objective_of(x, model.centers, 60), 1e-10 * model.objective);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(DpMeans, APriceAboveTheWholeSumOfSquaresLeavesOneClusterAndAlmostNoneLeavesEachRowItsOwn) {
  const Matrix x = groups(40, 5);
  const auto one = fit(DpMeans{.lambda = 1e5}, x), all = fit(DpMeans{.lambda = 1e-12}, x);
  EXPECT_EQ(one.k(), 1);
  EXPECT_NEAR((one.centers.row(0) - x.colwise().mean()).norm(), 0, 1e-12);
  EXPECT_EQ(all.k(), 40);
  EXPECT_TRUE(one.certificate.holds() && all.certificate.holds());
}

TEST(DpMeans, NeitherJoiningNorMovingNorANewCentreAtARowLowersTheObjective) {
  const Matrix x = normal_matrix(120, 2, 7);
  for (const double lambda : {0.5, 2.0, 6.0}) {
    const auto model = fit(DpMeans{.lambda = lambda}, x);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    for (Index i = 0; i < 120; ++i)
      EXPECT_LE((model.centers.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(), lambda * (1 + 1e-9));
    const Labels label = model.assign(x);
    for (int a = 0; a < model.k(); ++a)
      for (int b = a + 1; b < model.k(); ++b) {
        Matrix joined(model.k() - 1, 2);
        Vector mean = Vector::Zero(2);
        double count = 0;
        for (Index i = 0; i < 120; ++i)
          if (label[at(i)] == a || label[at(i)] == b) mean += x.row(i).transpose(), ++count;
        Index next = 0;
        for (int c = 0; c < model.k(); ++c)
          if (c != a && c != b) joined.row(next++) = model.centers.row(c);
        joined.row(next) = mean.transpose() / count;
        double kept = lambda * static_cast<double>(joined.rows());  // with every row where it is
        for (Index i = 0; i < 120; ++i)
          kept += label[at(i)] == a || label[at(i)] == b ? (x.row(i) - joined.row(next)).squaredNorm()
                                                         : (x.row(i) - model.centers.row(label[at(i)])).squaredNorm();
        EXPECT_GE(kept, model.objective * (1 - 1e-9));
      }
  }
}

TEST(DpMeans, ARowFartherThanTheRootOfLambdaIsOfNoCluster) {
  const Matrix x = groups(80, 2);
  const auto model = fit(DpMeans{.lambda = 30}, x);
  Matrix fresh(2, 2);
  fresh.row(0) = model.centers.row(1);
  fresh.row(1) = model.centers.row(1) + (Matrix(1, 2) << 0, 60).finished();
  EXPECT_EQ(model.assign(fresh), (Labels{1, -1}));
  for (const int label : model.assign(x)) EXPECT_GE(label, 0);
}

TEST(DpMeans, TheNaturalWrongAlgorithmsFailTheCertificate) {
  const Matrix x = normal_matrix(200, 2, 4);
  const auto with = [&](const Matrix& centers, double lambda) {
    DpMeansModel out;
    out.spec.lambda = lambda;
    out.centers = centers;
    out.sizes = out.within = Vector::Zero(centers.rows());
    for (Index i = 0; i < 200; ++i) {
      Index c = 0;
      const double d = (centers.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&c);
      out.sizes(c) += 1, out.within(c) += d;
    }
    out.total_within = out.within.sum();
    out.objective = out.total_within + lambda * static_cast<double>(centers.rows());
    return certify(out, MemoryRows(x), {});
  };
  // Clusters that are never joined: k-means with too many centres is a fixed point of everything else.
  const Certificate many = with(fit(KMeans{.k = 12}, x).centers, 20);
  EXPECT_FALSE(many.holds());
  EXPECT_NE(many.message.find("joining two clusters"), std::string::npos) << many.message;
  // Too few: rows lie beyond lambda, and were never asked.
  const Certificate few = with(fit(KMeans{.k = 2}, x).centers, 0.5);
  EXPECT_FALSE(few.holds());
  EXPECT_NE(few.message.find("farther from all centres"), std::string::npos) << few.message;
}

TEST(DpMeans, AnswersEqualRowsAndNoRows) {
  const auto equal = fit(DpMeans{}, Matrix::Constant(20, 2, 4.0));
  EXPECT_EQ(equal.k(), 1);
  EXPECT_EQ(equal.total_within, 0);
  EXPECT_TRUE(equal.certificate.holds()) << equal.certificate.message;
  const Matrix few = normal_matrix(3, 2, 1);
  const Vector none = Vector::Zero(3);
  EXPECT_NE(message_of([&] { fit(DpMeans{}, few, {.weights = none}); }).find("all weights are 0"), std::string::npos);
  const auto stopped = fit(DpMeans{.lambda = 0.5, .max_iterations = 1}, normal_matrix(300, 2, 9));
  EXPECT_FALSE(stopped.certificate.holds());
}

}  // namespace
}  // namespace lemma
