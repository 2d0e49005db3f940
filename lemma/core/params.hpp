// lemma/core/params.hpp: the one description of a parameter, and what follows from it.
//
// A spec is a plain aggregate. Its params() name each field once; flags, help, JSON, range checks, tuning grids and the
// tables on the pages all come from there (see param_info.hpp for the erased form that front ends read).
#pragma once
#include <array>
#include <lemma/core/error.hpp>
#include <lemma/core/listing.hpp>
#include <lemma/core/matrix.hpp>
#include <lemma/core/value.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace lemma {

/// Finite values from low to high; an end may be left out. The test asks "inside?", so NaN is in no range.
struct Range {
  double low = std::numeric_limits<double>::lowest(), high = std::numeric_limits<double>::max();
  bool low_open = false, high_open = false;
  constexpr bool contains(double value) const {
    return low <= value && value <= high && !(low_open && value == low) && !(high_open && value == high);
  }
  /// The same, and infinity too: written and typed as inf.
  constexpr Range or_infinite() const {
    Range out = *this;
    out.high = std::numeric_limits<double>::infinity();
    return out;
  }
  std::string text() const;  // "at least 0", "above 0 and below 1", "above 0, or inf", "finite"
};
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range above(double low) { return {.low = low, .low_open = true}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }
constexpr Range within(double low, double high) {
  return {.low = low, .high = high, .low_open = true, .high_open = true};
}

/// On which scale a search over the parameter steps.
enum class Step { linear, logarithmic };

template <class Spec, class T>
struct Param {
  std::string_view name;
  T Spec::*field;
  std::string_view meaning;
  Range range;
  Step step;
  std::string_view former = {};  // what it was called when older model files were written
};

template <class Spec, class T>
constexpr Param<Spec, T> param(std::string_view name, T Spec::*field, std::string_view meaning, Range range = {},
                               Step step = Step::linear) {
  return {name, field, meaning, range, step};
}

/// A parameter that had another name before: files that have it under that name are read all the same.
template <class Spec, class T>
constexpr Param<Spec, T> formerly(std::string_view name, Param<Spec, T> now) {
  now.former = name;
  return now;
}

template <class Spec>
constexpr void for_each_param(auto&& visit) {
  Spec::params().for_each(visit);
}

struct Anything {
  template <class T>
  operator T&() const&;
  template <class T>
  operator T&() const&&;
};
template <std::size_t>
using AnythingAt = Anything;
template <class T, std::size_t... I>
consteval bool takes_members(std::index_sequence<I...>) {
  return requires { T{AnythingAt<I>{}...}; };
}
/// Whether the aggregate can be made from `count` values, and not from one more.
template <class T, std::size_t count>
consteval bool has_members() {
  return takes_members<T>(std::make_index_sequence<count>()) &&
         !takes_members<T>(std::make_index_sequence<count + 1>());
}

/// Each field of the aggregate is described; a forgotten one does not compile.
template <class Spec>
concept Described = requires {
  Spec::params();
}
&&has_members<Spec, decltype(Spec::params())::size>();

/// An enum with a name for each enumerator: `constexpr auto names_of(Start) { return std::array{…}; }` beside it.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  names_of(e).size();
};

template <NamedEnum E>
std::string_view name_of(E value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}
template <NamedEnum E>
std::vector<std::string> choices_of() {
  std::vector<std::string> out;
  for (const auto name : names_of(E{})) out.emplace_back(name);
  return out;
}

// ---- One codec per kind of field: how it is written, read and checked. `where` is what the user typed ("svm: C"). ----

[[noreturn]] void refuse(std::string_view where, const Value& value, std::string_view allowed);
void check_range(std::string_view where, double value, const Range& range);
int choose(std::string_view where, const std::string& typed, const std::vector<std::string>& choices);
[[noreturn]] void refuse_unknown(std::string_view where, std::string_view name, const std::vector<std::string>& known);

template <class T>
struct Codec;

template <Described Spec>
Value to_value(const Spec& spec);
template <Described Spec>
void assign(Spec& spec, const Value& object, const std::string& where);
template <Described Spec>
void check_params(const Spec& spec, const std::string& where);

