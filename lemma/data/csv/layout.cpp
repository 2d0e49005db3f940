// lemma/data/csv/layout.cpp: what the first records tell: newline, delimiter, decimal mark, header.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/number.hpp>
#include <lemma/data/csv/syntax.hpp>
#include <map>
#include <unordered_set>

namespace lemma::csv {
namespace {

constexpr std::size_t kSample = std::size_t{1} << 18;       // bytes looked at first
constexpr std::size_t kLongest = std::size_t{1} << 28;      // a first record longer than this is given up
constexpr std::size_t kRecords = 200;                       // records looked at
constexpr char kDelimiters[] = {',', ';', '\t', '|', ' '};  // in order of preference

/// The start of the file: whole records, ended by a newline, with room behind it.
struct Sample {
  std::string text;  // ends in at least one newline that is not counted in `size`
  std::size_t size = 0;
  bool whole = false;  // nothing follows in the file
};

/// The byte that ends lines: that of the first line end outside quotes.
char find_newline(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') inside = !inside;
    if (inside) continue;
    if (c == '\n') return '\n';
    if (c == '\r' && i + 1 < text.size()) return text[i + 1] == '\n' ? '\n' : '\r';
  }
  return '\0';
}

Sample take_sample(const Bytes& bytes, std::uint64_t from, char& newline) {
  Sample sample;
  for (std::size_t wanted = kSample;; wanted *= 4) {
    sample.size = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, bytes.size() - from));
    sample.whole = from + sample.size == bytes.size();
    sample.text.resize(sample.size);
    bytes.read(from, sample.size, sample.text.data());
    newline = find_newline(sample.text);
    if (newline != '\0' || sample.whole || wanted > kLongest) break;
  }
  if (newline == '\0') newline = '\n';
  sample.text.append(2, newline);
  return sample;
}

/// The first records under a syntax; what is cut off by the end of the sample or malformed ends the list. `after_first`
/// is where the second record starts.
std::vector<Record> records_of(const Sample& sample, const Syntax& syntax, std::size_t* after_first = nullptr) {
  std::vector<Record> records;
  const char* const begin = sample.text.data();
  const char* const end = begin + sample.size;
  std::string scratch;
  bool stray = false;
  for (const char* p = begin; p < end && records.size() < kRecords;) {
    Record record;
    try {
      const char* stop = p;
      for (const char* at = syntax.first(p); at; at = syntax.next(stop)) {
        Field field;
        stop = syntax.scan(at, end, field, stray);
        record.fields.emplace_back(field.text(scratch));
        record.quoted.push_back(field.quoted);
      }
      while (*stop != syntax.newline) ++stop;  // '\r' of "\r\n", trailing blanks
      if (stop >= end && !sample.whole && !records.empty()) break;
      p = stop + 1;
    } catch (const Syntax::BadField&) { break; }
    if (records.empty() && after_first) *after_first = std::min(static_cast<std::size_t>(p - begin), sample.size);
    records.push_back(std::move(record));
  }
  while (!records.empty() && records.back().fields.size() == 1 && records.back().fields[0].empty() &&
         !records.back().quoted[0])
    records.pop_back();
  return records;
}

bool is_number_in(std::string_view text, char decimal) {
  static const MissingWords none{{}};
  double value = 0;
  return kind_of(text, none, decimal, value) == Kind::number;
}

/// How well a delimiter explains the records: do all have the same number of fields, and do the fields look whole?
struct Fitness {
  bool constant = false;
  double share = 0;  // records with the commonest number of fields
  double clean = 0;  // fields that are numbers or hold none of the other delimiters
  std::size_t width = 1;
};

