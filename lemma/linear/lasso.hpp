// lemma/linear/lasso.hpp
#pragma once
#include <lemma/linear/elastic_net.hpp>

namespace lemma {

/// The lasso: least squares with the sizes of the coefficients penalised, for each λ of a path,
///
///     J(b₀, b) = ½ Σ wᵢ (yᵢ − offsetᵢ − b₀ − xᵢ·b)² + λ Σ fⱼ |cⱼ|,      cⱼ = sⱼ bⱼ,
///
/// the elastic net with α = 1, or with their sum bounded: least squares subject to Σ fⱼ |cⱼ| ≤ bound. Both have the same
/// solutions: to a bound that binds belongs the λ whose solution has that norm, found on the path, where the norm is
/// piecewise linear in λ.
///
/// Algorithm, cost and certificate are those of the elastic net. Under a bound s the gap is s max |zⱼ·r| / fⱼ − r·Zc.
struct Lasso {
  std::vector<double> lambda;
  std::optional<double> bound;
  int path_length = 100;
  std::optional<double> path_ratio;
  bool intercept = true;
  bool standardize = true;
  std::vector<double> penalty_factors;
  bool positive = false;
  PathChoice choose = PathChoice::bic;
  double tolerance = 1e-10;
  int max_iterations = 100'000;

  static constexpr std::string_view name = "lasso";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::regression,
                                     .summary = "linear regression with the absolute coefficients penalised or bounded",
                                     .objective = "minimise ½ Σ w (y − b₀ − x·b)² + λ ‖b‖₁, or subject to ‖b‖₁ ≤ bound",
                                     .example = "lemma fit lasso boston 'medv ~ .'",
                                     .takes_weights = true,
                                     .takes_precision = true,
                                     .takes_offset = true,
                                     .takes_sparse = true};
  static constexpr auto params() {
    return joined(
        path_params<Lasso>(),
        Listing{param("bound", &Lasso::bound,
                      "the largest sum of the coefficients' sizes, on the scale of the penalty, in place of lambda",
                      at_least(0))});
  }
  void check() const;
};
static_assert(Described<Lasso>);

using LassoModel = PathModel<Lasso>;
LassoModel fit(const Valid<Lasso>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const LassoModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Lasso>();

}  // namespace lemma
