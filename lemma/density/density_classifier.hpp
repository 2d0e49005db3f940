// lemma/density/density_classifier.hpp
#pragma once
#include <lemma/model/any_spec.hpp>
#include <lemma/model/prior.hpp>

namespace lemma {

/// Bayes' rule over any density of the catalog, one for each class:
///
///     p(k | x) = π_k f_k(x) / Σ_l π_l f_l(x),      f_k fitted to the rows of class k
///
/// With gaussian it is qda, with gmm classes of several clusters, with kde no shape is assumed. The logarithm of Σ π_l f_l(x) is
/// told too: where it is low a row is like those of no class.
///
/// Cost         one fit for each class.
/// Certificate  consistent: every density inside is looked at again with the rows of its class, counts and priors are those of the
///              rows. Densities of all rows in the place of those of the classes fail it.
struct DensityClassifier {
  std::optional<AnySpec> base;
  PriorChoice prior = Prior::proportions;

  static constexpr std::string_view name = "density_classifier";
  static constexpr MethodAbout about{.family = "density",
                                     .task = Task::classification,
                                     .summary = "Bayes' rule over any density of the catalog, one for each class",
                                     .objective = "class = argmax over k of prior_k f_k(x), f_k of the rows of class k",
                                     .example =
                                         "lemma fit density_classifier iris 'species ~ .' --base gmm "
                                         "--base.components 1",
                                     .keeps_rows = true,
                                     .takes_weights = true,
                                     .random = true};
  static constexpr auto params() {
    return Listing{
        param("base", &DensityClassifier::base,
              "the density of a class: kde, gaussian, gmm, histogram … (default: kde)"),
        param("prior", &DensityClassifier::prior,
              "probabilities of the classes before x is seen: their proportions, uniform, or a number for each",
              within(0, 1))};
  }
  /// The density inside, with all its parameters.
  AnySpec inside() const;
  Needs needs(Needs usual) const;
  void check() const;
};
static_assert(Described<DensityClassifier>);

struct DensityClassifierModel : Evidence {
  DensityClassifier spec;
  std::vector<AnyModel> densities;
  Vector prior, counts;

  static constexpr auto fields() {
    using M = DensityClassifierModel;
    return Listing{state("densities", &M::densities, "one for each class"),
                   result("prior", &M::prior, "prior probability of each class", kByClass),
                   result("counts", &M::counts, "weight of the rows of each class", kByClass)};
  }
  Index width() const { return densities.empty() ? 0 : densities.front()->width(); }
  Index class_count() const { return prior.size(); }
  void check() const;
  Matrix decision(const MatrixView& x) const;  // log π_k f_k(x)
  Matrix probabilities(const MatrixView& x) const;
  Labels predict(const MatrixView& x) const;
  Vector log_density(const MatrixView& x) const;
  /// A class by the priors, then x from its density.
  DrawnRows draw(Index count, std::uint64_t seed) const;
  std::string summary(const Names& names) const;
};

DensityClassifierModel fit(const Valid<DensityClassifier>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const DensityClassifierModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<DensityClassifier>();

}  // namespace lemma
