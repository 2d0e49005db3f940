// lemma/mixture/variational_gmm_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>
#include <lemma/mixture/variational_gmm/beliefs.hpp>
#include <lemma/model/fit.hpp>
#include <numbers>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix faithful() {
  const Table table = dataset("faithful");
  Matrix x(table.rows(), 2);
  for (const auto& [j, name] : {std::pair{0, "eruptions"}, {1, "waiting"}}) {
    const auto& values = table.column(name).numbers().values;
    x.col(j) = Eigen::Map<const Vector>(values.data(), x.rows());
  }
  return x;
}

/// Three clouds in two columns, six standard deviations apart.
Matrix clouds(Index rows, std::uint64_t seed = 1) {
  Matrix x = normal_matrix(rows, 2, seed, 2);
  for (Index i = 0; i < rows; ++i) {
    if (i % 3 > 0) x(i, 0) += 6;
    if (i % 3 > 1) x(i, 1) += 6;
  }
  return x;
}

/// log evidence of numbers that are one Gaussian about which the prior is m₀ = 0, β₀, ν₀, Ψ₀: by an integral over precision and mean.
double evidence_by_integral(const std::vector<double>& x, double beta, double nu, double psi) {
  double total = 0;
  constexpr double kStep = 0.02;
  for (double log_l = -12; log_l < 8; log_l += kStep) {
    const double l = std::exp(log_l);
    const double wishart = 0.5 * nu * std::log(psi / 2) - log_gamma(0.5 * nu) + (0.5 * nu - 1) * log_l - 0.5 * psi * l;
    for (double m = -8; m < 8; m += kStep) {
      double log_p = wishart + 0.5 * std::log(beta * l / (2 * std::numbers::pi)) - 0.5 * beta * l * m * m;
      for (const double each : x)
        log_p += 0.5 * std::log(l / (2 * std::numbers::pi)) - 0.5 * l * (each - m) * (each - m);
      total += std::exp(log_p + log_l) * kStep * kStep;
    }
  }
  return std::log(total);
}

