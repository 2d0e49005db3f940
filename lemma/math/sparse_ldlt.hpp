// lemma/math/sparse_ldlt.hpp: L D Lᵀ of a sparse symmetric matrix, which a cancel can stop.
#pragma once
#include <Eigen/SparseCore>
#include <lemma/core/matrix.hpp>
#include <memory>

namespace lemma {

/// Eigen's factorisation, in the order of least degree and to the same bits, that asks between two rows of L whether the work
/// goes on: where L fills up, n rows take n³ / 3 operations. The lower triangle of A is read. Throws Cancelled.
class SparseLdlt {
 public:
  explicit SparseLdlt(const Eigen::SparseMatrix<double>& a);
  bool exists() const;  // no pivot is 0
  Vector pivots() const;
  Vector solve(const Vector& b) const;
  /// The same of each column, to the same bits: each entry of L is read once for kTogether of them.
  static constexpr Index kTogether = 8;
  void solve_columns(const Eigen::Ref<const Eigen::MatrixXd>& b, Eigen::Ref<Eigen::MatrixXd> x) const;

 private:
  struct Factor;
  std::shared_ptr<const Factor> factor_;
};

}  // namespace lemma