template <>
struct Codec<bool> {
  static Value write(bool value) { return value; }
  static void read(bool& field, const Value& value, const std::string& where) {
    if (!value.is_bool()) refuse(where, value, "true or false");
    field = value.as_bool();
  }
  static void check(bool, const Range&, const std::string&) {}
};
template <>
struct Codec<double> {
  static constexpr std::string_view kInfinity = "inf";  // JSON has no number for it
  static Value write(double value) {
    if (value == std::numeric_limits<double>::infinity()) return kInfinity;
    return value;
  }
  static void read(double& field, const Value& value, const std::string& where) {
    const bool infinite = value.is_string() && value.as_string() == kInfinity;
    if (!value.is_number() && !infinite) refuse(where, value, "a number");
    field = infinite ? std::numeric_limits<double>::infinity() : value.as_double();
  }
  static void check(double value, const Range& range, const std::string& where) { check_range(where, value, range); }
};
template <std::signed_integral T>
struct Codec<T> {
  static Value write(T value) { return static_cast<std::int64_t>(value); }
  static void read(T& field, const Value& value, const std::string& where) {
    if (!value.is_number()) refuse(where, value, "a whole number");
    const double number = value.as_double();
    if (!(number >= static_cast<double>(std::numeric_limits<T>::min()) && number < 9.0e15 &&
          number <= static_cast<double>(std::numeric_limits<T>::max()) &&
          number == static_cast<double>(static_cast<T>(number))))
      refuse(where, value, "a whole number");
    field = static_cast<T>(number);
  }
  static void check(T value, const Range& range, const std::string& where) {
    check_range(where, static_cast<double>(value), range);
  }
};
template <>
struct Codec<std::string> {
  static Value write(const std::string& value) { return value; }
  static void read(std::string& field, const Value& value, const std::string& where) {
    if (!value.is_string()) refuse(where, value, "a text");
    field = value.as_string();
  }
  static void check(const std::string&, const Range&, const std::string&) {}
};
template <NamedEnum E>
struct Codec<E> {
  static Value write(E value) { return name_of(value); }
  static void read(E& field, const Value& value, const std::string& where) {
    if (!value.is_string()) refuse(where, value, "a name");
    field = static_cast<E>(choose(where, value.as_string(), choices_of<E>()));
  }
  static void check(E, const Range&, const std::string&) {}
};
template <>
struct Codec<std::vector<double>> {
  static Value write(const std::vector<double>& v) { return Value::Array{{static_cast<Index>(v.size())}, v}; }
  static void read(std::vector<double>& field, const Value& value, const std::string& where) {
    if (value.is_number()) {
      field = {value.as_double()};
      return;
    }
    if (!value.is_array() && !value.is_list()) refuse(where, value, "numbers separated by commas");
    const Vector v = value.as_vector(where);
    field.assign(v.data(), v.data() + v.size());
  }
  static void check(const std::vector<double>& values, const Range& range, const std::string& where) {
    for (const double value : values) check_range(where, value, range);
  }
};
template <>
struct Codec<std::vector<std::string>> {
  static Value write(const std::vector<std::string>& v) { return v; }
  static void read(std::vector<std::string>& field, const Value& value, const std::string& where) {
    if (value.is_string()) field = {value.as_string()};
    else field = value.as_strings(where);
  }
  static void check(const std::vector<std::string>&, const Range&, const std::string&) {}
};
template <>
struct Codec<Matrix> {
  static Value write(const Matrix& m) { return m; }
  static void read(Matrix& field, const Value& value, const std::string& where) {
    if (!value.is_array() && !value.is_list())
      refuse(where, value, "a matrix (on the command line: a file that holds one)");
    field = value.as_matrix(where);
  }
  static void check(const Matrix& m, const Range& range, const std::string& where) {
    for (const double value : m.reshaped()) check_range(where, value, range);
  }
};
/// "Choose for me" is empty; it is written as null.
template <class T>
struct Codec<std::optional<T>> {
  static Value write(const std::optional<T>& value) { return value ? Codec<T>::write(*value) : Value(); }
  static void read(std::optional<T>& field, const Value& value, const std::string& where) {
    if (value.is_null()) {
      field.reset();
      return;
    }
    T inner{};
    Codec<T>::read(inner, value, where);
    field = std::move(inner);
  }
  static void check(const std::optional<T>& value, const Range& range, const std::string& where) {
    if (value) Codec<T>::check(*value, range, where);
  }
};
/// A rule by name, or the thing itself: `start = Start::random`, or a matrix of centres.
template <NamedEnum E, class T>
struct Codec<std::variant<E, T>> {
  static Value write(const std::variant<E, T>& value) {
    return value.index() == 0 ? Codec<E>::write(std::get<0>(value)) : Codec<T>::write(std::get<1>(value));
  }
  static void read(std::variant<E, T>& field, const Value& value, const std::string& where) {
    if (value.is_string()) Codec<E>::read(field.template emplace<0>(), value, where);
    else Codec<T>::read(field.template emplace<1>(), value, where);
  }
  static void check(const std::variant<E, T>& value, const Range& range, const std::string& where) {
    if (value.index() == 1) Codec<T>::check(std::get<1>(value), range, where);
  }
};
/// A part with parameters of its own: `kernel.gamma`.
template <Described Spec>
struct Codec<Spec> {
  static Value write(const Spec& spec) { return to_value(spec); }
  static void read(Spec& field, const Value& value, const std::string& where) {
    if (!value.is_object()) refuse(where, value, "an object");
    assign(field, value, where);
  }
  static void check(const Spec& spec, const Range&, const std::string& where) { check_params(spec, where); }
};
/// Alternatives by name: {"kind": "rbf", "gamma": 0.1}, or just "rbf".
template <Described... Specs>
struct Codec<std::variant<Specs...>> {
  static std::vector<std::string> kinds() { return {std::string(Specs::name)...}; }
  static Value write(const std::variant<Specs...>& value) {
    return std::visit(
        [](const auto& spec) {
          Value out = Value::object();
          out.set("kind", Value(std::remove_cvref_t<decltype(spec)>::name));
          const Value inner = to_value(spec);
          for (const auto& [key, item] : inner.as_object()) out.set(key, item);
          return out;
        },
        value);
  }
  static void read(std::variant<Specs...>& field, const Value& value, const std::string& where) {
    if (!value.is_object() && !value.is_string()) refuse(where, value, "a name");
    const Value* kind = value.is_string() ? &value : value.find("kind");
    if (kind) select(field, choose(where, kind->as_string(where), kinds()));
    if (value.is_string()) return;
    Value rest = Value::object();
    for (const auto& [key, item] : value.as_object())
      if (key != "kind") rest.set(key, item);
    std::visit([&](auto& spec) { assign(spec, rest, where); }, field);
  }
  static void check(const std::variant<Specs...>& value, const Range&, const std::string& where) {
    std::visit([&](const auto& spec) { check_params(spec, where); }, value);
  }

