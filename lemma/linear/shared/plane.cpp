// lemma/linear/shared/plane.cpp
#include <cmath>
#include <lemma/linear/shared/plane.hpp>
#include <lemma/math/simd.hpp>

namespace lemma {

Vector usable_slopes(const Vector& coefficients) {
  return coefficients.unaryExpr([](double b) { return std::isnan(b) ? 0.0 : b; });
}

Vector heights(const MatrixView& x, const Vector& slopes, double intercept) {
  const std::span<const double> b(slopes.data(), static_cast<std::size_t>(slopes.size()));
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    out(i) = (simd::dot({x.row(i).data(), b.size()}, b) + Twofold{intercept, 0}).rounded();
  return out;
}

}  // namespace lemma
