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

/// The levels that occur: in the column's own order if the user gave one, else by their bytes.
std::vector<std::string> ordered_levels(const Column& column, const Survey::Counts& counts) {
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

/// factor(x, ref = "b"): b comes first.
void put_reference_first(const Formula& formula, const Expression& e, std::vector<std::string>& levels) {
  if (e.kind != Expression::Kind::call || e.text != "factor" || e.arguments.size() < 2) return;
  const Expression& given = e.arguments[1];
  const std::string reference = given.kind == Expression::Kind::number ? shortest(given.number) : given.text;
  const auto found = std::find(levels.begin(), levels.end(), reference);
  if (found == levels.end())
    throw Error(point_at(
        "formula", formula.text, given.place,
        fmt::format("'{}' is not a level of {}{}", reference, e.arguments[0].text, did_you_mean(reference, levels))));
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

void learn_levels(const Formula& formula, const Table& schema, const Survey& found, Draft& draft) {
  for (std::size_t v = 0; v < draft.parts.variables.size(); ++v) {
    Variable& variable = draft.parts.variables[v];
    if (variable.pieces()) learn_pieces(found.levels[v], variable);
    if (!variable.categorical()) continue;
    require(static_cast<Index>(found.levels[v].size()) <= kMaxLevels,
            fmt::format("{} has more than {} levels", variable.label, kMaxLevels));
    variable.levels = ordered_levels(schema.column(variable.column()), found.levels[v]);
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
    double value = 0;
    std::from_chars(label.data(), label.data() + label.size(), value);
    if (value != std::floor(value) || !std::isfinite(value)) return fmt::format("({} is not a whole number)", label);
  }
  if (static_cast<Index>(counts.size()) <= kMaxNumericClasses) return {};
  return fmt::format("with more than {} values", kMaxNumericClasses);
}

bool is_numeric_label(const Table& schema, const Draft& draft, std::size_t part) {
  return schema.column(draft.parts.response.parts[part].column()).type() == ColumnType::numeric &&
         draft.response_sources[part].expression.kind == Expression::Kind::name;
}

/// Of a method that takes numbers or classes: a numeric response that cannot be classes is numbers.
bool must_be_numbers(const Table& schema, const Survey& found, const Draft& draft, const DesignOptions& options) {
  const Response& response = draft.parts.response;
  return options.classify && options.classify_categories && response.kind == Response::Kind::classes &&
         response.parts.size() == 1 && is_numeric_label(schema, draft, 0) && !why_no_classes(found.classes[0]).empty();
}

void note_unused_classes(const Column& column, const Variable& part, std::vector<std::string>& notes) {
  if (column.type() != ColumnType::categorical) return;
  for (const auto& level : column.categories().levels)
    if (std::find(part.levels.begin(), part.levels.end(), level) == part.levels.end())
      notes.push_back(fmt::format("class '{}' of {} does not occur in these rows and is left out", level, column.name));
}

void learn_classes(const Formula& formula, const Table& schema, const Survey& found, Draft& draft) {
  Response& response = draft.parts.response;
  if (response.kind != Response::Kind::classes) return;
  for (std::size_t p = 0; p < response.parts.size(); ++p) {
    Variable& part = response.parts[p];
    const Column& column = schema.column(part.column());
    const Expression& e = draft.response_sources[p].expression;
    if (is_numeric_label(schema, draft, p))
      if (const auto because = why_no_classes(found.classes[p]); !because.empty())
        fail_numeric_response(formula, e, because);
    require(static_cast<Index>(found.classes[p].size()) <= kMaxLevels,
            fmt::format("the response {} has more than {} classes", part.label, kMaxLevels));
    part.levels = ordered_levels(column, found.classes[p]);
    put_reference_first(formula, e, part.levels);
    note_unused_classes(column, part, draft.parts.notes);
  }
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
    const bool is_column = variable.label == variable.column();
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
    std::vector<std::string> order = parts.columns;
    order.insert(order.end(), parts.response.columns.begin(), parts.response.columns.end());
    order.insert(order.end(), {parts.weights, parts.precision, parts.cluster});
    order.insert(order.end(), parts.complete.begin(), parts.complete.end());
    auto left = found.missing;
    for (const auto& name : order)
      if (const auto count = left.find(name); count != left.end()) {
        all.missing.emplace_back(*count);
        left.erase(count);
      }
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
    const Survey found = survey(draft.parts, source, options.execution);
    check_survey(draft.parts, found);
    if (must_be_numbers(schema, found, draft, options)) {
      DesignOptions of_numbers = options;
      of_numbers.classify = false;
      return learn_design(formula, source, of_numbers);
    }
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
    set_contrasts(draft.parts);
    draft.parts.finish();
    learn_fills(draft.parts, found, source, options.execution);
    learn_constants(draft, source, options.execution);
    return std::move(draft.parts);
  }
}

}  // namespace lemma
