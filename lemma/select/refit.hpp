// lemma/select/refit.hpp: a linear model as comparison sees it, and the same model with fewer or more of its terms.
#pragma once
#include <lemma/model/train.hpp>
#include <string>
#include <vector>

namespace lemma {

/// What an ols or glm model says about its fit. The deviance of ols is its residual sum of squares.
struct Fitness {
  double n = 0, deviance = 0, df_residual = 0;
  double dispersion = 1;   // its estimate, or 1 where the family has none to estimate
  bool estimated = false;  // the dispersion: tests are F tests
  double aic = 0;          // as R's extractAIC: for ols n log(RSS / n) + 2 rank
  double null_deviance = 0;
  bool offset = false;
  Index rank = 0;
  std::string family, link;  // empty for ols
};
/// Error when it is another method's model, or a fit without a maximum.
Fitness fitness_of(const TrainedModel& model);

/// A term without the order of its factors: "a:b" and "b:a" are one.
std::vector<std::string> variables_of(const Term& term);
/// May this term leave the terms? Not while another contains it: a main effect stays beside its interaction.
bool may_leave(const Term& term, const std::vector<Term>& terms);
/// May it join them? Only when every term of `scope` that it contains is there.
bool may_join(const Term& term, const std::vector<Term>& terms, const std::vector<Term>& scope);

/// A model's formula with its terms written out, fitted again to the same table with some of them.
class Refit {
 public:
  Refit(const TrainedModel& model, const TableStream& data, TrainOptions options);
  const std::vector<Term>& terms() const { return full_.terms; }
  /// "type ~ glu + bmi"
  std::string text(const std::vector<Term>& terms) const;
  /// Error when the fit takes other rows than the model: a column it leaves out had missing values.
  TrainedModel fit(const std::vector<Term>& terms) const;

 private:
  std::shared_ptr<const Method> method_;
  Value params_;
  Formula full_;
  const TableStream& data_;
  TrainOptions options_;
  Index rows_;
};

}  // namespace lemma
