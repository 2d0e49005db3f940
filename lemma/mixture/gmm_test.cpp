// lemma/mixture/gmm_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/geometry/lloyd.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/mixture/gmm.hpp>
#include <lemma/mixture/gmm/components.hpp>
#include <lemma/model/fit.hpp>
#include <numbers>

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
Matrix faithful() { return columns_of("faithful", {"eruptions", "waiting"}); }

Labels species() {
  Labels out(150);
  for (std::size_t i = 0; i < 150; ++i) out[i] = static_cast<int>(i / 50);
  return out;
}

/// Three clouds of equal size, `apart` standard deviations from each other.
Matrix clouds(Index rows, Index columns, double apart, std::uint64_t seed = 1) {
  Matrix x = normal_matrix(rows, columns, seed, 2);
  for (Index i = 0; i < rows; ++i) x(i, i % 3 % columns) += apart;
  return x;
}

Covariance kind_of(const std::string& name) {
  return name == "diag"        ? Covariance::diagonal
         : name == "spherical" ? Covariance::spherical
         : name == "tied"      ? Covariance::tied
                               : Covariance::full;
}

std::vector<double> sorted(const Vector& v) {
  std::vector<double> out(v.begin(), v.end());
  std::sort(out.begin(), out.end());
  return out;
}

double smallest_eigenvalue(const GmmModel& model) {
  double least = std::numeric_limits<double>::infinity();
  for (Index c = 0; c < model.k(); ++c) least = std::min(least, symmetric_eigen(model.covariance(c)).values.minCoeff());
  return least;
}

bool never_falls(const Vector& trace) {
  for (Index i = 0; i + 1 < trace.size(); ++i)
    if (trace(i + 1) < trace(i) - 1e-12 * (std::abs(trace(i)) + 1)) return false;
  return true;
}

// ---- reference ----

/// The required likelihood at least; where it is the best known one, its criteria and weights.
void expect_golden_fits(const std::string& id, const Matrix& x) {
  const Golden golden(id);
  for (const Value& known : golden.value("fits").as_list()) {
    const int k = static_cast<int>(known.at("k").as_integer());
    const std::string kind = known.at("covariance").as_string();
    const GmmModel model = fit(Gmm{.components = {static_cast<double>(k)},
                                   .covariance = kind_of(kind),
                                   .start = GmmStart::random,
                                   .restarts = k == 1 ? 1 : 40,
                                   .floor = 1e-3,
                                   .tolerance = 1e-5},
                               x);
    const std::string about = id + ", " + std::to_string(k) + " " + kind;
    const double best = known.at("best_known_log_likelihood").as_double();
    EXPECT_GE(model.log_likelihood, known.at("required_log_likelihood").as_double() - 1e-3) << about;
    EXPECT_EQ(model.parameters, known.at("n_parameters").as_integer()) << about;
    EXPECT_TRUE(model.certificate.holds()) << about << model.certificate.message;
    EXPECT_TRUE(never_falls(model.trace)) << about;
    EXPECT_FALSE(model.floor_reached) << about;
    if (model.log_likelihood > best + 1e-3) {
      EXPECT_GT(smallest_eigenvalue(model), 0.5 * known.at("smallest_covariance_eigenvalue").as_double()) << about;
    }
    if (std::abs(model.log_likelihood - best) > 1e-3) continue;
    EXPECT_NEAR(model.bic, known.at("bic_minus2ll").as_double(), 1e-2) << about;
    EXPECT_NEAR(model.aic, known.at("aic_minus2ll").as_double(), 1e-2) << about;
    const Vector weights = known.at("weights_sorted").as_vector();
    const auto ours = sorted(model.weights), theirs = sorted(weights);
    for (std::size_t c = 0; c < ours.size(); ++c) EXPECT_NEAR(ours[c], theirs[c], 1e-3) << about;
  }
}

TEST(Gmm, finds_the_best_known_mixtures_of_faithful) { expect_golden_fits("gmm_faithful", faithful()); }
TEST(Gmm, finds_the_best_known_mixtures_of_iris) { expect_golden_fits("gmm_iris", iris()); }

