// lemma/mixture/shared/criteria.hpp: what every mixture that was searched for tells: shares, criteria, and the way to them.
#pragma once
#include <lemma/model/concepts.hpp>
#include <lemma/model/fields.hpp>
#include <string_view>

namespace lemma {

struct SearchedMixture : Evidence {
  Vector weights;  // π
  double log_likelihood = 0, aic = 0, bic = 0, icl = 0;
  int parameters = 0;          // free ones
  bool floor_reached = false;  // the floor binds
  int iterations = 0;          // of the start that was kept
  Vector trace;                // ℓ at each of them
  Vector tried, tried_bic;     // numbers of components, and the BIC of each

  /// The fields before a method's own, and those behind them.
  static constexpr auto first_fields() {
    return Listing{result("weights", &SearchedMixture::weights, "share of each component")};
  }
  static constexpr auto last_fields(std::string_view of_floor, std::string_view of_trace) {
    using M = SearchedMixture;
    return Listing{result("log_likelihood", &M::log_likelihood, "sum of the log densities of the rows"),
                   result("aic", &M::aic, "-2 log-likelihood + 2 parameters"),
                   result("bic", &M::bic, "-2 log-likelihood + parameters log n: the least is best"),
                   result("icl", &M::icl, "bic - 2 sum of log max_k p_k: dearer where rows lie between components"),
                   result("parameters", &M::parameters, "free numbers of the model"),
                   result("floor_reached", &M::floor_reached, of_floor),
                   result("iterations", &M::iterations, "of the start that was kept"),
                   result("trace", &M::trace, of_trace),
                   result("tried", &M::tried, "numbers of components that were tried"),
                   result("tried_bic", &M::tried_bic, "bic of each of them")};
  }
};

}  // namespace lemma
