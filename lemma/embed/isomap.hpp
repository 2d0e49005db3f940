// lemma/embed/isomap.hpp
#pragma once
#include <lemma/embed/shared/largest_piece.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/geometry/kept_rows.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Isomap (Tenenbaum, de Silva and Langford 2000): classical scaling of the ways along a surface. Rows are joined to their
/// nearest ones, g_ij is the length of the shortest way from i to j in that graph, and with
///
///     B = −½ J G² J,   B v = λ v,  λ₁ ≥ λ₂ ≥ …:      x_ik = √λ_k v_ik          (see `mds`)
///
/// With landmarks (de Silva and Tenenbaum 2003) B is that of L rows alone, drawn by chance, and the others lie where Gower's
/// triangle rule puts them; so does a new row, whose ways lead through its nearest rows:
///
///     y_k = Σ_l x_lk (m_l − g_l²) / (2 λ_k),     g_l = min over its neighbours i of d(y, x_i) + g_il
///
/// Dissimilarities may be given in the place of rows, of all pairs or of some; the graph then has edges of known pairs alone. Of a square
/// a new thing has its dissimilarities with the things, and the model keeps the edges.
///
/// A graph in pieces is joined by the shortest edges between them, or its largest piece alone has places, and a warning says so; or it
/// is refused.
///
/// Cost         neighbours, then O(n k log n) time for the ways of each row (or landmark); 8 n² bytes and O(n²) for each round of
///              eigenvectors; with landmarks 8 n L bytes.
/// Certificate  optimal: the graph made anew; its ways obey Bellman's equations, the coordinates are eigenvectors of B to 1e-8 of
///              λ₁, and the norms of what they leave of B, or a Cholesky factor, prove that no larger eigenvalue is left out.
struct Isomap {
  Input input = Input::rows;
  Metric metric;
  int neighbors = 10;
  std::optional<double> radius;
  int dimensions = 2;
  std::optional<int> landmarks;
  Pieces pieces = Pieces::join;
  double gigabytes = 4;

  static constexpr std::string_view name = "isomap";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "a surface rolled out: classical scaling of the shortest ways along a graph of neighbours",
      .objective = "min ||B - XX'||, B = -1/2 J G^2 J, G the lengths of shortest ways between rows",
      .example = "lemma fit isomap swiss_roll '~ x + y + z'",
      .keeps_rows = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = Isomap;
    return Listing{
        param("input", &S::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d"),
        param("metric", &S::metric, "how rows are compared"),
        param("neighbors", &S::neighbors, "nearest rows that a row is joined to", at_least(1)),
        param("radius", &S::radius, "rows at most so far are joined, in the place of neighbors", above(0),
              Step::logarithmic),
        param("dimensions", &S::dimensions, "of the picture", at_least(1)),
        param("landmarks", &S::landmarks, "rows drawn by chance that the axes are made of; left out: all", at_least(2)),
        param("pieces", &S::pieces,
              "a graph in pieces is joined by its shortest edges, or refused, or its largest piece alone has places"),
        param("gigabytes", &S::gigabytes, "gigabytes that the lengths of ways may take", above(0))};
  }
  void check() const;
  NearRows near() const { return {metric, neighbors, radius, pieces}; }
  Needs needs(Needs usual) const { return needs_of_near(input, metric, usual); }
};
static_assert(Described<Isomap>);

struct IsomapModel : Embedded {
  using Base = Embedded;

  Isomap spec;
  Vector eigenvalues;
  Vector residual_variance;
  double longest_way = 0;
  Index graph_pieces = 1;
  RowNumbers left_out;
  RowNumbers landmarks;
  Vector mean_squares;
  Matrix edges;

  static constexpr auto fields() {
    using M = IsomapModel;
    return joined(
        first_fields(),
        Listing{result("eigenvalues", &M::eigenvalues, "of B, those that are kept, descending"),
                result("residual_variance", &M::residual_variance,
                       "1 - squared correlation of the ways and the distances, in 1, 2, ... dimensions"),
                result("longest_way", &M::longest_way, "the largest of the lengths"),
                result("graph_pieces", &M::graph_pieces, "of the graph of neighbours, before they were joined"),
                later(result("left_out", &M::left_out, "rows in other pieces of the graph, without coordinates, from 1",
                             kRowNumbers)),
                result("landmarks", &M::landmarks, "rows that the axes are made of, from 1; none: all", kRowNumbers),
                state("mean_squares", &M::mean_squares, "of the ways from each landmark, or row, to place new rows"),
                later(state("edges", &M::edges,
                            "of a given square: two things and the length of each edge, to place new ones"))},
        last_fields());
  }
  void check() const;
  bool gives(std::string_view) const { return spec.input != Input::pairs; }
  Index output_width() const { return dimensions(); }
  Matrix transform(const MatrixView& x) const;
  /// The landmarks among the things with places; none: all are.
  std::vector<Index> sources() const;
  Matrix transform_given(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const { return dimension_names(dimensions()); }
  Matrix inverse(const MatrixView& z) const { return way_back(Isomap::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

IsomapModel fit(const Valid<Isomap>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const IsomapModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Isomap>();

}  // namespace lemma