TEST(Gmm, goes_from_the_species_as_em_does_step_by_step) {
  const Golden golden("em_iris_from_species");
  const Matrix x = iris();
  const Labels label = species();
  MemoryRows rows(x);
  rows.labels(label, {"setosa", "versicolor", "virginica"});
  const auto ground = [&](Covariance kind) {
    auto out = std::make_shared<gmm::Ground>(*gmm::survey(Gmm{.covariance = kind}, rows, {}));
    out->floor = 0;
    return out;
  };
  for (const std::string kind : {"full", "diag", "spherical", "tied"}) {
    const Value& known = golden.value(kind);
    const auto start = gmm::mixture_of_labels(3, kind_of(kind), rows, ground(kind_of(kind)), {});
    const auto steps = em::run(rows, start, {20, 0}, {}).trace;
    const Vector after = known.at("loglik_after_mstep_1_2_3_5_10_20").as_vector();
    for (const auto& [place, step] : {std::pair{0, 1}, {1, 2}, {2, 3}, {3, 5}, {4, 10}, {5, 20}})
      EXPECT_NEAR(steps.at(static_cast<std::size_t>(step - 1)), after(place), 1e-8 * std::abs(after(place)))
          << kind << step;
    for (const auto solver : {em::Solver::em, em::Solver::squarem}) {
      const auto run = em::run(rows, start, {20000, 1e-9, solver}, {});
      const double end = known.at("loglik_converged").as_double();
      EXPECT_NEAR(run.log_likelihood, end, 1e-6 * std::abs(end)) << kind;
      EXPECT_LE((run.mixture.weights - known.at("weights").as_vector()).cwiseAbs().maxCoeff(), 1e-4) << kind;
      const Matrix means = static_cast<const gmm::Gaussians&>(*run.mixture.components).absolute_means();
      EXPECT_LE((means - known.at("means").as_matrix()).cwiseAbs().maxCoeff(), 1e-4) << kind;
    }
  }
}

// ---- properties ----

TEST(Gmm, accelerated_steps_need_fewer_looks_and_never_lower_the_likelihood) {
  const Matrix x = clouds(400, 2, 2.0);  // close together: EM is slow
  const Matrix start = x.topRows(3);
  const GmmModel plain = fit(Gmm{.start = start, .max_iterations = 20000, .tolerance = 1e-7}, x);
  const GmmModel fast =
      fit(Gmm{.start = start, .solver = em::Solver::squarem, .max_iterations = 20000, .tolerance = 1e-7}, x);
  EXPECT_TRUE(never_falls(plain.trace));
  EXPECT_TRUE(never_falls(fast.trace));
  EXPECT_TRUE(fast.certificate.holds()) << fast.certificate.message;
  EXPECT_LT(2 * fast.iterations, plain.iterations);
  EXPECT_GE(fast.log_likelihood, plain.log_likelihood - 1e-3);
}

