// lemma/mixture/gaussian_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/mixture/gaussian.hpp>
#include <lemma/mixture/gaussian/mcd.hpp>
#include <lemma/model/fit.hpp>
#include <numbers>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix iris() {
  const Table table = dataset("iris");
  Matrix x(150, 4);
  for (Index j = 0; j < 4; ++j) {
    const auto& values = table.all()[static_cast<std::size_t>(j)].numbers().values;
    x.col(j) = Eigen::Map<const Vector>(values.data(), 150);
  }
  return x;
}

/// Correlated rows, of which the first `bad` lie elsewhere.
Matrix spoilt(Index rows, Index bad) {
  Matrix x = normal_matrix(rows, 2, 5);
  x.col(1) += 0.5 * x.col(0);
  for (Index i = 0; i < bad; ++i) x.row(i) = Eigen::RowVector2d(8, -8) + 0.3 * x.row(i);
  return x;
}

TEST(Gaussian, is_the_mean_and_the_covariance_with_divisor_n) {
  const Matrix x = iris();
  const GaussianModel model = fit(Gaussian{}, x);
  const Matrix d = x.rowwise() - x.colwise().mean();
  EXPECT_LE((model.covariance - d.transpose() * d / 150.0).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_NEAR(model.log_likelihood, -379.9146301222694, 1e-9);  // gmm_iris: one full component
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.certificate.strength, Strength::optimal);
}

TEST(Gaussian, says_density_distance_and_tail_of_a_row) {
  const Matrix x = normal_matrix(500, 1, 3);
  const GaussianModel model = fit(Gaussian{.false_alarm = 0.05}, x);
  const double m = model.mean(0), v = model.covariance(0, 0);
  Matrix row(1, 1);
  row << m + 2 * std::sqrt(v);
  EXPECT_NEAR(model.distance(row)(0), 2, 1e-12);
  EXPECT_NEAR(model.log_density(row)(0), -0.5 * std::log(2 * std::numbers::pi * v) - 2, 1e-12);
  EXPECT_NEAR(model.tail(row)(0), 2 * normal_upper(2), 1e-12);
  EXPECT_EQ(model.outlier(row)(0), 1);
  EXPECT_NEAR(model.cutoff, 1.959963984540054 * 1.959963984540054, 1e-9);
  EXPECT_NEAR(model.outliers, 25, 15);
}

TEST(Gaussian, of_the_minimum_covariance_determinant_is_not_spoilt_by_a_third_of_the_rows) {
  const Matrix x = spoilt(300, 90);
  const GaussianModel plain = fit(Gaussian{}, x), robust = fit(Gaussian{.estimate = GaussianEstimate::mcd}, x);
  EXPECT_GT(plain.mean(0), 2);
  EXPECT_NEAR(robust.mean(0), 0, 0.2);
  EXPECT_NEAR(robust.covariance(0, 0), 1, 0.35);
  EXPECT_NEAR(robust.covariance(0, 1), 0.5, 0.3);
  EXPECT_GE(robust.outliers, 90);
  EXPECT_TRUE(robust.certificate.holds()) << robust.certificate.message;
  EXPECT_EQ(robust.certificate.strength, Strength::consistent);
}

TEST(Gaussian, finds_the_least_determinant_of_all_sets_where_they_can_be_counted) {
  const Matrix x = spoilt(12, 4);
  const Index h = 7;
  double least = HUGE_VAL;
  for (unsigned set = 0; set < (1U << 12); ++set) {
    std::vector<Index> which;
    for (Index i = 0; i < 12; ++i)
      if (set >> i & 1U) which.push_back(i);
    if (static_cast<Index>(which.size()) == h) least = std::min(least, mcd::set_of(x, which).log_determinant);
  }
  EXPECT_NEAR(mcd::search(x, h, 100, 1, {}).log_determinant, least, 1e-12);
}

TEST(Gaussian, corrects_the_covariance_of_the_nearest_rows_to_that_of_all) {
  EXPECT_NEAR(mcd::consistency(0.5, 2), 0.5 / (0.5 - 0.5 * std::log(2.0)), 1e-12);  // χ²_4 at 2 log 2
  EXPECT_EQ(mcd::consistency(1, 3), 1);
  const Matrix x = normal_matrix(4000, 2, 9);
  const GaussianModel model = fit(Gaussian{.estimate = GaussianEstimate::mcd, .restarts = 20}, x);
  EXPECT_NEAR(model.covariance(0, 0), 1, 0.1);
  EXPECT_NEAR(model.covariance(1, 1), 1, 0.1);
}

TEST(Gaussian, with_the_natural_wrong_divisor_fails_the_certificate) {
  const Matrix x = iris();
  GaussianModel model = fit(Gaussian{}, x);
  const MemoryRows rows(x);
  ASSERT_TRUE(certify(model, rows, {}).holds());
  model.covariance *= 150.0 / 149.0;  // n − 1
  model.log_likelihood = model.log_density(x).sum();
  model.outliers = model.outlier(x).sum();
  EXPECT_FALSE(certify(model, rows, {}).holds());
}

