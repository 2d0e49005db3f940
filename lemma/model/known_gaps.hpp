// lemma/model/known_gaps.hpp: where a method does not meet a check of the contract suite (tests/contract_test.cpp), and why.
#pragma once
#include <span>
#include <string_view>

namespace lemma {

/// The suite excuses exactly these, and fails when one of them has in fact closed.
struct KnownGap {
  std::string_view method;
  std::string_view check;   // the test's name
  std::string_view about;   // the field, parameter or situation it fails on
  std::string_view reason;  // one sentence
};

std::span<const KnownGap> known_gaps();

}  // namespace lemma
