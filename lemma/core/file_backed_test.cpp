// lemma/core/file_backed_test.cpp
#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <lemma/core/file_backed.hpp>
#include <numeric>
#include <string>

namespace lemma {
namespace {

constexpr std::size_t kMany = kLeastFile / sizeof(std::uint32_t);

/// What the system says of the mapping that holds an address.
std::string mapping_of(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t dash = line.find('-');
    if (std::stoull(line.substr(0, dash), nullptr, 16) <= place &&
        place < std::stoull(line.substr(dash + 1), nullptr, 16))
      return line;
  }
  return "";
}
bool is_shared_file(const void* address) {
  const std::string line = mapping_of(address);
  return line.find(" rw-s ") != std::string::npos;
}

TEST(FileBacked, ALargeArrayLiesInAFileWithoutAName) {
  Kept<std::uint32_t> array(Lies::in_a_file);
  array.resize(kMany);
  if (mapping_of(array.data()).empty()) GTEST_SKIP() << "this system does not tell its mappings";
  EXPECT_TRUE(is_shared_file(array.data())) << mapping_of(array.data());
  EXPECT_NE(mapping_of(array.data()).find("(deleted)"), std::string::npos);
}

TEST(FileBacked, SmallArraysAndThoseThatAreNotAskedToLieInMemory) {
  const Kept<std::uint32_t> small(kMany - 1, 0U, Lies::in_a_file), plain(kMany, 0U);
  EXPECT_FALSE(is_shared_file(small.data()));
  EXPECT_FALSE(is_shared_file(plain.data()));
}

TEST(FileBacked, GrowsIsMovedAndIsGivenBackAsAnyVector) {
  Kept<std::uint32_t> array(Lies::in_a_file);
  for (std::uint32_t i = 0; i < kMany + 1000; ++i)
    array.push_back(i);  // out of memory into files, and into larger ones
  Kept<std::uint32_t> other;
  other = std::move(array);
  EXPECT_EQ(other.get_allocator().where(), Lies::in_a_file);
  std::uint64_t sum = 0;
  for (const std::uint32_t each : other) sum += each;
  const std::uint64_t n = kMany + 1000;
  EXPECT_EQ(sum, n * (n - 1) / 2);
  other.clear();
  other.shrink_to_fit();
  other.resize(3, 7);
  EXPECT_EQ(other, (Kept<std::uint32_t>{7, 7, 7}));
}

TEST(FileBacked, MoreThanAnyMachineHasIsRefusedAsMemoryIs) {
  Kept<std::uint32_t> array(Lies::in_a_file);
  EXPECT_THROW(array.resize(std::size_t{1} << 60), std::bad_alloc);
  EXPECT_TRUE(array.empty());
}

}  // namespace
}  // namespace lemma
