// lemma/plot/branches.hpp: the branches of a hierarchy as segments. Inner header of the room.
#pragma once
#include <lemma/plot/figure.hpp>

namespace lemma::plot {

/// merges, heights and order as those of R's hclust: in step s the clusters merges(s, ·) are joined at heights(s), −i is row i alone and
/// t the cluster of step t; order lists the rows as they stand side by side.
struct Hierarchy {
  Matrix merges;
  Vector heights, order;
  Index rows() const { return merges.rows() + 1; }
};

/// Rows side by side, the first side of each merge on the left: no branch crosses another.
Vector order_of(const Matrix& merges);

/// Leaf k of the order stands at k, height 0; a merge is over the middle of what it joins. `group` of each row (or empty) paints the
/// branches inside a group, −1 those that join several.
struct Branch {
  double from_x, from_y, to_x, to_y;
  int group;
};
std::vector<Branch> branches_of(const Hierarchy& hierarchy, const std::vector<int>& group = {});

/// The height at which there are k clusters: halfway between two merges. Nothing where a merge is lower than one before it.
std::optional<double> cut_height(const Hierarchy& hierarchy, Index k);

}  // namespace lemma::plot
