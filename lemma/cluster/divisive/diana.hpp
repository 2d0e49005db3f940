// lemma/cluster/divisive/diana.hpp: partings of a cluster. Inner header: use lemma/cluster/divisive.hpp.
#pragma once
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
/// All partings, from that of all rows on: the widest cluster first, of equals the one with the first row.
std::vector<Parting> diana(const Dissimilarities& all, const Execution& execution);

}  // namespace lemma
