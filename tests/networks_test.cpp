// tests/networks_test.cpp: networks held against the methods that they are without activations, or without hidden layers.
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/stream.hpp>
#include <lemma/model/train.hpp>

namespace lemma {
namespace {

Prediction said_by(const std::string& text, const std::string& formula_text, const Table& table,
                   const std::string& more = "{}") {
  Value params;
  const auto method = method_from(text, catalog(), params);
  const Value given = from_json(more);
  for (const auto& [name, value] : given.as_object()) params.set(name, value);
  return train(method, params, formula(formula_text), MemoryTableStream(table)).predict(table);
}

TEST(Networks, WithoutActivationsPredictAsOlsDoes) {
  const Table boston = dataset("boston");
  const Vector ols = said_by("ols", "medv ~ .", boston).value();
  const std::string net = "mlp(activation=identity, decay=0, tolerance=1e-9, solver=lbfgs)";
  for (const char* layers : {R"({"layers": []})", R"({"layers": [6]})", R"({"layers": [6, 4]})"})
    EXPECT_LE((said_by(net, "medv ~ .", boston, layers).value() - ols).cwiseAbs().maxCoeff(), 1e-4) << layers;
}

TEST(Networks, WithoutHiddenLayersGiveTheProbabilitiesOfMultinomial) {
  const Table iris = dataset("iris");
  const Matrix multinomial = said_by("multinomial(lambda=2)", "species ~ .", iris).probabilities();
  const Matrix net = said_by("mlp(decay=2, tolerance=1e-9)", "species ~ .", iris, R"({"layers": []})").probabilities();
  EXPECT_LE((net - multinomial).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Networks, OfCountsWithoutHiddenLayersAreAPoissonGlm) {
  const Table pima = dataset("pima_train");
  const std::string columns = "npreg ~ age + bmi + glu";
  const Vector glm = said_by("glm(family=poisson)", columns, pima).value();
  const Vector net = said_by("mlp(loss=poisson, decay=0, tolerance=1e-9)", columns, pima, R"({"layers": []})").value();
  EXPECT_LE((net - glm).cwiseAbs().maxCoeff(), 1e-5);
}

}  // namespace
}  // namespace lemma
