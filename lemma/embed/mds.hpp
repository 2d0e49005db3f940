// lemma/embed/mds.hpp
#pragma once
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/stress.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Pairs whose dissimilarity is not given: refused, or the shortest ways along those that are, or the distances of the places of least
/// stress of those that are (`smacof`).
enum class MdsFill { refuse, ways, scaling };
constexpr auto names_of(MdsFill) { return std::array<std::string_view, 3>{"refuse", "ways", "scaling"}; }

/// Classical multidimensional scaling (Torgerson 1952, Gower 1966): places of things from their dissimilarities. With
///
///     B = −½ J D² J,   J = I − 11ᵀ/n,   D² the squared dissimilarities:    B v = λ v,  λ₁ ≥ λ₂ ≥ …
///
/// the coordinates are x_ik = √λ_k v_ik: of all places in k dimensions those with the least strain ‖B − XXᵀ‖. Of Euclidean
/// distances they are the scores of `pca`. What is not Euclidean shows as negative λ; the additive constant (Cailliez 1983)
/// is the least c for which d + c has none:  the largest root of min eig(B + 2c B' + ½c² J) = 0,  B' = −½ J D J.
///
/// A new thing with dissimilarities δ lies where B would have put it (Gower's triangle rule):
///
///     y_k = Σ_i x_ik (m_i − δ_i²) / (2 λ_k),     m_i the mean of d_ij² over j;  of one of the things itself it is its own place.
///
/// Cost         O(n² p + n³) time, 16 n² bytes; all n eigenvalues up to kMostEigen things, beyond that those that are kept.
/// Certificate  optimal: with B made anew, ‖B v − λ v‖ / λ₁ and VᵀV − I, and a Cholesky factor of (λ_k + tolerance) I − (B − XXᵀ)
///              proves that no larger eigenvalue is left outside; trace and norm of B hold the other eigenvalues.
struct Mds {
  Input input = Input::rows;
  Metric metric;
  int dimensions = 2;
  bool additive = false;
  MdsFill fill = MdsFill::refuse;
  double gigabytes = 4;

  static constexpr std::string_view name = "mds";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "classical scaling: places of things from how different each two of them are",
      .objective = "min ||B - XX'||, B = -1/2 J D^2 J: x_ik = sqrt(lambda_k) v_ik of the largest eigenvalues",
      .example = "lemma fit mds uscities '~ . - city' --input square",
      .keeps_rows = true,
      .uses_response = false};
  static constexpr auto params() {
    return Listing{param("input", &Mds::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d"),
                   param("metric", &Mds::metric, "how rows are compared"),
                   param("dimensions", &Mds::dimensions, "of the picture", at_least(1)),
                   param("additive", &Mds::additive, "add the least constant that makes the dissimilarities Euclidean"),
                   param("fill", &Mds::fill,
                         "pairs that are not given: refused, the shortest ways along the others, or as metric scaling "
                         "(smacof) of the others places them"),
                   param("gigabytes", &Mds::gigabytes, "gigabytes that the dissimilarities may take", above(0))};
  }
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<Mds>);

struct MdsModel : Embedded {
  using Base = Embedded;
  /// Up to so many things all eigenvalues are found.
  static constexpr Index kMostEigen = 2000;

  Mds spec;
  Vector eigenvalues;
  Vector goodness_of_fit;
  double negative_share = 0;
  double strain = 0;
  double constant = 0;
  Vector mean_squares;
  Index filled_pairs = 0;
  Matrix filled_places;

  static constexpr auto fields() {
    using M = MdsModel;
    return joined(
        first_fields(),
        Listing{result("eigenvalues", &M::eigenvalues, "of B, descending; beyond 2,000 things those that are kept"),
                result("goodness_of_fit", &M::goodness_of_fit,
                       "sum of the eigenvalues that are kept over that of all sizes, and over that of the positive "
                       "ones; null beyond 2,000 things"),
                result("negative_share", &M::negative_share,
                       "sizes of the negative eigenvalues over those of all: how far from Euclidean; null beyond "
                       "2,000 things"),
                result("strain", &M::strain, "norm of B - XX', least of all places"),
                result("constant", &M::constant, "added to each dissimilarity"),
                later(result("filled_pairs", &M::filled_pairs,
                             "pairs whose dissimilarity was not given, and was filled in")),
                later(state("filled_places", &M::filled_places, "of fill scaling: the places of least stress")),
                state("mean_squares", &M::mean_squares, "of each thing's dissimilarities, to place new ones")},
        last_fields());
  }
  void check() const;
  bool gives(std::string_view) const { return spec.input != Input::pairs; }
  Index output_width() const { return dimensions(); }
  Matrix transform(const MatrixView& x) const;
  std::vector<std::string> output_names(const std::vector<std::string>&) const { return dimension_names(dimensions()); }
  Matrix inverse(const MatrixView& z) const { return way_back(Mds::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

MdsModel fit(const Valid<Mds>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const MdsModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Mds>();

}  // namespace lemma
