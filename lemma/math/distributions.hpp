// lemma/math/distributions.hpp: the distributions of tests and intervals.
#pragma once
#include <lemma/core/random.hpp>  // normal_quantile

namespace lemma {

// `cdf` is P(X ≤ x), `upper` P(X > x) computed as itself (1e-300 is 1e-300, not 0), `quantile` the x with
// cdf(x) = p and `upper_quantile` the x with upper(x) = p. NaN in, NaN out; p outside [0, 1] gives NaN.
double normal_cdf(double z);
double normal_upper(double z);
double normal_log_density(double z);

double t_cdf(double t, double df);
double t_upper(double t, double df);
double t_two_sided(double t, double df);  // P(|X| > |t|): the p-value of a coefficient
double t_quantile(double p, double df);
double t_upper_quantile(double p, double df);

double f_cdf(double f, double df1, double df2);
double f_upper(double f, double df1, double df2);
double f_quantile(double p, double df1, double df2);

double chi_squared_cdf(double x, double df);
double chi_squared_upper(double x, double df);
double chi_squared_quantile(double p, double df);

}  // namespace lemma