 private:
  static void select(std::variant<Specs...>& field, int kind) {
    int i = 0;  // naming the kind it already is keeps its parameters
    ((i++ == kind && !std::holds_alternative<Specs>(field) ? void(field = Specs{}) : void()), ...);
  }
};

// ---- What follows for a whole spec ----

template <Described Spec>
std::vector<std::string> param_names() {
  std::vector<std::string> names;
  for_each_param<Spec>([&](const auto& p) { names.emplace_back(p.name); });
  return names;
}

template <Described Spec>
Value to_value(const Spec& spec) {
  Value out = Value::object();
  for_each_param<Spec>([&]<class T>(const Param<Spec, T>& p) { out.set(p.name, Codec<T>::write(spec.*p.field)); });
  return out;
}

/// Sets the parameters named in the object. An unknown name or an unusable value is an error, never a warning.
template <Described Spec>
void assign(Spec& spec, const Value& object, const std::string& where) {
  for (const auto& [key, value] : object.as_object(where)) {
    bool known = false;
    for_each_param<Spec>([&, &key = key, &value = value]<class T>(const Param<Spec, T>& p) {
      if (p.name != key && (p.former.empty() || p.former != key)) return;
      known = true;
      Codec<T>::read(spec.*p.field, value, where + (where.ends_with(": ") ? "" : ".") + key);
    });
    if (!known) refuse_unknown(where, key, param_names<Spec>());
  }
}

template <Described Spec>
void check_params(const Spec& spec, const std::string& where) {
  for_each_param<Spec>([&]<class T>(const Param<Spec, T>& p) {
    Codec<T>::check(spec.*p.field, p.range, where + (where.ends_with(": ") ? "" : ".") + std::string(p.name));
  });
  if constexpr (requires { spec.check(); }) spec.check();  // rules between parameters
}

template <Described Spec>
Spec from_value(const Value& object) {
  Spec spec;
  assign(spec, object, std::string(Spec::name) + ": ");
  return spec;
}

/// A spec whose values have been checked. Algorithms ask for this type, so none runs unchecked.
template <Described Spec>
class Valid {
 public:
  Valid(const Spec& spec) : spec_(spec) {
    check_params(spec_, std::string(Spec::name) + ": ");
  }  // implicit: fit(Ols{}, …) just reads
  const Spec* operator->() const { return &spec_; }
  const Spec& operator*() const { return spec_; }

 private:
  Spec spec_;
};

}  // namespace lemma
