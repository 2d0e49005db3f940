// lemma/model/origin_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/model/origin.hpp>

namespace lemma {
namespace {

RowSketch of(const Matrix& x) { return sketch(MemoryRows(x)); }

TEST(RowSketch, KnowsTheSameRowsInAnyOrder) {
  const Matrix x = normal_matrix(500, 3, 1);
  const Matrix reversed = x.colwise().reverse();
  EXPECT_EQ(of(x).hash(), of(reversed).hash());
  EXPECT_EQ(of(x).share_of(of(reversed)), 1.0);
  Matrix changed = x;
  changed(7, 1) = std::nextafter(changed(7, 1), 1.0);
  EXPECT_NE(of(x).hash(), of(changed).hash());
  EXPECT_EQ(of(x).share_of(of(changed)), 499.0 / 500.0);
}

TEST(RowSketch, CountsTheShareExactlyForFewRowsAndCloselyForMany) {
  const Matrix few = normal_matrix(300, 2, 2);
  EXPECT_EQ(of(few.topRows(200)).share_of(of(few.bottomRows(150))), 50.0 / 150.0);
  EXPECT_EQ(of(few.topRows(100)).share_of(of(few.bottomRows(100))), 0.0);
  const Matrix many = normal_matrix(60000, 2, 3);
  EXPECT_NEAR(of(many.topRows(40000)).share_of(of(many.bottomRows(40000))), 0.5, 0.03);
}

TEST(RowSketch, OfRowsWithoutTheirZerosIsThatOfTheDenseOnes) {
  const Csr sparse{{0, 2, 2, 3}, {0, 2, 1}, {0.5, -2, 4}, 3};
  const Matrix dense{{0.5, 0, -2}, {0, 0, 0}, {0, 4, 0}};
  const std::vector<double> y{1, 2, 3}, other{1, 2, 4};
  const RowSketch without = sketch(MemoryRows(sparse).response(y));
  EXPECT_EQ(without.hash(), sketch_like(without, MemoryRows(dense).response(y)).hash());
  EXPECT_EQ(without.share_of(sketch_like(without, MemoryRows(dense).response(other))), 2.0 / 3.0);
  EXPECT_EQ(RowSketch::load(without.save()).of(), RowSketch::Of::nonzero_features);
}

TEST(RowSketch, MergingBlocksEqualsOnePassAndAnEmptySideChangesNothing) {
  const Matrix x = normal_matrix(3000, 2, 4);
  RowSketch merged;
  for (const Index size : {1, 999, 2000}) {
    RowSketch part;
    part.accumulate(Block(x.middleRows(merged.rows(), size), 0));
    merged.merge(part);
    merged.merge(RowSketch());
  }
  EXPECT_EQ(merged.rows(), 3000);
  EXPECT_EQ(merged.hash(), of(x).hash());
  EXPECT_EQ(merged.smallest(), of(x).smallest());
}

TEST(RowSketch, SurvivesItsFileAndRefusesADamagedOne) {
  const RowSketch a = of(normal_matrix(50, 2, 5));
  const RowSketch b = RowSketch::load(a.save());
  EXPECT_EQ(b.hash(), a.hash());
  EXPECT_EQ(b.smallest(), a.smallest());
  Value damaged = a.save();
  damaged.set("hash", Value(Value::Array{{1, 2}, {-1, 0.5}}));
  EXPECT_THROW(RowSketch::load(damaged), Error);
}

}  // namespace
}  // namespace lemma
