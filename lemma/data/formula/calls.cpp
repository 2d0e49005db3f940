// lemma/data/formula/calls.cpp
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/core/error.hpp>
#include <lemma/data/expression/habits.hpp>
#include <lemma/data/formula.hpp>
#include <lemma/data/formula/calls.hpp>
#include <lemma/math/splines.hpp>
#include <map>
#include <tuple>

namespace lemma {
namespace {

using Kind = Expression::Kind;

constexpr int kMostPieces = 1000;  // of cut(), and knots of a spline

bool is_whole(double number) { return number == std::floor(number); }

/// The arguments of a call by their names, as R matches them: those with a keyword first, the others in order.
class Arguments {
 public:
  Arguments(const Expression& call, const std::vector<std::string>& names, std::string_view usage, const FailAt& fail)
      : call_(call), fail_(fail) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const std::string& keyword = call.keywords[i];
      if (keyword.empty()) continue;
      if (std::find(names.begin(), names.end(), keyword) == names.end())
        fail(call.arguments[i].place, fmt::format("{}() knows no argument '{}'{}; it is written {}", call.text, keyword,
                                                  did_you_mean(keyword, names), usage));
      if (!given_.emplace(keyword, &call.arguments[i]).second)
        fail(call.arguments[i].place, fmt::format("{}() is given '{}' twice", call.text, keyword));
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (!call.keywords[i].empty()) continue;
      while (next < names.size() && given_.contains(names[next])) ++next;
      if (next == names.size())
        fail(call.arguments[i].place,
             fmt::format("{}() takes no further argument; it is written {}", call.text, usage));
      given_.emplace(names[next], &call.arguments[i]);
    }
    if (!given_.contains(names[0])) fail(call.place, fmt::format("{}() takes a value: {}", call.text, usage));
  }

  const Expression* find(const std::string& name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : found->second;
  }

  bool truth(const std::string& name, bool otherwise) const {
    const Expression* e = find(name);
    if (!e) return otherwise;
    if (!is_truth(*e)) fail_(e->place, fmt::format("{} = is TRUE or FALSE", name));
    return is_true(*e);
  }

  int whole(const std::string& name, int otherwise, int least, int most) const {
    const Expression* e = find(name);
    if (!e) return otherwise;
    const auto number = literal_number(*e);
    if (!number || *number < least || *number > most || !is_whole(*number))
      fail_(e->place, fmt::format("the {} of {}() is a whole number from {} to {}", name, call_.text, least, most));
    return static_cast<int>(*number);
  }

