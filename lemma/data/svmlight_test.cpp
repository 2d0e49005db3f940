// lemma/data/svmlight_test.cpp
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/svmlight.hpp>

namespace lemma {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_svmlight(text, "t.svm");
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

}  // namespace

TEST(Svmlight, ReadsRowsAndComments) {
  const auto data = parse_svmlight("# a comment\n+1 1:0.5 3:-2 # and another\r\n\n-1\n2.5 2:1e-3");
  EXPECT_EQ(data.y, (std::vector<double>{1, -1, 2.5}));
  EXPECT_EQ(data.x.start, (std::vector<Index>{0, 2, 2, 3}));
  EXPECT_EQ(data.x.column, (std::vector<std::int32_t>{0, 2, 1}));
  EXPECT_EQ(data.x.value, (std::vector<double>{0.5, -2, 1e-3}));
  EXPECT_EQ(data.x.width, 3);
}

TEST(Svmlight, ATableHasTheZerosToo) {
  const Table table = to_table(parse_svmlight("1 2:5\n0 1:3\n"));
  EXPECT_EQ(table.names(), (std::vector<std::string>{"y", "x1", "x2"}));
  EXPECT_EQ(table.column("x1").numbers().values, (std::vector<double>{0, 3}));
  EXPECT_EQ(table.column("x2").numbers().values, (std::vector<double>{5, 0}));
}

TEST(Svmlight, ATableThatWouldNotFitIsRefused) {
  const auto data = parse_svmlight("1 2000000000:1\n", "wide.svm");
  EXPECT_EQ(data.x.width, 2000000000);
  EXPECT_THROW(to_table(data), Error);
  EXPECT_THROW(to_table(parse_svmlight("1 2:5\n"), 10), Error);
}

TEST(Svmlight, AQueryIsIgnoredWithANote) {
  const auto data = parse_svmlight("1 qid:3 1:2\n0 qid:4 2:1\n");
  EXPECT_EQ(data.x.value, (std::vector<double>{2, 1}));
  EXPECT_EQ(data.notes, (std::vector<std::string>{"qid is ignored (in 2 rows)"}));
  EXPECT_EQ(to_table(data).notes(), data.notes);
}

TEST(Svmlight, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(error_of("1 1:2\n1 0:2\n"), "t.svm, line 2: the index 0 is too small: indices start at 1");
  EXPECT_EQ(error_of("1 2:2 1:1\n"), "t.svm, line 1: the index 1 follows 2: indices ascend");
  EXPECT_EQ(error_of("1 2:2 2:1\n"), "t.svm, line 1: the index 2 comes twice");
  EXPECT_EQ(error_of("yes 2:2\n"), "t.svm, line 1: expected a label, found 'yes'");
  EXPECT_EQ(error_of("1 2:x\n"), "t.svm, line 1: expected a number after 2:, found 'x'");
  EXPECT_EQ(error_of("1 2=3\n"), "t.svm, line 1: expected index:value, found '2=3'");
  EXPECT_EQ(error_of("1 3000000000:1\n"), "t.svm, line 1: the index '3000000000:1' is larger than 2147483647");
  EXPECT_EQ(error_of("1 1:nan\n"), "t.svm, line 1: expected a number after 1:, found 'nan'");
  EXPECT_EQ(error_of("1 1:1e999\n"), "t.svm, line 1: '1e999' is too large for a double");
  EXPECT_EQ(error_of("1 1:\n2 1:1\n"), "t.svm, line 1: expected a number after 1:, found ''");
}

TEST(Svmlight, WhatIsWrittenIsReadBack) {
  const auto data = parse_svmlight("1 1:0.1 7:3e-300\n-1\n0.3333333333333333 2:1\n");
  const auto again = parse_svmlight(format_svmlight(data));
  EXPECT_EQ(again.x, data.x);
  EXPECT_EQ(again.y, data.y);
  const std::string path = (std::filesystem::temp_directory_path() / "lemma_svmlight_test.svm.gz").string();
  write_svmlight(data, path);
  EXPECT_EQ(read_svmlight(path).x, data.x);
  std::filesystem::remove(path);
  EXPECT_EQ(to_sparse(to_table(data)).x, data.x);
}

}  // namespace lemma
