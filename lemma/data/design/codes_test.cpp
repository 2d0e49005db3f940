// lemma/data/design/codes_test.cpp: categories as they are: one column of codes each.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design.hpp>
#include <lemma/data/stream/rows.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;
const DesignOptions kCodes{.coding = Coding::codes, .missing = Missing::native, .unseen = Unseen::missing};

Table training() {
  return Table({numeric("y", {1, 2, 3, 4}), categorical("sex", {"m", "f", "", "m"}, {false, false, true, false}),
                numeric("x", {0.5, std::nan(""), 2, 3}), categorical("place", {"b", "a", "c", "b"})});
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(CodesDesign, AFactorIsOneColumnOfCodesWithItsLevels) {
  const Design design(formula("y ~ ."), training(), kCodes);
  EXPECT_EQ(design.features(), (Names{"sex", "x", "place"}));
  EXPECT_EQ(design.levels(), (std::vector<Names>{{"f", "m"}, {}, {"a", "b", "c"}}));
  const Matrix x = design.train(training()).x;
  const double nan = std::nan("");
  const Matrix expected{{1, 0.5, 1}, {0, nan, 0}, {nan, 2, 2}, {1, 3, 1}};
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 3; ++j) EXPECT_TRUE(same(x(i, j), expected(i, j))) << i << ' ' << j << ' ' << x(i, j);
}

TEST(CodesDesign, RowsTellTheKindsOfTheirColumns) {
  const Design design(formula("y ~ ."), training(), kCodes);
  const DesignRows rows(design, design.train(training()));
  EXPECT_TRUE(rows.holds_codes(0) && !rows.holds_codes(1) && rows.holds_codes(2));
  EXPECT_EQ(rows.levels[2], (Names{"a", "b", "c"}));
  const Design numbers(formula("y ~ x"), training(), {.missing = Missing::native});
  EXPECT_FALSE(DesignRows(numbers, numbers.train(training())).holds_codes(0));
}

TEST(CodesDesign, ALevelNeverSeenIsMissingOrAMistakeAsTheMethodAsks) {
  const Table later({categorical("sex", {"x", "m"}), numeric("x", {1, 2}), categorical("place", {"a", "z"})});
  const Design design(formula("y ~ ."), training(), kCodes);
  const Matrix x = design.apply(later).x;
  EXPECT_TRUE(std::isnan(x(0, 0)) && std::isnan(x(1, 2)));
  EXPECT_EQ(x(1, 0), 1);
  EXPECT_EQ(design.apply(later, Missing::drop).kept.size(), 0u) << "each row has a level that is not known";
  DesignOptions strict = kCodes;
  strict.unseen = Unseen::error;
  const Design refusing(formula("y ~ ."), training(), strict);
  EXPECT_NE(message_of([&] { refusing.apply(later); }).find("level 'x' of 'sex' in row 1 was not seen in training"),
            std::string::npos);
}

TEST(CodesDesign, TheStreamGivesTheSameRows) {
  const Table table = training();
  const Design design(formula("y ~ ."), table, kCodes);
  const MemoryTableStream stream(table);
  const StreamRows streamed(design, stream);
  const DesignRows whole(design, design.train(table));
  EXPECT_EQ(streamed.levels, whole.levels);
  BlockBuffer a, b;
  const Block one = streamed.read(0, 4, a), other = whole.read(0, 4, b);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 3; ++j) EXPECT_TRUE(same(one.x(i, j), other.x(i, j)));
}

TEST(CodesDesign, ComesBackFromAFile) {
  const Design design(formula("y ~ ."), training(), kCodes);
  const Design again = Design::load(design.save());
  EXPECT_EQ(again.levels(), design.levels());
  EXPECT_EQ(again.unseen(), Unseen::missing);
  EXPECT_EQ(again.save(), design.save());
}

TEST(CodesDesign, AProductWithACategoryIsRefusedWhereItStands) {
  const std::string message = message_of([] { Design(formula("y ~ x + sex:x"), training(), kCodes); });
  EXPECT_NE(message.find("'sex' is categorical, and this method takes categories as they are"), std::string::npos)
      << message;
  EXPECT_NO_THROW(Design(formula("y ~ x:I(x^2)"), training(), kCodes));
}

TEST(CodesDesign, FilledCategoriesAreTheMostFrequent) {
  DesignOptions filled = kCodes;
  filled.missing = Missing::mode;
  const Design design(formula("y ~ sex"), training(), filled);
  EXPECT_EQ(design.train(training()).x(2, 0), 1);
}

}  // namespace
}  // namespace lemma
