// lemma/core/text_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <limits>

namespace lemma {
namespace {

using Words = std::vector<std::string>;
const double kMissing = std::nan("");

TEST(Utf8, KnowsWellFormedCharacters) {
  EXPECT_EQ(first_character("é").code, U'é');
  EXPECT_EQ(first_character("é").bytes, 2u);
  EXPECT_EQ(first_character("😀").code, U'😀');
  EXPECT_TRUE(is_utf8("naïve Größe 漢字 😀"));
  for (const char* bad :
       {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80", "a\xFF"})
    EXPECT_FALSE(is_utf8(bad)) << testing::PrintToString(std::string(bad));
}

TEST(Utf8, WritesEveryCharacterSoThatItIsReadBack) {
  for (char32_t code = 0; code <= 0x10FFFF; code += code < 0x1000 ? 1 : 61) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    const Character read = first_character(text);
    ASSERT_EQ(read.code, code);
    ASSERT_EQ(read.bytes, text.size());
  }
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("Größe"), 5);
  EXPECT_EQ(display_width("漢字"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1) << "a combining accent";
  EXPECT_EQ(display_width("\x1b[1;31mred\x1b[0m"), 3) << "colours take no room";
  EXPECT_EQ(display_width("a\xFF"), 2);
  EXPECT_EQ(pad_left("é", 3), "  é");
  EXPECT_EQ(pad_right("é", 3), "é  ");
  EXPECT_EQ(pad_left("long", 2), "long");
}

TEST(Wrap, BreaksAtBlanksAndKeepsParagraphs) {
  EXPECT_EQ(wrap("the quick brown fox", 10), "the quick\nbrown fox");
  EXPECT_EQ(wrap("one two\nthree\n\nfour", 40), "one two three\n\nfour");
  EXPECT_EQ(wrap("a incomprehensibilities b", 8), "a\nincomprehensibilities\nb");
  EXPECT_EQ(wrap("-k  number of clusters", 14, 4), "-k number of\n    clusters");
  EXPECT_EQ(wrap("", 10), "");
}

TEST(JoinWords, ReadsLikeASentence) {
  EXPECT_EQ(join_words({}), "");
  EXPECT_EQ(join_words({"a"}), "a");
  EXPECT_EQ(join_words({"a", "b"}), "a and b");
  EXPECT_EQ(join_words({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(join_words({"a", "b", "c", "d", "e"}, 3), "a, b and 3 more");
  EXPECT_EQ(count_of(1, "row"), "1 row");
  EXPECT_EQ(count_of(1234567, "row"), "1,234,567 rows");
  EXPECT_EQ(count_of(1, "class"), "1 class");
  EXPECT_EQ(count_of(3, "class"), "3 classes");
  EXPECT_EQ(count_of(0, "box"), "0 boxes");
  EXPECT_EQ(count_of(2, "batch"), "2 batches");
  EXPECT_EQ(count_of(2, "wish"), "2 wishes");
}

TEST(FormatSignificant, PrintsOneNumberAsRDoes) {  // format(x, digits = d) in R 4.2
  EXPECT_EQ(format_significant(0.000123456, 4), "0.0001235");
  EXPECT_EQ(format_significant(0.0000123456, 4), "1.235e-05");
  EXPECT_EQ(format_significant(123456.789, 4), "123457");
  EXPECT_EQ(format_significant(3, 7), "3");
  EXPECT_EQ(format_significant(2.50, 4), "2.5");
  EXPECT_EQ(format_significant(100000, 7), "1e+05");
  EXPECT_EQ(format_significant(123456, 7), "123456");
  EXPECT_EQ(format_significant(9996, 3), "9996") << "not 1e+04";
  EXPECT_EQ(format_significant(1e-300, 3), "1e-300");
  EXPECT_EQ(format_significant(0, 3), "0");
  EXPECT_EQ(format_significant(-0.0, 3), "0");
  EXPECT_EQ(format_significant(kMissing, 3), "NA");
  EXPECT_EQ(format_significant(-std::numeric_limits<double>::infinity(), 3), "-Inf");
}

TEST(FormatColumn, GivesAllNumbersTheDecimalsThatEachNeeds) {  // format(x, digits = d) in R 4.2
  EXPECT_EQ(format_column({1.5, 22.75, 333}, 4), (Words{"  1.50", " 22.75", "333.00"}));
  EXPECT_EQ(format_column({0.5, -0.25, kMissing}, 3), (Words{" 0.50", "-0.25", "   NA"}));
  EXPECT_EQ(format_column({1e-10, 1}, 3), (Words{"1e-10", "1e+00"}));
  EXPECT_EQ(format_column({999.96, 0.25}, 1), (Words{"1e+03", "2e-01"}));
  EXPECT_EQ(format_column({0.0099996, 0.01, 999.96, 0.025}, 2), (Words{"1.0e-02", "1.0e-02", "1.0e+03", "2.5e-02"}));
  EXPECT_EQ(format_column({kMissing, kMissing}, 3), (Words{"NA", "NA"}));
  EXPECT_EQ(format_column({}, 3), Words{});
}

TEST(FormatFixed, HasNoMinusBeforeZero) {
  EXPECT_EQ(format_fixed(1.005, 1), "1.0");
  EXPECT_EQ(format_fixed(-0.001, 2), "0.00");
  EXPECT_EQ(format_fixed(-0.006, 2), "-0.01");
  EXPECT_EQ(format_fixed(kMissing, 2), "NA");
  EXPECT_EQ(format_fixed(-std::numeric_limits<double>::infinity(), 2), "-Inf");
}

TEST(FormatP, BoundsTinyValuesAsRDoes) {  // format.pval(p, digits = d) in R 4.2
  EXPECT_EQ(format_p(1e-20, 3), "<2e-16");
  EXPECT_EQ(format_p(1e-20, 4), "< 2.2e-16");
  EXPECT_EQ(format_p(0, 3), "<2e-16");
  EXPECT_EQ(format_p(0.04217, 3), "0.0422");
  EXPECT_EQ(format_p_column({1e-20, 0.0123, 1.5e-7}, 3), (Words{"< 2e-16", " 0.0123", "1.5e-07"}));
  EXPECT_EQ(format_p_column({0.0007, 0.6366, 2.2e-6}, 3), (Words{" 0.0007", " 0.6366", "2.2e-06"}));
  EXPECT_EQ(format_p(kMissing), "NA");
}

TEST(SignificanceMark, FollowsRsThresholds) {
  EXPECT_EQ(significance_mark(0), "***");
  EXPECT_EQ(significance_mark(0.001), "***");
  EXPECT_EQ(significance_mark(0.0011), "**");
  EXPECT_EQ(significance_mark(0.05), "*");
  EXPECT_EQ(significance_mark(0.0501), ".");
  EXPECT_EQ(significance_mark(0.2), "");
  EXPECT_EQ(significance_mark(kMissing), "");
}

TEST(Sizes, AreWrittenForPeople) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1234), "1.2 kB");
  EXPECT_EQ(format_bytes(1.24e9), "1.2 GB");
  EXPECT_EQ(format_bytes(999.6e6), "1.0 GB");
  EXPECT_EQ(format_bytes(45.6e6), "46 MB");
}

TEST(Durations, AreWrittenForPeople) {
  EXPECT_EQ(format_duration(0.0012), "1.2 ms");
  EXPECT_EQ(format_duration(0.035), "35 ms");
  EXPECT_EQ(format_duration(1.23), "1.2 s");
  EXPECT_EQ(format_duration(9.96), "10 s");
  EXPECT_EQ(format_duration(59.7), "1 min");
  EXPECT_EQ(format_duration(80), "1 min 20 s");
  EXPECT_EQ(format_duration(7500), "2 h 5 min");
  EXPECT_EQ(format_duration(273600), "3 d 4 h");
  EXPECT_EQ(format_duration(kMissing), "NA");
}

TEST(TextTable, LinesUpWordsLeftAndNumbersRight) {
  TextTable table;
  table.words("", {"(Intercept)", "Größe"}).numbers("Estimate", {36.4595, -0.108}, 3).right("p", {"<2e-16", "0.0011"});
  EXPECT_EQ(table.str(),
            "             Estimate       p\n"
            "(Intercept)    36.459  <2e-16\n"
            "Größe          -0.108  0.0011\n");
  EXPECT_EQ(table.str({.indent = 2, .gap = 1, .width = 0, .header = false}),
            "  (Intercept)   36.459 <2e-16\n"
            "  Größe         -0.108 0.0011\n");
}

TEST(TextTable, ContinuesBelowWhereItIsTooWide) {
  TextTable table;
  table.words("id", {"a"}).right("first", {"1"}).right("second", {"2"}).right("third", {"3"});
  EXPECT_EQ(table.str({.indent = 0, .gap = 2, .width = 18, .header = true}),
            "id  first  second\n"
            "a       1       2\n"
            "\n"
            "id  third\n"
            "a       3\n");
}

TEST(TextTable, CellsStayOnOneLineAndColumnsHaveOneLength) {
  TextTable table;
  table.words("x", {"two\nlines"});
  EXPECT_EQ(table.str(), "x\ntwo lines\n");
  EXPECT_THROW(table.words("y", {"a", "b"}), Error);
  EXPECT_EQ(TextTable().str(), "");
}

}  // namespace
}  // namespace lemma
