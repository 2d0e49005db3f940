// tests/linear_tool_test.cpp: linear models at the command line as those who come from R try them.
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

/// `lemma CALL` that must do what is asked, and say so in these words.
Outcome expect_says(const Folder& in, const std::string& call, const std::vector<std::string>& words) {
  Outcome ran = in.lemma(call);
  EXPECT_EQ(ran.code, 0) << call << ": " << ran.err;
  for (const auto& word : words)
    EXPECT_TRUE(has(ran.out, word)) << call << " does not say " << word << ":\n" << ran.out;
  return ran;
}

void expect_refuses(const Folder& in, const std::string& call, const std::string& word) {
  const Outcome ran = in.lemma(call);
  EXPECT_EQ(ran.code, 2) << call << ran.out;
  EXPECT_TRUE(has(ran.err, word)) << call << ": " << ran.err;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(LinearTool, IntervalsOfCoefficientsStandInTheTable) {
  const Folder in;
  expect_says(in, "fit ols boston 'medv ~ lstat + rm' --interval --level 0.9", {"5 %", "95 %", "-0.7144 -0.5703"});
  expect_says(in, "fit ols boston 'medv ~ lstat + rm' --interval wald", {"2.5 %", "97.5 %"});
  expect_says(in, "fit glm pima_train 'type ~ glu + bmi' --interval profile", {"0.02395   0.04882"});
  EXPECT_FALSE(has(in.lemma("fit ols boston 'medv ~ lstat'").out, "97.5 %"));
  expect_refuses(in, "fit ols boston 'medv ~ lstat' --interval sometimes", "none, wald");
  expect_refuses(in, "fit ols boston 'medv ~ lstat' --level", "--level needs a value");
}

TEST(LinearTool, StandardErrorsAreRobustOrByClusters) {
  const Folder in;
  expect_says(in, "fit ols boston 'medv ~ lstat + rm' --errors HC3", {"Standard errors: HC3", "0.06535", "Wald"});
  for (const char* kind : {"HC0", "HC1", "HC2"})
    expect_says(in, std::string("fit glm pima_train 'type ~ glu' --errors ") + kind, {kind});
  expect_says(in, "fit ols boston 'medv ~ lstat + rm' --cluster rad", {"by 9 clusters", "t on 8 degrees of freedom"});
  expect_says(in, "fit ols boston 'medv ~ lstat + rm' --cluster rad --memory 1M -o c.lemma", {"by 9 clusters"});
  EXPECT_EQ(in.lemma("verify c.lemma boston").code, 0);
  EXPECT_EQ(in.lemma("predict c.lemma boston --where 'rm > 6'").code, 0);
  expect_refuses(in, "fit lda iris 'species ~ .' --cluster species", "--cluster");
  expect_refuses(in, "fit ols boston 'medv ~ lstat' --cluster town", "town");
  expect_refuses(in, "fit ols boston 'medv ~ lstat' --errors cluster", "--cluster");
}

TEST(LinearTool, VarianceInflationIsThatOfTerms) {
  const Folder in;
  expect_says(in, "fit ols boston 'medv ~ .' --vif", {"Variance inflation", "tax     9.0086"});
  expect_says(in, "fit ols boston 'medv ~ lstat + rm + factor(rad)' --vif -o m.lemma", {"GVIF^(1/(2*Df))", "1.0254"});
  expect_says(in, "anova m.lemma --vif", {"GVIF^(1/(2*Df))", "1.0254"});
  const auto json = in.lemma("fit ols boston 'medv ~ lstat + rm' --vif --json");
  EXPECT_EQ(from_json(json.out).at("inflation").at("rows").as_strings("rows").size(), 2U) << json.out;
  expect_refuses(in, "fit lda iris 'species ~ .' --vif", "ols and glm");
}

TEST(LinearTool, AnovaSeesThatColumnsAreNested) {
  const Folder in;
  for (const auto& [name, formula] : {std::pair{"line", "medv ~ lstat"},
                                      {"curve", "medv ~ poly(lstat, 2)"},
                                      {"powers", "medv ~ lstat + I(lstat^2)"},
                                      {"other", "medv ~ log(lstat)"}})
    ASSERT_EQ(in.lemma(std::string("fit ols boston '") + formula + "' -o " + name + ".lemma").code, 0);
  expect_says(in, "anova line.lemma curve.lemma", {"4125.1 135.2 < 2.2e-16"});
  expect_says(in, "anova line.lemma powers.lemma", {"4125.1 135.2 < 2.2e-16"});
  expect_refuses(in, "anova line.lemma other.lemma", "not nested");
}

TEST(LinearTool, ASearchHasItsPriceAndItsScope) {
  const Folder in;
  expect_says(in, "fit ols boston 'medv ~ .' --stepwise backward --stepwise-k bic", {"Start:  BIC=1648.81"});
  expect_says(in, "fit ols boston 'medv ~ lstat' --stepwise forward --scope '~ . + rm + lstat:rm'",
              {"+ rm", "Step:  AIC=1570.42", "medv ~ lstat + rm + lstat:rm"});
  const auto kept =
      expect_says(in, "fit ols boston 'medv ~ age + lstat' --stepwise backward --stepwise-k 100 --scope-lower '~ age'",
                  {"ols of boston: medv ~ age"});
  EXPECT_FALSE(has(kept.out, "- age")) << kept.out;
  expect_refuses(in, "fit ols boston 'medv ~ lstat' --scope '~ rm'", "--stepwise");
  expect_refuses(in, "fit ols boston 'medv ~ lstat' --stepwise both --stepwise-k none", "aic, bic, or a number");
}

/// Whatever terms a model of the search has, its rows are those of the full model; who looks at it later finds the same ones.
TEST(LinearTool, ASearchStaysOnTheRowsOfTheFullModel) {
  const Folder in;
  std::string text = "y,a,b,c\n";
  for (int i = 0; i < 40; ++i) {
    const int a = i * 7 % 11, b = i * 5 % 13, c = i * 3 % 17;
    text += std::to_string(2 * a + i % 3) + "," + std::to_string(a) + "," + (i % 10 == 3 ? "" : std::to_string(b)) +
            "," + (i % 15 == 4 ? "" : std::to_string(c)) + "\n";
  }
  in.write("gaps.csv", text);
  const auto ran = in.lemma("fit ols gaps.csv 'y ~ a + b + c' --missing drop --stepwise backward -o m.lemma");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "ols of gaps.csv: y ~ a\n33 rows")) << ran.out;
  EXPECT_TRUE(has(ran.err, "33 rows that are complete in all columns of the scope")) << ran.err;
  expect_says(in, "verify m.lemma gaps.csv", {"the rows the model was fitted on", "Verified"});
  expect_says(in, "anova m.lemma --data gaps.csv", {"a          1", "Residuals 31"});
  in.write("new.csv", "a\n1\n2\n");
  EXPECT_EQ(in.lemma("predict m.lemma new.csv").code, 0);  // where only its own columns count
}

