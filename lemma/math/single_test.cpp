// lemma/math/single_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/cpu.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/single.hpp>

namespace lemma {
namespace {

/// One step of a chain, as the level in force takes it.
float step(float a, float b, float c) { return simd_level() == SimdLevel::baseline ? a * b + c : std::fma(a, b, c); }

/// The definition, element by element.
SingleMatrix chains(const SingleMatrix& x, const SingleMatrix& b) {
  SingleMatrix out = SingleMatrix::Zero(x.rows(), b.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j)
      for (Index k = 0; k < x.cols(); ++k) out(i, j) = step(x(i, k), b(k, j), out(i, j));
  return out;
}

TEST(Single, EveryElementOfAProductIsOneChainInTheOrderOfTheColumns) {
  for (const Index depth : {1, 2, 7, 255, 256, 257, 600})
    for (const Index columns : {1, 2, 3, 5, 8, 13, 24, 25, 60, 97}) {
      const SingleMatrix x = normal_matrix(11, depth, 1).cast<float>();
      const Matrix b = normal_matrix(depth, columns, 2), turned = b.transpose();
      const SingleMatrix expected = chains(x, b.cast<float>());
      SingleMatrix plain(11, columns), transposed(11, columns);
      SingleFactor(b).multiply(x, plain);
      SingleFactor(turned, RightFactor::As::transposed).multiply(x, transposed);
      EXPECT_EQ(plain, expected) << depth << " x " << columns;
      EXPECT_EQ(transposed, expected) << depth << " x " << columns;
    }
}

TEST(Single, ARowHasTheSameBitsInAnyCompanyAndAtAnyPlace) {
  const SingleMatrix x = normal_matrix(230, 19, 3).cast<float>();
  const SingleFactor factor(normal_matrix(19, 21, 4));
  SingleMatrix all(230, 21);
  factor.multiply(x, all);
  for (const Index size : {1, 2, 3, 5, 7, 96, 200}) {
    SingleMatrix wide = SingleMatrix::Constant(size, 23, 7), into = SingleMatrix::Constant(size, 26, 9);
    for (Index first = 0; first + size <= x.rows(); first += size) {
      auto out = into.middleCols(2, 21);
      wide.middleCols(1, 19) = x.middleRows(first, size);
      factor.multiply(wide.middleCols(1, 19), out);
      ASSERT_EQ(SingleMatrix(out), SingleMatrix(all.middleRows(first, size))) << size << " rows from " << first;
    }
    EXPECT_TRUE((into.leftCols(2).array() == 9).all() && (into.rightCols(3).array() == 9).all());
  }
}

TEST(Single, GeneralProductsAreThoseOfTheDefinition) {
  const SingleMatrix a = normal_matrix(9, 14, 5).cast<float>(), b = normal_matrix(14, 6, 6).cast<float>();
  const SingleMatrix at = a.transpose(), bt = b.transpose();
  const Matrix expected = a.cast<double>() * b.cast<double>();
  using blas::Op;
  const auto off = [&](const SingleMatrix& c) { return (c.cast<double>() - expected).cwiseAbs().maxCoeff(); };
  SingleMatrix c(9, 6);
  blas::gemm(Op::plain, a, Op::plain, b, c);
  EXPECT_LE(off(c), 1e-5);
  blas::gemm(Op::transposed, at, Op::plain, b, c);
  EXPECT_LE(off(c), 1e-5);
  blas::gemm(Op::plain, a, Op::transposed, bt, c);
  EXPECT_LE(off(c), 1e-5);
  blas::gemm(Op::plain, a, Op::plain, b, c, 1);
  EXPECT_LE((c.cast<double>() - 2 * expected).cwiseAbs().maxCoeff(), 2e-5);
}

}  // namespace
}  // namespace lemma
