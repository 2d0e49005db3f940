// lemma/model/row_filter_test.cpp
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/model/overlap.hpp>
#include <lemma/model/row_filter.hpp>

namespace lemma {
namespace {

using Hashes = std::vector<std::uint64_t>;

/// Hashes first … first + count − 1 of an endless list, ascending.
Hashes hashes(std::uint64_t first, std::uint64_t count) {
  Hashes out;
  for (std::uint64_t i = first; i < first + count; ++i) out.push_back(hash_bytes(&i, sizeof i));
  std::sort(out.begin(), out.end());
  return out;
}

TEST(RowFilter, NeverOverlooksAMemberWhateverItsSize) {
  for (const int bits : {1, 3, 12, 33, 63, 64})
    for (const std::uint64_t size : {0, 1, 2, 3, 64, 1000}) {
      const Hashes members = hashes(0, size);
      const RowFilter filter(members, bits);
      EXPECT_EQ(filter.count(members).all, static_cast<Index>(size)) << bits;
      for (const auto member : members) EXPECT_EQ(filter.count({&member, 1}).all, 1) << bits << " " << size;
      EXPECT_TRUE(RowFilter::load(filter.save()) == filter);
    }
  const Hashes ends{0, 1, ~std::uint64_t{0} - 1, ~std::uint64_t{0}}, between{2, std::uint64_t{1} << 63};
  EXPECT_EQ(RowFilter(ends, 64).count(ends).all, 4);
  EXPECT_EQ(RowFilter(ends, 64).count(between).all, 0);
}

TEST(RowFilter, GivesFalseAlarmsAtTheRateItStatesInTenBitsARow) {
  for (const std::uint64_t size : {60'000, 100'000, 131'072}) {
    const RowFilter filter(hashes(0, size), RowFilter::bits_for(static_cast<Index>(size)));
    EXPECT_LE(8.0 * static_cast<double>(filter.bytes()), 10.0 * static_cast<double>(size));
    EXPECT_GT(filter.false_alarms(), 0.002);
    EXPECT_LT(filter.false_alarms(), 0.006);
    const Index others = 200'000, alarms = filter.count(hashes(1'000'000, static_cast<std::uint64_t>(others))).all;
    const double expected = filter.false_alarms() * static_cast<double>(others);
    EXPECT_NEAR(static_cast<double>(alarms), expected, 4 * std::sqrt(expected));
  }
}

TEST(RowFilter, OfFewRowsTakesNoMoreThan64KBAndHasHardlyAFalseAlarm) {
  for (const std::uint64_t size : {8'193, 20'000, 40'000}) {
    const RowFilter filter(hashes(0, size), RowFilter::bits_for(static_cast<Index>(size)));
    EXPECT_LE(filter.bytes(), 65536U);
    EXPECT_LT(filter.false_alarms(), size <= 20'000 ? 1e-6 : 1e-3);
  }
}

TEST(RowFilter, CountsRepeatedHashesEachTimeAndOnce) {
  const Hashes members = hashes(0, 1000);
  Hashes given(5, members[3]);
  given.insert(given.end(), 7, members[900]);
  EXPECT_EQ(RowFilter(members, 64).count(given).all, 12);
  EXPECT_EQ(RowFilter(members, 64).count(given).distinct, 2);
  EXPECT_EQ(RowFilter(members, 64).count(given).copies, 7);
}

TEST(RowFilter, MergesToTheFilterOfTheUnionFromEitherSide) {
  const Hashes a = hashes(0, 3000), b = hashes(2000, 5000), both = hashes(0, 7000);
  for (const auto& [p, q] : {std::pair{30, 30}, {30, 22}, {64, 20}}) {
    RowFilter one(a, p), other(b, q);
    const RowFilter expected(both, std::min(p, q)), second = other;
    other.merge(one);
    one.merge(second);
    EXPECT_TRUE(one == expected);
    EXPECT_TRUE(other == expected);
    one.merge(RowFilter(Hashes{}, 64));
    EXPECT_TRUE(one == expected);
  }
}

TEST(RowFilter, ThatIsDamagedIsRefused) {
  const RowFilter filter(hashes(0, 500), 40);
  const auto damaged = [&](const char* key, Value value) {
    Value out = filter.save();
    out.set(key, std::move(value));
    return out;
  };
  for (const Value& wrong :
       {damaged("bits", 0), damaged("bits", 65), damaged("bits", 39), damaged("size", 499), damaged("size", 501),
        damaged("size", -1), damaged("size", std::int64_t{1} << 60), damaged("words", words_as_value({})),
        damaged("words", words_as_value(Hashes(400, 0))), damaged("words", Value::Array{{1, 2}, {0, 0}})})
    EXPECT_THROW(RowFilter::load(wrong), Error);
}

TEST(BinomialUpper, IsTheTailOfTheBinomial) {
  EXPECT_EQ(binomial_upper(0, 5, 0.1), 1);
  EXPECT_EQ(binomial_upper(6, 5, 0.1), 0);
  EXPECT_EQ(binomial_upper(1, 5, 0), 0);
  EXPECT_NEAR(binomial_upper(1, 3, 0.5), 7.0 / 8, 1e-14);
  EXPECT_NEAR(binomial_upper(3, 3, 0.003), 2.7e-8, 1e-20);
  EXPECT_NEAR(binomial_upper(2, 4, 0.25), 1 - 0.75 * 0.75 * 0.75 * (0.75 + 1), 1e-14);
}

TEST(Overlap, BoundsHoldTheTrueNumber) {
  Overlap found;
  found.rows = found.asked = found.distinct_asked = 100'000;
  found.false_alarm = 0.004;
  for (const Index truly : {0, 5, 1'000, 99'000, 100'000}) {
    found.alarms = found.distinct_alarms = truly + static_cast<Index>(0.004 * static_cast<double>(100'000 - truly));
    EXPECT_LE(found.least(), truly);
    EXPECT_GE(found.most(), truly);
    EXPECT_NEAR(found.estimate(), static_cast<double>(truly), 2);
    EXPECT_LE(found.most() - found.least(), 130);
  }
  found.rows = found.asked = found.alarms = found.distinct_asked = found.distinct_alarms = 3;
  EXPECT_EQ(found.least(), 3);
  EXPECT_EQ(found.most(), 3);
  EXPECT_NEAR(found.chance(), 6.4e-8, 1e-12);
  EXPECT_FALSE(found.exact());
  found.distinct_asked = found.distinct_alarms = 1;  // one row, three times: chance had to strike but once
  EXPECT_NEAR(found.chance(), 0.004, 1e-12);
  found.false_alarm = 1e-9;
  EXPECT_TRUE(found.exact());
}

}  // namespace
}  // namespace lemma
