// lemma/bayes/mcmc/chains.hpp: Markov chains whose draws follow e^−U(q).
#pragma once
#include <functional>
#include <lemma/bayes/mcmc.hpp>
#include <lemma/core/random.hpp>

namespace lemma::mcmc {

/// U(q), and its gradient where one is asked for.
using Energy = std::function<double(const Vector& q, Vector* gradient)>;

struct Chain {
  Matrix q;       // a row for each draw
  Vector energy;  // U of each
  double step = 0, acceptance = 0;
  Index divergences = 0;
};

/// One chain from `start`, with numbers of its own stream alone; it asks whether it has been cancelled at each draw.
Chain run_chain(const Mcmc& spec, const Energy& energy, const Vector& start, RandomStream& random);

}  // namespace lemma::mcmc
