// lemma/math/blas_large_test.cpp: the routines that go in panels, just above the size from which they do.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/blas_large.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/svd.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace lemma {
namespace {

using blas::Columns, blas::Op;
constexpr Index kSide = 530;  // no multiple of any panel or tile

/// Says "cancelled" from the k-th question on.
class Patience final : public Progress {
 public:
  explicit Patience(long long questions) : left_(questions) {}
  void report(double, std::string_view) override {}
  bool cancelled() const override {
    ++asked_;
    return left_-- <= 0;
  }
  long long asked() const { return asked_; }

 private:
  mutable std::atomic<long long> left_, asked_{0};
};

template <class Work>
auto on(int threads, Work&& work) {
  Execution execution;
  execution.threads = threads;
  const Hearing hearing(execution);
  return work();
}

struct Qr {
  Columns a;
  Vector factors;
  std::vector<int> order;
};
Columns r_of(const Qr& qr) { return qr.a.topRows(qr.factors.size()).triangularView<Eigen::Upper>(); }
Columns q_times(const Qr& qr, Columns b) {
  blas::apply_q(Op::plain, qr.a, qr.factors, b);
  return b;
}

/// Nobody may write into the whole pages of a matrix as long as this lives.
class ReadOnly {
 public:
  explicit ReadOnly(Columns& a) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(a.data()), end = begin + sizeof(double) * size_of(a);
    first_ = (begin + page - 1) / page * page;
    bytes_ = end / page * page - first_;
    protect(PROT_READ);
  }
  ~ReadOnly() { protect(PROT_READ | PROT_WRITE); }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;

 private:
  static std::size_t size_of(const Columns& a) { return static_cast<std::size_t>(a.size()); }
  void protect(int how) const { EXPECT_EQ(::mprotect(reinterpret_cast<void*>(first_), bytes_, how), 0); }
  std::uintptr_t first_ = 0;
  std::size_t bytes_ = 0;
};

// dorm2r writes ones on the diagonal of the reflectors while it works: threads that shared these had wrong answers.
TEST(LargeBlas, ReflectorsThatThreadsShareAreNotWrittenTo) {
  for (const Index count : {260, 257, 320}) {  // the last panel is short, very short, whole
    Qr qr{normal_matrix(2100, count, 1), {}, {}};
    qr.factors = blas::householder(qr.a);
    Columns b = normal_matrix(2100, 2100, 2);
    ASSERT_TRUE(blas::large::is_large_product(2100, 2100, count));
    const double length = b.norm();
    const ReadOnly shared(qr.a);
    blas::apply_q(Op::plain, qr.a, qr.factors, b);
    EXPECT_NEAR(b.norm(), length, 1e-10 * length);
  }
}

TEST(LargeBlas, AQrOfAnyShapeGivesTheMatrixBack) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{kSide, kSide}, {2100, 260}, {260, 2100}}) {
    const Columns a = normal_matrix(rows, columns, 1);
    ASSERT_TRUE(blas::large::is_large(rows, columns));
    Qr qr{a, {}, {}};
    qr.factors = blas::householder(qr.a);
    Columns r = Columns::Zero(rows, columns);
    r.topRows(qr.factors.size()) = r_of(qr);
    EXPECT_LT((q_times(qr, r) - a).norm(), 1e-12 * a.norm()) << rows;
    Columns q = qr.a.leftCols(qr.factors.size());
    blas::form_q(q, qr.factors);
    EXPECT_LT((q.transpose() * q - Columns::Identity(q.cols(), q.cols())).norm(), 1e-11) << rows;
  }
}

TEST(LargeBlas, APivotedQrOrdersItsDiagonalAndSeesTheRank) {
  const Columns left = normal_matrix(kSide, 300, 2), right = normal_matrix(300, kSide, 3), a = left * right;
  Qr qr{a, {}, {}};
  qr.factors = blas::pivoted_householder(qr.a, qr.order);
  const Columns r = r_of(qr);
  for (Index k = 1; k < kSide; ++k) EXPECT_LE(std::abs(r(k, k)), std::abs(r(k - 1, k - 1)) * (1 + 1e-8));
  EXPECT_GT(std::abs(r(299, 299)), 1e-3 * std::abs(r(0, 0)));
  EXPECT_LT(std::abs(r(300, 300)), 1e-12 * std::abs(r(0, 0)));
  const Columns back = q_times(qr, r);
  for (Index k = 0; k < kSide; ++k)
    ASSERT_LT((back.col(k) - a.col(qr.order[static_cast<std::size_t>(k)])).norm(), 1e-12 * a.norm()) << k;
}

