// lemma/density/kde_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/density/kde/bandwidth.hpp>
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

/// Rows around twenty centres of the plane, or of more columns.
Matrix clusters(Index n, Index d, std::uint64_t seed = 4) {
  const Matrix centres = 2 * normal_matrix(20, d, seed), noise = normal_matrix(n, d, seed, 1);
  Matrix x(n, d);
  for (Index i = 0; i < n; ++i) x.row(i) = centres.row(i * 7 % 20) + 0.5 * noise.row(i);
  return x;
}

Vector densities(const KdeModel& model, const Matrix& x) { return model.log_density(x).array().exp().matrix(); }

constexpr DensityKernel kAllKernels[] = {DensityKernel::gaussian,   DensityKernel::epanechnikov, DensityKernel::uniform,
                                         DensityKernel::triangular, DensityKernel::biweight,     DensityKernel::cosine};

// ---- reference ----

void expect_golden(const std::string& id, const Matrix& x) {
  const Golden golden(id);
  const double h = golden.number("h");
  const Matrix grid = golden.vector("grid");
  EXPECT_TRUE(golden.agrees("bw_nrd0", fit(Kde{.bandwidth = BandwidthRule::nrd0}, x).bandwidth(0)));
  EXPECT_TRUE(golden.agrees("bw_nrd", fit(Kde{.bandwidth = BandwidthRule::nrd}, x).bandwidth(0)));
  for (const DensityKernel kernel : kAllKernels) {
    const Value* known = golden.value("density_at_h").find(name_of(kernel));
    if (!known) continue;
    const KdeModel model = fit(Kde{.kernel = kernel, .bandwidth = std::vector{h}}, x);
    EXPECT_LE((densities(model, grid) - known->as_vector()).cwiseAbs().maxCoeff(), 1e-10) << name_of(kernel);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
  EXPECT_TRUE(golden.agrees("density_gaussian_nrd0", densities(fit(Kde{}, x), grid)));
  const KdeModel model = fit(Kde{.bandwidth = std::vector{h}}, x);
  EXPECT_TRUE(golden.agrees("loo_log_likelihood", model.loo_log_likelihood));
  std::vector<Index> odd, even;
  for (Index i = 0; i < x.rows(); ++i) (i % 2 == 0 ? odd : even).push_back(i);
  const KdeModel half = fit(Kde{.bandwidth = std::vector{h}}, Matrix(x(odd, Eigen::all)));
  EXPECT_TRUE(golden.agrees("heldout_mean_log_density", half.log_density(Matrix(x(even, Eigen::all))).mean()));
}

TEST(Kde, gives_the_densities_of_eruptions) {
  expect_golden("kde_faithful_eruptions", columns_of("faithful", {"eruptions"}));
}
TEST(Kde, gives_the_densities_of_durations) {
  expect_golden("kde_geyser_duration", columns_of("geyser", {"duration"}));
}

TEST(Kde, gives_the_densities_of_two_columns) {
  const Golden golden("kde2_faithful");
  const Matrix x = columns_of("faithful", {"eruptions", "waiting"});
  const Vector h = golden.vector("h");
  const KdeModel model = fit(Kde{.bandwidth = std::vector<double>{h.begin(), h.end()}}, x);
  const Matrix points = golden.matrix("points");
  EXPECT_TRUE(golden.agrees("log_density", model.log_density(points)));
  EXPECT_TRUE(golden.agrees("density", densities(model, points)));
  EXPECT_TRUE(golden.agrees("loo_log_likelihood", model.loo_log_likelihood));
  EXPECT_TRUE(golden.agrees("silverman_bandwidths", fit(Kde{.bandwidth = BandwidthRule::silverman}, x).bandwidth));
  EXPECT_TRUE(golden.agrees("scott_bandwidths", fit(Kde{.bandwidth = BandwidthRule::scott}, x).bandwidth));
}

/// R: density(faithful$eruptions, bw = "SJ") prints bw = 0.14.
TEST(Kde, plug_in_is_that_of_sheather_and_jones) {
  const Matrix x = columns_of("faithful", {"eruptions"});
  const KdeModel model = fit(Kde{.bandwidth = BandwidthRule::sheather_jones}, x);
  EXPECT_NEAR(model.bandwidth(0), 0.14, 0.001);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  // Many values go into bins: nearly the same.
  const density::SortedColumn many({clusters(3000, 1), Vector::Ones(3000), 3000}, 0);
  EXPECT_NEAR(kde::PlugIn(many).solution() / kde::PlugIn(many, 3000).solution(), 1, 1e-3);
}

TEST(Kde, rule_of_thumb_is_that_of_the_notes) {
  const Matrix x = columns_of("faithful", {"eruptions"});
  const double sd = std::sqrt((x.array() - x.mean()).square().sum() / 271);
  EXPECT_NEAR(fit(Kde{.bandwidth = BandwidthRule::rule_of_thumb}, x).bandwidth(0), 1.06 * sd * std::pow(272, -0.2),
              1e-12);
}

// ---- properties ----

TEST(Kde, integrates_to_one_with_every_kernel) {
  const Matrix x = clusters(40, 2);
  for (const DensityKernel kernel : kAllKernels) {
    const KdeModel model = fit(Kde{.kernel = kernel, .bandwidth = std::vector{0.9, 0.7}}, x);
    constexpr Index kSteps = 400;
    const double low = x.minCoeff() - 5, width = (x.maxCoeff() + 5 - low) / kSteps;
    Matrix grid(kSteps * kSteps, 2);
    for (Index i = 0; i < kSteps; ++i)
      for (Index j = 0; j < kSteps; ++j)
        grid.row(i * kSteps + j) << low + (static_cast<double>(i) + 0.5) * width,
            low + (static_cast<double>(j) + 0.5) * width;
    EXPECT_NEAR(densities(model, grid).sum() * width * width, 1, 2e-3) << name_of(kernel);
  }
}

TEST(Kde, volumes_and_deviations_of_kernels_are_those_of_their_integrals) {
  for (const DensityKernel kernel : kAllKernels)
    for (const Index d : {1, 2, 5}) {
      constexpr int kSteps = 200000;
      const double reach = kernel == DensityKernel::gaussian ? 12 : 1;
      double volume = 0, square = 0;
      for (int s = 0; s < kSteps; ++s) {
        const double r = (s + 0.5) / kSteps * reach, shell = std::pow(r, static_cast<double>(d - 1));
        volume += kde::profile(kernel, r * r) * shell;
        square += kde::profile(kernel, r * r) * shell * r * r;
      }
      const double surface =
          2 * std::pow(std::numbers::pi, 0.5 * static_cast<double>(d)) / std::tgamma(0.5 * static_cast<double>(d));
      EXPECT_NEAR(std::exp(kde::log_volume(kernel, d)), surface * volume * reach / kSteps, 1e-5) << name_of(kernel);
      EXPECT_NEAR(kde::deviation_of(kernel, d), std::sqrt(square / volume / static_cast<double>(d)), 1e-5);
    }
}

/// Rows enough for the tree, and the same as a sum over all of them.
TEST(Kde, keeps_the_relative_error_that_it_states) {
  for (const Index d : {1, 2, 5}) {
    const Matrix x = clusters(3000, d), places = clusters(60, d, 9);
    for (const DensityKernel kernel : kAllKernels)
      for (const double tolerance : {1e-2, 1e-4, 1e-9})
        for (const double h : {0.05, 0.4, 3.0}) {
          const KdeModel model = fit(Kde{.kernel = kernel, .bandwidth = std::vector{h}, .tolerance = tolerance},
                                     Matrix(x.topRows(kernel == DensityKernel::gaussian ? 3000 : 1500)));
          const Vector said = model.log_density(places);
          double worst = 0;
          for (Index i = 0; i < places.rows(); ++i) {
            double nearest = std::numeric_limits<double>::infinity(), sum = 0;
            const Vector r2 = (model.points.rowwise() - places.row(i)).rowwise().squaredNorm() / (h * h);
            nearest = kernel == DensityKernel::gaussian ? r2.minCoeff() : 0;
            for (const double each : r2)
              sum += kernel == DensityKernel::gaussian ? std::exp(-0.5 * (each - nearest)) : kde::profile(kernel, each);
            if (sum == 0) {
              EXPECT_EQ(said(i), density::kLogOfNothing);
              continue;
            }
            const double exact = std::log(sum) - 0.5 * nearest - kde::log_volume(kernel, d) -
                                 static_cast<double>(d) * std::log(h) -
                                 std::log(static_cast<double>(model.points.rows()));
            worst = std::max(worst, std::abs(std::expm1(said(i) - exact)) - 1e-13 * std::abs(exact));
          }
          EXPECT_LE(worst, tolerance) << name_of(kernel) << " " << d << " " << h;
        }
  }
}

TEST(Kde, far_from_all_rows_it_is_the_bump_of_the_nearest) {
  const Matrix x = clusters(3000, 1);
  const KdeModel model = fit(Kde{.bandwidth = std::vector{0.1}}, x);
  const double top = x.maxCoeff(), place = top + 30;
  EXPECT_NEAR(model.log_density(Matrix::Constant(1, 1, place))(0),
              -0.5 * 300 * 300 - 0.5 * std::log(2 * std::numbers::pi) - std::log(0.1) - std::log(3000.0), 1e-5);
}

TEST(Kde, likelihood_and_half_splits_find_the_bandwidth_of_the_truth) {
  const Matrix x = normal_matrix(600, 1, 3);
  const double best = 1.06 * std::pow(600, -0.2);
  for (const auto rule : {BandwidthRule::likelihood, BandwidthRule::half_splits}) {
    const KdeModel model = fit(Kde{.bandwidth = rule}, x);
    EXPECT_GT(model.bandwidth(0), 0.4 * best) << name_of(rule);
    EXPECT_LT(model.bandwidth(0), 2.5 * best) << name_of(rule);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
  const KdeModel likeliest = fit(Kde{.bandwidth = BandwidthRule::likelihood}, x);
  for (const double c : {0.5, 0.9, 1.1, 2.0})
    EXPECT_LT(fit(Kde{.bandwidth = std::vector{c * likeliest.bandwidth(0)}}, x).loo_log_likelihood,
              likeliest.loo_log_likelihood);
}

TEST(Kde, rules_give_the_deviation_of_the_kernel) {
  const Matrix x = clusters(200, 1);
  EXPECT_NEAR(fit(Kde{.kernel = DensityKernel::epanechnikov}, x).bandwidth(0) / fit(Kde{}, x).bandwidth(0),
              std::sqrt(5.0), 1e-12);
  EXPECT_NEAR(fit(Kde{.kernel = DensityKernel::uniform}, x).bandwidth(0) / fit(Kde{}, x).bandwidth(0), std::sqrt(3.0),
              1e-12);
}

TEST(Kde, takes_a_weight_of_k_for_k_copies) {
  const Matrix x = clusters(90, 2);
  Vector w(90);
  std::vector<Index> copies;
  for (Index i = 0; i < 90; ++i) {
    w(i) = static_cast<double>(i % 4);
    for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
  }
  const Matrix repeated = x(copies, Eigen::all);
  for (const auto rule :
       {BandwidthRule::nrd0, BandwidthRule::silverman, BandwidthRule::likelihood, BandwidthRule::half_splits}) {
    const KdeModel a = fit(Kde{.bandwidth = rule}, x, {.weights = w}), b = fit(Kde{.bandwidth = rule}, repeated);
    EXPECT_NEAR(a.bandwidth(0), b.bandwidth(0), 1e-6) << name_of(rule);
    EXPECT_NEAR(a.loo_log_likelihood, b.loo_log_likelihood, 1e-4) << name_of(rule);
    EXPECT_LE((a.log_density(x) - b.log_density(x)).cwiseAbs().maxCoeff(), 1e-5) << name_of(rule);
  }
}

TEST(Kde, draws_rows_of_its_density) {
  const Matrix x = clusters(50, 2);
  const Vector mean = x.colwise().mean().transpose();
  const Matrix centred = x.rowwise() - mean.transpose();
  for (const DensityKernel kernel : kAllKernels) {
    const KdeModel model = fit(Kde{.kernel = kernel, .bandwidth = std::vector{1.5, 0.5}}, x);
    const Matrix drawn = model.draw(20000, 5).x;
    const Matrix about = drawn.rowwise() - mean.transpose();
    for (Index j = 0; j < 2; ++j) {
      const double bump = model.bandwidth(j) * kde::deviation_of(kernel, 2);
      const double variance = centred.col(j).squaredNorm() / 50 + bump * bump;
      EXPECT_NEAR(about.col(j).mean(), 0, 4 * std::sqrt(variance / 20000)) << name_of(kernel);
      EXPECT_NEAR(about.col(j).squaredNorm() / 20000 / variance, 1, 0.06) << name_of(kernel);
    }
    EXPECT_GT(model.log_density(drawn).minCoeff(), density::kLogOfNothing) << name_of(kernel);
  }
}

// ---- the certificate ----

TEST(Kde, bumps_cut_off_at_three_bandwidths_are_a_natural_wrong_sum_and_fail_the_certificate) {
  const Matrix x = clusters(300, 2);
  const KdeModel right = fit(Kde{}, x);
  ASSERT_TRUE(right.certificate.holds()) << right.certificate.message;
  double sum = 0;
  for (Index i = 0; i < 300; ++i) {
    double total = 0;
    for (Index j = 0; j < 300; ++j) {
      const double r2 = ((x.row(i) - x.row(j)).array() / right.bandwidth.transpose().array()).square().sum();
      if (i != j && r2 <= 9) total += std::exp(-0.5 * r2);
    }
    sum += std::max(std::log(total / (2 * std::numbers::pi * right.bandwidth.prod() * 299)), density::kLogOfNothing);
  }
  KdeModel wrong = right;
  wrong.loo_log_likelihood = sum;
  wrong.kept = kde::nothing_kept();
  EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds());
}

TEST(Kde, rows_judged_by_themselves_are_the_natural_wrong_likelihood_and_fail_the_certificate) {
  const Matrix x = clusters(300, 1);
  KdeModel model = fit(Kde{.bandwidth = BandwidthRule::likelihood}, x);
  ASSERT_TRUE(certify(model, MemoryRows(x), {}).holds());
  model.bandwidth *= 0.02;  // where each row's own bump is all that counts the likelihood has no maximum
  model.kept = kde::nothing_kept();
  EXPECT_FALSE(certify(model, MemoryRows(x), {}).holds());
}

TEST(Kde, other_rows_or_another_order_are_told_apart) {
  const Matrix x = clusters(80, 2);
  const KdeModel model = fit(Kde{}, x);
  const Matrix turned = x.colwise().reverse();
  EXPECT_TRUE(certify(model, MemoryRows(turned), {}).holds());
  Matrix other = x;
  other(3, 1) += 1e-6;
  EXPECT_FALSE(certify(model, MemoryRows(other), {}).holds());
}

// ---- bad input ----

TEST(Kde, refuses_what_leaves_no_density) {
  const Matrix same = Matrix::Constant(9, 2, 4.0);
  EXPECT_NE(message_of([&] { fit(Kde{}, same); }).find("'x1' has the same value"), std::string::npos);
  EXPECT_NO_THROW(fit(Kde{.bandwidth = std::vector{0.5}}, same));
  EXPECT_NE(message_of([&] { fit(Kde{}, Matrix::Constant(1, 1, 4.0)); }).find("at least 2"), std::string::npos);
  const Matrix x = clusters(30, 2);
  EXPECT_NE(message_of([&] { fit(Kde{.bandwidth = BandwidthRule::sheather_jones}, x); }).find("one column"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Kde{.bandwidth = std::vector{1.0, 2.0, 3.0}}, x);
            }).find("3 numbers"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Kde{}, x, {.weights = Vector::Zero(30)}); }).find("weights are 0"), std::string::npos);
  EXPECT_NE(message_of([&] {
              fit(Kde{.bandwidth = BandwidthRule::half_splits}, x, {.weights = Vector::Constant(30, 0.5)});
            }).find("whole weights"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
