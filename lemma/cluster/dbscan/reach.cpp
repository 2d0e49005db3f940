// lemma/cluster/dbscan/reach.cpp
#include <algorithm>
#include <lemma/cluster/dbscan/reach.hpp>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>

namespace lemma {
namespace {

constexpr Index kFirstPiece = 1024, kMostPiece = 1 << 17;
constexpr Index kEntries = 1 << 23;  // of the lists of one piece, about
constexpr Index kTogether = 16;      // points whose distances to all others are found at once
constexpr Index kFewColumns = 6;     // up to so many a search takes a kd-tree by itself

}  // namespace

Reach::Reach(const Matrix& points, const BoundMetric& metric, double radius, Index most_plain,
             const Execution& execution)
    : points_(&points), radius_(radius) {
  if (points.rows() > most_plain && metric.is_by_columns() && metric.width() <= kFewColumns) {
    own_ =
        std::make_unique<const Neighbors>(points, metric, SearchOptions{.structure = SearchBy::ball_tree}, execution);
    search_ = own_.get();
  } else {
    plain_ = Dissimilarities::on_demand(points, metric, {}, execution);
  }
}

void Reach::for_each_piece(const Execution& execution,
                           const std::function<void(Index, const NeighborLists&)>& visit) const {
  const Index n = points_->rows();
  for (Index first = 0, size = kFirstPiece; first < n;) {
    if (execution.cancelled()) throw Cancelled();
    const Index count = std::min(size, n - first);
    const double share = static_cast<double>(first) / static_cast<double>(n);
    execution.report(share, execution.message);
    const Execution part = execution.part(share, static_cast<double>(first + count) / static_cast<double>(n));
    const NeighborLists lists =
        plain_ ? plain_lists(first, count, part) : search_->within(points_->middleRows(first, count), radius_, part);
    visit(first, lists);
    const Index entries = std::max<Index>(1, static_cast<Index>(lists.row.size()));
    size = std::clamp<Index>(
        static_cast<Index>(static_cast<double>(kEntries) * static_cast<double>(count) / static_cast<double>(entries)),
        16, kMostPiece);
    first += count;
  }
}

void Reach::for_each_row(const Execution& execution, const VisitNear& visit) const {
  for_each_piece(execution, [&](Index first, const NeighborLists& lists) {
    for (Index i = 0; i < lists.count(); ++i) visit(first + i, lists.rows_of(i));
  });
}

NeighborLists Reach::plain_lists(Index first, Index count, const Execution& execution) const {
  const Index n = points_->rows();
  std::vector<std::vector<std::pair<double, std::int32_t>>> found(at(count));
  parallel_for((count + kTogether - 1) / kTogether, execution, [&](Index part) {
    const Index from = part * kTogether, rows = std::min(kTogether, count - from);
    std::vector<double> distances(at(rows * n));
    dissimilarity_rows(*plain_, first + from, rows, distances.data(), true);
    for (Index r = 0; r < rows; ++r) {
      auto& list = found[at(from + r)];
      for (Index j = 0; j < n; ++j)
        if (const double d = distances[at(r * n + j)]; d <= radius_) list.emplace_back(d, static_cast<std::int32_t>(j));
      std::sort(list.begin(), list.end());
    }
  });
  NeighborLists out;
  out.start.push_back(0);
  for (const auto& list : found) {
    for (const auto& [distance, row] : list) {
      out.row.push_back(row);
      out.distance.push_back(distance);
    }
    out.start.push_back(static_cast<Index>(out.row.size()));
  }
  return out;
}

}  // namespace lemma
