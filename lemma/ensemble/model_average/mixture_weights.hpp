// lemma/ensemble/model_average/mixture_weights.hpp: weights of given densities with the largest likelihood. Inner header.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma::ensemble {

/// ℓ(α) = 1/W Σ wᵢ log Σ_m α_m p_im, from the logarithms of densities: a row each, a column for each method.
class MixtureLikelihood {
 public:
  MixtureLikelihood(const Matrix& log_density, Vector weight);

  Index methods() const { return density_.cols(); }
  double at(const Vector& alpha) const;
  /// ∂ℓ/∂α_m. Σ α_m g_m = 1 where Σ α_m = 1.
  Vector gradient(const Vector& alpha) const;
  /// No weights reach more than this above ℓ(α): ℓ is concave, and the largest of a linear function lies in a corner.
  double gap(const Vector& alpha) const;
  /// By exchanges of weight between the method of the largest gradient and that of the smallest that has some, each along its line
  /// to the optimum (Böhning 1986).
  Vector best() const;

 private:
  double best_exchange(const Vector& alpha, Index to, Index from) const;
  Matrix density_;  // of each row divided by its largest
  Vector largest_;  // its logarithm
  Vector weight_;
  double mass_;
};

}  // namespace lemma::ensemble