TEST(LinearTool, FamiliesForCountsThatScatter) {
  const Folder in;
  std::string text = "n,x,s,t\n";
  for (int i = 0; i < 60; ++i) {
    const int n = (i * i * 7 % 23) / (1 + i % 4);
    text += std::to_string(n) + "," + std::to_string(i % 9) + "," + std::to_string(n % 6) + "," +
            std::to_string(6 - n % 6) + "\n";
  }
  in.write("counts.csv", text);
  const auto fit = [&](const std::string& rest) { return "fit glm counts.csv " + rest; };
  expect_says(in, fit("'n ~ x' --family quasipoisson"), {"quasipoisson family taken to be", "AIC: NA", "t value"});
  expect_says(in, fit("'n ~ x' --family negative_binomial -o nb.lemma"),
              {"Negative Binomial(", "Theta:", "Std. Err.:"});
  expect_says(in, fit("'n ~ x' --family negative_binomial --theta 2"), {"Negative Binomial(2)"});
  expect_says(in, fit("'cbind(s, t) ~ x' --family quasibinomial"), {"quasibinomial family taken to be"});
  expect_says(in, fit("'n ~ x' --family quasi --variance mu --link log"), {"quasi family taken to be"});
  EXPECT_EQ(in.lemma("verify nb.lemma counts.csv").code, 0);
  expect_refuses(in, fit("'n ~ x' --family poisson --theta 2"), "theta");
  expect_refuses(in, fit("'n ~ x' --family quasi-poisson"), "did you mean 'quasipoisson'");
}

