// tests/conventions_test.cpp: one meaning each: the table of conventions, as the user meets them.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/lemma.hpp>
#include <lemma/metric/classification.hpp>
#include <map>
#include <tests/contract/compare.hpp>

namespace lemma {
namespace {

TrainedModel trained(const std::string& method, const std::string& how, const Table& table,
                     const TrainOptions& options = {}) {
  Value params;
  const auto chosen = method_from(method, catalog(), params);
  return train(chosen, params, formula(how), MemoryTableStream(table), options);
}

Value results(const TrainedModel& model) { return model.model->results(model.names()); }

const Table& numbers() {
  static const Table table({numeric("y", {1, 3, 2, 5, 4, 7}), numeric("x", {0, 1, 2, 3, 4, 5}),
                            numeric("z", {1, 0, 2, 1, 3, 5}), categorical("g", {"b", "B", "a", "b", "a", "B"}),
                            numeric("w", {1, 2, 0, 3, 1, 1})});
  return table;
}

TEST(Conventions, OneThingHasOneNameInAllMethods) {
  const std::map<std::string, std::string> other_words{
      {"iterations", "max_iterations"}, {"max_iter", "max_iterations"},
      {"sweeps", "max_iterations"},     {"max_sweeps", "max_iterations"},
      {"lambdas", "path_length"},       {"steps", "path_length"},
      {"ratio", "path_ratio"},          {"least", "path_ratio"},
      {"starts", "restarts"},           {"tol", "tolerance"},
      {"fit_intercept", "intercept"},   {"standardise", "standardize"}};
  std::size_t seen = 0;
  for (const Method* method : catalog())
    for (const auto& param : method->params()) {
      const auto found = other_words.find(param.name);
      if (found != other_words.end()) ADD_FAILURE() << method->name() << ": " << param.name << " is " << found->second;
      seen += param.name == "max_iterations";
    }
  EXPECT_GT(seen, 30U);
}

TEST(Conventions, LevelsAreOrderedByTheirBytes) {
  EXPECT_EQ(Design(formula("g ~ x"), numbers(), {.classify = true}).classes(),
            (std::vector<std::string>{"B", "a", "b"}));
}

TEST(Conventions, NumbersThatAreLevelsAreOrderedByTheirValues) {
  const Table table({numeric("k", {10, 2, 3, 10}), numeric("x", {1, 2, 3, 4})});
  EXPECT_EQ(Design(formula("k ~ x"), table, {.classify = true}).classes(), (std::vector<std::string>{"2", "3", "10"}));
  EXPECT_EQ(Design(formula("x ~ factor(k)"), table).features(),
            (std::vector<std::string>{"factor(k)3", "factor(k)10"}));
}

TEST(Conventions, TheFirstLevelIsTheReference) {
  EXPECT_EQ(Design(formula("y ~ g"), numbers()).features(), (std::vector<std::string>{"ga", "gb"}));
}

TEST(Conventions, OfTwoClassesTheSecondIsThePositiveOne) {
  const Table table({categorical("sick", {"no", "no", "no", "yes", "yes", "yes"}), numeric("x", {0, 1, 2.5, 2, 3, 4})});
  const auto model = trained("lda", "sick ~ x", table);
  EXPECT_EQ(model.design.classes(), (std::vector<std::string>{"no", "yes"}));
  const auto prediction = model.predict(Table({numeric("x", {-5, 9})}));
  EXPECT_LT(prediction.probabilities()(0, 1), 0.01);
  EXPECT_GT(prediction.probabilities()(1, 1), 0.99);
  const auto score =
      score_classification({0, 0, 1, 1}, {{0, 1, 1, 1}, {}, {}}, 2);  // one false alarm, no sick one missed
  EXPECT_EQ(find_measure(score.measures, "sensitivity")->value, 1);
  EXPECT_EQ(find_measure(score.measures, "specificity")->value, 0.5);
}

TEST(Conventions, AJointClassIsWrittenWithAColon) {
  const auto model = trained("lda", "sp:sex ~ FL + RW", dataset("crabs"));
  EXPECT_EQ(model.design.target(), "sp:sex");
  EXPECT_EQ(model.design.classes(), (std::vector<std::string>{"B:F", "B:M", "O:F", "O:M"}));
}

void expect_turned(const Matrix& axes, const std::string& what) {  // an axis in each column
  for (Index j = 0; j < axes.cols(); ++j) {
    Index largest = 0;
    axes.col(j).cwiseAbs().maxCoeff(&largest);
    EXPECT_GT(axes(largest, j), 0) << what << ", axis " << j + 1;
  }
}

TEST(Conventions, AnAxisIsTurnedSoThatItsLargestEntryIsPositive) {
  const Table crabs = dataset("crabs");
  const std::string columns = "FL + RW + CL + CW + BD";
  expect_turned(results(trained("pca", "~ " + columns, crabs)).at("loadings").as_matrix(), "pca");
  expect_turned(results(trained("lda", "sp:sex ~ " + columns, crabs)).at("scaling").as_matrix(), "lda");
  const Table mirrored({numeric("a", {0, -1, -2, -3}), numeric("b", {0, 2, 4, 6.5})});
  expect_turned(results(trained("pca", "~ a + b", mirrored)).at("loadings").as_matrix(), "pca of a falling line");
}

TEST(Conventions, VariancesHaveDivisorNMinusOne) {  // of 0 … 5: Σ (x − 2.5)² = 17.5
  EXPECT_NEAR(results(trained("pca", "~ x", numbers())).at("sdev").as_vector()(0), std::sqrt(17.5 / 5), 1e-14);
  EXPECT_NEAR(results(trained("scale", "~ x", numbers())).at("scale").as_vector()(0), std::sqrt(17.5 / 5), 1e-14);
}

TEST(Conventions, LdaPoolsWithDivisorNMinusK) {  // scatter within B, a, b: 8, 2, 4.5; with unit scaling² · S = 1
  const auto model = trained("lda", "g ~ x", numbers());
  const double scaling = results(model).at("scaling").as_matrix()(0, 0);
  EXPECT_NEAR(1 / (scaling * scaling), (8 + 2 + 4.5) / (6 - 3), 1e-12);
}

TEST(Conventions, MissingValuesAreAnErrorThatCountsThemByColumn) {
  const double nan = std::nan("");
  const Table table(
      {numeric("y", {1, 2, 3, 4, 5}), numeric("age", {1, nan, 3, nan, nan}), numeric("height", {nan, 2, 1, 5, 3})});
  const auto complaints =
      contract::must_refuse("missing", [&] { trained("ols", "y ~ age + height", table); }, {"age", "3", "height", "1"});
  for (const auto& complaint : complaints) ADD_FAILURE() << complaint.message;
  TrainOptions drop;
  drop.design.missing = Missing::drop;
  EXPECT_FALSE(trained("ols", "y ~ height", table, drop).notes.empty());
}

TEST(Conventions, AWeightOfKIsKRows) {
  TrainOptions weighted;
  weighted.design.weights = "w";
  EXPECT_EQ(results(trained("ols", "y ~ x", numbers(), weighted)).at("df_residual").as_double(), 8 - 2);  // Σw − 2
}

TEST(Conventions, APrecisionLeavesTheNumberOfRowsAsItIs) {
  TrainOptions precise;
  precise.design.precision = "p";
  Table table = numbers();
  table.add(numeric("p", {1, 2, 1, 3, 1, 1}));
  EXPECT_EQ(results(trained("ols", "y ~ x", table, precise)).at("df_residual").as_double(), 6 - 2);
}

TEST(Conventions, AnAliasedCoefficientIsNullAndNamed) {
  Table table = numbers();
  table.add(numeric("twice", {0, 2, 4, 6, 8, 10}));
  const auto model = trained("ols", "y ~ x + twice + z", table);
  const Vector coefficients = results(model).at("coefficients").as_vector();
  EXPECT_FALSE(std::isnan(coefficients(0)));  // pivoted as in R: the later column is left out
  EXPECT_TRUE(std::isnan(coefficients(1)));
  EXPECT_FALSE(std::isnan(coefficients(2)));
  EXPECT_EQ(results(model).at("rank").as_integer(), 3);
  ASSERT_FALSE(model.model->warnings().empty());
  EXPECT_NE(model.model->warnings().front().find("twice"), std::string::npos);
  const std::string json = to_json(results(model));
  EXPECT_NE(json.find("null"), std::string::npos);
  EXPECT_FALSE(json.find("nan") != std::string::npos || json.find("NaN") != std::string::npos);
  EXPECT_NE(model.model->summary(model.names()).find("NA"), std::string::npos);
}

TEST(Conventions, NeitherNanNorInfinityIsWrittenToJson) {
  const Value odd = std::vector<double>{std::nan(""), INFINITY, -INFINITY, 1};
  EXPECT_EQ(to_json(odd, -1), "[null,null,null,1]");
}

TEST(Conventions, ARowIsAnExample) {
  EXPECT_TRUE(Matrix::IsRowMajor);
  EXPECT_EQ(Design(formula("y ~ x + z"), numbers()).train(numbers()).x.rows(), 6);
}

TEST(Conventions, TheInterceptIsNoFeatureAndTheFormulaCanLeaveItOut) {
  const auto with = trained("ols", "y ~ x", numbers()), without = trained("ols", "y ~ x - 1", numbers());
  EXPECT_EQ(with.design.features(), (std::vector<std::string>{"x"}));
  EXPECT_TRUE(results(with).at("intercept").is_number());
  EXPECT_EQ(results(without).at("df_residual").as_double(), 5);
  EXPECT_FALSE(without.model->params().at("intercept").as_bool());
}

TEST(Conventions, WhatDoesNotPredictDoesNotMakeUpAPrediction) {
  const auto scaled = trained("scale", "~ x + z", numbers()).predict(numbers());
  EXPECT_EQ(scaled.value().size() + static_cast<Index>(scaled.label().size()), 0);
  EXPECT_EQ(scaled.coordinates().rows(), 6);
}

TEST(Conventions, AStepMayBeAnythingWithCoordinates) {
  const auto neighbours = trained("lda | kernel_neighbors", "species ~ .", dataset("iris"));
  EXPECT_EQ(neighbours.model->width(), 4);
  EXPECT_EQ(neighbours.predict(dataset("iris")).label().size(), 150u);
  const auto axes = trained("lda | pca", "species ~ .", dataset("iris"));
  EXPECT_EQ(axes.predict(dataset("iris")).coordinates().cols(), 2);
  EXPECT_EQ(decode(encode(axes), catalog(), "axes").predict(dataset("iris")).coordinates(),
            axes.predict(dataset("iris")).coordinates());
}

TEST(Conventions, ACertificateThatIsNotANumberDoesNotHold) {
  Certificate certificate;
  certificate.strength = Strength::consistent;
  certificate.tolerance = 1;
  EXPECT_TRUE(certificate.holds());
  certificate.value = std::nan("");
  EXPECT_FALSE(certificate.holds());
}

}  // namespace
}  // namespace lemma
