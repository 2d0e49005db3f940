// lemma/embed/ltsa.hpp
#pragma once
#include <lemma/embed/shared/planes_model.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Local tangent space alignment (Zhang and Zha 2004): near each row the surface is a plane, and the picture is one that all planes
/// fit into. With U_i the coordinates of row i and its neighbours along the plane through them (the leading singular vectors of the
/// centred rows),
///
///     min Σ_i ‖(I − 11ᵀ/k − U_i U_iᵀ) Y_i‖²,   Σ y = 0,  YᵀY = n I,      Y_i the places of those rows:
///
/// what is left of the places near i beyond an affine function of their coordinates in the plane.
///
/// Cost         O(n k² p) for the planes, then a sparse factorisation of about n k² entries; O(n k²) memory.
/// Certificate  optimal: planes made anew; residuals of the eigenvectors by the planes one after the other; and the inertia of the
///              matrix shows that no smaller eigenvalue is left out.
struct Ltsa {
  Metric metric;
  int neighbors = 10;
  std::optional<double> radius;
  int dimensions = 2;
  AllPieces pieces = AllPieces::join;

  static constexpr std::string_view name = "ltsa";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "local tangent space alignment: a surface put together from the planes near its rows",
      .objective = "min sum_i |(I - 11'/k - U_i U_i') Y_i|^2, Y'Y = n I, U_i coordinates in the plane near row i",
      .example = "lemma fit ltsa swiss_roll '~ x + y + z'",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() { return plane_params<Ltsa>(); }
  static constexpr std::string_view kEigenvalues = "of the alignment matrix, above that of the constant, ascending";
  NearRows near() const { return {metric, neighbors, radius, static_cast<Pieces>(pieces)}; }
};
static_assert(Described<Ltsa>);

using LtsaModel = PlanesModel<Ltsa>;
LtsaModel fit(const Valid<Ltsa>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LtsaModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Ltsa>();

}  // namespace lemma
