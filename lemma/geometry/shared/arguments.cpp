// lemma/geometry/shared/arguments.cpp
#include <algorithm>
#include <cctype>
#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <lemma/geometry/shared/arguments.hpp>

namespace lemma {

void ArgumentReader::skip() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
}

bool ArgumentReader::at_end() {
  skip();
  return at_ >= text_.size();
}

bool ArgumentReader::take(char c) {
  skip();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string ArgumentReader::word() {
  skip();
  const std::size_t from = at_;
  const auto belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  if (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])))
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
  return std::string(text_.substr(from, at_ - from));
}

bool ArgumentReader::number_begins() {
  skip();
  return at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.');
}

double ArgumentReader::number() {
  skip();
  const char* from = text_.data() + at_;
  double out = 0;
  const auto [end, error] = fast_float::from_chars(from, text_.data() + text_.size(), out);
  if (error != std::errc()) fail("expected a number");
  at_ += static_cast<std::size_t>(end - from);
  return out;
}

std::string_view ArgumentReader::up_to(char end) {
  const std::size_t from = at_;
  at_ = std::min(text_.find(end, from), text_.size());
  return text_.substr(from, at_ - from);
}

Value ArgumentReader::arguments(const std::string& name, const std::vector<std::string>& order) {
  Value out = Value::object();
  if (!take('(') || take(')')) return out;
  do argument(name, order, out);
  while (take(','));
  if (!take(')')) fail("expected ',' or ')'");
  return out;
}

void ArgumentReader::argument(const std::string& of, const std::vector<std::string>& order, Value& into) {
  skip();
  const std::size_t place = at_;
  std::string name = word();
  if (name == "inf" || name.empty()) {
    at_ = place;
    const std::size_t position = into.as_object().size();
    if (position >= order.size())
      fail(fmt::format("{} takes {} argument{}", of, order.size(), order.size() == 1 ? "" : "s"));
    name = order[position];
  } else if (!take('=')) {
    fail("expected '=' and a value");
  }
  if (into.find(name)) {
    at_ = place;
    fail(fmt::format("{} of {} is given twice", name, of));
  }
  into.set(name, value());
}

Value ArgumentReader::value() {
  if (take('[')) return numbers();
  const std::size_t from = at_;
  if (word() == "inf") return "inf";
  at_ = from;
  const double first = number();
  if (!take('/')) return first;
  number();
  std::string fraction(text_.substr(from, at_ - from));  // a name to us: matern's 3/2
  std::erase(fraction, ' ');
  return fraction;
}

Value ArgumentReader::numbers() {
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

void ArgumentReader::fail(std::string_view what) const {
  throw Error(fmt::format("{}\n  {}\n  {}^", what, text_, std::string(std::min(at_, text_.size()), ' ')));
}

std::string argument_text(const Value& value) {
  if (value.is_string()) return value.as_string();
  if (!value.is_array()) return to_json(value, -1);
  const auto& array = value.as_array();
  const std::size_t width = array.shape.size() == 2 ? static_cast<std::size_t>(array.shape[1]) : array.data.size() + 1;
  std::string out = "[";
  for (std::size_t i = 0; i < array.data.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i % width == 0 ? "; " : ", ", array.data[i]);
  return out + "]";
}

}  // namespace lemma
