// lemma/cluster/shared/dissimilarity_rows.hpp: several rows of dissimilarities at a time, fast.
#pragma once
#include <lemma/geometry/dissimilarities.hpp>

namespace lemma {

/// out(r, j) = d(first + r, j) for all j: `count` rows of all.count() numbers, one after the other. Of a kept triangle
/// neighbouring rows share the lines of memory that hold their columns, which one row alone would read in vain. Error naming
/// the pair of rows that cannot be compared (gower, where no column is known of both), unless such rows are to be infinitely far.
void dissimilarity_rows(const Dissimilarities& all, Index first, Index count, double* out,
                        bool far_where_unknown = false);

}  // namespace lemma
