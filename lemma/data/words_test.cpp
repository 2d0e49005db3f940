// lemma/data/words_test.cpp
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/data/words.hpp>

namespace lemma {
namespace {

using Names = std::vector<std::string>;

Names tokens(std::string_view text, const Wording& wording = {}) {
  TextTokens cut;
  Tokeniser tokeniser(wording);
  tokeniser(text, cut);
  return {cut.tokens.begin(), cut.tokens.end()};
}

TEST(Words, AreRunsOfTwoOrMoreLettersDigitsAndUnderscores) {
  EXPECT_EQ(tokens("The cat's 9 lives, e_mail: x2!"), (Names{"the", "cat", "lives", "e_mail", "x2"}));
  EXPECT_EQ(tokens("Ein Öl-Fluß; ДА, да"), (Names{"ein", "öl", "fluß", "да", "да"}));
  EXPECT_EQ(tokens("हिन्दी"), (Names{"हिन्दी"}));  // the marks belong to it
  EXPECT_EQ(tokens("cafe\u0301"), (Names{"cafe\u0301"}));
}

TEST(Words, OfAnEmptyTextAreNone) {
  for (const char* text : {"", " \n\t", "a b c", "!?"}) EXPECT_TRUE(tokens(text).empty()) << text;
  Wording letters;
  letters.letters = true;
  letters.shortest = letters.longest = 3;
  EXPECT_TRUE(tokens("ab", letters).empty());
}

TEST(Words, AreSeparatedByBytesThatAreNoText) {
  EXPECT_EQ(tokens("one\xFFtwo\xC3"), (Names{"one", "two"}));
  EXPECT_EQ(tokens(std::string_view("ab\0cd", 5)), (Names{"ab", "cd"}));
}

TEST(Words, KeepTheirCaseWhenAskedTo) {
  Wording wording;
  wording.lower = false;
  EXPECT_EQ(tokens("USA usa", wording), (Names{"USA", "usa"}));
}

TEST(Words, SeveralInARowSkipStopWords) {
  Wording wording;
  wording.shortest = 1;
  wording.longest = 2;
  EXPECT_EQ(tokens("not so good", wording), (Names{"not", "so", "good", "not so", "so good"}));
  wording.stop = {"so"};
  EXPECT_EQ(tokens("not SO good", wording), (Names{"not", "good", "not good"}));
}

TEST(Words, OfEnglishThatSayLittle) {
  const auto& words = english_stop_words();
  EXPECT_TRUE(std::is_sorted(words.begin(), words.end()));
  EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());
  for (const char* word : {"the", "of", "and", "not", "yours"})
    EXPECT_TRUE(std::binary_search(words.begin(), words.end(), word)) << word;
  for (const char* word : {"money", "good", "cat"})
    EXPECT_FALSE(std::binary_search(words.begin(), words.end(), word)) << word;
}

TEST(Words, OrRunsOfLetters) {
  Wording wording;
  wording.letters = true;
  wording.shortest = wording.longest = 2;
  EXPECT_EQ(tokens("Ab  \n ä", wording), (Names{"ab", "b ", " ä"}));
}

TEST(MailHeaders, EndAtTheFirstEmptyLine) {
  EXPECT_EQ(without_mail_headers("Subject: hi\nTo: me\n\nDear all\n\nbye"), "Dear all\n\nbye");
  EXPECT_EQ(without_mail_headers("From me Mon Jan 1\r\nSubject: hi\r\n  folded: too\r\n\r\nbody"), "body");
  EXPECT_EQ(without_mail_headers("Subject: hi\n\n"), "");
}

TEST(MailHeaders, AreNotWhatAnyTextBeginsWith) {
  for (const char* text : {"", "\n", "no mail\n\nat all", "Note: this\nis none\n\nbody", "Subject: without a body",
                           " folded: first\n\nbody", "From here on\n\nbody", ": no name\n\nbody"})
    EXPECT_EQ(without_mail_headers(text), text);
}

}  // namespace
}  // namespace lemma
