// lemma/math/blas.hpp: the one door to BLAS and LAPACK.
#pragma once
#include <lemma/core/matrix.hpp>
#include <string>
#include <vector>

namespace lemma {

/// Which OpenBLAS does the work. It is loaded on first use, because its kernels are chosen at that moment, and the
/// packaged one takes SSE2 kernels on a CPU it does not know: four times slower, without a word.
struct BlasInfo {
  std::string library;    // path of the file that was loaded
  std::string core;       // kernels in use, OpenBLAS's own word: "SkylakeX", "Haswell", "Prescott", …
  std::string wanted;     // the least this CPU's features deserve
  std::string config;     // OpenBLAS's description of its build
  bool degraded = false;  // slower kernels than wanted are in use, and `warning` says why
  std::string warning;
};

/// Loads the library at the first call, from any thread. MachineError when there is none.
const BlasInfo& blas_info();

/// Thin names over the Fortran routines, for our row-major matrices. A call runs on the calling thread alone, unless it
/// would take long: then it goes in panels and tiles, cut by the shapes alone, which the threads of the work this thread
/// is at share, and it ends with Cancelled when that work is cancelled (lemma/core/hearing.hpp).
namespace blas {

using MatrixRef = Eigen::Ref<Matrix>;
using Columns = Eigen::MatrixXd;  // column-major, the order LAPACK works in
enum class Op : char { plain = 'N', transposed = 'T' };

/// C = alpha op(A) op(B) + beta C.
void gemm(Op of_a, const MatrixView& a, Op of_b, const MatrixView& b, MatrixRef c, double alpha = 1, double beta = 0);
/// The upper triangle of C becomes AᵀA + beta C; what lies below is not touched.
void gram(const MatrixView& a, MatrixRef c, double beta = 0);
/// The upper triangle of C becomes AAᵀ + beta C.
void outer_gram(const MatrixView& a, MatrixRef c, double beta = 0);
/// B becomes B R⁻¹, with R upper triangular.
void divide_by_upper(const MatrixView& r, MatrixRef b);
/// B becomes op(R)⁻¹ B, with R upper triangular.
void solve_upper(Op of_r, const MatrixView& r, MatrixRef b);
void solve_upper(Op of_r, const MatrixView& r, Vector& b);
/// B becomes R B, with R upper triangular.
void multiply_upper(const MatrixView& r, MatrixRef b);

/// The upper triangle of A becomes R with RᵀR = A; only the upper triangle is read. False when A is not positive
/// definite to working precision.
bool cholesky(MatrixRef a);
/// 1 / (‖R‖₁ ‖R⁻¹‖₁), estimated; 0 for a singular R.
double reciprocal_condition(const MatrixView& r);

/// Householder QR of A in place: R above, reflectors below the diagonal. Returns the reflectors' factors.
Vector householder(Columns& a);
/// The same with columns exchanged so that the diagonal of R falls in size; order[k] is the column that came k-th.
Vector pivoted_householder(Columns& a, std::vector<int>& order);
/// B becomes Qᵀ B or Q B, for the Q that `householder` left in A.
void apply_q(Op of_q, const Columns& a, const Vector& factors, Columns& b);
/// The first columns of the Q that `householder` left in A, in its place.
void form_q(Columns& a, const Vector& factors);
/// QR of the stack of the upper triangle `top`, `dense` rows and the upper triangle `bottom`, in n² work per row of
/// what is not zero: `top` becomes the triangle of all. The others are overwritten. `top` and `below` are
/// column-major; below holds the dense rows above the square of `bottom`.
void stack_triangles(Columns& top, Columns& below, Index dense);

/// All eigenvalues of the symmetric A, ascending, and in A their vectors as columns. Reads A's upper triangle.
Vector symmetric_eigen(Columns& a);
/// The `count` largest eigenvalues, ascending, with their vectors.
Vector largest_eigen(Columns& a, Index count, Columns& vectors);
/// Thin SVD A = U diag(s) Vᵀ, singular values descending. A is overwritten.
void thin_svd(Columns& a, Columns& u, Vector& s, Columns& v_transposed);
/// Singular values alone, descending.
Vector singular_values(Columns a);

}  // namespace blas
}  // namespace lemma
