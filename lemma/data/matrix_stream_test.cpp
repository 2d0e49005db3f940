// lemma/data/matrix_stream_test.cpp
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/data/npy.hpp>
#include <lemma/data/stream/rows.hpp>
#include <limits>
#include <tests/message_of.hpp>
#include <unistd.h>

namespace lemma {
namespace {

/// A .npy file of some numbers, gone at the end.
class File {
 public:
  explicit File(const Matrix& x)
      : path_(std::filesystem::temp_directory_path() / ("lemma_mapped_" + std::to_string(::getpid()) + ".npy")) {
    write_npy(x, path_.string());
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Matrix numbers() {
  Matrix x(5000, 4);
  for (Index i = 0; i < x.rows(); ++i) x.row(i) << std::sin(i), i % 3, 0.5 * i, std::cos(3 * i);
  return x;
}

/// The same rows as by way of a table, bit for bit.
void expect_same_rows(const char* text, const MappedNpy& mapped, const Table& table, const DesignOptions& options) {
  const auto design = design_of_columns(formula(text), mapped, options);
  ASSERT_TRUE(design.has_value()) << text;
  const Design usual(formula(text), table, options);
  EXPECT_EQ(design->features(), usual.features());
  EXPECT_EQ(design->classes(), usual.classes());
  EXPECT_EQ(design->save(), usual.save()) << text;
  const MatrixRows rows(*design, mapped);
  const DesignRows expected(usual, usual.train(table));
  ASSERT_EQ(rows.count(), expected.count());
  EXPECT_EQ(rows.has_response, expected.has_response);
  BlockBuffer a, b;
  const Block one = rows.read(7, 4000, a), other = expected.read(7, 4000, b);
  EXPECT_EQ(one.x, other.x);
  EXPECT_TRUE(std::equal(one.y.begin(), one.y.end(), other.y.begin(), other.y.end()));
  EXPECT_TRUE(std::equal(one.label.begin(), one.label.end(), other.label.begin(), other.label.end()));
}

TEST(MappedNpy, GivesTheRowsOfTheTableWithoutACopy) {
  const Matrix x = numbers();
  const File file(x);
  const auto mapped = MappedNpy::open(file.path());
  ASSERT_NE(mapped, nullptr);
  EXPECT_EQ(*mapped->matrix(), x);
  const Table table = read_npy(file.path());
  EXPECT_EQ(mapped->read(10, 20).column("x3"), table.slice(10, 20).column("x3"));
  expect_same_rows("x1 ~ .", *mapped, table, {});
  expect_same_rows("x4 ~ x1 + x2", *mapped, table, {});
  expect_same_rows("x3 ~ .", *mapped, table, {});  // it stands between the others: a copy
  expect_same_rows("x2 ~ .", *mapped, table, {.classify = true});
  expect_same_rows("~ x3 + x1", *mapped, table, {});
  expect_same_rows("log(x3 + 1) ~ x1", *mapped, table, {});
  expect_same_rows("I(x3 / (x2 + 1)) ~ .", *mapped, table, {});
  const auto design = design_of_columns(formula("x1 ~ ."), *mapped, {});
  EXPECT_EQ(MatrixRows(*design, *mapped).matrix()->data(), mapped->matrix()->data() + 1);
}

TEST(MappedNpy, WhatIsMoreThanColumnsNeedsTheTable) {
  const File file(numbers());
  const auto mapped = MappedNpy::open(file.path());
  for (const char* text : {"x1 ~ log(x3 + 1)", "x1 ~ x2:x3", "x1 ~ factor(x2)", "scale(x3) ~ x1",
                           "I(2 * scale(x3)) ~ x1", "I(x3 > 2) ~ x1", "x1 ~ poly(x3, 2)"})
    EXPECT_FALSE(design_of_columns(formula(text), *mapped, {}).has_value()) << text;
  EXPECT_FALSE(design_of_columns(formula("x1 ~ x3"), *mapped, {.weights = "x2"}).has_value());
  EXPECT_NE(message_of([&] { design_of_columns(formula("x1 ~ x9"), *mapped, {}); }).find("x9"), std::string::npos);
}

TEST(MappedNpy, MissingNumbersNeedTheTableAndInfiniteOnesAreNamed) {
  Matrix x = numbers();
  x(4500, 2) = std::nan("");
  {
    const File file(x);
    const auto mapped = MappedNpy::open(file.path());
    EXPECT_FALSE(design_of_columns(formula("x1 ~ ."), *mapped, {}).has_value());
    EXPECT_TRUE(design_of_columns(formula("x1 ~ x2"), *mapped, {}).has_value()) << "the column is not looked at";
  }
  x(4500, 2) = std::numeric_limits<double>::infinity();
  const File file(x);
  const auto mapped = MappedNpy::open(file.path());
  EXPECT_NE(message_of([&] {
              design_of_columns(formula("x1 ~ ."), *mapped, {});
            }).find("row 4501, column 3: the number is not finite"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