TEST(LinearTool, ResidualsAreAskedForByTheirKind) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit glm pima_train 'type ~ glu + bmi' -o m.lemma").code, 0);
  ASSERT_EQ(in.lemma("fit ols boston 'medv ~ lstat' -o o.lemma").code, 0);
  const auto columns = [&](const std::string& call) { return first_line(in.lemma("predict " + call).out); };
  EXPECT_EQ(columns("m.lemma pima_test --what residual"), "residual");
  EXPECT_EQ(columns("m.lemma pima_test --what deviance_residual,pearson_residual,working_residual,response_residual"),
            "deviance_residual,pearson_residual,working_residual,response_residual");
  EXPECT_EQ(columns("m.lemma pima_test --what class,deviance_residual"), "class,deviance_residual");
  EXPECT_EQ(columns("o.lemma boston --what residual"), "residual");
  EXPECT_EQ(columns("o.lemma boston"), "prediction,residual");
  EXPECT_EQ(columns("o.lemma boston --memory 1M --what residual"), "residual");
  EXPECT_EQ(columns("o.lemma boston --diagnostics").find("residual,residual"), std::string::npos);
  expect_refuses(in, "predict m.lemma pima_test --what residuals", "did you mean 'residual'");
  expect_refuses(in, "predict m.lemma pima_test --what devianc_residual", "did you mean 'deviance_residual'");
  in.write("new.csv", "glu,bmi\n100,30\n");
  expect_refuses(in, "predict m.lemma new.csv --what deviance_residual", "the rows have none");
}

TEST(LinearTool, DiagnosticsOfOtherRowsAreSaidToBeThat) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit glm pima_train 'type ~ glu + bmi' -o m.lemma").code, 0);
  EXPECT_EQ(in.lemma("predict m.lemma pima_train --diagnostics").err, "");
  const auto other = in.lemma("predict m.lemma pima_test --diagnostics");
  EXPECT_EQ(other.code, 0);
  EXPECT_TRUE(has(other.err, "of 332 rows did not train the model")) << other.err;
}

TEST(LinearTool, ColumnsHaveOneNameEach) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit glm pima_train 'type ~ glu + bmi' -o m.lemma").code, 0);
  EXPECT_EQ(first_line(in.lemma("predict m.lemma pima_test --interval confidence").out),
            "lower_Yes,upper_Yes,class,p_No,p_Yes");
  ASSERT_EQ(in.lemma("predict m.lemma pima_test --append --what decision -o once.csv").code, 0);
  const std::string twice = first_line(in.lemma("predict m.lemma once.csv --append --what decision").out);
  EXPECT_TRUE(twice.ends_with("decision,decision_2")) << twice;
}

TEST(LinearTool, ATypedWordIsTakenAsItIsMeant) {
  const Folder in;
  EXPECT_EQ(in.lemma("fit ols boston 'medv ~ lstat' --intercept no --json").out,
            in.lemma("fit ols boston 'medv ~ lstat' --intercept false --json").out);
  expect_refuses(in, "--vers", "did you mean '--version'");
  expect_refuses(in, "fit kmeans iris --seed -1", "--seed");
  expect_refuses(in, "--seed -1 fit kmeans iris", "at least 0");
  const auto path = in.lemma("fit lasso boston 'medv ~ .' --lambda 0.1,10,1 --json");
  EXPECT_EQ(from_json(path.out).at("results").at("lambda").as_vector("lambda"), Vector(Eigen::Vector3d(0.1, 10, 1)));
  for (const char* call : {"ridge boston 'medv ~ .'", "lasso boston 'medv ~ .'", "elastic_net boston 'medv ~ .'",
                           "logistic pima_train 'type ~ .'", "kernel_ridge boston 'medv ~ lstat'"})
    EXPECT_EQ(in.lemma(std::string("fit ") + call + " --lambda auto").code, 0) << call;
  const auto names = from_json(in.lemma("datasets --json").out).as_list("datasets");
  EXPECT_EQ(names.front().at("data").as_string(), "boston");
  EXPECT_TRUE(has(in.lemma("datasets").out, "letters             20,000"));
}

