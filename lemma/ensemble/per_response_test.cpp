// lemma/ensemble/per_response_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/ensemble/per_response.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/store.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TrainedModel trained(const std::string& method, const std::string& how, const Table& table) {
  Value params = Value::object();
  auto named = method_from(method, catalog(), params);
  return train(named, params, formula(how), MemoryTableStream(table));
}

TEST(PerResponse, IsTheMethodForEachResponse) {
  const Table iris = dataset("iris");
  for (const std::string base : {"ols", "ridge(lambda=2)", "knn(k=7)", "kernel_ridge(lambda=0.5)", "tree"}) {
    const TrainedModel both =
        trained("per_response(" + base + ")", "cbind(petal_length, petal_width) ~ sepal_length + sepal_width", iris);
    EXPECT_TRUE(both.model->certificate().holds()) << base << ": " << both.model->certificate().message;
    const Matrix said = both.predict(iris).matrix(kValuesPart.name);
    ASSERT_EQ(said.cols(), 2);
    const char* responses[] = {"petal_length", "petal_width"};
    for (Index k = 0; k < 2; ++k) {
      const TrainedModel one = trained(base, std::string(responses[k]) + " ~ sepal_length + sepal_width", iris);
      EXPECT_EQ(said.col(k), one.predict(iris).value()) << base;
    }
  }
}

TEST(PerResponse, TakesNumbersAndClassesTogether) {
  const Table iris = dataset("iris");
  const TrainedModel model =
      trained("per_response(knn(k=5))", "cbind(petal_width, species) ~ sepal_length + petal_length", iris);
  EXPECT_EQ(model.model->response_classes(), (std::vector<Index>{0, 3}));
  const TrainedModel species = trained("knn(k=5)", "species ~ sepal_length + petal_length", iris);
  const Matrix said = model.predict(iris).matrix(kValuesPart.name);
  const Labels expected = species.predict(iris).label();
  for (Index i = 0; i < 150; ++i) EXPECT_EQ(said(i, 1), expected[at(i)]);
}

TEST(PerResponse, OfOneResponseIsTheMethodItself) {
  const Table iris = dataset("iris");
  const TrainedModel number = trained("per_response(ols)", "petal_width ~ sepal_length", iris);
  EXPECT_EQ(number.predict(iris).value(), trained("ols", "petal_width ~ sepal_length", iris).predict(iris).value());
  const TrainedModel classes = trained("per_response(lda)", "species ~ sepal_length + petal_width", iris);
  EXPECT_EQ(classes.predict(iris).label(),
            trained("lda", "species ~ sepal_length + petal_width", iris).predict(iris).label());
  EXPECT_GT(classes.predict(iris).probabilities().size(), 0);
}

TEST(PerResponse, IsKeptInFilesAndVerified) {
  const Table iris = dataset("iris");
  const TrainedModel model =
      trained("per_response(ols)", "cbind(petal_length, petal_width) ~ sepal_length + species", iris);
  const TrainedModel again = decode(encode(model), catalog(), "m");
  EXPECT_EQ(again.predict(iris).matrix(kValuesPart.name), model.predict(iris).matrix(kValuesPart.name));
  EXPECT_TRUE(again.verify(MemoryTableStream(iris)).certificate.holds());
}

/// The model of one response in the place of another's.
TEST(PerResponse, TheNaturalWrongModelsOfOtherResponsesFail) {
  const Table iris = dataset("iris");
  const TrainedModel model = trained("per_response(ols)", "cbind(petal_length, petal_width) ~ sepal_length", iris);
  PerResponseModel swapped = *model_cast<PerResponseModel>(model.model);
  std::swap(swapped.models[0], swapped.models[1]);
  const Matrix x = model.design.train(iris).x;
  const auto data = model.design.train(iris);
  MemoryRows rows(x);
  rows.several(data.responses, {{"petal_length"}, {"petal_width"}});
  EXPECT_TRUE(certify(*model_cast<PerResponseModel>(model.model), rows, {}).holds());
  EXPECT_FALSE(certify(swapped, rows, {}).holds());
}

TEST(PerResponse, SaysWhichResponseCannotBeFitted) {
  const Table t({numeric("a", {1, 2, 3, 4}), categorical("b", {"p", "q", "p", "q"}), numeric("x", {1, 3, 2, 5})});
  EXPECT_TRUE(contains(message_of([&] { trained("per_response(ols)", "cbind(a, b) ~ x", t); }), "'b' is categorical"));
  EXPECT_TRUE(contains(message_of([&] { trained("per_response(kmeans)", "cbind(a, x) ~ x", t); }), "predicts neither"));
  EXPECT_TRUE(contains(message_of([&] { trained("per_response(knn(k=9))", "cbind(a, b) ~ x", t); }), "a: knn: k is 9"));
}

}  // namespace
}  // namespace lemma
