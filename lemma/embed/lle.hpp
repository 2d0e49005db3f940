// lemma/embed/lle.hpp
#pragma once
#include <lemma/embed/shared/largest_piece.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Locally linear embedding (Roweis and Saul 2000): each row is a mixture of its neighbours, and stays that in the picture.
///
///     weights    min ‖x_i − Σ_j w_ij x_j‖² + ρ tr(C_i) Σ_j w_ij²,  Σ_j w_ij = 1  over the neighbours j of i   (w_ij ≥ 0 if asked for)
///     places     min Σ_i ‖y_i − Σ_j w_ij y_j‖²,  Σ y = 0,  YᵀY = n I:  eigenvectors of (I − W)ᵀ(I − W), the smallest but the constant
///
/// C_i is the Gram matrix of x_j − x_i. Without ρ the weights are not unique where there are more neighbours than columns, nor where
/// rows coincide. A new row lies at Σ w_j y_j, by its weights on its nearest rows.
///
/// Cost         O(n k³) for the weights, then a sparse factorisation of about n k² entries; O(n k²) memory.
/// Certificate  optimal: weights made anew, held against their own condition (C_i + ρ tr I) w ∝ 1; residuals of the eigenvectors by
///              I − W and its transpose; and the inertia of the matrix shows that no smaller eigenvalue is left out.
struct Lle {
  Metric metric;
  int neighbors = 10;
  std::optional<double> radius;
  int dimensions = 2;
  double regulariser = 1e-3;
  bool nonnegative = false;
  Pieces pieces = Pieces::join;

  static constexpr std::string_view name = "lle";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "locally linear embedding: each row stays the mixture of its neighbours that it is",
      .objective =
          "min sum |y_i - sum_j w_ij y_j|^2, Y'Y = n I, with weights that rebuild the rows from their neighbours",
      .example = "lemma fit lle swiss_roll '~ x + y + z' --neighbors 12",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    using S = Lle;
    return Listing{
        param("metric", &S::metric, "by which neighbours are near"),
        param("neighbors", &S::neighbors, "nearest rows that a row is a mixture of", at_least(1)),
        param("radius", &S::radius, "rows at most so far, in the place of neighbors", above(0), Step::logarithmic),
        param("dimensions", &S::dimensions, "of the picture", at_least(1)),
        param("regulariser", &S::regulariser,
              "rho: squares of the weights count by this share of the neighbours' spread", above(0), Step::logarithmic),
        param("nonnegative", &S::nonnegative, "weights are at least 0: rows lie among their neighbours"),
        param("pieces", &S::pieces,
              "a graph in pieces is joined by its shortest edges, or refused, or its largest piece alone has places")};
  }
  NearRows near() const { return {metric, neighbors, radius, pieces}; }
};
static_assert(Described<Lle>);

struct LleModel : Embedded {
  using Base = Embedded;

  Lle spec;
  Vector eigenvalues;
  double reconstruction_error = 0;
  Index graph_pieces = 1;
  RowNumbers left_out;

  static constexpr auto fields() {
    using M = LleModel;
    return joined(
        first_fields(),
        Listing{result("eigenvalues", &M::eigenvalues,
                       "of (I - W)'(I - W), the smallest above that of the constant, ascending"),
                result("reconstruction_error", &M::reconstruction_error,
                       "sum of |x_i - sum_j w_ij x_j|^2: what the weights leave of the rows"),
                result("graph_pieces", &M::graph_pieces, "of the graph of neighbours, before they were joined"),
                later(result("left_out", &M::left_out, "rows in other pieces of the graph, without coordinates, from 1",
                             kRowNumbers))},
        last_fields());
  }
  void check() const;
  Index output_width() const { return dimensions(); }
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const { return dimension_names(dimensions()); }
  Matrix inverse(const MatrixView& z) const { return way_back(Lle::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

LleModel fit(const Valid<Lle>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LleModel& model, const Rows& rows, const Execution& execution);

namespace lle {
/// The weights of a row on its neighbours: Σ w = 1.
Vector weights_of(const MatrixView& row, const MatrixView& neighbors, double regulariser, bool nonnegative);
}  // namespace lle

extern template const Method& method_of<Lle>();

}  // namespace lemma