TEST(Gmm, is_the_one_gaussian_of_maximum_likelihood_where_there_is_one_component) {
  const Matrix x = iris();
  const GmmModel model = fit(Gmm{.components = {1}}, x);
  const Vector mean = x.colwise().mean().transpose();
  const Matrix centred = x.rowwise() - mean.transpose();
  EXPECT_LE((model.means.row(0).transpose() - mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LE((model.covariances - centred.transpose() * centred / 150.0).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(model.icl, model.bic, 1e-9);
}

TEST(Gmm, says_the_density_of_its_formula) {
  const Matrix x = faithful();
  const GmmModel model = fit(Gmm{.components = {2}}, x);
  const Vector said = model.log_density(x);
  const Matrix p = model.memberships(x);
  for (const Index i : {0, 7, 99}) {
    Vector part(2);
    for (Index c = 0; c < 2; ++c) {
      const Matrix s = model.covariance(c);
      const Vector d = (x.row(i) - model.means.row(c)).transpose();
      const double det = s(0, 0) * s(1, 1) - s(0, 1) * s(0, 1);
      const double q = (s(1, 1) * d(0) * d(0) - 2 * s(0, 1) * d(0) * d(1) + s(0, 0) * d(1) * d(1)) / det;
      part(c) = model.weights(c) * std::exp(-0.5 * q) / (2 * std::numbers::pi * std::sqrt(det));
    }
    EXPECT_NEAR(said(i), std::log(part.sum()), 1e-10);
    EXPECT_NEAR(p(i, 0), part(0) / part.sum(), 1e-10);
  }
  EXPECT_NEAR(said.sum(), model.log_likelihood, 1e-8);
}

TEST(Gmm, with_a_variance_that_goes_to_zero_is_k_means) {
  const Matrix x = clouds(300, 2, 6);
  const Matrix start = x.topRows(3);
  const MemoryRows rows(x);
  const auto centres = lloyd(rows, {Vector::Zero(2), 0x1p-5}, start, {}, {});
  const GmmModel model =
      fit(Gmm{.covariance = Covariance::spherical, .variance = 1e-4, .start = start, .max_iterations = 100}, x);
  EXPECT_LE((model.means - centres.centers).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LE((model.weights - centres.sizes / 300.0).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(model.covariances, Matrix::Constant(3, 1, 1e-4));
  EXPECT_EQ(model.parameters, 2 + 6);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Gmm, does_not_care_where_the_origin_lies_or_in_which_units_columns_are) {
  const Matrix x = clouds(300, 3, 5);
  Matrix other = x;
  other.col(0).array() += 1e9;
  other.col(1).array() *= 1e-6;
  for (const auto kind : {Covariance::full, Covariance::diagonal, Covariance::tied}) {
    const GmmModel a = fit(Gmm{.covariance = kind}, x), b = fit(Gmm{.covariance = kind}, other);
    EXPECT_NEAR(a.log_likelihood, b.log_likelihood + 300 * std::log(1e-6), 1e-3) << name_of(kind);
    EXPECT_TRUE(b.certificate.holds()) << b.certificate.message;
    EXPECT_EQ(a.assign(x), b.assign(other));
  }
}

TEST(Gmm, takes_a_weight_of_k_for_k_copies) {
  const Matrix x = clouds(120, 2, 4);
  Vector w(120);
  std::vector<Index> copies;
  for (Index i = 0; i < 120; ++i) {
    w(i) = static_cast<double>(i % 4);
    for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
  }
  const Matrix repeated = x(copies, Eigen::all), start = x.topRows(3);
  for (const auto kind : {Covariance::full, Covariance::diagonal, Covariance::spherical, Covariance::tied}) {
    const GmmModel a = fit(Gmm{.covariance = kind, .start = start}, x, {.weights = w});
    const GmmModel b = fit(Gmm{.covariance = kind, .start = start}, repeated);
    EXPECT_NEAR(a.log_likelihood, b.log_likelihood, 1e-8);
    EXPECT_LE((a.means - b.means).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_NEAR(a.bic, b.bic, 1e-8);
  }
}

TEST(Gmm, chooses_the_number_of_components_by_bic) {
  const GmmModel model = fit(Gmm{.components = {1, 2, 3, 4, 5}}, clouds(300, 3, 6));
  EXPECT_EQ(model.k(), 3);
  ASSERT_EQ(model.tried_bic.size(), 5);
  EXPECT_EQ(model.tried_bic(2), model.bic);
  EXPECT_EQ(model.bic, model.tried_bic.minCoeff());
  EXPECT_NE(model.summary({}).find("Numbers of components tried"), std::string::npos);
}

TEST(Gmm, draws_rows_with_its_means_and_covariances) {
  const GmmModel model = fit(Gmm{.components = {1}}, iris());
  const Matrix x = model.draw(20000, 3).x;
  const Vector mean = x.colwise().mean().transpose();
  const Matrix centred = x.rowwise() - mean.transpose();
  EXPECT_LE((mean - model.means.row(0).transpose()).cwiseAbs().maxCoeff(), 0.06);
  EXPECT_LE((centred.transpose() * centred / 20000.0 - model.covariances).cwiseAbs().maxCoeff(), 0.12);
}

TEST(Gmm, statistics_merge_whatever_the_blocks) {
  const Matrix x = clouds(100, 3, 4);
  const MemoryRows rows(x);
  const auto ground = gmm::survey(Gmm{}, rows, {});
  for (const auto kind : {Covariance::full, Covariance::diagonal, Covariance::spherical, Covariance::tied}) {
    const auto at = gmm::start_of(Gmm{.covariance = kind, .start = Matrix(x.topRows(3))}, 3, rows, ground, 1, 0, {});
    Matrix r;
    em::responsibilities(at, x, r);
    std::vector<double> all(static_cast<std::size_t>(at.components->sums_size())), parts = all;
    at.components->add(x, r, all);
    at.components->add(x.topRows(0), r.topRows(0), parts);
    for (Index i = 0; i < 100; ++i) at.components->add(x.middleRows(i, 1), r.middleRows(i, 1), parts);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], parts[i], 1e-10) << name_of(kind);
  }
}

// ---- the certificate ----

/// What a fit would hold whose E-step gives each row to its likeliest component alone (classification EM).
TEST(Gmm, rows_given_to_one_component_alone_are_the_natural_wrong_algorithm_and_fail_the_certificate) {
  const Matrix x = clouds(300, 2, 2.5);
  GmmModel model = fit(Gmm{}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  for (int round = 0; round < 200; ++round) {
    const Labels label = model.assign(x);
    for (Index c = 0; c < 3; ++c) {
      std::vector<Index> own;
      for (Index i = 0; i < 300; ++i)
        if (label[static_cast<std::size_t>(i)] == c) own.push_back(i);
      const Matrix part = x(own, Eigen::all);
      model.means.row(c) = part.colwise().mean();
      const Matrix d = part.rowwise() - model.means.row(c);
      Matrix s = d.transpose() * d / static_cast<double>(own.size());
      s(1, 0) = s(0, 1);
      model.covariances.middleRows(2 * c, 2) = s;
      model.weights(c) = static_cast<double>(own.size()) / 300;
    }
  }
  const Vector l = model.log_density(x);
  model.log_likelihood = l.sum();
  model.aic = -2 * l.sum() + 2 * model.parameters;
  model.bic = -2 * l.sum() + model.parameters * std::log(300.0);
  model.tried_bic(0) = model.bic;
  model.icl = model.bic - 2 * model.memberships(x).rowwise().maxCoeff().array().log().sum();
  model.iterations = 1;
  model.trace = Vector::Constant(1, l.sum());
  const Certificate found = certify(model, MemoryRows(x), {});
  EXPECT_FALSE(found.holds()) << found.message;
  EXPECT_GT(found.value, 1e-3);
}

TEST(Gmm, work_that_ends_too_soon_does_not_claim_a_fixed_point) {
  const GmmModel model = fit(Gmm{.max_iterations = 2}, clouds(300, 2, 2));
  EXPECT_FALSE(model.certificate.holds());
  EXPECT_EQ(model.certificate.stopped, "iteration limit");
}

// ---- bad input ----

TEST(Gmm, refuses_more_components_than_different_rows) {
  const Matrix x = Matrix(clouds(2, 2, 3)).replicate(5, 1);
  const std::string said = message_of([&] { fit(Gmm{.components = {3}}, x); });
  EXPECT_NE(said.find("2 different rows"), std::string::npos) << said;
  EXPECT_NE(message_of([&] { fit(Gmm{.components = {1}}, Matrix(Matrix::Constant(9, 2, 4.0))); }).find("same value"),
            std::string::npos);
}

TEST(Gmm, refuses_columns_that_leave_no_density) {
  Matrix x = clouds(60, 3, 4);
  x.col(2) = x.col(0) - 2 * x.col(1);
  EXPECT_NE(message_of([&] { fit(Gmm{}, x); }).find("linearly dependent"), std::string::npos);
  EXPECT_NO_THROW(fit(Gmm{.covariance = Covariance::diagonal}, x));
  x.col(2).setConstant(3);
  EXPECT_NE(message_of([&] { fit(Gmm{}, x); }).find("'x3' has the same value"), std::string::npos);
}

TEST(Gmm, refuses_negative_weights_and_starts_that_do_not_fit) {
  const Matrix x = clouds(60, 2, 4);
  Vector w = Vector::Ones(60);
  w(4) = -1;
  EXPECT_NE(message_of([&] { fit(Gmm{}, x, {.weights = w}); }).find("weight"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Gmm{}, x, {.weights = Vector::Zero(60)}); }).find("weights are 0"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Gmm{.start = Matrix(Matrix::Zero(3, 5))}, x); }).find("5 columns"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Gmm{.start = Matrix(Matrix::Zero(2, 2))}, x); }).find("2 means"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Gmm{.components = {2.5}}, x); }).find("whole number"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(Gmm{.variance = 1}, x); }).find("spherical"), std::string::npos);
}

TEST(Gmm, says_which_component_has_died) {
  const Matrix x = clouds(90, 2, 4);
  Matrix start = x.topRows(3);
  start.row(1).setConstant(1e6);
  const GmmModel model = fit(Gmm{.start = start}, x);
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_NE(model.warnings.back().find("component 2 has died"), std::string::npos) << model.warnings.back();
  EXPECT_TRUE(model.log_density(x).allFinite());
  EXPECT_TRUE(never_falls(model.trace));
}

TEST(Gmm, says_that_the_floor_holds_a_component_up) {
  Matrix x = clouds(60, 2, 3);
  for (Index i = 0; i < 20; ++i) x.row(i) = Vector::Constant(2, 30).transpose();  // one point, twenty times
  const GmmModel model = fit(Gmm{.components = {2}}, x);
  EXPECT_TRUE(model.floor_reached);
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_NE(model.warnings.front().find("floor"), std::string::npos);
  EXPECT_TRUE(never_falls(model.trace));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

}  // namespace
}  // namespace lemma
