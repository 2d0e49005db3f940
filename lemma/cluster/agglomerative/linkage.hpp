// lemma/cluster/agglomerative/linkage.hpp: the closest two clusters joined, until one is left.
#pragma once
#include <lemma/cluster/agglomerative.hpp>
#include <lemma/cluster/shared/dendrogram.hpp>
#include <lemma/geometry/dissimilarities.hpp>

namespace lemma {

/// How different each two of n are, one row at a time: a triangle of numbers of its own, to be worked on.
class Triangle {
 public:
  /// c · d, or its square, of dissimilarities that are kept.
  Triangle(const Dissimilarities& all, double scale, bool squared);

  Index count() const { return count_; }
  /// out[j] = d(i, j) for all j, infinity for i itself.
  void gather(Index i, std::vector<double>& out) const;
  /// d(i, j) = row[j] for all j.
  void scatter(Index i, const std::vector<double>& row);
  /// Those of some alone, in the order given (rising).
  Triangle of(const std::vector<Index>& some) const;

 private:
  Triangle() = default;
  Index pair(Index i, Index j) const { return i * count_ - i * (i + 1) / 2 + j - i - 1; }
  Index count_ = 0;
  std::vector<double> packed_;
};

/// Whether it works on squares of the dissimilarities: of distances in space, so that centres have distances too.
bool works_on_squares(Linkage linkage);
/// Whether a merge can be lower than those before it.
bool may_invert(Linkage linkage);

/// 2^−e with the greatest number scaled to [1, 2): no sum of many, and no square, leaves the range of numbers.
double unit_of(double greatest);

/// The merges in their order; heights as the user reads them.
std::vector<Joined> joined_rows(Linkage linkage, const Dissimilarities& all, const Execution& execution);

}  // namespace lemma
