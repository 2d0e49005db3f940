// lemma/model/pipeline_parse.cpp: the little language of pipelines.
//
//     pipeline := step ('|' step)*          step := name [ '(' [ name '=' value (',' name '=' value)* ] ')' ]
//     value    := number | word | "text" | '[' number (',' number)* ']' | anything whose parentheses close, up to ',' or ')'
#include <cctype>
#include <fmt/core.h>
#include <lemma/model/pipeline.hpp>

namespace lemma {
namespace {

class Parser {
 public:
  Parser(std::string_view text, std::span<const Method* const> methods) : text_(text), methods_(methods) {}

  std::vector<PipelineStep> parse() {
    std::vector<PipelineStep> steps{step()};
    while (take('|')) steps.push_back(step());
    if (at_ < text_.size()) fail("'|' or the end");
    return steps;
  }

 private:
  PipelineStep step() {
    const std::size_t place = skip();
    const std::string name = word("the name of a method");
    const Method* method = nullptr;
    try {
      method = &find_method(name, methods_);
    } catch (const Error& error) {
      if (text_.find_first_of("|(") == std::string_view::npos) throw;
      at_ = place;
      point(error.what());
    }
    PipelineStep out{method, Value::object()};
    if (take('(') && !take(')')) {
      do parameter(out);
      while (take(','));
      if (!take(')')) fail("',' or ')'");
    }
    return out;
  }

  void parameter(PipelineStep& step) {
    const std::size_t place = skip();
    const std::string name = word("the name of a parameter");
    if (!take('=')) fail("'='");
    const std::string text = value();
    for (const auto& info : step.method->params())
      if (info.name == name) return set_path(step.params, name, parse_param(info, text, step.method->name()));
    std::vector<std::string> known;
    for (const auto& info : step.method->params()) known.push_back(info.name);
    at_ = place;
    point(fmt::format("{} has no parameter '{}'{}", step.method->name(), name, did_you_mean(name, known)));
  }

  std::string value() {
    skip();
    if (take('[')) return until(']');
    if (take('"')) return until('"');
    return balanced();
  }
  /// Up to the ',' or ')' that belongs to the step: rbf(0.1) + 0.5*poly(2).
  std::string balanced() {
    const std::size_t from = at_;
    int open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (open == 0 && (c == ',' || c == ')' || c == '|')) break;
      open += (c == '(' || c == '[') - (c == ')' || c == ']');
    }
    std::size_t to = at_;
    while (to > from && std::isspace(static_cast<unsigned char>(text_[to - 1]))) --to;
    if (to == from) fail("a value");
    return std::string(text_.substr(from, to - from));
  }
  std::string until(char close) {
    const auto end = text_.find(close, at_);
    if (end == std::string_view::npos) fail(fmt::format("'{}'", close));
    std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }
  std::string word(const char* expected) {
    skip();
    const std::size_t from = at_;
    const auto belongs = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '+' || c == '/';
    };
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    if (at_ == from) fail(expected);
    return std::string(text_.substr(from, at_ - from));
  }
  std::size_t skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(std::string_view expected) { point(fmt::format("expected {}", expected)); }
  [[noreturn]] void point(std::string_view what) {
    throw Error(fmt::format("{}\n  {}\n  {}^", what, text_, std::string(std::min(at_, text_.size()), ' ')));
  }

  std::string_view text_;
  std::span<const Method* const> methods_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<PipelineStep> parse_pipeline(std::string_view text, std::span<const Method* const> methods) {
  return Parser(text, methods).parse();
}

}  // namespace lemma
