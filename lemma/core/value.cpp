// lemma/core/value.cpp
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/value.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

bool fits(const Value::Array& array) {
  Index size = 1;
  for (const Index length : array.shape)
    if (length < 0 || __builtin_mul_overflow(size, length, &size)) return false;
  return !array.shape.empty() && static_cast<std::size_t>(size) == array.data.size();
}

/// "a text ("abc")": the kind, and the value where it is short.
std::string shown(const Value& value) {
  if (value.is_null()) return "null";
  if (value.is_array()) return fmt::format("an array of numbers ({})", fmt::join(value.as_array().shape, " × "));
  if (value.is_list() || value.is_object()) return std::string(value.kind());
  return fmt::format("{} ({})", value.kind(), to_json(value, -1));
}

[[noreturn]] void refuse(std::string_view what, const Value& value, std::string_view wanted) {
  throw Error(fmt::format("{} is {}, must be {}", what, shown(value), wanted));
}

template <class T>
const T& get(const Value& value, std::string_view what, std::string_view wanted) {
  if (const T* found = std::get_if<T>(&value.variant())) return *found;
  refuse(what, value, wanted);
}

double number_or_missing(const Value& value, std::string_view what) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.as_double(what);
}

Eigen::Map<const Matrix> map_of(const Value::Array& array) {
  return {array.data.data(), array.shape[0], array.shape[1]};
}

}  // namespace

Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;
bool Value::operator==(const Value&) const = default;

Value::Value(Array array) : data_(std::move(array)) {
  const auto& a = std::get<Array>(data_);
  if (!fits(a))
    throw Error(fmt::format("an array of shape ({}) has {} numbers", fmt::join(a.shape, " × "), a.data.size()));
}
Value::Value(const Vector& v) : data_(Array{{v.size()}, {v.data(), v.data() + v.size()}}) {}
Value::Value(const Matrix& m) : data_(Array{{m.rows(), m.cols()}, {m.data(), m.data() + m.size()}}) {}
Value::Value(const std::vector<double>& v) : data_(Array{{static_cast<Index>(v.size())}, v}) {}
Value::Value(const std::vector<int>& v) : data_(Array{{static_cast<Index>(v.size())}, {v.begin(), v.end()}}) {}
Value::Value(const std::vector<std::string>& strings) : data_(List(strings.begin(), strings.end())) {}

bool Value::as_bool(std::string_view what) const { return get<bool>(*this, what, "true or false"); }

double Value::as_double(std::string_view what) const {
  if (const auto* i = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*i);
  return get<double>(*this, what, "a number");
}

std::int64_t Value::as_integer(std::string_view what) const {
  if (const double* d = std::get_if<double>(&data_))
    if (std::trunc(*d) == *d && -kTwoTo63 <= *d && *d < kTwoTo63) return static_cast<std::int64_t>(*d);
  return get<std::int64_t>(*this, what, "a whole number");
}

const std::string& Value::as_string(std::string_view what) const { return get<std::string>(*this, what, "a text"); }
const Value::List& Value::as_list(std::string_view what) const { return get<List>(*this, what, "a list"); }
const Value::Object& Value::as_object(std::string_view what) const { return get<Object>(*this, what, "an object"); }
const Value::Array& Value::as_array(std::string_view what) const {
  return get<Array>(*this, what, "an array of numbers");
}

Vector Value::as_vector(std::string_view what) const {
  if (const auto* array = std::get_if<Array>(&data_)) {
    if (array->shape.size() != 1) refuse(what, *this, "a vector");
    return Eigen::Map<const Vector>(array->data.data(), array->shape[0]);
  }
  const List& list = get<List>(*this, what, "a vector");
  Vector v(static_cast<Index>(list.size()));
  for (Index i = 0; i < v.size(); ++i)
    v(i) = number_or_missing(list[static_cast<std::size_t>(i)], fmt::format("{}[{}]", what, i));
  return v;
}

Matrix Value::as_matrix(std::string_view what) const {
  if (const auto* array = std::get_if<Array>(&data_)) {
    if (array->shape.size() != 2) refuse(what, *this, "a matrix");
    return map_of(*array);
  }
  const List& list = get<List>(*this, what, "a matrix");
  Matrix m;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Vector row = list[i].as_vector(fmt::format("{}[{}]", what, i));
    if (i == 0) m.resize(static_cast<Index>(list.size()), row.size());
    if (row.size() != m.cols())
      throw Error(fmt::format("{}: row {} has {} numbers, row 1 has {}", what, i + 1, row.size(), m.cols()));
    m.row(static_cast<Index>(i)) = row.transpose();
  }
  return m;
}

std::vector<std::string> Value::as_strings(std::string_view what) const {
  std::vector<std::string> strings;
  for (const Value& each : get<List>(*this, what, "a list of texts"))
    strings.push_back(each.as_string(fmt::format("{}[{}]", what, strings.size())));
  return strings;
}

const Value* Value::find(std::string_view key) const {
  const auto* object = std::get_if<Object>(&data_);
  if (!object) return nullptr;
  const auto found =
      std::find_if(object->begin(), object->end(), [&](const auto& entry) { return entry.first == key; });
  return found == object->end() ? nullptr : &found->second;
}

const Value& Value::at(std::string_view key) const {
  const Object& object = get<Object>(*this, fmt::format("the holder of '{}'", key), "an object");
  if (const Value* found = find(key)) return *found;
  std::vector<std::string> keys;
  for (const auto& entry : object) keys.push_back(entry.first);
  throw Error(fmt::format("'{}' is missing{}", key, did_you_mean(key, keys)));
}

Value& Value::set(std::string_view key, Value value) {
  if (is_null()) data_ = Object{};
  get<Object>(*this, fmt::format("the holder of '{}'", key), "an object");
  if (const Value* found = find(key)) {
    const_cast<Value&>(*found) = std::move(value);  // ours: this object is not const
  } else {
    std::get<Object>(data_).emplace_back(key, std::move(value));
  }
  return *this;
}

std::string_view Value::kind() const {
  constexpr std::string_view names[] = {"null",   "a truth value", "a whole number", "a number",
                                        "a text", "a list",        "an object",      "an array of numbers"};
  return names[data_.index()];
}

}  // namespace lemma
