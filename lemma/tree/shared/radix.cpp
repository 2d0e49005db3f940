// lemma/tree/shared/radix.cpp
#include <lemma/tree/shared/radix.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace lemma {

void radix_sort(std::vector<KeyedRow>& items) {
  constexpr int kBits = 11, kDigits = 6;
  constexpr std::size_t kSize = std::size_t{1} << kBits;
  if (items.size() < kSize)
    return std::stable_sort(items.begin(), items.end(),
                            [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; });
  std::vector<std::array<std::uint32_t, kSize>> counts(kDigits);
  for (const KeyedRow& each : items)
    for (int d = 0; d < kDigits; ++d) ++counts[static_cast<std::size_t>(d)][(each.key >> (d * kBits)) % kSize];
  std::vector<KeyedRow> other(items.size());
  for (int d = 0; d < kDigits; ++d) {
    auto& count = counts[static_cast<std::size_t>(d)];
    if (count[(items.front().key >> (d * kBits)) % kSize] == items.size()) continue;
    std::exclusive_scan(count.begin(), count.end(), count.begin(), 0U);
    for (const KeyedRow& each : items) other[count[(each.key >> (d * kBits)) % kSize]++] = each;
    items.swap(other);
  }
}

}  // namespace lemma
