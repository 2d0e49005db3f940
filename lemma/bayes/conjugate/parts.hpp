// lemma/bayes/conjugate/parts.hpp: distributions of parameters, and what follows from counts and sums. Inner header.
#pragma once
#include <lemma/bayes/conjugate.hpp>

namespace lemma::conjugate {

/// What is known of a parameter: one of the distributions that posteriors have.
struct Belief {
  enum class Kind { beta, gamma, inverse_gamma, normal, student } kind;
  double a, b, df = 0;  // Beta(a, b); Gamma(a, rate b); of its inverse the same; normal and t: a + b z

  double mean() const;
  /// −1 where it is infinite.
  double deviation() const;
  double cdf(double x) const;
  double quantile(double p) const;
  double log_density(double x) const;  // up to a constant
  double density(double x) const;
  /// The shortest interval of that probability; of a density that is greatest at both ends the central one.
  std::pair<double, double> highest_density(double level) const;
};

/// The numbers of the prior, completed: of Dirichlet one for each level.
std::vector<double> prior_of(const Conjugate& spec, Index levels);

/// The same with the other prior in the place of the prior.
Conjugate held_against(const Conjugate& spec);

/// Σw, mean and Σ w (x − mean)² (of counts Σ w log x!) of each column, and the weight of each level.
struct Sums {
  Labels levels;
  bool counts;
  double rows = 0;
  Vector mean, squares, level_weights;

  Sums(Labels level_counts, ConjugateFamily family);
  void accumulate(const Block& block);
  void merge(const Sums& other);
};
Sums sums_of(const ConjugateModel& model);
void take(ConjugateModel& model, const Sums& sums);

/// Where each column's rows in `posterior` begin.
std::vector<Index> starts(const Conjugate& spec, const Labels& levels);
/// The parameters that a column has: one, one for each level, or mean and variance.
std::vector<Belief> beliefs(const Conjugate& spec, const Matrix& posterior, Index start, Index levels);
/// Posterior, quantities and evidence, from what the model knows of its rows.
void finish(ConjugateModel& model);

/// Plain sums about the model's means.
struct Look {
  const ConjugateModel* model;
  double rows = 0;
  Vector shift, squares, level_weights;

  explicit Look(const ConjugateModel& of);
  void accumulate(const Block& block);
  void merge(const Look& other);
  /// Rows of which nothing but their sums is kept.
  void add(const Sums& past);
};
Certificate certificate_of(const ConjugateModel& model, const Look& look);

}  // namespace lemma::conjugate
