// lemma/core/hash_test.cpp
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <lemma/core/hash.hpp>
#include <lemma/core/random.hpp>
#include <set>
#include <string>

namespace lemma {
namespace {

TEST(Hash, ValuesAreFixedForEver) {  // model files hold them: a change here makes old files disagree
  EXPECT_EQ(hash_text(""), 0xe2f400694ccddaf5);
  EXPECT_EQ(hash_text("lemma"), 0x37f9fad5704442c3);
  EXPECT_EQ(hash_text("lemma", 1), 0x9c08cfb13694cabd);
  EXPECT_EQ(hash_numbers(std::vector<double>{1, 2, 3}), 0x03dfa849ac42561b);
}

TEST(Hash, EqualNumbersHashAlike) {
  const auto of = [](double number) { return hash_numbers({&number, 1}); };
  EXPECT_EQ(of(0.0), of(-0.0));
  EXPECT_EQ(of(std::nan("1")), of(-std::nan("2")));
  EXPECT_NE(of(0.0), of(5e-324));
  const std::vector<double> numbers{1.5, -2, 3};
  EXPECT_EQ(hash_numbers(numbers), hash_bytes(numbers.data(), 24)) << "numbers are their bytes";
}

TEST(Hash, LengthOrderAndSeedCount) {
  EXPECT_NE(hash_text(std::string(1, '\0')), hash_text(std::string(2, '\0')));
  EXPECT_NE(hash_numbers(std::vector<double>{1, 2}), hash_numbers(std::vector<double>{2, 1}));
  EXPECT_NE(hash_numbers(std::vector<double>{1, 2, 3, 4}), hash_numbers(std::vector<double>{3, 4, 1, 2}));
  EXPECT_NE(hash_text("a", 0), hash_text("a", 1));
}

TEST(Hash, EveryInputBitChangesHalfOfTheOutput) {
  const std::string text = "sixteen bytes and a tail";
  const std::uint64_t whole = hash_text(text);
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const int changed = std::popcount(whole ^ hash_text(flipped));
    EXPECT_GT(changed, 12) << "bit " << bit;
    EXPECT_LT(changed, 52) << "bit " << bit;
  }
}

TEST(Hash, SmallWholeNumbersDoNotCollide) {
  std::set<std::uint64_t> seen;
  for (int a = 0; a < 300; ++a)
    for (int b = 0; b < 300; ++b) seen.insert(hash_numbers(std::vector<double>{double(a), double(b)}));
  EXPECT_EQ(seen.size(), 90000u);
}

TEST(Crc32, IsTheWellKnownOne) {
  EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u);
  EXPECT_EQ(crc32("6789", 4, crc32("12345", 5)), 0xCBF43926u) << "parts continue one another";
  EXPECT_EQ(crc32(nullptr, 0), 0u);
}

}  // namespace
}  // namespace lemma
