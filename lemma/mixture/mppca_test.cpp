// lemma/mixture/mppca_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/mixture/gmm.hpp>
#include <lemma/mixture/mppca.hpp>
#include <lemma/mixture/ppca.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Two lines in five columns, far from each other and turned.
Matrix two_lines(Index n) {
  const Matrix z = normal_matrix(n, 1, 1), e = normal_matrix(n, 5, 2);
  const Matrix w{{2.0, 1.0, 0.0, -1.0, 0.5}, {0.0, -1.0, 2.0, 1.0, 1.0}};
  Matrix x = 0.4 * e;
  for (Index i = 0; i < n; ++i) {
    x.row(i) += z(i, 0) * w.row(i % 2);
    x(i, 4) += i % 2 == 0 ? 4 : -4;
  }
  return x;
}

bool never_falls(const Vector& trace) {
  for (Index i = 0; i + 1 < trace.size(); ++i)
    if (trace(i + 1) < trace(i) - 1e-12 * (std::abs(trace(i)) + 1)) return false;
  return true;
}

TEST(Mppca, of_one_component_is_ppca) {
  const Matrix x = two_lines(200);
  const MppcaModel model = fit(Mppca{.components = {1}, .dimensions = 2}, x);
  const PpcaModel same = fit(Ppca{.components = 2}, x);
  EXPECT_NEAR(model.log_likelihood, same.log_likelihood, 1e-7);
  EXPECT_NEAR(model.noise(0), same.noise, 1e-9);
  EXPECT_LE((model.loadings - same.loadings).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_EQ(model.parameters, same.parameters);
}

TEST(Mppca, with_all_directions_but_one_is_gmm_whose_least_direction_is_its_noise) {
  // Of two columns one direction and noise are every covariance.
  const Matrix x = two_lines(300)(Eigen::all, std::vector<Index>{0, 4});
  const MppcaModel model = fit(Mppca{.components = {2}}, x);
  const GmmModel same = fit(Gmm{.components = {2}}, x);
  EXPECT_NEAR(model.log_likelihood, same.log_likelihood, 1e-4);
}

TEST(Mppca, finds_lines_and_tells_their_rows_apart) {
  const Matrix x = two_lines(600);
  const MppcaModel model = fit(Mppca{.components = {2}}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(never_falls(model.trace));
  for (Index k = 0; k < 2; ++k) EXPECT_NEAR(model.noise(k), 0.16, 0.02);
  const Labels label = model.assign(x);
  Index wrong = 0;
  for (std::size_t i = 0; i < 600; ++i) wrong += label[i] != label[i % 2];
  EXPECT_LT(wrong, 6);
  EXPECT_NEAR(model.log_density(x).sum(), model.log_likelihood, 1e-8 * std::abs(model.log_likelihood));
  EXPECT_EQ(fit(Mppca{.components = {1, 2, 3}, .tolerance = 1e-3}, x).k(), 2);
  const MppcaModel fast = fit(Mppca{.components = {2}, .solver = em::Solver::squarem}, x);
  EXPECT_TRUE(fast.certificate.holds()) << fast.certificate.message;
  EXPECT_NEAR(fast.log_likelihood, model.log_likelihood, 1e-3);
}

TEST(Mppca, takes_a_weight_of_k_for_k_copies_and_draws_its_rows) {
  const Matrix x = two_lines(120);
  Vector w(120);
  std::vector<Index> copies;
  for (Index i = 0; i < 120; ++i) {
    w(i) = static_cast<double>(i % 3);
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const Mppca spec{.components = {2}, .tolerance = 1e-9};
  const MppcaModel a = fit(spec, x, {.weights = w}), b = fit(spec, Matrix(x(copies, Eigen::all)));
  EXPECT_NEAR(a.log_likelihood, b.log_likelihood, 1e-6);
  const Matrix drawn = a.draw(20000, 4).x;
  Vector mean = Vector::Zero(5);
  for (Index k = 0; k < 2; ++k) mean += a.weights(k) * a.means.row(k).transpose();
  EXPECT_LE((drawn.colwise().mean().transpose() - mean).cwiseAbs().maxCoeff(), 0.15);
}

TEST(Mppca, rows_given_to_one_component_alone_are_the_natural_wrong_algorithm_and_fail_the_certificate) {
  const Matrix x = two_lines(400).leftCols(3);  // they cross
  MppcaModel model = fit(Mppca{.components = {2}}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  for (int round = 0; round < 50; ++round) {
    const Labels label = model.assign(x);
    for (Index c = 0; c < 2; ++c) {
      std::vector<Index> own;
      for (Index i = 0; i < 400; ++i)
        if (label[static_cast<std::size_t>(i)] == c) own.push_back(i);
      const PpcaModel part = fit(Ppca{.components = 1}, Matrix(x(own, Eigen::all)));
      model.means.row(c) = part.mean.transpose();
      model.loadings.middleRows(c * 3, 3) = part.loadings;
      model.noise(c) = part.noise;
      model.weights(c) = static_cast<double>(own.size()) / 400;
    }
  }
  model.log_likelihood = model.log_density(x).sum();
  model.aic = -2 * model.log_likelihood + 2 * model.parameters;
  model.bic = -2 * model.log_likelihood + model.parameters * std::log(400.0);
  model.tried_bic(0) = model.bic;
  model.icl = model.bic - 2 * model.memberships(x).rowwise().maxCoeff().array().log().sum();
  model.iterations = 1;
  model.trace = Vector::Constant(1, model.log_likelihood);
  const Certificate found = certify(model, MemoryRows(x), {});
  EXPECT_FALSE(found.holds()) << found.message;
  EXPECT_GT(found.value, 1e-4);
}

TEST(Mppca, takes_dependent_columns_and_refuses_what_leaves_no_noise) {
  Matrix x = two_lines(100);
  x.col(3) = x.col(0) + x.col(1);
  EXPECT_NO_THROW(fit(Mppca{.components = {2}}, x));
  EXPECT_NE(message_of([&] { fit(Mppca{.dimensions = 5}, x); }).find("are 5 columns"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Mppca{.components = {3}}, Matrix(Matrix(x.topRows(2)).replicate(4, 1)));
            }).find("2 different rows"),
            std::string::npos);
  x.col(2).setConstant(1);
  EXPECT_NE(message_of([&] { fit(Mppca{}, x); }).find("'x3' has the same value"), std::string::npos);
}

}  // namespace
}  // namespace lemma
