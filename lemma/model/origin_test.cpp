// lemma/model/origin_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/model/origin.hpp>

namespace lemma {
namespace {

RowSketch of(const Matrix& x) { return sketch(MemoryRows(x)); }
Overlap of_trained(const RowSketch& training, const Matrix& x) { return recognise(training, MemoryRows(x)).overlap; }
Execution threads(int count) {
  Execution out;
  out.threads = count;
  return out;
}

/// A row for each number, and no two alike.
Matrix numbered(Index first, Index count) {
  Matrix x(count, 2);
  for (Index i = 0; i < count; ++i) x.row(i) << static_cast<double>(first + i), 0.5 * static_cast<double>(first + i);
  return x;
}

/// What a file says that was written before rows were counted and filtered: two halves for each hash.
Value old_file(const RowSketch& sketch) {
  Value out = Value::object();
  Value::Array smallest{{static_cast<Index>(sketch.smallest().size()), 2}, {}};
  for (const auto h : sketch.smallest())
    for (const std::uint64_t half : {h >> 32, h & 0xffffffffU}) smallest.data.push_back(static_cast<double>(half));
  const std::uint64_t sum = sketch.hash();
  out.set("rows", sketch.rows());
  out.set("hash", Value::Array{{1, 2}, {static_cast<double>(sum >> 32), static_cast<double>(sum & 0xffffffffU)}});
  out.set("smallest", smallest);
  return out;
}

TEST(RowSketch, KnowsTheSameRowsInAnyOrder) {
  const Matrix x = normal_matrix(500, 3, 1);
  const Matrix reversed = x.colwise().reverse();
  EXPECT_TRUE(of(x) == of(reversed));
  EXPECT_TRUE(recognise(of(x), MemoryRows(reversed)).same);
  Matrix changed = x;
  changed(7, 1) = std::nextafter(changed(7, 1), 1.0);
  EXPECT_FALSE(recognise(of(x), MemoryRows(changed)).same);
  EXPECT_EQ(of_trained(of(x), changed).equal, 499);
}

TEST(RowSketch, CountsRowsAndNotDistinctOnes) {
  const RowSketch training = of(numbered(0, 100));
  Matrix judged(600, 2);
  judged << numbered(7, 1).replicate(500, 1), numbered(1000, 100);
  const Overlap found = of_trained(training, judged);
  EXPECT_EQ(found.equal, 500);
  EXPECT_TRUE(found.exact());
  EXPECT_FALSE(found.none());
  EXPECT_TRUE(of_trained(training, numbered(1000, 100)).none());
}

TEST(RowSketch, NeverSaysNoneOfRowsThatTrainedTheModel) {
  RandomStream random(5);
  for (const Index n : {1, 8'191, 8'192, 8'193, 30'000, 150'000}) {
    const Matrix all = numbered(0, n);
    const RowSketch training = RowSketch::load(of(all).save());
    EXPECT_EQ(training.complete(), n <= 8'192);
    for (int trial = 0; trial < 30; ++trial) {
      const Index from = random.below(n), many = 1 + random.below(std::min<Index>(5, n - from));
      const Overlap found = of_trained(training, numbered(from, many));
      EXPECT_EQ(found.equal + found.alarms, many) << n;
      EXPECT_FALSE(found.none());
      EXPECT_EQ(found.unknown, 0);
    }
    EXPECT_TRUE(recognise(training, MemoryRows(all)).same);
  }
}

TEST(RowSketch, GivesFalseAlarmsAtTheRateItStates) {
  for (const Index n : {10'000, 30'000, 150'000}) {
    const RowSketch training = of(numbered(0, n));
    const Index others = 100'000;
    const Overlap found = of_trained(training, numbered(n, others));
    EXPECT_EQ(found.equal, 0);
    EXPECT_EQ(found.asked + found.decided(), others);
    EXPECT_NEAR(static_cast<double>(found.alarms), found.by_chance(), 4 * std::sqrt(found.by_chance()) + 1e-9);
    EXPECT_LE(found.least(), 0);
    EXPECT_EQ(found.exact(), n == 10'000);
    Matrix mixed(others, 2);
    mixed << numbered(0, 9'000), numbered(n, others - 9'000);
    const Overlap part = of_trained(training, mixed);
    EXPECT_LE(part.least(), 9'000);
    EXPECT_GE(part.most(), 9'000);
    EXPECT_LE(part.most() - part.least(), 130);
  }
}

TEST(RowSketch, KnowsARowAmongManyThatIsRepeatedOften) {
  const RowSketch training = of(numbered(0, 100'000));
  Index row = 0;  // one that the sketch does not reach, so that the filter is asked
  while (of_trained(training, numbered(row, 1)).asked == 0) ++row;
  Matrix judged(1'500, 2);
  judged << numbered(row, 1).replicate(500, 1), numbered(200'000, 1'000);
  const Overlap found = of_trained(training, judged);
  EXPECT_EQ(found.copies, 500);
  EXPECT_EQ(found.as_many_copies, 1);
  EXPECT_LT(found.chance(), 0.012);  // twice the rate: one row of its kind, and chance would have had to meet it
  EXPECT_NEAR(found.estimate(), 500, 10);
  EXPECT_LE(found.least(), 500);
  EXPECT_GE(found.most(), 500);
}

TEST(RowSketch, IsTheSameBitsOnAnyNumberOfThreads) {
  const Matrix x = numbered(0, 40'000);
  const Matrix reversed = x.colwise().reverse();
  const RowSketch one = sketch(MemoryRows(x), threads(1));
  for (const int count : {2, 5}) EXPECT_TRUE(sketch(MemoryRows(x), threads(count)) == one);
  EXPECT_TRUE(of(reversed) == one);
}

TEST(RowSketch, OfTwoSetsMergesFromEitherSideAndForgetsNothing) {
  const std::vector<std::pair<Index, Index>> sizes{{100, 300}, {8'000, 8'000}, {100, 30'000}, {60'000, 20'000}};
  for (const auto& [m, n] : sizes) {
    const Matrix a = numbered(0, m), b = numbered(m - 50, n);  // 50 rows are in both
    RowSketch one = of(a), other = of(b);
    const RowSketch second = other;
    other.merge(one);
    one.merge(second);
    EXPECT_TRUE(one == other) << m << " " << n;
    EXPECT_EQ(one.rows(), m + n);
    const RowSketch read = RowSketch::load(one.save());
    EXPECT_TRUE(read == one);
    for (const Matrix* each : {&a, &b}) {
      const Overlap found = of_trained(read, *each);
      EXPECT_EQ(found.equal + found.alarms, each->rows());
      EXPECT_EQ(found.unknown, 0);
    }
    EXPECT_LT(of_trained(read, numbered(500'000, 10'000)).alarms, 100);
    Matrix both(m + n, 2);
    both << a, b;
    const RowSketch at_once = of(both);
    EXPECT_EQ(one.hash(), at_once.hash());
    EXPECT_EQ(one.smallest(), at_once.smallest());
    EXPECT_NEAR(one.twins()->share(), at_once.twins()->share(), 1e-15);
    RowSketch with_none = one;
    with_none.merge(RowSketch());
    EXPECT_TRUE(with_none == one);
  }
}

TEST(RowSketch, TellsHowManyTrainingRowsAreEqualToAnother) {
  Matrix x(130, 2);
  x << numbered(0, 100), numbered(0, 20), numbered(0, 10);
  const auto twins = of(x).twins();
  ASSERT_TRUE(twins);
  EXPECT_TRUE(twins->exact);
  EXPECT_EQ(twins->rows, 50);
  EXPECT_EQ(twins->of, 130);
  EXPECT_TRUE(RowSketch::load(of(x).save()) == of(x));
  Matrix many(40'000, 2);
  many << numbered(0, 30'000), numbered(0, 10'000);
  const auto about = of(many).twins();
  EXPECT_FALSE(about->exact);
  EXPECT_NEAR(about->share(), 0.5, 0.02);
}

TEST(RowSketch, WeightsBelongToTheRowsOfTheFitAndOffsetAndResponseToTheRow) {
  const Matrix x = normal_matrix(40, 2, 3);
  const std::vector<double> y(40, 1), twice(40, 2), ones(40, 1);
  const auto rows = [&] { return MemoryRows(x).response(y); };
  const RowSketch plain = sketch(rows()), weighted = sketch(rows().weights(ones)), offset = sketch(rows().offset(ones));
  EXPECT_TRUE(recognise(weighted, rows().weights(ones)).same);
  for (const auto& other : {rows().weights(twice), rows(), rows().weights(ones).precision(twice)}) {
    EXPECT_FALSE(recognise(weighted, other).same);            // other weights are another fit,
    EXPECT_EQ(recognise(weighted, other).overlap.equal, 40);  // yet the rows were learned from
  }
  EXPECT_TRUE(recognise(offset, rows().offset(ones)).same);
  EXPECT_TRUE(recognise(offset, rows().offset(twice)).overlap.none());
  EXPECT_TRUE(recognise(plain, MemoryRows(x).response(twice)).overlap.none());
  RowKey without;
  without.response = false;
  EXPECT_EQ(recognise(sketch(rows(), without), MemoryRows(x)).overlap.equal, 40);
  for (const RowSketch& each : {plain, weighted, offset, sketch(rows(), without)})
    EXPECT_TRUE(RowSketch::load(each.save()) == each);
}

TEST(RowSketch, OfRowsWithoutTheirZerosIsThatOfTheDenseOnes) {
  const Csr sparse{{0, 2, 2, 3}, {0, 2, 1}, {0.5, -2, 4}, 3};
  const Matrix dense{{0.5, 0, -2}, {0, 0, 0}, {0, 4, 0}};
  const std::vector<double> y{1, 2, 3}, other{1, 2, 4};
  const RowSketch without = sketch(MemoryRows(sparse).response(y));
  EXPECT_FALSE(without.key().zeros);
  EXPECT_TRUE(recognise(without, MemoryRows(dense).response(y)).same);
  EXPECT_EQ(recognise(without, MemoryRows(dense).response(other)).overlap.equal, 2);
  EXPECT_TRUE(recognise(sketch(MemoryRows(dense).response(y)), MemoryRows(sparse).response(y)).same);
  EXPECT_TRUE(RowSketch::load(without.save()) == without);
}

TEST(RowSketch, OfAnOldFileIsExactForFewRowsAndSaysWhatItDoesNotKnowOfMany) {
  const RowSketch few = RowSketch::load(old_file(of(numbered(0, 500))));
  EXPECT_EQ(of_trained(few, numbered(400, 200)).equal, 100);
  EXPECT_TRUE(of_trained(few, numbered(500, 200)).none());
  const RowSketch many = RowSketch::load(old_file(of(numbered(0, 20'000))));
  EXPECT_EQ(many.filter().bits(), 0);
  EXPECT_FALSE(many.twins());
  const Overlap found = of_trained(many, numbered(15'000, 10'000));
  EXPECT_EQ(found.unknown + found.decided(), 10'000);
  EXPECT_GT(found.unknown, 5'000);
  EXPECT_FALSE(found.exact());
  EXPECT_NEAR(static_cast<double>(found.equal), 0.5 * static_cast<double>(found.decided()), 200);
  EXPECT_FALSE(of_trained(many, numbered(30'000, 1'000)).none());
  RowSketch updated = many;
  updated.merge(of(numbered(20'000, 100)));
  EXPECT_TRUE(RowSketch::load(updated.save()) == updated);
  EXPECT_GT(of_trained(updated, numbered(0, 1'000)).unknown, 0);
}

TEST(RowSketch, RefusesADamagedFile) {
  const RowSketch some = of(numbered(0, 9'000));
  const auto& smallest = some.smallest();
  std::vector<std::uint64_t> unsorted = smallest, twice = smallest, more = smallest;
  std::swap(unsorted[3], unsorted[4]);
  twice[4] = twice[3];
  more.push_back(more.back() + 1);
  const auto damaged = [&](const char* key, Value value) {
    Value out = some.save();
    out.set(key, std::move(value));
    return out;
  };
  for (const Value& wrong :
       {damaged("hash", Value::Array{{1, 2}, {-1, 0.5}}), damaged("rows", 8'000), damaged("rows", -1),
        damaged("smallest", words_as_value(unsorted)), damaged("smallest", words_as_value(twice)),
        damaged("smallest", words_as_value(more)), damaged("smallest", words_as_value({})),
        damaged("times", words_as_value({})), damaged("times", words_as_value({~std::uint64_t{0}})),
        damaged("filter", RowFilter(std::vector<std::uint64_t>{1, 2}, 64).save()), damaged("filter", Value(3))})
    EXPECT_THROW(RowSketch::load(wrong), Error);
  Value complete = of(numbered(0, 50)).save();
  complete.set("rows", 51);  // 50 hashes of one row each
  EXPECT_THROW(RowSketch::load(complete), Error);
}

TEST(Origin, AfterUpdatesRemembersAllRowsAndWhereTheyCameFrom) {
  const Origin first{"a.csv", of(numbered(0, 50))};
  EXPECT_TRUE(Origin::load(first.save()).parts.empty());
  Origin all = first.with("b.csv", of(numbered(50, 30)));
  EXPECT_EQ(all.name, "a.csv + b.csv");
  for (const char* name : {"c.csv", "d.csv", "e.csv", "f.csv"}) all = all.with(name, of(numbered(80, 10)));
  const Origin read = Origin::load(all.save());
  EXPECT_EQ(read.name, "a.csv + b.csv + c.csv + d.csv + 2 more");
  EXPECT_EQ(read.rows.rows(), 120);
  ASSERT_EQ(read.parts.size(), 6U);
  EXPECT_TRUE(read.parts[1].is(of(numbered(50, 30))));
  EXPECT_FALSE(read.parts[1].is(of(numbered(51, 30))));
  EXPECT_EQ(of_trained(read.rows, numbered(0, 100)).equal, 90);
  for (const char* key : {"rows", "name", "hash"}) {
    Value::List parts = all.save().at("parts").as_list();
    parts[0].set(key, Value(1'000'000));
    Value wrong = all.save();
    wrong.set("parts", parts);
    EXPECT_THROW(Origin::load(wrong), Error) << key;
  }
  Value fewer = all.save();
  fewer.set("parts", Value::List{});
  EXPECT_THROW(Origin::load(fewer), Error);
}

}  // namespace
}  // namespace lemma
