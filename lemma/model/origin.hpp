// lemma/model/origin.hpp: where a model's rows came from, kept small enough to travel with it.
#pragma once
#include <lemma/model/overlap.hpp>
#include <lemma/model/row_filter.hpp>
#include <lemma/model/row_hash.hpp>
#include <optional>

namespace lemma {

/// A memory of rows: each row is hashed; kept are the number of rows, order-free sums of all hashes (without and with
/// weights), the kSize smallest distinct hashes with the number of rows of each (a bottom-k sketch), and, of more rows
/// than these, a filter that holds all. Up to kSize distinct rows each question has an exact answer; beyond, the filter
/// still proves that a row is none of them, and the sketch tells for certain of a sample.
///
/// The same rows give the same memory in any order, on any number of threads, from memory or from disk.
class RowSketch {
 public:
  static constexpr std::size_t kSize = 8192;
  RowSketch() = default;
  explicit RowSketch(RowKey key) : key_(key) {}

  const RowKey& key() const { return key_; }
  Index rows() const { return rows_; }
  std::uint64_t hash() const { return sum_; }
  /// The sum with weights and precisions; nothing where the rows have none, or the file is too old to know.
  const std::optional<std::uint64_t>& weighted_hash() const { return weighted_; }
  const std::vector<std::uint64_t>& smallest() const { return smallest_; }
  const RowFilter& filter() const { return filter_; }

  /// Whether no more than kSize distinct rows were met, so that each has its hash here.
  bool complete() const { return smallest_.size() < kSize || rows_ <= static_cast<Index>(kSize); }
  /// Whether these are the same rows, with the same weights where those are known.
  bool same_as(const RowSketch& other) const;
  Overlap overlap(std::span<const std::uint64_t> ascending) const;

  /// Of the training rows those that are equal to another one: the share that new rows of the same kind would have.
  struct Twins {
    double rows = 0, of = 0;
    bool exact = true;  // else both are those of a sample
    double share() const { return of > 0 ? rows / of : 0; }
  };
  std::optional<Twins> twins() const;  // nothing: the file is too old to know

  /// The rows of both. Of an old file's many rows there is no filter: then there is none of the two together.
  void merge(const RowSketch& other);

  Value save() const;
  static RowSketch load(const Value& value);
  bool operator==(const RowSketch&) const = default;

 private:
  friend struct SketchMaker;
  void take(std::span<const std::uint64_t> smallest, std::span<const double> times);
  RowFilter all_of_them(int bits) const;
  bool knows_all() const { return complete() || filter_.bits() > 0; }
  RowKey key_;
  Index rows_ = 0;
  std::uint64_t sum_ = 0;
  std::optional<std::uint64_t> weighted_;
  std::vector<std::uint64_t> smallest_;  // ascending, distinct
  std::vector<double> times_;            // rows of each; empty: not known
  RowFilter filter_;                     // none while the sketch is complete
};

/// The memory of rows.
RowSketch sketch(const Rows& rows, const RowKey& key, const Execution& execution = {});
inline RowSketch sketch(const Rows& rows, const Execution& execution = {}) {
  return sketch(rows, key_of(rows, true), execution);
}

/// What a model's memory of its rows says of others.
struct Recognition {
  RowSketch given;  // of the others, without their filter
  Overlap overlap;
  bool same = false;  // they are the rows the model was fitted on, all of them and no other
};
Recognition recognise(const RowSketch& training, const Rows& rows, const Execution& execution = {});

/// Rows that came together: those of the fit, or of one update.
struct OriginPart {
  std::string name;
  Index rows = 0;
  std::uint64_t hash = 0;
  std::optional<std::uint64_t> weighted_hash;
  bool is(const RowSketch& given) const;
};

/// What a model file says of its data.
struct Origin {
  std::string name;                    // "crabs", "out/train.csv"; "pima_train + pima_test" after an update
  RowSketch rows;                      // all that the model has learned from
  std::vector<OriginPart> parts = {};  // of an updated model: the fit's, then those of each update

  /// The origin after an update.
  Origin with(const std::string& more, const RowSketch& rows_of_it) const;
  Value save() const;
  static Origin load(const Value& value);
};

}  // namespace lemma
