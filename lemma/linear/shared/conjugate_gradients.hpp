// lemma/linear/shared/conjugate_gradients.hpp: a linear system whose matrix is only ever multiplied. Inner header: the solvers of
// logistic use it.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// A d ≈ r by conjugate gradients, A positive semidefinite with `diagonal` as preconditioner D, until rᵀD⁻¹r is `share` of
/// what it was, after at most `most` products: times(q, aq) puts A q into aq.
template <class Times>
Vector conjugate_gradients(const Vector& diagonal, Vector r, double share, int most, const Times& times) {
  Vector d = Vector::Zero(r.size()), z = r.cwiseQuotient(diagonal), q = z, aq;
  double rz = r.dot(z);
  const double until = share * rz;
  for (int i = 0; i < most && rz > until && rz > 0; ++i) {
    times(q, aq);
    const double bend = q.dot(aq);
    if (!(bend > 0)) break;
    const double step = rz / bend;
    d += step * q;
    r -= step * aq;
    z = r.cwiseQuotient(diagonal);
    const double next = r.dot(z);
    q = z + (next / rz) * q;
    rz = next;
  }
  return d;
}

}  // namespace lemma
