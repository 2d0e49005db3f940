// lemma/math/radix.cpp
#include <lemma/math/radix.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace lemma {
namespace {

constexpr int kBits = 11, kDigits = 3;  // the leading ones: few numbers agree in all of them
constexpr std::size_t kSize = std::size_t{1} << kBits, kFew = 16;

bool is_before(const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; }

void insert_each(std::span<KeyedRow> items) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    const KeyedRow each = items[i];
    std::size_t j = i;
    for (; j > 0 && each.key < items[j - 1].key; --j) items[j] = items[j - 1];
    items[j] = each;
  }
}

/// By the digits of the bits [low, top), the last digit first.
void sort_by_digits(std::span<KeyedRow> items, std::span<KeyedRow> space, int low, int top) {
  const int digits = (top - low + kBits - 1) / kBits;
  std::vector<std::array<std::uint32_t, kSize>> counts(static_cast<std::size_t>(digits));
  for (const KeyedRow& each : items)
    for (int d = 0; d < digits; ++d) ++counts[static_cast<std::size_t>(d)][(each.key >> (low + d * kBits)) % kSize];
  std::span<KeyedRow> from = items, to = space;
  for (int d = 0; d < digits; ++d) {
    auto& count = counts[static_cast<std::size_t>(d)];
    const int shift = low + d * kBits;
    if (count[(from.front().key >> shift) % kSize] == from.size()) continue;
    std::exclusive_scan(count.begin(), count.end(), count.begin(), 0U);
    for (const KeyedRow& each : from) to[count[(each.key >> shift) % kSize]++] = each;
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::copy(from.begin(), from.end(), items.begin());
}

void sort_by_key(std::span<KeyedRow> items, std::span<KeyedRow> space) {
  if (items.size() <= kFew) return insert_each(items);
  if (items.size() < kSize) return std::stable_sort(items.begin(), items.end(), is_before);
  std::uint64_t differ = 0;
  for (const KeyedRow& each : items) differ |= each.key ^ items.front().key;
  const int top = static_cast<int>(std::bit_width(differ)), low = std::max(0, top - kDigits * kBits);
  if (top == 0) return;
  sort_by_digits(items, space, low, top);
  if (low == 0) return;
  for (std::size_t i = 0, end; i < items.size(); i = end) {  // those that agree in the leading digits
    bool sorted = true;
    for (end = i + 1; end < items.size() && items[end].key >> low == items[i].key >> low; ++end)
      sorted = sorted && items[end - 1].key <= items[end].key;
    if (!sorted) sort_by_key(items.subspan(i, end - i), space.subspan(i, end - i));
  }
}

}  // namespace

void radix_sort(std::vector<KeyedRow>& items) {
  if (items.size() < kSize) return sort_by_key(items, {});
  std::vector<KeyedRow> space(items.size());
  sort_by_key(items, space);
}

}  // namespace lemma
