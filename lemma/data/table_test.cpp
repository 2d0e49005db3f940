// lemma/data/table_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/table.hpp>
#include <limits>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

Table small() {
  return Table({numeric("x", {1, kNaN, 0.1}), categorical("c", {"b", "", "a"}, {false, true, false}),
                text("t", {"one", "", "three"}, {false, false, true})},
               "small.csv");
}

}  // namespace

TEST(Table, LevelsAreOrderedByTheirBytes) {
  const Column column = categorical("c", {"b", "a", "B", "é", "b"});
  EXPECT_EQ(column.categories().levels, (std::vector<std::string>{"B", "a", "b", "é"}));
  EXPECT_EQ(column.categories().codes, (std::vector<std::int32_t>{2, 1, 0, 3, 2}));
}

TEST(Table, KnowsWhatIsMissingInEveryType) {
  const Table table = small();
  EXPECT_EQ(table.column("x").missing(), 1);
  EXPECT_TRUE(table.column("x").is_missing(1));
  EXPECT_EQ(table.column("c").missing(), 1);
  EXPECT_TRUE(table.column("c").is_missing(1));
  EXPECT_FALSE(table.column("t").is_missing(1));  // an empty text is one
  EXPECT_TRUE(table.column("t").is_missing(2));
  EXPECT_EQ(table.column("t").missing(), 1);
}

TEST(Table, ValuesAreWrittenAsInAFile) {
  const Table table = small();
  EXPECT_EQ(table.column("x").text(0), "1");
  EXPECT_EQ(table.column("x").text(1), "");
  EXPECT_EQ(table.column("x").text(2), "0.1");
  EXPECT_EQ(table.column("c").text(2), "a");
  EXPECT_EQ(to_text(100000), "100000");
  EXPECT_EQ(to_text(1.0 / 3), "0.3333333333333333");
}

TEST(Table, RefusesColumnsThatDoNotFit) {
  EXPECT_EQ(message_of([] { Table({numeric("x", {1}), numeric("x", {2})}); }), "two columns are called 'x'");
  EXPECT_EQ(message_of([] {
              Table({numeric("x", {1}), numeric("y", {})});
            }),
            "column 'y' has 0 rows, but column 'x' has 1");
  Table table = small();
  EXPECT_EQ(message_of([&] { table.add(numeric("x", {1, 2, 3})); }), "there is a column 'x' already");
  EXPECT_EQ(message_of([&] { table.add(numeric("z", {1})); }), "column 'z' has 1 rows, but the table has 3");
  EXPECT_EQ(table.columns(), 3);
  EXPECT_EQ(message_of([] {
              categorical("c", {"a"}, {true, false});
            }),
            "column 'c': 1 values, but 2 marks for missing");
}

TEST(Table, AMisspeltColumnGetsASuggestion) {
  const Table table({numeric("sepal_length", {1})}, "iris.csv");
  EXPECT_EQ(message_of([&] { table.column("sepal_lenght"); }),
            "iris.csv: there is no column 'sepal_lenght' (did you mean 'sepal_length'?)");
  EXPECT_EQ(table.find("Sepal"), nullptr);
}

TEST(Table, SelectKeepsTheOrderAskedForAndTheLevels) {
  const Table chosen = small().select(std::vector<Index>{2, 0, 0});
  EXPECT_EQ(chosen.column("x").numbers().values, (std::vector<double>{0.1, 1, 1}));
  EXPECT_EQ(chosen.column("c").categories().codes, (std::vector<std::int32_t>{0, 1, 1}));
  const Table none = small().select({});
  EXPECT_EQ(none.rows(), 0);
  EXPECT_EQ(none.column("c").categories().levels.size(), 2u);
  EXPECT_EQ(message_of([] { small().select(std::vector<Index>{3}); }), "there is no row 4: the table has 3 rows");
}

TEST(Table, SliceIsTheSelectionOfItsRows) {
  for (Index first = 0; first <= 3; ++first)
    for (Index count = 0; first + count <= 3; ++count) {
      std::vector<Index> rows;
      for (Index i = first; i < first + count; ++i) rows.push_back(i);
      EXPECT_EQ(small().slice(first, count), small().select(rows));
    }
  EXPECT_THROW(small().slice(1, 3), Error);
  EXPECT_THROW(small().slice(-1, 1), Error);
}

TEST(Table, EqualityMindsValuesAndNotTheirOrigin) {
  EXPECT_EQ(small(), small());
  EXPECT_EQ(small(), Table(small().all(), "elsewhere.csv"));
  EXPECT_NE(small(), small().slice(0, 2));
  EXPECT_NE(Table({numeric("x", {1})}), Table({numeric("x", {kNaN})}));
}

TEST(Table, FindsEachOfManyColumnsAlsoInPartsOfIt) {
  std::vector<Column> columns;
  columns.reserve(200);
  for (int j = 0; j < 200; ++j) columns.push_back(numeric("x" + std::to_string(j), {1.0 * j, 2.0 * j}));
  Table table(std::move(columns));
  table.add(numeric("last", {7, 8}));
  for (const Table& each : {table, table.slice(1, 1), table.select(std::vector<Index>{1, 0})}) {
    EXPECT_EQ(each.find("x150"), &each.column(150));
    EXPECT_EQ(each.find("last"), &each.column(200));
    EXPECT_EQ(each.find("x200"), nullptr);
  }
  EXPECT_THROW(table.add(numeric("x3", {0, 0})), Error);
}

}  // namespace lemma
