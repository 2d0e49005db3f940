// lemma/kernel/gp_test.cpp: the reference, the likelihood's gradient, samples, and what must not change the answers.
#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/kernel/gp/parts.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/optimize/gradient_check.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// A wave with noise.
struct Wave {
  Matrix x;
  Vector y;
  explicit Wave(Index n, std::uint64_t seed = 3) : x(normal_matrix(n, 2, seed)), y(n) {
    RandomStream noise(seed, 9);
    for (Index i = 0; i < n; ++i) y(i) = 5 + std::sin(2 * x(i, 0)) + 0.1 * noise.normal();
  }
};

MemoryRows rows_of(const Matrix& x, const Vector& y) {
  MemoryRows rows(x);
  rows.response({y.data(), static_cast<std::size_t>(y.size())});
  return rows;
}

struct Mcycle {
  Matrix x;
  Vector y;
  Mcycle() {
    const Table table = dataset("mcycle");
    x = Eigen::Map<const Vector>(table.column("times").numbers().values.data(), table.rows());
    y = Eigen::Map<const Vector>(table.column("accel").numbers().values.data(), table.rows());
  }
};

Gp fixed(const char* kernel, double noise) {
  return {.kernel = Kernel::parse(kernel), .noise = noise, .mean = GpMean::zero, .optimise = false};
}

void expect_golden(const std::string& id, const Gp& spec) {
  const Golden golden(id);
  const Mcycle data;
  const auto m = fit(spec, data.x, data.y);
  EXPECT_TRUE(golden.agrees("log_marginal_likelihood", m.log_marginal_likelihood));
  Value gradient = Value::object();
  gradient.set("signal_variance", m.lml_gradient(0));
  gradient.set("length_scale", m.lml_gradient(1));
  gradient.set("noise_variance", m.lml_gradient(2));
  EXPECT_TRUE(golden.agrees("lml_gradient", gradient));
  const Matrix new_x = golden.matrix("new_x"), sd = m.deviations(new_x);
  EXPECT_TRUE(golden.agrees("predictive_mean", m.predict(new_x)));
  EXPECT_TRUE(golden.agrees("predictive_mean", m.posterior(new_x).mean));
  EXPECT_TRUE(golden.agrees("predictive_sd_latent", Vector(sd.col(0))));
  EXPECT_TRUE(golden.agrees("predictive_sd_observation", Vector(sd.col(1))));
  EXPECT_EQ(m.jitter, 0);
  const auto again = certify(m, rows_of(data.x, data.y), {});
  EXPECT_TRUE(again.holds()) << again.message;
  EXPECT_EQ(again.strength, Strength::optimal);
}

TEST(Gp, AgreesWithTheReferenceForTheGaussianKernel) {
  expect_golden("gp_mcycle_rbf", fixed("2000*rbf(sigma=5)", 500));
}
TEST(Gp, AgreesWithTheReferenceForMatern) { expect_golden("gp_mcycle_matern32", fixed("2000*matern(3/2, 8)", 500)); }

TEST(Gp, MatchesTheAnswerByHand) {  // one row: mean k/(k + s²) y, variance k − k²/(k + s²)
  const auto m = fit(fixed("3*rbf(1)", 1), Matrix{{0.0}}, Vector{{4.0}});
  const auto at = m.posterior(Matrix{{0.0}});
  EXPECT_NEAR(at.mean(0), 3, 1e-15);
  EXPECT_NEAR(at.variance(0), 3 - 9.0 / 4, 1e-15);
  EXPECT_NEAR(m.log_marginal_likelihood, -0.5 * 16 / 4 - 0.5 * std::log(4) - 0.5 * std::log(2 * M_PI), 1e-14);
  const auto far = m.posterior(Matrix{{1e3}});
  EXPECT_NEAR(far.mean(0), 0, 1e-15);
  EXPECT_NEAR(far.variance(0), 3, 1e-15);
}

/// log p(y) of some rows, in the logarithms of all hyperparameters.
struct OfLogs {
  gp::Setting like;
  const gp::Likelihood& likelihood;
  double value(const Vector& logs) const { return likelihood.value(gp::with_values(like, logs.array().exp())); }
  double value(const Vector& logs, Vector& gradient) const {
    return likelihood.value(gp::with_values(like, logs.array().exp()), &gradient);
  }
};

class GpGradient : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kernels, GpGradient,
                         testing::Values("2*rbf(0.4)", "2*rbf(lengths=[1, 3])", "matern(5/2, 1.5) + 0.5*linear",
                                         "1.5*rbf(0.2)*periodic(3, 1) + 0.3", "0.5*laplace(0.6)",
                                         "0.1*poly(2, 0.5, 1)"));

