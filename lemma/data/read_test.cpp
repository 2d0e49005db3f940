// lemma/data/read_test.cpp
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/data/npy.hpp>
#include <lemma/data/read.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

using Ranges = std::vector<std::pair<Index, Index>>;

class Read : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    write_file((folder_ / name).string(), text);
    return (folder_ / name).string();
  }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("lemma_read_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

}  // namespace

TEST_F(Read, TakesFilesByTheirEnding) {
  EXPECT_EQ(read_table(write("a.csv", "x,y\n1,2\n")).names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read_table(write("a.tsv", "x y\tz\n1\t2\n")).names(), (std::vector<std::string>{"x y", "z"}));
  EXPECT_EQ(read_table(write("a.txt", "x y\n1 2\n")).names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read_table(write("a.svm", "1 1:2\n")).names(), (std::vector<std::string>{"y", "x1"}));
  const std::string npy = (folder_ / "a.npy").string();
  write_npy(Matrix{{1, 2}, {3, 4}}, npy);
  EXPECT_EQ(read_table(npy).names(), (std::vector<std::string>{"x1", "x2"}));
  ReadOptions options;
  options.csv.types["x1"] = ReadAs::text;
  EXPECT_EQ(message_of([&] { read_table(npy, options); }),
            fmt::format("'{}' holds numbers only: its columns can't be given types or levels", npy));
}

TEST_F(Read, TakesBuiltInDataSetsByName) {
  EXPECT_EQ(read_table("iris"), dataset("iris"));
  EXPECT_EQ(message_of([] { read_table("irsi"); }),
            "there is no file and no built-in data set 'irsi' (did you mean 'iris'?); `lemma datasets` lists them");
  EXPECT_EQ(message_of([] { read_table("iris.csv"); }),
            "there is no file 'iris.csv' (the built-in data set is called 'iris')");
}

TEST_F(Read, AFileWinsOverADataSet) {
  const auto before = std::filesystem::current_path();
  write("iris", "x,y\n1,2\n");
  std::filesystem::current_path(folder_);
  const Table table = read_table("iris");
  std::filesystem::current_path(before);
  EXPECT_EQ(table.rows(), 1);
}

TEST_F(Read, RowsAreCountedFromOneWithBothEnds) {
  EXPECT_EQ(parse_rows("1:3", 10), (Ranges{{0, 3}}));
  EXPECT_EQ(parse_rows("1,5,9", 10), (Ranges{{0, 1}, {4, 5}, {8, 9}}));
  EXPECT_EQ(parse_rows("8:", 10), (Ranges{{7, 10}}));
  EXPECT_EQ(parse_rows(":2,10", 10), (Ranges{{0, 2}, {9, 10}}));
  EXPECT_EQ(parse_rows("-1:3", 10), (Ranges{{3, 10}}));
  EXPECT_EQ(parse_rows("-5,-2:3,-10", 10), (Ranges{{0, 1}, {3, 4}, {5, 9}}));
  ReadOptions options;
  options.rows = "150,1:2";
  EXPECT_EQ(read_table("iris", options), dataset("iris").select(std::vector<Index>{149, 0, 1}));
}

TEST_F(Read, RowsThatDoNotExistAreErrors) {
  EXPECT_EQ(message_of([] { parse_rows("1:11", 10); }), "rows '1:11': there is no row 11: there are 10 rows");
  EXPECT_EQ(message_of([] { parse_rows("0", 10); }), "rows '0': there is no row 0: there are 10 rows");
  EXPECT_EQ(message_of([] { parse_rows("3:2", 10); }), "rows '3:2': 3:2 ends before it starts");
  EXPECT_EQ(message_of([] { parse_rows("1,-2", 10); }),
            "rows '1,-2': rows are either asked for or left out (-), not both");
  for (const char* text : {"", "a", "1-3", "1,,2", "1:2:3", "--1", "1 ", "99999999999999999999"})
    EXPECT_NE(message_of([&] { parse_rows(text, 10); }), "no error") << text;
}

TEST_F(Read, AStreamHoldsTheSameRows) {
  ReadOptions options;
  options.rows = "-2:3";
  for (const std::string& data : {write("a.csv", "x,c\n1,u\n2,v\n3,u\n4,w\n5,u\n"),
                                  write("a.svm", "1 1:2\n2 2:1\n3\n4\n"), std::string("usarrests")}) {
    const auto stream = open_table(data, options);
    EXPECT_EQ(read_all(*stream), read_table(data, options)) << data;
    EXPECT_EQ(open_table(data)->rows(), stream->rows() + 2);
  }
}

}  // namespace lemma
