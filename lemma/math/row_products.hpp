// lemma/math/row_products.hpp: products in which the numbers of a row depend on that row and the matrix alone.
//
// A general product cuts its work by the number of rows, and where a sum is cut decides its last bit: the same row would
// get other bits in other company. Here every element is one chain
//
//     c_ij = (((0 + x_i1 b_1j) + x_i2 b_2j) + …),      each step one rounding where the CPU has fused multiply-adds
//
// in the order of k, however wide a vector is and however many rows there are. What models say of rows is made of these;
// with AVX2 and with AVX-512 they have the same bits.
#pragma once
#include <lemma/core/parallel.hpp>
#include <vector>

namespace lemma {

/// X B for many X: B is laid out once.
class RightFactor {
 public:
  enum class As : char { plain, transposed };
  explicit RightFactor(const MatrixView& b, As as = As::plain);
  /// out = X B, or out += X B (each chain then starts from what is there).
  void multiply(const MatrixView& x, Eigen::Ref<Matrix> out) const { run(x, out, false); }
  void add_to(const MatrixView& x, Eigen::Ref<Matrix> out) const { run(x, out, true); }

 private:
  void run(const MatrixView& x, Eigen::Ref<Matrix> out, bool onto) const;
  Index depth_, columns_;
  std::vector<double> tiles_;  // a few vectors of columns at a time, row after row of B
};

/// X R⁻¹ for many X, with R upper triangular: x_j = (b_j − x_1 r_1j − x_2 r_2j − …) / r_jj, in that order.
class RightTriangle {
 public:
  explicit RightTriangle(const MatrixView& r);
  /// X becomes X R⁻¹.
  void divide(Eigen::Ref<Matrix> x) const;

 private:
  Index side_;
  std::vector<double> tiles_, inverse_diagonal_;
};

// Rows go to several threads.
Matrix row_products(const MatrixView& x, const MatrixView& b, const Execution& execution = {});             // X B
Matrix row_products_transposed(const MatrixView& x, const MatrixView& b, const Execution& execution = {});  // X Bᵀ

}  // namespace lemma
