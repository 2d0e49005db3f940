// lemma/geometry/kernel/distance.hpp: kernels of the distance ‖x − z‖, and what they share with those of the inner product.
// Inner header.
#pragma once
#include <lemma/geometry/kernel/part.hpp>

namespace lemma {

std::unique_ptr<const KernelPart> rbf_part(const Points& points, const Rbf& rbf);
std::unique_ptr<const KernelPart> matern_part(const Points& points, const Matern& matern);
std::unique_ptr<const KernelPart> periodic_part(const Points& points, const Periodic& periodic);

/// out(i, j) = x_i · z_(first + j).
void products(const MatrixView& x, const Points& z, Index first, KernelPart::Out out);
/// ‖x‖² of each.
Vector squared_norms(const Points& points);

}  // namespace lemma
