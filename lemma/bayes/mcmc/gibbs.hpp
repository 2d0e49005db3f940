// lemma/bayes/mcmc/gibbs.hpp: draws from conditionals that are known. Inner header: use lemma/bayes/mcmc.hpp.
#pragma once
#include <lemma/bayes/mcmc/target.hpp>

namespace lemma::mcmc {

/// A draw of the Pólya-Gamma distribution PG(1, z): the law of ω for which, whatever ψ,
///
///     e^(tψ) / (1 + e^ψ)  ∝  ∫ e^((t − ½)ψ − ω ψ²/2) p(ω) dω,
///
/// so that a logistic likelihood is Gaussian in ψ, given ω, and ω ~ PG(1, ψ), given ψ. By Devroye's alternating series: exact
/// (Polson, Scott and Windle 2013).
double polya_gamma(double z, RandomStream& random);

/// One chain, its draws in θ; kSweeps rounds through all conditionals for each draw.
constexpr int kSweeps = 3;
Chain run_gibbs(const Mcmc& spec, const Target& target, Vector theta, RandomStream& random);

}  // namespace lemma::mcmc
