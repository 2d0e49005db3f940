// lemma/math/moments_test.cpp
#include <gtest/gtest.h>

#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/nist_test.hpp>

namespace lemma {
namespace {

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

template <class S>
S in_blocks(const Matrix& x, const S& empty, Index size, const Labels& labels = {}) {
  S all = empty;
  for (Index from = 0; from < x.rows(); from += size) {
    const Index rows = std::min(size, x.rows() - from);
    Block block(x.middleRows(from, rows), from);
    if (!labels.empty())
      block.label =
          std::span<const int>(labels).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(rows));
    S part = empty;
    part.accumulate(block);
    all.merge(part);
  }
  return all;
}

/// The textbook's two passes.
Matrix two_pass_scatter(const Matrix& x) {
  const Matrix centred = x.rowwise() - x.colwise().mean();
  return centred.transpose() * centred;
}

class NistUnivariate : public ::testing::TestWithParam<const char*> {};

TEST_P(NistUnivariate, MeanAndDeviationHaveTheCertifiedDigits) {
  const Value all = nist::certified("univariate");
  const Value& set = all.at(GetParam());
  const Matrix x = nist::read(set.at("file").as_string());
  for (const Index size : {x.rows(), Index{100}, Index{1}}) {
    const Moments m = in_blocks(x, Moments(1), size);
    const double sd = std::sqrt(m.variances(m.weight() - 1)(0));
    EXPECT_GE(nist::digits(m.mean()(0), nist::number(set.at("mean"))), 14) << "blocks of " << size;
    EXPECT_GE(nist::digits(sd, nist::number(set.at("sd_n_minus_1"))), 8) << "blocks of " << size;
    std::printf("%-8s digits of the mean %4.1f, of the deviation %4.1f\n", GetParam(),
                nist::digits(m.mean()(0), nist::number(set.at("mean"))),
                nist::digits(sd, nist::number(set.at("sd_n_minus_1"))));
  }
}
INSTANTIATE_TEST_SUITE_P(Sets, NistUnivariate,
                         ::testing::Values("Lew", "Lottery", "Mavro", "Michelso", "NumAcc1", "NumAcc2", "NumAcc3",
                                           "NumAcc4"),
                         [](const auto& set) { return std::string(set.param); });

TEST(Moments, AgreeWithTwoPassesForBlocksOfAnySize) {
  const Matrix x = normal_matrix(500, 6, 1).array() + 3;
  const Matrix truth = two_pass_scatter(x);
  for (const Index size : {500, 499, 64, 2, 1}) {
    const Moments m = in_blocks(x, Moments(6), size);
    EXPECT_LT((m.scatter() - truth).norm(), 1e-12 * truth.norm()) << "blocks of " << size;
    EXPECT_LT((m.mean() - x.colwise().mean().transpose()).norm(), 1e-14);
    EXPECT_EQ(m.rows(), 500);
  }
}

TEST(Moments, AnOffsetOfABillionChangesNothingButTheMean) {
  Matrix near = (normal_matrix(3000, 3, 1).array() * 0x1p20).round() * 0x1p-20;  // exact at 1e9 too
  const Matrix far = near.array() + 1e9;
  for (const Index size : {3000, 100, 1}) {
    const Moments a = in_blocks(near, Moments(3), size), b = in_blocks(far, Moments(3), size);
    EXPECT_LT((a.scatter() - b.scatter()).norm(), 1e-12 * a.scatter().norm()) << "blocks of " << size;
    EXPECT_LT(((b.mean().array() - 1e9).matrix() - a.mean()).norm(), 1e-6);
  }
}

TEST(Moments, AnEmptySideKeepsEveryBit) {
  const Moments state = in_blocks(normal_matrix(50, 3, 1), Moments(3), 20), empty(3);
  Moments left = state, right = empty;
  left.merge(empty);
  right.merge(state);
  EXPECT_EQ(left.numbers(), state.numbers());
  EXPECT_EQ(right.numbers(), state.numbers());
  EXPECT_EQ(Moments::from_numbers(state.numbers()).numbers(), state.numbers());
  EXPECT_EQ(left.scatter(), left.scatter());  // reading it twice changes nothing
  EXPECT_EQ(left.numbers(), state.numbers());
}

TEST(Moments, OfNoRowsAreZeroAndCanBeStored) {
  const Moments none(3);
  EXPECT_EQ(none.scatter(), Matrix::Zero(3, 3));
  EXPECT_EQ(none.covariance(2), Matrix::Zero(3, 3));
  EXPECT_EQ(none.variances(2), Vector::Zero(3));
  EXPECT_EQ(none.numbers(), Moments::from_numbers(none.numbers()).numbers());
  EXPECT_EQ(none.numbers().size(), 3u + 2 * 3 + 3 * 3);
  EXPECT_EQ(ClassMoments(3, 2).within_scatter(), Matrix::Zero(3, 3));
}

TEST(Moments, AConstantColumnHasNoVarianceAtAll) {
  Matrix x = normal_matrix(3000, 2, 1);
  x.col(1).setConstant(0.1);
  const Moments m = in_blocks(x, Moments(2), 7);
  EXPECT_EQ(m.variances(1)(1), 0);
  EXPECT_EQ(m.mean()(1), 0.1);
}

TEST(Moments, AWeightIsThatManyCopies) {
  const Matrix x = normal_matrix(40, 3, 1);
  Vector w(40);
  std::vector<Index> copies;
  for (Index i = 0; i < 40; ++i) {
    w(i) = static_cast<double>(i % 3);
    copies.insert(copies.end(), static_cast<std::size_t>(i % 3), i);
  }
  const Matrix repeated = x(copies, Eigen::all);
  MemoryRows rows(x);
  rows.weights(span_of(w));
  const Moments a = scan(rows, Moments(3)), b = in_blocks(repeated, Moments(3), 1000);
  EXPECT_EQ(a.weight(), b.weight());
  EXPECT_LT((a.scatter() - b.scatter()).norm(), 1e-13 * b.scatter().norm());
  EXPECT_LT((a.mean() - b.mean()).norm(), 1e-15);
}

TEST(Moments, TheSameBitsOnAnyNumberOfThreads) {
  const Matrix x = normal_matrix(9000, 20, 1);
  Execution execution;
  execution.threads = 1;
  const auto one = scan(MemoryRows(x), Moments(20), execution).numbers();
  for (const int threads : {2, 3}) {
    execution.threads = threads;
    EXPECT_EQ(scan(MemoryRows(x), Moments(20), execution).numbers(), one);
  }
}

TEST(Moments, RefuseWhatTheyCannotUse) {
  Matrix x = normal_matrix(10, 2, 1);
  EXPECT_THROW(Moments(3).accumulate(Block(x, 0)), Error);
  x(3, 0) = std::nan("");
  EXPECT_THROW(Moments(2).accumulate(Block(x, 0)), Error);
  EXPECT_THROW(Moments(2).merge(Moments(3)), Error);
}

TEST(ClassMoments, SplitTheTotalScatterIntoWithinAndBetween) {
  const Matrix x = normal_matrix(300, 4, 1);
  Labels labels(300);
  for (std::size_t i = 0; i < 300; ++i) labels[i] = static_cast<int>(i * 7 % 10 % 3);
  Matrix shifted = x;
  for (Index i = 0; i < 300; ++i) shifted.row(i).array() += 1e3 * labels[static_cast<std::size_t>(i)];
  for (const Index size : {300, 77, 1}) {
    const ClassMoments m = in_blocks(shifted, ClassMoments(4, 3), size, labels);
    const Matrix total = m.within_scatter() + m.between_scatter(), truth = two_pass_scatter(shifted);
    EXPECT_LT((total - truth).norm(), 1e-12 * truth.norm()) << "blocks of " << size;
    Matrix within = Matrix::Zero(4, 4);
    for (int k = 0; k < 3; ++k) {
      std::vector<Index> members;
      for (Index i = 0; i < 300; ++i)
        if (labels[static_cast<std::size_t>(i)] == k) members.push_back(i);
      const Matrix part = shifted(members, Eigen::all);
      within += two_pass_scatter(part);
      EXPECT_EQ(m.weights()(k), static_cast<double>(members.size()));
      EXPECT_EQ(m.counts()[static_cast<std::size_t>(k)], static_cast<Index>(members.size()));
      ASSERT_FALSE(members.empty());
      EXPECT_LT((m.means().row(k) - part.colwise().mean()).norm(), 1e-11);
    }
    EXPECT_LT((m.within_scatter() - within).norm(), 1e-9 * within.norm()) << "blocks of " << size;
  }
}

TEST(ClassMoments, LeaveOutMissingLabelsAndRefuseUnknownOnes) {
  const Matrix x = normal_matrix(4, 2, 1);
  const Labels some{0, -1, 0, 1}, wrong{0, 1, 2, 0};
  const ClassMoments m = in_blocks(x, ClassMoments(2, 2), 4, some);
  EXPECT_EQ(m.rows(), 3);
  EXPECT_EQ(m.weights(), (Vector{{2.0, 1.0}}));
  EXPECT_LT((m.means().row(1) - x.row(3)).norm(), 1e-15);
  EXPECT_THROW(in_blocks(x, ClassMoments(2, 2), 4, wrong), Error);
}

TEST(ClassMoments, AnEmptySideAnEmptyClassAndFlatNumbersKeepEveryBit) {
  const Matrix x = normal_matrix(30, 2, 1);
  const Labels labels(30, 1);
  const ClassMoments state = in_blocks(x, ClassMoments(2, 3), 11, labels), empty(2, 3);
  ClassMoments left = state, right = empty;
  left.merge(empty);
  right.merge(state);
  EXPECT_EQ(left.numbers(), state.numbers());
  EXPECT_EQ(right.numbers(), state.numbers());
  EXPECT_EQ(ClassMoments::from_numbers(state.numbers()).numbers(), state.numbers());
  EXPECT_EQ(state.means().row(0).norm(), 0);
  EXPECT_THROW(ClassMoments::from_numbers({2, 3}), Error);
}

}  // namespace
}  // namespace lemma
