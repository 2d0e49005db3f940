// lemma/model/row_filter.hpp: a set of hashes, small enough to travel with a model.
#pragma once
#include <cstdint>
#include <lemma/core/value.hpp>
#include <span>
#include <vector>

namespace lemma {

/// A set of 64-bit hashes in about ten bits each: the leading bits() of every hash, in ascending order, each written as
/// its distance from the one before (a Rice code: 2^bits places hold size() members, so a distance is geometric).
/// What is not in it was never added, for certain; what was never added is taken for a member with the probability
/// false_alarms() = size() / 2^bits(). It depends on the set alone, not on the order of the hashes.
class RowFilter {
 public:
  RowFilter() = default;  // no filter at all: bits() is 0
  RowFilter(std::span<const std::uint64_t> ascending, int bits);

  /// As many leading bits as fit in ten bits for each of so many rows, or in 64 kB where that is more.
  static int bits_for(Index rows);

  int bits() const { return bits_; }
  Index size() const { return size_; }
  double false_alarms() const;
  std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }
  /// Of these hashes (ascending) the number that cannot be told from a member.
  struct Count {
    Index all = 0, distinct = 0;  // repeated ones counted each time, and once
    Index copies = 0;             // of the one that is repeated most
  };
  Count count(std::span<const std::uint64_t> ascending) const;
  /// The union, with the fewer bits of the two.
  void merge(const RowFilter& other);
  void shorten(int bits);  // to fewer bits: a coarser set

  Value save() const;
  static RowFilter load(const Value& value);  // Error unless every bit of it is read as a set of that size
  bool operator==(const RowFilter&) const = default;

 private:
  template <class Visit>
  void encode(const Visit& visit);
  class Cursor;
  int rest_bits() const;  // of a distance, written as they are; what is above them is counted
  int bits_ = 0;
  Index size_ = 0;
  std::vector<std::uint64_t> words_;
};

/// 64-bit words as an array of a document: their bits, in the place of numbers.
Value words_as_value(const std::vector<std::uint64_t>& words);
std::vector<std::uint64_t> words_from(const Value& value, std::string_view what);

}  // namespace lemma
