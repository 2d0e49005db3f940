// lemma/embed/mvu.hpp
#pragma once
#include <lemma/embed/shared/neighborhood.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Maximum variance unfolding (Weinberger and Saul 2004, 2006; with inequalities as in Sun, Boyd, Xiao and Diaconis 2006): rows are pulled as
/// far apart as they go while none gets farther from its neighbours than it is. Of the inner products K of places with mean 0,
///
///     max tr K     subject to  K_ii − 2 K_ij + K_jj ≤ d_ij²  for neighbours i ~ j,   K positive semidefinite,  K 1 = 0
///     min Σ t_ij d_ij²   subject to  L(t) − (I − 11ᵀ/n) positive semidefinite,  t ≥ 0,       L the Laplacian of the graph
///
/// the second the dual: tensions t of threads between neighbours, which hold the rows together. The coordinates are x_ik = √λ_k v_ik of the
/// first eigenvectors of K, which has few eigenvalues that are not 0 when the rows lie near a surface that can be flattened. Rows with no
/// distance between them share a place.
///
/// Rows are taken in the order that their values give them, so that the picture does not depend on the order they come in.
///
/// Cost         O(m³ + n³) time for each of some dozen rounds and 24 m² bytes, m the number of edges.
/// Certificate  optimal: the graph made anew; the places keep to its lengths, so that their variance is reached; tensions are not negative and
///              the inertia of a sparse matrix shows that L(t) is large enough, so that no variance exceeds Σ t d²; the gap between the two.
struct Mvu {
  Input input = Input::rows;
  Metric metric;
  int neighbors = 6;
  std::optional<double> radius;
  int dimensions = 2;
  AllPieces pieces = AllPieces::join;
  double tolerance = 1e-5;
  int max_iterations = 100;
  double gigabytes = 2;

  static constexpr std::string_view name = "mvu";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "maximum variance unfolding: rows pulled apart as far as the distances to their neighbours allow",
      .objective = "max tr K, K_ii - 2 K_ij + K_jj <= d_ij^2 of neighbours, K positive semidefinite, K 1 = 0",
      .example = "lemma fit mvu iris '~ . - species'",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    using S = Mvu;
    return Listing{param("input", &S::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d"),
                   param("metric", &S::metric, "how rows are compared"),
                   param("neighbors", &S::neighbors, "nearest rows that a row stays near to", at_least(1)),
                   param("radius", &S::radius, "rows at most so far are neighbours, in the place of neighbors",
                         above(0), Step::logarithmic),
                   param("dimensions", &S::dimensions, "of the picture", at_least(1)),
                   param("pieces", &S::pieces, "a graph in pieces is joined by its shortest edges, or refused"),
                   param("tolerance", &S::tolerance, "gap between the variance and its bound, as a share of it",
                         between(1e-7, 0.1), Step::logarithmic),
                   param("max_iterations", &S::max_iterations, "rounds of the interior-point method", at_least(1)),
                   param("gigabytes", &S::gigabytes, "gigabytes that the programme may take", above(0))};
  }
  NearRows near() const { return {metric, neighbors, radius, static_cast<Pieces>(pieces)}; }
  Needs needs(Needs usual) const { return needs_of_near(input, metric, usual); }
};
static_assert(Described<Mvu>);

struct MvuModel : Embedded {
  using Base = Embedded;

  Mvu spec;
  Vector eigenvalues;
  Vector explained;
  double variance = 0;
  double bound = 0;
  Index graph_pieces = 1;
  Matrix unfolded;
  Vector tensions;

  static constexpr auto fields() {
    using M = MvuModel;
    return joined(
        first_fields(),
        Listing{result("eigenvalues", &M::eigenvalues, "of K, those that are kept, descending"),
                result("explained", &M::explained, "share of the trace of K of each dimension"),
                result("variance", &M::variance,
                       "sum of the squared distances of all places in `unfolded` from their mean: tr K"),
                result("bound", &M::bound, "what no variance exceeds, by the dual"),
                result("graph_pieces", &M::graph_pieces, "of the graph of neighbours, before they were joined"),
                state("unfolded", &M::unfolded, "the places in all dimensions of K"),
                state("tensions", &M::tensions, "t of each edge, in the order of the rows' values")},
        last_fields());
  }
  void check() const;
  Matrix inverse(const MatrixView& z) const { return way_back(Mvu::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

MvuModel fit(const Valid<Mvu>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MvuModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Mvu>();

}  // namespace lemma
