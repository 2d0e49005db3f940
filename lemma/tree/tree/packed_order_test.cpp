// lemma/tree/tree/packed_order_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/tree/tree/grow.hpp>

namespace lemma {
namespace {

TEST(PackedOrder, GivesEachColumnInItsOrderOfAllRowsAndOfSome) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Matrix x(9,
           4);  // numbers with ties, categories of which one never comes, a column without a value, one without a gap
  x << 2, 3, kNone, 1,     //
      1, 0, kNone, 1,      //
      2, kNone, kNone, 1,  //
      kNone, 3, kNone, 1,  //
      -5, 0, kNone, 1,     //
      1, 3, kNone, 0,      //
      kNone, 1, kNone, 1,  //
      2, 0, kNone, 1,      //
      7, kNone, kNone, 2;
  MemoryRows rows(x);
  const std::vector<double> y(9, 1.0);
  rows.response(y);
  rows.levels = {{}, {"a", "b", "c", "d"}, {}, {}};
  const RankedColumns data = ranked_columns("tree", rows, {});
  RankedColumns used = data;
  const tree::PackedOrder packed(used, {});
  const auto same = [](const std::vector<RankedRow>& a, const std::vector<RankedRow>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const RankedRow& one, const RankedRow& other) {
      return one.row == other.row && one.rank == other.rank;
    });
  };
  const std::vector<std::uint8_t> in{1, 0, 1, 1, 0, 0, 1, 1, 0};
  for (Index j = 0; j < 4; ++j) {
    const auto& order = data.order[at(j)];
    EXPECT_TRUE(same(packed.rows(j, {}, 9), order)) << j;
    std::vector<RankedRow> some;
    for (const RankedRow& each : order)
      if (in[each.row] != 0) some.push_back(each);
    ASSERT_EQ(some.size(), 5U);
    EXPECT_TRUE(same(packed.rows(j, in, 5), some)) << j;
    EXPECT_TRUE(used.order[at(j)].empty()) << "its memory is given back";
  }
}

}  // namespace
}  // namespace lemma
