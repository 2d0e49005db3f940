// lemma/math/sparse_ldlt.hpp: L D Lᵀ of a sparse symmetric matrix, which a cancel can stop. Included by files of math/ alone.
#pragma once
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

namespace lemma {

/// Eigen's factorisation, in the order of least degree and to the same bits, that asks between two rows of L whether the work
/// goes on: where L fills up, n rows take n³ / 3 operations. The lower triangle of A is read. Throws Cancelled.
class SparseLdlt : public Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> {
 public:
  explicit SparseLdlt(const Eigen::SparseMatrix<double>& a);

 private:
  void factorise_rows(const Eigen::SparseMatrix<double>& upper);
};

}  // namespace lemma
