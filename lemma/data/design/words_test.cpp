// lemma/data/design/words_test.cpp: texts as columns of their tokens.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/data/design.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/data/words.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const Table& mails() {
  static const Table t(
      {numeric("y", {1, 2, 3}), text("t", {"Money, money now", "see you now", ""}), categorical("c", {"p", "q", "p"})});
  return t;
}

TEST(TextTerm, CountsTheWordsOfTheTrainingTexts) {
  const Design design(formula("y ~ text(t)"), mails());
  EXPECT_EQ(design.features(), (Names{"t[money]", "t[now]", "t[see]", "t[you]"}));
  EXPECT_EQ(design.train(mails()).x, (Matrix{{2, 1, 0, 0}, {0, 1, 1, 1}, {0, 0, 0, 0}}));
  EXPECT_EQ(design.sparse(mails()).value, (std::vector<double>{2, 1, 1, 1, 1}));
}

TEST(TextTerm, GivesUnseenWordsAndEmptyTextsNothing) {
  const Design design(formula("y ~ text(t)"), mails());
  const Table fresh({text("t", {"never seen before, now", "", "!!!"})});
  EXPECT_EQ(design.apply(fresh).x, (Matrix{{0, 1, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}));
}

TEST(TextTerm, LeavesOutWordsOfTooFewTexts) {
  EXPECT_EQ(Design(formula("y ~ text(t, min = 2)"), mails()).features(), (Names{"t[now]"}));
  EXPECT_EQ(Design(formula("y ~ text(t, stop = c(\"now\", \"you\"))"), mails()).features(),
            (Names{"t[money]", "t[see]"}));
}

TEST(TextTerm, WeighsWordsByTheirRarity) {
  const Design design(formula("y ~ text(t, weight = \"tfidf\")"), mails());
  const double rare = std::log(4.0 / 2) + 1, common = std::log(4.0 / 3) + 1;  // in 1 and in 2 of 3 texts
  const Matrix x = design.train(mails()).x;
  EXPECT_NEAR(x(0, 0) / x(0, 1), 2 * rare / common, 1e-14);
  EXPECT_NEAR(x.row(0).norm(), 1, 1e-14);
  EXPECT_NEAR(x.row(1).norm(), 1, 1e-14);
  EXPECT_EQ(x.row(2).norm(), 0);
  EXPECT_EQ(Design(formula("y ~ text(t, weight = \"binary\")"), mails()).train(mails()).x.row(0),
            (Matrix{{1, 1, 0, 0}}));
}

TEST(TextTerm, SharesColumnsByHashes) {
  const Design design(formula("y ~ text(t, hash = 8)"), mails());
  ASSERT_EQ(design.features().size(), 8u);
  EXPECT_EQ(design.features()[0], "t[#1]");
  const Matrix x = design.train(mails()).x;
  EXPECT_EQ(x.rowwise().sum(), (Vector{{3, 3, 0}}));
  EXPECT_EQ(design.apply(Table({text("t", {"never seen"})})).x.sum(), 2);  // any word has a column
  const Design weighed(formula("y ~ text(t, hash = 8, weight = \"tfidf\")"), mails());
  EXPECT_NEAR(weighed.train(mails()).x.row(0).norm(), 1, 1e-14);
}

TEST(TextTerm, CutsMailsAndLetters) {
  const Table t({text("t", {"To: me\n\nhi you", "abc"})});
  EXPECT_EQ(Design(formula("~ text(t, mail = TRUE)"), t).features(), (Names{"t[abc]", "t[hi]", "t[you]"}));
  EXPECT_EQ(Design(formula("~ text(t, by = \"letters\", n = 3, mail = TRUE)"), t).features(),
            (Names{"t[ yo]", "t[abc]", "t[hi ]", "t[i y]", "t[you]"}));
  EXPECT_EQ(Design(formula("~ text(t, n = c(1, 2), mail = TRUE)"), t).features(),
            (Names{"t[abc]", "t[hi]", "t[hi you]", "t[you]"}));
}

TEST(TextTerm, StandsBesideOtherTermsAndMultipliesWithThem) {
  EXPECT_EQ(Design(formula("y ~ c + text(t, min = 2)"), mails()).features(), (Names{"cq", "t[now]"}));
  const Design product(formula("y ~ c:text(t, min = 2)"), mails());
  EXPECT_EQ(product.features(), (Names{"cp:t[now]", "cq:t[now]"}));
  EXPECT_EQ(product.train(mails()).x, (Matrix{{1, 0}, {0, 1}, {0, 0}}));
}

TEST(TextTerm, SurvivesTheModelFile) {
  for (const char* f : {"y ~ text(t)", "y ~ c + text(t, weight = \"tfidf\", stop = \"english\")",
                        "y ~ text(t, hash = 16, weight = \"tfidf\")", "y ~ text(t, by = \"letters\", n = c(1, 2))"}) {
    const Design design(formula(f), mails());
    const Design back = Design::load(design.save());
    EXPECT_EQ(back.features(), design.features()) << f;
    EXPECT_EQ(back.apply(mails()).x, design.apply(mails()).x) << f;
    EXPECT_EQ(back.save(), design.save()) << f;
  }
}

TEST(TextTerm, RowsAreSparseWithTheNumbersOfDenseOnes) {
  const Design design(formula("y ~ c + text(t, weight = \"tfidf\")"), mails());
  const MemoryTableStream stream(mails());
  const auto given = rows_for(design, stream, {});
  ASSERT_NE(given.rows->sparse(), nullptr);
  BlockBuffer buffer;
  const Block block = given.rows->read(0, 3, buffer);
  EXPECT_EQ(Matrix(block.x), design.train(mails()).x);
  EXPECT_EQ(std::vector<double>(block.y.begin(), block.y.end()), (std::vector<double>{1, 2, 3}));
  RowsUse dense;
  dense.sparse = dense.blocks = false;
  const auto all = rows_for(design, stream, dense);
  ASSERT_NE(all.rows->matrix(), nullptr);
  EXPECT_EQ(Matrix(*all.rows->matrix()), design.train(mails()).x);
}

TEST(TextTerm, ThatWouldBeTooLargeWithItsZerosIsRefused) {
  const Design design(formula("~ text(t, hash = 1000000)"), Table({text("t", {"one two"})}));
  const Table many({text("t", std::vector<std::string>(600, "one"))});
  RowsUse dense;
  dense.use = Use::prediction;
  dense.sparse = dense.blocks = false;
  dense.reader = "lda";
  const std::string said = message_of([&] { rows_for(design, MemoryTableStream(many), dense); });
  EXPECT_TRUE(contains(said, "lda takes rows with their zeros") && contains(said, "600 rows")) << said;
}

TEST(TextTerm, TellsWhatItsColumnsAre) {
  EXPECT_TRUE(token_columns(Design(formula("y ~ c"), mails())).empty());
  EXPECT_EQ(token_columns(Design(formula("y ~ c + text(t, min = 2)"), mails())),
            (std::vector{TokenColumn::none, TokenColumn::counts}));
  EXPECT_EQ(token_columns(Design(formula("y ~ text(t, min = 2, weight = \"binary\")"), mails())),
            (std::vector{TokenColumn::binary}));
}

TEST(TextTerm, MissingTextsAreRefusedOrEmpty) {
  const Design strict(formula("y ~ text(t)"), mails());
  const Table gaps({text("t", {"now", ""}, {false, true})});
  EXPECT_TRUE(contains(message_of([&] { strict.apply(gaps); }), "1 missing value"));
  const Design lenient(formula("y ~ text(t)"), mails(), {.missing = Missing::native});
  EXPECT_EQ(lenient.apply(gaps).x, (Matrix{{0, 1, 0, 0}, {0, 0, 0, 0}}));
}

TEST(TextTerm, SaysWhatItTakes) {
  const auto said = [](const char* f) { return message_of([&] { Design(formula(f), mails()); }); };
  EXPECT_TRUE(contains(said("y ~ text()"), "text(body"));
  EXPECT_TRUE(contains(said("y ~ text(t, by = \"word\")"), "\"words\", \"letters\""));
  EXPECT_TRUE(contains(said("y ~ text(t, n = 13)"), "from 1 to 12"));
  EXPECT_TRUE(contains(said("y ~ text(t, n = c(1, 2, 3))"), "n = c(1, 2)"));
  EXPECT_TRUE(contains(said("y ~ text(t, min = 0)"), "whole number"));
  EXPECT_TRUE(contains(said("y ~ text(t, min = 3)"), "in 3 texts"));
  EXPECT_TRUE(contains(said("y ~ text(t, hash = 8, min = 2)"), "leave min out"));
  EXPECT_TRUE(contains(said("y ~ text(t, by = \"letters\", stop = \"english\")"), "stop words are words"));
  EXPECT_TRUE(contains(said("y ~ text(t, stop = c(\"money\", \"now\", \"see\", \"you\"))"), "no text of t has a word"));
  EXPECT_TRUE(contains(said("y ~ text(y)"), "--type y=text"));
  EXPECT_TRUE(contains(said("y ~ log(text(t))"), "a term of its own"));
  EXPECT_TRUE(contains(said("y ~ text(t, bigrams = 2)"), "knows no argument 'bigrams'"));
  EXPECT_TRUE(contains(said("y ~ t"), "text(t)"));
}

}  // namespace
}  // namespace lemma
