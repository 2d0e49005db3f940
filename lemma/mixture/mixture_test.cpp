// lemma/mixture/mixture_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/mixture/gmm.hpp>
#include <lemma/mixture/mixture.hpp>
#include <lemma/mixture/mixture/products.hpp>
#include <lemma/model/fit.hpp>
#include <numbers>

#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix iris() {
  const Table table = dataset("iris");
  Matrix x(150, 4);
  Index j = 0;
  for (const char* name : {"sepal_length", "sepal_width", "petal_length", "petal_width"}) {
    const auto& values = table.column(name).numbers().values;
    x.col(j++) = Eigen::Map<const Vector>(values.data(), 150);
  }
  return x;
}

bool never_falls(const Vector& trace) {
  for (Index i = 0; i + 1 < trace.size(); ++i)
    if (trace(i + 1) < trace(i) - 1e-12 * (std::abs(trace(i)) + 1)) return false;
  return true;
}

double poisson(double rate, RandomStream& random) {
  double count = 0;
  for (double left = std::exp(-rate), p = random.uniform(); p > left; p *= random.uniform()) ++count;
  return count;
}

/// Two sources: yes and no, counts, waiting times, numbers.
Matrix two_sources(Index n) {
  Matrix x(n, 4);
  for (Index i = 0; i < n; ++i) {
    RandomStream random(6, static_cast<std::uint64_t>(i));
    const bool second = i % 3 == 0;
    x(i, 0) = random.uniform() < (second ? 0.9 : 0.2) ? 1 : 0;
    x(i, 1) = poisson(second ? 9 : 2, random);
    x(i, 2) = -(second ? 0.5 : 3) * std::log(1 - random.uniform());
    x(i, 3) = (second ? 4 : 0) + random.normal();
  }
  return x;
}
const std::vector<std::string> kFour{"bernoulli", "poisson", "exponential", "gaussian"};

// ---- reference ----

TEST(Mixture, goes_from_the_species_as_em_does_step_by_step) {
  const Golden golden("em_iris_from_species");
  const Value& known = golden.value("diag");
  const Matrix x = iris();
  const MemoryRows rows(x);
  auto ground = std::make_shared<products::Ground>(
      *products::survey(Mixture{.kinds = {"gaussian", "gaussian", "gaussian", "gaussian"}}, rows, {}));
  ground->floor = 0;
  const auto any = products::start_of(3, rows, ground, 1, 0, {});
  std::vector<double> sums(static_cast<std::size_t>(any.components->sums_size()));
  Matrix r = Matrix::Zero(150, 3);
  for (Index i = 0; i < 150; ++i) r(i, i / 50) = 1;
  any.components->add(x, r, sums);
  const em::Mixture start{Vector::Constant(3, 1.0 / 3), any.components->maximised(Vector::Constant(3, 50), sums)};
  const auto steps = em::run(rows, start, {20, 0}, {}).trace;
  const Vector after = known.at("loglik_after_mstep_1_2_3_5_10_20").as_vector();
  for (const auto& [place, step] : {std::pair{0, 1}, {1, 2}, {2, 3}, {3, 5}, {4, 10}, {5, 20}})
    EXPECT_NEAR(steps.at(static_cast<std::size_t>(step - 1)), after(place), 1e-8 * std::abs(after(place))) << step;
  const auto run = em::run(rows, start, {20000, 1e-9, em::Solver::squarem}, {});
  EXPECT_NEAR(run.log_likelihood, known.at("loglik_converged").as_double(), 1e-4);
  EXPECT_LE((static_cast<const products::Products&>(*run.mixture.components).values() - known.at("means").as_matrix())
                .cwiseAbs()
                .maxCoeff(),
            1e-4);
}

