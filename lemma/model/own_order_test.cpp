// lemma/model/own_order_test.cpp
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/model/own_order.hpp>
#include <tests/sparse_of.hpp>

namespace lemma {
namespace {

/// 50 rows, some of them alike in their features, with classes and weights.
struct Sample {
  Matrix x;
  Labels codes;
  std::vector<double> weight;
  Csr sparse;
  Sample() : x(normal_matrix(50, 3, 4)) {
    for (Index i = 0; i < 50; ++i) {
      if (i % 5 == 0) x.row(i).setZero();
      codes.push_back(static_cast<int>(i % 10 == 0));
      weight.push_back(1 + static_cast<double>(i % 20 == 0));
    }
    sparse = sparse_of(x);
  }
  MemoryRows rows(bool without_zeros) const {
    MemoryRows out = without_zeros ? MemoryRows(sparse) : MemoryRows(x);
    out.features = {"a", "b", "c"};
    out.labels(codes, {"no", "yes"});
    out.weights(weight);
    return out;
  }
};

TEST(OwnOrder, IsTheSameRowsInWhateverOrderTheyCome) {
  const Sample sample;
  for (const bool without_zeros : {false, true}) {
    const MemoryRows rows = sample.rows(without_zeros);
    RandomStream stream(3);
    std::vector<Index> shuffled(50);
    for (Index i = 0; i < 50; ++i) shuffled[static_cast<std::size_t>(i)] = i;
    stream.shuffle(std::span(shuffled));
    const SelectedRows others(rows, shuffled);
    const RowsInOwnOrder one(rows), two(others);
    EXPECT_EQ((*one).features, rows.features);
    EXPECT_EQ((*one).classes, rows.classes);
    EXPECT_EQ((*one).sparse() != nullptr, without_zeros);
    BlockBuffer a, b;
    const Block p = (*one).read(0, 50, a), q = (*two).read(0, 50, b);
    EXPECT_TRUE(p.x == q.x);
    EXPECT_TRUE(std::ranges::equal(p.label, q.label));
    EXPECT_TRUE(std::ranges::equal(p.weight, q.weight));
    EXPECT_NE(own_order(rows), own_order(others));
    std::vector<Index> all = own_order(rows);
    std::sort(all.begin(), all.end());
    for (Index i = 0; i < 50; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  }
}

}  // namespace
}  // namespace lemma
