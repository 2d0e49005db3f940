// lemma/cluster/agglomerative/facts.hpp: what the dissimilarities of pairs of rows say of a hierarchy.
#pragma once
#include <lemma/cluster/agglomerative.hpp>
#include <lemma/cluster/agglomerative/cluster_rows.hpp>

namespace lemma {

/// Over the pairs of rows that each merge brings together.
struct MergeFacts {
  Vector heights;                 // by the definition of the linkage
  Vector plain;                   // Σ d
  double sum = 0, squares = 0;    // of all d, and d², in units of `unit`
  double unit = 1, greatest = 0;  // c with c · d near 1; the greatest d, where the linkage looks at it
};

/// `all` in the order of the tree: its row p is the row at place p. Each pair is looked at once, on all threads.
MergeFacts facts_of(const MergeTree& tree, const Dissimilarities& all, Linkage linkage, const Execution& execution);

/// The correlation, over all pairs of rows, of their dissimilarity and the height at which they come together; NaN where one
/// of the two is the same for all.
double cophenetic_correlation(const MergeTree& tree, const Vector& heights, const MergeFacts& facts);

/// How much closer than a merge of its time a pair of clusters was, at most, and at which merge (-1: none was). Every two
/// clusters that stand side by side are looked at.
struct Missed {
  double by = 0;
  Index step = -1;
};
Missed missed_pairs(const MergeTree& tree, const Vector& heights, const Dissimilarities& all, Linkage linkage,
                    const MergeFacts& facts, const Execution& execution, Kept kept = Kept::square,
                    NumberRoom* room = nullptr);

/// The rows, which stand as they did in the fit, compared in the order of the tree. Of rows none is kept.
Dissimilarities ordered(const Agglomerative& spec, const Matrix& x, const Rows& like, const MergeTree& tree,
                        const Execution& execution);

}  // namespace lemma
