// tests/any_value.hpp: random documents for property tests.
#pragma once
#include <bit>
#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/core/value.hpp>
#include <limits>
#include <rapidcheck.h>
#include <set>

namespace lemma {

inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Equality by which NaN equals itself and −0 is not 0.
inline bool same_bits(const Value& a, const Value& b) {
  if (a.variant().index() != b.variant().index()) return false;
  const auto alike = [](const auto& x, const auto& y, auto&& same) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  };
  if (a.is_list())
    return alike(a.as_list(), b.as_list(), [](const Value& x, const Value& y) { return same_bits(x, y); });
  if (a.is_object())
    return alike(a.as_object(), b.as_object(),
                 [](const auto& x, const auto& y) { return x.first == y.first && same_bits(x.second, y.second); });
  if (a.is_array())
    return a.as_array().shape == b.as_array().shape &&
           alike(a.as_array().data, b.as_array().data, [](double x, double y) { return same_bits(x, y); });
  if (a.is_number() && !a.is_integer()) return same_bits(a.as_double(), b.as_double());
  return a == b;
}

/// Any bits, and the special ones more often than chance would have them.
inline rc::Gen<double> any_double() {
  const auto bits =
      rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t b) { return std::bit_cast<double>(b); });
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  return rc::gen::oneOf(bits, rc::gen::arbitrary<double>(),
                        rc::gen::element(0.0, -0.0, 1.0, 0.1, 1e15, 1e16, 1e22, 5e-324, 1.7976931348623157e308, nan,
                                         infinity, -infinity));
}

inline rc::Gen<std::string> any_text() {
  return rc::gen::exec([] {
    std::string text;
    for (int length = *rc::gen::inRange(0, 6); length > 0; --length) {
      const char32_t code = *rc::gen::oneOf(rc::gen::inRange<char32_t>(0, 0x80), rc::gen::inRange<char32_t>(0, 0xD800),
                                            rc::gen::inRange<char32_t>(0xE000, 0x110000));
      append_utf8(text, code);
    }
    return text;
  });
}

inline rc::Gen<Value> any_value(int depth = 0) {
  return rc::gen::exec([depth]() -> Value {
    const int containers = depth < 4 ? 8 : 6;
    const int size = *rc::gen::inRange(0, 5);
    switch (*rc::gen::inRange(0, containers)) {
      case 0: return nullptr;
      case 1: return *rc::gen::arbitrary<bool>();
      case 2: return *rc::gen::arbitrary<std::int64_t>();
      case 3: return *any_double();
      case 4: return *any_text();
      case 5: {
        Value::Array array{*rc::gen::container<std::vector<Index>>(static_cast<std::size_t>(1 + size / 2),
                                                                   rc::gen::inRange<Index>(0, 4)),
                           {}};
        Index count = 1;
        for (const Index length : array.shape) count *= length;
        array.data = *rc::gen::container<std::vector<double>>(static_cast<std::size_t>(count), any_double());
        return array;
      }
      case 6: {
        Value::List list;
        for (int i = 0; i < size; ++i) list.push_back(*any_value(depth + 1));
        return list;
      }
      default: {
        Value object = Value::object();
        for (int i = 0; i < size; ++i) object.set(*any_text(), *any_value(depth + 1));
        return object;
      }
    }
  });
}

}  // namespace lemma
