// lemma/data/csv/lines_test.cpp: which lines of a file are rows: blank ones, comments, titles, ragged ones, open ends.
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/text.hpp>
#include <lemma/data/stream.hpp>
#include <unistd.h>

namespace lemma {
namespace {

using Strings = std::vector<std::string>;

std::string error_of(const std::string& text, const CsvOptions& options = {}) {
  try {
    parse_csv(text, options, "t.csv");
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

CsvOptions comments() {
  CsvOptions options;
  options.comment = '#';
  return options;
}

CsvOptions skipping() {
  CsvOptions options;
  options.ragged = Ragged::skip;
  return options;
}

/// Parsed in memory, in blocks of every size, on several threads, and streamed from a file: all must be this.
void expect_everywhere(const std::string& text, const Table& expected, CsvOptions options = {}) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("lemma_csv_lines_" + std::to_string(::getpid()) + ".csv")).string();
  write_file(path, text);
  const Strings notes = parse_csv(text, options).notes();
  for (std::size_t block = 1; block < text.size() + 2; block += 1 + block / 3)
    for (const int threads : {1, 3}) {
      options.block_bytes = block;
      options.execution.threads = threads;
      const Table table = parse_csv(text, options);
      ASSERT_EQ(table, expected) << "blocks of " << block << "\n" << text;
      ASSERT_EQ(table.notes(), notes) << text;
      const CsvStream stream(path, options);
      ASSERT_EQ(stream.schema().notes(), notes);
      ASSERT_EQ(stream.rows(), expected.rows());
      for (Index first = 0; first < expected.rows(); ++first)
        ASSERT_EQ(stream.read(first, 1), expected.slice(first, 1)) << "row " << first << ", blocks of " << block;
      ASSERT_EQ(stream.read(0, expected.rows()), expected);
    }
  std::filesystem::remove(path);
}

}  // namespace

TEST(CsvLines, BlankLinesAreNoRowsAndAreCounted) {
  const Table plain = parse_csv("a,b\n1,u\n2,v\n3,w\n");
  const std::string text = "\n  \na,b\n\n1,u\n\t\n\n2,v\n3,w\n\n\n";
  expect_everywhere(text, plain);
  EXPECT_EQ(parse_csv(text).notes(), (Strings{"5 blank lines are passed over (the first is line 1)"}));
  EXPECT_EQ(parse_csv("a,b\r\n1,u\r\n\r\n2,v\r\n3,w\r\n").notes(), (Strings{"1 blank line is passed over (line 3)"}));
  EXPECT_EQ(parse_csv("a,b\r1,u\r\r2,v\r3,w\r"), plain);
  EXPECT_EQ(parse_csv("1 2\n\n  3 4\n   \n").rows(), 2);
  EXPECT_TRUE(parse_csv("a,b\n1,u\n2,v\n\n\n").notes().empty());  // at the end they were never rows
}

TEST(CsvLines, ABlankLineInsideQuotesIsPartOfAText) {
  const std::string text = "a,b\n\"x\n\ny\",1\n\n\"\n#\n\",2\n";
  const Table table = parse_csv(text);
  ASSERT_EQ(table.rows(), 2);
  EXPECT_EQ(table.column("a").text(0), "x\n\ny");
  expect_everywhere(text, table);
  expect_everywhere(text, table, comments());
}

TEST(CsvLines, OfOneColumnABlankLineIsAMissingValue) {
  EXPECT_EQ(parse_csv("x\n1\n\n3\n").rows(), 3);
  EXPECT_EQ(parse_csv("\n1\n3\n").rows(), 3);
  EXPECT_EQ(parse_csv("# numbers\n\n1\n3\n", comments()).rows(), 3);
}

TEST(CsvLines, CommentsAreNoRows) {
  const Table plain = parse_csv("a,b\n1,#u\n2,v\n");
  expect_everywhere("# made by hand\na,b\n#1,t\n1,#u\n  # 1,2,3\n2,v\n#", plain, comments());
  EXPECT_TRUE(parse_csv("# x\na,b\n1,2\n", comments()).notes().empty());
  expect_everywhere("#5\" pipes\na,b\n1,#u\n# 6\" pipes\n2,v\n# \"\"\" \n", plain, comments());
  EXPECT_EQ(parse_csv("a,b\n\"x\n# y\",1\n", comments()).column("a").text(0), "x\n# y");
  EXPECT_EQ(error_of("# a\n# b\n", comments()), "t.csv is empty: there is no header and there are no rows");
  EXPECT_EQ(error_of("a,b\n1,2\n", {.comment = '1'}), "comments begin with a mark such as '#', not '1'");
  EXPECT_EQ(error_of("a|b\n1|2\n", {.comment = '|'}),
            "t.csv: fields are separated by '|', so comments can't begin with it");
}

TEST(CsvLines, LinesAtTheStartAreSkippedAndStillCounted) {
  CsvOptions options;
  options.skip = 2;
  EXPECT_EQ(parse_csv("Heights of \"people\nin metres\na,b\n1,u\n", options), parse_csv("a,b\n1,u\n"));
  EXPECT_EQ(parse_csv("x\r\ny\r\na,b\r\n1,u\r\n", options), parse_csv("a,b\n1,u\n"));
  EXPECT_EQ(error_of("x\ny\na,b\n1,u\n2\n", options),
            "t.csv, line 5: 1 field, expected 2: nothing for column 2 ('b') (--ragged skip leaves such lines out)");
  EXPECT_EQ(error_of("x\n", options), "t.csv has 1 line: --skip 2 leaves nothing");
}

TEST(CsvLines, ATitleIsRecognisedAndTheErrorSaysHowManyLines) {
  EXPECT_EQ(error_of("Heights 2024\n\nby hand, in metres\na,b,c\n1,2,3\n4,5,6\n"),
            "t.csv, line 1: 1 field, but from line 4 on there are 3: is it a title above the table? --skip 3 leaves it "
            "out (or does a text hold the delimiter without quotes around it?)");
  EXPECT_EQ(
      error_of("# made by hand\na,b,c\n1,2,3\n4,5,6\n"),
      "t.csv, line 1: 1 field, but from line 2 on there are 3: it looks like a comment; --comment '#' passes over "
      "lines that begin so, --skip 1 over the first");
  CsvOptions skip;
  skip.skip = 3;
  EXPECT_EQ(parse_csv("Heights 2024\n\nby hand, in metres\na,b,c\n1,2,3\n4,5,6\n", skip).rows(), 2);
  skip.skip = 1;
  EXPECT_NE(error_of("x\nHeights\na,b,c\n1,2,3\n4,5,6\n", skip).find("line 2: 1 field, but from line 3"),
            std::string::npos);
  EXPECT_NE(error_of("a,b\nr1,1,2\nr2,3,4\n")
                .find("line 1: 2 names, but the lines below have 3 fields: has the first "
                      "column no name?"),
            std::string::npos);
  EXPECT_NE(error_of("Heights\na,b,c\n1,2,3\n4,5,6\n", skipping()).find("--skip 1"), std::string::npos);
}

TEST(CsvLines, RaggedLinesAreSkippedWhereAskedAndCounted) {
  const Table plain = parse_csv("a,b\n1,u\n2,v\n3,\"x,y\"\n");
  const std::string text = "a,b\n1,u\n5\n2,v\n6,w,7\n\"two\nlines\"\n3,\"x,y\"\n,,\n";
  expect_everywhere(text, plain, skipping());
  EXPECT_EQ(parse_csv(text, skipping()).notes(),
            (Strings{"4 lines with another number of fields than 2 are skipped (the first is line 3, with 1)"}));
  EXPECT_EQ(error_of(text),
            "t.csv, line 3: 1 field, expected 2: nothing for column 2 ('b') (--ragged skip leaves such lines out)");
  CsvOptions blanks = skipping();
  blanks.delimiter = ' ';
  EXPECT_EQ(parse_csv("a b\n 1 2\n3\n 4  5 \n6 7 8\n", blanks).rows(), 2);
  EXPECT_EQ(parse_csv("a b\n 1 2\n3\n", blanks).notes(),
            (Strings{"1 line with another number of fields than 2 is skipped (line 3, with 1)"}));
}

TEST(CsvLines, AStrayQuoteDoesNotMakeGoodLinesRagged) {
  const std::string text = "a,b,c\n5\" pipe,1,2\n6\" pipe,3,4\n7\" pipe,5\n8\" pipe,6,7\n9 pipe,8,9\n";
  const Table table = parse_csv(text, skipping());
  ASSERT_EQ(table.rows(), 4);
  EXPECT_EQ(table.column("a").text(2), "8\" pipe");
  expect_everywhere(text, table, skipping());
  EXPECT_NE(error_of("a,b\n1,2\n3,\"x\n4,5\n", skipping()).find("line 3, column 2 ('b'): the quote"),
            std::string::npos);
}

TEST(CsvLines, ADelimiterAtTheEndOfEveryLineIsNoColumn) {
  const Table plain = parse_csv("a,b\n1,u\n2,v\n");
  for (const std::string text : {"a,b,\n1,u,\n2,v,\n", "a,b\n1,u,\n2,v,\n", "a,b,\r\n1,u, \r\n2,v,\t\r\n"}) {
    expect_everywhere(text, plain);
    EXPECT_EQ(parse_csv(text).notes(),
              (Strings{"every line ends with a delimiter: there is no column behind the last one"}));
  }
  EXPECT_EQ(parse_csv("1;2;\n3;4;\n").names(), (Strings{"V1", "V2"}));
  EXPECT_EQ(parse_csv("a,\n1,\n\n2,\n").rows(), 2);
  std::string text = "a,b,\n";
  for (int i = 0; i < 300; ++i) text += "1,u,\n";
  EXPECT_EQ(error_of(text + "2,v\n"),
            "t.csv, line 302: 2 fields, expected 3: no delimiter ends this line, but all others (--ragged skip leaves "
            "such lines out)");
}

TEST(CsvLines, WhatStandsBehindTheLastDelimiterAfterAllIsAColumn) {
  std::string text = "a,b,\n";
  for (int i = 0; i < 500; ++i) text += "1,2,\n";
  EXPECT_EQ(parse_csv(text).names(), (Strings{"a", "b"}));
  const Table table = parse_csv(text + "1,2,3\n");
  EXPECT_EQ(table.names(), (Strings{"a", "b", "V3"}));
  EXPECT_EQ(table.column("V3").missing(), 500);
  EXPECT_EQ(table.notes(), (Strings{"column 3 has no name; it is called 'V3'"}));
  EXPECT_EQ(parse_csv("1,2,\n3,4,\n5,6,\"\"\n").columns(), 3);  // an empty text is one
  EXPECT_NE(error_of("a,b\n1,2,\n3,4,\n5,6,7\n").find("line 1: 2 names, but the lines below have 3"),
            std::string::npos);
}

TEST(CsvLines, PassedOnRecordsAreThoseOfTheRows) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("lemma_csv_passed_" + std::to_string(::getpid()) + ".csv")).string();
  CsvOptions options = comments();
  options.ragged = Ragged::skip;
  options.skip = 1;
  for (const std::size_t block : {std::size_t{1}, std::size_t{9}, std::size_t{1} << 19}) {
    options.block_bytes = block;
    write_file(path, "title\n\na,b\n01,x\n\n# no\n 02 ,y,z\n03,y\n");
    CsvText text(path, options, true);
    EXPECT_EQ(text.header(), "a,b");
    CsvText::Cursor cursor(text);
    ASSERT_EQ(text.rows(), 2);
    EXPECT_EQ(cursor.record(0), "01,x");
    EXPECT_EQ(cursor.record(1), "03,y");
    write_file(path, "a,b\n01,x,\n02,y,\n");
    const CsvText open(path, {.block_bytes = block}, true);
    EXPECT_EQ(open.header(), "a,b");
    EXPECT_EQ(CsvText::Cursor(open).record(1), "02,y");  // what is put behind it stands in the next column
    write_file(path, "1;2;\n3;4;\n");
    EXPECT_EQ(CsvText(path, {.block_bytes = block}, true).header(), "V1;V2");
  }
  std::filesystem::remove(path);
}

