// lemma/math/moments.hpp: means and scatter matrices in one pass.
#pragma once
#include <lemma/core/rows.hpp>
#include <vector>

namespace lemma {

/// Weighted count, mean and scatter about the mean, Σ wᵢ (xᵢ − mean)(xᵢ − mean)ᵀ; w is the row's weight. Blocks are
/// centred before they are squared, and two states merge by the pairwise update
///
///     S = S₁ + S₂ + (n₁ n₂ / n) (m₁ − m₂)(m₁ − m₂)ᵀ.
///
/// Cost  O(n p²) time, O(p²) memory.
class Moments {
 public:
  explicit Moments(Index features);
  void accumulate(const Block& block);
  void merge(const Moments& other);

  Index features() const { return mean_.size(); }
  Index rows() const { return rows_; }       // rows with weight above zero
  double weight() const { return weight_; }  // Σ w
  Vector mean() const { return mean_ + mean_rest_; }
  Matrix scatter() const;                   // both triangles
  Matrix covariance(double divisor) const;  // scatter / divisor
  Vector variances(double divisor) const;   // its diagonal

  std::vector<double> numbers() const;  // the whole state, flat
  static Moments from_numbers(const std::vector<double>& numbers);

 private:
  Index rows_ = 0;
  double weight_ = 0;
  Vector mean_, mean_rest_;  // the mean is their sum: twice the working precision
  Matrix upper_;             // upper triangle of the scatter; of no size while there are no rows
};

/// The same for rows with class codes: weight and mean of each class, and the scatter about the class means, pooled.
/// Rows whose code is −1 are left out.
class ClassMoments {
 public:
  ClassMoments(Index features, Index classes);
  void accumulate(const Block& block);
  void merge(const ClassMoments& other);

  Index features() const { return mean_.cols(); }
  Index classes() const { return mean_.rows(); }
  Index rows() const { return rows_; }
  const Vector& weights() const { return weight_; }  // Σ w of each class
  const std::vector<Index>& counts() const { return count_; }
  Matrix means() const { return mean_ + mean_rest_; }  // one row for each class; zero for an empty one
  Vector mean() const;                                 // of all rows
  Matrix within_scatter() const;
  Matrix between_scatter() const;  // Σ weight (mean_k − mean)(mean_k − mean)ᵀ

  std::vector<double> numbers() const;
  static ClassMoments from_numbers(const std::vector<double>& numbers);

 private:
  Index rows_ = 0;
  Vector weight_;
  std::vector<Index> count_;
  Matrix mean_, mean_rest_, upper_;
};

}  // namespace lemma
