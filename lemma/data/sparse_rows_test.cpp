// lemma/data/sparse_rows_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/sparse_rows.hpp>
#include <lemma/data/stream/rows.hpp>

namespace lemma {
namespace {

SparseData few() { return parse_svmlight("1 1:0.5 3:-2\n-1\n1 2:4\n-1 1:1 2:2 3:3\n", "few.svm"); }

Design dense_design(const char* text, bool classify) {
  return Design(formula(text), to_table(few()), {.classify = classify});
}

TEST(SparseRows, AreTheRowsOfTheDenseTable) {
  const SparseData data = few();
  for (const char* text : {"y ~ .", "y ~ x3 + x1"}) {
    const auto design = plain_design(formula(text), data, {.classify = true});
    ASSERT_TRUE(design);
    const SparseRows rows(*design, data);
    const DesignRows dense(dense_design(text, true), dense_design(text, true).train(to_table(data)));
    EXPECT_EQ(rows.features, dense.features);
    EXPECT_EQ(rows.classes, dense.classes);
    EXPECT_EQ(gather(rows), gather(dense));
    BlockBuffer one, other;
    const Block all = rows.outcome(0, 4, one), expected = dense.read(0, 4, other);
    EXPECT_EQ(Labels(all.label.begin(), all.label.end()), Labels(expected.label.begin(), expected.label.end()));
    EXPECT_EQ(all.x.cols(), 0);
  }
}

TEST(SparseRows, ANumericResponseStaysANumber) {
  const SparseData data = few();
  const auto design = plain_design(formula("y ~ ."), data, {});
  ASSERT_TRUE(design);
  EXPECT_EQ(sparse_outcome(*design, data).y, data.y);
  EXPECT_TRUE(design->classes().empty());
}

TEST(SparseRows, AFormulaThatChangesColumnsNeedsTheTable) {
  for (const char* text : {"y ~ scale(x1)", "y ~ x1:x2", "y ~ I(x1^2) + x2"})
    EXPECT_FALSE(plain_design(formula(text), few(), {})) << text;
  EXPECT_FALSE(plain_design(formula("y ~ x1"), few(), {.weights = "x2"}));
}

TEST(SparseRows, AColumnThatTheFileDoesNotMentionIsZeroAndOneTooManyIsLeftOut) {
  const auto design = plain_design(formula("y ~ ."), few(), {.classify = true});
  const SparseData narrow = parse_svmlight("1 1:7\n"), wide = parse_svmlight("5 1:7 9:1\n");
  EXPECT_EQ(gather(SparseRows(*design, narrow)), (Matrix(1, 3) << 7, 0, 0).finished());
  EXPECT_EQ(gather(SparseRows(*design, wide)), (Matrix(1, 3) << 7, 0, 0).finished());
  EXPECT_EQ(sparse_outcome(*design, wide).label, Labels{-1});  // a class it has not seen
}

TEST(SparseStream, ReadsAnyRowsAsTheTableHasThem) {
  const SparseStream stream(std::make_shared<SparseData>(few()));
  EXPECT_EQ(stream.rows(), 4);
  EXPECT_EQ(stream.read(1, 2), to_table(few()).slice(1, 2));
  EXPECT_THROW(stream.read(3, 2), Error);
}

}  // namespace
}  // namespace lemma
