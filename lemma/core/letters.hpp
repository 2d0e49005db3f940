// lemma/core/letters.hpp: what words are made of, in any script.
#pragma once

namespace lemma {

/// Letters, the marks upon them, digits, and what joins them (_).
bool is_word_character(char32_t code);
/// The character's lower case where that is one character, else itself.
char32_t lower_case(char32_t code);

}  // namespace lemma
