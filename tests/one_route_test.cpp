// tests/one_route_test.cpp: from a table to a model there is one way: what C++ fits is what the tool fits, to the last bit.
#include <gtest/gtest.h>
#include <lemma/catalog.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/linear/glm.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/model/store.hpp>
#include <lemma/neighbor/knn.hpp>
#include <lemma/reduce/impute.hpp>
#include <lemma/tree/tree.hpp>
#include <tests/contract/compare.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

/// Numbers, levels and gaps in both; a response of classes.
std::string untidy_rows() {
  std::string out = "size,colour,weight,kind\n";
  for (int i = 0; i < 60; ++i) {
    out += i % 7 == 3 ? "NA" : std::to_string((i * 37) % 23);
    out += i % 11 == 5 ? "," : i % 3 == 0 ? ",red" : i % 3 == 1 ? ",green" : ",blue";
    out += "," + std::to_string(i % 5 + 0.5 * (i % 2)) + (i % 4 < 2 ? ",a\n" : ",b\n");
  }
  return out;
}

void expect_the_tools(const TrainedModel& model, const std::string& method, const std::string& formula) {
  const Folder folder;
  folder.write("rows.csv", untidy_rows());
  const Outcome done = folder.lemma("fit " + method + " rows.csv '" + formula + "' -o model.lemma");
  ASSERT_TRUE(folder.has("model.lemma")) << done.err;
  const TrainedModel told = load(folder.path("model.lemma"), catalog());
  EXPECT_TRUE(contract::same_bits(told.model->save(), model.model->save())) << method;
  EXPECT_EQ(told.model->params(), model.model->params()) << method;
  EXPECT_EQ(told.design.features(), model.design.features()) << method;
  EXPECT_EQ(told.notes, model.notes) << method;
}

TEST(OneRoute, FromCppAModelIsThatOfTheTool) {
  const Folder folder;
  folder.write("rows.csv", untidy_rows());
  const Table table = read_csv(folder.path("rows.csv"));
  expect_the_tools(fit(Impute{}, formula("~ ."), table), "impute", "~ .");
  expect_the_tools(fit(Tree{}, formula("kind ~ ."), table), "tree", "kind ~ .");
  expect_the_tools(fit(Knn{.k = {3}, .metric = GowerMetric{}}, formula("kind ~ ."), table), "knn --k 3 --metric gower",
                   "kind ~ .");
  expect_the_tools(fit(Glm{.family = GlmFamily::poisson}, formula("I(weight * 2) ~ kind"), table),
                   "glm --family poisson", "I(weight * 2) ~ kind");
}

}  // namespace
}  // namespace lemma
