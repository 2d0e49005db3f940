// lemma/data/csv/layout.cpp: what the first records tell: newline, delimiter, decimal mark, header.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <lemma/core/text.hpp>
#include <lemma/data/csv/sample.hpp>
#include <map>
#include <span>
#include <unordered_set>

namespace lemma::csv {
namespace {

constexpr char kDelimiters[] = {',', ';', '\t', '|', ' '};  // in order of preference

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

/// A comma where the delimiter is another, some field is a number only with a comma, and none only with a point. Where
/// 1.234,56 stands, 1.234 is one thousand.
char find_decimal(const std::vector<Record>& records, char delimiter) {
  if (delimiter == ',') return '.';
  constexpr Form kGrouped{Form::Style::grouped};
  bool comma = false, both = false, point = false, short_point = false;
  double value = 0;
  for (const auto& record : records)
    for (const auto& field : record.fields) {
      const bool has_point = field.find('.') != std::string::npos, has_comma = field.find(',') != std::string::npos;
      if (!has_point && !has_comma) continue;
      const bool grouped = has_point && read_formed(field, kGrouped, ',', value);
      both |= grouped && has_comma;
      if (is_number_in(field, '.')) (grouped ? short_point : point) = true;
      else comma |= is_number_in(field, ',');
    }
  if (point || (short_point && !both)) return '.';
  return comma || both ? ',' : '.';
}

/// Do the first two lines have a value of the same form in some column, such as a date?
bool begins_with_values(const std::vector<Record>& records, const MissingWords& missing, char decimal) {
  if (records.size() < 2) return false;
  const auto &first = records[0].fields, &second = records[1].fields;
  for (std::size_t j = 0; j < std::min(first.size(), second.size()); ++j) {
    if (missing.which(first[j]) >= 0 || missing.which(second[j]) >= 0) continue;
    Forms forms;
    narrow(forms, first[j], missing, decimal);
    narrow(forms, second[j], missing, decimal);
    if (!forms.none()) return true;
  }
  return false;
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
  if (begins_with_values(records, missing, decimal)) return false;
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

std::vector<Forms> guess_forms(const std::vector<Record>& records, const Layout& layout, const MissingWords& missing) {
  std::vector<Forms> guess(layout.names.size());
  for (std::size_t r = layout.header ? 1 : 0; r < records.size(); ++r)
    for (std::size_t j = 0; j < std::min(guess.size(), records[r].fields.size()); ++j)
      narrow(guess[j], records[r].fields[j], missing, layout.syntax.decimal);
  return guess;
}

void check_names(const Record& names) {
  for (std::size_t j = 0; j < names.fields.size(); ++j)
    if (!is_utf8(names.fields[j])) throw not_utf8(names.fields[j], names.offset, static_cast<Index>(j));
}

/// The number of fields that more than half of the records have; 0 when there is none.
std::size_t usual_width(std::span<const Record> records) {
  std::map<std::size_t, std::size_t> widths;
  for (const auto& record : records) ++widths[record.fields.size()];
  for (const auto& [width, count] : widths)
    if (2 * count > records.size()) return width;
  return 0;
}

/// A first line that is narrower than the others is no line of names: a title, or names of which one is missing.
void refuse_title(const std::vector<Record>& records, const Layout& layout, const MissingWords& missing,
                  const Bytes& bytes) {
  const Record& first = records.front();
  const std::size_t fields = first.fields.size(), width = usual_width(std::span(records).subspan(1));
  if (fields >= width) return;
  const auto table =
      std::find_if(records.begin(), records.end(), [&](const Record& r) { return r.fields.size() == width; });
  const auto narrower = [&](const Record& r) { return r.fields.size() < width; };
  if (!std::all_of(records.begin(), table, narrower)) return;
  double value = 0;
  const bool values_follow = std::any_of(table->fields.begin(), table->fields.end(), [&](const std::string& text) {
    return kind_of(text, missing, layout.syntax.decimal, value) == Kind::number;
  });
  if (table == records.begin() + 1 && fields + 1 == width && values_follow)
    throw Mistake{first.offset, -1,
                  fmt::format("{}, but the lines below have {} fields: has the first column no name? (row names of R: "
                              "write.csv names their column, write.table with col.names = NA)",
                              count_of(static_cast<Index>(fields), "name"), width)};
  if (fields > 1 && values_follow) return;  // two rows that are too short are no title
  const auto above = line_of(bytes, table->offset, layout.syntax.newline) - 1;
  if (!first.fields[0].empty() && first.fields[0][0] == '#')
    throw Mistake{
        first.offset, -1,
        fmt::format("{}, but from line {} on there are {}: it looks like a comment; --comment '#' passes over "
                    "lines that begin so, --skip {} over the first",
                    count_of(static_cast<Index>(fields), "field"), above + 1, width, above)};
  throw Mistake{first.offset, -1,
                fmt::format("{}, but from line {} on there are {}: is it a title above the table? --skip {} leaves it "
                            "out (or does a text hold the delimiter without quotes around it?)",
                            count_of(static_cast<Index>(fields), "field"), above + 1, width, above)};
}

/// Does every line end with a delimiter, and the names as well or before it?
bool ends_with_delimiters(const std::vector<Record>& records, bool header) {
  const auto open = [](const Record& r) { return r.fields.back().empty() && !r.quoted.back(); };
  const std::size_t width = records.back().fields.size();
  if (records.size() < 2 || width < 2) return false;
  for (std::size_t r = header ? 1 : 0; r < records.size(); ++r)
    if (records[r].fields.size() != width || !open(records[r])) return false;
  const Record& names = records.front();
  return !header || (names.fields.size() == width && open(names)) || (names.fields.size() + 1 == width && !open(names));
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
  if (options.comment && (std::isalnum(static_cast<unsigned char>(*options.comment)) != 0 ||
                          std::string_view("\"\n\r\t +-.\0", 9).find(*options.comment) != std::string_view::npos))
    throw Error(fmt::format("comments begin with a mark such as '#', not {}", shown(*options.comment)));
  if (options.skip < 0) throw Error(fmt::format("{} lines can't be skipped", options.skip));
}

}  // namespace

Layout find_layout(const Bytes& bytes, const CsvOptions& options, const MissingWords& missing,
                   const std::string& source, bool believe_trailing) {
  check_given(options);
  Layout layout;
  const Lead lead = find_lead(bytes, options, source);
  Syntax& syntax = layout.syntax;
  syntax.comment = options.comment.value_or('\0');
  const Sample sample = take_sample(bytes, lead.table, syntax.newline);
  syntax.delimiter = options.delimiter ? *options.delimiter : find_delimiter(sample, syntax);
  std::uint64_t after_first = 0;
  if (syntax.delimiter == syntax.comment)
    throw Error(
        fmt::format("{}: fields are separated by '{}', so comments can't begin with it", source, syntax.comment));
  auto records = records_of(sample, syntax, &after_first);
  layout.begin = lead.begin;
  layout.end = end_of_rows(bytes, lead.begin, syntax);
  if (layout.end <= lead.table) throw Error(source + " is empty: there is no header and there are no rows");
  if (records.empty())
    throw Mistake{lead.table, -1,
                  "no first record: a quote that opens in it is never closed, or is followed by other text"};
  syntax.decimal = options.decimal ? *options.decimal : find_decimal(records, syntax.delimiter);
  if (syntax.decimal == syntax.delimiter)
    throw Error(
        fmt::format("{}: the delimiter is '{}', so the decimal mark must be another", source, syntax.delimiter));
  if (syntax.decimal == ',' && !options.decimal) layout.notes.push_back("numbers are read with a decimal comma");
  layout.header = options.header ? *options.header : find_header(records, missing, syntax.decimal);
  layout.trailing = believe_trailing && !syntax.blank_separated() && ends_with_delimiters(records, layout.header);
  if (!layout.trailing && records.size() > 1) refuse_title(records, layout, missing, bytes);
  Record& first = records.front();
  layout.header_begin = first.offset;
  std::vector<std::string> names = first.fields;
  if (layout.trailing && first.fields.size() == records.back().fields.size()) names.pop_back();
  if (layout.header) {
    check_names(first);
    layout.begin = std::min(after_first, layout.end);
    layout.blank_lines = lead.blank;
    layout.names = unique_names(std::move(names), layout.notes);
  } else {
    for (std::size_t j = 0; j < names.size(); ++j) layout.names.push_back("V" + std::to_string(j + 1));
  }
  if (layout.trailing) {
    layout.notes.push_back("every line ends with a delimiter: there is no column behind the last one");
    layout.names.emplace_back();
  }
  layout.guess = guess_forms(records, layout, missing);
  return layout;
}

}  // namespace lemma::csv
