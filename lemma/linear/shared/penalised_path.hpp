// lemma/linear/shared/penalised_path.hpp: what ridge, lasso and elastic_net say alike: a plane for each λ, one of which predicts.
#pragma once
#include <lemma/model/concepts.hpp>
#include <lemma/model/path.hpp>
#include <limits>

namespace lemma {

struct PenalisedPath : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  PathNumbers lambda;
  PathMatrix coefficients;
  PathNumbers intercept, df, rss, deviance_ratio, objective;
  double chosen_lambda = 0;
  Vector scale;

  /// The fields before a method's own, and those behind them.
  static constexpr auto first_fields(std::string_view of_lambda, std::string_view of_df) {
    using M = PenalisedPath;
    return Listing{result("lambda", &M::lambda, of_lambda),
                   result("coefficients", &M::coefficients,
                          "one for each feature, in the user's units; a row for each λ", kByFeature),
                   result("intercept", &M::intercept, "0 when none is fitted"),
                   result("df", &M::df, of_df),
                   result("rss", &M::rss, "sum of squared residuals, weighted"),
                   result("deviance_ratio", &M::deviance_ratio,
                          "share of the sum of squares that is explained; not centred without an intercept")};
  }
  static constexpr auto last_fields() {
    using M = PenalisedPath;
    return Listing{result("chosen_lambda", &M::chosen_lambda, "the λ that predicts"),
                   result("scale", &M::scale, "what each column was divided by before the penalty", kByFeature)};
  }

  Index width() const { return coefficients.of.cols(); }
  Index chosen() const;   // the row of chosen_lambda
  Vector slopes() const;  // its coefficients
  AffineMap affine() const;
  /// b₀ + x·b of each row alone: the same bits in any company.
  Vector heights_of(const MatrixView& x) const;

  /// Error unless the arrays fit together; `more` are a method's own numbers of each λ.
  void check_path(std::string_view method, bool with_intercept, const std::vector<double>& penalty_factors,
                  const std::vector<const PathNumbers*>& more) const;
  /// The coefficients that predict, also for columns of standard deviation 1; `zeros`: those that are 0 too.
  std::string coefficient_table(const Names& names, bool with_intercept, bool standardised, bool zeros) const;
};

}  // namespace lemma
