// lemma/math/least_squares_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/math/nist_test.hpp>
#include <lemma/math/residuals.hpp>

namespace lemma {
namespace {

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

Block block_of(const Matrix& x, const Vector& y, Index first, Index size) {
  Block block(x.middleRows(first, size), first);
  block.y = span_of(y).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
  return block;
}

LeastSquares in_blocks(const Matrix& x, const Vector& y, Index size, bool intercept = true) {
  LeastSquares all(x.cols(), intercept);
  for (Index from = 0; from < x.rows(); from += size) {
    LeastSquares part(x.cols(), intercept);
    part.accumulate(block_of(x, y, from, std::min(size, x.rows() - from)));
    all.merge(part);
  }
  return all;
}

struct Data {
  Matrix x;
  Vector y;
  MemoryRows rows() const { return std::move(MemoryRows(x).response(span_of(y))); }
};

Data random_data(Index n, Index p, double offset = 0) {
  Data d{normal_matrix(n, p, 1), Vector(n)};
  d.x.array() += offset;
  const Matrix noise = normal_matrix(n, 1, 2);
  for (Index i = 0; i < n; ++i) d.y(i) = noise(i, 0) + 2;
  for (Index j = 0; j < p; ++j) d.y += static_cast<double>(j + 1) * (d.x.col(j).array() - offset).matrix();
  return d;
}

Vector all_terms(const LinearSolution& s, bool intercept) {
  if (!intercept) return s.coefficients;
  Vector out(s.coefficients.size() + 1);
  out << s.intercept, s.coefficients;
  return out;
}

TEST(LeastSquares, MatchesTheAnswerByHand) {  // Sxx = 2 and Sxy = 4 about the means 1 and 3
  const Data d{Matrix{{0.0}, {1.0}, {2.0}}, Vector{{1.0, 3.0, 5.0}}};
  const LeastSquares data = scan(d.rows(), LeastSquares(1));
  const LinearSolution s = solve(data);
  EXPECT_NEAR(s.coefficients(0), 2.0, 1e-15);
  EXPECT_NEAR(s.intercept, 1.0, 1e-15);
  EXPECT_NEAR(s.total_ss, 8.0, 1e-14);
  EXPECT_NEAR(s.residual_ss, 0.0, 1e-28);
  const Matrix covariance = unscaled_covariance(data, s);  // [Σx² −Σx; −Σx n] / (n Σx² − (Σx)²) = [5 −3; −3 3] / 6
  EXPECT_NEAR(covariance(0, 0), 5.0 / 6, 1e-15);
  EXPECT_NEAR(covariance(0, 1), -0.5, 1e-15);
  EXPECT_NEAR(covariance(1, 1), 0.5, 1e-15);
  EXPECT_NEAR(quadratic_form(data, s, d.x)(0), 5.0 / 6, 1e-15);
}

struct Peer {
  const char* name;
  double required, r;  // R 4.2.2's lm; Filip with tol = 1e-20, by default it drops a column
};
constexpr Peer kPeers[] = {{"Norris", 12.0, 12.6},   {"Pontius", 11.5, 11.9}, {"NoInt1", 13, 14.7},
                           {"NoInt2", 13, 15},       {"Longley", 11, 12.8},   {"Wampler1", 9.0, 9.1},
                           {"Wampler2", 11.5, 12.9}, {"Wampler3", 9.0, 9.5},  {"Wampler4", 7.5, 7.9},
                           {"Wampler5", 5.9, 5.9},   {"Filip", 7.5, 7.5}};

class NistLinear : public ::testing::TestWithParam<Peer> {};

TEST_P(NistLinear, HasTheDigitsOfCertifiedCoefficients) {
  const nist::Linear set = nist::linear(GetParam().name);
  const MemoryRows rows = std::move(MemoryRows(set.x).response(span_of(set.y)));
  for (const auto route : {LeastSquares::Route::by_condition, LeastSquares::Route::householder}) {
    const LeastSquares data = scan(rows, LeastSquares(set.x.cols(), set.intercept, route));
    const RefinedSolution refined = solve_refined(rows, data);
    const LinearSolution& s = refined.solution;
    EXPECT_TRUE(s.aliased.empty());
    const Matrix covariance = unscaled_covariance(data, s);
    const double variance = s.residual_ss / (data.weight() - static_cast<double>(s.rank(set.intercept)));
    const Vector errors = (variance * covariance.diagonal()).cwiseSqrt();
    const double found = nist::digits(all_terms(s, set.intercept), set.coefficients);
    std::printf("%-9s digits of coefficients %4.1f (R %4.1f), of standard errors %4.1f\n", GetParam().name, found,
                GetParam().r, nist::digits(errors, set.std_errors));
    EXPECT_GE(found, GetParam().required);
    EXPECT_GE(nist::digits(errors, set.std_errors), std::min(GetParam().required, 9.0));
    EXPECT_LE(refined.excess.relative, kExcessTolerance);
  }
}
INSTANTIATE_TEST_SUITE_P(Sets, NistLinear, ::testing::ValuesIn(kPeers),
                         [](const auto& set) { return std::string(set.param.name); });

TEST(LeastSquares, MergingBlocksOfAnySizeEqualsOneScan) {
  const Data d = random_data(300, 5);
  const LinearSolution whole = solve(in_blocks(d.x, d.y, 300));
  for (const Index size : {1, 2, 7, 64, 299}) {
    const LinearSolution s = solve(in_blocks(d.x, d.y, size));
    EXPECT_LT((s.coefficients - whole.coefficients).norm(), 1e-13) << "blocks of " << size;
    EXPECT_NEAR(s.intercept, whole.intercept, 1e-13) << "blocks of " << size;
    EXPECT_NEAR(s.residual_ss / whole.residual_ss, 1, 1e-13) << "blocks of " << size;
    EXPECT_NEAR(s.total_ss / whole.total_ss, 1, 1e-13) << "blocks of " << size;
  }
}

TEST(LeastSquares, AnEmptySideKeepsEveryBit) {
  const Data d = random_data(50, 3);
  const LeastSquares state = in_blocks(d.x, d.y, 50), empty(3);
  LeastSquares left = state, right = empty, both = empty;
  left.merge(empty);
  right.merge(state);
  both.merge(empty);
  EXPECT_EQ(left.numbers(), state.numbers());
  EXPECT_EQ(right.numbers(), state.numbers());
  EXPECT_EQ(both.rows(), 0);
  EXPECT_THROW(solve(both), Error);
}

TEST(LeastSquares, SolvingTwiceGivesTheSameAnswerAndLeavesTheState) {
  const Data d = random_data(50, 3);
  const LeastSquares state = in_blocks(d.x, d.y, 9);
  const auto before = state.numbers();
  const Vector first = solve(state).coefficients, second = solve(state).coefficients;
  EXPECT_EQ(first, second);
  EXPECT_EQ(state.numbers(), before);
}

TEST(LeastSquares, AnOffsetOfABillionCostsNoDigits) {
  Data near = random_data(4000, 3), far = near;
  for (Index j = 0; j < 3; ++j) {  // multiples of 2⁻²⁰ stay exact at 1e9
    near.x.col(j) = (near.x.col(j).array() * 0x1p20).round() * 0x1p-20;
    far.x.col(j) = near.x.col(j).array() + 1e9;
  }
  const LinearSolution a = solve(scan(near.rows(), LeastSquares(3)));
  const LinearSolution b = solve(scan(far.rows(), LeastSquares(3)));
  EXPECT_TRUE(b.aliased.empty());
  EXPECT_LT((a.coefficients - b.coefficients).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((solve(in_blocks(far.x, far.y, 1)).coefficients - a.coefficients).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(LeastSquares, TheSameBitsOnAnyNumberOfThreads) {
  const Data d = random_data(9000, 12, 3);
  Execution execution;
  execution.threads = 1;
  const auto one = scan(d.rows(), LeastSquares(12), execution).numbers();
  for (const int threads : {2, 3}) {
    execution.threads = threads;
    EXPECT_EQ(scan(d.rows(), LeastSquares(12), execution).numbers(), one) << threads << " threads";
  }
}

TEST(LeastSquares, FindsCopiesSumsAndConstantsOverManyBlocks) {
  Data d = random_data(20000, 8, 5);
  d.x.col(2) = d.x.col(0) * 3;
  d.x.col(4) = d.x.col(1) + d.x.col(3) - 0.1 * d.x.col(0);
  d.x.col(5).setConstant(0.1);
  d.x.col(6) = d.x.col(0).array() + 7;
  for (const Index size : {20000, 1024, 30}) {
    const LinearSolution s = solve(in_blocks(d.x, d.y, size));
    EXPECT_EQ(s.aliased, (std::vector<Index>{2, 4, 5, 6})) << "blocks of " << size;
    EXPECT_EQ(s.kept, (std::vector<Index>{0, 1, 3, 7}));
    Matrix x(d.x.rows(), 4);
    x << d.x.col(0), d.x.col(1), d.x.col(3), d.x.col(7);
    const LinearSolution without = solve(in_blocks(x, d.y, size));
    EXPECT_LT((s.coefficients(s.kept) - without.coefficients).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_NEAR(s.residual_ss / without.residual_ss, 1, 1e-12);
  }
}

TEST(LeastSquares, WithoutAnInterceptAConstantColumnTakesPart) {
  Data d = random_data(100, 2);
  d.x.col(1).setOnes();
  const LinearSolution with = solve(in_blocks(d.x.leftCols(1), d.y, 40)), own = solve(in_blocks(d.x, d.y, 40, false));
  EXPECT_TRUE(own.aliased.empty());
  EXPECT_NEAR(own.coefficients(1), with.intercept, 1e-13);
  EXPECT_NEAR(own.total_ss, d.y.squaredNorm(), 1e-9);
}

TEST(LeastSquares, MoreColumnsThanRowsKeepsAsManyAsThereAreRows) {
  const Data d = random_data(6, 10);
  const LinearSolution s = solve(in_blocks(d.x, d.y, 6));
  EXPECT_EQ(s.kept, (std::vector<Index>{0, 1, 2, 3, 4}));
  EXPECT_NEAR(s.residual_ss, 0, 1e-20);
}

TEST(LeastSquares, AWeightIsThatManyCopiesAndAPrecisionKeepsTheCount) {
  const Data d = random_data(40, 2);
  Vector w(40), p(40);
  std::vector<Index> copies;
  for (Index i = 0; i < 40; ++i) {
    w(i) = static_cast<double>(i % 4);
    p(i) = w(i) + 0.5;
    copies.insert(copies.end(), static_cast<std::size_t>(i % 4), i);
  }
  const Data repeated{d.x(copies, Eigen::all), d.y(copies)};
  MemoryRows weighted = d.rows(), precise = d.rows();
  weighted.weights(span_of(w));
  precise.precision(span_of(p));
  const LeastSquares a = scan(weighted, LeastSquares(2)), b = scan(repeated.rows(), LeastSquares(2));
  EXPECT_EQ(a.weight(), b.weight());
  EXPECT_EQ(a.rows(), 30);
  EXPECT_LT((solve(a).coefficients - solve(b).coefficients).norm(), 1e-13);
  EXPECT_NEAR(solve(a).residual_ss, solve(b).residual_ss, 1e-11);
  const LeastSquares c = scan(precise, LeastSquares(2));
  EXPECT_EQ(c.weight(), 40);
  EXPECT_NEAR(c.log_precision(), p.array().log().sum(), 1e-12);
  const Matrix root = p.cwiseSqrt().asDiagonal() * d.x;  // the same by hand: rows times √p, intercept column √p
  Matrix by_hand(40, 3);
  by_hand << p.cwiseSqrt(), root;
  const LinearSolution s = solve(in_blocks(by_hand, p.cwiseSqrt().cwiseProduct(d.y), 40, false));
  EXPECT_NEAR(solve(c).intercept, s.coefficients(0), 1e-13);
  EXPECT_LT((solve(c).coefficients - s.coefficients.tail(2)).norm(), 1e-13);
}

TEST(LeastSquares, AnOffsetColumnIsTakenFromTheResponse) {
  const Data d = random_data(60, 2);
  const Vector offset = normal_matrix(60, 1, 9).col(0), shifted = d.y + offset;
  MemoryRows rows = std::move(MemoryRows(d.x).response(span_of(shifted)));
  rows.offset(span_of(offset));
  EXPECT_LT(
      (solve(scan(rows, LeastSquares(2))).coefficients - solve(scan(d.rows(), LeastSquares(2))).coefficients).norm(),
      1e-13);
}

TEST(LeastSquares, ConstantsOnlyAndOneRowHaveAnAnswer) {
  const Data constant{Matrix::Constant(10, 2, 0.3), Vector::Constant(10, 0.7)};
  const LinearSolution s = solve(in_blocks(constant.x, constant.y, 3));
  EXPECT_EQ(s.aliased.size(), 2u);
  EXPECT_DOUBLE_EQ(s.intercept, 0.7);
  EXPECT_EQ(s.residual_ss, 0);
  const LinearSolution one = solve(in_blocks(constant.x.topRows(1), constant.y.head(1), 1));
  EXPECT_DOUBLE_EQ(one.intercept, 0.7);
}

TEST(LeastSquares, HugeAndTinyUnitsDoNotChangeTheRank) {
  Data d = random_data(3000, 3);
  d.x.col(0) *= 1e-200;
  d.x.col(2) *= 1e140;
  for (const Index size : {3000, 1, 100}) {
    const LinearSolution s = solve(in_blocks(d.x, d.y, size));
    EXPECT_TRUE(s.aliased.empty()) << "blocks of " << size;
    EXPECT_NEAR(s.coefficients(2) * 1e140, 3, 0.1);
  }
}

TEST(LeastSquares, TheStateSurvivesAsFlatNumbers) {
  const Data d = random_data(50, 3);
  const LeastSquares state = in_blocks(d.x, d.y, 20), again = LeastSquares::from_numbers(state.numbers());
  EXPECT_EQ(again.numbers(), state.numbers());
  EXPECT_EQ(solve(again).coefficients, solve(state).coefficients);
  EXPECT_THROW(LeastSquares::from_numbers({1, 2, 3}), Error);
}

TEST(LeastSquares, RefusesWhatItCannotUse) {
  Data d = random_data(20, 2);
  EXPECT_THROW(LeastSquares(3).accumulate(block_of(d.x, d.y, 0, 20)), Error);
  EXPECT_THROW(LeastSquares(2).merge(LeastSquares(3)), Error);
  EXPECT_THROW(LeastSquares(2).merge(LeastSquares(2, false)), Error);
  EXPECT_THROW(LeastSquares(2).accumulate(Block(d.x, 0)), Error);
  d.x(7, 1) = std::nan("");
  EXPECT_THROW(LeastSquares(2).accumulate(block_of(d.x, d.y, 0, 20)), Error);
}

}  // namespace
}  // namespace lemma
