// lemma/embed/shared/centred.hpp: dissimilarities as inner products: the first step of classical scaling, and a start for others.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/geometry/dissimilarities.hpp>
#include <lemma/math/eigen.hpp>

namespace lemma {

/// −½ J F J of the square matrix f(d_ij), which has zeros on its diagonal, and the means of its rows.
struct Centred {
  Matrix inner;
  Vector means;
};
/// Of squares of (d + constant) / unit for i ≠ j; and of the d / unit themselves.
Centred centred_squares(const Dissimilarities& d, double unit, double constant, const Execution& execution = {});
Centred centred_plain(const Dissimilarities& d, double unit, const Execution& execution = {});

/// The largest dissimilarity; Error when all are 0, or one that cannot be squared.
double largest_dissimilarity(std::string_view method, const Dissimilarities& d);

/// Of the eigenvalues, descending, those that carry something beyond rounding, at most `dimensions`.
Index carrying(const Vector& eigenvalues, Index dimensions);

/// The places of classical scaling, in the unit of d; missing dimensions are left out. What other methods start from.
Matrix classical_places(std::string_view method, const Dissimilarities& d, Index dimensions,
                        const Execution& execution = {});

}  // namespace lemma
