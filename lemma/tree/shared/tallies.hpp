// lemma/tree/shared/tallies.hpp: what the rows of each node say, counted by walking each row down the tree.
#pragma once
#include <functional>
#include <lemma/core/rows.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/model/concepts.hpp>
#include <lemma/model/fields.hpp>
#include <string>
#include <string_view>

namespace lemma {

/// A number for each node, from the root to the leaves: what a model tells of them, or what was counted.
struct Tallies : Evidence {
  Vector weight;     // of its rows
  Matrix counts;     // of classes: weight of each; of numbers without columns
  Matrix estimates;  // shares of the classes, or the mean
  Vector loss;       // weight of the rows that are not of its class, or squares about the mean
  Labels label;      // of classes: the most frequent, the first of equals

  bool of_classes() const { return counts.cols() > 0; }
  /// What the leaves say that rows reached: their numbers, classes, or shares of the classes. Error where they say another.
  Vector numbers_at(std::string_view method, const Vector& leaves) const;
  Labels labels_at(std::string_view method, const Vector& leaves) const;
  Matrix shares_at(std::string_view method, const Vector& leaves) const;
  static constexpr auto tally_fields() {
    using T = Tallies;
    return Listing{result("weight", &T::weight, "of each node's rows"),
                   result("counts", &T::counts, "of each node: weight of each class", Along{Axis::label}),
                   result("estimates", &T::estimates, "of each node: shares of the classes, or the mean"),
                   result("loss", &T::loss, "of each node's rows, were it a leaf"),
                   state("label", &T::label, "of each node: the class predicted")};
  }
};

/// `walk(row, visit)` calls visit(node) for every node on a row's way. Rows of weight 0 do not go.
Tallies tallies_of(Index nodes, Index classes, const Block& outcome, Index rows,
                   const std::function<void(Index, const std::function<void(Index)>&)>& walk);

/// What is told of the nodes held against what was counted.
void compare_tallies(Comparison& out, const Tallies& told, const Tallies& counted);

/// Error unless the numbers fit together: what a file is held against.
void check_tallies(std::string_view method, const Tallies& told, Index nodes);

/// The lines of a small tree, indented by depth: the question that leads to a node, its weight, loss and what it says.
std::string outline(const Tallies& told, const std::vector<std::string>& classes, Index most,
                    const std::function<std::pair<Index, Index>(Index)>& children,  // the same node twice: a leaf
                    const std::function<std::string(Index node, bool left)>& question);

}  // namespace lemma