Fitness fitness_of(const std::vector<Record>& records, char delimiter) {
  std::map<std::size_t, std::size_t> widths;
  std::size_t fields = 0, clean = 0;
  for (const auto& record : records) {
    ++widths[record.fields.size()];
    for (std::size_t i = 0; i < record.fields.size(); ++i, ++fields) {
      const auto& text = record.fields[i];
      const bool holds_other = std::any_of(text.begin(), text.end(), [&](char c) {
        return c != delimiter && (c == ',' || c == ';' || c == '\t' || c == '|');
      });
      clean += record.quoted[i] || !holds_other || is_number_in(text, ',');
    }
  }
  Fitness fitness;
  if (records.empty()) return fitness;
  const auto commonest =
      std::max_element(widths.begin(), widths.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  fitness.width = commonest->first;
  fitness.share = static_cast<double>(commonest->second) / static_cast<double>(records.size());
  fitness.constant = widths.size() == 1;
  fitness.clean = static_cast<double>(clean) / static_cast<double>(fields);
  return fitness;
}

char find_delimiter(const Sample& sample, Syntax syntax) {
  char best = ',';
  Fitness best_fitness;
  bool found = false;
  for (const char candidate : kDelimiters) {
    syntax.delimiter = candidate;
    const auto fitness = fitness_of(records_of(sample, syntax), candidate);
    if (fitness.width < 2 || (!fitness.constant && (candidate == ' ' || fitness.share <= 0.5))) continue;
    const auto better = [&] {
      if (fitness.constant != best_fitness.constant) return fitness.constant;
      if (fitness.clean != best_fitness.clean) return fitness.clean > best_fitness.clean;
      return fitness.share > best_fitness.share;
    };
    if (!found || better()) {
      best = candidate;
      best_fitness = fitness;
      found = true;
    }
  }
  return best;
}

/// A comma where the delimiter is another, some field is a number only with a comma, and none only with a point.
char find_decimal(const std::vector<Record>& records, char delimiter) {
  if (delimiter == ',') return '.';
  bool comma = false;
  for (const auto& record : records)
    for (const auto& field : record.fields) {
      const bool point = is_number_in(field, '.');
      if (point && field.find('.') != std::string::npos) return '.';
      comma |= !point && is_number_in(field, ',');
    }
  return comma ? ',' : '.';
}

/// Names are never numbers. They are believed when a number follows in some column, and else when they are distinct
/// and none comes again in its own column.
bool find_header(const std::vector<Record>& records, const MissingWords& missing, char decimal) {
  if (records.empty()) return true;
  const auto& first = records.front().fields;
  double value = 0;
  const auto is_name = [&](const std::string& text) {
    const Kind kind = kind_of(text, missing, decimal, value);
    return kind == Kind::label || kind == Kind::missing;
  };
  if (!std::all_of(first.begin(), first.end(), is_name)) return false;
  if (std::all_of(first.begin(), first.end(), [](const std::string& text) { return text.empty(); })) return false;
  bool comes_again = false;
  for (std::size_t r = 1; r < records.size(); ++r)
    for (std::size_t j = 0; j < std::min(first.size(), records[r].fields.size()); ++j) {
      if (kind_of(records[r].fields[j], missing, decimal, value) == Kind::number) return true;
      comes_again |= records[r].fields[j] == first[j] && !first[j].empty();
    }
  return !comes_again && std::unordered_set<std::string>(first.begin(), first.end()).size() == first.size();
}

/// Empty names become V<k>, names that come again get .1, .2, …; both are noted.
std::vector<std::string> unique_names(std::vector<std::string> names, std::vector<std::string>& notes) {
  std::unordered_set<std::string> taken(names.begin(), names.end()), used;
  const auto fresh = [&](const std::string& stem, std::size_t k) {
    while (taken.count(stem + std::to_string(k)) != 0) ++k;
    return stem + std::to_string(k);
  };
  for (std::size_t j = 0; j < names.size(); ++j) {
    auto& name = names[j];
    if (name.empty()) {
      name = fresh("V", j + 1);
      notes.push_back(fmt::format("column {} has no name; it is called '{}'", j + 1, name));
    } else if (used.count(name) != 0) {
      const std::string renamed = fresh(name + ".", 1);
      notes.push_back(
          fmt::format("column {} is called '{}' like another; it is called '{}' here", j + 1, name, renamed));
      name = renamed;
    }
    taken.insert(name);
    used.insert(name);
  }
  return names;
}

std::vector<Kind> guess_types(const std::vector<Record>& records, const Layout& layout, const MissingWords& missing) {
  std::vector<Kind> guess(layout.names.size(), Kind::number);
  double value = 0;
  for (std::size_t r = layout.header ? 1 : 0; r < records.size(); ++r)
    for (std::size_t j = 0; j < std::min(guess.size(), records[r].fields.size()); ++j)
      if (kind_of(records[r].fields[j], missing, layout.syntax.decimal, value) == Kind::label) guess[j] = Kind::label;
  return guess;
}

/// The end of the last line that holds something.
std::uint64_t end_of_rows(const Bytes& bytes, std::uint64_t begin, const Syntax& syntax) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
  std::string piece;
  std::uint64_t after = bytes.size();  // a line end seen behind everything that counts, or the end of the file
  for (std::uint64_t end = bytes.size(); end > begin;) {
    const auto from = end - std::min(kPiece, end - begin);
    piece.resize(static_cast<std::size_t>(end - from));
    bytes.read(from, piece.size(), piece.data());
    for (std::size_t i = piece.size(); i-- > 0;) {
      const char c = piece[i];
      if (c == syntax.newline) after = from + i + 1;
      else if (c != '\r' && c != '\n' && (c == syntax.delimiter ? !syntax.blank_separated() : !syntax.is_blank(c)))
        return after;
    }
    end = from;
  }
  return begin;
}

