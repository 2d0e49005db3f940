// lemma/bayes/mcmc/diagnostics.hpp: what several chains say of a quantity, and how well they know it.
#pragma once
#include <lemma/core/matrix.hpp>

namespace lemma::mcmc {

/// Draws of one quantity: a row for each chain.
double split_r_hat(const Matrix& chains);     // √(var⁺ / W) of the halves of the chains
double rank_r_hat(const Matrix& chains);      // the larger of those of ranks and of ranks of |x − median|
double effective_size(const Matrix& chains);  // of the mean, by Geyer's initial monotone sequence
double quantile_of(Vector values, double p);  // between order statistics, as R's type 7

double deviation_of(const Matrix& chains);
/// Monte Carlo errors: of the mean, of the standard deviation, and of the share of draws that are at most `end`.
double mean_error(const Matrix& chains);
double deviation_error(const Matrix& chains);
double share_error(const Matrix& chains, double end);

struct Known {
  double mean, deviation, lower, upper, error, effective, r_hat;
};
Known known_of(const Matrix& chains, double level);

}  // namespace lemma::mcmc
