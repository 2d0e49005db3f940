// must not compile: static.assert
#include <lemma/model/concepts.hpp>
#include <lemma/model/fields.hpp>

struct Spec {};
struct Model : lemma::Evidence {
  Spec spec;
  double intercept = 0;
#ifdef MISTAKE
  lemma::Vector forgotten;
#endif
  static constexpr auto fields() { return lemma::Listing{lemma::result("intercept", &Model::intercept, "listed")}; }
};
static_assert(lemma::AllFields<Model>);
