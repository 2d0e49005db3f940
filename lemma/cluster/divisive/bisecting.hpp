// lemma/cluster/divisive/bisecting.hpp: clusters parted by 2-means. Inner header: use lemma/cluster/divisive.hpp.
#pragma once
#include <lemma/cluster/divisive/diana.hpp>

namespace lemma {

/// Rows as two means part them, from two starts (the row farthest from the mean and the one farthest from that; the two sides of the
/// mean along the axis on which the rows vary most), of which the one with the smaller sum of squares is kept. A row that is equally
/// far from both means stays where it is. Equal rows: the first one leaves.
Parting two_means(const Matrix& x, const std::vector<Index>& rows);
/// All partings, the cluster with the greatest sum of squares first, of equals the one with the first row. `diameter` is that sum.
std::vector<Parting> bisect(const Matrix& x, const Execution& execution);

/// The mean of some rows, and the sum of squared distances to it.
struct Middle {
  Vector mean;
  double squares = 0;
};
Middle middle_of(const Matrix& x, const std::vector<Index>& rows);

}  // namespace lemma
