// lemma/tree/forest/importance.hpp: how much a column matters to a forest.
#pragma once
#include <lemma/tree/forest/grow.hpp>

namespace lemma::forest {

/// What a unit of a tree's own sums is worth: decreases of impurity are a mean over rows, in the units of y.
double importance_unit(const Plan& plan, const ForestRows& data);

/// Of each column how much larger the tree's error is on the rows outside its bag when the column is shuffled among them: of wrong
/// classes their share, of numbers the mean square, by weight. 0 of a column that the tree does not ask.
std::vector<double> permutation_importance(const GrownTree& tree, const ForestRows& data, std::uint64_t seed,
                                           Index number);

/// Of each column what it says more than a shuffled copy of it that stands beside it, in a second forest grown on all of them.
Vector corrected_importance(const Plan& plan, const ForestRows& data, std::uint64_t seed, const Execution& execution);

}  // namespace lemma::forest
