// lemma/model/sparse_planes.hpp: x·w + b of rows without their zeros: what models that are planes say of them. Cost: the entries.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/core/sparse.hpp>
#include <lemma/model/concepts.hpp>

namespace lemma {

/// How a model adds the products of a row up: `plain` as simd::rows_times does, to the same bits; `twofold` in twice the working
/// precision, rounded once.
enum class PlaneSum { plain, twofold };

/// A model whose value, or whose classes and their probabilities, follow from affine() alone says so by
/// `static constexpr PlaneSum kPlaneSum`. Its class is greatest_class(planes) and its value the one plane, unless it has
/// `static Vector value_of(const Matrix& planes)`; probabilities it has by `static Matrix probabilities_of(const Matrix& planes)`.
template <class M>
concept SaysByPlanes = requires(const M& m) {
  { m.affine() } -> std::same_as<AffineMap>;
  { M::kPlaneSum } -> std::convertible_to<PlaneSum>;
};

/// A column for each plane.
Matrix sparse_planes(const AffineMap& planes, const Csr& x, PlaneSum sum, const Execution& execution);

/// Whether nothing is asked for but value, class, probabilities and decision.
bool asks_for_planes_alone(const PredictOptions& options, bool has_other_parts);

}  // namespace lemma
