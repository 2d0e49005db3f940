// lemma/data/column_rows_test.cpp
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/column_rows.hpp>

namespace lemma {

TEST(ColumnRows, GiveTheRowsOfTheirColumns) {
  const Index n = 1000, p = 7;
  Matrix x(n, p);
  std::vector<std::vector<double>> columns(static_cast<std::size_t>(p));
  std::vector<const double*> looked_at;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < n; ++i)
      columns[static_cast<std::size_t>(j)].push_back(x(i, j) = static_cast<double>(i * p + j));
    looked_at.push_back(columns[static_cast<std::size_t>(j)].data());
  }
  const ColumnRows all(looked_at, n);
  EXPECT_EQ(all.width(), p);
  BlockBuffer buffer;
  for (const auto& [first, size] : std::vector<std::pair<Index, Index>>{{0, n}, {63, 66}, {999, 1}, {5, 0}})
    EXPECT_EQ(Matrix(all.read(first, size, buffer).x), Matrix(x.middleRows(first, size)));
  EXPECT_EQ(gather(all), x);
  const ColumnRows some(looked_at, {3, 999, 3});
  Matrix expected(3, p);
  expected << x.row(3), x.row(999), x.row(3);
  EXPECT_EQ(gather(some), expected);
  EXPECT_THROW(all.read(999, 2, buffer), Error);
}

}  // namespace lemma
