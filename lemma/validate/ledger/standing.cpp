// lemma/validate/ledger/standing.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/validate/ledger/standing.hpp>

namespace lemma {

std::string chosen_words(const Ledger::Chosen& chosen, Index rows) {
  const auto& [entry, shared] = chosen;
  const bool all = shared.exact && shared.rows == static_cast<double>(rows);
  const std::string some =
      all ? (rows == 1 ? "the only row was" : fmt::format("all {} rows were", format_count(rows)))
          : fmt::format("{}{} of {} rows {}", shared.exact ? "" : "about ", format_significant(shared.rows, 4),
                        format_count(rows), shared.exact && shared.rows == 1 ? "was" : "were");
  return fmt::format("{} used on {} to {} {}", some, entry.last.substr(0, 10),
                     entry.use == RowsUsed::tuned      ? "tune"
                     : entry.use == RowsUsed::compared ? "compare"
                                                       : "select columns by",
                     entry.method);
}

namespace {

std::string looks_words(const Standing& s, Index rows) {
  std::string out = s.looks == 1 ? "This is the first model that is judged on these rows."
                                 : fmt::format("{} models have been judged on these rows.", format_count(s.looks));
  if (!s.margin) return out;
  const double bound = *s.error + *s.margin;
  const std::string models = s.looks == 1 ? "its error" : "the error of each";
  if (bound >= 1) return out + fmt::format(" On {} that bounds no error below 1 (Hoeffding).", count_of(rows, "row"));
  return out + fmt::format(
                   " If the rows had no part in making {}, {} is at most its figure + {}, here {}, with "
                   "probability 95 % (Hoeffding{}).",
                   s.looks == 1 ? "the model" : "the models", models, format_significant(*s.margin, 2),
                   format_significant(bound, 2),
                   s.looks == 1 ? "" : fmt::format(", for {} looks", format_count(s.looks)));
}

}  // namespace

Standing standing(const Ledger& ledger, const RowsPrint& rows, const std::string& model_id, const Judgement& judged) {
  Standing out;
  out.looks = ledger.looks(rows, model_id);
  out.chosen = ledger.chosen_by(rows);
  out.kind = judged.honesty ? std::string(name_of(judged.honesty->kind)) : "unknown";
  if (out.kind == "test" && !out.chosen.empty()) out.kind = "validation";
  const Measure* accuracy = find_measure(judged.measures, "accuracy");
  if (accuracy && out.kind == "test" && !judged.weight) {
    out.error = 1 - accuracy->value;
    out.margin = hoeffding_margin(out.looks, static_cast<double>(judged.rows));
  }
  if (!out.chosen.empty()) {
    out.sentence = out.kind == "validation" ? "VALIDATION rows: " : "They have chosen too: ";
    for (std::size_t i = 0; i < out.chosen.size() && i < 3; ++i)
      out.sentence += (i > 0 ? "; " : "") + chosen_words(out.chosen[i], rows.rows);
    if (out.chosen.size() > 3) out.sentence += fmt::format("; and {} more", out.chosen.size() - 3);
    out.sentence += ": a choice that has seen rows is flattered by them. ";
  }
  out.sentence += looks_words(out, judged.rows);
  return out;
}

Value to_value(const Standing& standing) {
  Value out = Value::object();
  out.set("kind", standing.kind);
  out.set("looks", standing.looks);
  out.set("error", standing.error ? Value(*standing.error) : Value());
  out.set("margin", standing.margin ? Value(*standing.margin) : Value());
  Value::List chosen;
  for (const auto& [entry, shared] : standing.chosen) {
    Value one = Value::object();
    one.set("use", name_of(entry.use));
    one.set("method", entry.method);
    one.set("data", entry.data);
    one.set("last", entry.last);
    one.set("rows", shared.rows);
    one.set("exact", shared.exact);
    chosen.push_back(std::move(one));
  }
  out.set("chosen", std::move(chosen));
  out.set("message", standing.sentence);
  return out;
}

}  // namespace lemma
