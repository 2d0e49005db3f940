// lemma/mixture/ppca_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/mixture/ppca.hpp>
#include <lemma/mixture/shared/known_values.hpp>
#include <lemma/model/fit.hpp>

#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix columns_of(std::string_view name, const std::vector<std::string>& columns) {
  const Table table = dataset(name);
  Matrix x(table.rows(), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto& values = table.column(columns[j]).numbers().values;
    x.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(values.data(), x.rows());
  }
  return x;
}
Matrix iris() { return columns_of("iris", {"sepal_length", "sepal_width", "petal_length", "petal_width"}); }

/// Rows of two hidden numbers in five columns.
Matrix hidden(Index n, double noise = 0.3) {
  const Matrix z = normal_matrix(n, 2, 1), e = normal_matrix(n, 5, 2);
  const Matrix w{{2.0, 0.1}, {1.0, -1.0}, {0.0, 1.0}, {-1.0, 0.5}, {0.5, 0.5}};
  return (z * w.transpose() + noise * e).rowwise() + Eigen::RowVectorXd{{5.0, 0.0, -3.0, 1e3, 1.0}};
}

Matrix with_gaps(Matrix x, double share) {
  RandomStream random(8);
  for (double& each : x.reshaped())
    if (random.uniform() < share) each = std::nan("");
  return x;
}

void expect_golden(const std::string& id, const Matrix& x) {
  const Golden golden(id);
  for (const Value& known : golden.value("fits").as_list())
    for (const auto solver : {PpcaSolver::closed_form, PpcaSolver::em}) {
      const bool em = solver == PpcaSolver::em;
      const PpcaModel model =
          fit(Ppca{.components = static_cast<int>(known.at("q").as_integer()), .solver = solver, .tolerance = 1e-9}, x);
      const std::string about = id + (em ? " by EM " : " ") + std::to_string(model.output_width());
      const double noise = known.at("sigma2").as_double(), l = known.at("log_likelihood").as_double();
      EXPECT_NEAR(model.noise, noise, (em ? 1e-6 : 1e-9) * noise) << about;
      EXPECT_NEAR(model.log_likelihood, l, (em ? 1e-6 : 1e-9) * std::abs(l)) << about;
      EXPECT_LE((model.loadings * model.loadings.transpose() - known.at("WWt").as_matrix()).cwiseAbs().maxCoeff(),
                em ? 1e-5 : 1e-7)
          << about;
      EXPECT_EQ(model.parameters, known.at("n_parameters").as_integer()) << about;
      const Vector norms = model.transform(x.topRows(3)).rowwise().squaredNorm();
      EXPECT_LE((norms - known.at("posterior_mean_sq_norm_rows1to3").as_vector()).cwiseAbs().maxCoeff(),
                em ? 1e-4 : 1e-6)
          << about;
      EXPECT_TRUE(model.certificate.holds()) << about << model.certificate.message;
      for (Index i = 0; i + 1 < model.trace.size(); ++i)
        EXPECT_GE(model.trace(i + 1), model.trace(i) - 1e-9 * std::abs(l)) << about;
    }
}

TEST(Ppca, is_the_closed_form_of_iris_and_em_finds_it_too) { expect_golden("ppca_iris", iris()); }
TEST(Ppca, is_the_closed_form_of_crabs_and_em_finds_it_too) {
  const Matrix x = columns_of("crabs", {"FL", "RW", "CL", "CW", "BD"});
  expect_golden("ppca_crabs_log", x.array().log().matrix());
}

TEST(Ppca, says_the_density_of_its_formula) {
  const Matrix x = iris();
  const PpcaModel model = fit(Ppca{}, x);
  EXPECT_NEAR(model.log_density(x).sum(), model.log_likelihood, 1e-9 * std::abs(model.log_likelihood));
  // Of a row with a gap it is the density of the values that are known: of one column a Gaussian of its own.
  Matrix one = Matrix::Constant(1, 4, std::nan(""));
  one(0, 2) = 3;
  const double variance = model.loadings.row(2).squaredNorm() + model.noise, d = 3 - model.mean(2);
  EXPECT_NEAR(model.log_density(one)(0), -0.5 * (std::log(2 * 3.141592653589793 * variance) + d * d / variance), 1e-12);
  EXPECT_TRUE(std::isnan(model.log_density(Matrix::Constant(1, 4, std::nan("")))(0)));
}

