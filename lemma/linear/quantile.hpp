// lemma/linear/quantile.hpp
#pragma once
#include <lemma/math/least_squares.hpp>
#include <lemma/model/method.hpp>
#include <limits>

namespace lemma {

/// How the standard errors of a quantile regression are found.
enum class QuantileErrors { nid, iid, none };
constexpr auto names_of(QuantileErrors) { return std::array<std::string_view, 3>{"nid", "iid", "none"}; }

/// Quantile regression: the b₀ and b that minimise
///
///     J(b₀, b) = Σ wᵢ ρ_τ(yᵢ − offsetᵢ − b₀ − xᵢ·b),        ρ_τ(r) = r (τ − [r < 0]),
///
/// so that a share τ of the responses lies below the plane. Weights are frequencies. The answer is a vertex: it passes
/// through `rank` rows, as that of R's rq does. Aliased columns are those of ols.
///
/// Cost         the rows are copied once, O(n p) memory. See lemma/linear/quantile/simplex.hpp; standard errors `nid` take
///              two more fits.
/// Certificate  optimal: the relative duality gap. The dual is  maximise Σ aᵢ yᵢ  subject to  Σ aᵢ [1 xᵢ] = 0,
///              wᵢ (τ − 1) ≤ aᵢ ≤ wᵢ τ.  verify takes aᵢ at its bound for every row beside the plane, solves for those on it
///              (least squares within bounds), and sums what is left: the gap, and the equations' error. Then every other
///              number is held against the rows.
struct Quantile {
  double tau = 0.5;
  bool intercept = true;
  QuantileErrors errors = QuantileErrors::nid;
  double tolerance = kRankTolerance;

  static constexpr std::string_view name = "quantile";
  static constexpr MethodAbout about{.family = "linear",
                                     .task = Task::regression,
                                     .summary = "linear regression for a quantile of the response",
                                     .objective = "minimise Σ w ρ(y − b₀ − x·b), ρ(r) = r (tau − [r < 0])",
                                     .example = "lemma fit quantile boston 'medv ~ .' --tau 0.9",
                                     .takes_weights = true,
                                     .takes_offset = true};
  static constexpr auto params() {
    return Listing{param("tau", &Quantile::tau, "the quantile: the share of responses below the plane", within(0, 1)),
                   param("intercept", &Quantile::intercept, "fit an intercept"),
                   param("errors", &Quantile::errors,
                         "standard errors: for errors whose density differs from row to row, for one density, or none"),
                   param("tolerance", &Quantile::tolerance,
                         "a column is aliased when less than this share of it is orthogonal to the columns before it",
                         between(1e-15, 0.1), Step::logarithmic)};
  }
};
static_assert(Described<Quantile>);

/// What quantile and lad find. The numbers are those of a Quantile, but for `objective`.
struct QuantileNumbers : Evidence {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Vector coefficients, std_errors, t, p;
  double intercept = 0, intercept_std_error = kNone, intercept_t = kNone, intercept_p = kNone;
  double objective = kNone, log_likelihood = kNone, aic = kNone, bic = kNone;
  Index rank = 0;
  double df_residual = kNone;
  double on_plane = kNone;
  bool unique = true;
  Matrix covariance;
  Labels kept;

  static constexpr auto fields() {
    using M = QuantileNumbers;
    return Listing{
        result("coefficients", &M::coefficients, "one for each feature; null where it is aliased", kByFeature),
        result("intercept", &M::intercept, "0 when none is fitted"),
        result("std_errors", &M::std_errors, "standard errors of the coefficients", kByFeature),
        result("t", &M::t, "coefficient over standard error", kByFeature),
        result("p", &M::p, "two-sided p-value of t", kByFeature),
        result("intercept_std_error", &M::intercept_std_error, "standard error of the intercept"),
        result("intercept_t", &M::intercept_t, "intercept over its standard error"),
        result("intercept_p", &M::intercept_p, "two-sided p-value of intercept_t"),
        result("objective", &M::objective, "the least value of the objective"),
        result("rank", &M::rank, "number of coefficients that are determined, with the intercept"),
        result("df_residual", &M::df_residual, "n - rank"),
        result("on_plane", &M::on_plane, "weight of the rows that the fit passes through"),
        result("unique", &M::unique, "false when other coefficients are as good"),
        result("log_likelihood", &M::log_likelihood, "of errors with the asymmetric Laplace density"),
        result("aic", &M::aic, "-2 log_likelihood + 2 rank"),
        result("bic", &M::bic, "-2 log_likelihood + log(n) rank"),
        result("covariance", &M::covariance, "of the coefficients, the intercept first; null where aliased"),
        state("kept", &M::kept, "columns that take part")};
  }
  Index width() const { return coefficients.size(); }
  Vector slopes() const;  // the coefficients, 0 where aliased
  Vector predict(const MatrixView& x) const;
  AffineMap affine() const { return {slopes().transpose(), Vector::Constant(1, intercept)}; }
};

template <class Spec>
struct QuantileFit : QuantileNumbers {
  using Base = QuantileNumbers;
  Spec spec;

  void check() const;
  /// Where the quantile itself lies with probability `level`. There is no prediction interval: two quantiles make one.
  Interval interval(const MatrixView& x, IntervalKind kind, double level) const;
  /// What R's print(summary(rq)) prints, with marks.
  std::string summary(const Names& names) const;
};
using QuantileModel = QuantileFit<Quantile>;

QuantileModel fit(const Valid<Quantile>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const QuantileModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Quantile>();

}  // namespace lemma
