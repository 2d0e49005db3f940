// lemma/core/rows_test.cpp
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/rows.hpp>
#include <limits>
#include <tests/copied_rows.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

static_assert(std::constructible_from<MemoryRows, const Matrix&>);
static_assert(std::constructible_from<MemoryRows, const MatrixView&>);
static_assert(std::constructible_from<MemoryRows, Eigen::Block<const Matrix>>, "a part of a matrix that stays");
static_assert(!std::constructible_from<MemoryRows, Matrix>, "a temporary matrix would be gone");
static_assert(!std::constructible_from<MemoryRows, const Matrix>, "a temporary matrix would be gone");
static_assert(!std::constructible_from<MemoryRows, Csr>, "a temporary matrix would be gone");
static_assert(!std::constructible_from<MemoryRows, const Eigen::MatrixXd&>, "column-major: its copy would be gone");

/// Mean by the pairwise update; the simplest statistic whose last bits depend on the order of merging.
struct Mean {
  double count = 0, mean = 0;
  Index blocks = 0;
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      count += w;
      mean += w * (block.x.row(i).sum() - mean) / count;
    }
    ++blocks;
  }
  void merge(const Mean& other) {
    if (other.count == 0) return;
    mean += (other.mean - mean) * other.count / (count + other.count);
    count += other.count;
    blocks += other.blocks;
  }
};
static_assert(Statistic<Mean>);

Execution on(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

TEST(Scan, GivesTheSameBitsForAnyNumberOfThreadsFromMemoryAndFromABuffer) {
  const Matrix x = Matrix::Random(20011, 3);
  const Mean alone = scan(MemoryRows(x), Mean{}, on(1));
  EXPECT_EQ(alone.count, 20011);
  EXPECT_EQ(alone.blocks, 20);  // of 1024 rows
  EXPECT_NEAR(alone.mean, x.rowwise().sum().mean(), 1e-14);
  for (const int threads : {2, 3, 8}) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(scan(MemoryRows(x), Mean{}, on(threads)).mean),
              std::bit_cast<std::uint64_t>(alone.mean));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(scan(CopiedRows(MemoryRows(x)), Mean{}, on(threads)).mean),
              std::bit_cast<std::uint64_t>(alone.mean));
  }
}

TEST(Scan, OfNoRowsIsTheEmptyStatistic) {
  const Matrix none(0, 4);
  EXPECT_EQ(scan(MemoryRows(none), Mean{.count = 0, .mean = 42, .blocks = 0}).mean, 42);
}

TEST(Scan, WeightsEqualRepetition) {
  const Matrix x{{1.0}, {5.0}};
  const Matrix repeated{{1.0}, {5.0}, {5.0}, {5.0}};
  const std::vector<double> w{1, 3};
  EXPECT_DOUBLE_EQ(scan(MemoryRows(x).weights(w), Mean{}).mean, scan(MemoryRows(repeated), Mean{}).mean);
}

TEST(MemoryRows, LooksAtRowsWhereTheyLie) {
  const Matrix x = Matrix::Random(50, 6);
  const MemoryRows part(x.middleCols(2, 3));
  BlockBuffer buffer;
  const Block block = part.read(10, 5, buffer);
  EXPECT_EQ(block.x.data(), &x(10, 2));
  EXPECT_EQ(block.x, x.block(10, 2, 5, 3));
  EXPECT_EQ(block.first, 10);
  EXPECT_EQ(part.matrix()->data(), &x(0, 2));
  EXPECT_EQ(part.features, (std::vector<std::string>{"x1", "x2", "x3"}));
}

TEST(MemoryRows, HandsOutEveryPartOfABlock) {
  const Matrix x = Matrix::Random(4, 1);
  const std::vector<double> y{1, 2, 3, 4}, w{5, 6, 7, 8}, p{9, 10, 11, 12}, o{13, 14, 15, 16};
  const std::vector<int> codes{0, 1, 1, 0};
  MemoryRows rows(x);
  rows.response(y).weights(w).precision(p).offset(o).labels(codes, {"no", "yes"});
  BlockBuffer buffer;
  const Block block = rows.read(2, 2, buffer);
  EXPECT_EQ(block.y[0], 3);
  EXPECT_EQ(block.label[1], 0);
  EXPECT_EQ(block.weight_of(1), 8);
  EXPECT_EQ(block.precision_of(0), 11);
  EXPECT_EQ(block.offset_of(1), 16);
  EXPECT_TRUE(rows.has_response && rows.has_weights && rows.has_precision && rows.has_offset);
  const Block plain = MemoryRows(x).read(0, 1, buffer);
  EXPECT_EQ(plain.weight_of(0), 1);
  EXPECT_EQ(plain.precision_of(0), 1);
  EXPECT_EQ(plain.offset_of(0), 0);
}

