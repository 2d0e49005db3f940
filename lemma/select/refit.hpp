// lemma/select/refit.hpp: a linear model as comparison sees it, and the same model with fewer or more of its terms.
#pragma once
#include <lemma/model/train.hpp>
#include <string>
#include <vector>

namespace lemma {

/// What an ols or glm model says about its fit. The deviance of ols is its residual sum of squares; that of a negative binomial
/// model, each of which has a θ of its own, is −2 log L.
struct Fitness {
  double n = 0, deviance = 0, df_residual = 0;
  double dispersion = 1;   // its estimate, or 1 where the family has none to estimate
  bool estimated = false;  // the dispersion: tests are F tests
  double aic = 0;          // as R's extractAIC: for ols n log(RSS / n) + 2 rank; NaN for quasi families
  double null_deviance = 0;
  bool offset = false;
  Index rank = 0;
  /// R's extractAIC with a price of k for each coefficient.
  double criterion(double k) const { return aic + (k - 2) * static_cast<double>(rank); }
  std::string family, link;    // empty for ols
  bool by_likelihood = false;  // the deviance is −2 log L
};
/// Error when it is another method's model, or a fit without a maximum.
Fitness fitness_of(const TrainedModel& model);

/// A term without the order of its factors: "a:b" and "b:a" are one.
std::vector<std::string> variables_of(const Term& term);
/// May this term leave the terms? Not while another contains it: a main effect stays beside its interaction.
bool may_leave(const Term& term, const std::vector<Term>& terms);
/// May it join them? Only when every term of `scope` that it contains is there.
bool may_join(const Term& term, const std::vector<Term>& terms, const std::vector<Term>& scope);

/// A model's formula with its terms written out, fitted again to the same table with some of them. Where rows with missing
/// values are dropped, every fit takes the rows that are complete in all columns of the scope.
class Refit {
 public:
  /// `more`: terms that may join besides the model's own.
  Refit(const TrainedModel& model, const TableStream& data, TrainOptions options, const std::vector<Term>& more = {});
  const std::vector<Term>& terms() const { return full_.terms; }  // the scope: the model's own, then the others
  /// "type ~ glu + bmi"
  std::string text(const std::vector<Term>& terms) const;
  TrainedModel fit(const std::vector<Term>& terms) const;

 private:
  std::shared_ptr<const Method> method_;
  Value params_;
  Formula full_;
  const TableStream& data_;
  TrainOptions options_;
};

}  // namespace lemma
