// lemma/embed/smacof.hpp
#pragma once
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/stress.hpp>
#include <lemma/embed/shared/way_back.hpp>
#include <lemma/model/method.hpp>

namespace lemma {

enum class SmacofKind { ratio, interval, spline };
constexpr auto names_of(SmacofKind) { return std::array<std::string_view, 3>{"ratio", "interval", "spline"}; }

/// Metric multidimensional scaling: the places whose distances d are nearest to the dissimilarities δ,
///
///     ratio     min_X Σ w (δ − d)² / Σ w δ²
///     interval  min_X,a,b≥0 Σ w (a + bδ − d)² / Σ w d²          (sums over pairs i < j)
///     spline    the same with c₀ + Σ c_k I_k(δ), c ≥ 0, quadratic I-splines that rise from 0 to 1: any smooth function that rises
///
/// by majorisation (SMACOF, de Leeuw 1977): Guttman's transform X ← V⁺ B(X) X is the minimiser of a quadratic that lies above the
/// stress and touches it at X, V = Σ w (e_i − e_j)(e_i − e_j)ᵀ, B the same with w δ/d. Where its steps get short a quasi-Newton
/// search goes on. The start is classical scaling, then `restarts` random places; the least stress counts. Pairs that are not known have weight 0.
///
/// Cost         O(n² k) time for each step, 16 n² bytes; with weights n³/3 once and 16 n² bytes more.
/// Certificate  stationary: the gradient, by sums over pairs; and the stress, which is told step by step and never rose.
struct Smacof {
  Input input = Input::rows;
  Metric metric;
  int dimensions = 2;
  SmacofKind kind = SmacofKind::ratio;
  int knots = 2;
  int restarts = 0;
  int max_iterations = 2000;
  double tolerance = 1e-9;
  double gigabytes = 4;

  static constexpr std::string_view name = "smacof";
  static constexpr MethodAbout about{
      .family = "embed",
      .task = Task::embedding,
      .summary = "metric scaling: the places whose distances are nearest to the dissimilarities",
      .objective = "min sum w (delta - d)^2 / sum w delta^2 over places, by majorisation; interval: a + b delta",
      .example = "lemma fit smacof uscities '~ . - city' --input square",
      .keeps_rows = true,
      .uses_response = false,
      .random = true};
  static constexpr auto params() {
    using S = Smacof;
    return Listing{
        param("input", &S::input, "a thing in each row, a square of dissimilarities, or pairs i, j, d, weight"),
        param("metric", &S::metric, "how rows are compared"),
        param("dimensions", &S::dimensions, "of the picture", at_least(1)),
        param("kind", &S::kind,
              "distances like the dissimilarities, like a line of them, or like a smooth function that rises"),
        param("knots", &S::knots, "of kind spline: between the least and the greatest dissimilarity", between(0, 8)),
        param("restarts", &S::restarts, "random starts besides classical scaling", at_least(0)),
        param("max_iterations", &S::max_iterations, "steps from each start", at_least(1)),
        param("tolerance", &S::tolerance, "size of the gradient at which the search ends", above(0), Step::logarithmic),
        param("gigabytes", &S::gigabytes, "gigabytes that the dissimilarities may take", above(0))};
  }
  Needs needs(Needs usual) const { return needs_for(input, metric, usual); }
};
static_assert(Described<Smacof>);

struct SmacofModel : Embedded {
  using Base = Embedded;

  Smacof spec;
  double stress = 0, raw_stress = 0;
  Vector line;
  Vector knots, spline;
  Vector trace;

  static constexpr auto fields() {
    using M = SmacofModel;
    return joined(
        first_fields(),
        Listing{result("stress", &M::stress, "share of the squares that the distances miss: what is minimised"),
                result("raw_stress", &M::raw_stress, "sum of w (disparity - d)^2 over pairs"),
                result("line", &M::line, "a and b of the disparities a + b delta: 0 and 1 of kind ratio"),
                later(result("knots", &M::knots, "of kind spline: least dissimilarity, quantiles, greatest")),
                later(result("spline", &M::spline,
                             "its c: what is added to each distance, and by how much each I-spline rises")),
                result("trace", &M::trace, "the stress at the start and after each step")},
        last_fields());
  }
  Stress::Kind stress_kind() const {
    return {.disparities = spec.kind == SmacofKind::ratio      ? Disparities::ratio
                           : spec.kind == SmacofKind::interval ? Disparities::interval
                                                               : Disparities::spline,
            .knots = spec.knots};
  }
  void check() const;
  Matrix inverse(const MatrixView& z) const { return way_back(Smacof::name, *this, spec.metric, z); }
  std::string summary(const Names& names) const;
};

SmacofModel fit(const Valid<Smacof>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const SmacofModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Smacof>();

}  // namespace lemma
