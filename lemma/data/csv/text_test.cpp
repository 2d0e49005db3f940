// lemma/data/csv/text_test.cpp: rows that are passed on as they are written.
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/file.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/csv/packed.hpp>
#include <lemma/data/csv/text.hpp>
#include <unistd.h>

namespace lemma {
namespace {

class File {
 public:
  explicit File(const std::string& text, const std::string& ending = "csv")
      : path_((std::filesystem::temp_directory_path() / ("lemma_csv_text_" + std::to_string(::getpid()) + "." + ending))
                  .string()) {
    write_file(path_, text);
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// All of it again, record after record.
std::string passed_on(const CsvText& text) {
  std::string out = text.header() + std::string(text.line_end());
  CsvText::Cursor cursor(text);
  for (Index i = 0; i < text.rows(); ++i) {
    out += cursor.record(i);
    out += text.line_end();
  }
  return out;
}

TEST(CsvText, EveryRecordIsWhatStandsInTheFile) {
  for (const std::string text :
       {"id,zip,x\n9007199254740993,01234, 1.50 \n2,00001,NA\n", "a;b\r\n1,50;\"x\"\r\n2,5; \"y \"\"q\"\"\"  \r\n",
        "a\tb\n1\t\n\t2\n", "a b\n1  2\n 3 4 \n", "t,n\n\"two\nlines, one field\",1\n5\" pipe,2\n\"\",3\n",
        "a|b\r1|x\r2|y\r"}) {
    const File file(text);
    for (const bool keep : {false, true})
      for (const std::size_t block : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 19}) {
        CsvOptions options;
        options.block_bytes = block;
        EXPECT_EQ(passed_on(CsvText(file.path(), options, keep)), text) << block;
      }
  }
}

TEST(CsvText, RandomRecordsComeBackInAnyOrderAndWithTheirValues) {
  RandomStream random(7, 0);
  static const std::vector<std::string> fields = {"1",    "007",        "1.50",          " x ",   "\"a,b\"",
                                                  "\"\"", "\"q\"\"q\"", "\"line\nend\"", "5\"in", ""};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> records;
    std::string text = "a,b,c\n";
    for (Index i = 0, rows = 1 + random.below(30); i < rows; ++i) {
      std::string record = "k";
      for (int j = 0; j < 2; ++j) record += "," + fields[static_cast<std::size_t>(random.below(10))];
      records.push_back(record);
      text += record + (i + 1 < rows || random.below(2) ? "\n" : "");
    }
    const File file(text);
    CsvOptions options;
    options.delimiter = ',';
    options.header = true;
    options.block_bytes = static_cast<std::size_t>(1 + random.below(60));
    CsvText csv(file.path(), options, true);
    ASSERT_EQ(csv.rows(), static_cast<Index>(records.size())) << text;
    CsvText::Cursor cursor(csv);
    for (int draw = 0; draw < 20; ++draw) {
      const Index row = random.below(csv.rows());
      ASSERT_EQ(cursor.record(row), records[static_cast<std::size_t>(row)]) << text;
    }
    ASSERT_EQ(csv.take(), read_csv(file.path(), options)) << text;
    const CsvText stream(file.path(), options, false);
    ASSERT_EQ(stream.read(0, stream.rows()), read_csv(file.path(), options)) << text;
  }
}

TEST(CsvText, PackedFilesAndFilesWithoutNamesAreNoDifferent) {
  const File packed(pack(Packing::gzip, "a,b\n01,x\n02,y\n"), "csv.gz");
  EXPECT_EQ(passed_on(CsvText(packed.path(), {}, true)), "a,b\n01,x\n02,y\n");
  const File nameless("01,2\n03,4");
  EXPECT_EQ(passed_on(CsvText(nameless.path(), {}, true)), "V1,V2\n01,2\n03,4\n");
}

TEST(CsvText, AnEmptyLineOfOneColumnIsNotLostAtTheEnd) {
  const File file("x\n1\n\n3\n");
  EXPECT_EQ(passed_on(CsvText(file.path(), {}, true)), "x\n1\nNA\n3\n");
}

TEST(CsvText, NewFieldsAreWrittenInTheDialectOfTheFile) {
  const Table more({numeric("p;q", {1.5}), categorical("c", {"a;b"}), numeric("none", {std::nan("")})});
  std::string out;
  append_names(out, more, {';', true, ','});
  append_fields(out, more, 0, {';', true, ','});
  EXPECT_EQ(out, ";\"p;q\";c;none;1,5;\"a;b\";");
  out.clear();
  append_fields(out, more, 0, {' ', true, '.'});
  EXPECT_EQ(out, " 1.5 a;b NA");  // between blanks nothing can stand
}

}  // namespace
}  // namespace lemma
