// lemma/embed/diffusion_map.hpp
#pragma once
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Diffusion maps (Coifman and Lafon 2006): places in which straight distances are how differently two random walks spread. With
///
///     k_ij = exp(−d_ij² / ε),   q = K 1,   k^α_ij = k_ij / (q_i q_j)^α,   p_ij = k^α_ij / Σ_j k^α_ij:      P ψ = λ ψ,  1 = λ₀ > λ₁ ≥ λ₂ ≥ …
///
/// the coordinates after t steps are x_ik = λ_k^t ψ_k(i), where Σ π ψ² = 1 in the walk's stationary distribution π. α = 0 follows the density of
/// the rows, α = 1 the geometry alone, whatever their density. A new row lies at λ_k^(t−1) Σ_j p_j ψ_k(j), by the steps p that lead from it to the rows.
///
/// Cost         O(n² p) for the kernel, O(n²) for each round of eigenvectors; 16 n² bytes.
/// Certificate  optimal: the walk made anew; residuals of the eigenvectors; and a Cholesky factor proves that no larger eigenvalue is left out.
struct DiffusionMap {
  Input input = Input::rows;
  Metric metric;
  std::optional<double> epsilon;
  double alpha = 1;
  double time = 1;
  int dimensions = 2;
  double gigabytes = 4;

  static constexpr std::string_view name = "diffusion_map";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "diffusion maps: rows are near where random walks from them spread alike",
      .objective = "x_ik = lambda_k^t psi_k(i), P psi = lambda psi, P the walk by exp(-d^2 / epsilon)",
      .example = "lemma fit diffusion_map iris '~ . - species'",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    using S = DiffusionMap;
    return Listing{
        param("input", &S::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d"),
        param("metric", &S::metric, "how rows are compared"),
        param("epsilon", &S::epsilon, "of exp(-d^2 / epsilon); chosen: the median of the squared distances", above(0),
              Step::logarithmic),
        param("alpha", &S::alpha, "0: by the density of the rows, 1: by their geometry alone", between(0, 1)),
        param("time", &S::time, "steps of the walk", at_least(0)),
        param("dimensions", &S::dimensions, "of the picture", at_least(1)),
        param("gigabytes", &S::gigabytes, "gigabytes that the kernel matrix may take", above(0))};
  }
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<DiffusionMap>);

struct DiffusionMapModel : Embedded {
  using Base = Embedded;

  DiffusionMap spec;
  Vector eigenvalues;
  Vector degrees;

  static constexpr auto fields() {
    using M = DiffusionMapModel;
    return joined(first_fields(),
                  Listing{result("eigenvalues", &M::eigenvalues, "of the walk, the largest below 1, descending"),
                          state("degrees", &M::degrees, "q: the sum of the kernel over each row's others and itself")},
                  last_fields());
  }
  void check() const;
  bool gives(std::string_view) const { return spec.input != Input::pairs; }
  Index output_width() const { return dimensions(); }
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const { return dimension_names(dimensions()); }
  Matrix inverse(const MatrixView& z) const { return way_back(DiffusionMap::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

DiffusionMapModel fit(const Valid<DiffusionMap>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const DiffusionMapModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<DiffusionMap>();

}  // namespace lemma
