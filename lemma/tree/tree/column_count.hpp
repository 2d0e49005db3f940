// lemma/tree/tree/column_count.hpp: one column, sorted by its values and taken down a fitted tree on its own: the best split that it
// offers each node, and what the rows say of the splits that ask it.
#pragma once
#include <lemma/tree/tree/recount.hpp>

namespace lemma::tree {

/// Adds to `splits`, one for each node, what this column offers. O(n) for each level of the tree, after a sort.
void count_column(const TreeModel& model, const Recount& count, Index column, const MatrixView& x,
                  std::vector<SplitCount>& splits);

}  // namespace lemma::tree