/// One rule: a number where there is one λ or machine, an array where there are several; features always are an array.
TEST(LinearTool, ScalarsAndArraysFollowOneRule) {
  const Folder in;
  const auto results = [&](const std::string& call) {
    return from_json(in.lemma("fit " + call + " --json").out).at("results");
  };
  const Value one = results("ridge boston 'medv ~ lstat' --lambda 1"),
              two = results("ridge boston 'medv ~ lstat' --lambda 1,2");
  EXPECT_TRUE(one.at("lambda").is_number() && one.at("intercept").is_number());
  EXPECT_TRUE(!two.at("lambda").is_number() && !two.at("intercept").is_number());
  EXPECT_TRUE(!one.at("coefficients").is_number());
  const Value pair = results("svm pima_train 'type ~ glu + bmi' --kernel linear"),
              three = results("svm iris 'species ~ .' --kernel linear");
  EXPECT_TRUE(pair.at("bias").is_number());
  EXPECT_TRUE(!three.at("bias").is_number());
}

TEST(LinearTool, ALinearMachineShowsItsPlane) {
  const Folder in;
  expect_says(in, "fit svm pima_train 'type ~ glu + bmi' --kernel linear --standardize",
              {"f(x) = x w + b", "glu", "bmi"});
  expect_says(in, "fit svm iris 'species ~ .' --kernel linear -o m.lemma", {"versicolor against setosa"});
  EXPECT_EQ(first_line(in.lemma("predict m.lemma iris --what machines").out),
            "versicolor_against_setosa,virginica_against_setosa,virginica_against_versicolor");
  expect_says(in, "fit svm iris 'species ~ .' --classes one-vs-rest -o r.lemma", {"setosa against the rest"});
  EXPECT_EQ(first_line(in.lemma("predict r.lemma iris --what machines").out),
            "setosa_against_the_rest,versicolor_against_the_rest,virginica_against_the_rest");
  expect_says(in, "fit svm boston 'medv ~ lstat' -o n.lemma", {"Support vector regression"});
  EXPECT_EQ(first_line(in.lemma("predict n.lemma boston --what machines").out), "machine");
  expect_refuses(in, "predict m.lemma iris --what probabilities", "--probabilities true");
  EXPECT_FALSE(has(in.lemma("fit svm iris 'species ~ .'").out, "f(x) = x w"));
  for (const auto& [call, name] : {std::pair{"lda iris 'species ~ .'", "covariance"},
                                   {"kernel_ridge mcycle 'accel ~ times'", "dual_coefficients"},
                                   {"gp mcycle 'accel ~ times'", "hyperparameter_names"}})
    EXPECT_TRUE(from_json(in.lemma(std::string("fit ") + call + " --json").out).at("results").find(name)) << call;
}

TEST(LinearTool, ModelsTakeNewRowsInAndAreVerifiedOnAll) {
  const Folder in;
  ASSERT_EQ(in.lemma("split boston --output a.csv b.csv").code, 0);
  for (const char* call : {"ols", "bayes_linear", "ridge", "scale", "pca", "kmeans"}) {
    const bool responds =
        std::string(call) == "ols" || std::string(call) == "ridge" || std::string(call) == "bayes_linear";
    ASSERT_EQ(
        in.lemma(std::string("fit ") + call + " a.csv '" + (responds ? "medv " : "") + "~ lstat + rm' -o m.lemma").code,
        0);
    expect_says(in, "update m.lemma b.csv -o n.lemma", {"new rows, 506 in all"});
    EXPECT_EQ(in.lemma("verify n.lemma a.csv b.csv").code, 0) << call;
  }
  expect_says(in, "methods", {"New rows alone update models of"});
  expect_says(in, "methods ols", {"the result is the fit to all rows"});
  expect_says(in, "methods kmeans", {"near the fit to all rows"});
  ASSERT_EQ(in.lemma("fit svm a.csv 'medv ~ lstat' -o m.lemma").code, 0);
  expect_refuses(in, "update m.lemma b.csv", "cannot be updated");
}

}  // namespace
}  // namespace lemma
