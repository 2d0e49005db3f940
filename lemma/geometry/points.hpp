// lemma/geometry/points.hpp: the rows a kernel compares, dense or without their zeros.
#pragma once
#include <lemma/core/rows.hpp>

namespace lemma {

/// Rows kept by a model or gathered for a fit, each with its place among the training rows (which is all a precomputed
/// kernel needs to know of it).
class Points {
 public:
  Points() = default;
  explicit Points(Matrix dense);
  explicit Points(Csr sparse);
  /// All rows of a source: sparse where that is how they lie, else a dense copy.
  static Points of(const Rows& rows, const Execution& execution = {});
  /// Points of which nothing but their places among `width` training rows is known: for a precomputed kernel.
  static Points at_places(std::vector<Index> places, Index width);

  Index count() const { return static_cast<Index>(places_.size()); }
  Index width() const { return width_; }
  bool is_sparse() const { return is_sparse_; }
  const Matrix& dense() const { return dense_; }
  const Csr& sparse() const { return sparse_; }
  /// Where each point stood among the training rows.
  const std::vector<Index>& places() const { return places_; }

  /// Some of them, in the order given.
  Points select(std::span<const Index> which) const;
  /// Some of them with their zeros: a row each.
  Matrix rows(std::span<const Index> which) const;
  Matrix rows(Index first, Index size) const;

  /// Of each column; divisor n, the sum of the weights (frequencies; empty: all 1).
  Vector means(std::span<const double> weights = {}) const;
  Vector variances(std::span<const double> weights = {}) const;

 private:
  Index width_ = 0;
  bool is_sparse_ = false;
  Matrix dense_;
  Csr sparse_;
  std::vector<Index> places_;
};

}  // namespace lemma
