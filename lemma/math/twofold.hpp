// lemma/math/twofold.hpp: numbers in twice the working precision.
#pragma once
#include <cmath>

namespace lemma {

/// value + rest, with rest at most half a unit in the last place of value.
struct Twofold {
  double value = 0, rest = 0;
  double rounded() const { return value + rest; }
};

/// a + b exactly (Knuth).
inline Twofold exact_sum(double a, double b) {
  const double s = a + b, part = s - a;
  return {s, (a - (s - part)) + (b - part)};
}
/// a b exactly.
inline Twofold exact_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

inline Twofold operator+(Twofold a, Twofold b) {
  const Twofold s = exact_sum(a.value, b.value);
  return exact_sum(s.value, s.rest + (a.rest + b.rest));
}
inline Twofold operator-(Twofold a) { return {-a.value, -a.rest}; }
inline Twofold operator-(Twofold a, Twofold b) { return a + -b; }
inline Twofold operator*(Twofold a, double b) {
  const Twofold p = exact_product(a.value, b);
  return exact_sum(p.value, p.rest + a.rest * b);
}

}  // namespace lemma
