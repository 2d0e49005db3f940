// lemma/math/special.hpp: sums of exponentials that neither overflow nor vanish.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma {

/// log Σ exp(vⱼ). −∞ for no terms.
double log_sum_exp(const VectorView& v);
/// The same for each row.
Vector log_sum_exp_rows(const MatrixView& m);
/// Each row becomes exp(rowⱼ) / Σ exp(rowₖ); returns each row's log Σ exp.
Vector softmax_rows(Eigen::Ref<Matrix> m);
/// log(1 + eˣ) and 1 / (1 + e⁻ˣ), for any x.
double log1p_exp(double x);
double logistic(double x);
/// log Γ(x) for x > 0; unlike the standard library's it can be called from several threads.
double log_gamma(double x);
/// ψ(x) = d log Γ(x) / dx and its derivative ψ'(x), for x > 0.
double digamma(double x);
double trigamma(double x);

}  // namespace lemma
