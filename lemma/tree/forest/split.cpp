// lemma/tree/forest/split.cpp
#include <algorithm>
#include <bit>
#include <lemma/tree/forest/sides.hpp>

namespace lemma::forest {
namespace {

constexpr std::size_t kFew = 24;  // are sorted by insertion

/// By the bits from `low` up to `low` + `bits`, digit by digit, those of equal bits as they stood. `other` is space.
template <class Key>
void radix_sort(std::vector<Key>& keys, std::vector<Key>& other, std::size_t count, int low, int bits) {
  if (count <= kFew) {
    for (std::size_t i = 1; i < count; ++i) {
      const Key key = keys[i];
      std::size_t j = i;
      for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
      keys[j] = key;
    }
    return;
  }
  const int room = std::clamp(static_cast<int>(std::bit_width(count)), 5, 11), passes = (bits + room - 1) / room;
  std::uint32_t counts[1 << 11];
  for (int pass = 0, done = 0; pass < passes; ++pass) {
    const int digit = (bits - done + passes - pass - 1) / (passes - pass), shift = low + done;
    const Key mask = (Key{1} << digit) - 1;
    std::fill_n(counts, std::size_t{1} << digit, 0U);
    for (std::size_t i = 0; i < count; ++i) ++counts[(keys[i] >> shift) & mask];
    std::uint32_t begin = 0;
    for (std::size_t d = 0; d < std::size_t{1} << digit; ++d) begin += std::exchange(counts[d], begin);
    for (std::size_t i = 0; i < count; ++i) other[counts[(keys[i] >> shift) & mask]++] = keys[i];
    keys.swap(other);
    done += digit;
  }
}

}  // namespace

SplitSearch::SplitSearch(const Plan& plan, const ForestRows& data) : plan_(plan), data_(data), draw_(data.width) {}

Totals SplitSearch::totals(std::span<const Item> items) const {
  Totals out;
  const bool means = data_.of_means();
  if (!means) out.classes.assign(at(data_.classes), 0.0);
  const bool weighed = !data_.factor.empty();
  double all_copies = 0, w = 0, s = 0;
  for (const Item& item : items) {
    if (weighed) all_copies += copies(item);
    w += item.w;
    s += item.s;
    if (!means) out.classes[item.label] += item.w;
  }
  out.copies = weighed ? all_copies : w;
  out.w = w;
  out.s = s;
  if (means) {
    out.worth = out.w > 0 ? out.s * out.s / out.w : 0;
  } else {
    for (const double n : out.classes) out.worth += n * n / out.w;
  }
  if (data_.classes > 0) {
    out.pure = std::all_of(items.begin(), items.end(), [&](const Item& item) { return item.label == items[0].label; });
  } else {
    out.pure = std::all_of(items.begin(), items.end(),
                           [&](const Item& item) { return data_.y[item.row] == data_.y[items[0].row]; });
  }
  return out;
}

bool SplitSearch::gather(std::span<const Item> items, Index column) {
  rank_.resize(items.size());
  missing_.clear();
  std::uint32_t least = kMissing, greatest = 0;
  const auto ranks = data_.column(column, items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::uint32_t rank = ranks[items[i].row];
    rank_[i] = rank;
    if (rank == kMissing) [[unlikely]] {
      missing_.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    least = std::min(least, rank);
    greatest = std::max(greatest, rank);
  }
  least_ = least;
  greatest_ = greatest;
  if (missing_.size() == items.size()) return false;
  return least_ != greatest_ || !missing_.empty();
}

void SplitSearch::best(std::span<const Item> items, const Totals& totals, const RandomStream& tree, Index node,
                       Split& out) {
  out.column = -1;
  out.worth = -1;
  draw_.begin(tree, node);
  for (Index tried = 0; tried < plan_.columns && draw_.has_next();) {
    const Index column = draw_.next();
    asking_.before(items.size() + at(data_.classes));
    const bool categories = data_.levels[at(column)] > 0, by_value = plan_.random_cuts > 0 && !categories;
    if (!(by_value ? gather_values(items, column) : gather(items, column))) continue;
    ++tried;
    if (plan_.random_cuts > 0) {
      if (data_.of_means()) {
        categories ? part_at_random<MeanSides>(items, totals, column, out)
                   : cut_at_random<MeanSides>(items, totals, column, out);
      } else {
        categories ? part_at_random<ClassSides>(items, totals, column, out)
                   : cut_at_random<ClassSides>(items, totals, column, out);
      }
      continue;
    }
    const int bits = std::bit_width(greatest_ - least_), places = std::bit_width(items.size() - 1);
    if (bits + places <= 32) sort_and_scan<std::uint32_t>(items, totals, column, out);
    else sort_and_scan<std::uint64_t>(items, totals, column, out);
  }
  if (plan_.random_cuts == 0 || !out.found() || data_.levels[at(out.column)] > 0) return;
  if (ForestRows::is_large(items.size())) out.cut = rank_from(out.column, out.threshold);
}

std::uint32_t SplitSearch::rank_from(Index column, double threshold) const {
  if (threshold == std::numeric_limits<double>::max()) return kMissing;  // above all there are
  const auto& low = data_.low[at(column)];
  return static_cast<std::uint32_t>(std::lower_bound(low.begin(), low.end(), threshold) - low.begin());
}

template <class Key>
void SplitSearch::sort_and_scan(std::span<const Item> items, const Totals& totals, Index column, Split& out) {
  const int places = std::bit_width(items.size() - 1), bits = std::bit_width(greatest_ - least_);
  auto& pair = [this]() -> auto& {
    if constexpr (sizeof(Key) == 4) return keys_;
    else return wide_keys_;
  }
  ();
  auto &keys = pair[0], &other = pair[1];
  if (keys.size() < items.size()) {
    keys.resize(items.size());
    other.resize(items.size());
  }
  std::size_t count = 0;
  if (missing_.empty()) {
    for (std::size_t i = 0; i < items.size(); ++i) keys[i] = Key{rank_[i] - least_} << places | static_cast<Key>(i);
    count = items.size();
  } else {
    for (std::size_t i = 0; i < items.size(); ++i)
      if (rank_[i] != kMissing) keys[count++] = Key{rank_[i] - least_} << places | static_cast<Key>(i);
  }
  radix_sort(keys, other, count, places, bits);
  const std::span<const Key> sorted(keys.data(), count);
  const bool categories = data_.levels[at(column)] > 0;
  if (data_.of_means()) {
    categories ? scan_categories<Key, MeanSides>(items, totals, column, sorted, out)
               : scan<Key, MeanSides>(items, totals, column, sorted, out);
  } else {
    categories ? scan_categories<Key, ClassSides>(items, totals, column, sorted, out)
               : scan<Key, ClassSides>(items, totals, column, sorted, out);
  }
}

template <class Key, class Sides>
void SplitSearch::scan(std::span<const Item> items, const Totals& totals, Index column, std::span<const Key> sorted,
                       Split& out) {
  const int places = std::bit_width(items.size() - 1);
  const Key mask = (Key{1} << places) - 1;
  const auto counted = [this](const Item& item) { return copies(item); };
  Sides sides(totals, counts_);
  Candidates candidates{totals.copies, put_apart(sides, items, missing_, counted), plan_.min_leaf, 0, out.worth};
  const bool weighed = !data_.factor.empty();
  std::ptrdiff_t place = -1;
  int way = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Item& item = items[sorted[i] & mask];
    sides.move(item);
    candidates.left += weighed ? copies(item) : item.w;
    const bool last = i + 1 == sorted.size();
    if (last ? missing_.empty() : sorted[i] >> places == sorted[i + 1] >> places) continue;
    candidates.right_too = !last;
    if (const int found = candidates.consider(sides)) {
      way = found;
      place = static_cast<std::ptrdiff_t>(i);
    }
  }
  if (place < 0) return;
  const auto i = static_cast<std::size_t>(place);
  const auto below = static_cast<std::uint32_t>(sorted[i] >> places) + least_;
  out.worth = candidates.best;
  out.column = column;
  out.missing_left = way == 2;
  if (i + 1 == sorted.size()) {  // whatever is known goes left
    out.threshold = std::numeric_limits<double>::max();
    out.cut = kMissing;
    return;
  }
  const auto above = static_cast<std::uint32_t>(sorted[i + 1] >> places) + least_;
  const auto& low = data_.low[at(column)];  // rows outside the bag may have ranks between the two
  out.threshold = data_.threshold(column, below, above);
  out.cut = static_cast<std::uint32_t>(std::lower_bound(low.begin() + below + 1, low.begin() + above, out.threshold) -
                                       low.begin());
}

/// Categories in the order of their means: of two classes and of numbers no set of them is better than the best one of these.
/// Of more classes they are ordered by the share of each class in turn.
template <class Key, class Sides>
void SplitSearch::scan_categories(std::span<const Item> items, const Totals& totals, Index column,
                                  std::span<const Key> sorted, Split& out) {
  const int places = std::bit_width(items.size() - 1);
  const Key mask = (Key{1} << places) - 1;
  lots_.clear();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto code = static_cast<std::uint32_t>(sorted[i] >> places) + least_;
    if (lots_.empty() || lots_.back().code != code) lots_.push_back({code, static_cast<std::uint32_t>(i), 0, 0});
    lots_.back().end = static_cast<std::uint32_t>(i + 1);
  }
  const auto counted = [this](const Item& item) { return copies(item); };
  Sides sides(totals, counts_);
  Candidates candidates{totals.copies, put_apart(sides, items, missing_, counted), plan_.min_leaf, 0, out.worth};
  const auto item_at = [&](std::size_t i) -> const Item& { return items[sorted[i] & mask]; };
  const auto order_by = [&](auto number) {
    for (Lot& lot : lots_) {
      double sum = 0, weight = 0;
      for (std::size_t i = lot.begin; i < lot.end; ++i) {
        sum += number(item_at(i));
        weight += item_at(i).w;
      }
      lot.order = sum / weight;
    }
    std::sort(lots_.begin(), lots_.end(),
              [](const Lot& a, const Lot& b) { return a.order != b.order ? a.order < b.order : a.code < b.code; });
  };
  const auto try_all = [&] {
    sides.start_again();
    candidates.left = 0;
    std::size_t place = 0;
    int way = 0;
    for (std::size_t l = 0; l < lots_.size(); ++l) {
      for (std::size_t i = lots_[l].begin; i < lots_[l].end; ++i) {
        sides.move(item_at(i));
        candidates.left += copies(item_at(i));
      }
      candidates.right_too = l + 1 < lots_.size();
      if (!candidates.right_too && missing_.empty()) break;
      if (const int found = candidates.consider(sides)) {
        way = found;
        place = l;
      }
    }
    if (way == 0) return;
    out.worth = candidates.best;
    out.column = column;
    out.missing_left = way == 2;
    out.left.clear();
    for (std::size_t l = 0; l <= place; ++l) out.left.push_back(lots_[l].code);
    if (out.missing_left) {  // a category that is not here goes where a missing one goes
      std::vector<bool> here(at(data_.levels[at(column)]), false);
      for (const Lot& lot : lots_) here[lot.code] = true;
      for (std::size_t code = 0; code < here.size(); ++code)
        if (!here[code]) out.left.push_back(static_cast<std::uint32_t>(code));
    }
  };
  if constexpr (std::is_same_v<Sides, MeanSides>) {
    order_by([](const Item& item) { return item.s; });
    try_all();
  } else {
    for (std::uint32_t k = 0; k < totals.classes.size(); ++k) {
      if (!(totals.classes[k] > 0)) continue;
      order_by([k](const Item& item) { return item.label == k ? item.w : 0.0; });
      try_all();
      if (lots_.size() <= 2) break;
    }
  }
}

}  // namespace lemma::forest
