// lemma/math/single.hpp: products of numbers of 4 bytes, for what a method's page says is computed so.
#pragma once
#include <lemma/math/blas.hpp>
#include <lemma/math/row_products.hpp>
#include <vector>

namespace lemma {

using SingleMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using SingleVector = Eigen::VectorXf;
using SingleView = Eigen::Ref<const SingleMatrix>;

/// RightFactor (row_products.hpp) in numbers of 4 bytes: the same chains, each step one rounding to 4 bytes.
class SingleFactor {
 public:
  explicit SingleFactor(const MatrixView& b, RightFactor::As as = RightFactor::As::plain);
  void multiply(const SingleView& x, Eigen::Ref<SingleMatrix> out) const;

 private:
  Index depth_, columns_;
  std::vector<float> tiles_;
};

namespace blas {

/// C = op(A) op(B) + beta C, on the calling thread alone.
void gemm(Op of_a, const SingleView& a, Op of_b, const SingleView& b, Eigen::Ref<SingleMatrix> c, float beta = 0);

}  // namespace blas
}  // namespace lemma
