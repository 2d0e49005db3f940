// lemma/geometry/neighbors.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/neighbors.hpp>
#include <lemma/geometry/neighbors/projection_trees.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

using neighbors::Collector;
using neighbors::Found;

constexpr Index kFewPoints = 256;  // all are looked at as fast
constexpr Index kFewColumns = 6;   // a kd-tree is worth it without a trial
constexpr Index kTrials = 32;      // points of a trial, each for kTrialK neighbours
constexpr Index kTrialK = 10;
// Share of the panels that a tree may look at to be worth it: tiles, and more so their filter of squares, take a small
// part of its time for each.
constexpr double kWorthwhile = 0.07, kWorthwhileSquares = 0.02;
constexpr Index kSample = 8192;        // points of a first trial, when there are many more
constexpr double kHopeless = 0.5;      // share of a sample's panels beyond which the tree of all points is not built
constexpr Index kManyPoints = 20'000;  // from here on projections are faster than all distances
constexpr double kMost = 0.95;         // recall of projections that are asked for without one
constexpr Index kTogether = 32;        // queries that one call of a structure gets
constexpr Index kBlock = 128;          // queries that a thread takes

std::string_view spoken(SearchBy structure) {
  switch (structure) {
    case SearchBy::kd_tree: return "kd-tree";
    case SearchBy::ball_tree: return "ball tree";
    case SearchBy::projections: return "random projections";
    default: return "brute force";
  }
}

std::unique_ptr<const SearchStructure> make(SearchBy structure, const BoundMetric& metric, const Matrix& mapped,
                                            const Execution& execution) {
  if (structure == SearchBy::kd_tree) return neighbors::kd_tree(metric, mapped, execution);
  if (structure == SearchBy::ball_tree) return neighbors::ball_tree(metric, mapped, execution);
  return neighbors::brute_force(metric, mapped);
}

void require_countable(Index rows, std::string_view what) {
  if (rows > std::numeric_limits<std::int32_t>::max())
    throw Error(fmt::format("a search takes up to 2^31 - 1 {}, here are {}", what, rows));
}

/// What share of the panels it looks at, on average over a few of its points.
double trial(const SearchStructure& tree) {
  const PackedPoints& points = tree.points();
  Collector collector(points.metric(), kTrialK, HUGE_VAL, 0);
  std::vector<double> x(at(points.metric().width()));
  for (Index t = 0; t < kTrials; ++t) {
    const Index place = t * points.count() / kTrials;
    points.unpack(place, x.data());
    collector.begin(tree.order()[at(place)]);
    tree.search(x.data(), 1, &collector);
  }
  return static_cast<double>(collector.looked_at) / static_cast<double>(kTrials * points.panels());
}

/// kSample rows, evenly spread.
Matrix sample_of(const Matrix& rows) {
  Matrix out(kSample, rows.cols());
  for (Index i = 0; i < kSample; ++i) out.row(i) = rows.row(i * rows.rows() / kSample);
  return out;
}

/// The lists of one block of queries, one after the other.
struct Part {
  std::vector<Found> found;
  std::vector<Index> sizes;
};

}  // namespace

Neighbors::Neighbors(const MatrixView& points, const BoundMetric& metric, const Valid<SearchOptions>& how,
                     const Execution& execution)
    : metric_(metric), count_(points.rows()), epsilon_(how->epsilon) {
  require_countable(count_, "points");
  choose(metric.mapped(points, execution.part(0, 0)), *how, execution);
}

Neighbors::Neighbors(const MatrixView& points, const Metric& metric, const Valid<SearchOptions>& how,
                     const Execution& execution)
    : Neighbors(points, BoundMetric::of(metric, points, {}, execution.part(0, 0)), how, execution) {}

Neighbors::~Neighbors() = default;
Neighbors::Neighbors(Neighbors&&) noexcept = default;
Neighbors& Neighbors::operator=(Neighbors&&) noexcept = default;

void Neighbors::take(SearchBy structure, std::unique_ptr<const SearchStructure> search, const std::string& why) {
  structure_ = structure;
  search_ = std::move(search);
  choice_ = std::string(spoken(structure)) + why;
}

