// lemma/tree/forest/outside.hpp: what trees say of the rows outside their bags, added up tree by tree.
#pragma once
#include <lemma/tree/forest/grove.hpp>
#include <lemma/tree/forest/grow.hpp>

namespace lemma::forest {

class Outside {
 public:
  explicit Outside(const ForestRows& data);
  /// The trees in their order.
  void add(const GrownTree& tree);
  /// Predictions and errors, where any row was outside any bag.
  void give(Grove& out) const;

 private:
  double error_so_far() const;
  const ForestRows& data_;
  Matrix said_;                // sums, of each row by place
  std::vector<double> trees_;  // so many said them
  std::vector<double> error_;  // after each tree
};

}  // namespace lemma::forest