TEST(Ppca, finds_the_same_with_gaps_as_without) {
  const Matrix x = hidden(600), gaps = with_gaps(x, 0.15);
  const PpcaModel whole = fit(Ppca{}, x), model = fit(Ppca{}, gaps);
  EXPECT_TRUE(model.missing);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_NEAR(model.noise, whole.noise, 0.15 * whole.noise);
  EXPECT_LE((model.loadings - whole.loadings).cwiseAbs().maxCoeff(), 0.3);
  EXPECT_LE((model.mean - whole.mean).cwiseAbs().maxCoeff(), 0.2);
  // What is put in the gaps is nearer to what was there than the mean is.
  const Matrix filled = model.filled(gaps);
  double error = 0, by_mean = 0;
  for (Index i = 0; i < 600; ++i)
    for (Index j = 0; j < 5; ++j) {
      if (!std::isnan(gaps(i, j))) {
        EXPECT_EQ(filled(i, j), gaps(i, j));
        continue;
      }
      error += std::pow(filled(i, j) - x(i, j), 2);
      by_mean += std::pow(whole.mean(j) - x(i, j), 2);
    }
  EXPECT_LT(error, 0.4 * by_mean);
}

TEST(Ppca, one_step_by_either_route_is_the_same) {
  const Matrix gaps = with_gaps(hidden(80), 0.2);
  const PpcaModel model = fit(Ppca{.max_iterations = 3}, gaps);
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.certificate.stopped, "iteration limit");
  for (const auto noise : {factors::Noise::equal, factors::Noise::own}) {
    const auto at = model.factors();
    const auto a = factors::step(MemoryRows(gaps), at, noise, Vector::Zero(5), {});
    const auto b = factors::step_by_covariance(MemoryRows(gaps), at, noise, Vector::Zero(5), {});
    EXPECT_NEAR(a.log_likelihood, b.log_likelihood, 1e-8);
    EXPECT_LE((a.next.loadings - b.next.loadings).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LE((a.next.mean - b.next.mean).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LE((a.next.noise - b.next.noise).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(Ppca, takes_a_weight_of_k_for_k_copies_and_draws_its_rows) {
  const Matrix x = hidden(90);
  Vector w(90);
  std::vector<Index> copies;
  for (Index i = 0; i < 90; ++i) {
    w(i) = static_cast<double>(i % 3);
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const PpcaModel a = fit(Ppca{}, x, {.weights = w}), b = fit(Ppca{}, Matrix(x(copies, Eigen::all)));
  EXPECT_LE((a.loadings - b.loadings).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(a.bic, b.bic, 1e-8);
  const Matrix drawn = a.draw(20000, 4).x, centred = drawn.rowwise() - a.mean.transpose();
  EXPECT_LE((centred.transpose() * centred / 20000.0 - a.factors().covariance()).cwiseAbs().maxCoeff(), 0.15);
}

TEST(Ppca, principal_axes_with_their_whole_variance_are_the_natural_wrong_loadings_and_fail_the_certificate) {
  const Matrix x = iris();
  PpcaModel model = fit(Ppca{}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  for (Index k = 0; k < 2; ++k)  // √λ in the place of √(λ − σ²)
    model.loadings.col(k) *= std::sqrt(1 + model.noise / model.loadings.col(k).squaredNorm());
  model.log_likelihood = model.log_density(x).sum();
  model.aic = -2 * model.log_likelihood + 2.0 * model.parameters;
  model.bic = -2 * model.log_likelihood + model.parameters * std::log(150.0);
  const Certificate found = certify(model, MemoryRows(x), {});
  EXPECT_FALSE(found.holds()) << found.message;
  EXPECT_GT(found.value, 1e-6);
}

TEST(Ppca, gaps_filled_by_the_mean_are_the_natural_wrong_rows_and_fail_the_certificate) {
  const Matrix x = with_gaps(hidden(200), 0.2);
  PpcaModel model = fit(Ppca{}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  Matrix by_mean = x;
  for (Index j = 0; j < 5; ++j)
    for (Index i = 0; i < 200; ++i)
      if (std::isnan(x(i, j))) by_mean(i, j) = model.mean(j);
  const PpcaModel wrong = fit(Ppca{}, by_mean);
  model.loadings = wrong.loadings;
  model.mean = wrong.mean;
  model.noise = wrong.noise;
  model.log_likelihood = model.log_density(x).sum();
  model.aic = -2 * model.log_likelihood + 2.0 * model.parameters;
  model.bic = -2 * model.log_likelihood + model.parameters * std::log(200.0);
  model.trace = Vector::Constant(1, model.log_likelihood);
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Ppca, after_new_rows_is_that_of_all) {
  const Matrix x = hidden(200), first = x.topRows(90), second = x.bottomRows(110);
  Vector w(200);
  for (Index i = 0; i < 200; ++i) w(i) = 0.5 + static_cast<double>(i % 3);
  MemoryRows more(second), whole(x);
  more.weights({w.data() + 90, 110});
  whole.weights({w.data(), 200});
  const PpcaModel all = fit(Ppca{}, x, {.weights = w});
  const PpcaModel both = updated(fit(Ppca{}, first, {.weights = Vector(w.head(90))}), more, {});
  EXPECT_LE((both.mean - all.mean).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((both.loadings - all.loadings).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_NEAR(both.noise, all.noise, 1e-11);
  EXPECT_NEAR(both.log_likelihood, all.log_likelihood, 1e-8);
  EXPECT_NEAR(both.bic, all.bic, 1e-8);
  EXPECT_NEAR(both.seen_weight, w.sum(), 1e-9);
  EXPECT_TRUE(both.certificate.holds()) << both.certificate.message;
  EXPECT_TRUE(certify(both, whole, {}).holds());
  EXPECT_FALSE(certify(both, more, {}).holds());
}

TEST(Ppca, says_why_it_cannot_be_updated) {
  const Matrix x = hidden(80), gaps = with_gaps(x, 0.1), narrow = x.leftCols(4);
  const auto refusal = [](const PpcaModel& model, const Matrix& rows) {
    return message_of([&] { updated(model, MemoryRows(rows), {}); });
  };
  const PpcaModel model = fit(Ppca{}, x);
  EXPECT_NE(refusal(model, gaps).find("values of the new rows are missing"), std::string::npos);
  EXPECT_NE(refusal(fit(Ppca{}, gaps), x).find("only the closed form"), std::string::npos);
  EXPECT_NE(refusal(model, narrow).find("columns of the model"), std::string::npos);
  PpcaModel old = model;
  old.seen_weight = 0;
  old.seen_covariance.resize(0, 0);
  EXPECT_NO_THROW(old.check());
  EXPECT_TRUE(certify(old, MemoryRows(x), {}).holds());
  EXPECT_NE(refusal(old, x).find("does not keep the covariance"), std::string::npos);
}

TEST(Ppca, another_covariance_kept_for_updates_fails_the_certificate) {
  const Matrix x = hidden(80);
  PpcaModel model = fit(Ppca{}, x);
  const PpcaModel right = model;
  model.seen_covariance *= 80.0 / 79;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
  model = right;
  model.seen_weight += 1;
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Ppca, refuses_what_leaves_no_noise_or_no_density) {
  const Matrix x = iris();
  EXPECT_NE(message_of([&] { fit(Ppca{.components = 4}, x); }).find("are 4 columns"), std::string::npos);
  Matrix flat = x;
  flat.col(3) = flat.col(0) + flat.col(1);
  EXPECT_NE(message_of([&] { fit(Ppca{.components = 3}, flat); }).find("no noise is left"), std::string::npos);
  EXPECT_NO_THROW(fit(Ppca{.components = 2}, flat));
  flat.col(3).setConstant(2);
  EXPECT_NE(message_of([&] { fit(Ppca{}, flat); }).find("'x4' has the same value"), std::string::npos);
  flat.col(3).setConstant(std::nan(""));
  EXPECT_NE(message_of([&] { fit(Ppca{}, flat); }).find("'x4' has no value"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Ppca{.solver = PpcaSolver::closed_form}, with_gaps(x, 0.1)); }).find("missing"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Ppca{.components = 2}, Matrix(x.topRows(2))); }).find("ppca:"), std::string::npos);
}

}  // namespace
}  // namespace lemma
