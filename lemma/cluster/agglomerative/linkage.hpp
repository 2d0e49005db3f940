// lemma/cluster/agglomerative/linkage.hpp: the closest two clusters joined, until one is left.
#pragma once
#include <lemma/cluster/agglomerative.hpp>
#include <lemma/cluster/agglomerative/cluster_rows.hpp>
#include <lemma/cluster/shared/dendrogram.hpp>
#include <lemma/geometry/dissimilarities.hpp>

namespace lemma {

/// Whether it works on squares of the dissimilarities: of distances in space, so that centres have distances too.
bool works_on_squares(Linkage linkage);
/// Whether a merge can be lower than those before it.
bool may_invert(Linkage linkage);

/// The greatest of them; where none are kept, of one row, which in space is at least half of that.
double greatest_of(const Dissimilarities& all);

/// 2^−e with the greatest number scaled to [1, 2): no sum of many, and no square, leaves the range of numbers.
double unit_of(double greatest);

/// The merges in their order; heights as the user reads them. The same to the bit whichever way the work is kept. `room`: for a square.
std::vector<Joined> joined_rows(Linkage linkage, const Dissimilarities& all, const Execution& execution,
                                Kept kept = Kept::square, NumberRoom* room = nullptr);

/// Single linkage of rows, of which no pair is kept: the same merges.
std::vector<Joined> joined_by_single_linkage(const Matrix& rows, const BoundMetric& metric, const Execution& execution);

}  // namespace lemma
