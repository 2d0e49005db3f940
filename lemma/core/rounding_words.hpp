// lemma/core/rounding_words.hpp: how a person is told of numbers whose digits are rounding's alone.
#pragma once
#include <string>
#include <string_view>

namespace lemma {

/// Numbers of a sentence below 1e-12, as the power of ten above them: "to within 2.05e-15 (allowed 1e-08)" becomes "to within
/// <1e-14 (allowed 1e-08)". Which digits such a residue has is decided by the order of additions, not by the data; that it
/// is below that power is what matters, and stays true. Powers of ten themselves, such as tolerances, are left as they are.
std::string residues_as_powers(std::string_view text);

}  // namespace lemma
