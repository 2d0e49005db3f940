// lemma/data/npy_test.cpp
#include <cmath>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <lemma/data/npy.hpp>

namespace lemma {
namespace {

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string out("\x93NUMPY", 6);
  out += version;
  out += '\0';
  const std::string text = header + "\n";
  out += static_cast<char>(text.size() & 0xFF);
  out += static_cast<char>(text.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + text + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string header_of(const std::string& descr, bool fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

Matrix parse(const std::string& file) {
  const auto bytes = view_bytes(file);
  const auto header = read_npy_header(*bytes, "x.npy");
  return read_npy_rows(*bytes, header, 0, header.rows, "x.npy");
}

std::string error_of(const std::string& file) {
  try {
    parse(file);
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

const Matrix kExpected{{1, 2, 3}, {4, 5, 6}};

}  // namespace

TEST(Npy, ReadsEveryTypeInBothOrders) {
  const std::vector<int> by_row = {1, 2, 3, 4, 5, 6}, by_column = {1, 4, 2, 5, 3, 6};
  const auto check = [&]<class T>(const std::string& descr, T) {
    const std::vector<T> rows(by_row.begin(), by_row.end()), columns(by_column.begin(), by_column.end());
    for (const char version : {'\1', '\2', '\3'}) {
      EXPECT_EQ(parse(npy(header_of(descr, false, "(2, 3)"), bytes_of(rows), version)), kExpected) << descr;
      EXPECT_EQ(parse(npy(header_of(descr, true, "(2, 3)"), bytes_of(columns), version)), kExpected) << descr;
    }
  };
  check("<f8", double{});
  check("<f4", float{});
  check("<i8", std::int64_t{});
  check("<i4", std::int32_t{});
  check("<i2", std::int16_t{});
  check("|i1", std::int8_t{});
  check("<u8", std::uint64_t{});
  check("<u4", std::uint32_t{});
  check("<u2", std::uint16_t{});
  check("|u1", std::uint8_t{});
}

TEST(Npy, AVectorIsOneColumn) {
  const Matrix x = parse(npy(header_of("<f8", false, "(3,)"), bytes_of<double>({1, 2, 3})));
  EXPECT_EQ(x.rows(), 3);
  EXPECT_EQ(x.cols(), 1);
  EXPECT_EQ(x(2, 0), 3);
}

TEST(Npy, AnArrayMayHaveNoRows) {
  for (const bool fortran : {false, true}) EXPECT_EQ(parse(npy(header_of("<u4", fortran, "(0, 2)"), "")).cols(), 2);
}

TEST(Npy, WhatIsWrittenIsReadBackAndNanIsMissing) {
  const std::string path = (std::filesystem::temp_directory_path() / "lemma_npy_test.npy").string();
  const Table table({numeric("x1", {1, std::nan(""), 0.1}), numeric("x2", {-0.0, 1e300, 5e-324})});
  write_npy(table, path);
  const Table again = read_npy(path);
  EXPECT_EQ(again, table);
  EXPECT_EQ(again.column("x1").missing(), 1);
  EXPECT_TRUE(std::signbit(again.column("x2").numbers().values[0]));
  EXPECT_EQ(std::filesystem::file_size(path) % 16, 0u);
  EXPECT_EQ(read_npy_matrix(path)(2, 0), 0.1);
  std::filesystem::remove(path);
  EXPECT_THROW(write_npy(Table({categorical("c", {"a"})}), path), Error);
}

TEST(Npy, AMatrixOfManyPartsIsReadInEitherOrderOnAnyNumberOfThreads) {
  const std::string path = (std::filesystem::temp_directory_path() / "lemma_npy_parts_test.npy").string();
  constexpr std::size_t kRows = 20011, kColumns = 7;
  std::vector<double> numbers(kRows * kColumns);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i) / 2;
  const std::vector<float> halves(numbers.begin(), numbers.end());
  const auto read = [&](const char* type, bool fortran, const std::string& bytes, int threads) {
    write_file(path, npy(header_of(type, fortran, "(20011, 7)"), bytes));
    Execution execution;
    execution.threads = threads;
    return read_npy_matrix(path, execution);
  };
  const Matrix together = Eigen::Map<const Matrix>(numbers.data(), kRows, kColumns);
  const Matrix apart = Eigen::Map<const Matrix>(numbers.data(), kColumns, kRows).transpose();
  for (const int threads : {1, 3}) {
    EXPECT_EQ(read("<f8", false, bytes_of(numbers), threads), together);
    EXPECT_EQ(read("<f4", false, bytes_of(halves), threads), together);
    EXPECT_EQ(read("<f8", true, bytes_of(numbers), threads), apart);
  }
  numbers[9500 * kColumns + 3] = numbers[19000 * kColumns + 1] = -HUGE_VAL;
  try {
    read("<f8", false, bytes_of(numbers), 3);
    ADD_FAILURE() << "an infinity was read";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "lemma_npy_parts_test.npy, row 9501, column 4: the number is not finite");
  }
  std::filesystem::remove(path);
}

TEST(Npy, HostileHeadersGetAnError) {
  const std::string one = bytes_of<double>({1});
  EXPECT_EQ(error_of("PK"), "x.npy is not a .npy file: it is too short");
  EXPECT_EQ(error_of("not a numpy file"), "x.npy is not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(error_of(npy(header_of("<f8", false, "(2, 3)"), one)),
            "x.npy: the header promises 2 x 3 numbers of 8 bytes, but 8 bytes follow it");
  EXPECT_EQ(error_of(npy(header_of("<f8", false, "(1, 1)"), one + one)),
            "x.npy: the header promises 1 x 1 numbers of 8 bytes, but 16 bytes follow it");
  EXPECT_NE(error_of(npy(header_of("<f8", false, "(9223372036854775807, 2)"), "")).find("promises"), std::string::npos);
  EXPECT_NE(error_of(npy(header_of("<f8", false, "(4611686018427387904, 4)"), "")).find("promises"), std::string::npos);
  EXPECT_EQ(error_of(npy(header_of("<f8", false, "(5, 0)"), "")), "x.npy: an array without columns");
  EXPECT_EQ(error_of(npy(header_of("<f8", false, "(1, 1, 1)"), one)),
            "x.npy: an array of 3 dimensions; a table has one or two");
  EXPECT_EQ(error_of(npy(header_of(">f8", false, "(1,)"), one)),
            "x.npy: numbers of type '>f8' can't be read; Lemma reads little-endian float64, float32 and integers "
            "(array.astype('<f8'))");
  EXPECT_EQ(error_of(npy(header_of("<f8", false, "(1,)"), one, 9)), "x.npy: format version 9 of .npy is not known");
  EXPECT_NE(error_of(npy("{'descr': [('a', '<f8')]}", one)).find("structured type"), std::string::npos);
  EXPECT_NE(error_of(npy("{'descr': '<f8'}", one)).find("not all of"), std::string::npos);
  EXPECT_NE(error_of(npy(header_of("<f8", false, "(-1,)"), one)).find("no whole number"), std::string::npos);
  EXPECT_NE(error_of(npy("{'descr': '<f8", one)).find("not closed"), std::string::npos);
  const std::string good = npy(header_of("<f8", false, "(1,)"), one);
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_NE(error_of(good.substr(0, size)), "no error") << size;
}

TEST(Npy, NumbersThatADoubleCannotHoldAreNamed) {
  EXPECT_EQ(error_of(npy(header_of("<f8", false, "(2, 2)"), bytes_of<double>({1, 2, 3, HUGE_VAL}))),
            "x.npy, row 2, column 2: the number is not finite");
  EXPECT_EQ(error_of(npy(header_of("<i8", true, "(2, 2)"), bytes_of<std::int64_t>({1, 2, 9007199254740993, 4}))),
            "x.npy, row 1, column 2: the integer has more digits than a double can hold");
  EXPECT_NE(error_of(npy(header_of("<u8", false, "(1,)"), bytes_of<std::uint64_t>({~std::uint64_t{0}}))), "no error");
}

}  // namespace lemma