TEST(LargeBlas, StackedTrianglesKeepTheirSumOfSquares) {
  const Columns upper = Columns(normal_matrix(kSide, kSide, 4)).triangularView<Eigen::Upper>();
  Columns below = Columns::Zero(kSide + 1, kSide);
  below.row(0) = normal_matrix(1, kSide, 5);
  below.bottomRows(kSide) = Columns(normal_matrix(kSide, kSide, 6)).triangularView<Eigen::Upper>();
  const Columns squares = upper.transpose() * upper + below.transpose() * below;
  Columns top = upper;
  blas::stack_triangles(top, below, 1);
  EXPECT_LT((top.transpose() * top - squares).norm(), 1e-13 * squares.norm());
  EXPECT_TRUE(top.isUpperTriangular(0));
}

TEST(LargeBlas, ProductsInTilesAreThoseOfEigen) {
  const Matrix a = normal_matrix(700, 1500, 7), b = normal_matrix(1500, 1100, 8);
  ASSERT_TRUE(blas::large::is_large_product(700, 1100, 1500));
  const Matrix expected = 2 * (a * b);
  Matrix c = Matrix::Ones(700, 1100);
  blas::gemm(Op::plain, a, Op::plain, b, c, 2, -1);
  EXPECT_LT((c + Matrix::Ones(700, 1100) - expected).norm(), 1e-12 * expected.norm());
  const Matrix a_turned = a.transpose(), b_turned = b.transpose();
  blas::gemm(Op::transposed, a_turned, Op::transposed, b_turned, c, 2, 0);
  EXPECT_LT((c - expected).norm(), 1e-12 * expected.norm());
  for (const bool outer : {false, true}) {
    const Matrix tall = normal_matrix(4500, 520, 9), used = outer ? Matrix(tall.transpose()) : tall;
    Matrix into = Matrix::Identity(520, 520);
    outer ? blas::outer_gram(used, into, 3) : blas::gram(used, into, 3);
    const Matrix both = into.selfadjointView<Eigen::Upper>(), gram = tall.transpose() * tall;
    EXPECT_LT((both - 3 * Matrix::Identity(520, 520) - gram).norm(), 1e-12 * gram.norm()) << outer;
  }
}

TEST(LargeBlas, TriangularSystemsInTilesAreSolved) {
  Matrix r = normal_matrix(1100, 1100, 10) / 40;
  r.diagonal().array() += 3;
  const Matrix triangle = r.triangularView<Eigen::Upper>(), b = normal_matrix(1100, 900, 11);
  Matrix x = b;
  blas::solve_upper(Op::plain, triangle, x);
  EXPECT_LT((triangle * x - b).norm(), 1e-12 * b.norm());
  x = b;
  blas::solve_upper(Op::transposed, triangle, x);
  EXPECT_LT((triangle.transpose() * x - b).norm(), 1e-12 * b.norm());
  Matrix left = b.transpose();
  blas::divide_by_upper(triangle, left);
  EXPECT_LT((left * triangle - b.transpose()).norm(), 1e-12 * b.norm());
}

TEST(LargeBlas, EigenpairsLeaveNoResidualAtAnyScale) {
  const Matrix a = normal_matrix(kSide, kSide, 12);
  for (const double scale : {1.0, 1e150, 1e-200}) {
    const Matrix symmetric = scale * (a + a.transpose());
    const Eigenpairs all = symmetric_eigen(symmetric), top = symmetric_eigen(symmetric, 7);
    const Matrix unit = symmetric / scale;
    EXPECT_LT(eigen_residual(unit, {all.values / scale, all.vectors}), 1e-13) << scale;
    EXPECT_LT(eigen_residual(unit, {top.values / scale, top.vectors}), 1e-12) << scale;
    EXPECT_LT((all.values.head(7) - top.values).norm(), 1e-12 * all.values(0)) << scale;
  }
}

