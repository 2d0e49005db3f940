// lemma/core/value.hpp: a document: what parameters, results and model files are made of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <lemma/core/matrix.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lemma {

/// Null, a truth value, a number, a text, a flat array of numbers with its shape, a list, or an object whose keys keep
/// their order. Arrays of numbers stay flat, so that a large model costs no more than its numbers.
class Value {
 public:
  struct Array {
    std::vector<Index>
        shape;  // one entry for a vector, two for a matrix (row-major); their product is the size of data
    std::vector<double> data;
    bool operator==(const Array&) const = default;
  };
  using List = std::vector<Value>;
  using Object = std::vector<std::pair<std::string, Value>>;

  Value() = default;
  Value(const Value&);  // these stand in value.cpp: every file that passes a value on would make its own copy of them
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(std::nullptr_t) {}
  Value(bool b) : data_(b) {}
  Value(double d) : data_(d) {}
  Value(int i) : data_(static_cast<std::int64_t>(i)) {}
  Value(std::int64_t i) : data_(i) {}
  Value(long long i) : data_(static_cast<std::int64_t>(i)) {}
  Value(std::size_t i) : data_(static_cast<std::int64_t>(i)) {}
  Value(const char* s) : data_(std::string(s)) {}
  Value(std::string_view s) : data_(std::string(s)) {}
  Value(std::string s) : data_(std::move(s)) {}
  Value(List list) : data_(std::move(list)) {}
  Value(Object object) : data_(std::move(object)) {}
  Value(Array array);
  Value(const Vector& v);
  Value(const Matrix& m);
  Value(const std::vector<double>& numbers);
  Value(const std::vector<int>& numbers);
  Value(const std::vector<std::string>& strings);
  static Value object() { return Value(Object{}); }

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(data_); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_list() const { return std::holds_alternative<List>(data_); }
  bool is_object() const { return std::holds_alternative<Object>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }

  // Each throws Error when the value is something else. `what` names the value in the message.
  bool as_bool(std::string_view what = "value") const;
  double as_double(std::string_view what = "value") const;
  std::int64_t as_integer(std::string_view what = "value") const;  // also from a whole double
  const std::string& as_string(std::string_view what = "value") const;
  const List& as_list(std::string_view what = "value") const;
  const Object& as_object(std::string_view what = "value") const;
  const Array& as_array(std::string_view what = "value") const;
  Vector as_vector(std::string_view what = "value") const;  // from an array or a list of numbers (null is NaN)
  Matrix as_matrix(std::string_view what = "value") const;
  std::vector<std::string> as_strings(std::string_view what = "value") const;

  const Value* find(std::string_view key) const;  // nullptr when absent
  const Value& at(std::string_view key) const;    // Error naming the key when absent
  Value& set(std::string_view key, Value value);  // adds or replaces; turns null into an object

  std::string_view kind() const;  // "null", "a number", "a text", …: for messages
  bool operator==(const Value&) const;

  const auto& variant() const { return data_; }

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object, Array> data_;
};

/// How deep lists and objects may lie in one another in a document that is written or read.
constexpr int kDeepestNesting = 64;

/// JSON text. NaN and infinity become null; numbers read back to the same double; what is not UTF-8 becomes U+FFFD.
/// indent < 0: one line. Else short lists and arrays take one line, long ones are wrapped, a matrix has a line for each
/// row.
std::string to_json(const Value& value, int indent = 2);
/// Lists made only of numbers become arrays, and lists of arrays of one shape an array with one more dimension. A
/// number without point and exponent that fits is an integer. An error names line and column; a key given twice is one.
Value from_json(std::string_view text);

/// CBOR (RFC 8949); arrays of numbers are little-endian typed arrays (RFC 8746) of the narrowest type that keeps every
/// bit: counts, codes and float32 numbers take what they need. Text must be UTF-8.
std::vector<std::uint8_t> to_cbor(const Value& value);
/// Never trusts a count before the bytes are there; nesting is limited. Error on anything malformed, naming the byte.
Value from_cbor(const std::uint8_t* data, std::size_t size);

}  // namespace lemma