TEST_P(GpGradient, IsTheDerivativeOfTheLikelihood) {
  const Wave wave(300);
  KernelRows data;
  data.points = Points(wave.x);
  data.y = wave.y;
  data.weight = Vector::Ones(300);
  for (Index i = 0; i < 300; i += 3) data.weight(i) = 2;
  for (const GpMean mean : {GpMean::zero, GpMean::constant}) {
    const gp::Likelihood likelihood(data, mean, 0, {});
    const OfLogs f{{Kernel::parse(GetParam()), 0.05}, likelihood};
    const DerivativeCheck check = check_derivatives(f, f.like.values().array().log());
    EXPECT_LT(check.gradient, 1e-6) << GetParam() << " at " << check.worst;
  }
}

TEST(Gp, LearnedHyperparametersAreThoseOfTheGreatestLikelihood) {
  const Mcycle data;
  const auto m = fit(Gp{.kernel = Matern{}}, data.x, data.y);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_EQ(m.certificate.strength, Strength::stationary);
  EXPECT_LT(m.lml_gradient.cwiseAbs().maxCoeff(), 1e-4);
  for (const double factor : {0.8, 1.25}) {
    for (Index t = 0; t < m.hyperparameters.size(); ++t) {
      Vector values = m.hyperparameters;
      values(t) *= factor;
      const auto other = gp::with_values({m.spec.kernel, m.noise}, values);
      const auto n = fit(Gp{.kernel = other.kernel, .noise = other.noise, .optimise = false}, data.x, data.y);
      EXPECT_LT(n.log_marginal_likelihood, m.log_marginal_likelihood) << t;
    }
  }
  const auto again = certify(m, rows_of(data.x, data.y), {});
  EXPECT_TRUE(again.holds()) << again.message;
}

TEST(Gp, TheNaturalWrongOptimumFailsTheCertificate) {  // hyperparameters of other rows, all else recomputed
  const Mcycle data;
  const auto m = fit(Gp{}, data.x, data.y);
  Gp moved = m.spec;
  moved.noise = *moved.noise * 1.05;
  moved.optimise = false;
  auto wrong = fit(moved, data.x, data.y);
  EXPECT_TRUE(certify(wrong, rows_of(data.x, data.y), {}).holds());  // it claims nothing of them
  wrong.spec.optimise = true;
  EXPECT_FALSE(certify(wrong, rows_of(data.x, data.y), {}).holds());
}

TEST(Gp, ASecondLookFindsTheGradientOfAnIllConditionedMatrix) {  // condition 5e8: differences of log p(y) lose it
  const Table boston = dataset("boston");
  Matrix x(boston.rows(), 13);
  Vector y(boston.rows());
  for (Index j = 0; j < 14; ++j) {
    const auto& values = boston.column(static_cast<std::size_t>(j)).numbers().values;
    for (Index i = 0; i < boston.rows(); ++i) (j < 13 ? x(i, j) : y(i)) = values[static_cast<std::size_t>(i)];
  }
  Gp spec = fixed("8447930*rbf(1.26443e-06)", 9.18835);  // where learning ends
  spec.mean = GpMean::constant;
  const auto learned = [&](const Gp& at) {
    auto m = fit(at, x, y);
    m.spec.optimise = true;
    return m;
  };
  const auto m = learned(spec);
  const auto again = certify(m, rows_of(x, y), {});
  EXPECT_TRUE(again.holds()) << again.message;
  EXPECT_NE(again.message.find("accurate to about 1e-07"), std::string::npos) << again.message;
  EXPECT_LT((m.lml_gradient - Vector{{8.6e-5, 1.82e-4, -5.1e-6}}).cwiseAbs().maxCoeff(), 3e-5);  // 506 rows × 1e-7
  spec.noise = *spec.noise * (1 + 1e-5);
  EXPECT_FALSE(certify(learned(spec), rows_of(x, y), {}).holds());
}

