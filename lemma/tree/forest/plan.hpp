// lemma/tree/forest/plan.hpp: what a forest is told, with every choice made.
#pragma once
#include <array>
#include <lemma/model/class_weights.hpp>
#include <limits>
#include <optional>
#include <string_view>

namespace lemma {

/// What a tree says of a row of classes: the shares in its leaf, or one vote for the most frequent class there.
enum class ForestVote { probability, majority };
constexpr auto names_of(ForestVote) { return std::array<std::string_view, 2>{"probability", "majority"}; }

/// How columns are held against each other.
///   impurity      the decrease of impurity at all splits on the column, a mean over trees
///   permutation   how much worse a tree is on rows outside its bag when the column is shuffled among them, a mean over trees
///   corrected     impurity in a second forest less that of a shuffled copy of the column which stands among its columns
enum class ForestImportance { impurity, permutation, corrected };
constexpr auto names_of(ForestImportance) {
  return std::array<std::string_view, 3>{"impurity", "permutation", "corrected"};
}

namespace forest {

struct Plan {
  std::string_view method;
  Index trees = 100;
  Index columns = 1;  // that a split may choose from
  bool replace = true;
  double share = 1;      // of the rows in a bag; 1 without replacement: all of them, and none outside
  double min_leaf = 1;   // rows in a leaf, by weight
  double min_split = 2;  // rows in a node that is split
  Index depth = std::numeric_limits<Index>::max();
  Index leaves = std::numeric_limits<Index>::max();
  int bins = 0;         // 0: exact
  int random_cuts = 0;  // so many random thresholds for each column; 0: all of them are tried
  ForestVote vote = ForestVote::probability;
  ClassWeighting class_weights = ClassWeights::equal;
  ForestImportance importance = ForestImportance::impurity;
  bool keep_rows = false;

  bool takes_all_rows() const { return !replace && share == 1; }
};

}  // namespace forest
}  // namespace lemma
