// lemma/math/left_out.hpp: is an eigenvalue left out that is larger than those that were found?
#pragma once
#include <lemma/core/parallel.hpp>

namespace lemma {

/// Proves that R = A − V diag(λ) Vᵀ has no eigenvalue above the bound, for a symmetric A of which both triangles are stored: so that, with
/// eigenpairs (λ, V), A has none above it outside of V. False when there is one, or when rounding hides it.
///
/// First by norms, in O(n² b) time: with an orthonormal Q of b columns, H = QᵀRQ and E = RQ − QH,
///
///     ‖(I − QQᵀ) R (I − QQᵀ)‖²_F = ‖R‖²_F − 2 ‖RQ‖²_F + ‖H‖²_F = f²:    no eigenvalue of R is above that of  (h ‖E‖; ‖E‖ f),
///
/// h the largest of H. Q is a random block that R was applied to a few times. Where that does not tell, bound I − R has a Cholesky
/// factor, or not.
bool nothing_above(const MatrixView& a, const Vector& values, const Matrix& vectors, double bound,
                   const Execution& execution = {});

}  // namespace lemma
