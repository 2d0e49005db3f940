// lemma/ensemble/model_average_test.cpp: weights by the likelihood of rows that were not seen, and that no others are likelier.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/ensemble/model_average.hpp>
#include <lemma/ensemble/model_average/mixture_weights.hpp>
#include <lemma/model/fit.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

AnySpec method(const char* text) { return parse_method(text).completed(); }
std::vector<AnySpec> methods(std::initializer_list<const char*> texts) {
  std::vector<AnySpec> out;
  for (const char* each : texts) out.push_back(method(each));
  return out;
}

/// A line, with a step of the given height that no line follows.
struct Stepped {
  Matrix x;
  std::vector<double> y;
  Labels label;
  MemoryRows numbers, classes;
  explicit Stepped(Index n, double step, std::uint64_t seed = 3) : x(n, 3), numbers(x), classes(x) {
    RandomStream stream(seed);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < 3; ++j) x(i, j) = stream.normal();
      y.push_back(2 * x(i, 0) + (x(i, 1) > 0 && x(i, 2) > 0 ? step : 0) + 0.5 * stream.normal());
      label.push_back(y.back() > 2 ? 2 : y.back() > 0 ? 1 : 0);
    }
    numbers.response(y);
    classes.labels(label, {"a", "b", "c"});
  }
};

Matrix random_log_densities(Index n, Index methods) {
  RandomStream stream(9);
  Matrix out(n, methods);
  for (Index i = 0; i < n; ++i)
    for (Index m = 0; m < methods; ++m) out(i, m) = std::log(0.02 + stream.uniform());
  return out;
}

TEST(MixtureLikelihood, NoWeightsOfAGridAreLikelierThanTheBest) {
  const Matrix l = random_log_densities(200, 3);
  const ensemble::MixtureLikelihood likelihood(l, Vector::Ones(200));
  const Vector best = likelihood.best();
  EXPECT_NEAR(best.sum(), 1, 1e-12);
  EXPECT_LE(likelihood.gap(best), 1e-12);
  for (int a = 0; a <= 40; ++a)
    for (int b = 0; a + b <= 40; ++b) {
      const Vector alpha{{a / 40.0, b / 40.0, (40 - a - b) / 40.0}};
      const double lacks = likelihood.at(best) - likelihood.at(alpha);
      EXPECT_GE(lacks, -1e-14);
      EXPECT_GE(likelihood.gap(alpha), lacks - 1e-14);  // the gap is never less than what is missing
    }
}

TEST(MixtureLikelihood, AMethodThatIsNeverBetterHasNoWeightAndFarDensitiesDoNotUnderflow) {
  Matrix l = random_log_densities(100, 3);
  l.col(2) = l.leftCols(2).rowwise().minCoeff().array() - 0.1;
  l.row(7).array() -= 5000;
  const ensemble::MixtureLikelihood likelihood(l, Vector::Ones(100));
  const Vector best = likelihood.best();
  EXPECT_EQ(best(2), 0);
  EXPECT_LE(likelihood.gap(best), 1e-12);
  EXPECT_TRUE(std::isfinite(likelihood.at(best)));
}

