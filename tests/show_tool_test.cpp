// tests/show_tool_test.cpp: what a stored model can be asked for: show, sample, parts of predictions by their names.
#include "run_tool.hpp"

#include <gtest/gtest.h>
#include <lemma/core/value.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(ShowTool, AModelIsPrintedAgainAsFitDidIt) {
  const Folder in;
  const auto fit = in.lemma("fit lda iris 'species ~ .' -o m.lemma");
  EXPECT_EQ(in.lemma("show m.lemma").out, fit.out);
  const auto json = in.lemma("fit lda iris 'species ~ .' --json");
  EXPECT_EQ(in.lemma("show m.lemma --json").out, json.out);
}

TEST(ShowTool, AResultIsATableWithTheNamesOfWhatItRunsAlong) {
  const Folder in;
  in.lemma("fit lda iris 'species ~ .' -o m.lemma");
  const auto means = in.lemma("show m.lemma means");
  EXPECT_EQ(first_line(means.out), "class,sepal_length,sepal_width,petal_length,petal_width");
  EXPECT_TRUE(contains(means.out, "\nsetosa,5.006,")) << means.out;
  EXPECT_EQ(first_line(in.lemma("show m.lemma prior").out), "class,prior");
  EXPECT_EQ(first_line(in.lemma("show m.lemma scaling").out), "feature,LD1,LD2");
  EXPECT_EQ(in.lemma("show m.lemma means -o means.csv").code, 0);
  EXPECT_EQ(in.read("means.csv"), means.out);
  const auto unknown = in.lemma("show m.lemma mean");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "did you mean 'means'?")) << unknown.err;
  EXPECT_EQ(in.lemma("show m.lemma -o all.csv").code, 2);
}

TEST(ShowTool, CovariancesAndHyperparametersHaveTheirNames) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit lda iris 'species ~ petal_length + petal_width' -o l.lemma").code, 0);
  EXPECT_TRUE(in.lemma("show l.lemma covariance").out.starts_with("feature,petal_length,petal_width\npetal_length,"));
  ASSERT_EQ(in.lemma("fit gp mcycle 'accel ~ times' -o g.lemma").code, 0);
  const std::string shown = in.lemma("show g.lemma hyperparameters").out;
  EXPECT_TRUE(shown.starts_with("name,hyperparameters\nconstant,")) << shown;
  EXPECT_TRUE(contains(shown, "\nnoise,")) << shown;
}

TEST(ShowTool, SupportVectorsHaveTheNumbersAndNamesOfTheFileAlsoWhenRowsAreDropped) {
  const Folder in;
  in.write("t.csv", "who,y,x\nann,a,\nbob,a,1\ncid,a,2\ndan,b,3\neve,b,4\nfay,a,1.5\n");
  const auto fit = in.lemma("fit svm t.csv 'y ~ x' --kernel linear --C 1000 --missing drop --id who -o m.lemma");
  EXPECT_EQ(fit.code, 0) << fit.err;
  EXPECT_EQ(in.lemma("show m.lemma support").out, "number,support,who\n1,3,cid\n2,4,dan\n");
}

TEST(ShowTool, RowsAreDrawnFromAGenerativeModelAndTheFirstOnesDoNotDependOnHowMany) {
  const Folder in;
  in.lemma("fit lda iris 'species ~ .' -o m.lemma");
  const auto few = in.lemma("sample m.lemma -n 3 --seed 7"), many = in.lemma("sample m.lemma -n 3000 --seed 7");
  EXPECT_EQ(first_line(few.out), "species,sepal_length,sepal_width,petal_length,petal_width");
  EXPECT_TRUE(many.out.starts_with(few.out));
  EXPECT_NE(in.lemma("sample m.lemma -n 3 --seed 8").out, few.out);
  in.write("drawn.csv", many.out);
  const auto again = in.lemma("fit lda drawn.csv 'species ~ .' --json");  // the truth comes back from its own rows
  const Matrix found = from_json(again.out).at("results").at("means").as_matrix();
  const Matrix truth = from_json(in.lemma("show m.lemma --json").out).at("results").at("means").as_matrix();
  EXPECT_LT((found - truth).cwiseAbs().maxCoeff(), 0.1);
  in.lemma("fit ols boston 'medv ~ .' -o o.lemma");
  const auto refused = in.lemma("sample o.lemma -n 3");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "ols draws no rows")) << refused.err;
}

TEST(ShowTool, PartsOfAPredictionGoByTheirNames) {
  const Folder in;
  in.lemma("fit kmeans iris '~ petal_length + petal_width' --k 3 -o k.lemma");
  EXPECT_EQ(first_line(in.lemma("predict k.lemma iris").out), "cluster");
  EXPECT_EQ(first_line(in.lemma("predict k.lemma iris --what distances").out), "distance_1,distance_2,distance_3");
  EXPECT_EQ(first_line(in.lemma("predict k.lemma iris --what cluster,distances").out),
            "cluster,distance_1,distance_2,distance_3");
  const auto unknown = in.lemma("predict k.lemma iris --what distanc");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "did you mean 'distances'?")) << unknown.err;
  EXPECT_TRUE(contains(in.lemma("fit kmeans --help").out, "[distances]"));
  in.lemma("fit svm pima_train 'type ~ .' -o s.lemma");
  const auto without = in.lemma("predict s.lemma pima_test --what probabilities");
  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(contains(without.err, "fit it with --probabilities true")) << without.err;
}

}  // namespace
}  // namespace lemma
