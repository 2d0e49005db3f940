// lemma/core/param_info.cpp
#include <algorithm>
#include <cmath>
#include <fast_float/fast_float.h>
#include <fmt/core.h>
#include <lemma/core/param_info.hpp>

namespace lemma {
namespace {

using Kind = ParamInfo::Kind;

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

std::string with_range(std::string what, const Range& range) {
  const std::string text = range.text();
  return text == "finite" ? what : what + ", " + text;
}

bool read_number(std::string_view text, double& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Value number_from(const std::string& where, const std::string& text, const ParamInfo& info) {
  double number = 0;
  if (!read_number(text, number)) throw Error(fmt::format("{} is '{}', must be {}", where, text, info.allowed));
  if (info.kind == Kind::whole) {
    if (number != std::floor(number) || std::abs(number) > 9e15)
      throw Error(fmt::format("{} is {}, must be {}", where, text, info.allowed));
    return static_cast<std::int64_t>(number);
  }
  return number;
}

/// R's a:b, which counts from a by ones, up or down, as far as b; false where the text is none, or would never end.
bool read_counted(std::string_view text, std::vector<double>& out) {
  constexpr double kMost = 100'000;
  const auto colon = text.find(':');
  double first = 0, last = 0;
  if (colon == std::string_view::npos || !read_number(text.substr(0, colon), first) ||
      !read_number(text.substr(colon + 1), last) || !(std::abs(last - first) <= kMost))
    return false;
  const double step = last < first ? -1 : 1;
  for (double k = 0; k <= std::abs(last - first); ++k) out.push_back(first + step * k);
  return true;
}

Value numbers_from(const std::string& where, const std::string& text, const ParamInfo& info) {
  Value::Array array;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const auto item = std::string_view(text).substr(from, to - from);
    if (double number = 0; read_number(item, number)) array.data.push_back(number);
    else if (!read_counted(item, array.data))
      throw Error(fmt::format("{} is '{}', must be {}", where, text, info.allowed));
    from = to + 1;
  }
  array.shape = {static_cast<Index>(array.data.size())};
  return array;
}

/// Writes `allowed`.
void finish(ParamInfo& info) {
  switch (info.kind) {
    case Kind::truth: info.allowed = "true or false"; break;
    case Kind::number: info.allowed = with_range("a number", info.range); break;
    case Kind::whole: info.allowed = with_range("a whole number", info.range); break;
    case Kind::name: info.allowed = listed(info.choices); break;
    case Kind::text: info.allowed = "a text"; break;
    case Kind::numbers: info.allowed = with_range("numbers separated by commas", info.range); break;
    case Kind::names: info.allowed = "names separated by commas"; break;
    case Kind::matrix: info.allowed = "a file that holds a matrix"; break;
    case Kind::name_or_numbers: info.allowed = listed(info.choices) + ", or numbers separated by commas"; break;
    case Kind::name_or_matrix: info.allowed = listed(info.choices) + ", or a file that holds a matrix"; break;
    case Kind::name_or_text: info.allowed = listed(info.choices) + ", or an expression of these"; break;
    case Kind::part: break;
    case Kind::method: info.allowed = "a method"; break;
    case Kind::methods: info.allowed = "methods separated by commas"; break;
  }
}

}  // namespace

std::string ParamInfo::initial_text() const {
  if (initial.is_null()) return kind == Kind::method ? "none: choose one" : "chosen by the method";
  if (initial.is_string()) return initial.as_string();
  if (initial.is_array() && initial.as_array().data.empty()) return "none";
  return to_json(initial, -1);
}

std::string detail::add_info(std::vector<ParamInfo>& out, const std::string& prefix, const std::string& only_when,
                             const PlainParam& param, Value initial, void (*kind)(ParamInfo&)) {
  ParamInfo info;
  info.name = prefix + std::string(param.name);
  info.meaning = param.meaning;
  info.initial = std::move(initial);
  info.range = param.range;
  info.step = param.step;
  info.only_when = only_when;
  kind(info);
  finish(info);
  std::string name = info.name;
  if (info.kind != Kind::part || !info.choices.empty()) out.push_back(std::move(info));
  return name;
}

std::optional<bool> parse_truth(std::string_view text) {
  for (const auto word : {"true", "yes", "on", "1"})
    if (text == word) return true;
  for (const auto word : {"false", "no", "off", "0"})
    if (text == word) return false;
  return {};
}

Value parse_param(const ParamInfo& info, const std::string& text, std::string_view method) {
  const std::string where = fmt::format("{}: {}", method, info.name);
  if (info.optional && text == "auto") return {};
  switch (info.kind) {
    case Kind::truth:
      if (const auto truth = parse_truth(text)) return *truth;
      throw Error(fmt::format("{} is '{}', must be {}", where, text, info.allowed));
    case Kind::number:
    case Kind::whole: return number_from(where, text, info);
    case Kind::numbers:  // what none of them means, the method says
      if (text == "auto") return Value::Array{{0}, {}};
      return numbers_from(where, text, info);
    case Kind::name: choose(where, text, info.choices); return text;
    case Kind::name_or_numbers:
      if (std::find(info.choices.begin(), info.choices.end(), text) != info.choices.end()) return text;
      return numbers_from(where, text, info);
    case Kind::names: {
      std::vector<std::string> names;
      for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        names.push_back(text.substr(from, to - from));
        from = to + 1;
      }
      return names;
    }
    default: return text;
  }
}

void set_path(Value& object, std::string_view path, Value value) {
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) {
    const Value* old = object.is_object() ? object.find(path) : nullptr;
    if (old && old->is_object() && value.is_string()) {  // the name of an alternative whose parts came first
      Value part = *old;
      part.set("kind", std::move(value));
      value = std::move(part);
    }
    object.set(path, std::move(value));
    return;
  }
  const auto head = path.substr(0, dot);
  const Value* old = object.is_object() ? object.find(head) : nullptr;
  Value inner = old ? *old : Value::object();
  if (inner.is_string()) {  // {"kernel": "rbf"} and then kernel.gamma
    Value part = Value::object();
    part.set("kind", inner);
    inner = std::move(part);
  }
  set_path(inner, path.substr(dot + 1), std::move(value));
  object.set(head, std::move(inner));
}

}  // namespace lemma
