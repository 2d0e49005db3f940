// tests/decisions_tool_test.cpp: curve, decide, calibrate, generate, risk, bound and bias_variance as a user calls them.
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Value document(const Folder& in, const std::string& call) {
  const auto found = in.lemma(call + " --json");
  EXPECT_EQ(found.code, 0) << call << ": " << found.err;
  return found.out.empty() ? Value() : from_json(found.out);
}

struct Pima : Folder {
  Pima() {
    lemma("fit lda pima_train 'type ~ .' -o lda.lemma");
    lemma("fit linear_svm pima_train 'type ~ glu + bmi' -o svm.lemma");
    write("loss.csv", "No,Yes\n0,1\n5,0\n");
  }
};

TEST(CurveTool, PointsAreACsvFileOrADocument) {
  const Pima in;
  ASSERT_EQ(in.lemma("curve roc lda.lemma svm.lemma pima_test -o roc.csv").code, 0);
  EXPECT_TRUE(
      in.read("roc.csv").starts_with("model,threshold,false_positive_rate,true_positive_rate\nlda.lemma,,0,0\n"));
  const Value both = document(in, "curve roc lda.lemma svm.lemma pima_test");
  EXPECT_EQ(both.at("pairs").as_list().size(), 1u);
  EXPECT_EQ(both.at("models").as_list()[0].at("rows").as_integer(), 332);
  const auto piped = in.lemma("curve pr lda.lemma pima_test -o -");
  EXPECT_TRUE(piped.out.starts_with("threshold,recall,precision\n")) << piped.out;
  EXPECT_TRUE(contains(in.lemma("curve lift lda.lemma pima_test").out, "lift_0.1"));
  EXPECT_TRUE(contains(in.lemma("curve learning ols boston 'medv ~ lstat' --shares 1 --folds 2").out, "rmse of ols"));
}

TEST(CurveTool, MistakesAreNamed) {
  const Pima in;
  EXPECT_TRUE(contains(in.lemma("curve rok lda.lemma pima_test").err, "roc"));
  EXPECT_TRUE(contains(in.lemma("curve roc lda.lemma").err, "needs a model and data"));
  EXPECT_TRUE(contains(in.lemma("curve calibration svm.lemma pima_test").err, "gives no probabilities"));
  EXPECT_TRUE(contains(in.lemma("curve roc lda.lemma pima_test --bins 5").err, "--bins and --by are of calibration"));
  EXPECT_TRUE(contains(in.lemma("curve roc lda.lemma pima_test --positive yes").err, "did you mean 'Yes'"));
}

TEST(EvaluateTool, AlsoAddsMeasures) {
  const Pima in;
  const Value found = document(in, "evaluate lda.lemma pima_test --also ece,brier_parts").at("measures");
  EXPECT_TRUE(found.find("ece") && found.find("reliability"));
  EXPECT_TRUE(contains(in.lemma("evaluate lda.lemma pima_test --also ecce").err, "ece"));
}

TEST(DecideTool, TheRuleIsKeptWithTheModelAndPredictFollowsIt) {
  const Pima in;
  const Value found = document(in, "decide lda.lemma pima_test --loss loss.csv --reject 0.6 -o careful.lemma");
  EXPECT_LT(found.at("on_rows").at("measures").at("cost").as_double(),
            found.at("on_rows").at("cost_of_most_probable").as_double());
  EXPECT_EQ(document(in, "show careful.lemma").at("method").as_string(), "decide");
  EXPECT_EQ(in.lemma("verify careful.lemma pima_train").code, 0);
  const auto said = in.lemma("predict careful.lemma pima_test --what class,decided");
  EXPECT_TRUE(said.out.starts_with("class,decided\n")) << said.out.substr(0, 60) << said.err;
  EXPECT_TRUE(contains(said.out, "Yes,\n") || contains(said.out, "No,\n"));  // withheld
  EXPECT_EQ(document(in, "evaluate careful.lemma pima_test").at("method").as_string(), "decide");
  const auto again = in.lemma("decide careful.lemma -o plain.lemma");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(in.lemma("predict plain.lemma pima_test --what class").out,
            in.lemma("predict lda.lemma pima_test --what class").out);
}

