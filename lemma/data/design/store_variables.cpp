// lemma/data/design/store_variables.cpp: the variables of a design as documents, and back, trusting nothing.
#include <algorithm>
#include <lemma/data/design/store.hpp>
#include <lemma/data/expression/parser.hpp>

namespace lemma {
namespace {

constexpr std::pair<Variable::Kind, std::string_view> kVariableKinds[] = {{Variable::Kind::numeric, "numeric"},
                                                                          {Variable::Kind::scaled, "scaled"},
                                                                          {Variable::Kind::polynomial, "polynomial"},
                                                                          {Variable::Kind::spline, "spline"},
                                                                          {Variable::Kind::categorical, "categorical"},
                                                                          {Variable::Kind::pieces, "pieces"},
                                                                          {Variable::Kind::words, "words"},
                                                                          {Variable::Kind::pixels, "pixels"}};

/// Does each scale() in it have its constants?
bool is_learned(const Expression& e) {
  if (e.kind == Expression::Kind::call && e.text == "scale") {
    const auto [center, spread] = constants_of(e);
    if (!center || !spread) return false;
  }
  return std::all_of(e.arguments.begin(), e.arguments.end(), is_learned);
}

/// As texts: an end may be infinite.
Value save_cut(const Cut& cut) {
  std::vector<std::string> breaks;
  for (const double value : cut.breaks)
    breaks.push_back(std::isinf(value) ? (value > 0 ? "Inf" : "-Inf") : shortest(value));
  Value c = Value::object();
  c.set("breaks", breaks);
  c.set("labels", cut.labels);
  c.set("lowest", cut.lowest);
  c.set("right", cut.right);
  return c;
}

Cut load_cut(const Value& c) {
  Cut cut;
  for (const auto& text : c.at("breaks").as_strings("breaks")) {
    const auto number = literal_number(expression(text));
    check(number.has_value(), fmt::format("the break '{}' is not a number", text));
    check(cut.breaks.empty() || cut.breaks.back() < *number, "the breaks do not rise");
    cut.breaks.push_back(*number);
  }
  cut.labels = c.at("labels").as_strings("labels");
  cut.lowest = c.at("lowest").as_bool("lowest");
  cut.right = c.at("right").as_bool("right");
  check(cut.breaks.size() >= 2 && cut.labels.size() + 1 == cut.breaks.size(), "not one label for each piece");
  return cut;
}

void save_levels(const Variable& variable, Value& v) {
  if (variable.takes_levels_of_column()) v.set("column", variable.column());
  else v.set("value", to_text(variable.value));
  v.set("levels", variable.levels);
  if (variable.cuts) v.set("cut", save_cut(variable.cut));
  if (variable.pieces()) v.set("letters", variable.degree);
  if (variable.fill >= 0) v.set("fill", variable.fill);
}

void load_levels(const Value& v, Variable& variable) {
  if (const Value* value = v.find("value")) {
    check(!variable.pieces(), "pieces are those of a column");
    variable.value = numeric_expression(value->as_string("value"));
    if (const Value* cut = v.find("cut")) {
      variable.cuts = true;
      variable.cut = load_cut(*cut);
    }
    check(!variable.is_column() || variable.cuts, "a column with levels is stored as an expression");
    check(!has_scale(variable.value) || variable.logical(), "levels are made of what was learned");
  } else {
    variable.value.kind = Expression::Kind::name;
    variable.value.text = v.at("column").as_string("column");
  }
  variable.levels = v.at("levels").as_strings("levels");
  check(!variable.levels.empty(), fmt::format("{} has no levels", variable.label));
  auto sorted = variable.levels;
  std::sort(sorted.begin(), sorted.end());
  check(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
        fmt::format("{} has a level twice", variable.label));
  if (const Value* fill = v.find("fill"))
    variable.fill = whole(fill->as_double("fill"), 0, static_cast<Index>(variable.levels.size()), "fill");
  if (variable.pieces()) variable.degree = whole(v.at("letters").as_double("letters"), 1, kMostLetters + 1, "letters");
}

constexpr std::pair<TokenWeight, std::string_view> kTokenWeights[] = {
    {TokenWeight::counts, "counts"}, {TokenWeight::binary, "binary"}, {TokenWeight::tfidf, "tfidf"}};

void save_words(const Variable& variable, Value& v) {
  const Wording& wording = variable.wording;
  v.set("column", variable.column());
  v.set("levels", variable.levels);
  v.set("rarity", numbers_of(variable.rarity));
  v.set("letters", wording.letters);
  v.set("shortest", wording.shortest);
  v.set("longest", wording.longest);
  v.set("lower", wording.lower);
  v.set("mail", wording.mail);
  v.set("stop", wording.stop);
  v.set("least_texts", static_cast<double>(wording.least_texts));
  v.set("columns", static_cast<double>(wording.columns));
  v.set("weight", text_of(wording.weight, kTokenWeights));
}

void load_words(const Value& v, Variable& variable) {
  Wording& wording = variable.wording;
  variable.value.kind = Expression::Kind::name;
  variable.value.text = v.at("column").as_string("column");
  variable.levels = v.at("levels").as_strings("levels");
  variable.rarity = finite_numbers(v.at("rarity"), "rarity");
  wording.letters = v.at("letters").as_bool("letters");
  wording.shortest = whole(v.at("shortest").as_double("shortest"), 1, kMostInARow + 1, "shortest");
  wording.longest = whole(v.at("longest").as_double("longest"), wording.shortest, kMostInARow + 1, "longest");
  wording.lower = v.at("lower").as_bool("lower");
  wording.mail = v.at("mail").as_bool("mail");
  wording.stop = v.at("stop").as_strings("stop");
  wording.least_texts = whole(v.at("least_texts").as_double("least_texts"), 1, 1'000'000'001, "least_texts");
  wording.columns = whole(v.at("columns").as_double("columns"), 0, kMostHashedColumns + 1, "columns");
  wording.weight = enum_of(v.at("weight"), kTokenWeights, "weight of tokens");
  check((wording.columns > 0) == variable.levels.empty(), fmt::format("{} has no tokens", variable.label));
  const auto& tokens = variable.levels;
  for (std::size_t i = 1; i < tokens.size(); ++i)
    check(tokens[i - 1] < tokens[i], fmt::format("the tokens of {} are not in order", variable.label));
  const std::size_t width = wording.columns > 0 ? static_cast<std::size_t>(wording.columns) : tokens.size();
  check(variable.rarity.size() == (wording.weight == TokenWeight::tfidf ? width : 0),
        fmt::format("{} has not one rarity for each column", variable.label));
  for (const double each : variable.rarity)
    check(each > 0, fmt::format("{} has a rarity that is not positive", variable.label));
}

void save_pixels(const Variable& variable, Value& v) {
  const Picturing& how = variable.picturing;
  v.set("column", variable.column());
  v.set("edges", how.edges);
  v.set("size", numbers_of({static_cast<double>(how.height), static_cast<double>(how.width)}));
  if (!how.edges) return;
  v.set("cell", how.cell);
  v.set("block", how.block);
  v.set("bins", how.bins);
  v.set("full_turn", how.full_turn);
}

void load_pixels(const Value& v, Variable& variable) {
  Picturing& how = variable.picturing;
  variable.value.kind = Expression::Kind::name;
  variable.value.text = v.at("column").as_string("column");
  how.edges = v.at("edges").as_bool("edges");
  const auto size = finite_numbers(v.at("size"), "size");
  check(size.size() == 2, fmt::format("{} has not two sides", variable.label));
  how.height = whole(size[0], 1, kMostSide + 1, "height");
  how.width = whole(size[1], 1, kMostSide + 1, "width");
  if (how.edges) {
    how.cell = whole(v.at("cell").as_double("cell"), 1, kMostSide + 1, "cell");
    how.block = whole(v.at("block").as_double("block"), 0, kMostSide + 1, "block");
    how.bins = whole(v.at("bins").as_double("bins"), 1, kMostBins + 1, "bins");
    how.full_turn = v.at("full_turn").as_bool("full_turn");
  }
  check(fault_of(how).empty(), fault_of(how));
}

void save_polynomial(const Variable& variable, Value& v) {
  v.set("degree", variable.degree);
  v.set("raw", variable.raw);
  v.set("alpha", numbers_of(variable.alpha));
  v.set("norm2", numbers_of(variable.norm2));
}

void load_polynomial(const Value& v, Variable& variable) {
  variable.degree = whole(v.at("degree").as_double("degree"), 1, 101, "degree");
  variable.raw = v.at("raw").as_bool("raw");
  variable.alpha = finite_numbers(v.at("alpha"), "alpha");
  variable.norm2 = finite_numbers(v.at("norm2"), "norm2");
  const std::size_t degree = variable.raw ? 0 : static_cast<std::size_t>(variable.degree);
  check(variable.alpha.size() == degree && variable.norm2.size() == (variable.raw ? 0 : degree + 1),
        fmt::format("{} does not have the constants of its degree", variable.label));
  check(std::all_of(variable.norm2.begin(), variable.norm2.end(), [](double n) { return n > 0; }),
        fmt::format("{} has a norm that is not positive", variable.label));
}

void save_spline(const SplineShape& shape, Value& v) {
  v.set("degree", shape.degree);
  v.set("natural", shape.natural);
  v.set("intercept", shape.intercept);
  v.set("knots", numbers_of(shape.knots));
  v.set("ends", numbers_of({shape.low, shape.high}));
}

void load_spline(const Value& v, Variable& variable) {
  SplineShape shape;
  shape.degree = whole(v.at("degree").as_double("degree"), 1, kMostSplineDegree + 1, "degree");
  shape.natural = v.at("natural").as_bool("natural");
  shape.intercept = v.at("intercept").as_bool("intercept");
  shape.knots = finite_numbers(v.at("knots"), "knots");
  const auto ends = finite_numbers(v.at("ends"), "ends");
  check(ends.size() == 2, fmt::format("{} has not two ends", variable.label));
  shape.low = ends[0];
  shape.high = ends[1];
  variable.spline = SplineBasis(std::move(shape));
}

void save_scale(const Variable& variable, Value& v) {
  v.set("center", variable.center);
  v.set("spread", variable.spread);
}

void load_scale(const Value& v, Variable& variable) {
  variable.center = finite(v.at("center"), "center");
  variable.spread = finite(v.at("spread"), "spread");
  check(variable.spread > 0, fmt::format("{} has a spread that is not positive", variable.label));
}

}  // namespace

Expression numeric_expression(const std::string& text) {
  Expression e = expression(text);
  check(!columns_of(e).empty(), fmt::format("the expression {} uses no column", text));
  check(is_learned(e), fmt::format("{} has no constants", text));
  return e;
}

Value save_variable(const Variable& variable) {
  Value v = Value::object();
  v.set("kind", text_of(variable.kind, kVariableKinds));
  v.set("label", variable.label);
  if (variable.words() || variable.pixels()) {
    variable.words() ? save_words(variable, v) : save_pixels(variable, v);
    return v;
  }
  if (!variable.numeric()) {
    save_levels(variable, v);
    return v;
  }
  v.set("value", to_text(variable.value));
  if (variable.kind == Variable::Kind::scaled) save_scale(variable, v);
  if (variable.kind == Variable::Kind::polynomial) save_polynomial(variable, v);
  if (variable.kind == Variable::Kind::spline) save_spline(variable.spline.shape(), v);
  return v;
}

Variable load_variable(const Value& v) {
  Variable variable;
  variable.kind = enum_of(v.at("kind"), kVariableKinds, "kind of variable");
  variable.label = v.at("label").as_string("label");
  if (variable.words() || variable.pixels()) {
    variable.words() ? load_words(v, variable) : load_pixels(v, variable);
    return variable;
  }
  if (!variable.numeric()) {
    load_levels(v, variable);
    return variable;
  }
  variable.value = numeric_expression(v.at("value").as_string("value"));
  if (variable.kind == Variable::Kind::scaled) load_scale(v, variable);
  if (variable.kind == Variable::Kind::polynomial) load_polynomial(v, variable);
  if (variable.kind == Variable::Kind::spline) load_spline(v, variable);
  return variable;
}

}  // namespace lemma
