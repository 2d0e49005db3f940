// lemma/tree/forest/memory.hpp: what a forest remembers of its training rows, and what it says by them.
#pragma once
#include <lemma/tree/forest/grove.hpp>
#include <mutex>
#include <span>

namespace lemma::forest {

/// The training rows in each leaf of all trees, by place.
struct LeafMembers {
  std::vector<std::size_t> begin;     // of each leaf, and one more
  std::vector<std::uint32_t> member;  // all rows that reach it
  std::vector<double> share;          // of each: its part in what the leaf says; 0 of rows outside the bag
};
/// Of each tree the copies of each row.
using Copies = std::vector<std::uint16_t>;

struct MemoryCell {
  std::once_flag members_once, copies_once;
  LeafMembers members;
  Copies copies;
};

/// P(x, x_i), a column for each training row in the order of the table.
Matrix proximity(const Grove& grove, const Plan& plan, const MatrixView& x);
/// √(1 − P(x, x_i)): Euclidean, since P is the mean of matrices that say who shares a leaf.
Matrix distance(const Grove& grove, const Plan& plan, const MatrixView& x);
/// w_i(x) with f(x) = Σ w_i y_i.
Matrix neighbour_weights(const Grove& grove, const Plan& plan, const MatrixView& x);
/// What is missing is the mean of the training rows by their proximity, or the category to which they are nearest.
Matrix filled(const Grove& grove, const Plan& plan, const MatrixView& x);
/// The least y at which the weights of the rows up to it reach p.
Matrix quantiles_at(const Grove& grove, const Plan& plan, const MatrixView& x, const std::vector<double>& p);
NamedMatrix quantiles(const Grove& grove, const Plan& plan, const MatrixView& x, const PredictOptions& options);
/// n / Σ P(x_i, x_j)² over the rows j of its class, less the median of the class, over the median distance from it (Breiman).
Prediction outliers(const Grove& grove, const Plan& plan, const OutlierOptions& options);
/// Three columns: infinitesimal jackknife, jackknife after bootstrap, both.
Matrix standard_errors(const Grove& grove, const Plan& plan, const MatrixView& x);

}  // namespace lemma::forest
