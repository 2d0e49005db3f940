// lemma/linear/shared/plane.hpp: b₀ + x·b of many rows. Inner header: the models' predict() uses it.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// A coefficient that the rows do not determine (NaN) takes no part: 0.
Vector usable_slopes(const Vector& coefficients);

/// In twice the working precision: the powers of a polynomial cancel.
Vector heights(const MatrixView& x, const Vector& slopes, double intercept);

}  // namespace lemma
