// lemma/data/design/build.cpp: the formula's expressions become variables, terms and a response.
#include <algorithm>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/learn.hpp>
#include <lemma/data/formula/removed.hpp>

namespace lemma {
namespace {

const Column& need(const Formula& formula, const Table& schema, const Expression& name) {
  if (const Column* found = schema.find(name.text)) return *found;
  throw Error(point_at("formula", formula.text, name.place, no_column(name.text, schema)));
}

FailAt failing(const Formula& formula) {
  return [&formula](std::size_t place, const std::string& message) {
    throw Error(point_at("formula", formula.text, place, message));
  };
}

/// Error unless its columns are there and of the types that it needs. Those that hold words are noted.
void check_columns(const Formula& formula, const Table& schema, const Expression& e, DesignParts& parts) {
  const FindColumn find = [&](const Expression& name) -> const Column& { return need(formula, schema, name); };
  if (is_condition(e)) require_condition(e, find, failing(formula));
  else require_number(e, find, failing(formula));
  for (const auto& name : columns_of(e))
    if (schema.column(name).type() != ColumnType::numeric &&
        std::find(parts.word_columns.begin(), parts.word_columns.end(), name) == parts.word_columns.end())
      parts.word_columns.push_back(name);
}

[[noreturn]] void fail_text(const Formula& formula, const Expression& e) {
  throw Error(point_at(
      "formula", formula.text, e.place,
      fmt::format("'{0}' is a text column; to use its values as levels write factor({1}), or read it with "
                  "--type {0}=categorical; to count its words, text({1}); of names of images, image({1}, 16x16)",
                  e.text, to_text(e))));
}

/// Levels of a column as they are, of a condition, or of numbers, perhaps cut into pieces.
Draft::Source make_categorical(const Formula& formula, const Table& schema, const Expression& e, Variable& variable,
                               DesignParts& parts) {
  Draft::Source source{e, {}, {}};
  variable.kind = Variable::Kind::categorical;
  variable.label = e.kind == Expression::Kind::name ? e.text : to_text(e);
  const bool call = e.kind == Expression::Kind::call;  // a column may be called so too
  variable.value = call && (e.text == "factor" || e.text == "as.factor") ? e.arguments[0] : e;
  if (call && e.text == "cut") {
    source.cut = cut_call(e, failing(formula));
    variable.cuts = true;
    variable.value = source.cut->value;
    variable.cut = {source.cut->breaks, source.cut->labels, source.cut->lowest, source.cut->right};
    if (source.cut->pieces == 0 && source.cut->labels.empty())
      variable.cut.labels = interval_labels(variable.cut, source.cut->digits);
  }
  if (variable.takes_levels_of_column()) need(formula, schema, variable.value);
  else check_columns(formula, schema, variable.value, parts);
  return source;
}

/// Numbers: as they are, or as the columns that poly(), scale(), bs() and ns() make of them.
Draft::Source make_numeric(const Formula& formula, const Table& schema, const Expression& e, Variable& variable,
                           DesignParts& parts) {
  Draft::Source source{e, {}, {}};
  const bool call = e.kind == Expression::Kind::call;
  if (call && e.text == "poly") {
    variable.kind = Variable::Kind::polynomial;
    variable.value = e.arguments[0];
    variable.degree = static_cast<int>(e.arguments[1].number);
    variable.raw = e.arguments.size() > 2 && is_true(e.arguments[2]);
  } else if (call && e.text == "scale") {
    variable.kind = Variable::Kind::scaled;
    variable.value = e.arguments[0];
  } else if (call && (e.text == "bs" || e.text == "ns")) {
    source.spline = spline_call(e, failing(formula));
    variable.kind = Variable::Kind::spline;
    variable.value = source.spline->value;
  }
  check_columns(formula, schema, variable.value, parts);
  return source;
}

void need_text(const Formula& formula, const Table& schema, const Expression& name,
               std::string_view why = "to count what its texts are made of") {
  if (need(formula, schema, name).type() == ColumnType::numeric)
    throw Error(point_at("formula", formula.text, name.place,
                         fmt::format("'{0}' is numeric; {1} read it with --type {0}=text", name.text, why)));
}

void add_variable(const Formula& formula, const Table& schema, const Expression& e, int letters, Draft& draft) {
  Variable variable;
  variable.label = e.kind == Expression::Kind::name ? e.text : to_text(e);
  variable.value = e;
  Draft::Source source{e, {}, {}};
  const ColumnType type = e.kind == Expression::Kind::name ? need(formula, schema, e).type() : ColumnType::numeric;
  if (type != ColumnType::numeric && letters > 0) {
    variable.kind = Variable::Kind::pieces;
    variable.degree = letters;
  } else if (type == ColumnType::text) {
    fail_text(formula, e);
  } else if (type == ColumnType::categorical || makes_levels(e) || is_condition(e)) {
    source = make_categorical(formula, schema, e, variable, draft.parts);
  } else if (e.kind == Expression::Kind::call && e.text == "kmers") {
    need_text(formula, schema, e.arguments[0]);
    variable.kind = Variable::Kind::pieces;
    variable.value = e.arguments[0];
    variable.degree = static_cast<int>(e.arguments[1].number);
  } else if (e.kind == Expression::Kind::call && e.text == "text") {
    need_text(formula, schema, e.arguments[0]);
    variable.kind = Variable::Kind::words;
    variable.value = e.arguments[0];
    variable.wording = text_call(e, failing(formula));
  } else if (e.kind == Expression::Kind::call && makes_pixels(e.text)) {
    need_text(formula, schema, e.arguments[0], "to open the images that it names");
    variable.kind = Variable::Kind::pixels;
    variable.value = e.arguments[0];
    variable.picturing = picture_call(e, failing(formula));
  } else {
    source = make_numeric(formula, schema, e, variable, draft.parts);
  }
  draft.parts.variables.push_back(std::move(variable));
  draft.sources.push_back(std::move(source));
}

// -- the response

/// Its values are levels: factor(y), cut(y, 3), y > 10, or the name of a column that is not numeric.
bool has_levels(const Formula& formula, const Table& schema, const Expression& e) {
  if (e.kind == Expression::Kind::name) return need(formula, schema, e).type() != ColumnType::numeric;
  return makes_levels(e) || is_condition(e);
}

/// A response that is a number; of a condition 0 or 1.
const Expression& number_of(const Formula& formula, const Table& schema, const Expression& e, DesignParts& parts) {
  if (has_levels(formula, schema, e) && !is_condition(e)) {
    const Column* column = e.kind == Expression::Kind::name ? &need(formula, schema, e) : nullptr;
    throw Error(
        point_at("formula", formula.text, e.place,
                 fmt::format("the response '{}' is {}{}, but this method predicts a number; use a classification "
                             "method, or a numeric response",
                             column ? e.text : to_text(e), column ? name_of(column->type()) : "categorical",
                             column ? some_levels(*column) : "")));
  }
  check_columns(formula, schema, e, parts);
  return e;
}

/// A column of dates or of times stays what it is: what is predicted is one too.
void add_number(const Formula& formula, const Table& schema, const Expression& e, DesignParts& parts) {
  const Column* column = e.kind == Expression::Kind::name ? schema.find(e.text) : nullptr;
  parts.response.numbers.push_back(number_of(formula, schema, e, parts));
  parts.response.quantities.push_back(column ? column->numbers().quantity : Quantity::number);
}

void add_class(const Formula& formula, const Table& schema, const Expression& e, Draft& draft) {
  if (e.kind != Expression::Kind::name && !makes_levels(e) && !is_condition(e))
    throw Error(
        point_at("formula", formula.text, e.place,
                 fmt::format("{} is a number, but this method predicts a class; use a regression method", to_text(e))));
  if (e.kind == Expression::Kind::name && need(formula, schema, e).type() == ColumnType::text) fail_text(formula, e);
  Variable part;
  draft.response_sources.push_back(make_categorical(formula, schema, e, part, draft.parts));
  draft.parts.response.parts.push_back(std::move(part));
}

bool is_categorical(const Formula& formula, const Table& schema) {
  return formula.response.size() > 1 || has_levels(formula, schema, formula.response[0]);
}

/// One of several: a class where it must be, or where the method takes both and its values are levels.
void add_response(const Formula& formula, const Table& schema, const Expression& e, const DesignOptions& options,
                  Draft& draft) {
  Response& response = draft.parts.response;
  const bool of_classes = options.classify || (options.classify_categories && has_levels(formula, schema, e));
  response.of_classes.push_back(of_classes);
  if (of_classes) add_class(formula, schema, e, draft);
  else add_number(formula, schema, e, draft.parts);
}

void set_several(const Formula& formula, const Table& schema, const DesignOptions& options, Draft& draft) {
  const Expression& all = formula.response[0];
  const bool two_numbers = all.arguments.size() == 2 && !has_levels(formula, schema, all.arguments[0]) &&
                           !has_levels(formula, schema, all.arguments[1]);
  Response& response = draft.parts.response;
  if (options.takes_counts && (two_numbers || !options.takes_several)) {
    if (all.arguments.size() != 2)
      throw Error(point_at(
          "formula", formula.text, all.place,
          fmt::format("this method takes cbind(successes, failures): two columns, not {}", all.arguments.size())));
    response.kind = Response::Kind::counts;
    for (const auto& argument : all.arguments) add_number(formula, schema, argument, draft.parts);
    return;
  }
  if (!options.takes_several)
    throw Error(
        point_at("formula", formula.text, all.place,
                 fmt::format("this method takes one response, and {} are {}", to_text(all), all.arguments.size())));
  response.kind = Response::Kind::several;
  for (const auto& argument : all.arguments) add_response(formula, schema, argument, options, draft);
}

void set_response(const Formula& formula, const Table& schema, const DesignOptions& options, Draft& draft) {
  if (formula.response.empty()) return;
  Response& response = draft.parts.response;
  const Expression& first = formula.response[0];
  for (const auto& e : formula.response)
    response.target += (response.target.empty() ? "" : ":") + (e.kind == Expression::Kind::name ? e.text : to_text(e));
  if (first.kind == Expression::Kind::call && first.text == "cbind") {
    set_several(formula, schema, options, draft);
  } else if (options.classify || (options.classify_categories && is_categorical(formula, schema))) {
    response.kind = Response::Kind::classes;
    for (const auto& e : formula.response) add_class(formula, schema, e, draft);
  } else if (formula.response.size() > 1) {
    throw Error(point_at("formula", formula.text, formula.response[1].place,
                         "u:v is a joint class, but this method predicts a number"));
  } else {
    response.kind = Response::Kind::numeric;
    add_number(formula, schema, first, draft.parts);
  }
}

/// A category that is one column of codes has no products.
void refuse_product_of_codes(const Formula& formula, const DesignParts& parts, const Term& term,
                             const DesignTerm& built) {
  if (parts.coding != Coding::codes || built.factors.size() < 2) return;
  for (std::size_t f = 0; f < built.factors.size(); ++f)
    if (parts.variables[static_cast<std::size_t>(built.factors[f].variable)].categorical())
      throw Error(point_at("formula", formula.text, term.factors[f].place,
                           fmt::format("'{}' is categorical, and this method takes categories as they are: it finds "
                                       "interactions itself, and a product with one has no meaning",
                                       to_text(term.factors[f]))));
}

}  // namespace

Draft draft_design(const Formula& formula, const Table& schema, const DesignOptions& options) {
  Draft draft;
  DesignParts& parts = draft.parts;
  parts.text = formula.text;
  parts.intercept = formula.intercept;
  parts.coding = options.coding;
  parts.missing = options.missing;
  parts.unseen = options.unseen;
  parts.weights = options.weights;
  parts.precision = options.precision;
  parts.cluster = options.cluster;
  parts.complete = options.complete;
  std::unordered_map<std::string, int> number;
  for (const auto& term : formula.terms) {
    DesignTerm out;
    for (const auto& factor : term.factors) {
      const auto [found, is_new] = number.try_emplace(to_text(factor), static_cast<int>(parts.variables.size()));
      if (is_new) add_variable(formula, schema, factor, options.letters, draft);
      out.factors.push_back({found->second, Contrast::full});
    }
    refuse_product_of_codes(formula, parts, term, out);
    parts.terms.push_back(std::move(out));
  }
  check_removed(formula, schema);
  for (const auto& offset : formula.offsets) {
    if (!options.takes_offset)
      throw Error(point_at("formula", formula.text, offset.place, "this method does not take an offset()"));
    check_columns(formula, schema, offset, parts);
    parts.offsets.push_back(offset);
  }
  set_response(formula, schema, options, draft);
  parts.list_columns();
  finish(parts.response);
  return draft;
}

/// A factor v of a term T is coded by contrasts when T without v lies within an earlier term (nothing lies within the
/// intercept), by all its levels otherwise; without an intercept the first factor of all has all its levels.
void set_contrasts(DesignParts& parts) {
  if (parts.coding == Coding::one_hot) return;
  if (parts.coding == Coding::codes) {
    for (auto& term : parts.terms)
      if (parts.variables[static_cast<std::size_t>(term.factors[0].variable)].categorical())
        term.factors[0].contrast = Contrast::codes;
    return;
  }
  const Contrast contrast = parts.coding == Coding::sum ? Contrast::sum : Contrast::treatment;
  std::vector<std::vector<int>> sets;
  for (auto& term : parts.terms) {
    std::vector<int> all;
    for (const auto& factor : term.factors) all.push_back(factor.variable);
    std::sort(all.begin(), all.end());
    for (auto& factor : term.factors) {
      if (!parts.variables[static_cast<std::size_t>(factor.variable)].categorical()) continue;
      std::vector<int> rest = all;
      std::erase(rest, factor.variable);
      const bool margin = rest.empty() || std::any_of(sets.begin(), sets.end(), [&](const auto& earlier) {
                            return std::includes(earlier.begin(), earlier.end(), rest.begin(), rest.end());
                          });
      factor.contrast = margin ? contrast : Contrast::full;
    }
    sets.push_back(std::move(all));
  }
  if (parts.intercept) return;
  for (auto& term : parts.terms)
    for (auto& factor : term.factors)
      if (parts.variables[static_cast<std::size_t>(factor.variable)].categorical()) {
        factor.contrast = Contrast::full;
        return;
      }
}

}  // namespace lemma