TEST(Gp, ASecondLookAtManyRowsFindsWhatEigenvaluesFind) {
  const Wave wave(300);
  const std::vector<double> weights = [] {
    std::vector<double> out;
    for (int i = 0; i < 300; ++i) out.push_back(1 + i % 3);
    return out;
  }();
  for (const bool weighted : {false, true}) {
    MemoryRows rows = rows_of(wave.x, wave.y);
    if (weighted) rows.weights(weights);
    const Kernel kernel = Kernel::parse("2*matern(5/2, 0.7) + 0.3*rbf(4)");
    const KernelRows data = kernel_rows(Gp::name, kernel, rows, {});
    const gp::Setting setting{kernel, 0.2};
    const auto one = gp::by_eigenvalues(setting, GpMean::constant, 0, data, {});
    const auto other = gp::by_inverse(setting, GpMean::constant, 0, data, true, {});
    EXPECT_NEAR(other.log_likelihood, one.log_likelihood, 1e-9 * 300);
    ASSERT_EQ(other.gradient.size(), one.gradient.size());
    for (Index t = 0; t < one.gradient.size(); ++t) EXPECT_NEAR(other.gradient(t), one.gradient(t), 1e-8 * 300) << t;
  }
}

TEST(Gp, TheNaturalWrongOptimumOfManyRowsFailsTheCertificate) {
  const Wave wave(700);
  const MemoryRows rows = rows_of(wave.x, wave.y);
  const auto m = fit(Gp{.restarts = 0}, rows, {});
  const Certificate again = certify(m, rows, {});
  ASSERT_TRUE(again.holds()) << again.message;
  Gp moved = m.spec;
  moved.noise = *moved.noise * 1.001;
  moved.optimise = false;
  auto wrong = fit(moved, rows, {});
  wrong.spec.optimise = true;
  wrong.lml_gradient = m.lml_gradient;  // it says that it is flat
  const Certificate of_wrong = certify(wrong, rows, {});
  EXPECT_FALSE(of_wrong.holds());
  EXPECT_NE(of_wrong.message.find("for each row"), std::string::npos) << of_wrong.message;
}

TEST(Gp, TheGradientIsTheNumberComputed) {
  const Mcycle data;
  const auto m = fit(Gp{}, data.x, data.y);
  for (const double entry : m.lml_gradient)
    EXPECT_NE(entry, std::round(entry * 1e6) / 1e6);  // not rounded to some unit
}

TEST(Gp, LengthsOfTheirOwnTellWhichColumnMatters) {
  const Wave wave(120);
  const auto m = fit(Gp{.ard = true}, wave.x, wave.y);
  const auto* product = std::get_if<Kernel::Product>(&m.spec.kernel.node());
  ASSERT_NE(product, nullptr);
  const auto lengths = product->factors[1].get<Rbf>()->lengths;
  ASSERT_EQ(lengths.size(), 2U);
  EXPECT_GT(lengths[1], 5 * lengths[0]);
  EXPECT_NEAR(std::sqrt(m.noise), 0.1, 0.03);
}

TEST(Gp, DuplicateRowsWithoutNoiseNeedAJitterAndSaySo) {
  const Wave wave(30);
  Matrix x = wave.x;
  x.row(4) = x.row(9);
  const auto m = fit(fixed("rbf(0.5)", 0), x, wave.y);
  EXPECT_GT(m.jitter, 0);
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_NE(m.warnings[0].find("jitter"), std::string::npos);
  const auto distinct = fit(fixed("laplace(2)", 0), wave.x, wave.y);
  EXPECT_EQ(distinct.jitter, 0);
  EXPECT_TRUE(distinct.warnings.empty());
  EXPECT_LT((distinct.predict(wave.x) - wave.y).cwiseAbs().maxCoeff(), 1e-9);  // without noise it interpolates
  EXPECT_LT(distinct.posterior(wave.x).variance.maxCoeff(), 1e-9);
}

