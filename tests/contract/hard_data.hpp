// tests/contract/hard_data.hpp: data that are wrong, or nearly so, and what counts as an answer to them.
#pragma once
#include <cctype>
#include <tests/contract/compare.hpp>
#include <tests/contract/data.hpp>

namespace lemma::contract {

inline const std::vector<std::string>& situations() {
  static const std::vector<std::string> all{"no rows",
                                            "one row",
                                            "two rows",
                                            "fewer rows than columns",
                                            "one class",
                                            "rows all equal",
                                            "constant column",
                                            "all columns constant",
                                            "equal columns",
                                            "a missing value",
                                            "an infinity",
                                            "a missing response",
                                            "an infinite response",
                                            "huge numbers",
                                            "tiny numbers",
                                            "one huge number",
                                            "a huge offset"};
  return all;
}

inline std::vector<std::string> all_features() { return {"x1", "x2", "x3", "x4"}; }
inline std::vector<std::string> all_numbers() { return {"x1", "x2", "x3", "x4", "y"}; }

inline Table rows_of_class(const Table& table, std::string_view name) {
  std::vector<Index> rows;
  for (Index i = 0; i < table.rows(); ++i)
    if (table.column("class").text(i) == name) rows.push_back(i);
  const Table part = table.select(rows);
  return parse_csv(format_csv(part), {}, part.source());  // the other levels are gone
}

inline Table hard_table(const std::string& situation) {
  const Table table = groups(240);
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const auto times = [&](double factor) {
    return changed(table, all_numbers(), [=](double v, Index) { return v * factor; });
  };
  const auto at = [&](const char* column, double value) {
    return changed(table, {column}, [=](double v, Index i) { return i == 17 ? value : v; });
  };
  if (situation == "no rows") return table.slice(0, 0);
  if (situation == "one row") return table.slice(0, 1);
  if (situation == "two rows") return table.slice(0, 2);
  if (situation == "fewer rows than columns") return table.slice(0, 3);
  if (situation == "one class") return rows_of_class(table, "blue");
  if (situation == "rows all equal") return table.select(std::vector<Index>(30, 5));
  if (situation == "constant column") return changed(table, {"x2"}, [](double, Index) { return 3.0; });
  if (situation == "all columns constant") return changed(table, all_features(), [](double, Index) { return 3.0; });
  if (situation == "equal columns") {
    const auto& x1 = table.column("x1").numbers().values;
    return changed(table, {"x2"}, [&](double, Index i) { return x1[static_cast<std::size_t>(i)]; });
  }
  if (situation == "a missing value") return at("x3", nan);
  if (situation == "an infinity") return at("x3", infinity);
  if (situation == "a missing response") return at("y", nan);
  if (situation == "an infinite response") return at("y", -infinity);
  if (situation == "huge numbers") return times(1e200);
  if (situation == "tiny numbers") return times(1e-200);
  if (situation == "one huge number") return at("x3", 1e300);
  if (situation == "a huge offset") return changed(table, all_numbers(), [](double v, Index) { return v + 1e12; });
  throw Error("there is no situation '" + situation + "'");
}

inline bool has_word(const std::string& text, const std::string& word) {
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i]));
  };
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (!(at > 0 && is_letter(at - 1)) && !is_letter(at + word.size())) return true;
  return false;
}

/// A model is an answer when its results are finite, or not there (NaN, which is null) with a warning that says so; its
/// predictions for its own rows are finite; and its summary prints neither nan nor inf.
inline Complaints not_an_answer(const TrainedModel& trained, const Table& table, const std::string& about) {
  const Names names = trained.names();
  Complaints out = not_finite(trained.model->results(names), about, !trained.model->warnings().empty());
  const bool passes_missing_on = trained.model->method().about().takes_missing;
  append(out, not_finite(all_said(trained, table), about + ": prediction", passes_missing_on));
  for (auto& complaint : out) complaint.about = about;
  const std::string summary = trained.model->summary(names);
  if (summary.empty()) out.push_back({about, "the summary is empty"});
  for (const char* word : {"nan", "inf", "-nan", "NaN"})
    if (has_word(summary, word)) out.push_back({about, fmt::format("the summary prints {}:\n{}", word, summary)});
  if (trained.model->certificate().message.empty()) out.push_back({about, "the certificate says nothing"});
  return out;
}

}  // namespace lemma::contract
