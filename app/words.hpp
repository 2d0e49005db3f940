// app/words.hpp: parameters that are typed as flags, by their descriptions: --name value, --name=value, --flag for true.
#pragma once
#include <lemma/core/param_info.hpp>

namespace lemma::app {

bool is_flag(const std::string& word);
/// Whether the word at i is the value of the parameter before it; a truth value may be left out.
bool is_value(const ParamInfo& info, const std::vector<std::string>& words, std::size_t i);

/// Whose parameters they are, for messages.
struct Taking {
  std::string who, help;  // "lda", "lemma fit lda --help"
  const std::vector<ParamInfo>& params;
  const std::vector<std::string>& flags;  // that the command takes besides: for "did you mean"
};
/// Sets what the words say in `params`; Error for a word that nobody takes. Matrices are read from files, whose names join
/// `files`.
Value parse_words(const Taking& taking, const std::vector<std::string>& words, Value params,
                  std::vector<std::string>& files);

}  // namespace lemma::app
