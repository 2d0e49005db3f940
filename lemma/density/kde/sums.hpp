// lemma/density/kde/sums.hpp: sums of kernels over rows in a tree, to a relative error that is kept. Inner header.
#pragma once
#include <lemma/density/kde.hpp>
#include <lemma/density/shared/rows.hpp>

namespace lemma::kde {

/// D(r), 1 at 0 and never rising, from r².
double profile(DensityKernel kernel, double r2);
/// ∫ D(‖u‖) du over d dimensions, as a logarithm.
double log_volume(DensityKernel kernel, Index d);
/// The standard deviation of the density D(‖u‖) / ∫ D in each column.
double deviation_of(DensityKernel kernel, Index d);

/// Σᵢ wᵢ D(‖x − xᵢ‖ / c), columns in units u: rows lie in the boxes of a k-d tree.
///
/// All of a box lies between two distances from x, so its share of the sum between W k_least and W k_most, W its weight. With S the sum
/// and L ≤ S a bound known so far, a box is not looked into where k_most − k_least ≤ 2 ε L / n, and counts W (k_least + k_most) / 2: it
/// is wrong by at most ε L W / n, all boxes together by at most ε S. Near boxes come first, so that L is soon near to S. Of Gaussians
/// each D is taken beside that of the nearest row, so that no place is so far away that nothing is left.
///
/// A sum depends on the place and the rows alone: the same bits in any company.
class Sums {
 public:
  /// Rows to which nothing is left out but what rounding loses anyway.
  static constexpr Index kExactRows = 1000;

  Sums(const Matrix& x, const Vector& weight, const Vector& unit, DensityKernel kernel);

  Index count() const { return static_cast<Index>(row_.size()); }
  /// The rows in an order that their values decide.
  const std::vector<Index>& order() const { return row_; }
  /// log Σ at a place of the rows' own units; −∞ where it is 0. ε is the relative error.
  double log_sum(const double* place, double c, double epsilon) const;
  /// The same at row i without one copy of it.
  double log_sum_without(Index row, double c, double epsilon) const;

 private:
  struct Node {
    Index first, size, left, right;  // left 0: a leaf
    double weight;
  };
  struct Between {
    double least, most;  // squared distances
  };
  struct Asked;
  Index build(std::vector<Index>& order, Index first, Index size, const Matrix& scaled, const Vector& weight);
  Between between(const Node& node, const double* place) const;
  double nearest(const Asked& asked) const;
  double leaf_sum(const Node& node, const Asked& asked, std::vector<double>& space) const;
  double log_sum(const Asked& asked) const;

  DensityKernel kernel_;
  Index d_;
  Vector origin_, inverse_unit_;
  double mass_ = 0;
  bool alike_ = true;  // all weights are 1
  std::vector<Node> nodes_;
  std::vector<double> bounds_;   // of each node: d least values, then d greatest
  std::vector<double> columns_;  // of each leaf column after column
  std::vector<double> weight_;
  std::vector<Index> row_, place_;  // the row in each place, and the place of each row
};

}  // namespace lemma::kde
