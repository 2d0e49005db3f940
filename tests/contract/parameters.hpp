// tests/contract/parameters.hpp: for each parameter the values it must refuse.
#pragma once
#include <lemma/model/method.hpp>
#include <limits>
#include <tests/contract/judge.hpp>

namespace lemma::contract {

struct BadValue {
  std::string what;
  Value value;
};

inline void add_outside(std::vector<BadValue>& out, const ParamInfo& info, auto&& wrap) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const bool whole = info.kind == ParamInfo::Kind::whole;
  const double lowest = std::numeric_limits<double>::lowest(), highest = std::numeric_limits<double>::max();
  if (info.range.low > lowest) {
    out.push_back({"below", wrap(info.range.low - 1)});
    if (info.range.low_open) out.push_back({"at the open lower end", wrap(info.range.low)});
    else if (!whole) out.push_back({"just below", wrap(std::nextafter(info.range.low, lowest))});
  }
  if (info.range.high < highest) {
    out.push_back({"above", wrap(info.range.high + 1)});
    if (info.range.high_open) out.push_back({"at the open upper end", wrap(info.range.high)});
    else if (!whole) out.push_back({"just above", wrap(std::nextafter(info.range.high, highest))});
  }
  out.push_back({"NaN", wrap(nan)});
  if (!info.range.contains(infinity)) out.push_back({"infinity", wrap(infinity)});
  out.push_back({"minus infinity", wrap(-infinity)});
}

/// What must be refused, by the kind of the parameter.
inline std::vector<BadValue> bad_values(const ParamInfo& info) {
  using Kind = ParamInfo::Kind;
  std::vector<BadValue> out;
  if (info.kind != Kind::name_or_text) out.push_back({"an object", Value::object()});  // of a kernel: all by default
  const auto number = [](double v) { return Value(v); };
  const auto numbers = [](double v) { return Value(std::vector<double>{v, v}); };
  const auto matrix = [](double v) { return Value(Matrix(Matrix::Constant(2, 2, v))); };
  if (info.kind != Kind::text && info.kind != Kind::names) out.push_back({"a text", "no such thing"});
  if (info.kind != Kind::truth) out.push_back({"a truth value", true});
  if (!info.optional) out.push_back({"null", Value()});
  switch (info.kind) {
    case Kind::number: add_outside(out, info, number); break;
    case Kind::whole:
      add_outside(out, info, number);
      out.push_back({"a fraction", 2.5});
      out.push_back({"beyond all whole numbers", 1e300});
      break;
    case Kind::numbers:
    case Kind::name_or_numbers: add_outside(out, info, numbers); break;
    case Kind::matrix:
    case Kind::name_or_matrix: add_outside(out, info, matrix); break;
    case Kind::truth:
    case Kind::name:
    case Kind::text:
    case Kind::names:
    case Kind::name_or_text: out.push_back({"a number", 3.0}); break;
    case Kind::method:
    case Kind::methods: out.push_back({"a number", 3.0}); break;
    case Kind::part: break;
  }
  return out;
}

/// Parameters with one of them set; a part's parameter applies only when the part is of its kind.
inline Value params_with(const ParamInfo& info, const Value& value) {
  Value out = Value::object();
  if (const auto is = info.only_when.find(" is "); is != std::string::npos)
    set_path(out, info.only_when.substr(0, is) + ".kind", info.only_when.substr(is + 4));
  set_path(out, info.name, value);
  return out;
}

inline std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace lemma::contract
