// lemma/neural/shared/levenberg.hpp: Levenberg's and Marquardt's way from weights to better ones.
#pragma once
#include <lemma/neural/shared/training.hpp>
#include <lemma/optimize/minimise.hpp>

namespace lemma::neural {

/// x ← x + d, (H + μ I) d = −∇f, with H = JᵀHJ of Gauss and Newton: the damping μ falls after steps that gain what the parabola
/// promised, and grows, and the step is tried again, where nothing is gained (Nielsen's rule, 1999).
Minimum levenberg_marquardt(const Objective& f, Vector start, const MinimiseOptions& options);

}  // namespace lemma::neural
