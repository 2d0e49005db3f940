// lemma/tree/forest/split.cpp
#include <algorithm>
#include <bit>
#include <cmath>
#include <lemma/tree/forest/split.hpp>

namespace lemma::forest {
namespace {

constexpr std::size_t kFew = 24;  // are sorted by insertion
/// Two columns often part the few rows of a node alike. Which of two such splits is taken must not hang on the order in which their
/// sums were added up: of numbers in units of their deviation the first of equals stays.
constexpr double kRounding = 1e-12;

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

/// Numbers, or two classes as 0 and 1, on two sides; rows without a value apart from both.
class MeanSides {
 public:
  MeanSides(const Totals& totals, std::vector<double>*) : right_(totals.w, totals.s) {}
  void set_apart(const Item& item) {
    apart_.add(item.w, item.s);
    right_.add(-item.w, -item.s);
  }
  void move(const Item& item) {
    left_.add(item.w, item.s);
    right_.add(-item.w, -item.s);
  }
  /// Of all items those that go left, without a turn that a CPU could guess wrong; `way` of each place is 0 or 1.
  void move_all(std::span<const Item> items, const auto& way) {
    Sums even, odd;
    std::size_t i = 0;
    for (; i + 1 < items.size(); i += 2) {
      const double a = way(i), b = way(i + 1);
      even.add(a * items[i].w, a * items[i].s);
      odd.add(b * items[i + 1].w, b * items[i + 1].s);
    }
    if (i < items.size()) even.add(way(i) * items[i].w, way(i) * items[i].s);
    left_ = {even.w + odd.w, even.s + odd.s};
    right_.add(-left_.w, -left_.s);
  }
  double left_weight() const { return left_.w; }
  void start_again() {
    right_.add(left_.w, left_.s);
    left_ = {};
  }
  double worth_without() const { return left_.worth() + right_.worth(); }
  double worth_left() const { return plus(left_).worth() + right_.worth(); }
  double worth_right() const { return left_.worth() + plus(right_).worth(); }

 private:
  struct Sums {
    double w = 0, s = 0;
    void add(double weight, double sum) {
      w += weight;
      s += sum;
    }
    double worth() const { return w > 0 ? s * s / w : 0; }
  };
  Sums plus(const Sums& side) const { return {side.w + apart_.w, side.s + apart_.s}; }
  Sums left_, right_, apart_;
};

/// More classes on two sides: sums of squares and products, changed row by row.
class ClassSides {
 public:
  ClassSides(const Totals& totals, std::vector<double>* space)
      : left_(space[0]), right_(space[1]), apart_(space[2]), right_w_(totals.w) {
    left_.assign(totals.classes.size(), 0.0);
    apart_.assign(totals.classes.size(), 0.0);
    right_ = totals.classes;
    for (const double n : right_) right_squares_ += n * n;
  }
  void set_apart(const Item& item) {
    apart_squares_ += item.w * (2 * apart_[item.label] + item.w);
    apart_[item.label] += item.w;
    apart_w_ += item.w;
    take(item);
    right_product_ = 0;
    for (std::size_t k = 0; k < right_.size(); ++k) right_product_ += right_[k] * apart_[k];
  }
  void move(const Item& item) {
    const double w = item.w, product = w * apart_[item.label];
    left_squares_ += w * (2 * left_[item.label] + w);
    left_[item.label] += w;
    left_w_ += w;
    take(item);
    left_product_ += product;
    right_product_ -= product;
  }
  void move_all(std::span<const Item> items, const auto& way) {
    for (std::size_t i = 0; i < items.size(); ++i) left_[items[i].label] += way(i) * items[i].w;
    left_squares_ = right_squares_ = left_w_ = right_w_ = left_product_ = right_product_ = 0;
    for (std::size_t k = 0; k < left_.size(); ++k) {
      right_[k] -= left_[k];
      left_w_ += left_[k];
      right_w_ += right_[k];
      left_squares_ += left_[k] * left_[k];
      right_squares_ += right_[k] * right_[k];
      left_product_ += left_[k] * apart_[k];
      right_product_ += right_[k] * apart_[k];
    }
  }
  double left_weight() const { return left_w_; }
  void start_again() {
    for (std::size_t k = 0; k < right_.size(); ++k) {
      right_squares_ += left_[k] * (2 * right_[k] + left_[k]);
      right_[k] += left_[k];
      left_[k] = 0;
    }
    right_w_ += std::exchange(left_w_, 0);
    right_product_ += std::exchange(left_product_, 0);
    left_squares_ = 0;
  }
  double worth_without() const { return over(left_squares_, left_w_) + over(right_squares_, right_w_); }
  double worth_left() const {
    return over(left_squares_ + 2 * left_product_ + apart_squares_, left_w_ + apart_w_) +
           over(right_squares_, right_w_);
  }
  double worth_right() const {
    return over(left_squares_, left_w_) +
           over(right_squares_ + 2 * right_product_ + apart_squares_, right_w_ + apart_w_);
  }

