// lemma/core/rounding_words_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/rounding_words.hpp>

namespace lemma {
namespace {

TEST(RoundingWords, WhateverRoundingLeavesIsOneWord) {
  for (const double residue : {0.0, 1e-300, 1e-31, 1.0e-17, 4.441e-16, 9.9e-13})
    EXPECT_EQ(residue_text(residue, 1e-8), "<1e-12");
  for (const char* residue : {"0.0e+00", "1.0e-31", "1.0e-17", "4.4e-16", "9.9e-13"})
    EXPECT_EQ(residues_bounded(std::string("to within ") + residue + " (allowed 1e-08)."),
              "to within <1e-12 (allowed 1e-08).");
}

TEST(RoundingWords, WhereLessIsAllowedTheBoundIsWhatIsAllowed) {
  EXPECT_EQ(residue_text(7.52e-34, 1e-24), "<1e-24");
  EXPECT_EQ(residue_text(0, 1e-24), "<1e-24");
  EXPECT_EQ(residue_text(0, 5e-14), "<1e-14") << "a power of ten";
  EXPECT_EQ(residue_text(2e-14, 5e-14), "2e-14") << "not below 1e-14";
  EXPECT_EQ(residue_text(0, 0), "0") << "a count of which none is allowed";
  EXPECT_EQ(residues_bounded("by 7.5e-34 of the squares (allowed 1e-24); no coefficient is further than 3.2e-14"),
            "by <1e-24 of the squares (allowed 1e-24); no coefficient is further than <1e-12");
  EXPECT_EQ(residues_bounded("lower it by 7.5e-14, 3.1e-31 of the squares (allowed 1e-24)"),
            "lower it by <1e-12, <1e-24 of the squares (allowed 1e-24)");
}

TEST(RoundingWords, WhatFailsShowsItsDigits) {
  EXPECT_EQ(residue_text(4.7e-22, 1e-24), "4.7e-22");
  EXPECT_EQ(residue_text(2.0e-3, 1e-8), "0.002");
  EXPECT_EQ(residues_bounded("off by 4.7e-22 (allowed 1e-24)"), "off by 4.7e-22 (allowed 1e-24)");
}

TEST(RoundingWords, WhatTheDataDecideIsLeftAlone) {
  EXPECT_EQ(residue_text(6.04e-12, 1e-10, 3), "6.04e-12");
  for (const char* text :
       {"a gap of 4.7e-09 (allowed 1e-08)", "1.2e-12 of itself", "1.0e-12", "allowed 1e-24", "about 1e-15",
        "the objective 1.234567e-140", "x2.5e-17", "3 of 5", "e-15", "2.0e-", "-2.5e-17", "-1.5", ""})
    EXPECT_EQ(residues_bounded(text), text);
}

}  // namespace
}  // namespace lemma
