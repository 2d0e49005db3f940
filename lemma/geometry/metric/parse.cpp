// lemma/geometry/metric/parse.cpp: how a metric is written.
//
//     metric   := name [ '(' [ argument (',' argument)* ] ')' ]
//     argument := [ name '=' ] ( number | 'inf' | '[' numbers with ',' and, between rows, ';' ']' )
#include <cctype>
#include <fast_float/fast_float.h>
#include <fmt/core.h>
#include <lemma/geometry/metric.hpp>

namespace lemma {
namespace {

/// What other systems call some of them.
std::string usual_name(const std::string& name) {
  if (name == "l2") return "euclidean";
  if (name == "l1" || name == "cityblock") return "manhattan";
  if (name == "maximum" || name == "linf") return "chebyshev";
  return name;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Metric parse() {
    skip();
    const std::size_t place = at_;
    const std::string name = usual_name(word());
    if (name.empty()) fail("expected a metric, such as euclidean or minkowski(3)");
    Metric::Named metric;
    guarded(place, [&] { Codec<Metric::Named>::read(metric, Value(name), "metric"); });
    const std::vector<std::string> order =
        std::visit([]<class Atom>(const Atom&) { return param_names<Atom>(); }, metric);
    Value arguments = Value::object();
    if (take('(') && !take(')')) {
      do argument(name, order, arguments);
      while (take(','));
      if (!take(')')) fail("expected ',' or ')'");
    }
    skip();
    if (at_ < text_.size()) fail("expected the end");
    if (const Value* one = arguments.find("covariance"); one && one->is_array() && one->as_array().data.size() == 1)
      arguments.set("covariance", Matrix(Matrix::Constant(1, 1, one->as_array().data[0])));  // [2] looks like a list
    guarded(place, [&] { std::visit([&](auto& atom) { assign(atom, arguments, name + ": "); }, metric); });
    return std::visit([](auto& atom) { return Metric(std::move(atom)); }, metric);
  }

 private:
  void argument(const std::string& metric, const std::vector<std::string>& order, Value& into) {
    skip();
    const std::size_t place = at_;
    std::string name = word();
    if (name == "inf" || name.empty()) {
      at_ = place;
      const std::size_t position = into.as_object().size();
      if (position >= order.size())
        fail(fmt::format("{} takes {} argument{}", metric, order.size(), order.size() == 1 ? "" : "s"));
      name = order[position];
    } else if (!take('=')) {
      fail("expected '=' and a value");
    }
    if (into.find(name)) {
      at_ = place;
      fail(fmt::format("{} of {} is given twice", name, metric));
    }
    into.set(name, value());
  }

  Value value() {
    if (take('[')) return numbers();
    const std::size_t place = at_;
    if (word() == "inf") return "inf";
    at_ = place;
    return number();
  }
  Value numbers() {
    std::vector<std::vector<double>> rows(1);
    while (!take(']')) {
      if (take(';')) rows.emplace_back();
      else if (!rows.back().empty() && !take(',')) fail("expected ',', ';' or ']'");
      rows.back().push_back(number());
    }
    Value::Array out;
    for (const auto& row : rows) {
      if (row.size() != rows[0].size()) fail("the rows of the matrix have different lengths");
      out.data.insert(out.data.end(), row.begin(), row.end());
    }
    const auto width = static_cast<Index>(rows[0].size());
    if (rows.size() == 1) out.shape = {width};
    else out.shape = {static_cast<Index>(rows.size()), width};
    return out;
  }
  double number() {
    skip();
    const char* from = text_.data() + at_;
    double out = 0;
    const auto [end, error] = fast_float::from_chars(from, text_.data() + text_.size(), out);
    if (error != std::errc()) fail("expected a number");
    at_ += static_cast<std::size_t>(end - from);
    return out;
  }
  std::string word() {
    skip();
    const std::size_t from = at_;
    const auto belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    if (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])))
      while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void guarded(std::size_t place, const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      at_ = place;
      fail(error.what());
    }
  }
  [[noreturn]] void fail(std::string_view what) {
    throw Error(fmt::format("{}\n  {}\n  {}^", what, text_, std::string(std::min(at_, text_.size()), ' ')));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Metric Metric::parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace lemma
