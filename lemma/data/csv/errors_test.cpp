// lemma/data/csv/errors_test.cpp: a mistake in a file is named with its place.
#include <atomic>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/csv.hpp>

namespace lemma {
namespace {

std::string error_of(const std::string& text, const CsvOptions& options = {}) {
  try {
    parse_csv(text, options, "t.csv");
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

}  // namespace

TEST(CsvErrors, ShortAndLongRows) {
  const std::string way_out = " (--ragged skip leaves such lines out)";
  EXPECT_EQ(error_of("a,b,c\n1,2,3\n4,5\n6,7,8\n"),
            "t.csv, line 3: 2 fields, expected 3: nothing for column 3 ('c')" + way_out);
  EXPECT_EQ(error_of("a,b\n1,2\n3,4,5\n"),
            "t.csv, line 3: 3 fields, expected 2: does a text hold the delimiter without quotes around it?" + way_out);
  EXPECT_EQ(error_of("a,b\r\n1,\"x\r\ny\"\r\n1\r\n"),
            "t.csv, line 4: 1 field, expected 2: nothing for column 2 ('b')" + way_out);
}

TEST(CsvErrors, QuotesThatDoNotClose) {
  EXPECT_EQ(error_of("a,b\n1,2\n3,\"x\n4,5\n"),
            "t.csv, line 3, column 2 ('b'): the quote that opens this field is never closed");
  EXPECT_EQ(error_of("a,b\n\"x\"y,2\n"),
            "t.csv, line 2, column 1 ('a'): after a closing quote comes the next field or the end of the line (a quote "
            "inside is written twice)");
}

TEST(CsvErrors, LabelsAndNamesThatAreNotUtf8) {
  const std::string way_out = " is not UTF-8; --encoding says how the file is written (latin-1, windows-1252 …)";
  EXPECT_EQ(error_of("a,b\n1,the\n2,caf\xE9\n3,th\xE8\n"), "t.csv, line 3, column 2 ('b'): byte 0xE9" + way_out);
  EXPECT_EQ(error_of("a,b\n1,\"x \"\"\xE8\"\"\"\n"), "t.csv, line 2, column 2 ('b'): byte 0xE8" + way_out);
  EXPECT_EQ(error_of("a,b\xFC\n1,2\n"), "t.csv, line 1, column 2: byte 0xFC" + way_out);
  EXPECT_EQ(error_of("a,b\n1,2\n3,4\n5,\xC3\n"), "t.csv, line 4, column 2 ('b'): byte 0xC3" + way_out);  // half of é
  CsvOptions options;
  options.types = {{"b", ReadAs::text}};
  EXPECT_EQ(error_of("a,b\n1,\xE9t\xE9\n", options), "t.csv, line 2, column 2 ('b'): byte 0xE9" + way_out);
  EXPECT_EQ(error_of("a,b\n1,\xC3\xA9t\xC3\xA9\n2,\xE6\x97\xA5\n"), "no error");
}

TEST(CsvErrors, NumbersThatAreAskedFor) {
  CsvOptions options;
  options.types = {{"b", ReadAs::numeric}};
  EXPECT_EQ(error_of("a,b\n1,2\n3,two\n", options), "t.csv, line 3, column 2 ('b'): expected a number, found 'two'");
  EXPECT_EQ(error_of("a,b\n1,2\n3,NA\n", options), "no error");
}

TEST(CsvErrors, InfinityIsFoundAtTheDoor) {
  const std::string tail = "' is not a finite number; leave the field empty if the value is missing";
  EXPECT_EQ(error_of("a,b\n1,2\n3,-inf\nInfinity,5\n"), "t.csv, line 3, column 2 ('b'): '-inf" + tail);
  EXPECT_EQ(error_of("a,b\n1,2\n3,1e999\n"), "t.csv, line 3, column 2 ('b'): '1e999" + tail);
  EXPECT_EQ(error_of("a,b\n1,x\n3,inf\n"), "no error");  // a label among labels
  EXPECT_EQ(error_of("a,b\n1,inf\n3,x\n"), "no error");
}

TEST(CsvErrors, LevelsThatWereNotGiven) {
  CsvOptions options;
  options.levels = {{"c", {"u", "v"}}};
  EXPECT_EQ(error_of("c,x\nu,1\nw,2\n", options),
            "t.csv, line 3, column 1 ('c'): 'w' is none of the levels given: u, v");
  options.levels = {{"c", {"u", "u"}}};
  EXPECT_EQ(error_of("c,x\nu,1\n", options), "levels of 'c': one of them is given twice");
  options.types = {{"c", ReadAs::numeric}};
  EXPECT_EQ(error_of("c,x\nu,1\n", options), "column 'c' has levels, so its type is categorical, not numeric");
}

TEST(CsvErrors, OptionsThatCannotBe) {
  EXPECT_EQ(error_of("speed,x\n1,2\n", {.types = {{"sped", ReadAs::text}}}),
            "t.csv: there is no column 'sped' (did you mean 'speed'?)");
  EXPECT_EQ(error_of("a,b\n1,2\n", {.delimiter = '"'}), "the delimiter is ',', ';', a tab, '|' or a blank, not '\"'");
  EXPECT_EQ(error_of("a,b\n1,2\n", {.decimal = ':'}), "the decimal mark is '.' or ',', not ':'");
  EXPECT_EQ(error_of("a,b\n1,2\n", {.delimiter = ',', .decimal = ','}),
            "the delimiter and the decimal mark are both ','");
}

TEST(CsvErrors, FilesThatHoldNothing) {
  EXPECT_EQ(error_of(""), "t.csv is empty: there is no header and there are no rows");
  EXPECT_EQ(error_of("\n \r\n"), "t.csv is empty: there is no header and there are no rows");
  EXPECT_EQ(error_of("\xEF\xBB\xBF"), "t.csv is empty: there is no header and there are no rows");
  EXPECT_THROW(read_csv("/no/such/file.csv"), Error);
  EXPECT_THROW(read_csv("/"), Error);
}

TEST(CsvErrors, TheFirstMistakeOfTheFileIsNamedWhateverTheThreads) {
  std::string text = "a,b\n";
  for (int i = 0; i < 3000; ++i) text += i % 700 == 699 ? "1\n" : "1,2\n";
  for (const int threads : {1, 2, 4})
    for (const std::size_t block : {16u, 1000u, 100000u}) {
      CsvOptions options;
      options.execution.threads = threads;
      options.block_bytes = block;
      EXPECT_EQ(
          error_of(text, options),
          "t.csv, line 701: 1 field, expected 2: nothing for column 2 ('b') (--ragged skip leaves such lines out)");
    }
}

namespace {

class StopAfter final : public Progress {
 public:
  explicit StopAfter(int reports) : left_(reports) {}
  void report(double fraction, std::string_view message) override {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
    EXPECT_EQ(message, "reading t.csv");
    --left_;
  }
  bool cancelled() const override { return left_ <= 0; }

 private:
  std::atomic<int> left_;
};

}  // namespace

TEST(CsvErrors, ACancelledReadStops) {
  std::string text = "a,b\n";
  for (int i = 0; i < 10000; ++i) text += "1,2\n";
  CsvOptions options;
  options.block_bytes = 100;
  for (const int reports : {1, 100, 500}) {
    StopAfter progress(reports);
    options.execution.progress = &progress;
    EXPECT_THROW(parse_csv(text, options, "t.csv"), Cancelled);
  }
  StopAfter never(1 << 30);
  options.execution.progress = &never;
  EXPECT_EQ(parse_csv(text, options, "t.csv").rows(), 10000);
}

}  // namespace lemma
