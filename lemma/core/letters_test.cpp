// lemma/core/letters_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/letters.hpp>

namespace lemma {
namespace {

TEST(Letters, WordsAreMadeOfLettersMarksDigitsAndTheUnderscore) {
  for (const char32_t code : {U'a', U'Z', U'0', U'_', U'ä', U'ß', U'Ж', U'中', U'あ', U'٣', U'\u0301', U'\U0001D400'})
    EXPECT_TRUE(is_word_character(code)) << static_cast<unsigned>(code);
  for (const char32_t code : {U' ', U'\n', U'-', U'\'', U'.', U'«', U'—', U'€', U'\u00A0', U'\u200B', U'\U0001F600'})
    EXPECT_FALSE(is_word_character(code)) << static_cast<unsigned>(code);
  EXPECT_FALSE(is_word_character(0));
  EXPECT_FALSE(is_word_character(0x10FFFF));
}

TEST(Letters, HaveTheLowerCaseOfUnicode) {
  EXPECT_EQ(lower_case(U'A'), U'a');
  EXPECT_EQ(lower_case(U'Ä'), U'ä');
  EXPECT_EQ(lower_case(U'Ÿ'), U'ÿ');
  EXPECT_EQ(lower_case(U'Ā'), U'ā');  // every other letter is upper case here
  EXPECT_EQ(lower_case(U'ā'), U'ā');
  EXPECT_EQ(lower_case(U'Σ'), U'σ');
  EXPECT_EQ(lower_case(U'Я'), U'я');
  EXPECT_EQ(lower_case(U'中'), U'中');
  EXPECT_EQ(lower_case(U'1'), U'1');
}

TEST(Letters, LowerCaseStaysWhereItIs) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code)
    ASSERT_EQ(lower_case(lower_case(code)), lower_case(code)) << static_cast<unsigned>(code);
}

}  // namespace
}  // namespace lemma
