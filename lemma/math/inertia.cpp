// lemma/math/inertia.cpp
#include <cmath>
#include <lemma/math/inertia.hpp>
#include <lemma/math/sparse_ldlt.hpp>

namespace lemma {

std::optional<Index> eigenvalues_below(const Csr& symmetric, double sigma) {
  const Index n = symmetric.rows();
  std::vector<Eigen::Triplet<double>> lower;
  double size = 0;
  for (Index i = 0; i < n; ++i) {
    lower.emplace_back(static_cast<int>(i), static_cast<int>(i), -sigma);
    for (Index k = symmetric.start[at(i)]; k < symmetric.start[at(i) + 1]; ++k) {
      const Index j = symmetric.column[at(k)];
      size = std::max(size, std::abs(symmetric.value[at(k)]));
      if (j <= i) lower.emplace_back(static_cast<int>(i), static_cast<int>(j), symmetric.value[at(k)]);
    }
  }
  Eigen::SparseMatrix<double> a(n, n);
  a.setFromTriplets(lower.begin(), lower.end());
  const SparseLdlt factor(a);
  if (!factor.exists()) return {};
  const Vector pivots = factor.pivots();
  Index out = 0;
  for (const double pivot : pivots) {
    if (!std::isfinite(pivot) || std::abs(pivot) < 1e-14 * (size + std::abs(sigma))) return {};
    out += pivot < 0;
  }
  return out;
}

}  // namespace lemma
