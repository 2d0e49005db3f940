// lemma/validate/effect_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/discriminant/lda.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/model/fit.hpp>
#include <lemma/reduce/pca.hpp>
#include <lemma/validate/effect.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

TEST(Effect, OfALineIsItsSlope) {
  const Table boston = dataset("boston");
  const auto m = fit(Ols{}, formula("medv ~ lstat + rm + ptratio"), boston);
  const Effect found = effect(m, boston, "rm", {.points = 12});
  const auto& at = found.at.numbers().values;
  ASSERT_EQ(found.outputs, std::vector<std::string>{"prediction"});
  ASSERT_EQ(found.partial.rows(), static_cast<Index>(at.size()));
  const double slope = m.coefficient("rm");
  for (std::size_t k = 1; k < at.size(); ++k)
    for (const Matrix* effects : {&found.partial, &found.accumulated})
      EXPECT_NEAR((*effects)(static_cast<Index>(k), 0) - (*effects)(static_cast<Index>(k) - 1, 0),
                  slope * (at[k] - at[k - 1]), 1e-9);
  double rows = 0;
  for (const double each : found.rows) rows += each;
  EXPECT_EQ(rows, 506);
}

/// f = x1 x2 where x1 = x2 up to little: rows that do not exist say that x1 alone does nothing.
TEST(Effect, AccumulatedFollowsRowsWherePartialDependenceInventsThem) {
  RandomStream stream(3);
  std::vector<double> a, b, y;
  for (int i = 0; i < 2000; ++i) {
    a.push_back(2 * stream.uniform() - 1);
    b.push_back(a.back() + 0.01 * stream.normal());
    y.push_back(a.back() * b.back());
  }
  const Table table({numeric("a", a), numeric("b", b), numeric("y", y)}, "two");
  const auto m = fit(Ols{}, formula("y ~ a:b"), table);
  const Effect found = effect(m, table, "a", {.points = 21});
  const Index last = found.partial.rows() - 1, middle = last / 2;
  EXPECT_LT(std::abs(found.partial(last, 0) - found.partial(middle, 0)), 0.1);
  EXPECT_NEAR(found.accumulated(last, 0) - found.accumulated(middle, 0), 0.5, 0.05);  // ∫ x dx from 0 to 1
}

TEST(Effect, OfClassesIsOneForEachAndAddsUpToNothing) {
  const Table iris = dataset("iris");
  const auto m = fit(Lda{}, formula("species ~ ."), iris);
  const Effect found = effect(m, iris, "petal_length");
  EXPECT_EQ(found.outputs, (std::vector<std::string>{"p_setosa", "p_versicolor", "p_virginica"}));
  EXPECT_LT((found.partial.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-9);
  EXPECT_LT(found.accumulated.rowwise().sum().cwiseAbs().maxCoeff(), 1e-9);
  const Table shown = to_table(found);
  EXPECT_EQ(shown.names().front(), "petal_length");
  EXPECT_EQ(shown.columns(), 8);
}

TEST(Effect, OfCategoriesIsWhatEachLevelAdds) {
  const Table crabs = dataset("crabs");
  const auto m = fit(Ols{}, formula("CL ~ FL + sex"), crabs);
  const Effect found = effect(m, crabs, "sex");
  ASSERT_EQ(found.partial.rows(), 2);
  EXPECT_NEAR(found.partial(1, 0) - found.partial(0, 0), m.coefficient("sexM"), 1e-9);
  EXPECT_NEAR(found.accumulated(1, 0) - found.accumulated(0, 0), m.coefficient("sexM"), 1e-9);
  EXPECT_NEAR(found.accumulated.sum(), 0, 1e-9);  // 100 of each
}

TEST(Effect, AnswersBadInputByName) {
  const Table iris = dataset("iris");
  const auto m = fit(Ols{}, formula("petal_length ~ petal_width"), iris);
  EXPECT_NE(message_of([&] { effect(m, iris, "sepal_width"); }).find("does not use a column 'sepal_width'"),
            std::string::npos);
  EXPECT_NE(message_of([&] { effect(m, iris, "petal_width", {.points = 1}); }).find("at least 2"), std::string::npos);
  EXPECT_NE(message_of([&] { effect(m, iris.slice(0, 1), "petal_width"); }).find("two values"), std::string::npos);
  const auto axes = fit(Pca{}, formula("~ . - species"), iris);
  EXPECT_NE(message_of([&] { effect(axes, iris, "petal_width"); }).find("neither numbers nor probabilities"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
