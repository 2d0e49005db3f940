// lemma/linear/shared/past_rows.cpp
#include <cmath>
#include <lemma/linear/shared/past_rows.hpp>
#include <lemma/math/rows_like.hpp>

namespace lemma {

PastRows::PastRows(double weight, double mass, const Vector& mean, const Matrix& triangle, const Rows& like) {
  const Index p = mean.size() - 1;
  WeightedRows past = rows_like(weight, mean, triangle * std::sqrt(weight / mass));  // the precision multiplies again
  x_ = past.x.leftCols(p);
  y_ = past.x.col(p);
  weight_ = std::move(past.weight);
  rows_ = std::make_unique<MemoryRows>(x_);
  rows_->response({y_.data(), static_cast<std::size_t>(y_.size())}).weights(weight_);
  if (mass != weight) {
    precision_.assign(weight_.size(), mass / weight);
    rows_->precision(precision_);
  }
  rows_->features = like.features;
  rows_->target = like.target;
}

void compare_seen(Comparison& same, const Vector& mean, const Matrix& triangle, const LeastSquares& data) {
  if (triangle.size() == 0) return;
  const Matrix stored = triangle.transpose() * triangle, expected = data.triangle().transpose() * data.triangle();
  const Vector length = expected.diagonal().cwiseSqrt(), middle = data.mean() + data.mean_rest();
  for (Index j = 0; j < length.size(); ++j) {
    same.entry("seen_mean", j, mean(j), middle(j), length(j) / std::sqrt(data.mass()) + 1e-6 * std::abs(middle(j)));
    for (Index i = 0; i < length.size(); ++i)
      same.number("seen_triangle", stored(i, j), expected(i, j), length(i) * length(j) + 1e-300);
  }
}

}  // namespace lemma
