// lemma/data/csv/forms_test.cpp: numbers in other forms, and dates.
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/forms.hpp>
#include <lemma/data/dates.hpp>
#include <lemma/data/stream.hpp>
#include <unistd.h>

namespace lemma {
namespace {

using Strings = std::vector<std::string>;
using Doubles = std::vector<double>;

Doubles numbers(const Table& table, std::string_view name) { return table.column(name).numbers().values; }
ColumnType type_of(const std::string& text, const CsvOptions& options = {}) {
  return parse_csv(text, options).column(0).type();
}

std::string error_of(const std::string& text, const CsvOptions& options) {
  try {
    parse_csv(text, options, "t.csv");
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

/// The same table and notes from every block size, and from a stream.
void expect_everywhere(const std::string& text, CsvOptions options = {}) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("lemma_csv_forms_" + std::to_string(::getpid()) + ".csv")).string();
  write_file(path, text);
  const Table whole = parse_csv(text, options);
  for (std::size_t block = 1; block < text.size() + 2; block += 1 + block / 3) {
    options.block_bytes = block;
    const Table again = parse_csv(text, options);
    ASSERT_EQ(again, whole) << text;
    ASSERT_EQ(again.notes(), whole.notes()) << text;
    const CsvStream stream(path, options);
    ASSERT_EQ(stream.schema(), whole.slice(0, 0)) << text;
    ASSERT_EQ(stream.schema().notes(), whole.notes());
    ASSERT_EQ(stream.read(0, whole.rows()), whole);
  }
  std::filesystem::remove(path);
}

}  // namespace

TEST(CsvForms, ThousandsCurrenciesAndPercentagesAreNumbersWithANote) {
  const Table table = parse_csv(
      "n,p,e,r,x\n\"1,234\",$5,5 \u20AC,12 %,1\n999,-$6.50,\"1,000.5 \u20AC\",-3.5%,2\n\"-12,345,678.25\",$-7,NA,0 "
      "%,3\n");
  EXPECT_EQ(numbers(table, "n"), (Doubles{1234, 999, -12345678.25}));
  EXPECT_EQ(numbers(table, "p"), (Doubles{5, -6.5, -7}));
  EXPECT_EQ(numbers(table, "e")[1], 1000.5);
  EXPECT_TRUE(table.column("e").is_missing(2));
  EXPECT_EQ(numbers(table, "r"), (Doubles{12, -3.5, 0}));
  EXPECT_EQ(
      table.notes(),
      (Strings{"column 'n' is read as numbers with their thousands set apart (--type n=categorical leaves it as it is "
               "written)",
               "column 'p' is read as numbers, without their $ (--type p=categorical leaves it as it is written)",
               "column 'e' is read as numbers, without their \u20AC, with their thousands set apart (--type "
               "e=categorical leaves it as it is written)",
               "column 'r' is read as numbers, without their % (12 % is 12) (--type r=categorical leaves it as it is "
               "written)"}));
}

TEST(CsvForms, OnlyAColumnWhoseValuesAllHaveTheFormIsChanged) {
  EXPECT_EQ(type_of("p,x\n$5,1\n6,2\n"), ColumnType::categorical);            // one without its $
  EXPECT_EQ(type_of("p,x\n$5,1\n\u20AC6,2\n"), ColumnType::categorical);      // two currencies
  EXPECT_EQ(type_of("p,x\n$5,1\n6$,2\n"), ColumnType::categorical);           // on two sides
  EXPECT_EQ(type_of("n,x\n\"1,234\",1\n1234,2\n"), ColumnType::categorical);  // with and without
  EXPECT_EQ(type_of("n,x\n\"1,23\",1\n\"1,234\",2\n"), ColumnType::categorical);
  EXPECT_EQ(type_of("n,x\n\"1234,567\",1\n"), ColumnType::categorical);
  EXPECT_EQ(type_of("n,x\n\"1,234\",1\n1e5,2\n"), ColumnType::categorical);
  EXPECT_EQ(type_of("n,x\n\"1,234\",1\ninf,2\n"), ColumnType::categorical);
  EXPECT_EQ(type_of("n,x\n$,1\n%,2\n"), ColumnType::categorical);
  EXPECT_EQ(type_of("d,x\n2024-01-01,1\n5,2\n"), ColumnType::categorical);
  EXPECT_EQ(type_of("d,x\n2024-02-30,1\n"), ColumnType::categorical);  // there is no such day
  EXPECT_EQ(type_of("d,x\n01.02.2024,1\n"), ColumnType::categorical);
  EXPECT_EQ(type_of("p,x\n$5,1\n$6,2\n", {.types = {{"p", ReadAs::categorical}}}), ColumnType::categorical);
  EXPECT_EQ(parse_csv("p,x\n$5,1\n$6,2\n$7,3\nfree,4\n").notes(),
            (Strings{"column 'p' is read as categorical: most of its values are numbers, but 'free' is not"}));
  EXPECT_EQ(parse_csv("p,x\n$5,1\n6,2\n").notes(),
            (Strings{"column 'p' is read as categorical: its numbers or dates are not all written in the same way"}));
}

TEST(CsvForms, TheWholeColumnDecidesAboutItsForm) {
  std::string text = "n,x\n";
  for (int i = 0; i < 3000; ++i) text += std::to_string(i % 900) + ",1\n";
  const Table grouped = parse_csv(text + "\"1,234\",1\n", {.block_bytes = 500});
  EXPECT_EQ(grouped.column("n").type(), ColumnType::numeric);
  EXPECT_EQ(numbers(grouped, "n")[3000], 1234);
  EXPECT_EQ(grouped.notes().size(), 1u);
  EXPECT_EQ(parse_csv(text + "\"1,234\",1\n1234,1\n", {.block_bytes = 500}).column("n").type(),
            ColumnType::categorical);
  std::string dates = "d,x\n";
  for (int i = 0; i < 3000; ++i) dates += "2024-01-0" + std::to_string(1 + i % 9) + ",1\n";
  EXPECT_EQ(parse_csv(dates).column("d").numbers().quantity, Quantity::date);
  EXPECT_EQ(parse_csv(dates + "2024-01-01T12:00,1\n").column("d").numbers().quantity, Quantity::time);
  EXPECT_EQ(parse_csv(dates + "tomorrow,1\n").column("d").type(), ColumnType::categorical);
}

TEST(CsvForms, ADecimalCommaMayComeWithPointsBetweenThousands) {
  const Table table = parse_csv("a;b\n1.234,56;1,5\n2.000;2,5\n");
  EXPECT_EQ(numbers(table, "a"), (Doubles{1234.56, 2000}));
  EXPECT_EQ(numbers(table, "b"), (Doubles{1.5, 2.5}));
  EXPECT_EQ(numbers(parse_csv("a;b\n1.234;1\n2.000;2\n"), "a"), (Doubles{1.234, 2}));
}

TEST(CsvForms, DatesAreDaysAndTimesAreDaysWithTheirFraction) {
  const Table table = parse_csv(
      "day,at,zone,x\n1970-01-01,2000-01-01 06:00,2000-01-01T00:00Z,1\n"
      "2024-02-29,2000-01-02,2000-01-01T01:00:00+01:00,2\nNA,,\"NA\",3\n");
  EXPECT_EQ(numbers(table, "day")[1], 19782);
  EXPECT_EQ(numbers(table, "at")[0], 10957.25);
  EXPECT_EQ(numbers(table, "zone")[0], numbers(table, "zone")[1]);
  EXPECT_EQ(table.column("day").missing() + table.column("at").missing() + table.column("zone").missing(), 3);
  EXPECT_EQ(table.column("day").text(1), "2024-02-29");
  EXPECT_EQ(table.column("at").text(0), "2000-01-01T06:00:00");
  EXPECT_EQ(table.column("zone").text(1), "2000-01-01T00:00:00Z");
  EXPECT_EQ(format_csv(table.slice(1, 1)), "day,at,zone,x\n2024-02-29,2000-01-02T00:00:00,2000-01-01T00:00:00Z,2\n");
  EXPECT_EQ(
      table.notes()[0],
      "column 'day' is read as dates, in days since 1970-01-01 (--type day=categorical leaves it as it is written)");
  expect_everywhere("day,at\n1970-01-01,2000-01-01 06:00\n2024-02-29,2000-01-02\nNA,\n");
}

TEST(CsvForms, WhatTheUserAsksForIsReadOrRefusedAtItsPlace) {
  CsvOptions options;
  options.types = {{"d", ReadAs::date}};
  EXPECT_EQ(parse_csv("d,x\n2024-01-02,1\n2024-01-02T12:00,2\n", options).column("d").numbers().quantity,
            Quantity::time);
  EXPECT_TRUE(parse_csv("d,x\n2024-01-02,1\n", options).notes().empty());
  EXPECT_EQ(parse_csv("d,x\nNA,1\n,2\n", options).column("d").numbers().quantity, Quantity::date);
  for (const std::size_t block : {4u, 1000u}) {
    options.block_bytes = block;
    EXPECT_EQ(error_of("d,x\n2024-01-02,1\n2024-13-02,2\n", options),
              "t.csv, line 3, column 1 ('d'): expected a date such as 2024-02-29, found '2024-13-02'");
    EXPECT_EQ(error_of("d,x\n19000,1\n", options),
              "t.csv, line 2, column 1 ('d'): expected a date such as 2024-02-29, found '19000'");
  }
  options.types = {{"d", ReadAs::numeric}};
  EXPECT_EQ(numbers(parse_csv("d,x\n$5,1\n$6,2\n", options), "d"), (Doubles{5, 6}));
  EXPECT_TRUE(parse_csv("d,x\n$5,1\n$6,2\n", options).notes().empty());
  EXPECT_EQ(error_of("d,x\n2024-01-02,1\n", options),
            "t.csv, line 2, column 1 ('d'): expected a number, found '2024-01-02'");
  EXPECT_EQ(error_of("d,x\n$5,1\n6,2\n", options), "t.csv, line 2, column 1 ('d'): expected a number, found '$5'");
}

TEST(CsvForms, AFirstLineOfValuesHoldsNoNames) {
  EXPECT_EQ(parse_csv("2024-01-01,a\n2024-01-02,b\n").rows(), 2);
  EXPECT_EQ(parse_csv("$5,a\n$6,b\n").rows(), 2);
  EXPECT_EQ(parse_csv("name,2024-01-01\na,5\nb,6\n").names(), (Strings{"name", "2024-01-01"}));  // a name is what it is
}

TEST(CsvForms, RandomColumnsGiveTheSameFromEveryBlockAndFromAStream) {
  static const std::vector<Strings> columns = {{"1", "22", "\"1,234\"", "NA", "\"-1,234,567.5\""},
                                               {"$5", "$1.5", "-$2", "", "$ 7"},
                                               {"12 %", "3%", "NA"},
                                               {"2024-01-01", "1999-12-31", ""},
                                               {"2024-01-01T10:00", "2024-01-01", "2024-01-01 23:59:59.125"},
                                               {"2024-01-01T10:00Z", "2024-01-01T10:00:00+02:00"},
                                               {"$5", "6", "x"},
                                               {"\"1,234\"", "2024-01-01"}};
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    RandomStream random(13, trial);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random.below(static_cast<Index>(n))); };
    const auto &a = columns[below(columns.size())], &b = columns[below(columns.size())];
    std::string text = "a,b\n";
    for (std::size_t i = 0, rows = 1 + below(25); i < rows; ++i)
      text += a[below(a.size())] + "," + b[below(b.size())] + "\n";
    CsvOptions options;
    options.delimiter = ',';
    options.header = true;
    expect_everywhere(text, options);
    const Table table = parse_csv(text, options);
    for (const auto& column : table.all()) options.types[column.name] = read_as(column);
    ASSERT_EQ(parse_csv(format_csv(table), options), table) << text;
  }
}

