// lemma/model/sketched_rows_test.cpp: the memory of rows that were hashed as they were read.
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/model/sketched_rows.hpp>

namespace lemma {
namespace {

struct Data {
  Matrix x;
  std::vector<double> y, w;
  explicit Data(Index n) : x(normal_matrix(n, 3, 5)), y(static_cast<std::size_t>(n)), w(static_cast<std::size_t>(n)) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = static_cast<double>(i % 17);
      w[i] = static_cast<double>(1 + i % 3);
    }
  }
  MemoryRows rows() const {
    MemoryRows out(x);
    out.response(y).weights(w);
    return out;
  }
};

}  // namespace

TEST(SketchedRows, RememberWhatAPassOfItsOwnWould) {
  for (const Index n : {0, 1, 255, 256, 257, 5000, 40000}) {
    const Data data(n);
    const MemoryRows rows = data.rows();
    for (const int threads : {1, 3}) {
      Execution execution;
      execution.threads = threads;
      const RowKey key = key_of(rows, true);
      const RowSketch expected = sketch(rows, key, execution);
      SketchedRows unread(rows, key);
      EXPECT_TRUE(unread.sketch(execution) == expected) << n;
      SketchedRows scanned(rows, key);
      for (int pass = 0; pass < 2; ++pass) scan(scanned, ColumnMoments(3), execution);  // each row counts once
      EXPECT_TRUE(scanned.sketch(execution) == expected) << n;
    }
  }
}

TEST(SketchedRows, AnyReadsLeaveTheSameMemory) {
  const Data data(3000);
  const MemoryRows rows = data.rows();
  const RowKey key = key_of(rows, false);
  const RowSketch expected = sketch(rows, key);
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    RandomStream random(3, trial);
    SketchedRows sketched(rows, key);
    BlockBuffer buffer;
    for (int k = 0; k < 20; ++k) {
      const Index first = random.below(3000), size = random.below(3000 - first + 1);
      EXPECT_EQ(Matrix(sketched.read(first, size, buffer).x), Matrix(data.x.middleRows(first, size)));
    }
    EXPECT_TRUE(sketched.sketch({}) == expected);
  }
}

}  // namespace lemma
