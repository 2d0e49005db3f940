// lemma/data/parsed_matrix_test.cpp: a file that is parsed into the matrix of a method gives the rows of its table.
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/parsed_matrix.hpp>
#include <lemma/data/stream/rows.hpp>
#include <unistd.h>

namespace lemma {
namespace {

class File {
 public:
  explicit File(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / ("lemma_parsed_" + std::to_string(::getpid()) + ".csv"))
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

std::string some_rows(const std::string& at_the_end = "") {
  std::string text = "a,y,g,b,c\n";
  for (int i = 0; i < 700; ++i)
    text += fmt::format("{},{},{},{},{}\n", std::sin(i), 0.5 * i, i % 3 == 0 ? "u" : i % 3 == 1 ? "v" : "w", i, i % 5);
  return text + at_the_end;
}

ReadOptions in_blocks(std::size_t bytes) {
  ReadOptions options;
  options.csv.block_bytes = bytes;
  return options;
}

std::unique_ptr<TableStream> opened(const File& file, const char* text, const ReadOptions& options = in_blocks(300)) {
  return open_parsed(file.path(), options,
                     [&](const auto& names) { return columns_as_they_are(formula(text), names); });
}

}  // namespace

TEST(ParsedMatrix, GivesTheRowsOfTheTableBitForBit) {
  const File file(some_rows());
  const Table table = read_csv(file.path());
  const std::vector<std::pair<const char*, DesignOptions>> cases = {{"y ~ a + b + c", {}},
                                                                    {"y ~ c + a", {}},
                                                                    {"~ b + y", {}},
                                                                    {"log(y + 1) ~ a + b", {}},
                                                                    {"I(y / (c + 1)) ~ b + a", {}},
                                                                    {"sqrt(y) ~ a", {.classify_categories = true}},
                                                                    {"g ~ a + b", {.classify = true}},
                                                                    {"factor(c) ~ a + b", {.classify = true}},
                                                                    {"c ~ b + a", {.classify = true}}};
  for (const auto& [text, options] : cases) {
    const auto data = opened(file, text);
    ASSERT_NE(data->matrix(), nullptr) << text;
    EXPECT_EQ(data->rows(), table.rows());
    const auto design = design_of_columns(formula(text), *data, options);
    ASSERT_TRUE(design.has_value()) << text;
    const Design usual(formula(text), table, options);
    EXPECT_EQ(design->save(), usual.save()) << text;
    const MatrixRows rows(*design, *data);
    EXPECT_EQ(rows.matrix()->data(), data->matrix()->data()) << "a copy, for " << text;
    EXPECT_EQ(rows.matrix()->outerStride(), rows.width()) << "as in a matrix of its own";
    const DesignRows expected(usual, usual.train(table));
    BlockBuffer one, other;
    const Block a = rows.read(7, 600, one), b = expected.read(7, 600, other);
    EXPECT_EQ(a.x, b.x) << text;
    EXPECT_TRUE(std::equal(a.y.begin(), a.y.end(), b.y.begin(), b.y.end())) << text;
    EXPECT_TRUE(std::equal(a.label.begin(), a.label.end(), b.label.begin(), b.label.end())) << text;
    for (const auto& name : data->schema().names())
      EXPECT_EQ(data->read_columns(690, 10, {name}).column(name), table.slice(690, 10).column(name)) << name;
  }
}

TEST(ParsedMatrix, WhatIsNotNumbersIsATable) {
  const File file(some_rows());
  for (const char* text : {"y ~ a + g", "y ~ .", "y ~ log(b + 1)", "y ~ a:b", "y ~ a + nowhere"}) {
    const auto data = opened(file, text);
    ASSERT_NE(data->table(), nullptr) << text;
    EXPECT_EQ(*data->table(), read_csv(file.path()));
  }
  const File late(some_rows("1,2,u,high,4\n"));  // seen only when it is parsed
  ASSERT_NE(opened(late, "y ~ a + b")->table(), nullptr);
  EXPECT_EQ(*opened(late, "y ~ a + b")->table(), read_csv(late.path()));
  EXPECT_NE(opened(late, "y ~ a + c")->matrix(), nullptr);
  EXPECT_EQ(open_parsed("iris", {}, [](const auto&) { return std::optional<WantedColumns>(); }), nullptr);
}

TEST(ParsedMatrix, AResponseMadeOfAFeatureOrOfAllRowsNeedsTheTable) {
  const File file(some_rows());
  for (const char* text : {"log(b + 1) ~ a + b", "scale(y) ~ a", "I(y > 3) ~ a"})
    EXPECT_NE(opened(file, text)->table(), nullptr) << text;
  EXPECT_FALSE(design_of_columns(formula("sqrt(y) ~ a"), *opened(file, "sqrt(y) ~ a"), {.classify = true}).has_value());
}

TEST(ParsedMatrix, AResponseThatIsNoNumberIsNamedByItsRow) {
  const File file(some_rows());  // y is 0 in the first row
  const auto data = opened(file, "log(y) ~ a");
  const auto design = design_of_columns(formula("log(y) ~ a"), *data, {});
  ASSERT_TRUE(design.has_value());
  const Table table = read_csv(file.path());
  const Design usual(formula("log(y) ~ a"), table);
  const auto message = [](const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) { return std::string(error.what()); }
    return std::string("no error");
  };
  const std::string found = message([&] { MatrixRows(*design, *data); });
  EXPECT_NE(found.find("row 1"), std::string::npos) << found;
  EXPECT_EQ(found, message([&] { usual.train(table); }));
}

TEST(ParsedMatrix, TextsThatAreMadeClassesAreLearnedFromAllRows) {
  std::string text = "id,x\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("u{},{}\n", i, i % 7);
  const File file(text);
  const auto data = opened(file, "factor(id) ~ x");
  ASSERT_NE(data->matrix(), nullptr);
  ASSERT_EQ(data->schema().column("id").type(), ColumnType::text);
  EXPECT_FALSE(design_of_columns(formula("factor(id) ~ x"), *data, {.classify = true}).has_value());
}

TEST(ParsedMatrix, ColumnsWithMissingValuesAreATable) {
  const File file(some_rows("NA,1,u,2,3\n1,,,2,3\n"));
  for (const char* text : {"y ~ a", "y ~ b", "g ~ b"}) {
    const auto data = opened(file, text);
    ASSERT_NE(data->table(), nullptr) << text;
    EXPECT_EQ(*data->table(), read_csv(file.path())) << text;
  }
  EXPECT_TRUE(design_of_columns(formula("c ~ b"), *opened(file, "c ~ b"), {}).has_value());
}

TEST(ParsedMatrix, AColumnThatIsTakenAwayIsThereToBeNamed) {
  const File file(some_rows());
  const auto data = opened(file, "~ . - g - y");
  ASSERT_NE(data->matrix(), nullptr);
  const auto design = design_of_columns(formula("~ . - g - y"), *data, {});
  ASSERT_TRUE(design.has_value());
  EXPECT_EQ(design->features(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_NE(opened(file, "~ . - gg")->table(), nullptr);  // which then says that there is no such column
}

TEST(ParsedMatrix, MistakesAndNotesAreThoseOfTheTable) {
  const File bad(some_rows("1,2,u,inf,4\n"));
  const auto message = [](const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) { return std::string(error.what()); }
    return std::string("no error");
  };
  EXPECT_EQ(message([&] { opened(bad, "y ~ a + b"); }), message([&] { read_csv(bad.path()); }));
  EXPECT_EQ(message([&] { opened(bad, "y ~ a + c"); }), message([&] { read_csv(bad.path()); }));  // of any column
  const File odd("a,b,\n1,2,\n\n\"1,000\",3,\n");
  EXPECT_EQ(opened(odd, "b ~ a")->schema().notes(), read_csv(odd.path()).notes());
}

TEST(ParsedMatrix, OtherPoliciesForMissingValuesReadItAsAStream) {
  const File file(some_rows("NA,1,u,2,3\n1,,,2,3\n"));
  const Table table = read_csv(file.path());
  for (const Missing policy : {Missing::drop, Missing::mean, Missing::median}) {
    const DesignOptions options{.missing = policy};
    const auto data = opened(file, "y ~ a + b");
    const Design design(formula("y ~ a + b"), *data, options), usual(formula("y ~ a + b"), table, options);
    EXPECT_EQ(design.save(), usual.save());
    const StreamRows rows(design, *data);
    const DesignRows expected(usual, usual.train(table));
    EXPECT_EQ(gather(rows), gather(expected));
  }
}

}  // namespace lemma
