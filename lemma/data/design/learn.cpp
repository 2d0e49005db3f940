// lemma/data/design/learn.cpp: learning a design: which levels occur, in which order; the classes; notes and errors.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/design/learn.hpp>
#include <lemma/data/stream.hpp>

namespace lemma {
namespace {

// -- levels

double number_of(const std::string& level) {
  double value = 0;
  std::from_chars(level.data(), level.data() + level.size(), value);
  return value;
}

std::vector<std::string> by_value(const Survey::Counts& counts) {
  std::vector<std::string> levels;
  for (const auto& [level, count] : counts) levels.push_back(level);
  std::sort(levels.begin(), levels.end(), [](const auto& a, const auto& b) {  // dates: by the year, then by their bytes
    return std::pair(number_of(a), std::string_view(a)) < std::pair(number_of(b), std::string_view(b));
  });
  return levels;
}

}  // namespace

std::vector<std::string> ordered_levels(const Column& column, const Survey::Counts& counts) {
  if (column.type() == ColumnType::numeric) return by_value(counts);
  std::vector<std::string> levels, others;
  bool by_bytes = true;
  if (column.type() == ColumnType::categorical) {
    const auto& all = column.categories().levels;
    by_bytes = std::is_sorted(all.begin(), all.end());
    for (const auto& level : all)
      if (counts.contains(level)) levels.push_back(level);
  }
  std::vector<std::string> known = levels;
  std::sort(known.begin(), known.end());
  for (const auto& [level, count] : counts)
    if (!std::binary_search(known.begin(), known.end(), level)) others.push_back(level);
  std::sort(others.begin(), others.end());
  levels.insert(levels.end(), others.begin(), others.end());
  if (by_bytes) std::sort(levels.begin(), levels.end());
  return levels;
}

namespace {

/// Of a condition both are levels, whatever the rows; of what is cut the pieces are in order.
std::vector<std::string> levels_of(const Variable& variable, const Table& schema, const Survey::Counts& counts) {
  if (variable.logical()) return {"FALSE", "TRUE"};
  if (variable.takes_levels_of_column()) return ordered_levels(schema.column(variable.column()), counts);
  if (!variable.cuts) return by_value(counts);
  auto levels = variable.cut.labels;
  std::erase_if(levels, [&](const auto& label) { return !counts.contains(label); });
  return levels;
}

/// factor(x, ref = "b"): b comes first.
void put_reference_first(const Formula& formula, const Expression& e, std::vector<std::string>& levels) {
  if (e.kind != Expression::Kind::call || e.text != "factor" || e.arguments.size() < 2) return;
  const Expression& given = e.arguments[1];
  const auto number = literal_number(given);
  const std::string reference = number ? shortest(*number) : given.text;
  const auto found = std::find(levels.begin(), levels.end(), reference);
  if (found == levels.end())
    throw Error(point_at("formula", formula.text, given.place,
                         fmt::format("'{}' is not a level of {}{}", reference, to_text(e.arguments[0]),
                                     did_you_mean(reference, levels))));
  std::rotate(levels.begin(), found, found + 1);
}

void learn_pieces(const Survey::Counts& counts, Variable& variable) {
  require(static_cast<Index>(counts.size()) <= kMaxLevels,
          fmt::format("{} has more than {} different pieces of {}", variable.column(), kMaxLevels,
                      count_of(variable.degree, "letter")));
  require(!counts.empty(), fmt::format("no text of {} has {}", variable.column(), count_of(variable.degree, "letter")));
  for (const auto& [piece, count] : counts) variable.levels.push_back(piece);
  std::sort(variable.levels.begin(), variable.levels.end());
}

/// The tokens that enough texts have, and how rare each is.
void learn_words(const Survey::Counts& texts, Index rows, Variable& variable) {
  require(static_cast<Index>(texts.size()) <= kMaxTokens,
          fmt::format("{} has more than {} different tokens; take fewer in a row, or share columns: hash = 65536",
                      variable.label, format_count(kMaxTokens)));
  const Wording& wording = variable.wording;
  const auto rarity = [&](Index with) {
    return std::log((1 + static_cast<double>(rows)) / (1 + static_cast<double>(with))) + 1;
  };
  if (wording.columns > 0) {
    for (Index j = 0; wording.weight == TokenWeight::tfidf && j < wording.columns; ++j) {
      const auto found = texts.find(std::to_string(j));
      variable.rarity.push_back(rarity(found == texts.end() ? 0 : found->second));
    }
    return;
  }
  for (const auto& [token, with] : texts)
    if (with >= wording.least_texts) variable.levels.push_back(token);
  if (variable.levels.empty())
    throw Error(texts.empty() ? fmt::format("no text of {} has a {}", variable.column(),
                                            wording.letters ? "piece of so many letters" : "word that counts")
                              : fmt::format("no token of {} is in {} texts; take a lower min", variable.column(),
                                            wording.least_texts));
  std::sort(variable.levels.begin(), variable.levels.end());
  if (wording.weight == TokenWeight::tfidf)
    for (const auto& token : variable.levels) variable.rarity.push_back(rarity(texts.at(token)));
}

void learn_levels(const Formula& formula, const Table& schema, const Survey& found, Draft& draft) {
  for (std::size_t v = 0; v < draft.parts.variables.size(); ++v) {
    Variable& variable = draft.parts.variables[v];
    if (variable.pieces()) learn_pieces(found.levels[v], variable);
    if (variable.words()) learn_words(found.levels[v], found.kept, variable);
    if (!variable.categorical()) continue;
    require(static_cast<Index>(found.levels[v].size()) <= kMaxLevels,
            fmt::format("{} has more than {} levels", variable.label, kMaxLevels));
    variable.levels = levels_of(variable, schema, found.levels[v]);
    put_reference_first(formula, draft.sources[v].expression, variable.levels);
  }
}

// -- classes

[[noreturn]] void fail_numeric_response(const Formula& formula, const Expression& e, const std::string& because) {
  throw Error(
      point_at("formula", formula.text, e.place,
               fmt::format("the response '{0}' is numeric {1}, but this method predicts a class; use a regression "
                           "method, or factor({2}) to take each value as a class",
                           e.text, because, to_text(e))));
}

/// Whole numbers, and not too many of them, can be class labels as they are. Why these are not; empty when they are.
std::string why_no_classes(const Survey::Counts& counts) {
  for (const auto& [label, count] : counts) {
    const double value = number_of(label);
    if (value != std::floor(value) || !std::isfinite(value)) return fmt::format("({} is not a whole number)", label);
  }
  if (static_cast<Index>(counts.size()) <= kMaxNumericClasses) return {};
  return fmt::format("with more than {} values", kMaxNumericClasses);
}

bool is_numeric_label(const Table& schema, const Draft& draft, std::size_t part) {
  const Expression& e = draft.response_sources[part].expression;
  return e.kind == Expression::Kind::name && schema.column(e.text).type() == ColumnType::numeric;
}

/// Of a method that takes both, few whole numbers may be meant as classes; but only the user knows.
bool might_be_classes(const DesignParts& parts, const DesignOptions& options) {
  return options.classify_categories && parts.response.kind == Response::Kind::numeric &&
         parts.response.numbers[0].kind == Expression::Kind::name;
}

void note_few_values(const Survey& found, DesignParts& parts) {
  const auto& values = found.response_values;
  if (values.empty() || static_cast<Index>(values.size()) > kFewValues ||
      std::any_of(values.begin(), values.end(), [](double v) { return v != std::floor(v); }))
    return;
  const std::string name = to_text(parts.response.numbers[0]);
  parts.notes.push_back(
      fmt::format("the response {} is numeric, and numbers are predicted; it has {}, all whole: if they are classes, "
                  "write factor({})",
                  name, count_of(static_cast<Index>(values.size()), "value"), name));
}

void note_unused_classes(const Table& schema, const Variable& part, std::vector<std::string>& notes) {
  if (!part.takes_levels_of_column()) return;
  const Column& column = schema.column(part.column());
  if (column.type() != ColumnType::categorical) return;
  for (const auto& level : column.categories().levels)
    if (std::find(part.levels.begin(), part.levels.end(), level) == part.levels.end())
      notes.push_back(fmt::format("class '{}' of {} does not occur in these rows and is left out", level, column.name));
}

void learn_classes(const Formula& formula, const Table& schema, const Survey& found, Draft& draft) {
  Response& response = draft.parts.response;
  for (std::size_t p = 0; p < response.parts.size(); ++p) {
    Variable& part = response.parts[p];
    const Expression& e = draft.response_sources[p].expression;
    if (is_numeric_label(schema, draft, p))
      if (const auto because = why_no_classes(found.classes[p]); !because.empty())
        fail_numeric_response(formula, e, because);
    require(static_cast<Index>(found.classes[p].size()) <= kMaxLevels,
            fmt::format("the response {} has more than {} classes", part.label, kMaxLevels));
    part.levels = levels_of(part, schema, found.classes[p]);
    std::erase_if(part.levels, [&](const auto& level) { return !found.classes[p].contains(level); });
    put_reference_first(formula, e, part.levels);
    note_unused_classes(schema, part, draft.parts.notes);
  }
  if (response.kind != Response::Kind::classes) return;
  if (response.parts.size() == 1) {
    for (std::size_t k = 0; k < response.parts[0].levels.size(); ++k)
      response.combinations.push_back({static_cast<int>(k)});
    return;
  }
  for (const auto& names : found.combinations) {
    std::vector<int> codes;
    for (std::size_t p = 0; p < names.size(); ++p) {
      const auto& levels = response.parts[p].levels;
      codes.push_back(static_cast<int>(std::find(levels.begin(), levels.end(), names[p]) - levels.begin()));
    }
    response.combinations.push_back(std::move(codes));
  }
  std::sort(response.combinations.begin(), response.combinations.end());
}

// -- the formula's `.`

void check_weights(const Table& schema, const std::string& name) {
  if (name.empty()) return;
  const Column& column = schema.column(name);
  require(column.type() == ColumnType::numeric,
          fmt::format("column '{}' cannot weigh the rows: it is {}, not numeric", name, name_of(column.type())));
}

struct Candidates {
  std::vector<std::string> columns;  // what `.` may stand for
  std::vector<std::string> notes;
};

Candidates candidates_of(const Formula& formula, const Table& schema, const DesignOptions& options) {
  Candidates result;
  std::vector<std::string> used, texts;
  for (const auto& e : formula.response)
    for (auto& name : columns_of(e)) used.push_back(std::move(name));
  for (const auto& column : schema.all()) {
    if (column.name == options.weights || column.name == options.precision || column.name == options.id ||
        column.name == options.cluster)
      continue;
    if (column.type() != ColumnType::text || options.letters > 0) result.columns.push_back(column.name);
    else if (std::find(used.begin(), used.end(), column.name) == used.end()) texts.push_back(column.name);
  }
  const auto is_used = [&](const auto& name) { return std::find(used.begin(), used.end(), name) != used.end(); };
  if (formula.has_dot() && !texts.empty() && std::all_of(result.columns.begin(), result.columns.end(), is_used))
    throw Error(
        fmt::format("'.' stands for no column, since {0} {1} text: text({2}) counts words, image({2}, 16x16) opens "
                    "the images that it names",
                    join_words(texts), texts.size() == 1 ? "is" : "are", texts.back()));
  if (formula.has_dot() && !texts.empty())
    result.notes.push_back(fmt::format("left out of '.', being text: {}", fmt::join(texts, ", ")));
  return result;
}

/// A factor with one level carries nothing: an error when the user named it, else it is left out of `.`.
std::vector<std::string> constant_columns(const Formula& typed, const DesignParts& parts) {
  std::vector<std::string> named, constant;
  for (const auto& term : typed.terms)
    for (const auto& factor : term.factors) named.push_back(to_text(factor));
  for (const auto& variable : parts.variables) {
    if (!variable.categorical() || variable.levels.size() > 1) continue;
    const bool is_column = variable.is_column() && variable.label == variable.column();
    if (!is_column || std::find(named.begin(), named.end(), to_text(variable.value)) != named.end())
      throw Error(variable.levels.empty()
                      ? fmt::format("{} has no values in these rows", variable.label)
                      : fmt::format("{} has only one level in these rows ('{}'); leave it out of the formula",
                                    variable.label, variable.levels[0]));
    constant.push_back(variable.column());
  }
  return constant;
}

void check_survey(const DesignParts& parts, const Survey& found) {
  if (parts.missing == Missing::error && found.incomplete > 0) {
    Completeness all;
    all.incomplete = found.incomplete;
    all.missing = in_order(parts, found.missing);
    throw Error(describe_missing(all, found.rows) + "; use --missing drop, mean, median or mode");
  }
  require(found.rows > 0, "there are no rows to learn from");
  require(found.kept > 0, fmt::format("none of the {} rows is complete: there is nothing to learn from", found.rows));
}

}  // namespace

TableSource::TableSource(const TableStream& stream) : table_(stream.table()), stream_(&stream) {}
Index TableSource::rows() const { return table_ ? table_->rows() : stream_->rows(); }
const Table& TableSource::schema() const { return table_ ? *table_ : stream_->schema(); }

void TableSource::visit(const DesignParts& parts, Index first, Index count, const Visit& visit) const {
  if (table_) return visit(*table_, first, count, 0);
  const Table block = stream_->read_columns(first, count, parts.looked_at());
  visit(block, 0, block.rows(), first);
}

DesignParts learn_design(const Formula& formula, const TableSource& source, const DesignOptions& options) {
  require(options.missing != Missing::keep,
          "--missing keep is for prediction; to learn use error, drop, mean, median or mode");
  const Table& schema = source.schema();
  check_weights(schema, options.weights);
  check_weights(schema, options.precision);
  if (!options.id.empty()) schema.column(options.id);
  if (!options.cluster.empty()) schema.column(options.cluster);  // an Error where there is none
  auto [columns, notes] = candidates_of(formula, schema, options);
  while (true) {
    Draft draft = draft_design(formula.expand(columns), schema, options);
    draft.parts.notes = notes;
    learn_breaks(draft, source, options.execution);
    const Survey found = survey(draft.parts, source, might_be_classes(draft.parts, options), options.execution);
    check_survey(draft.parts, found);
    learn_levels(formula, schema, found, draft);
    const auto constant = constant_columns(formula, draft.parts);
    if (!constant.empty()) {
      notes.push_back(fmt::format("left out of '.', having one level only: {}", fmt::join(constant, ", ")));
      std::erase_if(columns, [&](const auto& name) {
        return std::find(constant.begin(), constant.end(), name) != constant.end();
      });
      continue;
    }
    learn_classes(formula, schema, found, draft);
    note_few_values(found, draft.parts);
    set_contrasts(draft.parts);
    learn_fills(draft.parts, found, source, options.execution);
    learn_fill_of_words(draft.parts, schema, found);
    learn_constants(draft, source, options.execution);
    draft.parts.finish();
    return std::move(draft.parts);
  }
}

}  // namespace lemma
