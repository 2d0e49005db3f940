// lemma/model/origin.hpp: where a model's rows came from, kept small enough to travel with it.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/core/value.hpp>

namespace lemma {

/// A fingerprint of a set of rows: each row is hashed (features and response); kept are the number of rows, an order-free
/// sum of all hashes, and the kSize smallest distinct hashes (a bottom-k sketch). Up to kSize rows the share of rows in
/// common is exact; beyond, it is an unbiased estimate from the smallest hashes.
class RowSketch {
 public:
  static constexpr std::size_t kSize = 8192;

  void accumulate(const Block& block);
  void merge(const RowSketch& other);

  Index rows() const { return rows_; }
  std::uint64_t hash() const { return sum_; }
  const std::vector<std::uint64_t>& smallest() const { return smallest_; }

  /// Of `other`'s rows, the share that stands in this sketch too.
  double share_of(const RowSketch& other) const;

  Value save() const;
  static RowSketch load(const Value& value);

 private:
  void trim();
  Index rows_ = 0;
  std::uint64_t sum_ = 0;
  std::vector<std::uint64_t> smallest_;  // ascending, distinct
};

/// The sketch of the rows a model learned from, or is judged on.
RowSketch sketch(const Rows& rows, const Execution& execution = {});

/// What a model file says of its data.
struct Origin {
  std::string name;  // "crabs", "out/train.csv"
  RowSketch rows;
};

}  // namespace lemma
