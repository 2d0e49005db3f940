// lemma/density/anomaly.hpp
#pragma once
#include <lemma/model/any_spec.hpp>

namespace lemma {

/// Rows that are unlike the others: those at which any density f of the catalog is low,
///
///     outlier  where  f(x) ≤ γ.
///
/// γ is such that a row of the same source is called one with a probability of at most `false_alarm`. A density is higher at the rows
/// it was learned from than at others, so γ is taken from rows that it has not seen: they are dealt into folds, each row gets its
/// density from the others' fit, and of the n densities γ is the k-th least, k = ⌊false_alarm (n + 1)⌋ (which a new row is below with
/// probability k / (n + 1) where all rows are alike). The model is the density of all rows, with that γ.
///
/// Folds go by the rows' own values: they depend neither on the order of the rows nor on copies, and equal rows stay together.
///
/// Cost         folds + 1 fits.
/// Certificate  consistent: the density inside has its own, which must hold; `verify` fits the folds again and counts the rows at and
///              below γ. A γ from densities of rows that had been learned from fails it.
struct Anomaly {
  std::optional<AnySpec> base;
  double false_alarm = 0.05;
  int folds = 5;

  static constexpr std::string_view name = "anomaly";
  static constexpr MethodAbout about{.family = "density",
                                     .task = Task::density,
                                     .summary = "outliers: rows where any density of the catalog is low",
                                     .objective = "outlier where f(x) ≤ γ, γ by the false alarms among held-out rows",
                                     .example = "lemma fit anomaly faithful '~ .' --base kde --false_alarm 0.05",
                                     .keeps_rows = true,
                                     .takes_weights = true,
                                     .uses_response = false,
                                     .random = true};
  static constexpr auto params() {
    return Listing{param("base", &Anomaly::base, "the density: kde, gaussian, gmm, histogram … (default: kde)"),
                   param("false_alarm", &Anomaly::false_alarm,
                         "probability with which a row that is like the others is called an outlier", within(0, 1)),
                   param("folds", &Anomaly::folds, "parts of the rows, each judged by the density of the others",
                         between(2, 1000))};
  }
  /// The density inside, with all its parameters.
  AnySpec inside() const;
  Needs needs(Needs usual) const;
  void check() const;
};
static_assert(Described<Anomaly>);

struct AnomalyModel : Evidence {
  Anomaly spec;
  AnyModel base;
  double threshold = 0;  // log γ
  double outliers = 0;   // weight of the rows of the fit that are

  static constexpr auto fields() {
    using M = AnomalyModel;
    return Listing{state("base", &M::base, "the density of all rows"),
                   result("threshold", &M::threshold, "log density at and below which a row is an outlier"),
                   result("outliers", &M::outliers, "how many rows of the fit are")};
  }
  static constexpr auto parts() {
    return Listing{part({"outlier", "1 where the density is at most the threshold, else 0"}, &AnomalyModel::outlier)};
  }
  Index width() const { return base->width(); }
  void check() const;
  Vector log_density(const MatrixView& x) const;
  Vector outlier(const MatrixView& x) const;
  std::string summary(const Names& names) const;
};

AnomalyModel fit(const Valid<Anomaly>& spec, const Rows& rows, const FitOptions& options);
Certificate certify(const AnomalyModel& model, const Rows& rows, const Execution& execution);

extern template const Method& method_of<Anomaly>();

}  // namespace lemma