TEST(VariationalGmm, OfOneGaussianTheBoundIsTheEvidence) {
  const Matrix x{{-1.2}, {0.3}, {0.5}, {0.4}};
  const auto m = fit(VariationalGmm{.components = 1, .strength = 0.5, .degrees = 3, .size = 2}, x);
  const double s = (x.array() - x.mean()).square().mean();
  std::vector<double> centred;
  for (Index i = 0; i < 4; ++i) centred.push_back(x(i, 0) - x.mean());
  EXPECT_NEAR(m.lower_bound, evidence_by_integral(centred, 0.5, 3, 2 * s), 1e-6);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

/// The evidence of two components is a sum over all ways to part the rows.
TEST(VariationalGmm, OfOneGaussianEveryRowIsItsAndARowWithoutANumberOfNone) {
  Matrix x = clouds(40);
  const auto model = fit(VariationalGmm{.components = 1}, x);
  EXPECT_EQ(model.assign(x), Labels(40, 0));
  x(3, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(model.assign(x)[3], -1);
}

TEST(VariationalGmm, OfTwoGaussiansTheBoundIsBelowTheEvidenceAndNear) {
  const std::vector<double> x{-2, -1.8, 1.7, 2.1};
  const double a0 = 0.5, beta = 0.2, nu = 2;
  const Vector values{{-2, -1.8, 1.7, 2.1}};
  const double mean = values.mean(), psi = (values.array() - mean).square().mean();
  double total = 0;
  for (int parts = 0; parts < 16; ++parts) {
    std::vector<double> of[2];
    for (int i = 0; i < 4; ++i) of[parts >> i & 1].push_back(x[static_cast<std::size_t>(i)] - mean);
    double log_p = log_gamma(2 * a0) - log_gamma(2 * a0 + 4);
    for (const auto& part : of)
      log_p += log_gamma(a0 + static_cast<double>(part.size())) - log_gamma(a0) +
               (part.empty() ? 0 : evidence_by_integral(part, beta, nu, psi));
    total += std::exp(log_p);
  }
  const auto m =
      fit(VariationalGmm{.components = 2, .concentration = a0, .strength = beta, .degrees = nu}, Matrix(values));
  EXPECT_LE(m.lower_bound, std::log(total));
  EXPECT_GE(m.lower_bound, std::log(total) - 2);
}

TEST(VariationalGmm, ComponentsThatAreNotNeededSwitchThemselvesOff) {
  const Matrix x = clouds(300);
  const auto m = fit(VariationalGmm{.components = 9}, x);
  EXPECT_EQ(m.alive, 3);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  for (Index k = 0; k < 3; ++k) EXPECT_NEAR(m.rows(k), 100, 3);
  for (Index k = 3; k < 9; ++k) EXPECT_LT(m.rows(k), 0.1);
  EXPECT_EQ(fit(VariationalGmm{.components = 6}, faithful()).alive, 2);
}

TEST(VariationalGmm, TheBoundNeverFallsAndIsGreatestForAsManyAsThereAre) {
  const Matrix x = clouds(150);
  std::vector<double> bound;
  for (const int k : {1, 2, 3}) {
    const auto m = fit(VariationalGmm{.components = k, .concentration = 1}, x);
    for (Index i = 0; i + 1 < m.trace.size(); ++i) EXPECT_GE(m.trace(i + 1), m.trace(i) - 1e-9 * std::abs(m.trace(i)));
    bound.push_back(m.lower_bound);
  }
  EXPECT_LT(bound[0], bound[1]);
  EXPECT_LT(bound[1], bound[2]);
}

TEST(VariationalGmm, OtherUnitsAndDirectionsOfTheColumnsChangeNoMembership) {
  const Matrix x = faithful(), turn{{2, 0.3}, {-100, 5}};
  const Matrix other = (x * turn).rowwise() + Eigen::RowVector2d(1000, -5);
  const auto a = fit(VariationalGmm{.components = 4, .restarts = 1, .tolerance = 1e-8}, x);
  const auto b = fit(VariationalGmm{.components = 4, .restarts = 1, .tolerance = 1e-8}, other);
  ASSERT_EQ(a.alive, b.alive);
  const double log_det = std::log(40.0);
  EXPECT_NEAR(a.lower_bound, b.lower_bound + 272 * log_det, 1e-5);
  EXPECT_LT((a.log_density(x).array() - b.log_density(other).array() - log_det).abs().maxCoeff(), 1e-4);
}

TEST(VariationalGmm, ADensityOfOneColumnIntegratesToOneAndDrawsFollowIt) {
  Matrix x = normal_matrix(60, 1, 5);
  for (Index i = 0; i < 30; ++i) x(i, 0) += 5;
  const auto m = fit(VariationalGmm{.components = 3}, x);
  constexpr Index kPoints = 40001;
  Matrix grid(kPoints, 1);
  for (Index i = 0; i < kPoints; ++i) grid(i, 0) = -200 + 0.01 * static_cast<double>(i);
  const Vector density = m.log_density(grid).array().exp();
  EXPECT_NEAR(density.sum() * 0.01, 1, 1e-3);
  const Matrix drawn = m.draw(20000, 3).x;
  double below = 0;
  for (Index i = 0; i < kPoints && grid(i, 0) < 2.5; ++i) below += 0.01 * density(i);
  EXPECT_NEAR((drawn.array() < 2.5).cast<double>().mean(), below, 4 * 0.5 / std::sqrt(20000.0));
}

/// The model of the natural wrong algorithm: EM with the expected parameters in the place of expectations.
VariationalGmmModel plugged_in(const VariationalGmmModel& right, const Matrix& x) {
  VariationalGmmModel out = right;
  const auto prior = variational::prior_of(right.spec, right.centre, right.spread);
  variational::Beliefs at = variational::beliefs_of(right);
  for (int i = 0; i < 3000; ++i) {
    Matrix r(x.rows(), prior.components);
    for (Index k = 0; k < prior.components; ++k) {
      const Matrix u = *cholesky(at.scales.middleRows(k * x.cols(), x.cols()) / (prior.degrees + at.rows(k)));
      const Matrix d = (x.rowwise() - prior.centre.transpose()).rowwise() - at.means.row(k);
      r.col(k) = (std::log(prior.concentration + at.rows(k)) - 0.5 * log_determinant(u) -
                  0.5 * divide_by_upper(d, u).rowwise().squaredNorm().array());
    }
    softmax_rows(r);
    variational::Sums sums(at.means);
    sums.add(x, prior.centre, r);
    at = variational::updated(prior, sums);
  }
  out.rows = at.rows;
  out.means = at.means.rowwise() + prior.centre.transpose();
  out.covariances = at.scales;
  for (Index k = 0; k < prior.components; ++k)
    out.covariances.middleRows(k * x.cols(), x.cols()) /= prior.degrees + at.rows(k);
  out.weights = (at.rows.array() + prior.concentration) / (150 + 1.0);
  out.alive = variational::alive_of(at.rows);
  out.lower_bound = variational::step(MemoryRows(x), prior, at, {}).bound;
  out.trace = Vector::Constant(1, out.lower_bound);
  out.iterations = 1;
  return out;
}

TEST(VariationalGmm, TheNaturalWrongBeliefsFailTheCertificate) {
  const Matrix x = clouds(150);
  const MemoryRows rows(x);
  const auto right = fit(Valid<VariationalGmm>(VariationalGmm{.components = 4}), rows, {});
  EXPECT_TRUE(certify(right, rows, {}).holds());
  const auto wrong = plugged_in(right, x);
  wrong.check();
  EXPECT_FALSE(certify(wrong, rows, {}).holds());
  const auto soon =
      fit(Valid<VariationalGmm>(VariationalGmm{.components = 4, .restarts = 1, .max_iterations = 2}), rows, {});
  EXPECT_FALSE(soon.certificate.holds());
  auto fell = right, free = right, prior = right, plain = right;
  fell.trace(0) = fell.lower_bound + 1;
  const auto p = variational::prior_of(right.spec, right.centre, right.spread);
  free.lower_bound += variational::Asker(p, variational::beliefs_of(right)).divergence();  // what beliefs cost left out
  free.trace(free.trace.size() - 1) = free.lower_bound;
  prior.spec.strength = 1.5;
  for (Index k = 0; k < 4; ++k)  // maximum likelihood's covariances: no prior in them
    plain.covariances.middleRows(2 * k, 2) *= (2 + plain.rows(k)) / std::max(plain.rows(k), 1.0);
  for (const auto& each : {fell, free, prior, plain}) EXPECT_FALSE(certify(each, rows, {}).holds());
}

TEST(VariationalGmm, WhatCannotBeIsSaid) {
  const Matrix x = clouds(30), four = x.topRows(4);
  EXPECT_NE(message_of([&] { fit(VariationalGmm{.components = 3, .degrees = 1}, x); }).find("must be above 1"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(VariationalGmm{.components = 5}, four); }).find("4 different rows"),
            std::string::npos);
  Matrix constant = x;
  constant.col(1).setConstant(3);
  EXPECT_NE(message_of([&] { fit(VariationalGmm{.components = 2}, constant); }).find("same value"), std::string::npos);
}

}  // namespace
}  // namespace lemma
