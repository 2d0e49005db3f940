// lemma/embed/laplacian_eigenmaps.hpp
#pragma once
#include <lemma/embed/shared/largest_piece.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// How strongly neighbours hold together: all alike, or by exp(−d² / (2σ²)).
enum class Affinity { binary, heat };
constexpr auto names_of(Affinity) { return std::array<std::string_view, 2>{"binary", "heat"}; }

/// Laplacian eigenmaps (Belkin and Niyogi 2003): neighbours in the graph stay neighbours in the picture. With affinities W of rows that
/// are joined, D = diag(W 1) and the Laplacian L = D − W,
///
///     min ½ Σ w_ij ‖y_i − y_j‖²:     L v = λ D v, Σ d v² = Σ d (normalised),  or  L v = λ v, Σ v² = n;   the smallest but 0
///
/// A new row lies where Nyström's formula puts it, by its affinities w to its nearest rows:
///     y_k = Σ_j w_j y_jk / ((1 − λ_k) Σ w)  (normalised),      Σ_j w_j y_jk / (Σ w − λ_k)  else.
///
/// Cost         neighbours, then a sparse factorisation; O(n k) memory and its fill.
/// Certificate  optimal: the graph made anew; residuals of the eigenvectors by the edges one after the other; and the inertia of the
///              matrix shows that no smaller eigenvalue is left out.
struct LaplacianEigenmaps {
  Input input = Input::rows;
  Metric metric;
  int neighbors = 10;
  std::optional<double> radius;
  Affinity affinity = Affinity::binary;
  std::optional<double> sigma;
  bool normalised = true;
  int dimensions = 2;
  Pieces pieces = Pieces::join;

  static constexpr std::string_view name = "laplacian_eigenmaps";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "Laplacian eigenmaps: rows that are joined in a graph of neighbours stay together",
      .objective = "min 1/2 sum w_ij |y_i - y_j|^2: eigenvectors of L v = lambda D v, L = D - W",
      .example = "lemma fit laplacian_eigenmaps swiss_roll '~ x + y + z'",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    using S = LaplacianEigenmaps;
    return Listing{
        param("input", &S::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d"),
        param("metric", &S::metric, "how rows are compared"),
        param("neighbors", &S::neighbors, "nearest rows that a row is joined to", at_least(1)),
        param("radius", &S::radius, "rows at most so far are joined, in the place of neighbors", above(0),
              Step::logarithmic),
        param("affinity", &S::affinity, "1 of rows that are joined, or exp(-d^2 / (2 sigma^2))"),
        param("sigma", &S::sigma, "width of heat; chosen: the mean length of the edges", above(0), Step::logarithmic),
        param("normalised", &S::normalised, "rows count by their affinities: L v = lambda D v"),
        param("dimensions", &S::dimensions, "of the picture", at_least(1)),
        param("pieces", &S::pieces,
              "a graph in pieces is joined by its shortest edges, or refused, or its largest piece alone has places")};
  }
  void check() const;
  NearRows near() const { return {metric, neighbors, radius, pieces}; }
  Needs needs(Needs usual) const { return needs_of_near(input, metric, usual); }
};
static_assert(Described<LaplacianEigenmaps>);

struct LaplacianEigenmapsModel : Embedded {
  using Base = Embedded;

  LaplacianEigenmaps spec;
  Vector eigenvalues;
  double degree_sum = 0;
  Index graph_pieces = 1;
  RowNumbers left_out;

  static constexpr auto fields() {
    using M = LaplacianEigenmapsModel;
    return joined(
        first_fields(),
        Listing{result("eigenvalues", &M::eigenvalues, "of the Laplacian, the smallest above 0, ascending"),
                result("degree_sum", &M::degree_sum, "sum of all affinities, each edge in both directions"),
                result("graph_pieces", &M::graph_pieces, "of the graph of neighbours, before they were joined"),
                later(result("left_out", &M::left_out, "rows in other pieces of the graph, without coordinates, from 1",
                             kRowNumbers))},
        last_fields());
  }
  void check() const;
  bool gives(std::string_view) const { return spec.input != Input::pairs; }
  Index output_width() const { return dimensions(); }
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const { return dimension_names(dimensions()); }
  Matrix inverse(const MatrixView& z) const { return way_back(LaplacianEigenmaps::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;

  /// Nyström's formula, from the things that are near.
  void place(std::span<const std::int32_t> which, std::span<const double> far, Eigen::Ref<Matrix> out, Index row) const;
};

LaplacianEigenmapsModel fit(const Valid<LaplacianEigenmaps>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LaplacianEigenmapsModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<LaplacianEigenmaps>();

}  // namespace lemma
