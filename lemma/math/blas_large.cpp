// lemma/math/blas_large.cpp: products in tiles, and QR in panels.
#include <algorithm>
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

constexpr Index kPanel = 64;          // columns that are reflected together
constexpr Index kTile = 512;          // columns (or rows) of a tile beside a panel
constexpr Index kSolved = 256;        // right-hand sides that are solved for together
constexpr Index kDepth = 4096;        // of a product that is taken in one piece
constexpr Index kPivotPanel = 32;     // dgeqp3's
constexpr Index kStackedPanel = 192;  // columns of two stacked triangles
constexpr int kInner = 24;            // reflectors that dtpqrt takes together

struct Routines {
  explicit Routines(const OpenBlas& blas) {
    const auto find = [&](auto& pointer, const char* name) {
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(blas.routine(name));
    };
    find(dgeqrf, "dgeqrf_");
    find(dormqr, "dormqr_");
    find(dlaqps, "dlaqps_");
    find(dlaqp2, "dlaqp2_");
    find(dtpqrt, "dtpqrt_");
    find(dtpmqrt, "dtpmqrt_");
  }
  void (*dgeqrf)(I, I, double*, I, double*, double*, I, int*);
  void (*dormqr)(C, C, I, I, I, D, I, D, double*, I, double*, I, int*, Length, Length);
  void (*dlaqps)(I, I, I, I, int*, double*, I, int*, double*, double*, double*, double*, double*, I);
  void (*dlaqp2)(I, I, I, double*, I, int*, double*, double*, double*, double*);
  void (*dtpqrt)(I, I, I, I, double*, I, double*, I, double*, I, double*, int*);
  void (*dtpmqrt)(C, C, I, I, I, I, I, D, I, D, I, double*, I, double*, I, double*, int*, Length, Length);
};
BlasCall<Routines> fortran() {
  static const Routines routines(open_blas());
  return BlasCall(routines);
}

Index tiles(Index n, Index size) { return (n + size - 1) / size; }
void check(int info, const char* routine) {
  if (info != 0) throw std::logic_error(std::string(routine) + " ended with " + std::to_string(info));
}

/// Reflectors [first, first + count) of Q, or their transposes, onto rows [first, m) of columns [from, from + columns). Each
/// thread has a copy of the reflectors: LAPACK's dorm2r, which takes a few of them at a time, writes ones on their diagonal while
/// it works.
void reflect(Op op, const Columns& q, const Vector& factors, Index first, Index count, Columns& b, Index from,
             Index columns) {
  const int m = static_cast<int>(b.rows() - first), n = static_cast<int>(columns), k = static_cast<int>(count);
  const int ldb = static_cast<int>(b.outerStride());
  thread_local Columns own;
  own = q.block(first, first, m, k);
  thread_local std::vector<double> work;
  work.resize(static_cast<std::size_t>(std::max<Index>(columns, 1) * kPanel + (kPanel + 1) * kPanel));
  const int size = static_cast<int>(work.size());
  int info = 0;
  fortran()->dormqr("L", op == Op::plain ? "N" : "T", &m, &n, &k, own.data(), &m, factors.data() + first,
                    b.data() + first + from * b.outerStride(), &ldb, work.data(), &size, &info, 1, 1);
  check(info, "dormqr");
}

/// The same for all columns from `from` on, in tiles.
void reflect_tiles(Op op, const Columns& q, const Vector& factors, Index first, Index count, Columns& b, Index from) {
  parallel_for(tiles(b.cols() - from, kTile), heard(), [&](Index tile) {
    const Index at = from + tile * kTile;
    reflect(op, q, factors, first, count, b, at, std::min(kTile, b.cols() - at));
  });
}

}  // namespace

void gemm(Op of_a, const MatrixView& a, Op of_b, const MatrixView& b, MatrixRef c, double alpha, double beta) {
  const Index depth = of_a == Op::plain ? a.cols() : a.rows();
  const Index down = tiles(c.rows(), kTile), across = tiles(c.cols(), kTile);
  parallel_for(down * across, heard(), [&](Index tile) {
    const Index i = tile / across * kTile, j = tile % across * kTile;
    const Index rows = std::min(kTile, c.rows() - i), columns = std::min(kTile, c.cols() - j);
    for (Index k = 0; k < depth || k == 0; k += kDepth) {
      if (k > 0) ask();
      const Index deep = std::min(kDepth, depth - k);
      const MatrixView left = of_a == Op::plain ? a.block(i, k, rows, deep) : a.block(k, i, deep, rows);
      const MatrixView right = of_b == Op::plain ? b.block(k, j, deep, columns) : b.block(j, k, columns, deep);
      blas::gemm(of_a, left, of_b, right, c.block(i, j, rows, columns), alpha, k == 0 ? beta : 1);
    }
  });
}

void symmetric_update(bool outer, const MatrixView& a, MatrixRef c, double beta) {
  const Index n = c.rows(), depth = outer ? a.cols() : a.rows(), side = tiles(n, kTile);
  const auto part = [&](Index at, Index size, Index k, Index deep) -> MatrixView {
    return outer ? a.block(at, k, size, deep) : a.block(k, at, deep, size);
  };
  parallel_for(side * side, heard(), [&](Index tile) {
    const Index i = tile / side * kTile, j = tile % side * kTile;
    if (i > j) return;
    const Index rows = std::min(kTile, n - i), columns = std::min(kTile, n - j);
    auto into = c.block(i, j, rows, columns);
    for (Index k = 0; k < depth || k == 0; k += kDepth) {
      if (k > 0) ask();
      const Index deep = std::min(kDepth, depth - k);
      const double kept = k == 0 ? beta : 1;
      if (i == j && outer) blas::outer_gram(part(i, rows, k, deep), into, kept);
      else if (i == j) blas::gram(part(i, rows, k, deep), into, kept);
      else
        blas::gemm(outer ? Op::plain : Op::transposed, part(i, rows, k, deep), outer ? Op::transposed : Op::plain,
                   part(j, columns, k, deep), into, 1, kept);
    }
  });
}

