// lemma/data/csv_test.cpp: what the reader makes of well-formed files, and of the odd ones that people have.
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>

namespace lemma {
namespace {

std::vector<double> numbers(const Table& table, std::string_view name) { return table.column(name).numbers().values; }
std::vector<std::string> levels(const Table& table, std::string_view name) {
  return table.column(name).categories().levels;
}
std::vector<std::string> texts(const Table& table, std::string_view name) {
  std::vector<std::string> all;
  for (Index i = 0; i < table.rows(); ++i)
    all.push_back(table.column(name).is_missing(i) ? "<missing>" : table.column(name).text(i));
  return all;
}
using Strings = std::vector<std::string>;
using Doubles = std::vector<double>;

}  // namespace

TEST(Csv, ReadsNumbersAndLabels) {
  const Table table = parse_csv("x,species\n1.5,setosa\n-2e3,virginica\n.5,setosa\n");
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(numbers(table, "x"), (Doubles{1.5, -2000, 0.5}));
  EXPECT_EQ(levels(table, "species"), (Strings{"setosa", "virginica"}));
  EXPECT_EQ(table.column("species").categories().codes, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_TRUE(table.notes().empty());
}

TEST(Csv, QuotedFieldsHoldAnything) {
  const Table table = parse_csv("a,b\n\"x, y\",1\n\"say \"\"hi\"\"\",2\n\"two\nlines\",3\n\"\"\"\",4\n");
  EXPECT_EQ(texts(table, "a"), (Strings{"x, y", "say \"hi\"", "two\nlines", "\""}));
  EXPECT_EQ(numbers(table, "b"), (Doubles{1, 2, 3, 4}));
}

TEST(Csv, LineEndsOfEverySystemGiveTheSameTable) {
  const std::string unix_text = "a,b\n1,u\n2,\"v\nw\"\n3,w\n";
  const Table expected = parse_csv(unix_text);
  std::string dos, mac;
  bool inside = false;
  for (const char c : unix_text) {
    inside ^= c == '"';
    dos += c == '\n' && !inside ? std::string("\r\n") : std::string(1, c);
    mac += c == '\n' && !inside ? '\r' : c;
  }
  EXPECT_EQ(parse_csv(dos), expected);
  EXPECT_EQ(parse_csv(mac), expected);
  EXPECT_EQ(parse_csv(unix_text.substr(0, unix_text.size() - 1)), expected);  // no newline at the end
  EXPECT_EQ(parse_csv(dos.substr(0, dos.size() - 2)), expected);
}

TEST(Csv, AnEmptyLineMayFollowAQuotedField) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const Table table = parse_csv("t" + end + "\"\r=\"" + end + end + "z" + end, {.header = true});
    EXPECT_EQ(texts(table, "t"), (Strings{"\r=", "<missing>", "z"}));
  }
}

TEST(Csv, EmptyLinesAtTheEndAreNoRows) {
  EXPECT_EQ(parse_csv("a,b\n1,2\n\n\n").rows(), 1);
  EXPECT_EQ(parse_csv("a,b\r\n1,2\r\n  \r\n").rows(), 1);
  EXPECT_EQ(parse_csv("a\tb\n1\t2\n\t\n").rows(), 2);  // two empty fields are a row
}

TEST(Csv, AByteOrderMarkIsNoPartOfTheFirstName) {
  EXPECT_EQ(parse_csv("\xEF\xBB\xBF"
                      "a,b\n1,2\n")
                .names(),
            (Strings{"a", "b"}));
}

TEST(Csv, FindsTheDelimiter) {
  for (const char delimiter : {',', ';', '\t', '|', ' '}) {
    std::string text = "a,b,c\n1,2.5,u\n3,4.5,v\n";
    std::replace(text.begin(), text.end(), ',', delimiter);
    const Table table = parse_csv(text);
    EXPECT_EQ(table.names(), (Strings{"a", "b", "c"})) << "delimiter " << delimiter;
    EXPECT_EQ(numbers(table, "b"), (Doubles{2.5, 4.5}));
  }
  EXPECT_EQ(parse_csv("time,x\n2020-01-01 10:00,5\n2020-01-02 11:30,6\n").names(), (Strings{"time", "x"}));
  EXPECT_EQ(parse_csv("soil\ngrey soil\nred soil\n").columns(), 1);
  EXPECT_EQ(parse_csv("a;b\n\"x,y\";1\n\"z,w\";2\n").names(), (Strings{"a", "b"}));
}

TEST(Csv, RunsOfBlanksSeparateOnce) {
  const Table table = parse_csv("  x    y  \n  1   2.5\n 10  -3.5  \n");
  EXPECT_EQ(numbers(table, "x"), (Doubles{1, 10}));
  EXPECT_EQ(numbers(table, "y"), (Doubles{2.5, -3.5}));
}

