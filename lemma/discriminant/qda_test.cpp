// lemma/discriminant/qda_test.cpp: the reference, the shapes of covariances, regularisation, and singular classes by name.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/discriminant/qda.hpp>
#include <lemma/discriminant/shared/sample_test.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/fit.hpp>
#include <tests/copied_rows.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Sample crabs() { return read("crabs", {"FL", "RW", "CL", "CW", "BD"}, {"sp", "sex"}, true); }
Sample iris() { return read("iris", {"sepal_length", "sepal_width", "petal_length", "petal_width"}, {"species"}); }

/// K Gaussian classes, each with a covariance of its own.
Sample gaussian(Index n, Index p, int k, std::uint64_t seed = 5) {
  const Matrix centres = 2 * normal_matrix(k, p, seed, 1);
  std::vector<Matrix> mix;
  for (int c = 0; c < k; ++c) mix.push_back(normal_matrix(p, p, seed, 10 + static_cast<std::uint64_t>(c)));
  Sample out{normal_matrix(n, p, seed, 3), {}};
  for (Index i = 0; i < n; ++i) {
    const int code = static_cast<int>((i / 2) % (k + 1)) % k;
    out.x.row(i) = (out.x.row(i) * mix[static_cast<std::size_t>(code)] + centres.row(code)).eval();
    out.labels.push_back(std::string(1, static_cast<char>('a' + code)));
  }
  return out;
}

MemoryRows rows_of(const Sample& sample, const Labels& codes) {
  MemoryRows rows(sample.x);
  rows.labels(codes, sample.classes());
  return rows;
}

void expect_golden(const Golden& golden, const Sample& sample) {
  const auto model = fit(Qda{}, sample.x, sample.labels);
  EXPECT_EQ(golden.strings("classes"), sample.classes());
  EXPECT_TRUE(golden.agrees("prior", model.prior));
  EXPECT_TRUE(golden.agrees("log_det_cov", model.log_determinants));
  const Matrix shown = golden.shown(sample.x);
  EXPECT_TRUE(golden.agrees("discriminant", model.decision(shown)));
  EXPECT_TRUE(golden.agrees("posterior", model.probabilities(shown)));
  const Labels predicted = model.predict(sample.x), truth = sample.codes();
  Matrix confusion = Matrix::Zero(model.class_count(), model.class_count());
  for (std::size_t i = 0; i < truth.size(); ++i) confusion(truth[i], predicted[i]) += 1;
  EXPECT_TRUE(golden.agrees("confusion", confusion));
  EXPECT_TRUE(golden.agrees("training_errors", confusion.sum() - confusion.trace()));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}
TEST(Qda, AgreesWithTheReferenceOnIris) { expect_golden(Golden("qda_iris"), iris()); }
TEST(Qda, AgreesWithTheReferenceOnCrabs) { expect_golden(Golden("qda_crabs_log"), crabs()); }

