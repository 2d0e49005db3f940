// lemma/embed/sammon.hpp
#pragma once
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/stress.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

/// Sammon's mapping (1969): metric scaling in which small dissimilarities count as much as large ones,
///
///     min_X  1 / Σ δ · Σ (δ − d)² / δ          (sums over pairs i < j)
///
/// which is the stress of `smacof` with weights 1/δ, found as there: majorisation, then a quasi-Newton search. Things whose
/// dissimilarity is 0 lie at one place, the limit of their weight; their pair is no part of the sums.
///
/// Cost         O(n² k) time for each step, n³/3 once, 32 n² bytes.
/// Certificate  stationary: the gradient, by sums over pairs; and the stress, which is told step by step and never rose.
struct Sammon {
  Input input = Input::rows;
  Metric metric;
  int dimensions = 2;
  int restarts = 0;
  int max_iterations = 2000;
  double tolerance = 1e-9;
  double gigabytes = 4;

  static constexpr std::string_view name = "sammon";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "Sammon's mapping: places in which small dissimilarities count as much as large ones",
      .objective = "min 1 / sum delta * sum (delta - d)^2 / delta over places",
      .example = "lemma fit sammon iris '~ . - species'",
      .keeps_rows = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = Sammon;
    return Listing{
        param("input", &S::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d"),
        param("metric", &S::metric, "how rows are compared"),
        param("dimensions", &S::dimensions, "of the picture", at_least(1)),
        param("restarts", &S::restarts, "random starts besides classical scaling", at_least(0)),
        param("max_iterations", &S::max_iterations, "steps from each start", at_least(1)),
        param("tolerance", &S::tolerance, "size of the gradient at which the search ends", above(0), Step::logarithmic),
        param("gigabytes", &S::gigabytes, "gigabytes that the dissimilarities may take", above(0))};
  }
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<Sammon>);

struct SammonModel : Embedded {
  using Base = Embedded;

  Sammon spec;
  double stress = 0;
  Vector trace;

  static constexpr auto fields() {
    using M = SammonModel;
    return joined(first_fields(),
                  Listing{result("stress", &M::stress, "Sammon's stress: what is minimised"),
                          result("trace", &M::trace, "the stress at the start and after each step")},
                  last_fields());
  }
  static constexpr Stress::Kind stress_kind() { return {.sammon = true}; }
  void check() const;
  Matrix inverse(const MatrixView& z) const { return way_back(Sammon::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

SammonModel fit(const Valid<Sammon>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const SammonModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Sammon>();

}  // namespace lemma