TEST(MixtureLikelihood, AWeightOfKIsKRows) {
  const Matrix l = random_log_densities(60, 4);
  Vector weight(60);
  std::vector<Index> copies;
  for (Index i = 0; i < 60; ++i) {
    weight(i) = static_cast<double>(i % 3);
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  Matrix repeated(std::ssize(copies), 4);
  for (Index r = 0; r < repeated.rows(); ++r) repeated.row(r) = l.row(copies[static_cast<std::size_t>(r)]);
  const Vector a = ensemble::MixtureLikelihood(l, weight).best(),
               b = ensemble::MixtureLikelihood(repeated, Vector::Ones(repeated.rows())).best();
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(ModelAverage, TheMixtureIsLikelierThanEachMethodAndLeansToTheBetterOne) {
  const Stepped line(300, 0), steps(300, 4);
  const auto spec = Valid<ModelAverage>(ModelAverage{.methods = methods({"ridge", "tree(folds=0)"})});
  const auto of_line = fit(spec, line.numbers, {}), of_steps = fit(spec, steps.numbers, {});
  for (const auto* model : {&of_line, &of_steps}) {
    EXPECT_TRUE(model->certificate.holds()) << model->certificate.message;
    EXPECT_GE(model->log_likelihood, model->log_likelihoods.maxCoeff() - 1e-12);
  }
  EXPECT_GT(of_line.weights(0), 0.9);
  EXPECT_GT(of_steps.weights(1), of_line.weights(1));
  const Vector expected = of_steps.weights(0) * of_steps.models[0].predict(steps.x).value() +
                          of_steps.weights(1) * of_steps.models[1].predict(steps.x).value();
  EXPECT_LT((of_steps.predict(steps.x) - expected).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ModelAverage, OfClassesAveragesProbabilities) {
  const Stepped data(300, 4);
  const ModelAverage spec{.methods = methods({"lda", "tree(folds=0)", "knn(k=15)"})};
  const auto model = fit(Valid<ModelAverage>(spec), data.classes, {});
  EXPECT_TRUE(verify(model, data.classes).holds()) << verify(model, data.classes).message;
  const Matrix p = model.probabilities(data.x);
  EXPECT_LT((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_GE(model.log_likelihood, model.log_likelihoods.maxCoeff() - 1e-12);
}

TEST(ModelAverage, OtherRulesWeighByEachLikelihoodOrNotAtAll) {
  const Stepped data(60, 1);
  ModelAverage spec{.methods = methods({"ridge", "ridge(lambda=30)", "tree(folds=0)"}), .by = AverageBy::posterior};
  const auto posterior = fit(Valid<ModelAverage>(spec), data.numbers, {});
  const double odds = posterior.weights(0) / posterior.weights(1);
  EXPECT_NEAR(std::log(odds), 60 * (posterior.log_likelihoods(0) - posterior.log_likelihoods(1)), 1e-9);
  EXPECT_TRUE(verify(posterior, data.numbers).holds());
  spec.by = AverageBy::equal;
  const auto equal = fit(Valid<ModelAverage>(spec), data.numbers, {});
  EXPECT_EQ(equal.weights, Vector::Constant(3, 1.0 / 3));
  EXPECT_TRUE(verify(equal, data.numbers).holds());
}

TEST(ModelAverage, DoesNotDependOnTheOrderOfTheRowsAndTakesAWeightForCopies) {
  const Stepped data(80, 3);
  std::vector<Index> turned, copies;
  std::vector<double> w;
  for (Index i = 0; i < 80; ++i) {
    turned.push_back(79 - i);
    w.push_back(static_cast<double>(i % 3));
    for (Index c = 0; c < i % 3; ++c) copies.push_back(i);
  }
  const Valid<ModelAverage> spec(ModelAverage{});
  const auto m = fit(spec, data.numbers, {}), n = fit(spec, SelectedRows(data.numbers, turned), {});
  EXPECT_LT((m.predict(data.x) - n.predict(data.x)).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_TRUE(verify(m, SelectedRows(data.numbers, turned)).holds());
  MemoryRows weighted(data.x);
  weighted.response(data.y).weights(w);
  const auto a = fit(spec, weighted, {}), b = fit(spec, SelectedRows(data.numbers, copies), {});
  EXPECT_LT((a.predict(data.x) - b.predict(data.x)).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(ModelAverage, AConstantResponseIsPredictedAsItIs) {
  const Stepped data(40, 1);
  const std::vector<double> same(40, 7.5);
  MemoryRows rows(data.x);
  rows.response(same);
  const auto model = fit(Valid<ModelAverage>(ModelAverage{}), rows, {});
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_LT((model.predict(data.x).array() - 7.5).abs().maxCoeff(), 1e-9);
}

TEST(ModelAverage, RefusesWhatItCannotUse) {
  const Stepped data(30, 1);
  const auto refused = [&](const ModelAverage& spec, const Rows& rows) {
    return message_of([&] { fit(Valid<ModelAverage>(spec), rows, {}); });
  };
  EXPECT_NE(refused({.methods = methods({"lda", "perceptron"})}, data.classes).find("calibrate(perceptron) does"),
            std::string::npos);
  EXPECT_NE(refused({.methods = methods({"kmeans"})}, data.classes).find("neither classes nor numbers"),
            std::string::npos);
  EXPECT_NE(refused({.folds = 40}, data.numbers).find("40 folds need as many different rows"), std::string::npos);
}

TEST(ModelAverage, TheNaturalWrongWeightsFailItsCertificate) {
  const Stepped data(120, 2);
  const ModelAverage spec{.methods = methods({"kernel_neighbors(k=1)", "ridge"})};
  const auto right = fit(Valid<ModelAverage>(spec), data.numbers, {});
  ASSERT_TRUE(verify(right, data.numbers).holds()) << verify(right, data.numbers).message;
  ModelAverageModel seen =
      right;  // by what the models say of rows that they have seen: the nearest neighbour knows them by heart
  seen.weights = Vector{{1, 0}};
  EXPECT_FALSE(certify(seen, data.numbers, {}).holds());
  seen.log_likelihood = seen.log_likelihoods(0);  // and even if that is told
  const Certificate found = certify(seen, data.numbers, {});
  EXPECT_GT(found.value, 0.01);
  EXPECT_NE(found.message.find("No other weights"), std::string::npos);
  ModelAverageModel inverse = right;  // in proportion to one over the squared errors
  const Vector w = right.deviations.array().square().inverse();
  inverse.weights = w / w.sum();
  EXPECT_FALSE(certify(inverse, data.numbers, {}).holds());
}

}  // namespace
}  // namespace lemma