void Neighbors::take_projections(const Matrix& mapped, double recall, const Execution& execution) {
  auto found = neighbors::projection_trees(metric_, mapped, recall < 1 ? recall : kMost, execution);
  recall_ = found.recall;
  take(SearchBy::projections, std::move(found.search),
       fmt::format(": {} of {} points are looked at for each query; of the {} nearest of {} points it finds {:.3f}",
                   std::min(found.looks, count_), count_, std::min(neighbors::kToldNeighbors, count_ - 1),
                   std::min(neighbors::kTellers, count_ - count_ / 2), recall_));
}

void Neighbors::choose(const Matrix& mapped, const SearchOptions& how, const Execution& execution) {
  const SearchBy asked = how.structure;
  const std::string_view name = metric_.metric().name();
  if (asked == SearchBy::projections) {
    if (!metric_.is_by_columns())
      throw Error(fmt::format("projections cannot search by {}: they need differences of columns", name));
    if (epsilon_ > 0) throw Error("epsilon is a bound, and projections keep none: say recall");
    if (count_ < 2) throw Error("projections need at least two points");
    return take_projections(mapped, how.recall, execution);
  }
  if (asked == SearchBy::kd_tree && !metric_.is_by_columns())
    throw Error(
        fmt::format("a kd-tree cannot search by {}: it needs a metric that adds up the columns' differences", name));
  if (asked == SearchBy::ball_tree && !metric_.has_root())
    throw Error(fmt::format("a ball tree cannot search by {}: it needs the triangle inequality", name));
  const auto made = [&](SearchBy structure) { return make(structure, metric_, mapped, execution); };
  if (asked != SearchBy::automatic) return take(asked, made(asked), ", as asked");
  if (count_ < kFewPoints)
    return take(SearchBy::brute_force, made(SearchBy::brute_force), fmt::format(": {} points are few", count_));
  if (metric_.is_by_columns() && metric_.width() <= kFewColumns)
    return take(SearchBy::kd_tree, made(SearchBy::kd_tree),
                fmt::format(": {} column{} few", metric_.width(), metric_.width() == 1 ? " is" : "s are"));
  if (!metric_.has_root())
    return take(SearchBy::brute_force, made(SearchBy::brute_force),
                fmt::format(": {} does not obey the triangle inequality", name));
  choose_by_trial(mapped, how.recall, execution);
}

void Neighbors::choose_by_trial(const Matrix& mapped, double recall, const Execution& execution) {
  const bool squares = metric_.sum() == BoundMetric::Sum::squares;
  double least = 1;
  std::string_view of = "the points";
  const auto look = [&](const SearchStructure& tree, std::string_view whose) {
    const double share = trial(tree);
    if (share <= least) least = share, of = whose;
    return share;
  };
  for (const SearchBy structure : {SearchBy::kd_tree, SearchBy::ball_tree}) {
    if (structure == SearchBy::kd_tree && !metric_.is_by_columns()) continue;
    const bool many = count_ > 2 * kSample;
    if (many && look(*make(structure, metric_, sample_of(mapped), execution), "a sample") > kHopeless) continue;
    auto tree = make(structure, metric_, mapped, execution);
    const double share = look(*tree, "the points");
    if (share <= (squares ? kWorthwhileSquares : kWorthwhile))
      return take(structure, std::move(tree),
                  fmt::format(": in a trial it looked at {:.1f} % of the points", 100 * share));
  }
  if (recall < 1 && count_ >= kManyPoints && metric_.is_by_columns())
    return take_projections(mapped, recall, execution);
  take(SearchBy::brute_force, make(SearchBy::brute_force, metric_, mapped, execution),
       fmt::format(": in a trial trees looked at {:.0f} % of {}", 100 * least, of));
}

std::vector<std::int32_t> Neighbors::order_of(const Matrix& queries, const Execution& execution) const {
  const Index count = queries.rows();
  require_countable(count, "queries");
  std::vector<std::int32_t> out(at(count));
  std::iota(out.begin(), out.end(), 0);
  if (structure_ == SearchBy::brute_force || count < kBlock) return out;
  std::vector<Index> home(at(count));
  parallel_for((count + kBlock - 1) / kBlock, execution, [&](Index block) {
    for (Index i = block * kBlock; i < std::min((block + 1) * kBlock, count); ++i)
      home[at(i)] = search_->home(queries.row(i).data());
  });
  std::sort(out.begin(), out.end(),
            [&](std::int32_t a, std::int32_t b) { return std::pair(home[at(a)], a) < std::pair(home[at(b)], b); });
  return out;
}

