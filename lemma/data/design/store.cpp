// lemma/data/design/store.cpp: a design as a document, and back, trusting nothing.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/design/store.hpp>

namespace lemma {
namespace {

constexpr std::pair<Contrast, std::string_view> kContrasts[] = {
    {Contrast::full, "full"}, {Contrast::treatment, "treatment"}, {Contrast::sum, "sum"}, {Contrast::codes, "codes"}};
constexpr std::pair<Response::Kind, std::string_view> kResponseKinds[] = {{Response::Kind::none, "none"},
                                                                          {Response::Kind::numeric, "numeric"},
                                                                          {Response::Kind::counts, "counts"},
                                                                          {Response::Kind::classes, "classes"},
                                                                          {Response::Kind::several, "several"}};
constexpr std::pair<Coding, std::string_view> kCodings[] = {
    {Coding::treatment, "treatment"}, {Coding::sum, "sum"}, {Coding::one_hot, "one_hot"}, {Coding::codes, "codes"}};
constexpr std::pair<Unseen, std::string_view> kUnseen[] = {{Unseen::error, "error"}, {Unseen::missing, "missing"}};
constexpr std::pair<Missing, std::string_view> kMissing[] = {{Missing::error, "error"}, {Missing::drop, "drop"},
                                                             {Missing::mean, "mean"},   {Missing::median, "median"},
                                                             {Missing::mode, "mode"},   {Missing::native, "native"}};

constexpr std::pair<Quantity, std::string_view> kQuantities[] = {
    {Quantity::number, "number"}, {Quantity::date, "date"}, {Quantity::time, "time"}, {Quantity::utc, "utc"}};

constexpr std::size_t kMostFactors = 1000;  // of a term

Value texts_of(const std::vector<Expression>& expressions) {
  std::vector<std::string> texts;
  texts.reserve(expressions.size());
  for (const auto& e : expressions) texts.push_back(to_text(e));
  return texts;
}

std::vector<Expression> expressions(const Value& value, std::string_view what) {
  std::vector<Expression> out;
  for (const auto& text : value.as_strings(what)) out.push_back(numeric_expression(text));
  return out;
}

// -- terms

Value save_terms(const std::vector<DesignTerm>& terms) {
  Value::List list;
  for (const auto& term : terms) {
    std::vector<double> variables;
    Value::List contrasts;
    for (const auto& factor : term.factors) {
      variables.push_back(factor.variable);
      contrasts.push_back(text_of(factor.contrast, kContrasts));
    }
    Value t = Value::object();
    t.set("variables", numbers_of(variables));
    t.set("contrasts", std::move(contrasts));
    list.push_back(std::move(t));
  }
  return list;
}

DesignTerm load_term(const Value& value, const std::vector<Variable>& variables) {
  DesignTerm term;
  const auto numbers = finite_numbers(value.at("variables"), "variables");
  const auto& contrasts = list_of(value.at("contrasts"), "contrasts");
  check(numbers.size() <= kMostFactors, fmt::format("a term has more than {} variables", kMostFactors));
  check(!numbers.empty() && numbers.size() == contrasts.size(),
        "a term has not one contrast for each of its variables");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int variable = whole(numbers[i], 0, static_cast<Index>(variables.size()), "variable of a term");
    for (const auto& earlier : term.factors) check(earlier.variable != variable, "a term has a variable twice");
    term.factors.push_back({variable, enum_of(contrasts[i], kContrasts, "contrast")});
    const Contrast contrast = term.factors.back().contrast;
    check(contrast != Contrast::codes ||
              (variables[static_cast<std::size_t>(variable)].categorical() && numbers.size() == 1),
          "codes are of one categorical variable");
    check(width_of(variables[static_cast<std::size_t>(variable)], contrast) > 0, "a factor has no columns");
  }
  return term;
}

// -- the response

Value save_response(const Response& response) {
  Value r = Value::object();
  r.set("kind", text_of(response.kind, kResponseKinds));
  r.set("target", response.target);
  r.set("numbers", texts_of(response.numbers));
  if (std::ranges::any_of(response.quantities, [](Quantity each) { return each != Quantity::number; })) {
    Value::List quantities;
    for (const Quantity each : response.quantities) quantities.push_back(text_of(each, kQuantities));
    r.set("quantities", std::move(quantities));
  }
  Value::List parts;
  for (const auto& part : response.parts) parts.push_back(save_variable(part));
  r.set("parts", std::move(parts));
  std::vector<double> codes;
  for (const auto& combination : response.combinations)
    codes.insert(codes.end(), combination.begin(), combination.end());
  r.set("combinations", numbers_of(codes));
  if (response.kind == Response::Kind::several)
    r.set("of_classes", numbers_of({response.of_classes.begin(), response.of_classes.end()}));
  return r;
}

Response load_response(const Value& r) {
  Response response;
  response.kind = enum_of(r.at("kind"), kResponseKinds, "kind of response");
  response.target = r.at("target").as_string("target");
  response.numbers = expressions(r.at("numbers"), "numbers");
  response.quantities.assign(response.numbers.size(), Quantity::number);
  if (const Value* quantities = r.find("quantities")) {  // where one is a date
    const auto& each = list_of(*quantities, "quantities");
    check(each.size() == response.numbers.size(), "the response has the wrong number of quantities");
    for (std::size_t i = 0; i < each.size(); ++i) response.quantities[i] = enum_of(each[i], kQuantities, "quantity");
  }
  for (const auto& part : list_of(r.at("parts"), "parts")) {
    response.parts.push_back(load_variable(part));
    check(response.parts.back().categorical(), "a class is made of a variable that is not categorical");
  }
  if (response.kind == Response::Kind::several)
    for (const double each : finite_numbers(r.at("of_classes"), "of_classes"))
      response.of_classes.push_back(whole(each, 0, 2, "of_classes") == 1);
  const auto several = response.of_classes.size();
  const auto of_classes =
      static_cast<std::size_t>(std::count(response.of_classes.begin(), response.of_classes.end(), true));
  check(response.kind != Response::Kind::several || several >= 2, "several responses are two or more");
  const std::size_t numbers = response.kind == Response::Kind::numeric  ? 1
                              : response.kind == Response::Kind::counts ? 2
                                                                        : several - of_classes;
  check(response.numbers.size() == numbers, "the response has the wrong number of expressions");
  const bool classes = response.kind == Response::Kind::classes;
  check(classes ? !response.parts.empty() : response.parts.size() == of_classes,
        "the response has the wrong number of parts");
  const auto codes = finite_numbers(r.at("combinations"), "combinations");
  const std::size_t parts = classes ? response.parts.size() : 1;
  check(codes.size() % parts == 0 && classes == !codes.empty(), "the classes do not fit the response");
  std::vector<int> combination(parts);
  for (std::size_t i = 0; i < codes.size(); i += parts) {
    for (std::size_t p = 0; p < parts; ++p)
      combination[p] = whole(codes[i + p], 0, static_cast<Index>(response.parts[p].levels.size()), "level of a class");
    check(response.combinations.empty() || response.combinations.back() < combination, "the classes are not in order");
    response.combinations.push_back(combination);
  }
  check(parts > 1 || response.combinations.size() == (classes ? response.parts[0].levels.size() : 0),
        "a class has no code");
  return response;
}

}  // namespace

