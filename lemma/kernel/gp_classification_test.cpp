// lemma/kernel/gp_classification_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/kernel/gp_classification.hpp>
#include <lemma/kernel/svm/data_test.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>
#include <tests/golden.hpp>

namespace lemma {
namespace {

using namespace svm_test;

const std::vector<std::string> kPima{"npreg", "glu", "bp", "skin", "bmi", "ped", "age"};

Kernel four_rbf(double gamma) { return Kernel::parse(fmt::format("4*rbf({})", gamma)); }

struct Pima {
  Matrix x;
  std::vector<std::string> label;
  Pima() : x(columns_of(dataset("pima_train"), kPima)), label(labels_of(dataset("pima_train"), "type")) {
    const Vector mean = x.colwise().mean();
    x.rowwise() -= mean.transpose();
    const Vector sd = (x.colwise().squaredNorm() / static_cast<double>(x.rows() - 1)).cwiseSqrt();
    x = x.array().rowwise() / sd.transpose().array();
  }
  Labels codes() const {
    Labels out;
    for (const auto& each : label) out.push_back(each == "Yes" ? 1 : 0);
    return out;
  }
};

TEST(GpClassification, AgreesWithRasmussenAndWilliams) {
  const Golden golden("gpc_pima_rbf");
  const Pima pima;
  const GpClassificationModel model =
      fit(GpClassification{.kernel = four_rbf(0.125), .tolerance = 1e-12}, pima.x, pima.label);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(golden.agrees("log_marginal_likelihood_laplace", model.log_evidence.of(0)));
  EXPECT_TRUE(golden.agrees("latent_mode_first5", Vector(model.decision(pima.x).col(0).head(5))));
  const Matrix at = golden.matrix("new_x");
  const auto latent = model.latent(at);
  EXPECT_TRUE(golden.agrees("latent_mean", Vector(latent.mean.col(0))));
  EXPECT_TRUE(golden.agrees("latent_variance", Vector(latent.variance.col(0))));
  EXPECT_TRUE(golden.agrees("averaged_probability", Vector(model.probabilities(at).col(1))));
  EXPECT_TRUE(golden.agrees("map_probability", Vector(model.map_probability(at).col(0))));
}

TEST(GpClassification, AveragesTheLogisticFunction) {
  for (const double mean : {-3.0, 0.0, 0.7, 12.0})
    for (const double variance : {0.0, 1e-8, 0.3, 4.0, 400.0}) {
      const double p = averaged_logistic(mean, variance);
      EXPECT_NEAR(p + averaged_logistic(-mean, variance), 1, 1e-14);
      double sum = 0, mass = 0;  // by small steps
      const double sd = std::sqrt(variance);
      for (int i = -40000; i <= 40000; ++i) {
        const double z = i * 2.5e-4, w = std::exp(-0.5 * z * z);
        sum += w * logistic(mean + sd * z);
        mass += w;
      }
      EXPECT_NEAR(p, sum / mass, 1e-12) << mean << " " << variance;
    }
}

TEST(GpClassification, KnowsNothingFarFromTheRows) {
  const Pima pima;
  const GpClassificationModel model = fit(GpClassification{.kernel = four_rbf(0.125)}, pima.x, pima.label);
  const Matrix far = Matrix::Constant(1, 7, 1e3);
  EXPECT_NEAR(model.probabilities(far)(0, 1), 0.5, 1e-12);
  EXPECT_NEAR(model.latent_variance(far)(0, 0), 4, 1e-12);
  const Matrix p = model.probabilities(pima.x), map = model.map_probability(pima.x);
  for (Index i = 0; i < 50; ++i) EXPECT_LE(std::abs(p(i, 1) - 0.5), std::abs(map(i, 0) - 0.5) + 1e-12);
}

TEST(GpClassification, OfSeveralClassesHasAProcessForEach) {
  const Table iris = dataset("iris");
  const Matrix x = columns_of(iris, {"petal_length", "petal_width"});
  const GpClassificationModel model = fit(GpClassification{.kernel = four_rbf(0.5)}, x, labels_of(iris, "species"));
  EXPECT_EQ(model.functions(), 3);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Matrix p = model.probabilities(x);
  EXPECT_LT((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
  const Labels said = model.predict(x);
  Index errors = 0;
  for (Index i = 0; i < 150; ++i) errors += said[at(i)] != i / 50;
  EXPECT_LE(errors, 8);
}

TEST(GpClassification, WeightsAreCopies) {
  const svm_test::Clouds data(30);
  std::vector<Index> copies;
  std::vector<double> weight;
  Labels code;
  for (Index i = 0; i < 30; ++i) {
    weight.push_back(static_cast<double>((i / 2) % 3));
    for (Index c = 0; c < (i / 2) % 3; ++c) {
      copies.push_back(i);
      code.push_back(data.codes()[at(i)]);
    }
  }
  const Labels all = data.codes();
  MemoryRows weighted(data.x);
  weighted.labels(all, {"left", "right"}).weights(weight);
  const Matrix repeated = data.x(copies, Eigen::all);
  MemoryRows plain(repeated);
  plain.labels(code, {"left", "right"});
  const Valid<GpClassification> spec(GpClassification{.kernel = four_rbf(0.5)});
  const auto a = fit(spec, weighted, {}), b = fit(spec, plain, {});
  EXPECT_LT((a.probabilities(data.x) - b.probabilities(data.x)).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_NEAR(a.log_evidence.of(0), b.log_evidence.of(0), 1e-8);
}

TEST(GpClassification, TheNaturalWrongModesAndEvidencesFailTheCertificate) {
  const Pima pima;
  const Labels codes = pima.codes();
  MemoryRows rows(pima.x);
  rows.labels(codes, {"No", "Yes"});
  const Valid<GpClassification> spec(GpClassification{.kernel = four_rbf(0.125)});
  const auto right = fit(spec, rows, {});
  ASSERT_TRUE(certify(right, rows, {}).holds()) << certify(right, rows, {}).message;
  GpClassification short_spec = *spec;  // one step of Newton's: regression on the working response
  short_spec.max_iterations = 1;
  const auto one_step = fit(Valid<GpClassification>(short_spec), rows, {});
  EXPECT_FALSE(one_step.certificate.holds());
  GpClassificationModel claimed = one_step;
  claimed.spec = right.spec;
  EXPECT_FALSE(certify(claimed, rows, {}).holds());
  GpClassificationModel no_volume = right;  // the likelihood at the mode alone
  no_volume.log_evidence.of(0) = -right.objective.of(0);
  EXPECT_FALSE(certify(no_volume, rows, {}).holds());
}

// Expectation propagation.

constexpr GpInference kEp = GpInference::ep;

/// Moments of σ(t f) N(f; m, v) by small steps.
std::array<double, 3> moments(double t, double m, double v) {
  double mass = 0, first = 0, second = 0;
  const double sd = std::sqrt(v), step = 2.5e-4;
  for (int i = -40000; i <= 40000; ++i) {
    const double z = i * step, f = m + sd * z,
                 w = step / std::sqrt(2 * M_PI) * std::exp(-0.5 * z * z) * logistic(t * f);
    mass += w;
    first += w * f;
    second += w * f * f;
  }
  first /= mass;
  return {mass, first, second / mass - first * first};
}

/// Rows that have nothing to do with each other have the moments of their own posterior, without any approximation.
TEST(GpClassification, PropagationIsExactForRowsApart) {
  const Matrix x{{0.0}, {1e3}};
  const std::vector<std::string> label{"no", "yes"};
  for (const double variance : {0.5, 4.0, 400.0}) {
    const auto m =
        fit(GpClassification{.kernel = Kernel::parse(fmt::format("{}*rbf(1)", variance)), .inference = kEp}, x, label);
    ASSERT_TRUE(m.certificate.holds()) << m.certificate.message;
    EXPECT_EQ(m.certificate.strength, Strength::consistent);
    EXPECT_NEAR(m.log_evidence.of(0), 2 * std::log(0.5), 1e-10);
    const auto latent = m.latent(x);
    for (Index i = 0; i < 2; ++i) {
      const auto exact = moments(i == 1 ? 1 : -1, 0, variance);
      EXPECT_NEAR(latent.mean(i, 0), exact[1], 1e-9 * std::sqrt(variance)) << variance;
      EXPECT_NEAR(latent.variance(i, 0), exact[2], 1e-9 * variance) << variance;
    }
  }
}

/// Two rows that know of each other: the evidence by a sum over both functions' values.
TEST(GpClassification, PropagationIsNearerToTheEvidenceThanLaplace) {
  const Matrix x{{0.0}, {0.8}, {-0.5}};
  const std::vector<std::string> label{"yes", "yes", "no"};
  const double variance = 6;
  const Kernel kernel = Kernel::parse("6*rbf(0.5)");
  const BoundKernel bound(kernel, Points(x));
  const Matrix l = cholesky(bound.gram())->transpose();
  double exact = 0;
  const double step = 0.1;
  for (int a = -70; a <= 70; ++a)
    for (int b = -70; b <= 70; ++b)
      for (int c = -70; c <= 70; ++c) {
        const Vector z = step * Vector{{double(a), double(b), double(c)}}, f = l * z;
        exact += std::exp(-0.5 * z.squaredNorm()) * logistic(f(0)) * logistic(f(1)) * logistic(-f(2));
      }
  exact = std::log(exact * std::pow(step / std::sqrt(2 * M_PI), 3));
  const auto ep = fit(GpClassification{.kernel = kernel, .inference = kEp}, x, label),
             laplace = fit(GpClassification{.kernel = kernel}, x, label);
  EXPECT_NEAR(ep.log_evidence.of(0), exact, 2e-3) << variance;
  EXPECT_LT(std::abs(ep.log_evidence.of(0) - exact), 0.1 * std::abs(laplace.log_evidence.of(0) - exact));
}

TEST(GpClassification, PropagationOfManyRowsIsAFixedPoint) {
  const Pima pima;
  const Labels codes = pima.codes();
  MemoryRows rows(pima.x);
  rows.labels(codes, {"No", "Yes"});
  const Valid<GpClassification> spec(GpClassification{.kernel = four_rbf(0.125), .inference = kEp});
  const auto m = fit(spec, rows, {});
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  EXPECT_TRUE(certify(m, rows, {}).holds()) << certify(m, rows, {}).message;
  EXPECT_EQ(m.objective.size(), 0);
  const auto laplace = fit(Valid<GpClassification>(GpClassification{.kernel = four_rbf(0.125)}), rows, {});
  EXPECT_GT(m.log_evidence.of(0), laplace.log_evidence.of(0));
  EXPECT_NEAR(m.log_evidence.of(0), laplace.log_evidence.of(0), 5);
  EXPECT_LT((m.probabilities(pima.x) - laplace.probabilities(pima.x)).cwiseAbs().maxCoeff(), 0.1);
  FitOptions one;
  one.threads = 1;
  EXPECT_EQ(fit(spec, rows, one).dual_coefficients.of, m.dual_coefficients.of) << "the same bits";

  GpClassificationModel shifted = m;
  shifted.dual_coefficients.of *= 1.0001;
  GpClassificationModel evidence = m;
  evidence.log_evidence.of(0) = laplace.log_evidence.of(0);
  GpClassificationModel curvature = m;  // Laplace's W in the place of the sites
  for (Index i = 0; i < m.weights.size(); ++i) {
    const double f = laplace.decision(pima.x.row(i))(0, 0);
    curvature.site_precision.of(0, i) = logistic(f) * logistic(-f);
  }
  curvature.dual_coefficients = laplace.dual_coefficients;
  GpClassification short_spec = *spec;  // sites that are found once, each from the prior
  short_spec.max_iterations = 1;
  const auto one_turn = fit(Valid<GpClassification>(short_spec), rows, {});
  EXPECT_FALSE(one_turn.certificate.holds());
  EXPECT_EQ(one_turn.warnings.size(), 1U);
  for (const auto& wrong : {shifted, evidence, curvature, one_turn}) EXPECT_FALSE(certify(wrong, rows, {}).holds());
}

TEST(GpClassification, WeightsAreCopiesForPropagationToo) {
  const svm_test::Clouds data(30);
  std::vector<Index> copies;
  std::vector<double> weight;
  Labels code;
  for (Index i = 0; i < 30; ++i) {
    weight.push_back(static_cast<double>((i / 2) % 3));
    for (Index c = 0; c < (i / 2) % 3; ++c) {
      copies.push_back(i);
      code.push_back(data.codes()[at(i)]);
    }
  }
  const Labels all = data.codes();
  MemoryRows weighted(data.x);
  weighted.labels(all, {"left", "right"}).weights(weight);
  const Matrix repeated = data.x(copies, Eigen::all);
  MemoryRows plain(repeated);
  plain.labels(code, {"left", "right"});
  const Valid<GpClassification> spec(GpClassification{.kernel = four_rbf(0.5), .inference = kEp});
  const auto a = fit(spec, weighted, {}), b = fit(spec, plain, {});
  EXPECT_LT((a.probabilities(data.x) - b.probabilities(data.x)).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_NEAR(a.log_evidence.of(0), b.log_evidence.of(0), 1e-7);
  std::vector<double> half(30, 0.5);
  MemoryRows halved(data.x);
  halved.labels(all, {"left", "right"}).weights(half);
  const auto c = fit(spec, halved, {});
  EXPECT_TRUE(c.certificate.holds()) << c.certificate.message;
  EXPECT_TRUE(certify(c, halved, {}).holds()) << certify(c, halved, {}).message;
}

TEST(GpClassification, PropagationTellsSeveralClassesAndRowsOfWhichFIsKnown) {
  const Table iris = dataset("iris");
  const Matrix x = columns_of(iris, {"petal_length", "petal_width"});
  const auto m = fit(GpClassification{.kernel = four_rbf(0.5), .inference = kEp}, x, labels_of(iris, "species"));
  EXPECT_EQ(m.site_precision.of.rows(), 3);
  EXPECT_TRUE(m.certificate.holds()) << m.certificate.message;
  const Labels said = m.predict(x);
  Index errors = 0;
  for (Index i = 0; i < 150; ++i) errors += said[at(i)] != i / 50;
  EXPECT_LE(errors, 8);
  const Matrix line{{0.0}, {1.0}, {-1.0}, {2.0}};  // a plane through the origin is 0 there
  const auto plane = fit(GpClassification{.kernel = LinearKernel{}, .inference = kEp}, line,
                         std::vector<std::string>{"a", "a", "b", "a"});
  EXPECT_TRUE(plane.certificate.holds()) << plane.certificate.message;
  EXPECT_NEAR(plane.probabilities(line)(0, 0), 0.5, 1e-15);
  EXPECT_GT(plane.probabilities(line)(3, 0), plane.probabilities(line)(1, 0));
}

TEST(GpClassification, RefusesWhatIsNoCovariance) {
  const svm_test::Clouds data(20);
  EXPECT_TRUE(contains(message_of([&] { fit(GpClassification{.kernel = Tanh{}}, Matrix(5 * data.x), data.label); }),
                       "no covariance"));
  EXPECT_TRUE(contains(message_of([&] { fit(GpClassification{.kernel = Precomputed{}}, data.x, data.label); }),
                       "precomputed kernel"));
  EXPECT_TRUE(contains(message_of([&] { fit(GpClassification{.gigabytes = 1e-9}, data.x, data.label); }), "gigabytes"));
}

}  // namespace
}  // namespace lemma
