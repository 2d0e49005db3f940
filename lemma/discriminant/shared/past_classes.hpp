// lemma/discriminant/shared/past_classes.hpp: the rows before an update, by what the model has kept of them.
#pragma once
#include <functional>
#include <lemma/core/rows.hpp>

namespace lemma {

/// A few weighted rows for each class k, with its count, its mean (row k of `means`) and the scatter RᵀR of R = root(k).
class PastClasses {
 public:
  PastClasses(const Rows& like, const Vector& counts, const Matrix& means, const std::function<Matrix(Index)>& root);
  PastClasses(const PastClasses&) = delete;
  PastClasses& operator=(const PastClasses&) = delete;
  const Rows& rows() const { return *rows_; }

 private:
  Matrix x_;
  Labels label_;
  std::vector<double> weight_;
  std::optional<MemoryRows> rows_;
};

}  // namespace lemma
