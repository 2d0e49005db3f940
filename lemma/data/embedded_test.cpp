// lemma/data/embedded_test.cpp
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <lemma/data/embedded.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tests/places.hpp>

namespace lemma::embedded {

std::span<const File> all() { return {files, file_count}; }
std::string_view bytes(const File& file) { return {file.begin, file.end}; }

std::string bytes_on_disk(const std::string& name) {
  std::ifstream in(source_dir() + "/data/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Embedded, HoldsEveryFileByteForByte) {
  const std::filesystem::directory_iterator folder(source_dir() + "/data");
  const auto count = std::count_if(begin(folder), end(folder), [](auto& f) { return f.path().extension() == ".csv"; });
  EXPECT_EQ(static_cast<std::size_t>(count), file_count);
  for (const File& file : all())
    EXPECT_TRUE(bytes(file) == bytes_on_disk(std::string(file.name) + ".csv")) << file.name;
}

TEST(Embedded, ListsTheDataSetsByName) {
  EXPECT_TRUE(std::ranges::is_sorted(all(), {}, [](const File& file) { return std::string_view(file.name); }));
}

TEST(Embedded, EndsEachFileWithAZeroByte) {
  for (const File& file : all()) EXPECT_EQ(*file.end, '\0') << file.name;
}

TEST(Embedded, CreditsTheSourceOfEveryDataSet) {
  for (const File& file : all()) {
    EXPECT_NE(bytes(credits).find("| " + std::string(file.name) + ".csv |"), std::string_view::npos) << file.name;
  }
}

}  // namespace lemma::embedded