TEST(Gp, AWeightIsThatManyObservations) {
  const Wave wave(40);
  Vector w = Vector::Ones(40);
  Matrix x(45, 2);
  Vector y(45);
  x.topRows(40) = wave.x;
  y.head(40) = wave.y;
  for (Index i = 0; i < 5; ++i) {
    w(i) = 2;
    x.row(40 + i) = wave.x.row(i);
    y(40 + i) = wave.y(i);
  }
  const Gp spec{.kernel = Kernel::parse("2*rbf(0.5)"), .noise = 0.1, .optimise = false};
  const auto weighted = fit(spec, wave.x, wave.y, {.weights = w}), copied = fit(spec, x, y);
  EXPECT_NEAR(weighted.log_marginal_likelihood, copied.log_marginal_likelihood, 1e-10);
  EXPECT_LT((weighted.lml_gradient - copied.lml_gradient).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((weighted.deviations(x) - copied.deviations(x)).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(Gp, SamplesHaveTheMomentsOfTheProcess) {
  const Wave wave(30);
  const auto m = fit(Gp{.kernel = Kernel::parse("2*rbf(0.5)"), .noise = 0.1, .optimise = false}, wave.x, wave.y);
  const Matrix at = normal_matrix(6, 2, 77);
  constexpr int kCount = 20000;
  const auto posterior = m.posterior(at);
  const Matrix drawn = m.samples(at, {.count = kCount, .seed = 5});
  const Vector mean = drawn.rowwise().mean();
  const Vector variance = (drawn.colwise() - mean).rowwise().squaredNorm() / kCount;
  for (Index i = 0; i < 6; ++i) {
    EXPECT_NEAR(mean(i), posterior.mean(i), 5 * std::sqrt(posterior.variance(i) / kCount));
    EXPECT_NEAR(variance(i), posterior.variance(i), 0.06 * posterior.variance(i));
  }
  const Matrix prior = m.samples(at, {.count = kCount, .prior = true, .seed = 5});
  const Vector centre = prior.rowwise().mean();
  const Matrix moved = prior.colwise() - centre;
  const Matrix covariance = moved * moved.transpose() / kCount;
  const Matrix expected = BoundKernel(m.spec.kernel, Points(at)).gram();
  EXPECT_LT((covariance - expected).cwiseAbs().maxCoeff(), 0.1);
  EXPECT_TRUE(m.samples(at, {.count = 2, .seed = 5}) == m.samples(at, {.count = 2, .seed = 5}));
  EXPECT_FALSE(m.samples(at, {.count = 2, .seed = 5}) == m.samples(at, {.count = 2, .seed = 6}));
}

TEST(Gp, IntervalsHoldWhatTheyPromise) {
  const Wave wave(150), fresh(2000, 8);
  const auto m = fit(Gp{}, wave.x, wave.y);
  const auto within = [&](IntervalKind kind) {
    const Interval interval = m.interval(fresh.x, kind, 0.9);
    return ((fresh.y.array() >= interval.lower.array()) && (fresh.y.array() <= interval.upper.array()))
        .cast<double>()
        .mean();
  };
  EXPECT_NEAR(within(IntervalKind::prediction), 0.9, 0.09);
  EXPECT_LT(within(IntervalKind::confidence), 0.75);
}

TEST(Gp, BadInputIsRefusedByWhatIsWrong) {
  const Wave wave(40);
  const auto refusal = [&](const Gp& spec) { return message_of([&] { fit(spec, wave.x, wave.y); }); };
  const std::string indefinite = refusal(fixed("tanh(5, -2)", 0.01));
  EXPECT_NE(indefinite.find("not positive semidefinite"), std::string::npos) << indefinite;
  EXPECT_NE(indefinite.find("smallest eigenvalue -"), std::string::npos) << indefinite;
  EXPECT_NE(refusal({.kernel = Rbf{.gamma = 0.0}}).find("gamma"), std::string::npos);
  EXPECT_NE(refusal({.noise = -1}).find("noise"), std::string::npos);
  Gp little{};
  little.gigabytes = 1e-5;
  EXPECT_NE(refusal(little).find("would take 13 kB"), std::string::npos) << refusal(little);
  const Matrix big = Matrix::Zero(20000, 1);
  const std::string beyond = message_of([&] { fit(Gp{}, big, Vector::Zero(20000)); });
  EXPECT_NE(beyond.find("3.2 GB"), std::string::npos) << beyond;
}

class AfterAWhile final : public Progress {
 public:
  void report(double, std::string_view) override {}
  bool cancelled() const override { return ++asked_ > 300; }

 private:
  mutable std::atomic<int> asked_ = 0;
};

TEST(Gp, ASearchThatIsStoppedGivesBackWhatItHas) {
  const Mcycle data;
  AfterAWhile progress;
  CallOptions options;
  options.progress = &progress;
  const auto m =
      fit(Gp{.kernel = Kernel::parse("matern(5/2) + rbf*periodic(20)"), .restarts = 20}, data.x, data.y, options);
  EXPECT_EQ(m.certificate.stopped, "cancelled");
  EXPECT_FALSE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(m.predict(data.x).allFinite());
}

TEST(Gp, RowsThatAreAllEqualLeaveTheirMean) {
  const auto m = fit(Gp{}, Matrix::Constant(12, 3, 4.0), Vector::LinSpaced(12, 0, 11));
  EXPECT_NEAR(m.predict(Matrix::Constant(1, 3, 4.0))(0), 5.5, 1e-6);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
}

}  // namespace
}  // namespace lemma
