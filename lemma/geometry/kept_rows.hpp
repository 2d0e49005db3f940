// lemma/geometry/kept_rows.hpp: training rows that a model keeps, as its file holds them.
#pragma once
#include <lemma/core/params.hpp>
#include <lemma/core/sparse.hpp>
#include <lemma/geometry/kernel.hpp>
#include <lemma/geometry/points.hpp>
#include <optional>
#include <vector>

namespace lemma {

/// Places among the training rows, from 0 here and from 1 where a user reads them.
struct RowNumbers {
  std::vector<Index> of;
};

template <>
struct Codec<RowNumbers> {
  static Value write(const RowNumbers& rows);
  static void read(RowNumbers& field, const Value& value, const std::string& where);
};

/// Rows with their zeros, without them, or (for a precomputed kernel) nothing but how many columns a row has.
struct KeptRows {
  Matrix dense;
  std::optional<Csr> sparse;
  Index width = 0;

  /// Those that a kernel needs of the points.
  static KeptRows of(const Kernel& kernel, const Points& points);
  /// The points again, at their places among the training rows.
  Points points(const Kernel& kernel, const std::vector<Index>& places) const;
  /// Error unless there are `count` finite rows, as that kernel needs them.
  void check(std::string_view method, const Kernel& kernel, Index count) const;
};

/// A matrix; {"width", "start", "column", "value"} of sparse rows; {"width"} where no row is kept.
template <>
struct Codec<KeptRows> {
  static Value write(const KeptRows& rows);
  static void read(KeptRows& field, const Value& value, const std::string& where);
};

}  // namespace lemma