  /// c(1, 2.5, …), or one number; rising, whatever the order in which they are written.
  std::vector<double> numbers(const std::string& name) const {
    const Expression* e = find(name);
    std::vector<double> out;
    if (!e) return out;
    const bool list = e->kind == Kind::call && e->text == "c";
    for (const Expression& each : list ? e->arguments : std::vector<Expression>{*e}) {
      const auto number = literal_number(each);
      if (!number) fail_(each.place, fmt::format("the {} of {}() are numbers: {} = c(1, 2.5)", name, call_.text, name));
      out.push_back(*number);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  std::vector<std::string> texts(const std::string& name) const {
    const Expression* e = find(name);
    std::vector<std::string> out;
    if (!e) return out;
    const bool list = e->kind == Kind::call && e->text == "c";
    for (const Expression& each : list ? e->arguments : std::vector<Expression>{*e}) {
      if (each.kind != Kind::string)
        fail_(each.place,
              fmt::format("the {} of {}() are texts in quotes: {} = c(\"low\", \"high\")", name, call_.text, name));
      out.push_back(each.text);
    }
    return out;
  }

 private:
  const Expression& call_;
  const FailAt& fail_;
  std::map<std::string, const Expression*> given_;
};

const std::string kCutUsage = "cut(x, 3) or cut(x, c(0, 10, 20))";

void check_labels(const Expression& call, const CutCall& cut, const FailAt& fail) {
  if (cut.labels.empty()) return;
  const std::size_t pieces = cut.pieces > 0 ? static_cast<std::size_t>(cut.pieces) : cut.breaks.size() - 1;
  if (cut.labels.size() != pieces)
    fail(call.place,
         fmt::format("{} makes {} pieces, but there are {} labels", to_text(call), pieces, cut.labels.size()));
  auto sorted = cut.labels;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    fail(call.place, fmt::format("two pieces of cut() have the label \"{}\"", *twice));
}

// -- calls that are terms

void check_plain(const Expression& e, const Tokens& tokens) {
  static const std::vector<std::string> others = {"I",      "is.na",     "scale", "poly", "bs",    "ns",  "cut",
                                                  "factor", "as.factor", "kmers", "text", "image", "hog", "offset"};
  auto known = known_functions();
  const bool is_known =
      e.text == "I" || e.text == "is.na" || std::find(known.begin(), known.end(), e.text) != known.end();
  known.insert(known.end(), others.begin(), others.end());
  if (!is_known) fail_unknown(tokens, e, known);
  check_expression(e, tokens);
}

void check_factor(const Expression& e, const Tokens& tokens) {
  const bool has_value = !e.arguments.empty() && e.keywords[0].empty();
  if (!has_value || (e.arguments[0].kind == Kind::name && e.arguments[0].text == "."))
    tokens.fail(e.place, fmt::format("{}() takes a column: {}", e.text,
                                     e.text == "factor" ? "factor(x), or factor(x, ref = \"b\")" : "as.factor(x)"));
  check_expression(e.arguments[0], tokens, false);
  for (std::size_t i = 1; i < e.arguments.size(); ++i) {
    const auto& argument = e.arguments[i];
    if (e.text != "factor") tokens.fail(argument.place, "as.factor() takes a column and nothing else; see factor()");
    if (e.keywords[i] != "ref" || i > 1)
      tokens.fail(argument.place, "after the column, factor() takes only ref = \"level\"");
    if (argument.kind != Kind::string && argument.kind != Kind::logical && !literal_number(argument))
      tokens.fail(argument.place, "the reference level is written in quotes: ref = \"b\"");
  }
}

void check_poly(const Expression& e, const Tokens& tokens) {
  if (e.arguments.size() < 2 || !e.keywords[0].empty())
    tokens.fail(e.place, "poly() takes a value and a degree: poly(x, 2)");
  check_expression(e.arguments[0], tokens);
  for (std::size_t i = 1; i < e.arguments.size(); ++i) {
    const auto& argument = e.arguments[i];
    const bool degree = i == 1 && (e.keywords[i].empty() || e.keywords[i] == "degree");
    if (!degree && !(i == 2 && e.keywords[i] == "raw" && is_truth(argument)))
      tokens.fail(argument.place, "poly() takes a value, a degree, and perhaps raw = TRUE: poly(x, 2, raw = TRUE)");
    if (degree &&
        !(argument.kind == Kind::number && argument.number >= 1 && argument.number <= 100 && is_whole(argument.number)))
      tokens.fail(argument.place, "the degree of poly() is a whole number from 1 to 100");
  }
}

void check_kmers(const Expression& e, const Tokens& tokens) {
  const bool column =
      !e.arguments.empty() && e.arguments[0].kind == Kind::name && e.arguments[0].text != "." && e.keywords[0].empty();
  const bool letters =
      e.arguments.size() == 2 && (e.keywords[1].empty() || e.keywords[1] == "k") && e.arguments[1].kind == Kind::number;
  const double k = letters ? e.arguments[1].number : 0;
  if (!column || !letters || k < 1 || k > kMostLetters || !is_whole(k))
    tokens.fail(e.place, fmt::format("kmers() takes a text column and how many letters its pieces have, from 1 to {}: "
                                     "kmers(sequence, 3)",
                                     kMostLetters));
}

}  // namespace

bool makes_levels(std::string_view function) {
  return function == "factor" || function == "as.factor" || function == "cut";
}
bool makes_levels(const Expression& e) { return e.kind == Kind::call && makes_levels(e.text); }

void check_term(const Expression& e, const Tokens& tokens) {
  const FailAt fail = [&](std::size_t place, const std::string& message) { tokens.fail(place, message); };
  if (e.text == "factor" || e.text == "as.factor") check_factor(e, tokens);
  else if (e.text == "cut") check_expression(cut_call(e, fail).value, tokens, false);
  else if (e.text == "bs" || e.text == "ns") check_expression(spline_call(e, fail).value, tokens);
  else if (e.text == "scale") check_scale(e, tokens);
  else if (e.text == "poly") check_poly(e, tokens);
  else if (e.text == "kmers") return check_kmers(e, tokens);
  else if (e.text == "text") return void(text_call(e, fail));
  else if (makes_pixels(e.text)) return void(picture_call(e, fail));
  else check_plain(e, tokens);
  if (columns_of(e).empty()) tokens.fail(e.place, fmt::format("{} names no column", to_text(e)));
}

CutCall cut_call(const Expression& call, const FailAt& fail) {
  const Arguments given(call, {"x", "breaks", "labels", "include.lowest", "right", "dig.lab"}, kCutUsage, fail);
  CutCall cut;
  cut.value = *given.find("x");
  const Expression* breaks = given.find("breaks");
  if (!breaks) fail(call.place, "cut() takes a value and its pieces: " + kCutUsage);
  if (literal_number(*breaks)) {
    cut.pieces = given.whole("breaks", 0, 2, kMostPieces);
  } else {
    cut.breaks = given.numbers("breaks");
    if (cut.breaks.size() < 2 || cut.breaks.size() > kMostPieces + 1)
      fail(breaks->place, fmt::format("cut() takes from 2 to {} breaks", kMostPieces + 1));
    if (const auto twice = std::adjacent_find(cut.breaks.begin(), cut.breaks.end()); twice != cut.breaks.end())
      fail(breaks->place, fmt::format("{} is twice among the breaks of cut()", shortest(*twice)));
  }
  cut.labels = given.texts("labels");
  cut.lowest = given.truth("include.lowest", false);
  cut.right = given.truth("right", true);
  cut.digits = given.whole("dig.lab", 3, 1, 17);
  check_labels(call, cut, fail);
  return cut;
}

namespace {

/// One of some words in quotes: by = "letters".
std::string chosen(const Arguments& given, const std::string& name, const std::vector<std::string>& known,
                   const FailAt& fail) {
  const auto texts = given.texts(name);
  if (texts.empty()) return known[0];
  if (texts.size() > 1 || std::find(known.begin(), known.end(), texts[0]) == known.end())
    fail(given.find(name)->place, fmt::format("the {} of text() is one of \"{}\"{}", name, fmt::join(known, "\", \""),
                                              did_you_mean(texts[0], known)));
  return texts[0];
}

/// n = 2, or n = c(1, 3): from 1 to 3 in a row.
void set_lengths(const Arguments& given, Wording& wording, const FailAt& fail) {
  const auto numbers = given.numbers("n");
  if (numbers.empty()) {
    wording.shortest = wording.longest = wording.letters ? 3 : 1;
    return;
  }
  for (const double n : numbers)
    if (numbers.size() > 2 || !(n >= 1 && n <= kMostInARow) || !is_whole(n))
      fail(given.find("n")->place,
           fmt::format("the n of text() is how many make a token, from 1 to {}: n = 2, or n = c(1, 2)", kMostInARow));
  wording.shortest = static_cast<int>(numbers.front());
  wording.longest = static_cast<int>(numbers.back());
}

void set_stop_words(const Arguments& given, Wording& wording, const FailAt& fail) {
  const auto words = given.texts("stop");
  if (words.empty()) return;
  if (wording.letters) fail(given.find("stop")->place, "stop words are words: leave by = \"letters\" out");
  if (words == std::vector<std::string>{"english"}) {
    wording.stop = english_stop_words();
    return;
  }
  wording.stop = words;
  std::sort(wording.stop.begin(), wording.stop.end());
  wording.stop.erase(std::unique(wording.stop.begin(), wording.stop.end()), wording.stop.end());
}

}  // namespace

Wording text_call(const Expression& call, const FailAt& fail) {
  const std::string usage = "text(body, by = \"words\", n = c(1, 2), stop = \"english\", min = 2, weight = \"tfidf\")";
  const Arguments given(call, {"column", "by", "n", "lower", "stop", "min", "weight", "hash", "mail"}, usage, fail);
  const Expression& column = *given.find("column");
  if (column.kind != Kind::name || column.text == ".")
    fail(column.place, fmt::format("text() takes a column of texts: {}", usage));
  Wording wording;
  wording.letters = chosen(given, "by", {"words", "letters"}, fail) == "letters";
  set_lengths(given, wording, fail);
  wording.lower = given.truth("lower", true);
  set_stop_words(given, wording, fail);
  wording.least_texts = given.whole("min", 1, 1, 1'000'000'000);
  const std::string weight = chosen(given, "weight", {"counts", "binary", "tfidf"}, fail);
  wording.weight = weight == "counts"   ? TokenWeight::counts
                   : weight == "binary" ? TokenWeight::binary
                                        : TokenWeight::tfidf;
  wording.columns = given.whole("hash", 0, 1, static_cast<int>(kMostHashedColumns));
  if (wording.columns > 0 && given.find("min"))
    fail(given.find("min")->place, "with hash = no token has a column of its own: leave min out");
  wording.mail = given.truth("mail", false);
  return wording;
}

bool makes_pixels(std::string_view function) { return function == "image" || function == "hog"; }

namespace {

/// 16x24, or "16x24": height and width.
void set_size(const Expression& call, const Expression* size, const std::string& usage, Picturing& how,
              const FailAt& fail) {
  if (!size) fail(call.place, fmt::format("{}() brings images to a size: {}", call.text, usage));
  const auto sides = size->kind == Kind::string ? parse_size(size->text) : std::nullopt;
  if (!sides) fail(size->place, fmt::format("a size is height x width: {}", usage));
  std::tie(how.height, how.width) = *sides;
}

}  // namespace

Picturing picture_call(const Expression& call, const FailAt& fail) {
  Picturing how;
  how.edges = call.text == "hog";
  const std::string usage =
      how.edges ? "hog(file, 32x32, cell = 8, block = 2, bins = 12, signed = FALSE)" : "image(file, 16x16)";
  const Arguments given = how.edges
                              ? Arguments(call, {"column", "size", "cell", "block", "bins", "signed"}, usage, fail)
                              : Arguments(call, {"column", "size"}, usage, fail);
  const Expression& column = *given.find("column");
  if (column.kind != Kind::name || column.text == ".")
    fail(column.place, fmt::format("{}() takes a column of names of images: {}", call.text, usage));
  set_size(call, given.find("size"), usage, how, fail);
  how.cell = given.whole("cell", how.cell, 1, kMostSide);
  how.block = given.whole("block", how.block, 0, kMostSide);
  how.bins = given.whole("bins", how.bins, 1, kMostBins);
  how.full_turn = given.truth("signed", false);
  if (const auto fault = fault_of(how); !fault.empty()) fail(call.place, fault);
  return how;
}

SplineCall spline_call(const Expression& call, const FailAt& fail) {
  SplineCall spline;
  spline.natural = call.text == "ns";
  const Arguments given = spline.natural
                              ? Arguments(call, {"x", "df", "knots", "intercept", "Boundary.knots"},
                                          "ns(x, df = 4) or ns(x, knots = c(1, 2))", fail)
                              : Arguments(call, {"x", "df", "knots", "degree", "intercept", "Boundary.knots"},
                                          "bs(x, df = 5) or bs(x, knots = c(1, 2), degree = 3)", fail);
  spline.value = *given.find("x");
  spline.degree = given.whole("degree", 3, 1, kMostSplineDegree);
  spline.intercept = given.truth("intercept", false);
  spline.knots = given.numbers("knots");
  spline.bounds = given.numbers("Boundary.knots");
  const auto too_many = static_cast<std::size_t>(kMostPieces);
  if (const auto* knots = given.find("knots"); knots && spline.knots.size() > too_many)
    fail(knots->place, fmt::format("{}() takes at most {} knots", call.text, kMostPieces));
  if (const auto* bounds = given.find("Boundary.knots");
      bounds && (spline.bounds.size() != 2 || !(spline.bounds[0] < spline.bounds[1])))
    fail(bounds->place, "the Boundary.knots are two numbers: Boundary.knots = c(0, 10)");
  for (const double knot : spline.knots)
    if (!std::isfinite(knot) || (spline.bounds.size() == 2 && (knot < spline.bounds[0] || knot > spline.bounds[1])))
      fail(given.find("knots")->place, fmt::format("the knot {} does not lie between the ends", shortest(knot)));
  for (const double bound : spline.bounds)
    if (!std::isfinite(bound)) fail(given.find("Boundary.knots")->place, "the Boundary.knots are finite");
  // The columns that there are without an inner knot: degree + 1 less one, and less two conditions when natural.
  const int least = (spline.natural ? 2 : spline.degree + 1) - (spline.intercept ? 0 : 1);
  const int df = given.whole("df", least, least, kMostPieces);
  if (given.find("df") && !given.find("knots")) spline.inner_knots = df - least;
  return spline;
}

}  // namespace lemma
