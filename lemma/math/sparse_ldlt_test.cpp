// lemma/math/sparse_ldlt_test.cpp
#include <Eigen/SparseCholesky>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/sparse_ldlt.hpp>
#include <tests/contract/patience.hpp>

namespace lemma {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// The lower triangle: `each` entries in a row by chance, and a diagonal.
Sparse some_matrix(int n, int each, double diagonal) {
  RandomStream stream(3);
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, diagonal);
    for (int k = 0; i > 0 && k < each; ++k) entries.emplace_back(i, static_cast<int>(stream.below(i)), stream.normal());
  }
  Sparse out(n, n);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

TEST(SparseLdlt, IsEigensToTheBit) {
  for (const auto& [each, diagonal] :
       {std::pair{1, 9.0}, {4, 30.0}, {40, 0.3}}) {  // the last is indefinite, and L full
    const Sparse a = some_matrix(120, each, diagonal);
    const SparseLdlt ours(a);
    const Eigen::SimplicialLDLT<Sparse> theirs(a);
    ASSERT_TRUE(ours.exists());
    EXPECT_EQ(ours.pivots(), Vector(theirs.vectorD()));
    const Vector b = normal_matrix(120, 1, 5).col(0), x = ours.solve(b);
    EXPECT_EQ(x, Vector(theirs.solve(b)));
    const Eigen::MatrixXd many = normal_matrix(120, 2 * SparseLdlt::kTogether + 3, 6);
    Eigen::MatrixXd together(many.rows(), many.cols());
    ours.solve_columns(many, together);
    for (Index j = 0; j < many.cols(); ++j) EXPECT_EQ(Vector(together.col(j)), ours.solve(many.col(j))) << j;
    const Sparse full = a.selfadjointView<Eigen::Lower>();
    EXPECT_LT((full * x - b).norm(), 1e-9 * b.norm());
  }
}

TEST(SparseLdlt, EndsWhereAPivotIsZero) {
  Sparse a(2, 2);
  a.insert(1, 0) = 1;
  EXPECT_FALSE(SparseLdlt(a).exists());
}

TEST(SparseLdlt, HearsACancelBetweenTwoRows) {
  const Sparse a = some_matrix(200, 3, 20);
  for (const long long k : {0, 1, 100, 199}) {
    contract::Patience patience(k);
    const Execution execution{.threads = 1, .progress = &patience};
    const Hearing hearing(execution);
    EXPECT_THROW(SparseLdlt{a}, Cancelled) << k;
    EXPECT_EQ(patience.asked(), k + 1);
  }
}

}  // namespace
}  // namespace lemma
