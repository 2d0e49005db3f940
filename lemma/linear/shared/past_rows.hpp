// lemma/linear/shared/past_rows.hpp: rows before an update, by what least squares keep of them. Inner header.
#pragma once
#include <lemma/core/rows.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {

/// Rows of so much weight, all of one precision (mass / weight), with the mean and the triangle of x and then y.
class PastRows {
 public:
  /// Called as the new rows are.
  PastRows(double weight, double mass, const Vector& mean, const Matrix& triangle, const Rows& like);
  PastRows(const PastRows&) = delete;
  PastRows& operator=(const PastRows&) = delete;
  const Rows& rows() const { return *rows_; }

 private:
  Matrix x_;
  Vector y_;
  std::vector<double> weight_, precision_;
  std::unique_ptr<MemoryRows> rows_;
};

/// What is kept for updates: seen_mean, and seen_triangle by the products of its columns, in units of their lengths.
void compare_seen(Comparison& same, const Vector& mean, const Matrix& triangle, const LeastSquares& data);

}  // namespace lemma