TEST(Csv, FindsADecimalCommaAndSaysSo) {
  const Table table = parse_csv("a;b\n1,5;x\n-2,25;y\n");
  EXPECT_EQ(numbers(table, "a"), (Doubles{1.5, -2.25}));
  EXPECT_EQ(table.notes(), (Strings{"numbers are read with a decimal comma"}));
  EXPECT_EQ(numbers(parse_csv("1,5;2,5\n3,5;4,5\n"), "V2"), (Doubles{2.5, 4.5}));
  EXPECT_EQ(numbers(parse_csv("a;b\n1;1,5\n", {.decimal = ','}), "b"), (Doubles{1.5}));
  EXPECT_EQ(parse_csv("a;b\n1,5;1.5\n").column("a").type(), ColumnType::categorical);  // a point somewhere: no comma
}

TEST(Csv, FindsTheHeader) {
  EXPECT_EQ(parse_csv("1,2\n3,4\n").names(), (Strings{"V1", "V2"}));
  EXPECT_EQ(parse_csv("1,2\n3,4\n").rows(), 2);
  EXPECT_EQ(parse_csv("x,y\n3,4\n").rows(), 1);
  EXPECT_EQ(parse_csv("x,y\na,b\nc,d\n").rows(), 2);  // distinct names
  EXPECT_EQ(parse_csv("n,y,n\ny,y,n\n").rows(), 2);   // a name twice: data
  EXPECT_EQ(parse_csv("u,v\nu,w\n").rows(), 2);       // comes again in its column: data
  EXPECT_EQ(parse_csv("1990,1991\n3,4\n", {.header = true}).names(), (Strings{"1990", "1991"}));
  EXPECT_EQ(parse_csv("x,y\n3,4\n", {.header = false}).rows(), 2);
  EXPECT_EQ(parse_csv("x,y\n").rows(), 0);
  EXPECT_EQ(parse_csv("x,y\n").column("x").type(), ColumnType::numeric);
}

TEST(Csv, NamesAreMadeUniqueWithANote) {
  const Table table = parse_csv("a,a,,a.1\n1,2,3,4\n");
  EXPECT_EQ(table.names(), (Strings{"a", "a.2", "V3", "a.1"}));
  EXPECT_EQ(table.notes(), (Strings{"column 2 is called 'a' like another; it is called 'a.2' here",
                                    "column 3 has no name; it is called 'V3'"}));
}

TEST(Csv, MissingSpellingsAreMissingInEveryType) {
  const Table table = parse_csv("x,c\n1,u\nNA,v\nnan,N/A\n,\n?,null\n4,NULL\n");
  EXPECT_EQ(table.column("x").missing(), 4);
  EXPECT_EQ(table.column("c").missing(), 4);
  EXPECT_EQ(levels(table, "c"), (Strings{"u", "v"}));
}

TEST(Csv, SaysWhereALabelLikeNaWasReadAsMissing) {
  const Table table = parse_csv("country,x\nNA,1\nDE,2\nNA,NA\n");
  EXPECT_EQ(levels(table, "country"), (Strings{"DE"}));
  EXPECT_EQ(table.notes(),
            (Strings{"column 'country': NA is read as missing in 2 rows (written in quotes it would be a "
                     "label)"}));
  EXPECT_EQ(levels(parse_csv("country,x\n\"NA\",1\nDE,2\n"), "country"), (Strings{"DE", "NA"}));
  CsvOptions keep;
  keep.missing = {""};
  EXPECT_EQ(levels(parse_csv("country,x\nNA,1\nDE,2\n", keep), "country"), (Strings{"DE", "NA"}));
  CsvOptions given;
  given.levels["country"] = {"NA", "DE"};
  EXPECT_EQ(parse_csv("country,x\nNA,1\nDE,2\n", given).column("country").categories().codes,
            (std::vector<std::int32_t>{0, 1}));
}

TEST(Csv, LabelsStayLabels) {
  const Table table = parse_csv("a,b,c,d\nTRUE,n,0x1F,1-2\nFALSE,y,0x20,3-4\n");
  for (const auto& column : table.all()) EXPECT_EQ(column.type(), ColumnType::categorical) << column.name;
  EXPECT_EQ(levels(table, "a"), (Strings{"FALSE", "TRUE"}));
}

TEST(Csv, TheWholeColumnDecidesItsType) {
  std::string text = "x,y\n";
  for (int i = 0; i < 5000; ++i) text += std::to_string(i % 7) + "," + std::to_string(i) + "\n";
  CsvOptions options;
  options.block_bytes = 1000;
  EXPECT_EQ(parse_csv(text, options).column("x").type(), ColumnType::numeric);
  const Table table = parse_csv(text + "low,1\n", options);
  EXPECT_EQ(levels(table, "x"), (Strings{"0", "1", "2", "3", "4", "5", "6", "low"}));
  EXPECT_EQ(table.column("x").text(9), "2");
  EXPECT_EQ(table.column("x").text(5000), "low");
  EXPECT_EQ(table.column("y").type(), ColumnType::numeric);
  EXPECT_EQ(table.notes(),
            (Strings{"column 'x' is read as categorical: most of its values are numbers, but 'low' is not"}));
}

