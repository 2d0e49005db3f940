// lemma/data/design/pieces_test.cpp: texts as counts of their pieces.
#include <gtest/gtest.h>
#include <lemma/data/design.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const Table& sequences() {
  static const Table t({numeric("y", {1, 2, 3}), text("s", {"abab", "ba", "b"}), categorical("c", {"p", "q", "p"})});
  return t;
}

TEST(Pieces, AreCountedFromEveryPlace) {
  const Design design(formula("y ~ kmers(s, 2)"), sequences());
  EXPECT_EQ(design.features(), (Names{"s[ab]", "s[ba]"}));
  EXPECT_EQ(design.train(sequences()).x, (Matrix{{2, 1}, {0, 1}, {0, 0}}));
  EXPECT_EQ(design.sparse(sequences()).value, (std::vector<double>{2, 1, 1}));
}

TEST(Pieces, ThatWereNotSeenInTrainingAddNothing) {
  const Design design(formula("y ~ kmers(s, 2)"), sequences());
  const Table fresh({text("s", {"zzba", ""})});
  EXPECT_EQ(design.apply(fresh).x, (Matrix{{0, 1}, {0, 0}}));
}

TEST(Pieces, AreMadeOfLettersNotBytes) {
  const Table t({text("s", {"äöä"})});
  EXPECT_EQ(Design(formula("~ kmers(s, 2)"), t).features(), (Names{"s[äö]", "s[öä]"}));
}

TEST(Pieces, StandForTextColumnsWhereTheMethodComparesTexts) {
  const Design design(formula("y ~ ."), sequences(), {.letters = 1});
  EXPECT_EQ(design.features(), (Names{"s[a]", "s[b]", "c[p]", "c[q]"}));
  EXPECT_EQ(design.train(sequences()).x.row(0), (Matrix{{2, 2, 1, 0}}));
}

TEST(Pieces, SurviveTheModelFileAndMissingTexts) {
  const Design design(formula("y ~ kmers(s, 2) + c"), sequences(), {.missing = Missing::mode});
  const Design back = Design::load(design.save());
  EXPECT_EQ(back.features(), design.features());
  const Table gaps({text("s", {"ab", ""}, {false, true}), categorical("c", {"p", "p"})});
  EXPECT_EQ(back.apply(gaps).x, (Matrix{{1, 0, 0}, {0, 0, 0}}));
  const Design strict(formula("y ~ kmers(s, 2)"), sequences());
  EXPECT_TRUE(contains(message_of([&] { strict.apply(gaps); }), "1 missing value"));
}

TEST(Pieces, SayWhatTheyTake) {
  const auto said = [](const char* text) { return message_of([&] { Design(formula(text), sequences()); }); };
  EXPECT_TRUE(contains(said("y ~ kmers(s)"), "kmers(sequence, 3)"));
  EXPECT_TRUE(contains(said("y ~ kmers(s, 0)"), "from 1 to 12"));
  EXPECT_TRUE(contains(said("s ~ kmers(y, 2)"), "--type y=text"));
  EXPECT_TRUE(contains(said("y ~ kmers(s, 9)"), "no text of s has 9 letters"));
  EXPECT_TRUE(contains(said("y ~ log(kmers(s, 2))"), "a term of its own"));
}

}  // namespace
}  // namespace lemma
