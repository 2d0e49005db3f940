// lemma/mixture/variational_gmm/beliefs.hpp: q(π) and q(μ_k, Λ_k), asked about rows and brought up to date by them. Inner header: use
// lemma/mixture/variational_gmm.hpp.
#pragma once
#include <lemma/math/row_products.hpp>
#include <lemma/mixture/variational_gmm.hpp>

namespace lemma::variational {

struct Prior {
  Index components;
  double concentration, strength, degrees;  // α₀, β₀, ν₀
  Vector centre;                            // m₀
  Matrix scale;                             // Ψ₀
};
Prior prior_of(const VariationalGmm& spec, const Vector& centre, const Matrix& spread);

/// α_k = α₀ + N_k, β_k = β₀ + N_k and ν_k = ν₀ + N_k follow from the rows of each component.
struct Beliefs {
  Vector rows;    // N_k
  Matrix means;   // m_k, as differences from the centre
  Matrix scales;  // Ψ_k below each other
};
Beliefs beliefs_of(const VariationalGmmModel& model);
int alive_of(const Vector& rows);  // components with half a row at least

/// Asks rows about the components, by the triangles U_kᵀU_k = Ψ_k.
class Asker {
 public:
  Asker(const Prior& prior, const Beliefs& beliefs);
  /// log ρ_ik, of which r_ik is the share; the numbers of a row depend on that row alone.
  Matrix log_rho(const MatrixView& x) const;
  /// log of Student's densities, each with the expected share of its component.
  Matrix log_predictive(const MatrixView& x) const;
  /// What the beliefs cost: the divergences of q(π) and of each q(μ_k, Λ_k) from their priors.
  double divergence() const;
  const Matrix& triangle(Index k) const { return roots_[at(k)]; }

 private:
  Matrix squares(const MatrixView& x) const;  // (x − m_k)ᵀ Ψ_k⁻¹ (x − m_k)
  double expected_log_det(Index k) const;     // E log det Λ_k
  double expected_log_share(Index k) const;   // E log π_k
  const Prior& prior_;
  const Beliefs& beliefs_;
  std::vector<Matrix> roots_;
  std::vector<RightTriangle> triangles_;
};

/// What one scan finds at some beliefs, and where the next ones are.
struct Step {
  double bound = 0;
  Beliefs next;
  double movement = 0;
};
Step step(const Rows& rows, const Prior& prior, const Beliefs& at, const Execution& execution);

/// The beliefs after rows of which r(i, k) of row i belong to component k: sums of r, of r (x − about_k) and of r (x − about_k)(x − about_k)ᵀ.
struct Sums {
  Matrix about;  // differences from the centre
  Vector mass;
  Matrix shift, scatter;
  explicit Sums(const Matrix& about_means);
  void add(const MatrixView& x, const Vector& centre, const Matrix& r);  // r with the weights of the rows
  void merge(const Sums& other);
};
Beliefs updated(const Prior& prior, const Sums& sums);

}  // namespace lemma::variational
