// lemma/math/column_moments.cpp
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

void ColumnMoments::accumulate(const Block& block) {
  const Index p = mean_.size();
  ColumnMoments own(p);
  Vector shift = Vector::Zero(p);  // the first value there is: sums stay small beside an offset of 1e9
  for (Index i = 0; i < block.rows(); ++i) {
    const double w = block.weight_of(i);
    if (w == 0) continue;
    for (Index j = 0; j < p; ++j) {
      const double x = block.x(i, j);
      if (std::isnan(x)) continue;
      if (own.weight_(j) == 0) shift(j) = x;
      own.weight_(j) += w;
      own.mean_(j) += w * (x - shift(j));
      own.least_(j) = std::min(own.least_(j), x);
      own.greatest_(j) = std::max(own.greatest_(j), x);
    }
  }
  for (Index j = 0; j < p; ++j) own.mean_(j) = own.weight_(j) > 0 ? shift(j) + own.mean_(j) / own.weight_(j) : 0.0;
  Vector rest = Vector::Zero(p);  // Σ w (x − mean) is not quite 0: what rounding did to the mean (Chan, Golub & LeVeque)
  for (Index i = 0; i < block.rows(); ++i) {
    const double w = block.weight_of(i);
    if (w == 0) continue;
    for (Index j = 0; j < p; ++j) {
      const double d = block.x(i, j) - own.mean_(j);
      if (std::isnan(d)) continue;
      own.squares_(j) += w * d * d;
      rest(j) += w * d;
    }
  }
  for (Index j = 0; j < p; ++j)
    if (own.weight_(j) > 0) own.squares_(j) = std::max(0.0, own.squares_(j) - rest(j) * rest(j) / own.weight_(j));
  merge(own);
}

void ColumnMoments::merge(const ColumnMoments& other) {
  for (Index j = 0; j < mean_.size(); ++j) {
    if (other.weight_(j) == 0) continue;
    if (weight_(j) == 0) {  // an empty side must not change a bit of the other
      weight_(j) = other.weight_(j);
      mean_(j) = other.mean_(j);
      squares_(j) = other.squares_(j);
    } else {
      const double n = weight_(j) + other.weight_(j), d = other.mean_(j) - mean_(j);
      squares_(j) += other.squares_(j) + d * d * (weight_(j) * other.weight_(j) / n);
      mean_(j) += d * (other.weight_(j) / n);
      weight_(j) = n;
    }
    least_(j) = std::min(least_(j), other.least_(j));
    greatest_(j) = std::max(greatest_(j), other.greatest_(j));
  }
}

Vector ColumnMoments::deviation() const {
  Vector out(mean_.size());
  for (Index j = 0; j < out.size(); ++j) out(j) = weight_(j) > 1 ? std::sqrt(squares_(j) / (weight_(j) - 1)) : 0.0;
  return out;
}

}  // namespace lemma
