// lemma/math/blas_large_spectra.cpp: large eigen and singular value decompositions: to two diagonals, their decomposition,
// and back.
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/math/blas_large.hpp>
#include <lemma/math/openblas.hpp>
#include <lemma/math/openblas_buffers.hpp>
#include <type_traits>

namespace lemma::blas::large {
namespace {

using Length = std::size_t;
using C = const char*;
using I = const int*;
using D = const double*;

constexpr Index kPanel = 32;  // columns that are reduced together: each reads the rest of the matrix once
constexpr Index kTile = 512;  // columns that are updated or turned back together
constexpr Index kBack = 64;   // fewer columns than that are not worth a tile of their own

struct Routines {
  explicit Routines(const OpenBlas& blas) {
    const auto find = [&](auto& pointer, const char* name) {
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(blas.routine(name));
    };
    find(dlatrd, "dlatrd_");
    find(dsytrd, "dsytrd_");
    find(dstedc, "dstedc_");
    find(dstemr, "dstemr_");
    find(dormtr, "dormtr_");
    find(dlabrd, "dlabrd_");
    find(dgebrd, "dgebrd_");
    find(dbdsdc, "dbdsdc_");
    find(dormbr, "dormbr_");
  }
  void (*dlatrd)(C, I, I, double*, I, double*, double*, double*, I, Length);
  void (*dsytrd)(C, I, double*, I, double*, double*, double*, double*, I, int*, Length);
  void (*dstedc)(C, I, double*, double*, double*, I, double*, I, int*, I, int*, Length);
  void (*dstemr)(C, C, I, double*, double*, D, D, I, I, int*, double*, double*, I, I, int*, int*, double*, I, int*, I,
                 int*, Length, Length);
  void (*dormtr)(C, C, C, I, I, D, I, D, double*, I, double*, I, int*, Length, Length, Length);
  void (*dlabrd)(I, I, I, double*, I, double*, double*, double*, double*, double*, I, double*, I);
  void (*dgebrd)(I, I, double*, I, double*, double*, double*, double*, double*, I, int*);
  void (*dbdsdc)(C, C, I, double*, double*, double*, I, double*, I, double*, int*, double*, int*, int*, Length, Length);
  void (*dormbr)(C, C, C, I, I, I, D, I, D, double*, I, double*, I, int*, Length, Length, Length);
};
BlasCall<Routines> fortran() {
  static const Routines routines(open_blas());
  return BlasCall(routines);
}

int count(Index n) { return static_cast<int>(n); }
Index tiles(Index n, Index size) { return (n + size - 1) / size; }
void check(int info, const char* routine) {
  if (info < 0) throw std::logic_error(std::string(routine) + ": argument " + std::to_string(-info) + " is wrong");
  if (info > 0) throw MachineError(std::string(routine) + " did not converge");
}

/// The lower triangle of a symmetric A = Q T Qᵀ: T in two diagonals, Q as reflectors below the first of them.
struct Tridiagonal {
  Vector diagonal, beside, factors;
};

/// C −= V Wᵀ + W Vᵀ in the lower triangle, by columns of tiles. All are column-major.
void update_symmetric(Eigen::Ref<Columns> c, const Eigen::Ref<const Columns>& v, const Eigen::Ref<const Columns>& w) {
  const Index n = c.rows();
  parallel_for(tiles(n, kTile), heard(), [&](Index tile) {
    const Index at = tile * kTile, columns = std::min(kTile, n - at), rows = n - at;
    Eigen::Map<Matrix, 0, Eigen::OuterStride<>> into(&c(at, at), columns, rows, Eigen::OuterStride<>(c.outerStride()));
    const auto add = [&](const Eigen::Ref<const Columns>& left, const Eigen::Ref<const Columns>& right) {
      blas::gemm(Op::transposed, right.middleRows(at, columns).transpose(), Op::plain,
                 left.middleRows(at, rows).transpose(), into, -1, 1);
    };
    add(v, w);
    add(w, v);
  });
}

/// dsytrd's loop: a panel, then the update of rank 2·kPanel of what is left.
Tridiagonal tridiagonalise(Columns& a) {
  const Index n = a.rows();
  const int lda = count(a.outerStride()), ldw = count(n), panel = kPanel;
  Tridiagonal out{Vector(n), Vector(n), Vector(n)};
  Columns w(n, kPanel);
  Index i = 0;
  for (; n - i > 2 * kPanel; i += kPanel) {
    ask();
    const int left = count(n - i);
    fortran()->dlatrd("L", &left, &panel, &a(i, i), &lda, out.beside.data() + i, out.factors.data() + i, w.data(), &ldw,
                      1);
    const Index next = i + kPanel, rest = n - next;
    update_symmetric(a.bottomRightCorner(rest, rest), a.block(next, i, rest, kPanel), w.block(kPanel, 0, rest, kPanel));
    for (Index j = i; j < next; ++j) {
      a(j + 1, j) = out.beside(j);
      out.diagonal(j) = a(j, j);
    }
  }
  const int left = count(n - i), size = 64 * left;
  std::vector<double> work(static_cast<std::size_t>(size));
  int info = 0;
  fortran()->dsytrd("L", &left, &a(i, i), &lda, out.diagonal.data() + i, out.beside.data() + i, out.factors.data() + i,
                    work.data(), &size, &info, 1);
  check(info, "dsytrd");
  return out;
}

/// Z becomes Q Z, in tiles of columns.
void turn_back(const Columns& a, const Tridiagonal& t, Columns& z) {
  const Index size = z.cols() < 2 * kTile ? kBack : kTile;
  parallel_for(tiles(z.cols(), size), heard(), [&](Index tile) {
    const Index at = tile * size;
    const int n = count(z.rows()), columns = count(std::min(size, z.cols() - at)), lda = count(a.outerStride()),
              ldz = count(z.outerStride()), work_size = 64 * columns + 65 * 64;
    std::vector<double> work(static_cast<std::size_t>(work_size));
    int info = 0;
    fortran()->dormtr("L", "L", "N", &n, &columns, a.data(), &lda, t.factors.data(), z.data() + at * z.outerStride(),
                      &ldz, work.data(), &work_size, &info, 1, 1, 1);
    check(info, "dormtr");
  });
}

/// What to multiply with so that squares are numbers; 1 where they are.
double unit_of(const Columns& a) {
  const double largest = a.size() > 0 ? a.cwiseAbs().maxCoeff() : 0;
  return largest > 1e100 || (largest > 0 && largest < 1e-100) ? std::exp2(-std::ilogb(largest)) : 1;
}

void mirror_upper(Columns& a) { a.triangularView<Eigen::StrictlyLower>() = a.transpose(); }

/// A (m ≥ n) = Q B Pᵀ with B in two diagonals, upper.
struct Bidiagonal {
  Vector diagonal, above, of_q, of_p;
};

/// C −= V Yᵀ + X U, by tiles of columns; U is a row of tiles of C's own matrix.
void update_general(Eigen::Ref<Columns> c, const Eigen::Ref<const Columns>& v, const Eigen::Ref<const Columns>& y,
                    const Eigen::Ref<const Columns>& x, const Eigen::Ref<const Columns>& u) {
  parallel_for(tiles(c.cols(), kTile), heard(), [&](Index tile) {
    const Index at = tile * kTile, columns = std::min(kTile, c.cols() - at);
    Eigen::Map<Matrix, 0, Eigen::OuterStride<>> into(&c(0, at), columns, c.rows(),
                                                     Eigen::OuterStride<>(c.outerStride()));
    blas::gemm(Op::transposed, y.middleRows(at, columns).transpose(), Op::plain, v.transpose(), into, -1, 1);
    blas::gemm(Op::plain, u.middleCols(at, columns).transpose(), Op::plain, x.transpose(), into, -1, 1);
  });
}

/// dgebrd's loop.
Bidiagonal bidiagonalise(Columns& a) {
  const Index m = a.rows(), n = a.cols();
  const int lda = count(a.outerStride()), ldx = count(m), ldy = count(n), panel = kPanel;
  Bidiagonal out{Vector(n), Vector(n), Vector(n), Vector(n)};
  Columns x(m, kPanel), y(n, kPanel);
  Index i = 0;
  for (; n - i > 2 * kPanel; i += kPanel) {
    ask();
    const int rows = count(m - i), columns = count(n - i);
    fortran()->dlabrd(&rows, &columns, &panel, &a(i, i), &lda, out.diagonal.data() + i, out.above.data() + i,
                      out.of_q.data() + i, out.of_p.data() + i, x.data(), &ldx, y.data(), &ldy);
    const Index next = i + kPanel;
    update_general(a.bottomRightCorner(m - next, n - next), a.block(next, i, m - next, kPanel),
                   y.block(kPanel, 0, n - next, kPanel), x.block(kPanel, 0, m - next, kPanel),
                   a.block(i, next, kPanel, n - next));
    for (Index j = i; j < next; ++j) {
      a(j, j) = out.diagonal(j);
      a(j, j + 1) = out.above(j);
    }
  }
  const int rows = count(m - i), columns = count(n - i), size = 64 * (rows + columns);
  std::vector<double> work(static_cast<std::size_t>(size));
  int info = 0;
  fortran()->dgebrd(&rows, &columns, &a(i, i), &lda, out.diagonal.data() + i, out.above.data() + i, out.of_q.data() + i,
                    out.of_p.data() + i, work.data(), &size, &info);
  check(info, "dgebrd");
  return out;
}

/// B = U S Vᵀ of two diagonals; `s` becomes the singular values, descending.
void split_bidiagonal(Vector& s, Vector above, Columns& u, Columns& v_transposed) {
  const Index n = s.size();
  const int size = count(n), ldu = count(u.outerStride()), ldv = count(v_transposed.outerStride());
  std::vector<double> work(static_cast<std::size_t>(3 * n * n + 4 * n));
  std::vector<int> counts(static_cast<std::size_t>(8 * n));
  double none = 0;
  int no_count = 0, info = 0;
  ask();
  fortran()->dbdsdc("U", "I", &size, s.data(), above.data(), u.data(), &ldu, v_transposed.data(), &ldv, &none,
                    &no_count, work.data(), counts.data(), &info, 1, 1);
  check(info, "dbdsdc");
}

/// U becomes Q U by tiles of columns, and Vᵀ becomes Vᵀ Pᵀ by tiles of rows.
void turn_back(const Columns& a, const Bidiagonal& b, Columns& u, Columns& v_transposed) {
  const Index n = v_transposed.rows(), of_u = tiles(u.cols(), kTile), of_v = tiles(n, kTile);
  const int lda = count(a.outerStride()), ldu = count(u.outerStride()), ldv = count(v_transposed.outerStride());
  parallel_for(of_u + of_v, heard(), [&](Index tile) {
    std::vector<double> work(static_cast<std::size_t>(64 * kTile + 65 * 64));
    const int size = count(static_cast<Index>(work.size()));
    int info = 0;
    if (tile < of_u) {
      const Index at = tile * kTile;
      const int m = count(u.rows()), columns = count(std::min(kTile, u.cols() - at)), k = count(a.cols());
      fortran()->dormbr("Q", "L", "N", &m, &columns, &k, a.data(), &lda, b.of_q.data(), u.data() + at * u.outerStride(),
                        &ldu, work.data(), &size, &info, 1, 1, 1);
    } else {
      const Index at = (tile - of_u) * kTile;
      const int rows = count(std::min(kTile, n - at)), columns = count(n), k = count(a.rows());
      fortran()->dormbr("P", "R", "T", &rows, &columns, &k, a.data(), &lda, b.of_p.data(), v_transposed.data() + at,
                        &ldv, work.data(), &size, &info, 1, 1, 1);
    }
    check(info, "dormbr");
  });
}

/// For m ≥ n. A much taller one is made a triangle first.
void tall_svd(Columns& a, Columns& u, Vector& s, Columns& v_transposed) {
  const Index m = a.rows(), n = a.cols();
  if (5 * m > 8 * n) {
    const Vector factors = blas::householder(a);
    Columns r = a.topRows(n).triangularView<Eigen::Upper>(), of_r(n, n);
    tall_svd(r, of_r, s, v_transposed);
    u = Columns::Zero(m, n);
    u.topRows(n) = of_r;
    blas::apply_q(Op::plain, a, factors, u);
    return;
  }
  const Bidiagonal b = bidiagonalise(a);
  s = b.diagonal;
  Columns inner(n, n);
  v_transposed.resize(n, n);
  split_bidiagonal(s, b.above, inner, v_transposed);
  u = Columns::Zero(m, n);
  u.topRows(n) = inner;
  turn_back(a, b, u, v_transposed);
}

}  // namespace

Vector symmetric_eigen(Columns& a) {
  const double unit = unit_of(a);
  if (unit != 1) a *= unit;
  mirror_upper(a);
  const Tridiagonal t = tridiagonalise(a);
  Vector values = t.diagonal, beside = t.beside;
  const Index n = a.rows();
  Columns z(n, n);
  const int size = count(n), ldz = count(n);
  double need = 0;
  int counts_need = 0, ask_size = -1, info = 0;
  const auto call = [&](double* work, const int* work_size, int* counts, const int* counts_size) {
    fortran()->dstedc("I", &size, values.data(), beside.data(), z.data(), &ldz, work, work_size, counts, counts_size,
                      &info, 1);
    check(info, "dstedc");
  };
  call(&need, &ask_size, &counts_need, &ask_size);
  std::vector<double> work(static_cast<std::size_t>(need));
  std::vector<int> counts(static_cast<std::size_t>(counts_need));
  const int work_size = count(static_cast<Index>(work.size()));
  ask();
  call(work.data(), &work_size, counts.data(), &counts_need);
  turn_back(a, t, z);
  a = std::move(z);
  return values / unit;
}

Vector largest_eigen(Columns& a, Index how_many, Columns& vectors) {
  const double unit = unit_of(a);
  if (unit != 1) a *= unit;
  mirror_upper(a);
  const Tridiagonal t = tridiagonalise(a);
  const Index n = a.rows();
  Vector diagonal = t.diagonal, beside = t.beside, values(n);
  vectors.resize(n, how_many);
  if (how_many == 0) return values.head(0);
  const int size = count(n), from = count(n - how_many + 1), to = size, ldz = count(n), most = count(how_many);
  std::vector<int> support(static_cast<std::size_t>(2 * n)), counts(static_cast<std::size_t>(10 * n));
  std::vector<double> work(static_cast<std::size_t>(18 * n));
  const int work_size = 18 * size, counts_size = 10 * size;
  const double none = 0;
  int found = 0, accurate = 1, info = 0;
  ask();
  fortran()->dstemr("V", "I", &size, diagonal.data(), beside.data(), &none, &none, &from, &to, &found, values.data(),
                    vectors.data(), &ldz, &most, support.data(), &accurate, work.data(), &work_size, counts.data(),
                    &counts_size, &info, 1, 1);
  check(info, "dstemr");
  if (found != how_many)
    throw MachineError("dstemr found " + std::to_string(found) + " eigenvalues of " + std::to_string(how_many));
  turn_back(a, t, vectors);
  return values.head(how_many) / unit;
}

void thin_svd(Columns& a, Columns& u, Vector& s, Columns& v_transposed) {
  const double unit = unit_of(a);
  if (unit != 1) a *= unit;
  if (a.rows() >= a.cols()) {
    tall_svd(a, u, s, v_transposed);
  } else {
    Columns turned = a.transpose(), v, u_transposed;
    tall_svd(turned, v, s, u_transposed);
    u = u_transposed.transpose();
    v_transposed = v.transpose();
  }
  s /= unit;
}

}  // namespace lemma::blas::large
