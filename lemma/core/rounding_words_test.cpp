// lemma/core/rounding_words_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/rounding_words.hpp>

namespace lemma {
namespace {

TEST(RoundingWords, AResidueIsThePowerOfTenAboveIt) {
  EXPECT_EQ(residues_as_powers("to within 2.05e-15 (allowed 1e-08)."), "to within <1e-14 (allowed 1e-08).");
  EXPECT_EQ(residues_as_powers("7.52e-34, allowed 1e-24; closed form"), "<1e-33, allowed 1e-24; closed form");
  EXPECT_EQ(residues_as_powers("6e-13"), "<1e-12");
}

TEST(RoundingWords, WhatTheDataDecideIsLeftAlone) {
  for (const char* text :
       {"a gap of 4.7e-09", "1.2e-12 of itself", "allowed 1e-24", "x2.5e-17", "3 of 5", "e-15", "2.0e-", "-1.5", ""})
    EXPECT_EQ(residues_as_powers(text), text);
  EXPECT_EQ(residues_as_powers("1.0e-15"), "1.0e-15") << "a power of ten is one already";
}

}  // namespace
}  // namespace lemma
