// tests/svm_tool_test.cpp: support vector machines on the command line, and what a user may do wrong with them.
#include "run_tool.hpp"

#include <gtest/gtest.h>
#include <lemma/core/value.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr const char* kTwo = "iris 'species ~ petal_length + petal_width' --where \"species != 'setosa'\" ";

TEST(SvmTool, ResultsHaveTheKeysOfTheContract) {
  const Folder in;
  const auto fit = in.lemma(std::string("fit svm ") + kTwo + "--C 2 --json");
  ASSERT_EQ(fit.code, 0) << fit.err;
  const Value document = from_json(fit.out);
  for (const auto* key : {"support", "support_vectors", "dual_coefficients", "bias", "objective_primal",
                          "objective_dual", "gap", "margin", "n_free", "n_bounded"})
    EXPECT_TRUE(document.at("results").find(key)) << key;
  EXPECT_TRUE(document.at("results").at("bias").is_number());
  EXPECT_EQ(document.at("certificate").at("strength").as_string(), "optimal");
  const Value several = from_json(in.lemma("fit svm iris 'species ~ .' --json").out);
  EXPECT_EQ(several.at("results").at("bias").as_vector().size(), 3);
  EXPECT_EQ(several.at("results").at("dual_coefficients").as_matrix().rows(), 3);
}

TEST(SvmTool, AHardMarginIsTypedAsInfAndSurvivesItsFile) {
  const Folder in;
  const auto fit = in.lemma(
      "fit svm iris 'species ~ .' --where \"species != 'virginica'\" --kernel linear --C inf -o hard.lemma --json");
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_EQ(from_json(fit.out).at("params").at("C").as_string(), "inf");
  EXPECT_EQ(in.lemma("verify hard.lemma iris --where \"species != 'virginica'\"").code, 0);
  const auto inseparable = in.lemma(std::string("fit svm ") + kTwo + "--kernel linear --C inf");
  EXPECT_EQ(inseparable.code, 1);  // done, but the answer is no
  EXPECT_TRUE(contains(inseparable.err, "no hyperplane separates the classes")) << inseparable.err;
  EXPECT_TRUE(contains(inseparable.out, "DOES NOT HOLD")) << inseparable.out;
}

TEST(SvmTool, DiagnosticsSayWhereEachRowStands) {
  const Folder in;
  ASSERT_EQ(in.lemma(std::string("fit svm ") + kTwo + "-o two.lemma").code, 0);
  const auto rows = in.lemma("predict two.lemma iris --where \"species != 'setosa'\" --diagnostics");
  EXPECT_TRUE(rows.out.starts_with("class,alpha,slack,margin,side,kkt\n")) << rows.out.substr(0, 60) << rows.err;
  const auto others = in.lemma("predict two.lemma iris --where \"species != 'virginica'\" --diagnostics");
  EXPECT_EQ(others.code, 2);
  EXPECT_TRUE(contains(others.err, "not the rows the model was fitted on")) << others.err;
}

TEST(SvmTool, DiagnosticsOfARowWithoutAClassAreEmpty) {
  const Folder in;
  in.write("train.csv", "x,z,y\n1,1,a\n2,1,a\n5,1,b\n6,1,b\n1,7,c\n2,8,c\n");
  in.write("rows.csv", "x,z,y\n1,1,a\n2,1,a\n5,1,b\n6,1,b\n1,7,c\n2,8,other\n");
  ASSERT_EQ(in.lemma("fit svm train.csv 'y ~ .' --classes one-vs-rest -o m.lemma").code, 0);
  const auto rows = in.lemma("predict m.lemma rows.csv --diagnostics --what class");
  ASSERT_EQ(rows.code, 0) << rows.err;
  const std::string last = rows.out.substr(rows.out.rfind('\n', rows.out.size() - 2) + 1);
  EXPECT_EQ(last, "c" + std::string(15, ',') + "\n") << rows.out;
}

/// The command must end with 2 (the call or the data is wrong) and say the word.
void expect_refused(const Folder& in, const std::string& arguments, const std::string& word) {
  const auto ran = in.lemma(arguments);
  EXPECT_EQ(ran.code, 2) << arguments << "\n" << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.err, word)) << arguments << "\n" << ran.err;
}

TEST(SvmTool, WhatCannotBeFittedIsRefusedByName) {
  const Folder in;
  expect_refused(in, "fit svm iris 'species ~ .' --where \"species == 'setosa'\"", "at least two classes");
  expect_refused(in, "fit svm iris 'species ~ .' --C 0", "C is 0, must be above 0, or inf");
  expect_refused(in, "fit svm iris 'species ~ .' --C -1", "C is -1");
  expect_refused(in, "fit svm iris 'species ~ .' --kernel rbf --kernel.gamma 0", "gamma is 0, must be above 0");
  expect_refused(in, "fit svm iris 'species ~ .' --kernel 'rbf(-0.5)'", "gamma is -0.5, must be above 0");
  expect_refused(in, "fit svm iris 'species ~ .' --cache 0.0001", "cache");
  expect_refused(in, "fit svm iris 'species ~ .' --slack 3", "slack is the budget of one machine");
  expect_refused(in, "fit svm boston 'medv ~ .' --C inf", "finite");
  in.write("huge.csv", "x,y,c\n1e140,1,a\n2e140,2,b\n-1e140,3,a\n0,4,b\n");
  expect_refused(in, "fit svm huge.csv 'c ~ x + y' --kernel poly --kernel.gamma 1", "overflows");
  in.write("wide.csv", "k1,k2,k3,c\n1,0,0,a\n0,1,0,b\n");
  expect_refused(in, "fit svm wide.csv 'c ~ .' --kernel precomputed", "square");
  in.write("skew.csv", "k1,k2,c\n1,0.5,a\n0,1,b\n");
  expect_refused(in, "fit svm skew.csv 'c ~ .' --kernel precomputed", "not symmetric");
}

TEST(SvmTool, OddRowsGetAnAnswerAndAWarning) {
  const Folder in;
  in.write("equal.csv", "x,y,c\n1,1,a\n1,1,b\n1,1,a\n1,1,b\n");
  const auto equal = in.lemma("fit svm equal.csv 'c ~ .'");
  EXPECT_EQ(equal.code, 0) << equal.out << equal.err;
  EXPECT_TRUE(contains(equal.err, "all rows look the same")) << equal.err;
  in.write("twins.csv", "x,y,c\n1,1,a\n1,1,b\n2,0,a\n0,3,b\n");
  EXPECT_EQ(in.lemma("fit svm twins.csv 'c ~ .'").code, 0);
  EXPECT_EQ(in.lemma("fit svm twins.csv 'c ~ .' --C inf").code, 1);
  in.write("indefinite.csv", "k1,k2,c\n1,-3,a\n-3,1,b\n");
  const auto indefinite = in.lemma("fit svm indefinite.csv 'c ~ .' --kernel precomputed");
  EXPECT_TRUE(contains(indefinite.err, "smallest eigenvalue -2")) << indefinite.err;
  EXPECT_TRUE(contains(indefinite.out, "stationary")) << indefinite.out;
}

}  // namespace
}  // namespace lemma
