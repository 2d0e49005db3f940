// lemma/cluster/divisive/diana.hpp: partings of a cluster. Inner header: use lemma/cluster/divisive.hpp.
#pragma once
#include <functional>
#include <lemma/geometry/dissimilarities.hpp>

namespace lemma {

struct Parting {
  std::vector<Index> left, stayed;  // rising
  double diameter = 0;
};

/// The greatest dissimilarity of two of these rows.
double diameter_of(const Dissimilarities& all, const std::vector<Index>& rows);
/// The splinter group of a cluster of at least two rows, and the rest.
Parting splinter(const Dissimilarities& all, const std::vector<Index>& rows);
/// All partings, from that of all rows on: the widest cluster first, of equals the one with the first row. A part is never told to be
/// wider than the whole.
std::vector<Parting> part_all(Index n, const std::function<double(const std::vector<Index>&)>& width_of,
                              const std::function<Parting(const std::vector<Index>&)>& part,
                              const Execution& execution);
/// The same by splinter groups, a cluster being as wide as its diameter.
std::vector<Parting> diana(const Dissimilarities& all, const Execution& execution);

}  // namespace lemma
