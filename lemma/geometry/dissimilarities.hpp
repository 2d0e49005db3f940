// lemma/geometry/dissimilarities.hpp: how different each two of n things are: computed from rows, or given.
//
// Kept are the n(n−1)/2 numbers below the diagonal, column after column, as in R's `dist` (and SciPy's pdist): d(2,1),
// d(3,1), …, d(n,1), d(3,2), …. Or nothing: then each is computed from the rows when it is asked for, with the same
// bits. A given matrix is checked here, once: square, symmetric, a diagonal of zeros, no number negative, missing or
// infinite.
//
// Cost  of rows: O(n² p) time on all threads, 4 n² bytes; on demand: O(n p) memory, O(n p) time for a row.
#pragma once
#include <lemma/geometry/bound_metric.hpp>
#include <memory>
#include <string>
#include <vector>

namespace lemma {

class Dissimilarities {
 public:
  using Names = std::vector<std::string>;

  /// All of them, kept. Error naming the pair whose distance is not finite. `names` of the rows: one each, or none.
  static Dissimilarities of_rows(const MatrixView& rows, const BoundMetric& metric, Names names = {},
                                 const Execution& execution = {});
  static Dissimilarities of_rows(const MatrixView& rows, const Metric& metric, Names names = {},
                                 const Execution& execution = {});
  /// None kept: for n whose square is too large.
  static Dissimilarities on_demand(const MatrixView& rows, const BoundMetric& metric, Names names = {},
                                   const Execution& execution = {});
  static Dissimilarities on_demand(const MatrixView& rows, const Metric& metric, Names names = {},
                                   const Execution& execution = {});

  /// A given matrix; an Error names the first pair that is wrong. What is off by no more than 1e-10 of the largest
  /// number is rounding: the two halves are averaged, the diagonal and what is below zero becomes 0.
  static Dissimilarities of_square(const MatrixView& square, Names names = {});
  /// R's `dist`, or the upper triangle row after row.
  static Dissimilarities of_triangle(std::vector<double> packed, Names names = {});

  Index count() const { return count_; }
  double operator()(Index i, Index j) const;
  /// out[j] = d(i, j) for all j.
  void row(Index i, std::span<double> out) const;
  Matrix square() const;

  bool is_kept() const { return points_ == nullptr; }
  /// d(i, j) for i < j is number pair(i, j) of them. Empty when none are kept.
  std::span<const double> kept() const { return kept_; }
  Index pair(Index i, Index j) const { return i * count_ - i * (i + 1) / 2 + j - i - 1; }
  /// What they are computed from; nullptr when they are kept.
  const PackedPoints* points() const { return points_.get(); }

  /// One for each, or none.
  const Names& names() const { return names_; }
  /// "'Rome'", or "3" (counted from 1) of one without a name: for messages.
  std::string name(Index i) const;
  /// Bytes that `of_rows` keeps.
  static double bytes(Index count) { return 4.0 * static_cast<double>(count) * static_cast<double>(count - 1); }

 private:
  Dissimilarities(Index count, Names names);
  void compute(const PackedPoints& points, const Execution& execution);
  [[noreturn]] void refuse(Index i, Index j, std::string_view what) const;

  Index count_ = 0;
  Names names_;
  std::vector<double> kept_;
  std::shared_ptr<const PackedPoints> points_;
};

}  // namespace lemma
