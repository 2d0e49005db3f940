// lemma/cluster/dbscan/reach.hpp: the rows within a radius of each row, piece by piece. Inner header: use lemma/cluster/dbscan.hpp.
#pragma once
#include <functional>
#include <lemma/cluster/dbscan/near_rows.hpp>
#include <lemma/geometry/dissimilarities.hpp>
#include <lemma/geometry/neighbors.hpp>
#include <optional>

namespace lemma {

class Reach {
 public:
  /// By a search structure among the points. Both must outlive it.
  Reach(const Matrix& points, const Neighbors& search, double radius)
      : points_(&points), search_(&search), radius_(radius) {}
  /// By another way than a search that chooses for itself: where that is a kd-tree and there are more than `most_plain` points by
  /// a ball tree, else by all distances.
  Reach(const Matrix& points, const BoundMetric& metric, double radius, Index most_plain, const Execution& execution);

  /// visit(first, lists of the points from there on), piece after piece: of so many points that their lists are not too long.
  void for_each_piece(const Execution& execution,
                      const std::function<void(Index first, const NeighborLists& lists)>& visit) const;
  /// visit(i, all rows in reach of row i, itself among them).
  void for_each_row(const Execution& execution, const VisitNear& visit) const;
  /// "a ball tree", "all distances"
  std::string_view way() const { return plain_ ? "all distances" : "a ball tree"; }

 private:
  NeighborLists plain_lists(Index first, Index count, const Execution& execution) const;

  const Matrix* points_;
  std::unique_ptr<const Neighbors> own_;
  const Neighbors* search_ = nullptr;
  std::optional<Dissimilarities> plain_;
  double radius_;
};

}  // namespace lemma
