// lemma/validate/ledger/standing.hpp: what an estimate is worth after all that its rows have been used for.
#pragma once
#include <lemma/validate/judge.hpp>
#include <lemma/validate/ledger.hpp>

namespace lemma {

struct Standing {
  std::string kind;                     // training, validation, test, mixed, unknown
  Index looks = 1;                      // models that have been judged on these rows, this one included
  std::vector<Ledger::Chosen> chosen;   // by these rows
  std::optional<double> error, margin;  // of a classifier: R ≤ error + margin, with probability 95 %
  std::string sentence;                 // all of it in words; may have several lines
  bool clean() const { return kind == "test" || kind == "unknown"; }
};
Standing standing(const Ledger& ledger, const RowsPrint& rows, const std::string& model_id, const Judgement& judged);
Value to_value(const Standing& standing);

/// "all 40 rows were used on 2026-03-01 to tune lda", of so many rows.
std::string chosen_words(const Ledger::Chosen& chosen, Index rows);

}  // namespace lemma
