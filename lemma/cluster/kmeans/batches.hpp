// lemma/cluster/kmeans/batches.hpp: centres that follow a few rows at a time. Inner header: use lemma/cluster/kmeans.hpp.
#pragma once
#include <lemma/core/random.hpp>
#include <lemma/core/rows.hpp>

namespace lemma {

/// `passes` times over the rows in random order, `batch` of them at a time: each goes to its nearest centre, and pulls it by a step
/// that falls with the weight N that the centre has had, c ← c + (w / N) (x − c), so that a centre is the mean of all rows that came
/// to it (MacQueen 1967 for one row, Sculley 2010 for several). Cost  O(n k p) for a pass. Throws Cancelled.
Matrix followed(Matrix centers, const Rows& rows, Index batch, int passes, RandomStream random,
                const Execution& execution);

}  // namespace lemma