TEST(CsvLines, AMistakeBehindLinesThatAreNoRowsHasItsPlace) {
  CsvOptions options = comments();
  options.ragged = Ragged::skip;
  options.types = {{"b", ReadAs::numeric}};
  for (const std::size_t block : {1u, 7u, 1000u}) {
    options.block_bytes = block;
    EXPECT_EQ(
        error_of("a,b\n# c\n\n1,2\n3\n\n4,inf\n", options),
        "t.csv, line 7, column 2 ('b'): 'inf' is not a finite number; leave the field empty if the value is missing");
    EXPECT_EQ(error_of("a,b\n# c\n\n1,2\n3\n\n4,x\n", options),
              "t.csv, line 7, column 2 ('b'): expected a number, found 'x'");
    EXPECT_NE(error_of("a,b\n# c\n\n1,2\n3\n\n\xE9,2\n", options).find("line 7, column 1 ('a'): byte 0xE9"),
              std::string::npos);
  }
}

TEST(CsvLines, AMissingValueMayBeSpelledAsANumber) {
  CsvOptions options;
  options.missing.push_back("-999");
  options.missing.push_back("9,9");
  const Table table = parse_csv("x,y\n-999,1\n2,-999\n-999.0,3\n", options);
  EXPECT_TRUE(table.column("x").is_missing(0));
  EXPECT_TRUE(table.column("y").is_missing(1));
  EXPECT_EQ(table.column("x").missing() + table.column("y").missing(), 2);  // -999.0 is another spelling
  EXPECT_EQ(parse_csv("x;y\n9,9;1\n1,5;2\n", options).column("x").missing(), 1);
}