std::uint64_t skip_mark(const Bytes& bytes, const std::string& source) {
  char mark[3] = {};
  bytes.read(0, static_cast<std::size_t>(std::min<std::uint64_t>(3, bytes.size())), mark);
  const std::string_view text(mark, 3);
  if (text == "\xEF\xBB\xBF") return 3;
  if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF")
    throw Error(source + " is written in UTF-16; Lemma reads UTF-8 (iconv -f UTF-16 -t UTF-8)");
  return 0;
}

void check_names(const std::vector<std::string>& names, std::uint64_t from) {
  for (std::size_t j = 0; j < names.size(); ++j)
    if (!is_utf8(names[j])) throw not_utf8(names[j], from, static_cast<Index>(j));
}

void check_given(const CsvOptions& options) {
  const auto shown = [](char c) {
    return c == '\n' || c == '\r' ? std::string("a line end")
           : c == '\t'            ? std::string("a tab")
                                  : fmt::format("'{}'", c);
  };
  if (options.delimiter && (std::isalnum(static_cast<unsigned char>(*options.delimiter)) != 0 ||
                            std::string_view("\"\n\r+-.").find(*options.delimiter) != std::string_view::npos))
    throw Error(fmt::format("the delimiter is ',', ';', a tab, '|' or a blank, not {}", shown(*options.delimiter)));
  if (options.decimal && *options.decimal != '.' && *options.decimal != ',')
    throw Error(fmt::format("the decimal mark is '.' or ',', not {}", shown(*options.decimal)));
  if (options.delimiter && options.decimal && *options.delimiter == *options.decimal)
    throw Error(fmt::format("the delimiter and the decimal mark are both {}", shown(*options.decimal)));
}

}  // namespace

Layout find_layout(const Bytes& bytes, const CsvOptions& options, const MissingWords& missing,
                   const std::string& source) {
  check_given(options);
  Layout layout;
  const std::uint64_t from = skip_mark(bytes, source);
  Syntax& syntax = layout.syntax;
  const Sample sample = take_sample(bytes, from, syntax.newline);
  syntax.delimiter = options.delimiter ? *options.delimiter : find_delimiter(sample, syntax);
  std::size_t after_first = 0;
  const auto records = records_of(sample, syntax, &after_first);
  layout.begin = from;
  layout.end = end_of_rows(bytes, from, syntax);
  if (layout.end == from) throw Error(source + " is empty: there is no header and there are no rows");
  if (records.empty())
    throw Mistake{from, -1, "no first record: a quote that opens in it is never closed, or is followed by other text"};
  syntax.decimal = options.decimal ? *options.decimal : find_decimal(records, syntax.delimiter);
  if (syntax.decimal == syntax.delimiter)
    throw Error(
        fmt::format("{}: the delimiter is '{}', so the decimal mark must be another", source, syntax.delimiter));
  if (syntax.decimal == ',' && !options.decimal) layout.notes.push_back("numbers are read with a decimal comma");
  layout.header = options.header ? *options.header : find_header(records, missing, syntax.decimal);
  layout.header_begin = from;
  if (layout.header) {
    check_names(records.front().fields, from);
    layout.begin = std::min(from + after_first, layout.end);
    layout.names = unique_names(records.front().fields, layout.notes);
  } else {
    for (std::size_t j = 0; j < records.front().fields.size(); ++j) layout.names.push_back("V" + std::to_string(j + 1));
  }
  layout.guess = guess_types(records, layout, missing);
  return layout;
}

}  // namespace lemma::csv