void divide_by_upper(const MatrixView& r, MatrixRef b) {
  parallel_for(tiles(b.rows(), kSolved), heard(), [&](Index tile) {
    const Index at = tile * kSolved;
    blas::divide_by_upper(r, b.middleRows(at, std::min(kSolved, b.rows() - at)));
  });
}
void solve_upper(Op of_r, const MatrixView& r, MatrixRef b) {
  parallel_for(tiles(b.cols(), kSolved), heard(), [&](Index tile) {
    const Index at = tile * kSolved;
    blas::solve_upper(of_r, r, b.middleCols(at, std::min(kSolved, b.cols() - at)));
  });
}

/// Panel by panel: the panel itself, then Qᵀ of the panel on what lies to its right.
Vector householder(Columns& a) {
  const Index m = a.rows(), n = a.cols(), steps = std::min(m, n);
  Vector factors(steps);
  std::vector<double> work(static_cast<std::size_t>(kPanel * kPanel));
  for (Index first = 0; first < steps; first += kPanel) {
    ask();
    const Index count = std::min(kPanel, steps - first);
    const int rows = static_cast<int>(m - first), columns = static_cast<int>(count),
              lda = static_cast<int>(a.outerStride()), size = static_cast<int>(work.size());
    int info = 0;
    fortran()->dgeqrf(&rows, &columns, &a(first, first), &lda, factors.data() + first, work.data(), &size, &info);
    check(info, "dgeqrf");
    reflect_tiles(Op::transposed, a, factors, first, count, a, first + count);
  }
  return factors;
}

void apply_q(Op of_q, const Columns& a, const Vector& factors, Columns& b) {
  const Index steps = factors.size(), panels = tiles(steps, kPanel);
  for (Index k = 0; k < panels; ++k) {
    const Index first = (of_q == Op::transposed ? k : panels - 1 - k) * kPanel;
    reflect_tiles(of_q, a, factors, first, std::min(kPanel, steps - first), b, 0);
  }
}

void form_q(Columns& a, const Vector& factors) {
  Columns q = Columns::Identity(a.rows(), a.cols());
  large::apply_q(Op::plain, a, factors, q);
  a = std::move(q);
}

/// dgeqp3's loop. The lengths of what is left of each column are kept up to date by the panels.
Vector pivoted_householder(Columns& a, std::vector<int>& order) {
  const int m = static_cast<int>(a.rows()), n = static_cast<int>(a.cols()), lda = static_cast<int>(a.outerStride());
  const int steps = std::min(m, n);
  Vector factors(steps), length = a.colwise().norm().transpose(), length_then = length, scratch(n);
  Columns f(n, kPivotPanel);
  order.resize(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) order[static_cast<std::size_t>(j)] = j;
  for (int done = 0; done < steps;) {
    ask();
    const int left = n - done, wanted = std::min<int>(kPivotPanel, steps - done);
    double* const from = a.data() + static_cast<Index>(done) * lda;
    if (wanted < kPivotPanel) {
      fortran()->dlaqp2(&m, &left, &done, from, &lda, order.data() + done, factors.data() + done, length.data() + done,
                        length_then.data() + done, scratch.data());
      break;
    }
    int found = 0;
    fortran()->dlaqps(&m, &left, &done, &wanted, &found, from, &lda, order.data() + done, factors.data() + done,
                      length.data() + done, length_then.data() + done, scratch.data(), f.data(), &left);
    done += found;
  }
  return factors;
}

/// dtpqrt's own loop over panels of columns. Column c of the lower triangle ends in row c, so that the panel of columns
/// [j, j + count) meets the dense rows and j + count more, the last `count` of them a triangle.
void stack_triangles(Columns& top, Columns& below, Index dense) {
  const Index n = top.cols();
  const int lda = static_cast<int>(top.outerStride()), ldb = static_cast<int>(below.outerStride());
  std::vector<double> t(static_cast<std::size_t>(kInner * kStackedPanel)), work(t.size());
  for (Index j = 0; j < n; j += kStackedPanel) {
    ask();
    const int count = static_cast<int>(std::min(kStackedPanel, n - j)), m = static_cast<int>(dense + j) + count,
              inner = std::min(kInner, count);
    int info = 0;
    fortran()->dtpqrt(&m, &count, &count, &inner, &top(j, j), &lda, below.data() + j * below.outerStride(), &ldb,
                      t.data(), &inner, work.data(), &info);
    check(info, "dtpqrt");
    const Index next = j + count;
    parallel_for(tiles(n - next, kTile), heard(), [&](Index tile) {
      const Index at = next + tile * kTile;
      const int columns = static_cast<int>(std::min(kTile, n - at));
      std::vector<double> own(static_cast<std::size_t>(columns * kInner));
      int done = 0;
      fortran()->dtpmqrt("L", "T", &m, &columns, &count, &count, &inner, below.data() + j * below.outerStride(), &ldb,
                         t.data(), &inner, &top(j, at), &lda, below.data() + at * below.outerStride(), &ldb, own.data(),
                         &done, 1, 1);
      check(done, "dtpmqrt");
    });
  }
}

}  // namespace lemma::blas::large