TEST(MemoryRows, OfASparseMatrixAreDenseWhenTheyAreRead) {
  const Csr x{{0, 1, 1, 3}, {1, 0, 2}, {5, -1, 2}, 3};
  const std::vector<double> y{1, 2, 3};
  MemoryRows rows(x);
  rows.response(y);
  EXPECT_EQ(rows.count(), 3);
  EXPECT_EQ(rows.matrix(), nullptr);
  EXPECT_EQ(rows.sparse(), &x);
  EXPECT_EQ(gather(rows), (Matrix{{0, 5, 0}, {0, 0, 0}, {-1, 0, 2}}));
  BlockBuffer buffer;
  const Block outcome = rows.outcome(1, 2, buffer);
  EXPECT_EQ(outcome.rows(), 2);
  EXPECT_EQ(outcome.x.cols(), 0);
  EXPECT_EQ(outcome.y[1], 3);
}

TEST(Blocks, OfWideSparseRowsStayBelow32MegabytesWhenTheyAreMadeDense) {
  Csr x{{0, 0}, {}, {}, 100'000};
  EXPECT_EQ(block_rows(MemoryRows(x)), 32);
  x.width = 10;
  EXPECT_EQ(block_rows(MemoryRows(x)), block_rows(10));
}

TEST(MemoryRows, RefusesPartsThatDoNotFit) {
  const Matrix x = Matrix::Zero(3, 1);
  const std::vector<double> two(2);
  const std::vector<int> codes{0, 2, 1}, missing{0, -1, 1};
  BlockBuffer buffer;
  EXPECT_EQ(message_of([&] { MemoryRows(x).response(two); }), "there are 3 rows but 2 responses; each row needs one");
  EXPECT_EQ(message_of([&] {
              MemoryRows(x).labels(codes, {"a", "b"});
            }),
            "the label of row 2 is 2, must be from 0 to 1 (there are 2 classes)");
  EXPECT_THROW(MemoryRows(x).labels(missing, {"a", "b"}), Error);
  EXPECT_THROW(MemoryRows(x).weights(two), Error);
  EXPECT_THROW(MemoryRows(x).precision(two), Error);
  EXPECT_THROW(MemoryRows(x).offset(two), Error);
  EXPECT_THROW(MemoryRows(x).read(2, 2, buffer), Error);
  EXPECT_THROW(MemoryRows(x).read(-1, 2, buffer), Error);
}

TEST(Blocks, AreAPowerOfTwoOfRowsAndFourTimesAsLongAsWide) {
  for (const Index width : {0, 1, 20, 100, 256, 257, 500, 5000}) {
    const Index rows = block_rows(width);
    EXPECT_TRUE(std::has_single_bit(static_cast<std::size_t>(rows)));
    EXPECT_GE(rows, std::max<Index>(1024, 4 * width));
    EXPECT_LT(rows, std::max<Index>(1025, 8 * width));
  }
  const Matrix x(1025, 2);
  EXPECT_EQ(block_count(MemoryRows(x)), 2);
}

TEST(Blocks, AreVisitedAndGatheredWithEveryRowInItsPlace) {
  const Matrix x = Matrix::Random(5000, 2);
  EXPECT_EQ(gather(CopiedRows(MemoryRows(x)), on(4)), x);
  std::atomic<Index> rows = 0;
  for_each_block(MemoryRows(x), on(4), [&](const Block& block) { rows += block.rows(); });
  EXPECT_EQ(rows, 5000);
}

TEST(RequireFinite, NamesTheColumnAndTheFirstRow) {
  Matrix x = Matrix::Random(5000, 3);
  MemoryRows rows(x);
  rows.features = {"FL", "RW", "CL"};
  EXPECT_NO_THROW(require_finite(rows));
  x(4321, 0) = std::nan("");
  x(2999, 1) = -std::numeric_limits<double>::infinity();
  for (const int threads : {1, 4})
    EXPECT_EQ(message_of([&] { require_finite(rows, on(threads)); }),
              "'RW' is minus infinity in row 3000; it must be finite");
}

TEST(RequireFinite, AlsoLooksAtResponseWeightsPrecisionAndOffset) {
  const Matrix x = Matrix::Zero(2, 1);
  const std::vector<double> nan{1, std::nan("")}, negative{1, -1}, zero{1, 0};
  MemoryRows response(x);
  response.response(nan).target = "sales";
  EXPECT_EQ(message_of([&] { require_finite(response); }), "'sales' is NaN in row 2; it must be finite");
  EXPECT_EQ(message_of([&] { require_finite(MemoryRows(x).weights(negative)); }),
            "the weight is -1 in row 2; it must be finite and at least 0");
  EXPECT_NO_THROW(require_finite(MemoryRows(x).weights(zero)));
  EXPECT_THROW(require_finite(MemoryRows(x).precision(zero)), Error);
  EXPECT_THROW(require_finite(MemoryRows(x).offset(nan)), Error);
}

}  // namespace
}  // namespace lemma
