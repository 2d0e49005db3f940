// must not compile: static.assert
#include <lemma/core/params.hpp>

struct Forgetful {
  double lambda = 1;
#ifdef MISTAKE
  double left_out = 0;
#endif
  static constexpr std::string_view name = "forgetful";
  static constexpr auto params() { return lemma::Listing{lemma::param("lambda", &Forgetful::lambda, "described")}; }
};
static_assert(lemma::Described<Forgetful>);