TEST(DecideTool, MistakesAreNamed) {
  const Pima in;
  EXPECT_TRUE(contains(in.lemma("decide svm.lemma --reject 0.1").err, "calibrate(linear_svm) does"));
  in.write("names.csv", "No,Maybe\n0,1\n5,0\n");
  EXPECT_TRUE(contains(in.lemma("decide lda.lemma --loss names.csv").err, "column 'Maybe' is no class"));
  in.write("named.csv", "true,No,Yes\nYes,5,0\nNo,0,1\n");  // rows in another order, by their names
  EXPECT_EQ(document(in, "decide lda.lemma --loss named.csv").at("losses"),
            document(in, "decide lda.lemma --loss loss.csv").at("losses"));
  EXPECT_EQ(in.lemma("decide lda.lemma --reject -1").code, 2);
}

TEST(CalibrateTool, AMarginHasProbabilitiesThatAreVerifiedAndDecidedBy) {
  const Pima in;
  ASSERT_EQ(in.lemma("fit 'calibrate(linear_svm, folds=4)' pima_train 'type ~ .' -o c.lemma").code, 0);
  EXPECT_EQ(in.lemma("verify c.lemma pima_train").code, 0);
  EXPECT_EQ(in.lemma("decide c.lemma pima_test --loss loss.csv").code, 0);
  const Value found = document(in, "evaluate c.lemma pima_test --also ece").at("measures");
  EXPECT_LT(found.at("ece").as_double(), 0.15);
  EXPECT_LT(found.at("log_loss").as_double(), 0.55);
  for (const char* method :
       {"calibrate(lda, map=isotonic)", "calibrate(tree, map=temperature)", "calibrate(scale | svm)"}) {
    const auto iris = in.lemma(std::string("fit '") + method + "' iris 'species ~ .' -o iris.lemma");
    EXPECT_EQ(iris.code, 0) << method << ": " << iris.err;
    EXPECT_EQ(in.lemma("verify iris.lemma iris").code, 0) << method;
    EXPECT_GT(document(in, "evaluate iris.lemma iris").at("measures").at("accuracy").as_double(), 0.9) << method;
  }
  EXPECT_TRUE(contains(in.lemma("fit 'calibrate(ols)' boston 'medv ~ .'").err, "calibrate"))
      << "numbers have no classes";
}

TEST(TruthTool, RowsRiskBoundAndPartsOfTheError) {
  const Folder in;
  ASSERT_EQ(in.lemma("generate gaussians -n 200 -o g.csv").code, 0);
  EXPECT_EQ(in.lemma("generate gaussians -n 20 --seed 4").out, in.lemma("generate gaussians -n 20 --seed 4").out);
  ASSERT_EQ(in.lemma("fit lda g.csv 'class ~ .' -o g.lemma").code, 0);
  const Value found = document(in, "risk g.lemma --truth gaussians");
  EXPECT_NEAR(found.at("bayes_risk").at("value").as_double(), 0.158655, 1e-4);
  EXPECT_TRUE(contains(in.lemma("risk g.lemma --truth gausians").err, "did you mean 'gaussians'"));
  in.write("bad.json", "{\"classes\": [}");
  EXPECT_TRUE(contains(in.lemma("risk g.lemma --truth bad.json").err, "bad.json: "));
  ASSERT_EQ(in.lemma("generate gaussians -n 100 --seed 9 -o new.csv").code, 0);
  const auto bounds = in.lemma("bound g.lemma new.csv");
  EXPECT_TRUE(contains(bounds.out, "hoeffding: the error is at most")) << bounds.out << bounds.err;
  EXPECT_TRUE(contains(bounds.out, "vc: does not apply")) << bounds.out;
  EXPECT_EQ(in.lemma("bound g.lemma new.csv --delta 2").code, 2);
  const Value parts = document(in, "bias_variance ols --truth sine -n 20 --samples 10 --points 50");
  EXPECT_NEAR(parts.at("rounding").as_double(), 0, 1e-12);
  EXPECT_EQ(in.lemma("bias_variance ols").code, 2);
  EXPECT_EQ(in.lemma("bias_variance ols boston 'medv ~ lstat' --samples 5").code, 0);
}

TEST(CompareTool, MethodsPrintAsTheyAreTyped) {
  const Folder in;
  EXPECT_TRUE(contains(in.lemma("compare 'logistic(lambda=2),lda' pima_train 'type ~ glu' --folds 2").out,
                       "logistic(lambda=2)"));
  const auto nested =
      in.lemma("compare 'stacking(lda, knn(k=3)),bagging(scale | lda, rounds=2)' pima_train 'type ~ glu' --folds 2");
  for (const char* typed : {"stacking(lda, knn(k=3))", "bagging(base=scale | lda, rounds=2)"})
    EXPECT_TRUE(contains(nested.out, typed)) << nested.out << nested.err;
}

}  // namespace
}  // namespace lemma
