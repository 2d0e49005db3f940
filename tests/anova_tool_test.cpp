// tests/anova_tool_test.cpp: comparing models and choosing terms on the command line.
#include <gtest/gtest.h>
#include <lemma/core/value.hpp>
#include <tests/run_tool.hpp>

namespace lemma {
namespace {

TEST(AnovaTool, ComparesModelsAndTestsTerms) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit glm pima_train 'type ~ .' -o full.lemma").code, 0);
  ASSERT_EQ(in.lemma("fit glm pima_train 'type ~ . - bp - skin' -o small.lemma").code, 0);
  const auto two = in.lemma("anova small.lemma full.lemma --json");
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_NEAR(from_json(two.out).at("table").at("drop_in_deviance").as_vector()(1), 0.0798523, 1e-6) << two.out;
  const auto drop = in.lemma("anova full.lemma --data pima_train --drop");
  EXPECT_EQ(drop.code, 0) << drop.err;
  EXPECT_NE(drop.out.find("glu     1   205.79 219.79 27.4038 1.651e-07 ***"), std::string::npos) << drop.out;
  EXPECT_EQ(in.lemma("anova full.lemma --test wald").code, 0);
}

TEST(AnovaTool, SaysWhatIsWrongWithACall) {
  const Folder in;
  ASSERT_EQ(in.lemma("fit glm pima_train 'type ~ glu + bmi' -o a.lemma").code, 0);
  ASSERT_EQ(in.lemma("fit glm pima_train 'type ~ age' -o b.lemma").code, 0);
  ASSERT_EQ(in.lemma("fit lda iris 'species ~ .' -o lda.lemma").code, 0);
  const auto says = [&](const std::string& call, const std::string& word) {
    const auto ran = in.lemma(call);
    EXPECT_EQ(ran.code, 2) << call << ran.out;
    EXPECT_NE(ran.err.find(word), std::string::npos) << call << ": " << ran.err;
  };
  says("anova a.lemma", "--data");
  says("anova a.lemma b.lemma", "not nested");
  says("anova a.lemma pima_train", "--data pima_train");
  says("anova a.lemma --data pima_test", "does not hold");
  says("anova lda.lemma --data iris", "lda");
  says("anova a.lemma --test chi", "--test");
  says("anova", "MODEL");
  says("fit lda iris 'species ~ .' --stepwise backward", "ols and glm");
  says("fit glm pima_train 'type ~ .' --stepwise sideways", "--stepwise");
}

TEST(AnovaTool, StepwiseStoresTheFinalModelAndItsSteps) {
  const Folder in;
  const auto ran = in.lemma("fit glm pima_train 'type ~ .' --stepwise both -o chosen.lemma --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Value document = from_json(ran.out);
  EXPECT_EQ(document.at("stepwise").as_list("stepwise").front().at("taken").as_string(), "- skin");
  EXPECT_EQ(document.at("formula").as_string(), "type ~ npreg + glu + bmi + ped + age");
  EXPECT_EQ(in.lemma("predict chosen.lemma pima_test").code, 0);
  // Whoever meets the stored model later is told that its terms were chosen.
  for (const char* call : {"verify chosen.lemma pima_train", "anova chosen.lemma --test wald"}) {
    const auto later = in.lemma(call);
    EXPECT_EQ(later.code, 0) << later.err;
    EXPECT_NE(later.err.find("chosen.lemma: stepwise both by AIC from 194.39 to 190.47: - skin, - bp"),
              std::string::npos)
        << call << ": " << later.err;
  }
}

TEST(AnovaTool, SeparatedClassesAreAnAnswerThatIsNo) {
  const Folder in;
  in.write("dose.csv", "dose,dead\n1,no\n2,no\n3,no\n4,yes\n5,yes\n6,yes\n");
  const auto ran = in.lemma("fit glm dose.csv 'dead ~ dose' -o m.lemma");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("'dose' separates the two outcomes completely"), std::string::npos) << ran.err;
  EXPECT_EQ(in.lemma("predict m.lemma dose.csv").code, 0);
  EXPECT_EQ(in.lemma("verify m.lemma dose.csv").code, 1);
}

}  // namespace
}  // namespace lemma
