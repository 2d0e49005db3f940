// lemma/embed/nonmetric_mds.hpp
#pragma once
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/stress.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Nonmetric multidimensional scaling (Shepard 1962, Kruskal 1964): places whose distances have the order of the dissimilarities,
///
///     min_X,t  √( Σ w (t − d)² / Σ w d² ),    t rising with δ          (stress-1; sums over pairs i < j)
///
/// The t nearest to given distances are those of isotonic regression, by pooling neighbours that are out of order. Pairs of equal
/// δ may have distances of their own (ties primary) or share one (secondary). The places come by majorisation and then a
/// quasi-Newton search, from classical scaling and from `restarts` random starts; the least stress counts. Their unit is free:
/// Σ w d² = Σ w δ².
///
/// Cost         O(n² (k + log n)) time for each step, 40 n² bytes.
/// Certificate  stationary: the gradient at the t that are slopes of the greatest convex minorant of the sums of distances;
///              and the stress, which is told step by step and never rose.
struct NonmetricMds {
  Input input = Input::rows;
  Metric metric;
  int dimensions = 2;
  TiedPairs ties = TiedPairs::primary;
  int restarts = 0;
  int max_iterations = 2000;
  double tolerance = 1e-9;
  double gigabytes = 4;

  static constexpr std::string_view name = "nonmetric_mds";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "nonmetric scaling: places whose distances have the order of the dissimilarities (Kruskal)",
      .objective = "min sqrt(sum w (t - d)^2 / sum w d^2) over places and over t that rise with delta",
      .example = "lemma fit nonmetric_mds usarrests '~ . - state'",
      .keeps_rows = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = NonmetricMds;
    return Listing{
        param("input", &S::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d, weight"),
        param("metric", &S::metric, "how rows are compared"),
        param("dimensions", &S::dimensions, "of the picture", at_least(1)),
        param("ties", &S::ties, "pairs of equal dissimilarity may differ in distance, or not"),
        param("restarts", &S::restarts, "random starts besides classical scaling", at_least(0)),
        param("max_iterations", &S::max_iterations, "steps from each start", at_least(1)),
        param("tolerance", &S::tolerance, "size of the gradient at which the search ends", above(0), Step::logarithmic),
        param("gigabytes", &S::gigabytes, "gigabytes that the dissimilarities may take", above(0))};
  }
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<NonmetricMds>);

struct NonmetricMdsModel : Embedded {
  using Base = Embedded;

  NonmetricMds spec;
  double stress = 0;
  Vector trace;

  static constexpr auto fields() {
    using M = NonmetricMdsModel;
    return joined(first_fields(),
                  Listing{result("stress", &M::stress, "Kruskal's stress-1: what is minimised"),
                          result("trace", &M::trace, "the stress at the start and after each step")},
                  last_fields());
  }
  Stress::Kind stress_kind() const { return {.disparities = Disparities::ordinal, .ties = spec.ties}; }
  void check() const;
  Matrix inverse(const MatrixView& z) const { return way_back(NonmetricMds::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

NonmetricMdsModel fit(const Valid<NonmetricMds>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const NonmetricMdsModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<NonmetricMds>();

}  // namespace lemma
