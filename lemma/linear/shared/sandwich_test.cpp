// lemma/linear/shared/sandwich_test.cpp: robust standard errors, against the formula written out and against R's sandwich.
#include <gtest/gtest.h>
#include <lemma/data/datasets.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/linear/ols/data_test.hpp>
#include <lemma/linear/shared/golden_test.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/model/fit.hpp>
#include <map>
#include <tests/copied_rows.hpp>

namespace lemma {
namespace {

using namespace ols_test;
using E = StandardErrors;
constexpr E kRobust[] = {E::hc0, E::hc1, E::hc2, E::hc3, E::cluster};

Matrix inverse_of(const Matrix& a) {
  const Matrix root = *cholesky(a), half = solve_upper_transposed(root, Matrix::Identity(a.rows(), a.cols()));
  return half.transpose() * half;
}

/// Rows with weights, precisions and clusters.
struct Weighed : Data {
  std::vector<double> weight, precision;
  std::vector<std::uint64_t> cluster;
  explicit Weighed(Index n, Index p = 3) : Data(n, p) {
    for (Index i = 0; i < n; ++i) {
      weight.push_back(static_cast<double>(i % 4));  // some take no part
      precision.push_back(0.5 + static_cast<double>(i % 7) / 5);
      cluster.push_back(static_cast<std::uint64_t>(i * i % 11 + 1000));
      y[static_cast<std::size_t>(i)] *= 1 + 0.5 * std::abs(x(i, 0));  // unequal variances
    }
  }
  MemoryRows rows(bool clusters) const {
    MemoryRows out = rows_of(x, y);
    out.weights(weight).precision(precision);
    if (clusters) out.clusters(cluster);
    return out;
  }
};

/// A (Σ ω x xᵀ) A with every row of weight k written k times: the formula as it stands.
Matrix by_the_formula(const Weighed& data, E errors, bool intercept) {
  const Index p = data.x.cols() + (intercept ? 1 : 0);
  std::vector<Index> which;
  for (Index i = 0; i < data.x.rows(); ++i)
    for (double k = 0; k < data.weight[static_cast<std::size_t>(i)]; ++k) which.push_back(i);
  const auto n = static_cast<Index>(which.size());
  Matrix x(n, p);
  Vector y(n), w(n);
  for (Index i = 0; i < n; ++i) {
    const auto from = which[static_cast<std::size_t>(i)];
    if (intercept) x(i, 0) = 1;
    x.row(i).tail(data.x.cols()) = data.x.row(from);
    y(i) = data.y[static_cast<std::size_t>(from)];
    w(i) = data.precision[static_cast<std::size_t>(from)];
  }
  const Matrix a = inverse_of(x.transpose() * w.asDiagonal() * x);
  const Vector b = a * (x.transpose() * w.asDiagonal() * y), r = y - x * b;
  Matrix middle = Matrix::Zero(p, p);
  const double rows = static_cast<double>(n), free = rows - static_cast<double>(p);
  if (errors == E::cluster) {
    std::map<std::uint64_t, Vector> sums;
    for (Index i = 0; i < n; ++i) {
      auto [at, is_new] =
          sums.try_emplace(data.cluster[static_cast<std::size_t>(which[static_cast<std::size_t>(i)])], Vector::Zero(p));
      at->second += w(i) * r(i) * x.row(i).transpose();
    }
    for (const auto& [id, sum] : sums) middle += sum * sum.transpose();
    const auto g = static_cast<double>(sums.size());
    return g / (g - 1) * (rows - 1) / free * (a * middle * a);
  }
  for (Index i = 0; i < n; ++i) {
    const double h = w(i) * x.row(i).dot(a * x.row(i).transpose());
    double omega = w(i) * w(i) * r(i) * r(i);
    if (errors == E::hc1) omega *= rows / free;
    if (errors == E::hc2) omega /= 1 - h;
    if (errors == E::hc3) omega /= (1 - h) * (1 - h);
    middle += omega * x.row(i).transpose() * x.row(i);
  }
  return a * middle * a;
}

TEST(Sandwich, IsTheFormulaWrittenOut) {
  const Weighed data(5000);
  for (const E errors : kRobust)
    for (const bool intercept : {true, false}) {
      const MemoryRows rows = data.rows(errors == E::cluster);
      const auto m = fit(Ols{.intercept = intercept, .errors = errors}, rows, {});
      const Matrix expected = by_the_formula(data, errors, intercept);
      EXPECT_LT((m.covariance - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff())
          << name_of(errors) << intercept;
      EXPECT_EQ(m.clusters, errors == E::cluster ? 6 : 0);  // squares modulo 11
      const auto certificate = certify(m, rows, {});
      EXPECT_TRUE(certificate.holds()) << name_of(errors) << ": " << certificate.message;
    }
}

TEST(Sandwich, IsRsSandwichOfLeastSquares) {
  const Golden golden("robust_boston");
  const Table boston = dataset("boston");
  const auto& dis = boston.column("dis").numbers().values;
  const auto& rad = boston.column("rad").numbers().values;
  for (const E errors : kRobust)
    for (const bool weighted : {false, true}) {
      CallOptions options;
      if (weighted) options.precision = Eigen::Map<const Vector>(dis.data(), 506).cwiseInverse();
      if (errors == E::cluster) options.clusters.assign(rad.begin(), rad.end());
      const auto m = fit(Ols{.errors = errors}, formula("medv ~ ."), boston, options);
      EXPECT_TRUE(golden.agrees((weighted ? "weighted_se_" : "se_") + std::string(name_of(errors)),
                                with(m.intercept_std_error, m.std_errors)));
      if (errors != E::hc3 || weighted) continue;
      EXPECT_TRUE(golden.agrees("covariance_HC3_row_lstat", Vector(m.covariance.row(13))));
      EXPECT_TRUE(golden.agrees("wald_f_HC3", m.f_statistic));
      EXPECT_TRUE(golden.agrees("p_HC3", with(m.intercept_p, m.p)));
    }
}

TEST(Sandwich, IsRsSandwichOfGeneralisedLinearModels) {
  const Golden golden("robust_pima");
  const Table pima = dataset("pima_train");
  const auto& npreg = pima.column("npreg").numbers().values;
  for (const E errors : kRobust) {
    CallOptions options;
    if (errors == E::cluster) options.clusters.assign(npreg.begin(), npreg.end());
    const auto m = fit(Glm{.errors = errors}, formula("type ~ ."), pima, options);
    EXPECT_TRUE(golden.agrees("se_" + std::string(name_of(errors)), with(m.intercept_std_error, m.std_errors)));
  }
  CallOptions by_type;
  for (const auto code : pima.column("type").categories().codes)
    by_type.clusters.push_back(static_cast<std::uint64_t>(code));
  const Formula counts = formula("npreg ~ bmi + age");
  const auto plain = fit(Glm{.family = GlmFamily::poisson, .errors = E::hc0}, counts, pima);
  EXPECT_TRUE(golden.agrees("poisson_se_HC0", with(plain.intercept_std_error, plain.std_errors)));
  const auto both = fit(Glm{.family = GlmFamily::poisson}, counts, pima, by_type);  // clusters alone ask for them
  EXPECT_EQ(both.errors(), E::cluster);
  EXPECT_TRUE(golden.agrees("poisson_se_cluster", with(both.intercept_std_error, both.std_errors)));
  const auto gamma =
      fit(Glm{.family = GlmFamily::gamma, .link = GlmLink::log, .errors = E::hc3}, formula("glu ~ bmi + age"), pima);
  EXPECT_TRUE(golden.agrees("gamma_se_HC3", with(gamma.intercept_std_error, gamma.std_errors)));
}

TEST(Sandwich, AGaussianModelHasTheErrorsOfLeastSquares) {
  const Weighed data(400);
  for (const E errors : {E::hc0, E::hc1, E::hc2, E::hc3}) {
    const MemoryRows rows = data.rows(false);
    const auto ols = fit(Ols{.errors = errors}, rows, {});
    const auto glm = fit(Glm{.errors = errors}, rows, {});
    expect_near(glm.std_errors, ols.std_errors, 1e-10, "std_errors");
    expect_near(glm.p, ols.p, 1e-9, "p");
    const auto certificate = certify(glm, rows, {});
    EXPECT_TRUE(certificate.holds()) << certificate.message;
  }
}

TEST(Sandwich, HasTheSameBitsFromAFileAndOnAnyNumberOfThreads) {
  const Weighed data(9000);
  for (const E errors : {E::hc3, E::cluster}) {
    const MemoryRows rows = data.rows(errors == E::cluster);
    const CopiedRows streamed(rows);
    FitOptions one, three;
    one.threads = 1;
    three.threads = 3;
    const auto a = fit(Ols{.errors = errors}, rows, one), b = fit(Ols{.errors = errors}, streamed, three);
    EXPECT_TRUE(same(a, b)) << name_of(errors);
  }
}

TEST(Sandwich, ALargeMeanCostsNoDigits) {
  Weighed data(3000, 2);
  const auto near = fit(Ols{.errors = E::hc2}, data.rows(false), {});
  data.x.array() += 1048576;  // a power of two: the columns lose few bits
  const auto far = fit(Ols{.errors = E::hc2}, data.rows(false), {});
  expect_near(far.std_errors, near.std_errors, 1e-9, "std_errors");
  const Matrix few = data.x.topRows(5);
  const auto interval = far.interval(few, IntervalKind::confidence, 0.95);
  const Matrix back = few.array() - 1048576;
  const auto expected = near.interval(back, IntervalKind::confidence, 0.95);
  expect_near(interval.upper - interval.lower, expected.upper - expected.lower, 1e-8, "width");
}

TEST(Sandwich, IntervalsOfMeansAndOfCoefficientsAreRobustToo) {
  const Weighed data(200, 1);
  const MemoryRows rows = data.rows(true);
  const auto m = fit(Ols{.interval = PrintedInterval::wald, .level = 0.9}, rows, {});
  const double reach = t_upper_quantile(0.05, static_cast<double>(m.clusters) - 1);
  EXPECT_DOUBLE_EQ(m.upper(0), m.coefficients(0) + reach * m.std_errors(0));
  Matrix at(1, 1);
  at << 0.7;
  const Vector row{{1, 0.7}};
  const auto found = m.interval(at, IntervalKind::confidence, 0.9);
  EXPECT_NEAR((found.upper(0) - found.lower(0)) / 2, reach * std::sqrt(row.dot(m.covariance * row)), 1e-12);
  EXPECT_NE(message_of([&] { m.interval(at, IntervalKind::prediction, 0.9); }).find("--errors classical"),
            std::string::npos);
  const std::string text = m.summary({{"x"}, {}, "y"});
  EXPECT_NE(text.find("5 %"), std::string::npos) << text;
  EXPECT_NE(text.find("Standard errors: by 6 clusters; t on 5 degrees of freedom"), std::string::npos) << text;
}

TEST(Sandwich, SaysWhatIsMissing) {
  const Weighed data(60);
  EXPECT_NE(message_of([&] { fit(Ols{.errors = E::cluster}, data.rows(false), {}); }).find("--cluster"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Ols{.errors = E::hc1}, data.rows(true), {}); }).find("errors HC1"), std::string::npos);
  EXPECT_NE(message_of([&] {
              Valid<Glm>(Glm{.errors = E::hc1, .interval = CoefficientInterval::profile});
            }).find("--interval wald"),
            std::string::npos);
  Matrix lonely = data.x;
  lonely.col(2).setZero();
  lonely(3, 2) = 1;  // one row of leverage 1
  const auto m = fit(Ols{.errors = E::hc3}, rows_of(lonely, data.y), {});
  EXPECT_TRUE(m.std_errors.array().isNaN().all());
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_NE(m.warnings[0].find("1 row alone determines its fit"), std::string::npos) << m.warnings[0];
  const std::vector<std::uint64_t> all_one(60, 7);
  MemoryRows one = rows_of(data.x, data.y);
  one.clusters(all_one);
  EXPECT_NE(fit(Ols{}, one, {}).warnings.at(0).find("one cluster only"), std::string::npos);
}

/// Robust errors taken for classical ones, and the other way round, do not pass.
TEST(Sandwich, TheOtherErrorsFailTheCertificate) {
  const Weighed data(300);
  const MemoryRows rows = data.rows(false);
  auto robust = fit(Ols{.errors = E::hc3}, rows, {});
  const auto other = fit(Ols{.errors = E::hc2}, rows, {});
  robust.scatter = other.scatter;
  EXPECT_EQ(certify(robust, rows, {}).kind, "difference of scatter");
  auto glm = fit(Glm{.errors = E::hc3}, rows, {});
  glm.scatter(0, 0) *= 1.001;
  EXPECT_EQ(certify(glm, rows, {}).kind, "difference of scatter");
}

}  // namespace
}  // namespace lemma