TEST(Csv, ManyDifferentLabelsAreText) {
  std::string names = "name,x\n", few = "name,x\n", half = "name,x\n";
  for (int i = 0; i < 21; ++i) names += "person" + std::to_string(i) + ",1\n";
  for (int i = 0; i < 20; ++i) few += "person" + std::to_string(i) + ",1\n";
  for (int i = 0; i < 60; ++i) half += "person" + std::to_string(i % 30) + ",1\n";
  EXPECT_EQ(parse_csv(names).column("name").type(), ColumnType::text);
  EXPECT_EQ(parse_csv(names).column("name").text(3), "person3");
  EXPECT_EQ(parse_csv(few).column("name").type(), ColumnType::categorical);
  EXPECT_EQ(parse_csv(half).column("name").type(), ColumnType::categorical);
  EXPECT_EQ(parse_csv(half + "another,1\n").column("name").type(), ColumnType::text);
}

TEST(Csv, QuotesMakeNoDifferenceToNumbers) {
  const Table table = parse_csv("\"x\",\"y\"\n\"1\",\"2.5\"\n\"\",\"NA\"\n\"3\",\"4\"\n");
  EXPECT_EQ(numbers(table, "x")[2], 3);
  EXPECT_EQ(table.column("x").missing(), 1);
  EXPECT_EQ(table.column("y").missing(), 1);
}

TEST(Csv, BlanksAroundAFieldDoNotCountUnlessQuoted) {
  const Table table = parse_csv("x , c\n 1, u \n2 ,\" u \"\n\t3\t, \"u\" \n");
  EXPECT_EQ(numbers(table, "x"), (Doubles{1, 2, 3}));
  EXPECT_EQ(texts(table, "c"), (Strings{"u", " u ", "u"}));
}

TEST(Csv, AQuoteInsideAnUnquotedFieldIsACharacter) {
  const Table table = parse_csv("pipe,x\n5\" wide,1\n6\" wide,2\n\"7\"\" \nwide\",3\n", {.block_bytes = 4});
  EXPECT_EQ(texts(table, "pipe"), (Strings{"5\" wide", "6\" wide", "7\" \nwide"}));
  EXPECT_EQ(numbers(table, "x"), (Doubles{1, 2, 3}));
}

TEST(Csv, TypesAndLevelsCanBeAskedFor) {
  CsvOptions options;
  options.types = {{"code", ReadAs::categorical}, {"name", ReadAs::text}};
  options.levels = {{"size", {"small", "large"}}};
  const Table table = parse_csv("code,name,size\n01,a,large\n2,b,small\n01,,small\n", options);
  EXPECT_EQ(levels(table, "code"), (Strings{"01", "2"}));  // as written
  EXPECT_EQ(texts(table, "name"), (Strings{"a", "b", "<missing>"}));
  EXPECT_EQ(table.column("size").categories().codes, (std::vector<std::int32_t>{1, 0, 0}));
}

TEST(Csv, AnEmptyTextIsNotAMissingOne) {
  CsvOptions options;
  options.types = {{"t", ReadAs::text}};
  EXPECT_EQ(texts(parse_csv("t,x\n\"\",1\n,2\n", options), "t"), (Strings{"", "<missing>"}));
}

TEST(Csv, AColumnWithoutValuesIsNumeric) {
  const Table table = parse_csv("x,y\n1,\n2,NA\n");
  EXPECT_EQ(table.column("y").type(), ColumnType::numeric);
  EXPECT_EQ(table.column("y").missing(), 2);
}

TEST(Csv, OneColumnMayHaveMissingRows) {
  const Table table = parse_csv("x\n1\n\n3\n\n\n");
  EXPECT_EQ(table.rows(), 3);
  EXPECT_TRUE(table.column("x").is_missing(1));
}

TEST(Csv, WritesQuotesOnlyWhereTheyAreNeeded) {
  const Table table({categorical("a,b", {"plain", "with, comma", "\"", "NA", "", " x"}),
                     numeric("n", {1, 0.1, 1e300, -0.0, 3, 1e5})});
  EXPECT_EQ(format_csv(table),
            "\"a,b\",n\nplain,1\n\"with, comma\",0.1\n\"\"\"\",1e+300\n\"NA\",-0\n\"\",3\n\" x\",100000\n");
  EXPECT_EQ(format_csv(Table({numeric("x", {1, std::nan("")})})), "x\n1\nNA\n");
  EXPECT_EQ(format_csv(Table({numeric("x", {std::nan("")}), numeric("y", {2})})), "x,y\n,2\n");
}

}  // namespace lemma
