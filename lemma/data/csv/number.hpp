// lemma/data/csv/number.hpp: the number at the start of a text, to the nearest double.
#pragma once
#include <cstdint>
#include <fast_float/fast_float.h>

namespace lemma::csv {

inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline unsigned digit_of(char c) { return static_cast<unsigned>(static_cast<unsigned char>(c)) - '0'; }

/// Reads [+-]digits[.digits][e[+-]digits], with at least one digit before the exponent, from a text that ends in a
/// byte that can't belong to a number. Gives the place after it, or nullptr when there is no number. Too large a number
/// is infinite.
///
/// With m < 2⁵³ and |e| ≤ 22 both m and 10^|e| are doubles, so that m·10^e is one correctly rounded operation
/// (Clinger); everything else goes to fast_float.
inline const char* read_number(const char* const start, char decimal, double& value) {
  const char* p = start;
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* const digits = p;
  std::uint64_t m = 0;
  while (digit_of(*p) < 10) m = 10 * m + digit_of(*p++);
  auto count = p - digits;
  std::int64_t exponent = 0;
  if (*p == decimal) {
    const char* const fraction = ++p;
    while (digit_of(*p) < 10) m = 10 * m + digit_of(*p++);
    exponent = fraction - p;
    count -= exponent;
  }
  if (count == 0) return nullptr;
  if ((*p | 0x20) == 'e') {
    const char* q = p + 1;
    const bool down = *q == '-';
    q += down || *q == '+';
    if (digit_of(*q) > 9) return nullptr;
    std::int64_t e = 0;
    while (digit_of(*q) < 10) {
      if (e < 100000) e = 10 * e + digit_of(*q);
      ++q;
    }
    exponent += down ? -e : e;
    p = q;
  }
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  if (count <= 19 && m < kExact && exponent >= -22 && exponent <= 22) [[likely]] {
    const double magnitude = exponent < 0 ? static_cast<double>(m) / kPowersOfTen[-exponent]
                                          : static_cast<double>(m) * kPowersOfTen[exponent];
    value = negative ? -magnitude : magnitude;
    return p;
  }
  double magnitude = 0;
  fast_float::from_chars_advanced(digits, p, magnitude,
                                  fast_float::parse_options(fast_float::chars_format::general, decimal));
  value = negative ? -magnitude : magnitude;
  return p;
}

}  // namespace lemma::csv
