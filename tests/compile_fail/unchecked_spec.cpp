// must not compile: no matching function for call to|no matching constructor for initialization
#include <lemma/core/params.hpp>

struct Spec {
  double lambda = 1;
  static constexpr std::string_view name = "spec";
  static constexpr auto params() { return lemma::Listing{lemma::param("lambda", &Spec::lambda, "described")}; }
};

lemma::Valid<Spec> checked() {
#ifdef MISTAKE
  return lemma::Valid<Spec>();
#else
  return lemma::Valid<Spec>(Spec{});
#endif
}
