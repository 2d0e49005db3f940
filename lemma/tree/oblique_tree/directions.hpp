// lemma/tree/oblique_tree/directions.hpp: the directions that are tried at a node.
#pragma once
#include <lemma/core/random.hpp>
#include <lemma/tree/oblique_tree.hpp>

namespace lemma::oblique {

class Directions {
 public:
  Directions(const ObliqueTree& spec, const MatrixView& x, const Block& outcome, Index classes, std::uint64_t seed);
  /// The columns, then those of the spec. `node`: what is told of it, in one row. `number`: children of k are 2k and 2k + 1.
  std::vector<Vector> at_node(const std::vector<Index>& rows, const Tallies& node, std::uint64_t number) const;
  /// Of each column over all rows; 0: it is constant up to rounding.
  const Vector& deviations() const { return deviation_; }

 private:
  Vector in_users_units(Vector b) const;
  Matrix standardised(const std::vector<Index>& rows, double weight) const;
  std::vector<Vector> sides_to_tell(const std::vector<Index>& rows, const Tallies& node) const;
  void add_linear(const std::vector<Index>& rows, const Tallies& node, std::vector<Vector>& out) const;
  void add_random(std::uint64_t number, std::vector<Vector>& out) const;

  ObliqueTree spec_;
  const MatrixView& x_;
  const Block& outcome_;
  Index classes_;
  RandomStream stream_;
  Vector mean_, deviation_;
};

}  // namespace lemma::oblique
