// lemma/geometry/kernel/parse.cpp: the little language of kernels.
//
//     sum     := product ('+' product)*                  product := factor ('*' factor)*
//     factor  := number | name arguments | '(' sum ')'
#include <fmt/core.h>
#include <lemma/geometry/kernel.hpp>
#include <lemma/geometry/shared/arguments.hpp>

namespace lemma {
namespace {

constexpr int kMostNested = 50, kMostParts = 1000;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Kernel parse() {
    Kernel kernel = sum();
    if (!text_.at_end()) text_.fail("expected '+', '*' or the end");
    return kernel;
  }

 private:
  Kernel sum() {
    Kernel out = product();
    while (text_.take('+')) out = std::move(out) + product();
    return out;
  }
  Kernel product() {
    Kernel out = factor();
    while (text_.take('*')) out = std::move(out) * factor();
    return out;
  }
  Kernel factor() {
    if (++parts_ > kMostParts) throw Error(fmt::format("a kernel has at most {} parts", kMostParts));
    if (text_.take('(')) {
      if (++nested_ > kMostNested) text_.fail("too many parentheses inside each other");
      Kernel inner = sum();
      if (!text_.take(')')) text_.fail("expected ')'");
      --nested_;
      return inner;
    }
    if (text_.number_begins()) return ConstantKernel{text_.number()};
    return named();
  }

  Kernel named() {
    const std::size_t place = text_.place();
    std::string name = text_.word();
    if (name.empty()) text_.fail("expected a kernel, such as rbf or 0.5*poly(2)");
    if (name == "custom") return own();
    if (name == "gaussian") name = "rbf";
    if (name == "sigmoid") name = "tanh";
    Kernel::Named kernel;
    text_.guarded(place, [&] { Codec<Kernel::Named>::read(kernel, Value(name), "kernel"); });
    const Value arguments =
        text_.arguments(name, std::visit([]<class Atom>(const Atom&) { return param_names<Atom>(); }, kernel));
    text_.guarded(place, [&] { std::visit([&](auto& atom) { assign(atom, arguments, name + ": "); }, kernel); });
    return std::visit([](auto& atom) { return Kernel(std::move(atom)); }, kernel);
  }

  Kernel own() {
    if (!text_.take('(')) text_.fail("expected '('");
    const std::string name(text_.up_to(')'));
    if (!text_.take(')')) text_.fail("expected ')'");
    return CustomKernel{name, nullptr};
  }

  ArgumentReader text_;
  int nested_ = 0, parts_ = 0;
};

}  // namespace

Kernel Kernel::parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace lemma
