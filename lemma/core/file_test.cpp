// lemma/core/file_test.cpp
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/file.hpp>
#include <sys/stat.h>
#include <unistd.h>

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

std::string text_of(const std::string& path) {
  const auto bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  return info.st_mode & 07777;
}

TEST(File, AFileThatIsReplacedKeepsItsModeAndTheLinkThatLeadsToIt) {
  const auto in = folder();
  write_file(in + "/private", std::string_view("old"));
  ::chmod((in + "/private").c_str(), 0600);
  std::filesystem::create_symlink("private", in + "/link");
  std::filesystem::create_symlink("link", in + "/second");
  write_file(in + "/second", std::string_view("new"));
  EXPECT_EQ(text_of(in + "/private"), "new");
  EXPECT_EQ(mode_of(in + "/private"), 0600u);
  EXPECT_TRUE(std::filesystem::is_symlink(in + "/link"));
  EXPECT_TRUE(std::filesystem::is_symlink(in + "/second"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(in), {}), 3);
  std::filesystem::remove_all(in);
}

TEST(File, ALinkToNothingYetLeadsToTheNewFile) {
  const auto in = folder();
  std::filesystem::create_directory(in + "/deep");
  std::filesystem::create_symlink("deep/made", in + "/link");
  write_file(in + "/link", std::string_view("here"));
  EXPECT_EQ(text_of(in + "/deep/made"), "here");
  EXPECT_TRUE(std::filesystem::is_symlink(in + "/link"));
  std::filesystem::remove_all(in);
}

TEST(File, ANewFileHasTheModeThatTheMaskLeaves) {
  const auto in = folder();
  const auto before = ::umask(027);
  write_file(in + "/new", std::string_view("x"));
  ::umask(before);
  EXPECT_EQ(mode_of(in + "/new"), 0640u);
  std::filesystem::remove_all(in);
}

TEST(File, WhatIsNotARegularFileIsWrittenTo) {
  const auto in = folder(), pipe = in + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(pipe, std::string_view("through"));
  char got[16] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 7);
  EXPECT_STREQ(got, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  const int open = ::open((in + "/by_number").c_str(), O_WRONLY | O_CREAT, 0600);
  write_file("/dev/fd/" + std::to_string(open), std::string_view("one "));
  write_file("/proc/self/fd/" + std::to_string(open), std::string_view("two"));  // where the first stopped
  EXPECT_EQ(text_of(in + "/by_number"), "one two");
  ::close(open);
  ::close(reader);
  EXPECT_THROW(write_file("/dev/fd/" + std::to_string(open), std::string_view("x")), Error);
  EXPECT_THROW(write_file("/dev/full", std::string_view("x")), MachineError);
  std::filesystem::remove_all(in);
}

TEST(File, IsTheSameByEveryOfItsNamesAlsoBeforeItIsMade) {
  const auto in = folder();
  EXPECT_TRUE(same_file(in + "/a", in + "/./x/../a"));
  EXPECT_FALSE(same_file(in + "/a", in + "/b"));
  std::filesystem::create_symlink("a", in + "/link");
  EXPECT_TRUE(same_file(in + "/a", in + "/link"));
  write_file(in + "/a", std::string_view("x"));
  std::filesystem::create_hard_link(in + "/a", in + "/hard");
  EXPECT_TRUE(same_file(in + "/a", in + "/link"));
  EXPECT_TRUE(same_file(in + "/a", in + "/hard"));
  EXPECT_FALSE(same_file(in + "/a", in + "/b"));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null"));  // what is written there is not read back
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