TEST(LargeBlas, SingularVectorsOfAnyShapeGiveTheMatrixBack) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{kSide, kSide}, {700, kSide}, {260, 2100}, {40000, 60}}) {
    const Matrix a = normal_matrix(rows, columns, 13);
    ASSERT_TRUE(blas::large::is_large(rows, columns));
    const Svd svd = thin_svd(a);
    const Index k = std::min(rows, columns);
    EXPECT_LT((svd.u * svd.s.asDiagonal() * svd.v.transpose() - a).norm(), 1e-12 * a.norm()) << rows;
    EXPECT_LT((svd.v.transpose() * svd.v - Matrix::Identity(k, k)).norm(), 1e-11) << rows;
    for (Index i = 1; i < k; ++i) EXPECT_LE(svd.s(i), svd.s(i - 1));
  }
}

/// A routine on a matrix of its own; gives back a sum of its numbers that every bit enters.
struct Routine {
  const char* name;
  std::function<Vector()> run;
  long long least_questions;
};
std::vector<Routine> routines() {
  const auto flat = [](const auto& m) { return Vector(Eigen::Map<const Vector>(m.data(), m.size())); };
  const Index n = kSide;
  return {
      {"householder",
       [=] {
         Columns a = normal_matrix(n, n, 1);
         blas::householder(a);
         return flat(a);
       },
       n / 64},
      {"pivoted",
       [=] {
         Columns a = normal_matrix(n, n, 1);
         std::vector<int> order;
         blas::pivoted_householder(a, order);
         return flat(a);
       },
       n / 32},
      {"stacked",
       [=] {
         Columns a = Columns(normal_matrix(n, n, 1)).triangularView<Eigen::Upper>(), b = a;
         blas::stack_triangles(a, b, 0);
         return flat(a);
       },
       n / 192},
      {"eigen",
       [=] {
         const Matrix a = normal_matrix(n, n, 1);
         return flat(symmetric_eigen(a).vectors);
       },
       n / 32},
      {"few eigen",
       [=] {
         const Matrix a = normal_matrix(n, n, 1);
         return flat(symmetric_eigen(a, 9).vectors);
       },
       n / 32},
      {"svd",
       [=] {
         const Matrix a = normal_matrix(n, n, 1);
         return flat(thin_svd(a).u);
       },
       n / 32},
      {"gram",
       [] {
         const Matrix a = normal_matrix(2000, 800, 1);
         Matrix c = Matrix::Zero(800, 800);
         blas::gram(a, c);
         return Vector(Eigen::Map<Vector>(c.data(), c.size()));
       },
       3},
      {"cholesky",
       [] {
         Matrix a = 2000 * Matrix::Identity(1300, 1300) + normal_matrix(1300, 1300, 1);
         EXPECT_TRUE(blas::cholesky(a));
         return Vector(a.diagonal());
       },
       1300 / 256},
  };
}

TEST(LargeBlas, AnyNumberOfThreadsGivesTheSameBits) {
  for (const Routine& routine : routines()) {
    const Vector one = on(1, routine.run);
    for (const int threads : {2, 5}) EXPECT_TRUE(on(threads, routine.run) == one) << routine.name;
  }
}

/// The clock is the number of questions: a routine asks after each panel, and gives up after the one that says yes.
TEST(LargeBlas, ACancelIsHeardBetweenAnyTwoPanels) {
  for (const Routine& routine : routines()) {
    Execution execution;
    execution.threads = 1;
    Patience endless(1'000'000);
    execution.progress = &endless;
    {
      const Hearing hearing(execution);
      routine.run();
    }
    EXPECT_GE(endless.asked(), routine.least_questions) << routine.name;
    for (const long long k : {0LL, 1LL, endless.asked() / 2, endless.asked() - 1}) {
      Patience patience(k);
      execution.progress = &patience;
      const Hearing hearing(execution);
      EXPECT_THROW(routine.run(), Cancelled) << routine.name << " at question " << k;
      EXPECT_LE(patience.asked(), k + 3) << routine.name;
    }
  }
}

}  // namespace
}  // namespace lemma
