// lemma/data/stream_test.cpp
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/data/csv/packed.hpp>
#include <lemma/data/npy.hpp>
#include <lemma/data/stream.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

class Stream : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("lemma_stream_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

Table mixed(Index rows) {
  std::vector<double> x;
  std::vector<std::string> c;
  for (Index i = 0; i < rows; ++i) {
    x.push_back(0.1 * static_cast<double>(i));
    c.push_back(i % 3 == 0 ? "u" : i % 3 == 1 ? "v" : "w");
  }
  return Table({numeric("x", x), categorical("c", c)});
}

}  // namespace

TEST_F(Stream, OverMemoryGivesSlices) {
  const Table table = mixed(10);
  const MemoryTableStream stream(table);
  EXPECT_EQ(stream.rows(), 10);
  EXPECT_EQ(stream.schema().rows(), 0);
  EXPECT_EQ(stream.schema().column("c").categories().levels, (std::vector<std::string>{"u", "v", "w"}));
  EXPECT_EQ(stream.read(3, 4), table.slice(3, 4));
  EXPECT_EQ(stream.table(), &table);
}

TEST_F(Stream, OverACsvFileKeepsLevelsThatABlockDoesNotHold) {
  const Table table = mixed(1000);
  write_csv(table, path("t.csv"));
  CsvOptions options;
  options.block_bytes = 256;
  const CsvStream stream(path("t.csv"), options);
  EXPECT_EQ(stream.rows(), 1000);
  const Table one = stream.read(500, 1);
  EXPECT_EQ(one.column("c").categories().levels.size(), 3u);
  EXPECT_EQ(one, table.slice(500, 1));
  EXPECT_EQ(read_all(stream), table);
  EXPECT_EQ(message_of([&] { stream.read(999, 2); }), "there are no rows 1000 to 1001: the table has 1000 rows");
}

TEST_F(Stream, OfACsvFileOnlyTheColumnsAskedForAreParsed) {
  const Table table = mixed(1000);
  write_csv(table, path("t.csv"));
  CsvOptions options;
  options.block_bytes = 256;
  const CsvStream stream(path("t.csv"), options);
  EXPECT_EQ(stream.read_columns(490, 20, {"nowhere", "c"}), Table({table.slice(490, 20).column("c")}));
  EXPECT_EQ(stream.read_columns(490, 20, {"c", "x"}), table.slice(490, 20));  // in the order of the file
  EXPECT_EQ(stream.read_columns(490, 20, {}), table.slice(490, 20));          // no column at all would have no rows
  EXPECT_EQ(message_of([&] { stream.read_columns(999, 2, {"c"}); }),
            "there are no rows 1000 to 1001: the table has 1000 rows");
  const SelectedStream some(std::make_unique<CsvStream>(path("t.csv"), options), {{0, 2}, {500, 503}});
  const Table selected = some.read_columns(1, 3, {"x"});
  EXPECT_EQ(selected,
            Table({numeric("x", {table.column("x").numbers().values[1], table.column("x").numbers().values[500],
                                 table.column("x").numbers().values[501]})}));
}

TEST_F(Stream, NamesMistakesOfTheFileWhenItIsOpened) {
  write_file(path("bad.csv"), "a,b\n1,2\n3\n");
  EXPECT_EQ(message_of([&] { CsvStream stream(path("bad.csv")); }),
            "bad.csv, line 3: 1 field, expected 2: nothing for column 2 ('b') (--ragged skip leaves such lines out)");
}

TEST_F(Stream, RefusesWhatCannotBeReadTwice) {
  write_file(path("t.csv.gz"), pack(Packing::gzip, "a,b\n1,2\n"));
  EXPECT_EQ(message_of([&] { CsvStream stream(path("t.csv.gz")); }),
            fmt::format("'{}' is packed or not a regular file and can't be read in pieces; unpack it first",
                        path("t.csv.gz")));
  EXPECT_EQ(message_of([] { CsvStream stream("-"); }),
            "standard input can't be read in pieces; save it to a file first");
}

TEST_F(Stream, OverANpyFileGivesItsRows) {
  Matrix x(50, 3);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<double>(i) / 7;
  write_npy(x, path("x.npy"));
  const NpyStream stream(path("x.npy"));
  EXPECT_EQ(stream.rows(), 50);
  EXPECT_EQ(stream.schema().names(), (std::vector<std::string>{"x1", "x2", "x3"}));
  const Table part = stream.read(20, 5);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 3; ++j) EXPECT_EQ(part.column(j).numbers().values[static_cast<std::size_t>(i)], x(20 + i, j));
  EXPECT_THROW(stream.read(48, 3), Error);
}

TEST_F(Stream, ASelectionIsReadRangeByRange) {
  const Table table = mixed(20);
  const SelectedStream stream(std::make_unique<MemoryTableStream>(table), {{15, 18}, {2, 2}, {0, 4}});
  EXPECT_EQ(stream.rows(), 7);
  const Table expected = table.select(std::vector<Index>{15, 16, 17, 0, 1, 2, 3});
  for (Index first = 0; first <= 7; ++first)
    for (Index count = 0; first + count <= 7; ++count)
      EXPECT_EQ(stream.read(first, count), expected.slice(first, count));
}

TEST_F(Stream, TablesWithOtherLevelsAreStackedByName) {
  const Table a({categorical("c", {"u", "v"})}), b({categorical("c", {"w", "v", ""}, {false, false, true})});
  const Table both = stack({a, b});
  EXPECT_EQ(both.column("c").categories().levels, (std::vector<std::string>{"u", "v", "w"}));
  EXPECT_EQ(both.column("c").categories().codes, (std::vector<std::int32_t>{0, 1, 2, 1, -1}));
}

TEST_F(Stream, KnowsWhatItWouldTakeInMemory) {
  const Table table = mixed(1000);
  EXPECT_GE(memory_needed(MemoryTableStream(table)), 12000u);
  EXPECT_LE(memory_needed(MemoryTableStream(table)), 12200u);
}

}  // namespace lemma
