// lemma/embed/hessian_lle.hpp
#pragma once
#include <lemma/embed/shared/planes_model.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Hessian eigenmaps (Donoho and Grimes 2003): the functions on a surface that bend least are its own coordinates. Near each row, with
/// U_i the coordinates of the rows there along the plane through them, the second derivatives of a function are its coefficients on
/// the products u_a u_b, made orthonormal to 1 and the u: the columns of H_i. Then
///
///     min Σ_i ‖H_iᵀ Y_i‖²,   Σ y = 0,  YᵀY = n I,      Y_i the places of the rows near i.
///
/// Of a surface that is a plane rolled without stretching, a convex piece or not, these are its coordinates up to an affine map.
///
/// Cost         O(n k (p k + d⁴)) for the derivatives, then a sparse factorisation of about n k² entries; O(n k²) memory.
/// Certificate  optimal: derivatives made anew; residuals of the eigenvectors by them one after the other; and the inertia of the
///              matrix shows that no smaller eigenvalue is left out.
struct HessianLle {
  Metric metric;
  int neighbors = 10;
  std::optional<double> radius;
  int dimensions = 2;
  AllPieces pieces = AllPieces::join;

  static constexpr std::string_view name = "hessian_lle";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "Hessian eigenmaps: the functions that bend least on a surface are its coordinates",
      .objective = "min sum_i |H_i' Y_i|^2, Y'Y = n I, H_i the second derivatives in the plane near row i",
      .example = "lemma fit hessian_lle swiss_roll '~ x + y + z'",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() { return plane_params<HessianLle>(); }
  static constexpr std::string_view kEigenvalues =
      "of the sum of squared derivatives, above that of the constant, ascending";
  NearRows near() const { return {metric, neighbors, radius, static_cast<Pieces>(pieces)}; }
};
static_assert(Described<HessianLle>);

using HessianLleModel = PlanesModel<HessianLle>;
HessianLleModel fit(const Valid<HessianLle>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const HessianLleModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<HessianLle>();

}  // namespace lemma