TEST(Mixture, of_gaussian_columns_is_gmm_with_diagonal_covariances) {
  const Matrix x = iris();
  const MixtureModel model = fit(Mixture{.components = {2}, .restarts = 10}, x);
  const GmmModel same = fit(Gmm{.components = {2}, .covariance = Covariance::diagonal, .restarts = 10}, x);
  EXPECT_NEAR(model.log_likelihood, same.log_likelihood, 1e-4);
  EXPECT_EQ(model.parameters, same.parameters);
  EXPECT_NEAR(model.icl, same.icl, 1e-2);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

// ---- properties ----

TEST(Mixture, finds_sources_of_mixed_columns) {
  const Matrix x = two_sources(1500);
  const MixtureModel model = fit(Mixture{.components = {2}, .kinds = kFour}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(never_falls(model.trace));
  const Index second = model.values(0, 3) > model.values(1, 3) ? 0 : 1, first = 1 - second;
  EXPECT_NEAR(model.weights(second), 1.0 / 3, 0.03);
  EXPECT_NEAR(model.values(second, 0), 0.9, 0.03);
  EXPECT_NEAR(model.values(first, 0), 0.2, 0.03);
  EXPECT_NEAR(model.values(second, 1), 9, 0.5);
  EXPECT_NEAR(model.values(first, 1), 2, 0.15);
  EXPECT_NEAR(model.values(second, 2), 0.5, 0.06);
  EXPECT_NEAR(model.values(first, 2), 3, 0.25);
  EXPECT_NEAR(model.values(second, 3), 4, 0.15);
  EXPECT_EQ(model.parameters, 1 + 2 * 5);
  EXPECT_EQ(fit(Mixture{.components = {1, 2, 3}, .kinds = kFour, .restarts = 2, .tolerance = 1e-3}, x).k(), 2);
}

TEST(Mixture, says_the_density_of_its_formula) {
  const Matrix x = two_sources(300);
  const MixtureModel model = fit(Mixture{.components = {2}, .kinds = kFour}, x);
  const Vector said = model.log_density(x);
  for (const Index i : {0, 1, 50}) {
    double sum = 0;
    for (Index k = 0; k < 2; ++k) {
      const double p = model.values(k, 0), rate = model.values(k, 1), scale = model.values(k, 2),
                   v = model.variances(k, 3);
      const double d = x(i, 3) - model.values(k, 3);
      sum += model.weights(k) * (x(i, 0) > 0 ? p : 1 - p) * std::exp(-rate) * std::pow(rate, x(i, 1)) /
             std::tgamma(x(i, 1) + 1) * std::exp(-x(i, 2) / scale) / scale * std::exp(-0.5 * d * d / v) /
             std::sqrt(2 * std::numbers::pi * v);
    }
    EXPECT_NEAR(said(i), std::log(sum), 1e-10);
  }
  EXPECT_NEAR(said.sum(), model.log_likelihood, 1e-8 * std::abs(model.log_likelihood));
  Matrix gap = x.topRows(1);
  gap(0, 3) = std::nan("");
  EXPECT_GT(model.log_density(gap)(0), said(0));  // one factor less, here below 1
}

TEST(Mixture, finds_latent_classes_and_leaves_gaps_out) {
  Matrix x(2000, 3);
  MemoryRows rows(x);
  rows.levels = {{"a", "b", "c"}, {"no", "yes"}, {"no", "yes"}};
  for (Index i = 0; i < 2000; ++i) {
    RandomStream random(9, static_cast<std::uint64_t>(i));
    const bool second = i % 2 == 0;
    const double u = random.uniform();
    x(i, 0) = u < (second ? 0.8 : 0.1) ? 0 : u < 0.9 ? 1 : 2;
    for (const Index j : {1, 2}) x(i, j) = random.uniform() < (second ? 0.9 : 0.15) ? 1 : 0;
    if (i % 7 == 0) x(i, 1 + i % 2) = std::nan("");
  }
  const MixtureModel model = fit(Valid<Mixture>(Mixture{.components = {2}}), rows, {});
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_EQ(model.spec.kinds, (std::vector<std::string>{"categorical", "categorical", "categorical"}));
  const Index second = model.probabilities(0, 0) > model.probabilities(1, 0) ? 0 : 1;
  EXPECT_NEAR(model.probabilities(second, 0), 0.8, 0.06);
  EXPECT_NEAR(model.probabilities(1 - second, 0), 0.1, 0.06);
  EXPECT_NEAR(model.probabilities(second, 4), 0.9, 0.06);
  EXPECT_EQ(model.parameters, 1 + 2 * (2 + 1 + 1));
}

TEST(Mixture, finds_sources_of_counts) {
  Matrix x = Matrix::Zero(600, 3);
  const double share[2][3] = {{0.7, 0.2, 0.1}, {0.1, 0.3, 0.6}};
  for (Index i = 0; i < 600; ++i) {
    RandomStream random(4, static_cast<std::uint64_t>(i));
    for (int n = 0; n < 20; ++n) {
      const double u = random.uniform();
      x(i, u < share[i % 2][0] ? 0 : u < share[i % 2][0] + share[i % 2][1] ? 1 : 2) += 1;
    }
  }
  const MixtureModel model = fit(Mixture{.components = {2}, .kinds = {"multinomial"}}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Index first = model.values(0, 0) > model.values(1, 0) ? 0 : 1;
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(model.values(first, j), share[0][j], 0.03);
    EXPECT_NEAR(model.values(1 - first, j), share[1][j], 0.03);
  }
  EXPECT_EQ(model.parameters, 1 + 2 * 2);
}

TEST(Mixture, every_solver_ends_at_a_fixed_point_and_none_lowers_the_likelihood) {
  const Matrix x = two_sources(300);
  const MixtureModel plain = fit(Mixture{.components = {2}, .kinds = kFour, .tolerance = 1e-9}, x);
  for (const auto solver : {MixtureSolver::squarem, MixtureSolver::online}) {
    const MixtureModel model = fit(Mixture{.components = {2}, .kinds = kFour, .solver = solver, .tolerance = 1e-9}, x);
    EXPECT_TRUE(never_falls(model.trace));
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    EXPECT_NEAR(model.log_likelihood, plain.log_likelihood, 1e-3) << name_of(solver);
    if (solver == MixtureSolver::squarem) { EXPECT_LT(model.iterations, plain.iterations); }
  }
}

TEST(Mixture, takes_a_weight_of_k_for_k_copies) {
  const Matrix x = two_sources(200);
  Vector w(200);
  std::vector<Index> copies;
  for (Index i = 0; i < 200; ++i) {
    w(i) = static_cast<double>(i % 3);
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const Mixture spec{.components = {2}, .kinds = kFour, .tolerance = 1e-9};
  const MixtureModel a = fit(spec, x, {.weights = w}), b = fit(spec, Matrix(x(copies, Eigen::all)));
  EXPECT_NEAR(a.log_likelihood, b.log_likelihood, 1e-6);
  EXPECT_NEAR(a.bic, b.bic, 1e-6);
}

TEST(Mixture, shares_above_a_floor_are_the_greatest_likelihood_under_it) {
  bool binds = false;
  const Vector p = products::shares_above(Vector{{90.0, 0.0, 10.0}}, 0.05, binds);
  EXPECT_TRUE(binds);
  EXPECT_NEAR(p.sum(), 1, 1e-15);
  EXPECT_EQ(p(1), 0.05);
  EXPECT_NEAR(p(0) / p(2), 9, 1e-12);
  binds = false;
  EXPECT_LE((products::shares_above(Vector{{1.0, 3.0}}, 0.05, binds) - Vector{{0.25, 0.75}}).cwiseAbs().maxCoeff(),
            1e-15);
  EXPECT_FALSE(binds);
}

// ---- the certificate ----

TEST(Mixture, rows_given_to_one_component_alone_are_the_natural_wrong_algorithm_and_fail_the_certificate) {
  const Matrix x = two_sources(600);
  const std::vector<std::string> kinds(4, "gaussian");
  MixtureModel model = fit(Mixture{.components = {2}, .kinds = {"gaussian"}}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  for (int round = 0; round < 100; ++round) {
    const Labels label = model.assign(x);
    for (Index c = 0; c < 2; ++c) {
      std::vector<Index> own;
      for (Index i = 0; i < 600; ++i)
        if (label[static_cast<std::size_t>(i)] == c) own.push_back(i);
      const Matrix part = x(own, Eigen::all);
      model.values.row(c) = part.colwise().mean();
      model.variances.row(c) =
          (part.rowwise() - model.values.row(c)).colwise().squaredNorm() / static_cast<double>(own.size());
      model.variances.row(c) = model.variances.row(c).cwiseMax(1e-6 * model.column_variances.transpose());
      model.weights(c) = static_cast<double>(own.size()) / 600;
    }
  }
  model.log_likelihood = model.log_density(x).sum();
  model.aic = -2 * model.log_likelihood + 2 * model.parameters;
  model.bic = -2 * model.log_likelihood + model.parameters * std::log(600.0);
  model.tried_bic(0) = model.bic;
  model.icl = model.bic - 2 * model.memberships(x).rowwise().maxCoeff().array().log().sum();
  model.iterations = 1;
  model.trace = Vector::Constant(1, model.log_likelihood);
  const Certificate found = certify(model, MemoryRows(x), {});
  EXPECT_FALSE(found.holds()) << found.message;
  EXPECT_GT(found.value, 1e-4);
}

// ---- bad input ----

TEST(Mixture, refuses_values_that_are_none_of_their_kind) {
  const Matrix x = two_sources(60);
  const auto said = [&](const std::string& kind) { return message_of([&] { fit(Mixture{.kinds = {kind}}, x); }); };
  EXPECT_NE(said("bernoulli").find("0 or 1"), std::string::npos) << said("bernoulli");
  EXPECT_NE(said("poisson").find("whole numbers"), std::string::npos) << said("poisson");
  EXPECT_NE(said("exponential").find("'x4'"), std::string::npos) << said("exponential");
  EXPECT_NE(said("categorical").find("factor()"), std::string::npos) << said("categorical");
  EXPECT_NE(said("gamma").find("must be gaussian"), std::string::npos) << said("gamma");
  EXPECT_NE(message_of([&] { fit(Mixture{.kinds = {"poisson", "gaussian"}}, x); }).find("2 names"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Mixture{}, Matrix(Matrix::Constant(9, 2, 4.0))); }).find("same value"),
            std::string::npos);
  const Matrix few = Matrix(x.topRows(2)).replicate(4, 1);
  EXPECT_NE(message_of([&] { fit(Mixture{.components = {3}}, few); }).find("2 different rows"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Mixture{.components = {2.5}}, x); }).find("whole number"), std::string::npos);
}

}  // namespace
}  // namespace lemma
