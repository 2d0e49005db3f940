// lemma/math/blas.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/math/blas_large.hpp>
#include <lemma/math/openblas.hpp>
#include <lemma/math/openblas_buffers.hpp>
#include <lemma/math/tiled_cholesky.hpp>
#include <limits>
#include <type_traits>
#include <vector>

namespace lemma::blas {
namespace {

using Length = std::size_t;  // Fortran passes the length of each text behind all other arguments
using C = const char*;
using I = const int*;
using D = const double*;

/// Fortran routines by name, looked up once.
struct Routines {
  explicit Routines(const OpenBlas& blas) {
    const auto find = [&](auto& pointer, const char* name) {
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(blas.routine(name));
    };
    find(dgemm, "dgemm_");
    find(dsyrk, "dsyrk_");
    find(dtrsm, "dtrsm_");
    find(dtrmm, "dtrmm_");
    find(dtrsv, "dtrsv_");
    find(dpotrf, "dpotrf_");
    find(dtrcon, "dtrcon_");
    find(dgeqrf, "dgeqrf_");
    find(dgeqp3, "dgeqp3_");
    find(dormqr, "dormqr_");
    find(dorgqr, "dorgqr_");
    find(dtpqrt, "dtpqrt_");
    find(dsyevd, "dsyevd_");
    find(dsyevr, "dsyevr_");
    find(dgesdd, "dgesdd_");
  }
  void (*dgemm)(C, C, I, I, I, D, D, I, D, I, D, double*, I, Length, Length);
  void (*dsyrk)(C, C, I, I, D, D, I, D, double*, I, Length, Length);
  void (*dtrsm)(C, C, C, C, I, I, D, D, I, double*, I, Length, Length, Length, Length);
  void (*dtrmm)(C, C, C, C, I, I, D, D, I, double*, I, Length, Length, Length, Length);
  void (*dtrsv)(C, C, C, I, D, I, double*, I, Length, Length, Length);
  void (*dpotrf)(C, I, double*, I, int*, Length);
  void (*dtrcon)(C, C, C, I, D, I, double*, double*, int*, int*, Length, Length, Length);
  void (*dgeqrf)(I, I, double*, I, double*, double*, I, int*);
  void (*dgeqp3)(I, I, double*, I, int*, double*, double*, I, int*);
  void (*dormqr)(C, C, I, I, I, D, I, D, double*, I, double*, I, int*, Length, Length);
  void (*dorgqr)(I, I, I, double*, I, D, double*, I, int*);
  void (*dtpqrt)(I, I, I, I, double*, I, double*, I, double*, I, double*, int*);
  void (*dsyevd)(C, C, I, double*, I, double*, double*, I, int*, I, int*, Length, Length);
  void (*dsyevr)(C, C, C, I, double*, I, D, D, I, I, D, int*, double*, double*, I, int*, double*, I, int*, I, int*,
                 Length, Length, Length);
  void (*dgesdd)(C, I, I, double*, I, double*, double*, I, double*, I, double*, I, int*, int*, Length);
};

BlasCall<Routines> fortran() {
  static const Routines routines(open_blas());
  return BlasCall(routines);
}

constexpr Index kWholeCholesky = 1024;  // larger ones are factorised in tiles
static_assert(kWholeCholesky > kCholeskyTile);

/// OpenBLAS counts in 32 bits here.
int count(Index n) {
  if (n > std::numeric_limits<int>::max())
    throw Error("a matrix side of " + std::to_string(n) + " is more than the linear algebra library can count");
  return static_cast<int>(n);
}
template <class M>
int stride(const M& m) {
  return count(std::max<Index>(1, m.outerStride()));
}

/// A transposed for a row-major A is what Fortran sees, hence every letter below is the mirrored one.
C mirrored(Op op) { return op == Op::plain ? "N" : "T"; }
C mirrored_back(Op op) { return op == Op::plain ? "T" : "N"; }

void check(int info, const char* routine) {
  if (info < 0) throw std::logic_error(std::string(routine) + ": argument " + std::to_string(-info) + " is wrong");
  if (info > 0) throw MachineError(std::string(routine) + " did not converge");
}

/// A routine with a work array is called twice: first it says how much it needs.
template <class Call>
void with_work(const char* routine, Call&& call) {
  double need = 0;
  int info = 0, size = -1;
  call(&need, &size, &info);
  check(info, routine);
  size = static_cast<int>(need);
  std::vector<double> work(static_cast<std::size_t>(std::max(1, size)));
  call(work.data(), &size, &info);
  check(info, routine);
}

void symmetric_update(C trans, const MatrixView& a, Index side, Index depth, MatrixRef c, double beta) {
  const int n = count(side), k = count(depth), lda = stride(a), ldc = stride(c);
  const double one = 1;
  if (n > 0) fortran()->dsyrk("L", trans, &n, &k, &one, a.data(), &lda, &beta, c.data(), &ldc, 1, 1);
}

}  // namespace

void gemm(Op of_a, const MatrixView& a, Op of_b, const MatrixView& b, MatrixRef c, double alpha, double beta) {
  const int m = count(c.cols()), n = count(c.rows()), k = count(of_a == Op::plain ? a.cols() : a.rows());
  const int lda = stride(a), ldb = stride(b), ldc = stride(c);
  if (m == 0 || n == 0) return;
  if (large::is_large_product(m, n, k)) return large::gemm(of_a, a, of_b, b, c, alpha, beta);
  fortran()->dgemm(mirrored(of_b), mirrored(of_a), &m, &n, &k, &alpha, b.data(), &ldb, a.data(), &lda, &beta, c.data(),
                   &ldc, 1, 1);
}

void gram(const MatrixView& a, MatrixRef c, double beta) {
  if (large::is_large_product(a.cols(), a.cols(), a.rows())) return large::symmetric_update(false, a, c, beta);
  symmetric_update("N", a, a.cols(), a.rows(), c, beta);
}
void outer_gram(const MatrixView& a, MatrixRef c, double beta) {
  if (large::is_large_product(a.rows(), a.rows(), a.cols())) return large::symmetric_update(true, a, c, beta);
  symmetric_update("T", a, a.rows(), a.cols(), c, beta);
}

void divide_by_upper(const MatrixView& r, MatrixRef b) {  // (B R⁻¹)ᵀ = R⁻ᵀ Bᵀ, and Fortran sees Rᵀ as a lower triangle
  const int m = count(b.cols()), n = count(b.rows()), ldr = stride(r), ldb = stride(b);
  const double one = 1;
  if (n > 256 && large::is_large_product(m, m, n)) return large::divide_by_upper(r, b);
  if (m > 0 && n > 0) fortran()->dtrsm("L", "L", "N", "N", &m, &n, &one, r.data(), &ldr, b.data(), &ldb, 1, 1, 1, 1);
}

void solve_upper(Op of_r, const MatrixView& r, MatrixRef b) {
  const int m = count(b.cols()), n = count(b.rows()), ldr = stride(r), ldb = stride(b);
  const double one = 1;
  if (m > 256 && large::is_large_product(n, n, m)) return large::solve_upper(of_r, r, b);
  if (m > 0 && n > 0)
    fortran()->dtrsm("R", "L", mirrored(of_r), "N", &m, &n, &one, r.data(), &ldr, b.data(), &ldb, 1, 1, 1, 1);
}

void solve_upper(Op of_r, const MatrixView& r, Vector& b) {
  const int n = count(b.size()), ldr = stride(r), step = 1;
  if (n > 0) fortran()->dtrsv("L", mirrored_back(of_r), "N", &n, r.data(), &ldr, b.data(), &step, 1, 1, 1);
}

void multiply_upper(const MatrixView& r, MatrixRef b) {
  const int m = count(b.cols()), n = count(b.rows()), ldr = stride(r), ldb = stride(b);
  const double one = 1;
  if (m > 0 && n > 0) fortran()->dtrmm("R", "L", "N", "N", &m, &n, &one, r.data(), &ldr, b.data(), &ldb, 1, 1, 1, 1);
}

bool cholesky(MatrixRef a) {
  if (a.rows() > kWholeCholesky) return tiled_cholesky(a, heard());
  const int n = count(a.rows()), lda = stride(a);
  int info = 0;
  if (n > 0) fortran()->dpotrf("L", &n, a.data(), &lda, &info, 1);
  if (info < 0) check(info, "dpotrf");
  return info == 0 && (n == 0 || std::isfinite(a(n - 1, n - 1)));
}

double reciprocal_condition(const MatrixView& r) {
  const int n = count(r.rows()), ldr = stride(r);
  if (n == 0) return 1;
  double result = 0;
  int info = 0;
  std::vector<double> work(static_cast<std::size_t>(3 * n));
  std::vector<int> counts(static_cast<std::size_t>(n));
  // The 1-norm of R is the ∞-norm of the transpose that Fortran sees.
  fortran()->dtrcon("I", "L", "N", &n, r.data(), &ldr, &result, work.data(), counts.data(), &info, 1, 1, 1);
  check(info, "dtrcon");
  return result;
}

Vector householder(Columns& a) {
  if (large::is_large(a.rows(), a.cols())) return large::householder(a);
  const int m = count(a.rows()), n = count(a.cols()), lda = stride(a);
  Vector factors(std::min(a.rows(), a.cols()));
  if (m == 0 || n == 0) return factors;
  with_work("dgeqrf", [&](double* work, const int* size, int* info) {
    fortran()->dgeqrf(&m, &n, a.data(), &lda, factors.data(), work, size, info);
  });
  return factors;
}

Vector pivoted_householder(Columns& a, std::vector<int>& order) {
  if (large::is_large(a.rows(), a.cols())) return large::pivoted_householder(a, order);
  const int m = count(a.rows()), n = count(a.cols()), lda = stride(a);
  Vector factors(std::min(a.rows(), a.cols()));
  order.assign(static_cast<std::size_t>(n), 0);
  if (m == 0 || n == 0) return factors;
  with_work("dgeqp3", [&](double* work, const int* size, int* info) {
    fortran()->dgeqp3(&m, &n, a.data(), &lda, order.data(), factors.data(), work, size, info);
  });
  for (int& column : order) --column;  // Fortran counts from 1
  return factors;
}

void apply_q(Op of_q, const Columns& a, const Vector& factors, Columns& b) {
  const int m = count(b.rows()), n = count(b.cols()), k = count(factors.size()), lda = stride(a), ldb = stride(b);
  if (m == 0 || n == 0) return;
  if (large::is_large_product(m, n, k)) return large::apply_q(of_q, a, factors, b);
  with_work("dormqr", [&](double* work, const int* size, int* info) {
    fortran()->dormqr("L", of_q == Op::plain ? "N" : "T", &m, &n, &k, a.data(), &lda, factors.data(), b.data(), &ldb,
                      work, size, info, 1, 1);
  });
}

void form_q(Columns& a, const Vector& factors) {
  const int m = count(a.rows()), n = count(a.cols()), k = count(factors.size()), lda = stride(a);
  if (m == 0 || n == 0) return;
  if (large::is_large_product(m, n, k)) return large::form_q(a, factors);
  with_work("dorgqr", [&](double* work, const int* size, int* info) {
    fortran()->dorgqr(&m, &n, &k, a.data(), &lda, factors.data(), work, size, info);
  });
}

void stack_triangles(Columns& top, Columns& below, Index dense) {
  const int m = count(below.rows()), n = count(top.cols()), l = count(below.rows() - dense);
  const int block = std::min(n, 24), lda = stride(top), ldb = stride(below);
  if (m == 0 || n == 0) return;
  if (large::is_large(m, n)) return large::stack_triangles(top, below, dense);
  int info = 0;
  thread_local std::vector<double> work;
  work.resize(static_cast<std::size_t>(2 * block) * static_cast<std::size_t>(n));
  double* const factors = work.data() + static_cast<std::ptrdiff_t>(block) * n;
  fortran()->dtpqrt(&m, &n, &l, &block, top.data(), &lda, below.data(), &ldb, factors, &block, work.data(), &info);
  check(info, "dtpqrt");
}

Vector symmetric_eigen(Columns& a) {
  const int n = count(a.rows()), lda = stride(a);
  Vector values(a.rows());
  if (n == 0) return values;
  if (large::is_large(n, n)) return large::symmetric_eigen(a);
  int counts_needed = 0, counts_size = -1;
  std::vector<int> counts(1);
  with_work("dsyevd", [&](double* work, const int* size, int* info) {
    const bool asks = *size == -1;
    if (!asks) {
      counts_size = counts_needed;
      counts.resize(static_cast<std::size_t>(std::max(1, counts_size)));
    }
    fortran()->dsyevd("V", "U", &n, a.data(), &lda, values.data(), work, size, counts.data(), &counts_size, info, 1, 1);
    if (asks) counts_needed = counts[0];
  });
  return values;
}

Vector largest_eigen(Columns& a, Index how_many, Columns& vectors) {
  const int n = count(a.rows()), lda = stride(a), from = count(a.rows() - how_many + 1), to = n;
  Vector values(a.rows());
  vectors.resize(a.rows(), how_many);
  if (n == 0 || how_many == 0) return values.head(0);
  if (large::is_large(n, n)) return large::largest_eigen(a, how_many, vectors);
  const int ldz = stride(vectors);
  const double none = 0, tolerance = 0;
  int found = 0, counts_needed = 0, counts_size = -1;
  std::vector<int> counts(1), support(static_cast<std::size_t>(2 * n));
  with_work("dsyevr", [&](double* work, const int* size, int* info) {
    const bool asks = *size == -1;
    if (!asks) {
      counts_size = counts_needed;
      counts.resize(static_cast<std::size_t>(std::max(1, counts_size)));
    }
    fortran()->dsyevr("V", "I", "U", &n, a.data(), &lda, &none, &none, &from, &to, &tolerance, &found, values.data(),
                      vectors.data(), &ldz, support.data(), work, size, counts.data(), &counts_size, info, 1, 1, 1);
    if (asks) counts_needed = counts[0];
  });
  if (found != how_many)
    throw MachineError("dsyevr found " + std::to_string(found) + " eigenvalues of " + std::to_string(how_many));
  return values.head(how_many);
}

namespace {

void svd(C job, Columns& a, Columns& u, Vector& s, Columns& v_transposed) {
  const int m = count(a.rows()), n = count(a.cols()), lda = stride(a), ldu = stride(u), ldv = stride(v_transposed);
  std::vector<int> counts(static_cast<std::size_t>(8 * s.size()));
  if (s.size() == 0) return;
  with_work("dgesdd", [&](double* work, const int* size, int* info) {
    fortran()->dgesdd(job, &m, &n, a.data(), &lda, s.data(), u.data(), &ldu, v_transposed.data(), &ldv, work, size,
                      counts.data(), info, 1);
  });
}

}  // namespace

void thin_svd(Columns& a, Columns& u, Vector& s, Columns& v_transposed) {
  if (large::is_large(a.rows(), a.cols())) return large::thin_svd(a, u, s, v_transposed);
  const Index k = std::min(a.rows(), a.cols());
  u.resize(a.rows(), k);
  s.resize(k);
  v_transposed.resize(k, a.cols());
  svd("S", a, u, s, v_transposed);
}

Vector singular_values(Columns a) {
  Vector s(std::min(a.rows(), a.cols()));
  Columns u(1, 1), v(1, 1);
  svd("N", a, u, s, v);
  return s;
}

}  // namespace lemma::blas
