// lemma/data/row_selection_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/row_selection.hpp>
#include <rapidcheck.h>

namespace lemma {
namespace {

TEST(RowSelection, NumberTheRowsOfTheTableThatAreLeft) {
  const bool holds = rc::check([] {
    const Index rows = *rc::gen::inRange<Index>(0, 3 * RowSelection::kPiece);
    const auto share = *rc::gen::element(0, 1, 50, 99, 100);
    const auto gap = *rc::gen::inRange<Index>(0, rows + 1);  // a piece may lose all its rows
    std::vector<Index> kept;
    for (Index row = 0; row < rows; ++row)
      if (static_cast<int>(row * 7919 % 100) < share && (row < gap || row > gap + RowSelection::kPiece))
        kept.push_back(row);
    const RowSelection those(rows, kept);
    RC_ASSERT(those.table_rows() == rows);
    RC_ASSERT(those.count() == static_cast<Index>(kept.size()));
    RC_ASSERT(those.all() == (static_cast<Index>(kept.size()) == rows));
    RC_ASSERT(those.rows(0, those.count()) == kept);
    Index before = 0;
    for (Index row = 0; row <= rows; ++row) {
      RC_ASSERT(those.before(row) == before);
      before += row < rows && before < those.count() && kept[static_cast<std::size_t>(before)] == row;
    }
    for (Index i = 0; i < those.count(); i += 17) {
      RC_ASSERT(those.row(i) == kept[static_cast<std::size_t>(i)]);
      RC_ASSERT(those.rows(i, 1) == std::vector<Index>{kept[static_cast<std::size_t>(i)]});
    }
  });
  EXPECT_TRUE(holds);
}

TEST(RowSelection, ThatAreAllOrNoneNeedNoBits) {
  const RowSelection all(10);
  EXPECT_TRUE(all.all());
  EXPECT_EQ(all.row(7), 7);
  EXPECT_EQ(all.before(10), 10);
  const RowSelection none(10, std::vector<Index>{});
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.before(10), 0);
  EXPECT_THROW(none.row(0), Error);
  EXPECT_TRUE(RowSelection().all());
}

}  // namespace
}  // namespace lemma
