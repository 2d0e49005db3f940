// lemma/reduce/impute/order.cpp
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <lemma/reduce/impute/order.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

/// Numbers as whole numbers of the same order: a positive one gets its sign bit, a negative one is turned over.
std::uint64_t key_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // −0 becomes 0
  return bits & kSign ? ~bits : bits | kSign;
}
double value_of(std::uint64_t key) { return std::bit_cast<double>(key & kSign ? key & ~kSign : ~key); }

/// A value of which the leading bits are known, and the weight of the values below all that share them.
struct Search {
  std::uint64_t leading = 0;
  double below = 0;
};

/// Weight of the values that share the known bits, by their next eight.
struct NextDigit {
  const std::vector<Search>* searches;
  int known;  // bits
  Matrix weight;

  NextDigit(const std::vector<Search>& s, int bits)
      : searches(&s), known(bits), weight(Matrix::Zero(static_cast<Index>(s.size()), 256)) {}
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index j = 0; j < block.x.cols(); ++j) {
        if (std::isnan(block.x(i, j))) continue;
        const auto key = key_of(block.x(i, j));
        const bool shared = known == 0 || key >> (64 - known) == (*searches)[static_cast<std::size_t>(j)].leading;
        if (shared) weight(j, static_cast<Index>(key >> (56 - known) & 255)) += block.weight_of(i);
      }
  }
  void merge(const NextDigit& other) { weight += other.weight; }
};

/// The least value with at least half the weight up to and including it: of two middle ones the lower.
Vector lower_middle(const Rows& rows, const Vector& present, const Execution& execution) {
  std::vector<Search> searches(static_cast<std::size_t>(rows.width()));
  for (int known = 0; known < 64; known += 8) {
    const auto next =
        scan(rows, NextDigit(searches, known), execution.part(known / 64.0, (known + 8) / 64.0, execution.message));
    for (Index j = 0; j < rows.width(); ++j) {
      auto& search = searches[static_cast<std::size_t>(j)];
      const double half = present(j) / 2;
      Index digit = 0, last = 255;
      while (last > 0 && next.weight(j, last) == 0) --last;
      for (; digit < last; ++digit) {
        const double up_to = search.below + next.weight(j, digit);
        if (next.weight(j, digit) > 0 && up_to >= half) break;
        search.below = up_to;
      }
      search.leading = search.leading << 8 | static_cast<std::uint64_t>(digit);
    }
  }
  Vector values(rows.width());
  for (Index j = 0; j < rows.width(); ++j) values(j) = value_of(searches[static_cast<std::size_t>(j)].leading);
  return values;
}

/// What lies above a value of each column: the least, and the weight up to the value itself.
struct Above {
  const Vector* value;
  Vector up_to, least;

  explicit Above(const Vector& v)
      : value(&v),
        up_to(Vector::Zero(v.size())),
        least(Vector::Constant(v.size(), std::numeric_limits<double>::infinity())) {}
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i)
      for (Index j = 0; j < value->size(); ++j) {
        const double x = block.x(i, j), w = block.weight_of(i);
        if (x <= (*value)(j)) up_to(j) += w;
        else if (w > 0 && x < least(j)) least(j) = x;  // NaN is neither
      }
  }
  void merge(const Above& other) {
    up_to += other.up_to;
    least = least.cwiseMin(other.least);
  }
};

/// Different values in ascending order with their weights, for each column.
struct Frequencies {
  std::vector<std::vector<Mode>> columns;

  explicit Frequencies(Index p) : columns(static_cast<std::size_t>(p)) {}
  void accumulate(const Block& block) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      std::vector<Mode> values;
      for (Index i = 0; i < block.rows(); ++i)
        if (const double x = block.x(i, static_cast<Index>(j)); !std::isnan(x))
          values.push_back({x + 0.0, block.weight_of(i)});
      std::stable_sort(values.begin(), values.end(), [](const Mode& a, const Mode& b) { return a.value < b.value; });
      columns[j] = joined(columns[j], values);
    }
  }
  void merge(const Frequencies& other) {
    for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = joined(columns[j], other.columns[j]);
  }
  static std::vector<Mode> joined(const std::vector<Mode>& a, const std::vector<Mode>& b) {
    std::vector<Mode> all(a.size() + b.size()), out;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), all.begin(),
               [](const Mode& x, const Mode& y) { return x.value < y.value; });
    for (const Mode& each : all) {
      if (!out.empty() && out.back().value == each.value) out.back().weight += each.weight;
      else out.push_back(each);
    }
    return out;
  }
};

}  // namespace

Vector medians(const Rows& rows, const Vector& present, const Execution& execution) {
  Vector median = lower_middle(rows, present, execution.part(0, 0.9, execution.message));
  const auto above = scan(rows, Above(median), execution.part(0.9, 1, execution.message));
  for (Index j = 0; j < median.size(); ++j)
    if (above.up_to(j) == present(j) / 2 && std::isfinite(above.least(j)))  // exactly half: the mean of the middle two
      median(j) += (above.least(j) - median(j)) / 2;
  return median;
}

std::vector<Mode> modes(const Rows& rows, const Execution& execution) {
  const auto frequencies = scan(rows, Frequencies(rows.width()), execution);
  std::vector<Mode> out;
  for (const auto& column : frequencies.columns) {
    Mode best;
    for (const Mode& each : column)
      if (each.weight > best.weight) best = each;
    out.push_back(best);
  }
  return out;
}

}  // namespace lemma
