// lemma/linear/lad.hpp
#pragma once
#include <lemma/linear/quantile.hpp>

namespace lemma {

/// Least absolute deviations: the b₀ and b that minimise Σ wᵢ |yᵢ − offsetᵢ − b₀ − xᵢ·b|. It is the quantile regression
/// for τ = ½, with twice its objective.
struct Lad {
  bool intercept = true;
  QuantileErrors errors = QuantileErrors::nid;
  double tolerance = kRankTolerance;

  static constexpr std::string_view name = "lad";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::regression,
                                     .summary = "linear regression by least absolute deviations: the median",
                                     .objective = "minimise Σ w |y − b₀ − x·b|",
                                     .example = "lemma fit lad boston 'medv ~ .'",
                                     .takes_weights = true,
                                     .takes_offset = true};
  static constexpr auto params() {
    return Listing{param("intercept", &Lad::intercept, "fit an intercept"),
                   param("errors", &Lad::errors,
                         "standard errors: for errors whose density differs from row to row, for one density, or none"),
                   param("tolerance", &Lad::tolerance,
                         "a column is aliased when less than this share of it is orthogonal to the columns before it",
                         between(1e-15, 0.1), Step::logarithmic)};
  }
};
static_assert(Described<Lad>);

using LadModel = QuantileFit<Lad>;
LadModel fit(const Valid<Lad>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LadModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Lad>();

}  // namespace lemma
