// lemma/core/file_test.cpp
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>

namespace lemma {
namespace {

std::string folder() {
  const auto path = std::filesystem::temp_directory_path() / ("lemma_file_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(path);
  return path.string();
}

TEST(File, WhatWasWrittenIsReadAndNothingElseIsLeftInTheFolder) {
  const auto in = folder();
  write_file(in + "/a.bin", std::string_view("first"));
  write_file(in + "/a.bin", std::string_view("second\0with a zero", 18));
  const auto bytes = read_file(in + "/a.bin");
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), std::string("second\0with a zero", 18));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(in), {}), 1);
  std::filesystem::remove_all(in);
}

TEST(File, PiecesAreNotSeenBeforeTheLastIsWritten) {
  const auto in = folder(), path = in + "/pieces";
  {
    FileWriter file(path);
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(std::filesystem::is_empty(in));  // nobody said that it was done
  FileWriter file(path);
  file.write("one ");
  file.write("two");
  file.done();
  const auto bytes = read_file(path);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "one two");
  std::filesystem::remove_all(in);
}

TEST(File, AMissingFileOrFolderIsTheCallersMistakeAndNamed) {
  try {
    read_file("/no/such/file.csv");
    FAIL() << "read a file that is not there";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot read '/no/such/file.csv': No such file or directory");
  }
  EXPECT_THROW(write_file("/no/such/folder/file", std::string_view("x")), Error);
  EXPECT_THROW(read_file("/"), Error);
}

}  // namespace
}  // namespace lemma
