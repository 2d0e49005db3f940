// lemma/linear/shared/sandwich.hpp: standard errors that do not take the model's variances for granted. Inner header.
//
// At the estimate the scores sᵢ = wᵢ rᵢ xᵢ of the rows sum to 0, and their own scatter says how far the estimate may move:
//
//     Cov(b) = A (Σ ωᵢ xᵢ xᵢᵀ) A,     A = (XᵀWX)⁻¹,     hᵢ = wᵢ xᵢᵀ A xᵢ
//
//     HC0      ω = (w r)²                          (White)
//     HC1      the same times n / (n − k)
//     HC2      ω = (w r)² / (1 − h)
//     HC3      ω = (w r)² / (1 − h)²
//     cluster  Σ over clusters g of (Σ_{i∈g} sᵢ)(Σ_{i∈g} sᵢ)ᵀ in the middle, times G / (G − 1); for least squares
//              times (n − 1) / (n − k) too
//
// as R's sandwich has them (vcovHC, vcovCL). A row of frequency k is k rows, all of one cluster.
#pragma once
#include <array>
#include <functional>
#include <lemma/core/rows.hpp>
#include <lemma/linear/shared/squared_lengths.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

enum class StandardErrors { classical, hc0, hc1, hc2, hc3, cluster };
constexpr auto names_of(StandardErrors) {
  return std::array<std::string_view, 6>{"classical", "HC0", "HC1", "HC2", "HC3", "cluster"};
}
inline constexpr std::string_view kAboutErrors =
    "standard errors: classical, robust against unequal variances (HC0 to HC3), or against dependence within clusters; "
    "by default classical, or cluster where --cluster names their column";

/// What was asked for, or what the rows call for; Error where the two do not go together.
StandardErrors chosen_errors(std::string_view method, const std::optional<StandardErrors>& asked, const Rows& rows);

/// What the scores of a block's rows are made of, each of one copy: s = weight · residual · x.
struct ScoreParts {
  std::vector<double> frequency, weight, residual;
};

/// The scatter of the scores in coordinates in which the information is 1: with z = (1/√Σw, R⁻ᵀ(x − mean)), the first only
/// with an intercept, Σ ω z zᵀ. There nothing is large or small by its unit, and no mean has to cancel.
struct ScoreScatter {
  Matrix scatter;
  Index clusters = 0;  // 0: not by clusters
  Index whole = 0;     // HC2 and HC3: rows of leverage 1, which have no ω
};
/// `small_sample`: what HC1 and cluster are multiplied by, besides G / (G − 1).
ScoreScatter score_scatter(StandardErrors errors, const CentredTriangle& of,
                           const std::function<ScoreParts(const Block&)>& parts, double small_sample, const Rows& rows,
                           const Execution& execution);

/// The covariance of (intercept, columns that take part) that belongs to it.
Matrix sandwich(const Matrix& scatter, const CentredTriangle& of);
/// [1 x] Cov [1 x]ᵀ for each row.
Vector sandwich_form(const MatrixView& x, const Matrix& scatter, const CentredTriangle& of);

/// What is said where these standard errors are not to be had, or not to be trusted.
void warn_of_errors(StandardErrors errors, const ScoreScatter& found, Index rank, std::vector<std::string>& warnings);
/// The line under a table of coefficients that says what its standard errors are; nothing for classical ones.
std::string errors_line(StandardErrors errors, Index clusters, std::optional<double> df);

/// bᵀ Cov⁻¹ b, Wald's test that all of b is 0; NaN where Cov has no inverse.
double wald_statistic(const Vector& b, const Matrix& covariance);

}  // namespace lemma
