// lemma/math/radix_test.cpp
#include <algorithm>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/math/radix.hpp>

namespace lemma {
namespace {

void expect_sorted(const std::vector<double>& values) {
  std::vector<KeyedRow> items;
  for (std::size_t i = 0; i < values.size(); ++i) items.push_back({key_of(values[i]), static_cast<std::uint32_t>(i)});
  std::vector<KeyedRow> expected = items;
  std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  radix_sort(items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[i].row, expected[i].row) << i << " of " << items.size();
    ASSERT_EQ(number_of(items[i].key), values[items[i].row] + 0.0);
  }
}

TEST(RadixSort, PutsNumbersInOrderAndLeavesEqualOnesAsTheyStood) {
  RandomStream stream(1);
  for (const std::size_t n : {0U, 1U, 2U, 17U, 300U, 2047U, 2048U, 30000U}) {
    std::vector<double> any(n), few(n), close(n), wide(n), alike(n, -2.5), mixed(n);
    for (std::size_t i = 0; i < n; ++i) {
      any[i] = stream.normal();
      few[i] = static_cast<double>(stream.below(5)) - 2;
      close[i] = 1.7e9 + 1e-6 * stream.uniform();  // differ in their last digits alone
      wide[i] = std::ldexp(stream.normal(), static_cast<int>(stream.below(2000)) - 1000);
      mixed[i] = stream.below(2) == 0 ? 1 + 1e-15 * static_cast<double>(stream.below(9)) : stream.normal();
    }
    for (const auto& values : {any, few, close, wide, alike, mixed}) expect_sorted(values);
  }
  expect_sorted({0.0, -0.0, 1, -1, 0.0, 5e-324, -5e-324, 1e308, -1e308});
}

}  // namespace
}  // namespace lemma
