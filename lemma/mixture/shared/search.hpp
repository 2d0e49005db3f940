// lemma/mixture/shared/search.hpp: several starts and several numbers of components, of which the best is kept.
#pragma once
#include <functional>
#include <lemma/mixture/shared/em.hpp>
#include <optional>
#include <vector>

namespace lemma::em {

/// What is tried, and what a kind of mixture says of itself.
struct Plan {
  std::vector<double> components;  // numbers of them
  Index restarts = 1;
  Limits limits;
  double weight = 0;  // of all rows: n
  std::function<Mixture(Index components, Index start, const Execution&)> start;
  std::function<Index(Index components)> parameters;  // free ones
  std::function<bool(const Mixture&)> held_up;  // a floor holds a component up: its likelihood says more of the floor
};

/// Of the starts the greatest likelihood, one that is held up only when all are; of the numbers of components the least BIC.
struct Search {
  std::optional<Run> best;
  std::vector<double> tried, bic;
  bool cancelled = false;
};
Search search(const Rows& rows, const Plan& plan, const Execution& execution);

}  // namespace lemma::em