TEST(Gaussian, of_the_rows_nearest_to_the_mean_of_all_is_the_natural_wrong_set_and_fails_the_certificate) {
  const Matrix x = spoilt(200, 60);
  GaussianModel model = fit(Gaussian{.estimate = GaussianEstimate::mcd}, x);
  const MemoryRows rows(x);
  ASSERT_TRUE(certify(model, rows, {}).holds());
  const Vector far = (x.rowwise() - x.colwise().mean()).rowwise().squaredNorm();
  const mcd::Set set = mcd::set_of(x, mcd::nearest(far, model.set_rows)), all = mcd::reweighted(set, x, model.set_rows);
  model.set_mean = set.mean;
  model.set_covariance = set.covariance;
  model.mean = all.mean;
  model.covariance = all.covariance;
  model.log_likelihood = model.log_density(x).sum();
  model.outliers = model.outlier(x).sum();
  EXPECT_FALSE(certify(model, rows, {}).holds());
}

TEST(Gaussian, draws_rows_of_its_density) {
  const GaussianModel model = fit(Gaussian{}, spoilt(300, 0));
  const GaussianModel again = fit(Gaussian{}, model.draw(20000, 7).x);
  EXPECT_LE((again.mean - model.mean).cwiseAbs().maxCoeff(), 0.04);
  EXPECT_LE((again.covariance - model.covariance).cwiseAbs().maxCoeff(), 0.06);
}

TEST(Gaussian, after_new_rows_is_the_gaussian_of_all_in_every_number_but_the_outliers) {
  const Matrix x = iris();
  Vector w(150);
  for (Index i = 0; i < 150; ++i) w(i) = static_cast<double>(i % 4);
  const Matrix first = x.topRows(70), second = x.bottomRows(80);
  MemoryRows more(second);
  more.weights({w.data() + 70, 80});
  const GaussianModel all = fit(Gaussian{}, x, {.weights = w});
  const GaussianModel both = updated(fit(Gaussian{}, first, {.weights = Vector(w.head(70))}), more, {});
  EXPECT_LE((both.mean - all.mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LE((both.covariance - all.covariance).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(both.log_likelihood, all.log_likelihood, 1e-9);
  EXPECT_NEAR(both.weight, w.sum(), 1e-9);
  EXPECT_TRUE(std::isnan(both.outliers));
  EXPECT_NE(both.summary({}).find("outliers not counted after an update"), std::string::npos);
  EXPECT_TRUE(both.certificate.holds()) << both.certificate.message;
  MemoryRows whole(x);
  whole.weights({w.data(), 150});
  EXPECT_TRUE(certify(both, whole, {}).holds());
  EXPECT_FALSE(certify(both, more, {}).holds());
}

TEST(Gaussian, far_from_the_origin_and_after_one_row_at_a_time_is_still_that_of_all_rows) {
  Matrix x = spoilt(60, 0);
  x.col(0).array() += 1e6;
  GaussianModel model = fit(Gaussian{}, Matrix(x.topRows(20)));
  for (Index i = 20; i < 60; ++i) {
    const Matrix row = x.row(i);
    model = updated(model, MemoryRows(row), {});
    ASSERT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
  const GaussianModel all = fit(Gaussian{}, x);
  EXPECT_NEAR(model.mean(0), all.mean(0), 1e-8);
  EXPECT_LE((model.covariance - all.covariance).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Gaussian, says_why_it_cannot_be_updated) {
  const Matrix x = spoilt(60, 10);
  const auto refusal = [&](const GaussianModel& model) {
    return message_of([&] { updated(model, MemoryRows(x), {}); });
  };
  EXPECT_NE(refusal(fit(Gaussian{.estimate = GaussianEstimate::mcd, .restarts = 20}, x)).find("mcd looks at single"),
            std::string::npos);
  GaussianModel old = fit(Gaussian{}, x);
  old.weight = 0;
  EXPECT_NO_THROW(old.check());
  EXPECT_TRUE(certify(old, MemoryRows(x), {}).holds());
  EXPECT_NE(refusal(old).find("did not keep the weight of the rows"), std::string::npos);
  const Matrix narrow = x.leftCols(1);
  EXPECT_NE(message_of([&] { updated(fit(Gaussian{}, x), MemoryRows(narrow), {}); }).find("columns of the model"),
            std::string::npos);
}

TEST(Gaussian, refuses_what_leaves_no_density) {
  Matrix x = spoilt(40, 0);
  EXPECT_NE(message_of([&] { fit(Gaussian{.support = 0.7}, x); }).find("estimate mcd"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Gaussian{.estimate = GaussianEstimate::mcd}, x, {.weights = Vector::Ones(40)});
            }).find("weights"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Gaussian{.estimate = GaussianEstimate::mcd}, Matrix(x.topRows(5)));
            }).find("at least 6 rows"),
            std::string::npos);
  Matrix flat = x;
  for (Index i = 0; i < 30; ++i) flat(i, 1) = 2 * flat(i, 0);
  EXPECT_NE(message_of([&] { fit(Gaussian{.estimate = GaussianEstimate::mcd}, flat); }).find("lie in a plane"),
            std::string::npos);
  x.col(1) = 3 * x.col(0);
  EXPECT_NE(message_of([&] { fit(Gaussian{}, x); }).find("linearly dependent"), std::string::npos);
  x.col(1).setConstant(2);
  EXPECT_NE(message_of([&] { fit(Gaussian{}, x); }).find("'x2'"), std::string::npos);
}

}  // namespace
}  // namespace lemma
