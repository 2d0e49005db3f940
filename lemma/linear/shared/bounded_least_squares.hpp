// lemma/linear/shared/bounded_least_squares.hpp: the multipliers of a dual programme, found without its solver.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// An x with low ≤ x ≤ high that brings g + A x nearest to 0: by Stark and Parker's active sets, each step the shortest one
/// (unit columns). It starts in the middle of the bounds, so that where there are many answers it finds one in a step or two.
Vector bounded_least_squares(const Matrix& a, const Vector& g, const Vector& low, const Vector& high);

}  // namespace lemma