/// Queries in blocks, in an order in which one query's points are still at hand for the next.
NeighborLists Neighbors::collect(const Matrix* queries, Index most, double radius, const Execution& execution) const {
  const std::vector<std::int32_t> order = queries ? order_of(*queries, execution.part(0, 0)) : search_->order();
  const Index count = static_cast<Index>(order.size()), width = metric_.width();
  std::vector<Part> parts(at((count + kBlock - 1) / kBlock));
  parallel_for(static_cast<Index>(parts.size()), execution, [&](Index block) {
    std::vector<Collector> collectors(at(kTogether), Collector(metric_, most, radius, epsilon_));
    std::vector<double> x(at(kTogether * width));
    Part& part = parts[at(block)];
    for (Index first = block * kBlock; first < std::min((block + 1) * kBlock, count); first += kTogether) {
      const Index rows = std::min({kTogether, count - first, (block + 1) * kBlock - first});
      for (Index i = 0; i < rows; ++i) {
        const std::int32_t which = order[at(first + i)];
        if (queries) std::copy_n(queries->row(which).data(), width, x.data() + i * width);
        else search_->points().unpack(first + i, x.data() + i * width);
        collectors[at(i)].begin(queries ? -1 : which);
      }
      search_->search(x.data(), rows, collectors.data());
      for (Index i = 0; i < rows; ++i) {
        const auto& found = collectors[at(i)].finish();
        part.found.insert(part.found.end(), found.begin(), found.end());
        part.sizes.push_back(static_cast<Index>(found.size()));
      }
    }
  });

  NeighborLists out;
  out.start.assign(at(count + 1), 0);
  for (Index place = 0; place < count; ++place)
    out.start[at(order[at(place)]) + 1] = parts[at(place / kBlock)].sizes[at(place % kBlock)];
  for (Index i = 0; i < count; ++i) out.start[at(i + 1)] += out.start[at(i)];
  out.row.resize(at(out.start.back()));
  out.distance.resize(at(out.start.back()));
  parallel_for(static_cast<Index>(parts.size()), execution.part(1, 1), [&](Index block) {
    const Part& part = parts[at(block)];
    const Found* from = part.found.data();
    for (std::size_t i = 0; i < part.sizes.size(); ++i) {
      Index to = out.start[at(order[at(block * kBlock) + i])];
      for (Index k = 0; k < part.sizes[i]; ++k, ++from, ++to) {
        out.row[at(to)] = from->row;
        out.distance[at(to)] = from->distance;
      }
    }
  });
  return out;
}

namespace {
void require_k(Index k) {
  if (k < 1) throw Error(fmt::format("a search for the {} nearest: at least 1 is needed", k));
}
void require_radius(double radius) {
  if (!(radius >= 0)) throw Error(fmt::format("a search within radius {}: it must be at least 0", radius));
}
}  // namespace

NeighborLists Neighbors::nearest(const MatrixView& queries, Index k, const Execution& execution) const {
  require_k(k);
  const Matrix mapped = metric_.mapped(queries, execution.part(0, 0));
  return collect(&mapped, k, HUGE_VAL, execution);
}
NeighborLists Neighbors::nearest_own(Index k, const Execution& execution) const {
  require_k(k);
  return collect(nullptr, k, HUGE_VAL, execution);
}
NeighborLists Neighbors::within(const MatrixView& queries, double radius, const Execution& execution) const {
  require_radius(radius);
  const Matrix mapped = metric_.mapped(queries, execution.part(0, 0));
  return collect(&mapped, std::numeric_limits<Index>::max(), radius, execution);
}
NeighborLists Neighbors::within_own(double radius, const Execution& execution) const {
  require_radius(radius);
  return collect(nullptr, std::numeric_limits<Index>::max(), radius, execution);
}

}  // namespace lemma