TEST(CsvLines, RandomFilesWithLinesThatAreNoRowsGiveTheTableWithoutThem) {
  static const Strings fields = {"1", "2.5", "x", "\"a,b\"", "\"\"", "\"q\"\"q\"", "\"line\n\nend\"", "", " y ", "#"};
  static const Strings others = {"\n", "  \n", "# no, \n", "  #no\n", "1\n", "1,2,3,4\n", "\"a,b\"\n", ",,,\n"};
  CsvOptions options = comments();
  options.delimiter = ',';
  options.header = true;
  options.ragged = Ragged::skip;
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    RandomStream random(11, trial);
    const auto one_of = [&](const Strings& list) {
      return list[static_cast<std::size_t>(random.below(static_cast<Index>(list.size())))];
    };
    std::string plain = "a,b,c\n", with = one_of({"", "\n", "# \n"}) + "a,b,c\n";
    for (Index i = 0, rows = 8 + random.below(12); i < rows; ++i) {
      const std::string record = "k," + one_of(fields) + "," + one_of(fields) + "\n";
      while (random.below(3) == 0) with += one_of(others);
      plain += record;
      with += record;
    }
    while (random.below(2) == 0) with += one_of(others);
    expect_everywhere(with, parse_csv(plain, options), options);
  }
}

}  // namespace lemma
