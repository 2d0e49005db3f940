// lemma/mixture/shared/plain_scatter.hpp
#pragma once
#include <lemma/core/rows.hpp>

namespace lemma {

/// Plain sums of rows about a mean that is known, as a certificate takes them: Σ w, Σ w (x − m), Σ w (x − m)(x − m)ᵀ.
struct PlainScatter {
  const Vector* mean;
  double weight = 0;
  Vector shift;
  Matrix scatter;
  explicit PlainScatter(const Vector& m)
      : mean(&m), shift(Vector::Zero(m.size())), scatter(Matrix::Zero(m.size(), m.size())) {}
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      const Vector d = block.x.row(i).transpose() - *mean;
      weight += w;
      shift += w * d;
      scatter += w * (d * d.transpose());
    }
  }
  void merge(const PlainScatter& other) {
    weight += other.weight;
    shift += other.shift;
    scatter += other.scatter;
  }
};

}  // namespace lemma
