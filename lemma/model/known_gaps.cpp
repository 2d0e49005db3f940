// lemma/model/known_gaps.cpp: one line for each gap, with its reason.
#include <lemma/model/known_gaps.hpp>

namespace lemma {
namespace {

constexpr std::string_view kDamage = "ADamagedModelFailsItsCertificate";

constexpr KnownGap kGaps[] = {
    {"ols", kDamage, "std_errors",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "t", "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "p", "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "lower",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "upper",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "intercept_std_error",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "intercept_t",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "intercept_p",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "intercept_lower",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "intercept_upper",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "rss", "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "df_residual",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "sigma",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "r_squared",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "adj_r_squared",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "f_statistic",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "f_df",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "f_p", "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "log_likelihood",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "aic", "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "bic", "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "covariance",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "residual_quantiles",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "kept",
     "columns exchanged with their rows of the triangle are not seen: only the coefficients are certified"},
    {"ols", kDamage, "triangle",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "mean",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"ols", kDamage, "mean_rest", "what rounding left out of the mean is below any tolerance"},
    {"ols", kDamage, "mass",
     "the certificate speaks of the coefficients; what follows from them is not computed again"},
    {"lda", kDamage, "covariance",
     "only the two-class direction uses it; the discriminants are certified against the rows"},
    {"kmeans", kDamage, "objective",
     "the way to the centres leaves no trace in the rows; only where it ended is certified"},
};

}  // namespace

std::span<const KnownGap> known_gaps() { return kGaps; }

}  // namespace lemma
