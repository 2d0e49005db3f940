// lemma/model/pipeline_parse.cpp: the little language of METHOD.
//
//     pipeline := step ('|' step)*          step := name [ '(' [ argument (',' argument)* ] ')' ]
//     argument := name '=' value | pipeline         the latter for the methods that a method is made of, in their order
//     value    := number | word | "text" | '[' number (',' number)* ']' | anything whose parentheses close, up to ',' or ')'
#include <cctype>
#include <fmt/core.h>
#include <lemma/model/pipeline.hpp>

namespace lemma {
namespace {

constexpr int kMostNested = 16;
constexpr std::size_t kLongest = std::size_t{1} << 16;

class Parser {
 public:
  Parser(std::string_view text, std::span<const Method* const> methods) : text_(text), methods_(methods) {}

  std::vector<AnySpec> parse() {
    if (text_.size() > kLongest)
      throw Error(fmt::format("the method is a text of {} bytes, and at most {} are read", text_.size(), kLongest));
    auto steps = pipeline();
    if (at_ < text_.size()) fail("'|' or the end");
    return steps;
  }

 private:
  std::vector<AnySpec> pipeline() {
    if (++nested_ > kMostNested)
      throw Error(fmt::format("a method has at most {} methods inside each other", kMostNested));
    std::vector<AnySpec> steps{step()};
    while (take('|')) {
      if (steps.size() == kMostSteps) throw Error(fmt::format("a pipeline has at most {} steps", kMostSteps));
      steps.push_back(step());
    }
    --nested_;
    return steps;
  }

  AnySpec step() {
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
    Value params = Value::object();
    if (take('(') && !take(')')) {
      do argument(*method, params);
      while (take(','));
      if (!take(')')) fail("',' or ')'");
    }
    return {{std::shared_ptr<const Method>(), method}, std::move(params)};  // the catalog owns it
  }

  void argument(const Method& method, Value& params) {
    const std::size_t place = skip();
    if (is_method_inside(method, params)) return;
    const std::string name = word("the name of a parameter");
    if (!take('=')) fail("'='");
    const auto infos = params_of(method, params);
    for (const auto& info : infos) {
      if (info.name != name) continue;
      if (info.kind == ParamInfo::Kind::method) return set_path(params, name, written(pipeline()));
      return set_path(params, name, parse_param(info, value(), method.name()));
    }
    std::vector<std::string> known;
    for (const auto& info : infos) known.push_back(info.name);
    at_ = place;
    point(fmt::format("{} has no parameter '{}'{}", method.name(), name, did_you_mean(name, known)));
  }

  /// bagging(tree(depth=3), rounds=10): an argument without a name is the method inside, or one more of a list of them.
  bool is_method_inside(const Method& method, Value& params) {
    const std::size_t place = at_;
    std::size_t end = at_;
    while (end < text_.size() && belongs_to_word(text_[end])) ++end;
    while (end < text_.size() && std::isspace(static_cast<unsigned char>(text_[end]))) ++end;
    if (end < text_.size() && text_[end] == '=') return false;
    for (const auto& info : method.params()) {
      const bool one = info.kind == ParamInfo::Kind::method, list = info.kind == ParamInfo::Kind::methods;
      if (!list && !(one && !params.find(info.name))) continue;
      const Value inside = written(pipeline());
      const Value* before = params.find(info.name);
      Value::List all = list && before ? before->as_list(info.name) : Value::List{};
      all.push_back(inside);
      params.set(info.name, list ? Value(std::move(all)) : inside);
      return true;
    }
    at_ = place;
    return false;
  }

  /// As a value: {"kind": "tree", "depth": 3}, {"kind": "scale | logistic", "logistic": {"lambda": 2}}.
  static Value written(std::vector<AnySpec> steps) {
    const AnySpec spec = steps.size() == 1 ? std::move(steps.front()) : AnySpec(Pipeline(std::move(steps)));
    Value out = Value::object();
    out.set("kind", spec.method().name());
    for (const auto& [key, value] : spec.params().as_object()) out.set(key, value);
    return out;
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
  static bool belongs_to_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '+' || c == '/';
  }
  std::string word(const char* expected) {
    skip();
    const std::size_t from = at_;
    while (at_ < text_.size() && belongs_to_word(text_[at_])) ++at_;
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
  int nested_ = 0;
};

}  // namespace

std::vector<AnySpec> parse_pipeline(std::string_view text, std::span<const Method* const> methods) {
  return Parser(text, methods).parse();
}

}  // namespace lemma
