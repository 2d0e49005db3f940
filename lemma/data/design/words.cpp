// lemma/data/design/words.cpp: texts as values of their tokens: text(body, min = 2).
//
// Tokens that no training text had (or too few of them) have no column, and add nothing to a row. Where tokens share columns by
// their hash there is no such thing: any token has one.
#include <algorithm>
#include <cmath>
#include <lemma/core/hash.hpp>
#include <lemma/data/design/parts.hpp>

namespace lemma {

Index hashed_column(std::string_view token, Index columns) {
  return static_cast<Index>(hash_text(token) % static_cast<std::uint64_t>(columns));
}

std::string_view text_of(const Column& column, Index row, std::string& copy) {
  if (column.type() == ColumnType::text) return column.texts().values[static_cast<std::size_t>(row)];
  copy = column.text(row);
  return copy;
}

WordCounter::WordCounter(const Variable& variable)
    : tokeniser_(variable.wording),
      weight_(variable.wording.weight),
      hashed_(variable.wording.columns),
      rarity_(variable.rarity) {
  for (const std::string& level : variable.levels) column_.number_of(level);
}

std::vector<std::pair<Index, double>> WordCounter::values(std::string_view text) const {
  TextTokens cut;
  tokeniser_(text, cut);
  std::vector<Index> columns;
  columns.reserve(cut.tokens.size());
  for (const std::string_view token : cut.tokens)
    if (hashed_ > 0) columns.push_back(hashed_column(token, hashed_));
    else if (const Index known = column_.find(token); known >= 0) columns.push_back(known);
  std::sort(columns.begin(), columns.end());
  std::vector<std::pair<Index, double>> out;
  for (const Index column : columns)
    if (!out.empty() && out.back().first == column) out.back().second += 1;
    else out.emplace_back(column, 1.0);
  if (weight_ == TokenWeight::binary)
    for (auto& each : out) each.second = 1;
  if (weight_ != TokenWeight::tfidf) return out;
  double squares = 0;
  for (auto& [column, value] : out) {
    value *= rarity_[static_cast<std::size_t>(column)];
    squares += value * value;
  }
  for (auto& each : out) each.second /= std::sqrt(squares);
  return out;
}

}  // namespace lemma