TEST(Dates, AreReadAsIsoWritesThemAndWrittenBack) {
  const auto days = [](std::string_view text) { return parse_moment(text).value().days; };
  EXPECT_EQ(days("1970-01-01"), 0);
  EXPECT_EQ(days("1969-12-31"), -1);
  EXPECT_EQ(days("2000-03-01") - days("2000-02-28"), 2);
  EXPECT_EQ(days("1900-03-01") - days("1900-02-28"), 1);
  EXPECT_EQ(days("1970-01-02T12:00"), 1.5);
  EXPECT_EQ(days("1970-01-01T02:00+02:00"), 0);
  EXPECT_EQ(days("1970-01-01T00:00-0130"), 0.0625);
  for (const char* text :
       {"", "2024", "2024-1-1", "2024-01-01x", "2024-01-01T", "2024-01-01T1:00", "2024-01-01T24:00", "2024-01-01T10:60",
        "2024-01-01T10:00:60", "2024-01-01T10:00:00.", "2024-01-01T10:00+", "20240101", "2023-02-29", "2024-00-10",
        "-024-01-01", "0000-01-01T00:00+01:00", "9999-12-31T23:59:59.9999999999"})
    EXPECT_FALSE(parse_moment(text)) << text;
}

TEST(Dates, ATextReadsBackToTheSameNumber) {
  EXPECT_EQ(moment_text(19782, Quantity::date), "2024-02-29");
  EXPECT_EQ(moment_text(19782.5, Quantity::date), "2024-02-29T12:00:00");
  EXPECT_EQ(moment_text(-0.5, Quantity::time), "1969-12-31T12:00:00");
  EXPECT_EQ(moment_text(1e300, Quantity::date), "1e+300");
  for (const std::string text : {"2024-02-29T12:30:05", "2024-02-29T12:30:05.5", "2024-02-29T12:30:05.000125"})
    EXPECT_EQ(moment_text(parse_moment(text)->days, Quantity::time), text);
  RandomStream random(17);
  for (int k = 0; k < 20000; ++k) {
    const double day = static_cast<double>(random.below(3652425) - 719528);
    std::string text = moment_text(day, Quantity::date);
    ASSERT_EQ(parse_moment(text).value().days, day) << text;
    const auto two = [&](Index below) { return std::string(1, '0' + static_cast<char>(below)); };
    text += "T1" + two(random.below(10)) + ":2" + two(random.below(10)) + ":3" + two(random.below(10));
    if (const Index digits = random.below(10); digits > 0) {
      text += '.';
      for (Index d = 0; d < digits; ++d) text += two(random.below(10));
    }
    const double value = parse_moment(text).value().days;
    const std::string again = moment_text(value, Quantity::time);
    ASSERT_EQ(parse_moment(again).value().days, value) << text << " " << again;
  }
}

}  // namespace lemma
