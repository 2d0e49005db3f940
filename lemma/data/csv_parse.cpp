// lemma/data/csv_parse.cpp
#include <cmath>
#include <fmt/format.h>
#include <lemma/data/csv_number.hpp>
#include <lemma/data/csv_parse.hpp>
#include <limits>

namespace lemma::csv {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
}

class Parser {
 public:
  Parser(const Grammar& grammar, const char* begin, const char* end, std::uint64_t offset, std::span<Sink> sinks)
      : layout_(grammar.layout), missing_(grammar.missing), syntax_(layout_.syntax), begin_(begin), end_(end),
        offset_(offset), sinks_(sinks) {
    for (auto& sink : sinks_) sink.spelled.assign(missing_.words().size(), 0);
  }

  bool stray_quote = false;

  void run(const RowRange& rows) {
    const char* p = begin_;
    for (Index i = 0; i < rows.skip && p < end_; ++i) p = pass_over(p);
    for (Index row = rows.first; row < rows.first + rows.take; ++row) {
      if (p >= end_) {
        stray_quote = true;  // fewer records than counted: only when quotes were miscounted
        return;
      }
      p = parse_record(p, row);
    }
  }

 private:
  const char* parse_record(const char* const record, Index row) {
    const char* p = syntax_.first(record);
    const std::size_t columns = sinks_.size();
    for (std::size_t j = 0; j < columns; ++j) {
      p = put(sinks_[j], j, p, row);
      const char* const after = syntax_.next(p);
      if (j + 1 == columns) {
        if (after) wrong_width(record);
      } else if (!after) {
        wrong_width(record);
      }
      if (after) p = after;
    }
    while (*p != syntax_.newline) ++p;  // blanks at the end of a line whose fields are separated by blanks
    return p + 1;
  }

  const char* put(Sink& sink, std::size_t column, const char* p, Index row) {
    switch (sink.mode) {
      case Sink::Mode::number: {
        double value = 0;
        const char* after = read_number(p, syntax_.decimal, value);
        if (after && (*after == syntax_.delimiter || *after == syntax_.newline) && !std::isinf(value)) [[likely]] {
          sink.numbers[row] = value;
          return after;
        }
        return put_odd_number(sink, column, p, row);
      }
      case Sink::Mode::label: return put_label(sink, column, p, row);
      case Sink::Mode::level: return put_level(sink, column, p, row);
      case Sink::Mode::text: return put_text(sink, column, p, row);
      case Sink::Mode::skip: break;
    }
    Field field;
    return scan(p, column, field);
  }

  /// Missing, quoted, surrounded by blanks, infinite, or no number at all.
  const char* put_odd_number(Sink& sink, std::size_t column, const char* p, Index row) {
    sink.numbers[row] = kMissing;
    if (*p == syntax_.delimiter && missing_.empty_is_missing()) return p;
    Field field;
    const char* const after = scan(p, column, field);
    const auto text = field.text(scratch_);
    double value = 0;
    switch (kind_of(text, missing_, syntax_.decimal, value)) {
      case Kind::missing: break;
      case Kind::number: sink.numbers[row] = value; break;
      case Kind::infinite:
        if (sink.infinite_at != kNowhere) break;
        sink.infinite_at = place(p);
        sink.infinite = shortened(text);
        break;
      case Kind::label:
        if (sink.asked)
          throw Mistake{place(p), static_cast<Index>(column), fmt::format("expected a number, found '{}'", shortened(text))};
        sink.failed = true;
        sink.mode = Sink::Mode::skip;
    }
    return after;
  }

  const char* put_label(Sink& sink, std::size_t column, const char* p, Index row) {
    Field field;
    const char* const after = scan(p, column, field);
    if (is_missing(sink, field)) {
      sink.codes[row] = -1;
    } else {
      sink.codes[row] = sink.labels->code(field.text(scratch_));
      ++sink.present;
    }
    return after;
  }

  const char* put_level(Sink& sink, std::size_t column, const char* p, Index row) {
    Field field;
    const char* const after = scan(p, column, field);
    const auto text = field.text(scratch_);
    std::int32_t code = sink.levels->find(text);
    if ((code < 0 || !sink.levels_win) && is_missing(sink, field)) code = -1;
    else if (code < 0)
      throw Mistake{place(p), static_cast<Index>(column), fmt::format("'{}' is none of the levels given: {}",
                                                                      shortened(text), list_of(*sink.levels))};
    sink.codes[row] = code;
    return after;
  }

  const char* put_text(Sink& sink, std::size_t column, const char* p, Index row) {
    Field field;
    const char* const after = scan(p, column, field);
    const auto i = static_cast<std::size_t>(row);
    sink.texts->missing[i] = is_missing(sink, field);
    if (!sink.texts->missing[i]) sink.texts->values[i] = field.text(scratch_);
    return after;
  }

  /// What stands in quotes is meant as written: "NA" is a label, and "" an empty one.
  bool is_missing(Sink& sink, const Field& field) const {
    if (field.quoted) return false;
    const int word = missing_.which(field.raw());
    if (word < 0) return false;
    ++sink.spelled[static_cast<std::size_t>(word)];
    return true;
  }

  const char* scan(const char* p, std::size_t column, Field& field) {
    try {
      return syntax_.scan(p, end_, field, stray_quote);
    } catch (const Syntax::BadField& bad) {
      throw Mistake{place(bad.place), static_cast<Index>(column), bad.message};
    }
  }

  const char* pass_over(const char* p) {
    p = syntax_.first(p);
    Field field;
    for (const char* next = p; next; next = syntax_.next(p)) p = scan(next, 0, field);
    while (*p != syntax_.newline) ++p;
    return p + 1;
  }

  [[noreturn]] void wrong_width(const char* const record) {
    std::size_t fields = 0;
    const char* p = record;
    bool empty = true;
    for (const char* next = syntax_.first(record); next; next = syntax_.next(p)) {
      Field field;
      p = scan(next, fields++, field);
      empty &= fields == 1 && field.begin == field.end && !field.quoted;
    }
    const std::size_t expected = sinks_.size();
    std::string message = empty ? fmt::format("an empty line, expected {} fields", expected)
                                : fmt::format("{} field{}, expected {}", fields, fields == 1 ? "" : "s", expected);
    if (!empty && fields < expected)
      message += fmt::format(": nothing for column {} ('{}')", fields + 1, layout_.names[fields]);
    else if (!empty)
      message += ": does a text hold the delimiter without quotes around it?";
    throw Mistake{place(record), -1, message};
  }

  static std::string list_of(const Dictionary& levels) {
    constexpr std::int32_t kMost = 10;
    std::string list;
    for (std::int32_t k = 0; k < std::min(kMost, levels.size()); ++k)
      list += fmt::format("{}{}", k == 0 ? "" : ", ", levels.at(k));
    return levels.size() > kMost ? list + ", …" : list;
  }

  std::uint64_t place(const char* p) const { return offset_ + static_cast<std::uint64_t>(p - begin_); }

  const Layout& layout_;
  const MissingWords& missing_;
  const Syntax syntax_;
  const char *begin_, *end_;
  std::uint64_t offset_;
  std::span<Sink> sinks_;
  std::string scratch_;
};

}  // namespace

void parse_records(const Grammar& grammar, const char* begin, const char* end, std::uint64_t offset, const RowRange& rows,
                   std::span<Sink> sinks, bool& stray_quote) {
  Parser parser(grammar, begin, end, offset, sinks);
  parser.run(rows);
  stray_quote |= parser.stray_quote;
}

}  // namespace lemma::csv
