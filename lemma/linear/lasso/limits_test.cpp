// lemma/linear/lasso/limits_test.cpp: the certificate, and input at its limits.
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/linear/lasso/data_test.hpp>
#include <tests/message_of.hpp>

namespace lemma {

using namespace lasso_test;

TEST(Lasso, TheCertificateFailsOnADamagedModel) {
  const Wide data(80, 12);
  const MemoryRows rows = rows_of(data.x, data.y);
  const auto m = fit(Lasso{.lambda = {40, 10, 1}}, rows, {});
  ASSERT_TRUE(certify(m, rows, {}).holds());
  for (Index k = 0; k < 3; ++k)
    for (Index j = 0; j < 12; ++j) {
      auto damaged = m;
      damaged.coefficients.of(k, j) += 1e-3;
      EXPECT_FALSE(certify(damaged, rows, {}).holds()) << k << " " << j;
    }
  auto theirs = m;  // glmnet's λ is ours over n: a model fitted with the other is not optimal here
  for (double& l : theirs.spec.lambda) l /= 80;
  theirs.lambda.of /= 80;
  theirs.chosen_lambda /= 80;
  EXPECT_FALSE(certify(theirs, rows, {}).holds());
}

/// Least squares on the right columns is not the lasso: its coefficients are not shrunk.
TEST(Lasso, TheNaturalWrongRefitOfTheSelectedColumnsFailsTheCertificate) {
  const Wide data(80, 12);
  const MemoryRows rows = rows_of(data.x, data.y);
  auto m = fit(Lasso{.lambda = {10}}, rows, {});
  std::vector<Index> selected;
  for (Index j = 0; j < 12; ++j)
    if (m.coefficients.of(0, j) != 0) selected.push_back(j);
  const Matrix x = data.x(Eigen::all, selected);
  const auto refit = fit(Ols{}, x, data.response());
  for (std::size_t k = 0; k < selected.size(); ++k)
    m.coefficients.of(0, selected[k]) = refit.coefficients(static_cast<Index>(k));
  m.intercept.of(0) = refit.intercept;
  EXPECT_FALSE(certify(m, rows, {}).holds());
}

/// Weights, precisions, an offset, a constant column and one far from 0, in more rows than are copied.
struct ManyRows {
  Matrix x;
  std::vector<double> y, weight, precision, offset;
  ManyRows() : x(33'000, 5) {
    for (Index i = 0; i < x.rows(); ++i) {
      RandomStream random(5, at(i));
      x(i, 0) = 1e6 + random.normal();
      x(i, 1) = 0.8 * (x(i, 0) - 1e6) + random.normal();
      x(i, 2) = random.normal();
      x(i, 3) = 7;
      x(i, 4) = 1e-3 * random.normal();
      offset.push_back(0.1 * random.normal());
      y.push_back(offset.back() + 2 * x(i, 1) - 300 * x(i, 4) + random.normal());
      weight.push_back(i % 5 == 0 ? 0 : 1 + static_cast<double>(i % 3));
      precision.push_back(0.5 + random.uniform());
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.response(y).weights(weight).precision(precision).offset(offset);
    return out;
  }
};

/// A penalty of 0 anywhere on the path asks for single columns, and so for the copy.
TEST(Lasso, OfManyRowsThatAreReadInBlocksItIsThatOfTheirCopiedColumns) {
  const ManyRows data;
  const MemoryRows rows = data.rows();
  for (const double alpha : {1.0, 0.5})
    for (const bool intercept : {true, false}) {
      const ElasticNet spec{.alpha = alpha, .lambda = {2000, 50}, .intercept = intercept};
      ElasticNet with_copy = spec;
      with_copy.lambda.push_back(0);
      const auto m = fit(spec, rows, {}), copied = fit(with_copy, rows, {});
      EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
      EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
      EXPECT_EQ(m.warnings, copied.warnings);
      for (Index k = 0; k < 2; ++k) {
        EXPECT_LT((m.coefficients.of.row(k) - copied.coefficients.of.row(k)).norm(),
                  1e-8 * copied.coefficients.of.row(k).norm());
        EXPECT_NEAR(m.rss.of(k), copied.rss.of(k), 1e-9 * copied.rss.of(k));
        EXPECT_NEAR(m.objective.of(k), copied.objective.of(k), 1e-9 * copied.objective.of(k));
      }
      EXPECT_LT((m.scale - copied.scale).cwiseQuotient(copied.scale).cwiseAbs().maxCoeff(), 1e-9);
      auto damaged = m;
      damaged.coefficients.of(0, 1) *= 1.001;
      EXPECT_FALSE(certify(damaged, rows, {}).holds());
    }
}

TEST(Lasso, OfManyRowsNamesWhatItCannotUse) {
  ManyRows data;
  data.x(20'000, 2) = std::nan("");
  EXPECT_EQ(message_of([&] { fit(Lasso{}, data.rows(), {}); }), "'x3' is NaN in row 20001; it must be finite");
  data.x.col(2).setConstant(1e200);
  data.x(3, 2) = -1e200;
  EXPECT_EQ(message_of([&] { fit(Lasso{}, data.rows(), {}); }),
            "lasso: the values of 'x3' are too large to be squared (they are about 1e+200); use another unit");
}

TEST(Lasso, StoppedEarlyItSaysSo) {
  const Wide data(50, 40);
  const auto m = fit(Lasso{.lambda = {1}, .max_iterations = 2}, data.x, data.response());
  EXPECT_FALSE(m.certificate.holds());
  EXPECT_EQ(m.certificate.stopped, "iteration limit");
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(m.warnings[0], "1 of 1 λ stopped before the gap was below the tolerance");
}

TEST(Lasso, ConstantAndRepeatedColumnsDoNoHarm) {
  const Data data(30, 2);
  Matrix x(30, 4);
  x << data.x, data.x.col(0), Vector::Constant(30, 7.0);
  const MemoryRows rows = rows_of(x, data.y);
  const auto m = fit(Lasso{}, rows, {}), without = fit(Lasso{}, data.x, data.response());
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  EXPECT_TRUE((m.coefficients.of.col(3).array() == 0).all());
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(m.warnings[0], "'x4' is constant and takes no part: its coefficient is 0");
  EXPECT_LT(
      (m.coefficients.of.col(0) + m.coefficients.of.col(2) - without.coefficients.of.col(0)).cwiseAbs().maxCoeff(),
      1e-5);
  const auto net = fit(ElasticNet{.lambda = {3}}, rows, {});  // a square in the penalty makes equal columns share
  EXPECT_NEAR(net.coefficients.of(0, 0), net.coefficients.of(0, 2), 1e-6);
}

TEST(Lasso, AResponseThatIsConstantNeedsNoColumn) {
  const Data data(20, 3);
  const auto m = fit(Lasso{}, data.x, Vector::Constant(20, 4.0));
  EXPECT_EQ(m.lambda.size(), 1);
  EXPECT_EQ(m.df.of(0), 0);
  EXPECT_EQ(m.intercept.of(0), 4);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

TEST(Lasso, SaysWhatItCannotUse) {
  const Data data(20, 2);
  const auto says = [&](const Lasso& spec) { return message_of([&] { fit(spec, data.x, data.response()); }); };
  EXPECT_NE(says({.lambda = {1, -1}}).find("lasso: lambda"), std::string::npos);
  EXPECT_NE(says({.bound = -1}).find("lasso: bound"), std::string::npos);
  EXPECT_EQ(says({.lambda = {1}, .bound = 1}), "lasso: lambda and bound are both given; each is a form of its own");
  EXPECT_EQ(says({.penalty_factors = {1}}), "lasso: there are 1 penalty_factors for 2 columns (x1 and x2)");
  EXPECT_NE(message_of([&] { fit(ElasticNet{.alpha = 1.5}, data.x, data.response()); }).find("elastic_net: alpha"),
            std::string::npos);
  CallOptions options;
  options.weights = Vector::Zero(20);
  EXPECT_EQ(message_of([&] { fit(Lasso{}, data.x, data.response(), options); }),
            "lasso: all weights are 0, so there are no rows to learn from");
  Matrix x = data.x;
  x(16, 1) = NAN;
  EXPECT_EQ(message_of([&] { fit(Lasso{}, x, data.response()); }), "'x2' is NaN in row 17; it must be finite");
  const auto m = fit(Lasso{}, data.x, data.response());
  EXPECT_EQ(message_of([&] { m.predict(Matrix::Zero(1, 3)); }), "lasso was fitted on 2 columns and is given 3");
}

TEST(Lasso, TinyAndHugeUnitsGiveTheAnswerOrAClearError) {
  const Data data(40, 2);
  const auto m = fit(Lasso{.lambda = {1}}, data.x, data.response());
  for (const double scale : {1e-200, 1e-150, 1e-100, 1e100, 1e150, 1e200}) {
    Matrix x = data.x;
    x.col(0) *= scale;
    LassoModel scaled;
    const std::string answer = message_of([&] { scaled = fit(Lasso{.lambda = {1}}, x, data.response()); });
    if (answer != "no error") {
      EXPECT_TRUE(scale < 1e-120 || scale > 1e120) << scale;
      EXPECT_NE(answer.find(scale > 1 ? "'x1' are too large" : "'x1' are too small"), std::string::npos) << answer;
      continue;
    }
    EXPECT_NEAR(scaled.coefficients.of(0, 0) * scale, m.coefficients.of(0, 0), 1e-9) << scale;
    EXPECT_TRUE(scaled.certificate.holds()) << scale << ": " << scaled.certificate.message;
  }
}

/// Every column has an effect of its own size, so that each enters at a λ of its own: more than the 40 lines shown.
template <class Spec>
std::string summary_of_a_long_path() {
  const Matrix x = normal_matrix(300, 60, 3);
  Vector effects(60);
  for (Index j = 0; j < 60; ++j) effects(j) = std::pow(1.1, static_cast<double>(j));
  Names names;
  for (int j = 1; j <= 60; ++j) names.features.push_back("x" + std::to_string(j));
  return fit(Spec{}, x, Vector(x * effects)).summary(names);
}

TEST(Lasso, APathLongerThanItsReportIsCutAndSaysByHowMuch) {
  for (const std::string& text : {summary_of_a_long_path<Lasso>(), summary_of_a_long_path<ElasticNet>()}) {
    EXPECT_NE(text.find("x60"), std::string::npos) << text;  // the largest effect enters first
    EXPECT_NE(text.find(" more\n"), std::string::npos) << text;
  }
}

}  // namespace lemma
