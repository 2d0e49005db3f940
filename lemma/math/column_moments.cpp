// lemma/math/column_moments.cpp
#include <algorithm>
#include <cmath>
#include <lemma/math/column_moments.hpp>
#include <limits>

namespace lemma {

ColumnMoments::ColumnMoments(Index columns)
    : weight_(Vector::Zero(columns)),
      mean_(Vector::Zero(columns)),
      squares_(Vector::Zero(columns)),
      least_(Vector::Constant(columns, std::numeric_limits<double>::infinity())),
      greatest_(Vector::Constant(columns, -std::numeric_limits<double>::infinity())) {}

/// Follows from the range alone, and grows with it: what is merged agrees on it without a word stored.
int ColumnMoments::exponent(Index j) const {
  constexpr int kOrdinary = 400, kMost = 1000;  // squares of 2^±400 have room for their sums, and for digits below
  const double size = std::max(std::abs(least_(j)), std::abs(greatest_(j)));
  if (!(weight_(j) > 0) || size == 0 || !std::isfinite(size)) return 0;
  const int e = std::ilogb(size);
  return std::abs(e) <= kOrdinary ? 0 : std::clamp(e, -kMost, kMost);
}

void ColumnMoments::accumulate(const Block& block) {
  const Index p = mean_.size();
  ColumnMoments own(p);
  const auto each_value = [&](auto&& visit) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      for (Index j = 0; j < p; ++j)
        if (const double x = block.x(i, j); !std::isnan(x)) visit(j, x, w);
    }
  };
  Vector shift = Vector::Zero(p);  // the first value there is: sums stay small beside an offset of 1e9
  each_value([&](Index j, double x, double w) {
    if (own.weight_(j) == 0) shift(j) = x;
    own.weight_(j) += w;
    own.least_(j) = std::min(own.least_(j), x);
    own.greatest_(j) = std::max(own.greatest_(j), x);
  });
  Vector unit(p);  // powers of two: multiplying by them changes no digit
  for (Index j = 0; j < p; ++j) unit(j) = std::ldexp(1.0, -own.exponent(j));
  Vector mean = Vector::Zero(p), rest = mean;
  each_value([&](Index j, double x, double w) { mean(j) += w * (x * unit(j) - shift(j) * unit(j)); });
  for (Index j = 0; j < p; ++j) mean(j) = own.weight_(j) > 0 ? shift(j) * unit(j) + mean(j) / own.weight_(j) : 0.0;
  each_value([&](Index j, double x, double w) {
    const double d = x * unit(j) - mean(j);
    own.squares_(j) += w * d * d;
    rest(j) += w * d;  // not quite 0 in all: what rounding did to the mean (Chan, Golub & LeVeque)
  });
  for (Index j = 0; j < p; ++j) {
    if (!(own.weight_(j) > 0)) continue;
    const double squares = own.squares_(j) - rest(j) * rest(j) / own.weight_(j);
    own.squares_(j) = squares < 0 ? 0 : squares;  // NaN, of an infinite value, stays
    own.mean_(j) = mean(j) / unit(j);
  }
  merge(own);
}

void ColumnMoments::merge(const ColumnMoments& other) {
  for (Index j = 0; j < mean_.size(); ++j) {
    if (other.weight_(j) == 0) continue;
    const int here = exponent(j), there = other.exponent(j);
    least_(j) = std::min(least_(j), other.least_(j));
    greatest_(j) = std::max(greatest_(j), other.greatest_(j));
    if (weight_(j) == 0) {  // an empty side must not change a bit of the other
      weight_(j) = other.weight_(j);
      mean_(j) = other.mean_(j);
      squares_(j) = other.squares_(j);
      continue;
    }
    const int e = exponent(j);
    const double n = weight_(j) + other.weight_(j);
    const double mean = std::ldexp(mean_(j), -e), d = std::ldexp(other.mean_(j), -e) - mean;
    squares_(j) = std::ldexp(squares_(j), 2 * (here - e)) +
                  (std::ldexp(other.squares_(j), 2 * (there - e)) + d * d * (weight_(j) * other.weight_(j) / n));
    mean_(j) = std::ldexp(mean + d * (other.weight_(j) / n), e);
    weight_(j) = n;
  }
}

Vector ColumnMoments::squares() const {
  Vector out(mean_.size());
  for (Index j = 0; j < out.size(); ++j) out(j) = std::ldexp(squares_(j), 2 * exponent(j));
  return out;
}

Vector ColumnMoments::deviation() const {
  Vector out(mean_.size());
  for (Index j = 0; j < out.size(); ++j)
    out(j) = weight_(j) > 1 ? std::ldexp(std::sqrt(squares_(j) / (weight_(j) - 1)), exponent(j)) : 0.0;
  return out;
}

}  // namespace lemma