TEST(Qda, WithOneCovarianceForAllIsLda) {
  const Sample sample = gaussian(300, 4, 3);
  const auto lda = fit(Lda{}, sample.x, sample.labels);
  for (const Qda& spec : {Qda{.shape = QdaShape::common}, Qda{.pooling = 1}}) {
    const auto qda = fit(spec, sample.x, sample.labels);
    EXPECT_LT((qda.probabilities(sample.x) - lda.probabilities(sample.x)).cwiseAbs().maxCoeff(), 1e-10);
    for (Index k = 0; k < 3; ++k) EXPECT_LT((Matrix(qda.covariance(k)) - lda.covariance).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_TRUE(qda.certificate.holds()) << qda.certificate.message;
  }
}

TEST(Qda, HasTheShapesBetween) {
  const Sample sample = gaussian(200, 3, 2);
  const auto codes = sample.codes();
  const auto full = fit(Qda{.covariance = ClassDivisor::ml}, sample.x, sample.labels);
  const double n = full.counts.sum();
  Matrix pooled = Matrix::Zero(3, 3);
  for (Index k = 0; k < 2; ++k) pooled += full.counts(k) / n * full.covariance(k);
  for (const auto shape : {QdaShape::full, QdaShape::diagonal, QdaShape::isotropic, QdaShape::common,
                           QdaShape::common_diagonal, QdaShape::common_isotropic}) {
    const auto model = fit(Qda{.shape = shape, .covariance = ClassDivisor::ml}, sample.x, sample.labels);
    EXPECT_TRUE(model.certificate.holds()) << name_of(shape);
    for (Index k = 0; k < 2; ++k) {
      const Matrix s = shape >= QdaShape::common ? pooled : Matrix(full.covariance(k));
      Matrix expected = s;
      if (shape == QdaShape::diagonal || shape == QdaShape::common_diagonal)
        expected = Matrix(s.diagonal().asDiagonal());
      if (shape == QdaShape::isotropic || shape == QdaShape::common_isotropic)
        expected = s.trace() / 3 * Matrix::Identity(3, 3);
      EXPECT_LT((Matrix(model.covariance(k)) - expected).cwiseAbs().maxCoeff(), 1e-12) << name_of(shape);
    }
  }
}

TEST(Qda, IsotropicVariancesAreThoseOfTheNotes) {  // σ² = Σ ‖x − μ‖² / (d n), of each class and for all
  const Sample sample = gaussian(90, 3, 2);
  const auto codes = sample.codes();
  const auto own = fit(Qda{.shape = QdaShape::isotropic, .covariance = ClassDivisor::ml}, sample.x, sample.labels);
  const auto one =
      fit(Qda{.shape = QdaShape::common_isotropic, .covariance = ClassDivisor::ml}, sample.x, sample.labels);
  double all = 0;
  for (int k = 0; k < 2; ++k) {
    Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(3);
    double count = 0, squares = 0;
    for (Index i = 0; i < 90; ++i)
      if (codes[at(i)] == k) {
        mean += sample.x.row(i);
        ++count;
      }
    mean /= count;
    for (Index i = 0; i < 90; ++i)
      if (codes[at(i)] == k) squares += (sample.x.row(i) - mean).squaredNorm();
    all += squares;
    EXPECT_NEAR(own.covariance(k)(0, 0), squares / (3 * count), 1e-12 * squares);
    EXPECT_NEAR(own.log_determinants(k), 3 * std::log(squares / (3 * count)), 1e-12);
  }
  EXPECT_NEAR(one.covariance(1)(2, 2), all / (3 * 90), 1e-12 * all);
}

TEST(Qda, RegularisesBetweenTheCovarianceOfTheClassThePooledOneAndTheSphere) {
  const Sample sample = gaussian(120, 3, 3);
  const auto plain = fit(Qda{}, sample.x, sample.labels),
             common = fit(Qda{.shape = QdaShape::common}, sample.x, sample.labels);
  const auto model = fit(Qda{.pooling = 0.3, .sphere = 0.2}, sample.x, sample.labels);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  for (Index k = 0; k < 3; ++k) {
    const Matrix t = 0.7 * plain.covariance(k) + 0.3 * common.covariance(k);
    const Matrix expected = 0.8 * t + 0.2 * t.trace() / 3 * Matrix::Identity(3, 3);
    EXPECT_LT((Matrix(model.covariance(k)) - expected).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(Qda, PosteriorsDoNotChangeUnderAffineMapsOfTheColumns) {
  const Sample sample = gaussian(200, 3, 3);
  const Matrix map = normal_matrix(3, 3, 77);
  Sample mapped = sample;
  mapped.x = (sample.x * map).rowwise() + Eigen::RowVector3d(5, -1, 1e3);
  const auto a = fit(Qda{}, sample.x, sample.labels), b = fit(Qda{}, mapped.x, sample.labels);
  EXPECT_LT((a.probabilities(sample.x) - b.probabilities(mapped.x)).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Qda, DrawsRowsOfItsOwnClasses) {
  const Sample sample = gaussian(400, 2, 2);
  const auto model = fit(Qda{}, sample.x, sample.labels);
  const DrawnRows drawn = model.draw(20000, 4);
  std::vector<std::string> labels;
  for (const int k : drawn.label) labels.push_back(k == 0 ? "a" : "b");
  const auto again = fit(Qda{}, drawn.x, labels);
  EXPECT_LT((again.means - model.means).cwiseAbs().maxCoeff(), 0.1);
  EXPECT_LT((again.covariances - model.covariances).cwiseAbs().maxCoeff(),
            0.1 * model.covariances.cwiseAbs().maxCoeff());
  EXPECT_NEAR(again.prior(0), model.prior(0), 0.02);
}

TEST(Qda, GivesTheSameBitsFromBlocksAsFromMemory) {
  const Sample sample = gaussian(3000, 4, 3);
  const Labels codes = sample.codes();
  const MemoryRows rows = rows_of(sample, codes);
  const auto a = fit(Valid<Qda>(Qda{}), rows, {}), b = fit(Valid<Qda>(Qda{}), CopiedRows(rows), {});
  EXPECT_EQ(a.covariances, b.covariances);
  EXPECT_EQ(a.decision(sample.x), b.decision(sample.x));
}

TEST(Qda, TheNaturalWrongPooledCovarianceFailsTheCertificate) {
  const Sample sample = iris();
  const Labels codes = sample.codes();
  const MemoryRows rows = rows_of(sample, codes);
  const QdaModel right = fit(Valid<Qda>(Qda{}), rows, {});
  EXPECT_TRUE(certify(right, rows, {}).holds());
  QdaModel pooled = fit(Valid<Qda>(Qda{.shape = QdaShape::common}), rows, {});  // lda's, for classes of their own
  pooled.spec.shape = QdaShape::full;
  EXPECT_FALSE(certify(pooled, rows, {}).holds());
  QdaModel ml = fit(Valid<Qda>(Qda{.covariance = ClassDivisor::ml}), rows, {});  // another divisor
  ml.spec.covariance = ClassDivisor::unbiased;
  EXPECT_FALSE(certify(ml, rows, {}).holds());
  QdaModel sign = right;  // log det Σ forgotten a factor
  sign.log_determinants *= 0.5;
  EXPECT_FALSE(certify(sign, rows, {}).holds());
  QdaModel one_mean = right;  // scatter about the mean of all rows
  const Eigen::RowVectorXd centre = sample.x.colwise().mean();
  for (Index k = 0; k < 3; ++k) {
    const Eigen::RowVectorXd d = right.means.row(k) - centre;
    one_mean.own.middleRows(4 * k, 4) += 50.0 / 49 * d.transpose() * d;
  }
  one_mean.covariances = one_mean.own;
  EXPECT_FALSE(certify(one_mean, rows, {}).holds());
}

TEST(Qda, UpdatesToTheFitOfAllRows) {
  const Sample sample = gaussian(200, 3, 2);
  const Labels codes = sample.codes();
  const Qda spec{.pooling = 0.2};
  const Matrix first = sample.x.topRows(80), second = sample.x.bottomRows(120);
  const Labels early(codes.begin(), codes.begin() + 80), late(codes.begin() + 80, codes.end());
  MemoryRows before(first), after(second);
  before.labels(early, {"a", "b"});
  after.labels(late, {"a", "b"});
  const auto both = updated(fit(Valid<Qda>(spec), before, {}), after, {}), all = fit(spec, sample.x, sample.labels);
  EXPECT_LT((both.covariances - all.covariances).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((both.probabilities(sample.x) - all.probabilities(sample.x)).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Qda, SaysOfWhichClassTheCovarianceIsSingularAndWhichColumnMakesItSo) {
  Sample sample = gaussian(60, 3, 2);
  const auto refusal = [](const Sample& from, const Qda& spec = {}) {
    const Labels codes = from.codes();
    MemoryRows rows = rows_of(from, codes);
    rows.features = {"one", "two", "three"};
    return message_of([&] { fit(Valid<Qda>(spec), rows, {}); });
  };
  Sample constant = sample, dependent = sample;
  for (Index i = 0; i < 60; ++i)
    if (sample.labels[at(i)] == "b") {
      constant.x(i, 1) = 3;
      dependent.x(i, 2) = dependent.x(i, 0) - 2 * dependent.x(i, 1);
    }
  EXPECT_NE(refusal(constant).find("the covariance of class 'b' is singular, because 'two' is constant in it"),
            std::string::npos);
  EXPECT_NE(refusal(dependent).find("class 'b' is singular: in it 'three' is a combination of the columns before"),
            std::string::npos);
  EXPECT_EQ(refusal(constant, {.pooling = 0.1}), "no error");
  EXPECT_EQ(refusal(dependent, {.sphere = 0.1}), "no error");
  EXPECT_EQ(refusal(dependent, {.shape = QdaShape::diagonal}), "no error");
  Sample few{Matrix(sample.x.topRows(24)), {sample.labels.begin(), sample.labels.begin() + 24}};
  for (Index i = 0, seen = 0; i < 24; ++i)
    if (few.labels[at(i)] == "b" && ++seen > 3) few.labels[at(i)] = "a";
  EXPECT_NE(refusal(few).find("class 'b' of 3 columns is singular, because its 3 rows vary in at most 2 directions"),
            std::string::npos);
  const Labels none(60, 0);
  MemoryRows empty(sample.x);
  empty.labels(none, {"a", "b"});
  EXPECT_EQ(message_of([&] { fit(Valid<Qda>(Qda{}), empty, {}); }),
            "qda: class 'b' has no rows; leave it out of the classes");
}

}  // namespace
}  // namespace lemma