Value save_design(const DesignParts& parts) {
  Value d = Value::object();
  d.set("formula", parts.text);
  d.set("intercept", parts.intercept);
  d.set("coding", text_of(parts.coding, kCodings));
  d.set("missing", text_of(parts.missing, kMissing));
  d.set("unseen", text_of(parts.unseen, kUnseen));
  Value::List variables;
  for (const auto& variable : parts.variables) variables.push_back(save_variable(variable));
  d.set("variables", std::move(variables));
  d.set("terms", save_terms(parts.terms));
  d.set("offsets", texts_of(parts.offsets));
  d.set("response", save_response(parts.response));
  d.set("weights", parts.weights);
  d.set("precision", parts.precision);
  d.set("cluster", parts.cluster);
  d.set("complete", parts.complete);
  std::vector<std::string> names;
  std::vector<double> fills;
  for (const auto& [name, fill] : parts.fills) {
    names.push_back(name);
    fills.push_back(fill);
  }
  d.set("filled", names);
  d.set("fills", numbers_of(fills));
  if (!parts.word_columns.empty()) {
    d.set("words", parts.word_columns);
    std::vector<std::string> stand_ins;
    for (const auto& name : parts.word_columns)
      if (const auto fill = parts.word_fills.find(name); fill != parts.word_fills.end())
        stand_ins.push_back(fill->second);
    d.set("word_fills", stand_ins);
  }
  d.set("notes", parts.notes);
  return d;
}

DesignParts load_design(const Value& d, std::optional<Index> width) {
  DesignParts parts;
  parts.text = d.at("formula").as_string("formula");
  parts.intercept = d.at("intercept").as_bool("intercept");
  parts.coding = enum_of(d.at("coding"), kCodings, "coding");
  parts.missing = enum_of(d.at("missing"), kMissing, "missing");
  if (const Value* unseen = d.find("unseen")) parts.unseen = enum_of(*unseen, kUnseen, "unseen");  // since format 2
  for (const auto& v : list_of(d.at("variables"), "variables")) parts.variables.push_back(load_variable(v));
  for (const auto& t : list_of(d.at("terms"), "terms")) parts.terms.push_back(load_term(t, parts.variables));
  parts.offsets = expressions(d.at("offsets"), "offsets");
  parts.response = load_response(d.at("response"));
  parts.weights = d.at("weights").as_string("weights");
  parts.precision = d.at("precision").as_string("precision");
  if (const Value* cluster = d.find("cluster")) parts.cluster = cluster->as_string("cluster");  // files may be older
  if (const Value* complete = d.find("complete")) parts.complete = complete->as_strings("complete");
  const auto names = d.at("filled").as_strings("filled");
  const auto fills = finite_numbers(d.at("fills"), "fills");
  check(names.size() == fills.size(), "not one fill-in for each filled column");
  for (std::size_t i = 0; i < names.size(); ++i) parts.fills.emplace(names[i], fills[i]);
  if (const Value* words = d.find("words")) {
    parts.word_columns = words->as_strings("words");
    const auto stand_ins = d.at("word_fills").as_strings("word_fills");
    check(stand_ins.size() == (imputes(parts.missing) ? parts.word_columns.size() : 0),
          "not one fill-in for each column of words");
    for (std::size_t i = 0; i < stand_ins.size(); ++i) parts.word_fills.emplace(parts.word_columns[i], stand_ins[i]);
  }
  parts.notes = d.at("notes").as_strings("notes");
  parts.finish(width);
  if (imputes(parts.missing)) {
    for (const auto& name : parts.numeric_columns)
      check(parts.fills.contains(name), fmt::format("no fill-in for '{}'", name));
    for (const auto& v : parts.variables)
      check(!v.categorical() || v.fill >= 0, fmt::format("no fill-in for '{}'", v.label));
  }
  return parts;
}

}  // namespace lemma
