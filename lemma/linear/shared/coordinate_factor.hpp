// lemma/linear/shared/coordinate_factor.hpp: the Cholesky factor of a Gram matrix whose columns come and go.
#pragma once
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma {

/// R with RᵀR = G_AA for a set A of rows and columns of G, kept while A changes: columns that leave are rotated out,
/// columns that join are appended, at O(k²) for each instead of the O(k³) of a new factor.
class ActiveFactor {
 public:
  /// Makes the set `active` (any order). False, and empty, when G_AA is not positive definite to working precision.
  bool become(const std::vector<Index>& active, const Matrix& gram);
  /// G_AA⁻¹ b, with b and the answer in the order of `order()`.
  void solve(Vector& b) const;
  const std::vector<Index>& order() const { return order_; }
  void clear() { order_.clear(); }

 private:
  void leave(const std::vector<char>& stays);
  bool join(const std::vector<Index>& newcomers, const Matrix& gram);

  std::vector<Index> order_;
  Matrix r_;  // the first order_.size() rows and columns are in use
};

}  // namespace lemma