 private:
  static double over(double squares, double w) { return w > 0 ? squares / w : 0; }
  void take(const Item& item) {
    right_squares_ -= item.w * (2 * right_[item.label] - item.w);
    right_[item.label] -= item.w;
    right_w_ -= item.w;
  }
  std::vector<double>&left_, &right_, &apart_;
  double left_w_ = 0, right_w_ = 0, apart_w_ = 0, left_squares_ = 0, right_squares_ = 0, apart_squares_ = 0,
         left_product_ = 0, right_product_ = 0;
};

/// Offers splits of one column one after the other, and keeps the best that leaves enough rows on both sides.
struct Candidates {
  double all, apart;  // copies of all rows, and of those without a value
  double least;       // on a side
  double left = 0;    // copies with a value on the left
  double best;
  bool right_too = true;  // and some on the right
  double margin = 0;      // by which a split must be worth more to be better: what rounding can do to it

  /// 1: the split with rows without a value on the right is the best so far; 2: with them on the left; 0: neither.
  template <class Sides>
  int consider(const Sides& sides) {
    if (apart == 0) {
      if (left < least || all - left < least) return 0;
      return better(sides.worth_without()) ? (2 * left >= all ? 2 : 1) : 0;
    }
    int out = 0;
    if (left >= least && all - left >= least && better(sides.worth_right())) out = 1;
    if (right_too && left + apart >= least && all - apart - left >= least && better(sides.worth_left())) out = 2;
    return out;
  }
  bool better(double worth) {
    if (!(worth > best + margin)) return false;
    best = worth;
    return true;
  }
};

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

namespace {

/// The copies without a value, put apart.
template <class Sides>
double put_apart(Sides& sides, std::span<const Item> items, const std::vector<std::uint32_t>& missing, auto copies) {
  double out = 0;
  for (const std::uint32_t i : missing) {
    sides.set_apart(items[i]);
    out += copies(items[i]);
  }
  return out;
}

}  // namespace

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

/// Of a large node the ranks, which say as much and are read straight on.
bool SplitSearch::gather_values(std::span<const Item> items, Index column) {
  by_rank_ = ForestRows::is_large(items.size());
  if (by_rank_) {
    const bool differ = gather(items, column);
    if (missing_.size() == items.size()) return false;
    low_ = data_.low[at(column)][least_];
    high_ = data_.low[at(column)][greatest_];
    return differ;
  }
  value_.resize(items.size());
  missing_.clear();
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  const double* const values = data_.values.data() + column;
  const auto width = at(data_.width);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const double value = values[std::size_t{items[i].row} * width];
    value_[i] = value;
    lowest = value < lowest ? value : lowest;
    highest = value > highest ? value : highest;
    if (std::isnan(value)) [[unlikely]]
      missing_.push_back(static_cast<std::uint32_t>(i));
  }
  low_ = lowest;
  high_ = highest;
  return missing_.size() < items.size() && (low_ < high_ || !missing_.empty());
}

/// A threshold anywhere between the least and the greatest value, each place equally likely.
template <class Sides>
void SplitSearch::cut_at_random(std::span<const Item> items, const Totals& totals, Index column, Split& out) {
  const auto counted = [this](const Item& item) { return copies(item); };
  Sides sides(totals, counts_);
  Candidates candidates{totals.copies, put_apart(sides, items, missing_, counted), plan_.min_leaf, 0, out.worth};
  if (data_.classes == 0) candidates.margin = kRounding * totals.w;
  const bool all = !(low_ < high_);  // what is missing against what is not
  for (int trial = 0; trial < plan_.random_cuts; ++trial) {
    double threshold = high_ - draw_.random().uniform() * (high_ - low_);
    if (!(threshold > low_)) threshold = high_;
    if (all) threshold = std::numeric_limits<double>::max();
    if (trial > 0) sides.start_again();
    const auto take = [&](const auto& way) {
      sides.move_all(items, way);
      candidates.left = sides.left_weight();
      if (data_.factor.empty()) return;
      candidates.left = 0;
      for (std::size_t i = 0; i < items.size(); ++i) candidates.left += way(i) * copies(items[i]);
    };
    candidates.right_too = !all;
    if (by_rank_) {
      const std::uint32_t cut = rank_from(column, threshold);
      take([&](std::size_t i) { return rank_[i] < cut ? 1.0 : 0.0; });
    } else {
      take([&](std::size_t i) { return value_[i] < threshold ? 1.0 : 0.0; });
    }
    const int way = candidates.consider(sides);
    if (way == 0) continue;
    out.worth = candidates.best;
    out.column = column;
    out.missing_left = way == 2;
    out.threshold = threshold;
    out.cut = kMissing;
  }
}

/// Each category that is here goes left or right, and so does, as one more, what is missing or not here.
template <class Sides>
void SplitSearch::part_at_random(std::span<const Item> items, const Totals& totals, Index column, Split& out) {
  const auto counted = [this](const Item& item) { return copies(item); };
  codes_.assign(rank_.begin(), rank_.end());
  std::sort(codes_.begin(), codes_.end());
  codes_.erase(std::unique(codes_.begin(), codes_.end()), codes_.end());
  if (codes_.back() == kMissing) codes_.pop_back();
  Sides sides(totals, counts_);
  Candidates candidates{totals.copies, put_apart(sides, items, missing_, counted), plan_.min_leaf, 0, out.worth};
  if (data_.classes == 0) candidates.margin = kRounding * totals.w;
  std::vector<bool> left(at(data_.levels[at(column)]), false);
  for (int trial = 0; trial < plan_.random_cuts; ++trial) {
    std::size_t count = 0;
    do {  // not all on one side
      count = 0;
      for (const std::uint32_t code : codes_) {
        left[code] = (draw_.random().bits() & 1) != 0;
        count += left[code] ? 1 : 0;
      }
    } while (codes_.size() > 1 && (count == 0 || count == codes_.size()));
    candidates.right_too = codes_.size() > 1;
    if (!candidates.right_too) left[codes_[0]] = true;
    if (trial > 0) sides.start_again();
    candidates.left = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (rank_[i] != kMissing && left[rank_[i]]) {
        sides.move(items[i]);
        candidates.left += copies(items[i]);
      }
    const int way = candidates.consider(sides);
    if (way == 0) continue;
    out.worth = candidates.best;
    out.column = column;
    out.missing_left = way == 2;
    out.left.clear();
    std::size_t next = 0;
    for (std::uint32_t code = 0; code < left.size(); ++code) {
      const bool here = next < codes_.size() && codes_[next] == code;
      if (here) ++next;
      if (here ? left[code] : out.missing_left) out.left.push_back(code);
    }
  }
}

}  // namespace lemma::forest
