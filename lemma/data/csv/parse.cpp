// lemma/data/csv/parse.cpp
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/number.hpp>
#include <lemma/data/csv/parse.hpp>
#include <lemma/data/csv/store.hpp>

namespace lemma::csv {
namespace {

std::string list_of(const Dictionary& levels) {
  constexpr std::int32_t kMost = 10;
  std::string list;
  for (std::int32_t k = 0; k < std::min(kMost, levels.size()); ++k)
    list += fmt::format("{}{}", k == 0 ? "" : ", ", levels.at(k));
  return levels.size() > kMost ? list + ", …" : list;
}

class Parser {
 public:
  Parser(const Grammar& grammar, const Text& text, std::span<Sink> sinks)
      : layout_(grammar.layout),
        syntax_(layout_.syntax),
        text_(text),
        sinks_(sinks),
        store_(grammar.missing, syntax_.decimal) {}

  bool stray_quote = false;

  void run(const RowRange& rows) {
    const char* p = text_.begin;
    for (Index i = 0; i < rows.skip && p < text_.end; ++i) p = pass_over(p);
    for (Index row = rows.first; row < rows.first + rows.take; ++row) {
      if (p >= text_.end) {
        stray_quote = true;  // fewer records than counted: only when quotes were miscounted
        return;
      }
      p = parse_record(p, row);
    }
  }

 private:
  const char* parse_record(const char* const record, Index row) {
    const char* p = syntax_.first(record);
    for (std::size_t j = 0; j < sinks_.size(); ++j) {
      p = put(j, p, row);
      const char* const next = syntax_.next(p);
      const bool last = j + 1 == sinks_.size();
      if (last == (next != nullptr)) wrong_width(record);
      if (next) p = next;
    }
    return end_of_line(p);
  }

  const char* put(std::size_t column, const char* p, Index row) {
    Field field;
    const char* const after = scan(p, column, field);
    Sink& sink = sinks_[column];
    if (store_.any(sink, field, row, place(p)) == Stored::good) return after;
    std::string scratch;
    const std::string found = shortened(field.text(scratch));
    throw Mistake{place(p), static_cast<Index>(column),
                  sink.mode == Sink::Mode::number
                      ? fmt::format("expected {}, found '{}'",
                                    sink.form.moments() ? "a date such as 2024-02-29" : "a number", found)
                      : fmt::format("'{}' is none of the levels given: {}", found, list_of(*sink.levels))};
  }

  const char* scan(const char* p, std::size_t column, Field& field) {
    try {
      return syntax_.scan(p, text_.end, field, stray_quote);
    } catch (const Syntax::BadField& bad) { throw Mistake{place(bad.place), static_cast<Index>(column), bad.message}; }
  }

  const char* pass_over(const char* p) {
    std::size_t column = 0;
    for (const char* next = syntax_.first(p); next; next = syntax_.next(p)) {
      Field field;
      p = scan(next, column++, field);
    }
    return end_of_line(p);
  }

  /// From the end of the last field: blanks may follow where blanks separate.
  const char* end_of_line(const char* p) const {
    while (*p != syntax_.newline) ++p;
    return p + 1;
  }

  [[noreturn]] void wrong_width(const char* const record) {
    std::size_t fields = 0;
    const char* p = record;
    for (const char* next = syntax_.first(record); next; next = syntax_.next(p)) {
      Field field;
      p = scan(next, fields++, field);
    }
    const std::size_t expected = sinks_.size();
    const std::string why = fields + 1 == expected && layout_.trailing ? "no delimiter ends this line, but all others"
                            : fields < expected
                                ? fmt::format("nothing for column {} ('{}')", fields + 1, layout_.names[fields])
                                : "does a text hold the delimiter without quotes around it?";
    throw Mistake{place(record), -1,
                  fmt::format("{}, expected {}: {} (--ragged skip leaves such lines out)",
                              count_of(static_cast<Index>(fields), "field"), expected, why)};
  }

  std::uint64_t place(const char* p) const { return text_.place(p); }

  const Layout& layout_;
  const Syntax syntax_;
  const Text text_;
  std::span<Sink> sinks_;
  Store store_;
};

/// What a column was before a piece was parsed.
struct Before {
  Sink::Mode mode;
  bool failed;
};

/// Columns of numbers do not count how missing is spelled.
void count_spellings(Sink& sink, std::size_t words) {
  if (sink.mode != Sink::Mode::number && sink.mode != Sink::Mode::skip) sink.spelled.assign(words, 0);
}

void reset(Sink& sink, const Before& before, std::size_t words) {
  sink.mode = before.mode;
  sink.failed = before.failed;
  sink.formed = false;
  sink.missing = false;
  count_spellings(sink, words);
  sink.infinite_at = kNowhere;
  if (sink.labels) sink.labels->clear();
}

}  // namespace

void parse_slowly(const Grammar& grammar, const Text& text, const RowRange& rows, std::span<Sink> sinks,
                  bool& stray_quote) {
  for (auto& sink : sinks) count_spellings(sink, grammar.missing.words().size());
  Parser parser(grammar, text, sinks);
  try {
    parser.run(rows);
  } catch (...) {
    stray_quote |= parser.stray_quote;
    throw;
  }
  stray_quote |= parser.stray_quote;
}

void parse_records(const Grammar& grammar, const Text& text, const RowRange& rows, std::span<Sink> sinks,
                   bool& stray_quote) {
  std::vector<Before> before;
  for (const auto& sink : sinks) before.push_back({sink.mode, sink.failed});
  const std::size_t words = grammar.missing.words().size();
  for (auto& sink : sinks) count_spellings(sink, words);
  if (!grammar.odd_quotes && parse_columns(grammar, text, rows, sinks)) return;
  for (std::size_t j = 0; j < sinks.size(); ++j) reset(sinks[j], before[j], words);
  parse_slowly(grammar, text, rows, sinks, stray_quote);
}

}  // namespace lemma::csv
