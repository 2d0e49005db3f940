// lemma/math/single.cpp
#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/math/openblas.hpp>
#include <lemma/math/openblas_buffers.hpp>
#include <lemma/math/single.hpp>
#include <limits>

namespace lemma::blas {
namespace {

struct Routines {
  explicit Routines(const OpenBlas& blas) : sgemm(reinterpret_cast<decltype(sgemm)>(blas.routine("sgemm_"))) {}
  void (*sgemm)(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
                const float*, const int*, const float*, float*, const int*, std::size_t, std::size_t);
};

int count(Index n) {
  require(n <= std::numeric_limits<int>::max(), "a matrix side is more than the linear algebra library can count");
  return static_cast<int>(n);
}
int stride(const auto& m) { return count(std::max<Index>(1, m.outerStride())); }

}  // namespace

void gemm(Op of_a, const SingleView& a, Op of_b, const SingleView& b, Eigen::Ref<SingleMatrix> c, float beta) {
  static const Routines routines(open_blas());
  const int m = count(c.cols()), n = count(c.rows()), k = count(of_a == Op::plain ? a.cols() : a.rows());
  const int lda = stride(a), ldb = stride(b), ldc = stride(c);
  if (m == 0 || n == 0) return;
  const float one = 1;
  const auto letter = [](Op op) { return op == Op::plain ? "N" : "T"; };  // Fortran sees Cᵀ = op(B)ᵀ op(A)ᵀ
  BlasCall(routines)->sgemm(letter(of_b), letter(of_a), &m, &n, &k, &one, b.data(), &ldb, a.data(), &lda, &beta,
                            c.data(), &ldc, 1, 1);
}

}  // namespace lemma::blas
