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

std::string levels_of(const Column& column) {
  if (column.type() != ColumnType::categorical) return "";
  const auto& levels = column.categories().levels;
  const std::size_t shown = std::min<std::size_t>(levels.size(), 3);
  return fmt::format(" ({}{})", fmt::join(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     levels.size() > shown ? ", …" : "");
}

void need_numbers(const Formula& formula, const Table& schema, const Expression& e) {
  if (e.kind == Expression::Kind::name) {
    const Column& column = need(formula, schema, e);
    if (column.type() != ColumnType::numeric)
      throw Error(point_at(
          "formula", formula.text, e.place,
          fmt::format("a number is needed here, but '{}' is {}{}", e.text, name_of(column.type()), levels_of(column))));
  }
  for (const auto& argument : e.arguments) need_numbers(formula, schema, argument);
}

bool is_true(const Expression& e) { return e.text == "TRUE" || e.text == "T"; }

Variable categorical_variable(const Expression& column, std::string label) {
  Variable variable;
  variable.kind = Variable::Kind::categorical;
  variable.value = column;
  variable.label = std::move(label);
  return variable;
}

[[noreturn]] void fail_text(const Formula& formula, const Expression& e) {
  throw Error(
      point_at("formula", formula.text, e.place,
               fmt::format("'{0}' is a text column; to use its values as levels write factor({1}), or read it with "
                           "--type {0}=categorical",
                           e.text, to_text(e))));
}

Draft::Source source_of_polynomial(const Expression& e, Variable& variable) {
  variable.kind = Variable::Kind::polynomial;
  variable.value = e.arguments[0];
  variable.degree = static_cast<int>(e.arguments[1].number);
  variable.raw = e.arguments.size() > 2 && is_true(e.arguments[2]);
  return {e, true, true};
}

Draft::Source source_of_scale(const Expression& e, Variable& variable) {
  variable.kind = Variable::Kind::scaled;
  variable.value = e.arguments[0];
  Draft::Source source{e, true, true};
  for (std::size_t i = 1; i < e.arguments.size(); ++i)
    (e.keywords[i] == "center" ? source.center : source.scale) = is_true(e.arguments[i]);
  return source;
}

void need_text(const Formula& formula, const Table& schema, const Expression& name) {
  if (need(formula, schema, name).type() == ColumnType::numeric)
    throw Error(point_at(
        "formula", formula.text, name.place,
        fmt::format("'{0}' is numeric; to count the pieces of its text read it with --type {0}=text", name.text)));
}

void add_variable(const Formula& formula, const Table& schema, const Expression& e, int letters, Draft& draft) {
  Variable variable;
  variable.label = e.kind == Expression::Kind::name ? e.text : to_text(e);
  variable.value = e;
  Draft::Source source{e, true, true};
  if (e.kind == Expression::Kind::name) {
    const ColumnType type = need(formula, schema, e).type();
    if (letters > 0 && type != ColumnType::numeric) {
      variable.kind = Variable::Kind::pieces;
      variable.degree = letters;
    } else {
      if (type == ColumnType::text) fail_text(formula, e);
      if (type == ColumnType::categorical) variable.kind = Variable::Kind::categorical;
    }
  } else if (e.text == "factor") {
    need(formula, schema, e.arguments[0]);
    variable.kind = Variable::Kind::categorical;
    variable.value = e.arguments[0];
  } else if (e.text == "kmers") {
    need_text(formula, schema, e.arguments[0]);
    variable.kind = Variable::Kind::pieces;
    variable.value = e.arguments[0];
    variable.degree = static_cast<int>(e.arguments[1].number);
  } else {
    if (e.text == "poly") source = source_of_polynomial(e, variable);
    else if (e.text == "scale") source = source_of_scale(e, variable);
    need_numbers(formula, schema, variable.value);
  }
  draft.parts.variables.push_back(std::move(variable));
  draft.sources.push_back(std::move(source));
}

// -- the response

void set_numeric_response(const Formula& formula, const Table& schema, const Expression& e, Response& response) {
  if (e.kind == Expression::Kind::name || e.text == "factor") {
    const Expression& name = e.kind == Expression::Kind::name ? e : e.arguments[0];
    const Column& column = need(formula, schema, name);
    if (column.type() != ColumnType::numeric || e.text == "factor")
      throw Error(point_at(
          "formula", formula.text, e.place,
          fmt::format("the response '{}' is {}{}, but this method predicts a number; use a classification "
                      "method, or a numeric response",
                      name.text, column.type() == ColumnType::text ? "text" : "categorical", levels_of(column))));
  }
  need_numbers(formula, schema, e);
  response.kind = Response::Kind::numeric;
  response.numbers = {e};
}

void set_classes(const Formula& formula, const Table& schema, Draft& draft) {
  Response& response = draft.parts.response;
  response.kind = Response::Kind::classes;
  for (const auto& e : formula.response) {
    const bool is_factor = e.kind == Expression::Kind::call && e.text == "factor";
    if (e.kind != Expression::Kind::name && !is_factor)
      throw Error(point_at(
          "formula", formula.text, e.place,
          fmt::format("{} is a number, but this method predicts a class; use a regression method", to_text(e))));
    const Expression& name = is_factor ? e.arguments[0] : e;
    const ColumnType type = need(formula, schema, name).type();
    if (type == ColumnType::text && !is_factor) fail_text(formula, name);
    response.parts.push_back(categorical_variable(name, is_factor ? to_text(e) : e.text));
    draft.response_sources.push_back({e, true, true});
  }
}

/// A joint class u:v, factor(y), or the name of a column that is not numeric.
bool is_categorical(const Formula& formula, const Table& schema) {
  const Expression& first = formula.response[0];
  if (formula.response.size() > 1 || (first.kind == Expression::Kind::call && first.text == "factor")) return true;
  return first.kind == Expression::Kind::name && need(formula, schema, first).type() != ColumnType::numeric;
}

/// Numbers that are computed, such as I(share): not the name of a column, nor factor(y).
bool is_computed(const Formula& formula) {
  const Expression& first = formula.response[0];
  return formula.response.size() == 1 && first.kind != Expression::Kind::name &&
         !(first.kind == Expression::Kind::call && first.text == "factor");
}

/// Of a method that takes either response, a computed one is a number; any other one is a class where it can be.
bool is_class(const Formula& formula, const Table& schema, const DesignOptions& options) {
  if (!options.classify_categories) return options.classify;
  return options.classify ? !is_computed(formula) : is_categorical(formula, schema);
}

void set_response(const Formula& formula, const Table& schema, const DesignOptions& options, Draft& draft) {
  if (formula.response.empty()) return;
  Response& response = draft.parts.response;
  const Expression& first = formula.response[0];
  for (const auto& e : formula.response)
    response.target += (response.target.empty() ? "" : ":") + (e.kind == Expression::Kind::name ? e.text : to_text(e));
  if (first.kind == Expression::Kind::call && first.text == "cbind") {
    if (!options.takes_counts)
      throw Error(
          point_at("formula", formula.text, first.place, "this method does not take cbind(successes, failures)"));
    for (const auto& argument : first.arguments) need_numbers(formula, schema, argument);
    response.kind = Response::Kind::counts;
    response.numbers = first.arguments;
  } else if (is_class(formula, schema, options)) {
    set_classes(formula, schema, draft);
  } else if (formula.response.size() > 1) {
    throw Error(point_at("formula", formula.text, formula.response[1].place,
                         "u:v is a joint class, but this method predicts a number"));
  } else {
    set_numeric_response(formula, schema, first, response);
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
    need_numbers(formula, schema, offset);
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
