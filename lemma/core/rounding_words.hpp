// lemma/core/rounding_words.hpp: how a person is told of numbers whose digits are rounding's alone.
#pragma once
#include <string>
#include <string_view>

namespace lemma {

/// A residue beside what is allowed: "<1e-12" where it is below that, or "<1e-24" where no more than 1e-24 is allowed;
/// otherwise its digits. Whether a smaller one is 2e-15, 1e-17 or 0 is decided by the order of additions, not by the
/// data; that it is below the bound is what matters, and is as true on another CPU.
std::string residue_text(double residue, double allowed, int digits = 2);

/// The same for the residues of a sentence, which are written with one decimal: "to within 2.1e-15 (allowed 1e-08)" becomes
/// "to within <1e-12 (allowed 1e-08)". The "allowed" that follows a residue before the next one is its own. Numbers with no
/// decimal ("1e-15": tolerances) or with more of them (objectives) are left as they are.
std::string residues_bounded(std::string_view sentence);

}  // namespace lemma
