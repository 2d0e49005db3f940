// lemma/math/svd.hpp: singular value decompositions.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>
#include <lemma/core/rows.hpp>

namespace lemma {

/// A = U diag(s) Vᵀ, s descending. Columns of V are turned so that their largest entry in size is positive.
struct Svd {
  Matrix u;  // rows × k
  Vector s;
  Matrix v;  // columns × k
};

/// All min(rows, columns) of them.
Svd thin_svd(const MatrixView& a);

/// The `count` leading singular values and right vectors by block Krylov iteration: the span of
/// [Ω, AᵀA Ω, (AᵀA)² Ω, …] for a random Ω of count + oversampling columns holds them to an error that falls
/// exponentially in the passes. Every pass over the rows multiplies by AᵀA once, the basis is kept orthonormal, and
/// since AᵀA times the whole basis is known, the residuals come without another pass.
struct RandomisedSvd {
  Index count = 10;
  Index oversampling = 10;
  int passes = 7;           // at most
  double tolerance = 1e-9;  // stop when every ‖AᵀA v − s² v‖ is below this share of s₁²
  std::uint64_t seed = 0;
};

struct LeadingSvd {
  Vector s;         // descending
  Matrix v;         // columns × count, turned as above
  Vector residual;  // ‖AᵀA v − s² v‖ / s₁² for each
  int passes = 0;
};

/// Of A with the rows √wᵢ (xᵢ − centre), in memory or streamed; an empty `centre` is zero. Same seed, same bits, on any
/// number of threads.
/// Cost  passes · O(n p (count + oversampling)) time, O(p (count + oversampling) passes) memory.
LeadingSvd randomised_svd(const Rows& rows, const VectorView& centre, const RandomisedSvd& how,
                          const Execution& execution = {});

}  // namespace lemma
