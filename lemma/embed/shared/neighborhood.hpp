// lemma/embed/shared/neighborhood.hpp: rows and those that lie near them: what embeddings by local geometry begin with.
#pragma once
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/geometry/graph.hpp>
#include <optional>

namespace lemma {

/// What to do with a graph in several pieces: join them by their nearest rows, refuse, or place the largest alone (largest_piece.hpp).
enum class Pieces { join, refuse, largest };
constexpr auto names_of(Pieces) { return std::array<std::string_view, 3>{"join", "refuse", "largest"}; }
/// Of methods that place all rows or none.
enum class AllPieces { join, refuse };
constexpr auto names_of(AllPieces) { return std::array<std::string_view, 2>{"join", "refuse"}; }

/// What these methods are told of the graph.
struct NearRows {
  Metric metric;
  int neighbors = 10;
  std::optional<double> radius;  // in the place of neighbors
  Pieces pieces = Pieces::join;
};

struct Neighborhood {
  NeighborLists lists;       // of each row its neighbours, nearest first, with the joints behind them
  Graph graph;               // i ~ j when one is among the other's, weights are distances
  Index parts = 1;           // of the graph before they were joined
  std::vector<Edge> joints;  // the shortest edges that join them
};

/// Error when there are no more rows than neighbours, rows without a neighbour within the radius, or pieces that are refused. Where the
/// largest is asked for, the graph stays in its pieces.
Neighborhood neighborhood(std::string_view method, const Neighbors& rows, const Matrix& points, const NearRows& how,
                          const Execution& execution = {});
/// The same of things, whichever way they are compared. Of given dissimilarities a pair that is not known is no edge; Error naming two
/// things that no chain of known pairs joins.
Neighborhood neighborhood(std::string_view method, const Compared& things, const NearRows& how,
                          const Execution& execution = {});

/// Of a new thing those that are near it by its dissimilarities with all; the nearest alone where none is within the radius.
struct NearThings {
  std::vector<std::int32_t> which;
  std::vector<double> far;
};
NearThings near_things(std::span<const double> far, const NearRows& how);

/// "the graph of 10 neighbours has 3 pieces; …": nothing where it is one.
std::optional<std::string> warning_of(const Neighborhood& near, const NearRows& how);

/// The rows of a fit in memory, and how they are compared.
struct ComparedPoints {
  Matrix points;
  BoundMetric metric;
  std::vector<std::string> names;  // of the columns
};
/// Error when there are fewer than three rows, or all are equal.
ComparedPoints points_of(std::string_view method, const Rows& rows, const Metric& metric, const Execution& execution);
/// The same of the rows that a model was fitted on, given in any order; `same` says when they are others.
ComparedPoints points_again(std::string_view method, const Embedded& model, const Rows& rows, const Metric& metric,
                            Comparison& same, const Execution& execution);

/// What methods take that look at near things alone: rows, of which no dissimilarities are kept, or dissimilarities that are given as a
/// square or as pairs, where some may be missing. Error when there are fewer than three things, all are equal, or pairs have weights.
Compared things_of(std::string_view method, Input input, const Rows& rows, const Metric& metric,
                   const Execution& execution);
Compared things_again(std::string_view method, const Embedded& model, Input input, const Rows& rows,
                      const Metric& metric, Comparison& same, const Execution& execution);
/// Rows in another order; given things stay in theirs.
Compared reordered(const Compared& things, const std::vector<Index>& order);
/// Of each thing the `count` nearest others: rows by a search, given ones (of those that are known) by looking at all.
NeighborLists nearest_things(const Compared& things, Index count, SearchBy search, const Execution& execution);

/// What these methods need of a table: categories as codes where the metric compares them.
Needs needs_of_near(Input input, const Metric& metric, Needs usual);

}  // namespace lemma
