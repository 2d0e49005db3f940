// lemma/geometry/kernel/parse.cpp: the little language of kernels.
//
//     sum     := product ('+' product)*                  product := factor ('*' factor)*
//     factor  := number | name [ '(' [ argument (',' argument)* ] ')' ] | '(' sum ')'
//     argument := [ name '=' ] ( number | number '/' number | '[' numbers with ',' and, between rows, ';' ']' )
#include <algorithm>
#include <cctype>
#include <fast_float/fast_float.h>
#include <fmt/core.h>
#include <lemma/geometry/kernel.hpp>

namespace lemma {
namespace {

constexpr int kMostNested = 50, kMostParts = 1000;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Kernel parse() {
    Kernel kernel = sum();
    skip();
    if (at_ < text_.size()) fail("expected '+', '*' or the end");
    return kernel;
  }

 private:
  Kernel sum() {
    Kernel out = product();
    while (take('+')) out = std::move(out) + product();
    return out;
  }
  Kernel product() {
    Kernel out = factor();
    while (take('*')) out = std::move(out) * factor();
    return out;
  }
  Kernel factor() {
    skip();
    if (++parts_ > kMostParts) throw Error(fmt::format("a kernel has at most {} parts", kMostParts));
    if (take('(')) {
      if (++nested_ > kMostNested) fail("too many parentheses inside each other");
      Kernel inner = sum();
      if (!take(')')) fail("expected ')'");
      --nested_;
      return inner;
    }
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
      return ConstantKernel{number()};
    return named();
  }

  Kernel named() {
    const std::size_t place = at_;
    const std::string name = word();
    if (name.empty()) fail("expected a kernel, such as rbf or 0.5*poly(2)");
    if (name == "custom") return own();
    Kernel::Named kernel;
    try {
      Codec<Kernel::Named>::read(kernel,
                                 Value(name == "gaussian"  ? "rbf"
                                       : name == "sigmoid" ? "tanh"
                                                           : name),
                                 "kernel");
    } catch (const Error& error) {
      at_ = place;
      fail(error.what());
    }
    const std::vector<std::string> order =
        std::visit([]<class Atom>(const Atom&) { return param_names<Atom>(); }, kernel);
    Value arguments = Value::object();
    if (take('(') && !take(')')) {
      do argument(name, order, arguments);
      while (take(','));
      if (!take(')')) fail("expected ',' or ')'");
    }
    try {
      std::visit([&](auto& atom) { assign(atom, arguments, name + ": "); }, kernel);
    } catch (const Error& error) {
      at_ = place;
      fail(error.what());
    }
    return std::visit([](auto& atom) { return Kernel(std::move(atom)); }, kernel);
  }

  Kernel own() {
    if (!take('(')) fail("expected '('");
    const std::size_t from = at_, to = std::min(text_.find(')', from), text_.size());
    at_ = to;
    if (!take(')')) fail("expected ')'");
    return CustomKernel{std::string(text_.substr(from, to - from)), nullptr};
  }

  void argument(const std::string& kernel, const std::vector<std::string>& order, Value& into) {
    skip();
    const std::size_t place = at_;
    std::string name = word();
    if (!name.empty()) {
      if (!take('=')) fail("expected '=' and a value");
    } else {
      const std::size_t position = into.as_object().size();
      if (position >= order.size())
        fail(fmt::format("{} takes {} argument{}", kernel, order.size(), order.size() == 1 ? "" : "s"));
      name = order[position];
    }
    if (into.find(name)) {
      at_ = place;
      fail(fmt::format("{} of {} is given twice", name, kernel));
    }
    into.set(name, value());
  }

  Value value() {
    skip();
    if (take('[')) return numbers();
    const std::size_t from = at_;
    const double first = number();
    if (!take('/')) return first;
    number();
    std::string fraction(text_.substr(from, at_ - from));  // a name to us: matern's 3/2
    std::erase(fraction, ' ');
    return fraction;
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
    const bool negative = at_ < text_.size() && text_[at_] == '-';
    double out = 0;
    const auto [end, error] = fast_float::from_chars(from + (negative ? 1 : 0), text_.data() + text_.size(), out);
    if (error != std::errc()) fail("expected a number");
    at_ += static_cast<std::size_t>(end - from);
    return negative ? -out : out;
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
  [[noreturn]] void fail(std::string_view what) {
    throw Error(fmt::format("{}\n  {}\n  {}^", what, text_, std::string(std::min(at_, text_.size()), ' ')));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nested_ = 0, parts_ = 0;
};

}  // namespace

Kernel Kernel::parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace lemma
