// lemma/tree/tree/grow.hpp: a tree while it grows: nodes with their rows added up, each split the best at its node.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>
#include <lemma/tree/shared/worth.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace lemma {

enum class TreeMissing { surrogates, direction, fractions };
constexpr auto names_of(TreeMissing) { return std::array<std::string_view, 3>{"surrogates", "direction", "fractions"}; }

namespace tree {

/// Where a category goes: -1 left, 1 right, 0: the node never saw it.
using Sides = std::vector<std::int8_t>;

/// What a tree is grown by: the parameters as they are for given rows.
struct Plan {
  TreeCriterion criterion = TreeCriterion::gini;
  TreeMissing missing = TreeMissing::surrogates;
  double min_split = 20, min_leaf = 7, min_decrease = 0, purity = 1;
  int depth = 30, surrogates = 5;
  std::optional<Index> leaves;
  std::vector<int> monotone;    // of each column −1, 0, 1; empty: none
  std::vector<double> altered;  // of classes: what a row counts in a split; empty: 1
  std::vector<double> prior;    // of classes: what a row counts in the risk; empty: 1
  Matrix loss;                  // of classes: row j, column k: of taking j for k
  double rate = 0;              // of counts: the mean of all, towards which a node's rate is drawn by one count
  double alpha = 0;             // risk that a split must take off; a node of less is not split

  double prior_of(std::size_t k) const { return prior.empty() ? 1.0 : prior[k]; }
};

struct Surrogate {
  Index column = -1;
  double threshold = 0;
  bool less_left = true;  // of numbers: x < threshold goes left
  Sides sides;            // of categories
  double agreement = 0;   // share of the rows that it sends where the split does
  double adjusted = 0;    // of what going with the majority leaves
};

struct Grown {
  NodeTotals totals;
  double value =
      0;  // of numbers: what it predicts; of classes: the mean of their numbers, by what they count in a split
  double risk = 0;
  double least = 0, most = 0;  // of its numbers
  int depth = 0;
  double lower = -std::numeric_limits<double>::infinity(),
         upper = -lower;  // of its value, by monotone columns above it

  Index column = -1;  // that it asks; -1: a leaf
  double threshold = 0, gain = 0;
  Sides sides;
  bool missing_left = true;
  bool turned = false;  // the right child has the lower mean: it stands first where the tree is written
  std::vector<Surrogate> surrogates;
  std::int32_t left = -1, right = -1;
  double complexity = 0;  // what a split must take off for this one to be lost: found by pruning

  bool is_leaf() const { return column < 0; }
};
/// The root first; children behind their parents.
using GrownTree = std::vector<Grown>;

/// All numbers of a node from its rows.
void add_up(Grown& node, std::span<const RankedRow> rows, const SplitGround& ground, const Plan& plan);
/// Of classes, from their weights: the class of least expected loss (the first of equals) and that loss.
std::pair<int, double> best_class(std::span<const double> counts, const Plan& plan);

/// The rows of each column by rank, in half the memory: for trees that are grown one after the other, each on some of the rows.
class PackedOrder {
 public:
  /// The order of the data is used up, column by column.
  PackedOrder(RankedColumns& data, const Execution& execution);
  /// The rows of a column that take part (`in` empty: all), so many.
  std::vector<RankedRow> rows(Index column, const std::vector<std::uint8_t>& in, std::size_t size) const;

 private:
  static constexpr std::uint32_t kFirst = 1U << 31;  // of the rows of a rank; there are fewer than 2³¹ rows
  struct Column {
    std::vector<std::uint32_t> row;
    std::vector<std::uint32_t> rank;  // of categories: those that occur; of numbers none: they are 0, 1, 2, …
    std::size_t present = 0;          // rows behind have no value
  };
  std::vector<Column> columns_;
};

/// Every split the best of its node until a stop. `in`: rows that take part (empty: all), with their weights in the data.
GrownTree grow(const RankedColumns& data, const PackedOrder& order, const std::vector<std::uint8_t>& in,
               const Plan& plan, const Execution& execution);
/// The same of all rows without a copy of their order, which is used up.
GrownTree grow_in_place(RankedColumns& data, const Plan& plan, const Execution& execution);

}  // namespace tree
}  // namespace lemma
