// lemma/model/origin.hpp: where a model's rows came from, kept small enough to travel with it.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/core/value.hpp>

namespace lemma {

/// A fingerprint of a set of rows: each row is hashed (features and response); kept are the number of rows, an order-free
/// sum of all hashes, and the kSize smallest distinct hashes (a bottom-k sketch). Up to kSize rows the share of rows in
/// common is exact; beyond, it is an unbiased estimate from the smallest hashes.
///
/// Of rows that came without their zeros only the other features are hashed, with their places, so that a wide sparse
/// row costs what it holds. Such a sketch is compared with one of the same kind, which dense rows can give too.
class RowSketch {
 public:
  static constexpr std::size_t kSize = 8192;
  enum class Of { all_features, nonzero_features };
  explicit RowSketch(Of what = Of::all_features) : of_(what) {}

  void accumulate(const Block& block);
  void accumulate(const Csr& x, const Block& outcome);  // rows that lie without their zeros
  void merge(const RowSketch& other);

  Of of() const { return of_; }
  Index rows() const { return rows_; }
  std::uint64_t hash() const { return sum_; }
  const std::vector<std::uint64_t>& smallest() const { return smallest_; }

  /// Of `other`'s rows, the share that stands in this sketch too.
  double share_of(const RowSketch& other) const;

  Value save() const;
  static RowSketch load(const Value& value);

 private:
  void add(std::uint64_t hash);
  void trim();
  Of of_;
  Index rows_ = 0;
  std::uint64_t sum_ = 0;
  std::vector<std::uint64_t> smallest_;  // ascending, distinct
};

/// The sketch of the rows a model learned from: without their zeros where that is how they lie in memory.
RowSketch sketch(const Rows& rows, const Execution& execution = {});
/// Of rows that a model is judged on: to be compared with that of its training rows.
RowSketch sketch_like(const RowSketch& training, const Rows& rows, const Execution& execution = {});

/// What a model file says of its data.
struct Origin {
  std::string name;  // "crabs", "out/train.csv"
  RowSketch rows;
};

}  // namespace lemma
