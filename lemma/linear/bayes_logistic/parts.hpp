// lemma/linear/bayes_logistic/parts.hpp: what fitting and certifying share. Inner header: use lemma/linear/bayes_logistic.hpp.
#pragma once
#include <lemma/linear/bayes_logistic.hpp>

namespace lemma::bayes_logistic {

/// Centre and scale of the columns, and the rows of each class by weight.
struct Columns {
  Vector mean, scale, counts;
};
Columns columns_of(const BayesLogistic& spec, const Rows& rows, const Execution& execution);

/// Of two classes one plane, with the second as the positive one.
inline Index planes_for(std::size_t classes) { return classes == 2 ? 1 : static_cast<Index>(classes); }
inline bool is_positive(int label, Index plane, Index planes) { return label == (planes == 1 ? 1 : plane); }

/// [1 z] of some rows.
Matrix terms_of(const Columns& columns, bool intercept, const MatrixView& x);

/// Of one plane at w = [intercept, c] in centred and scaled columns: −log likelihood, its gradient and Hessian.
struct Likelihood {
  const Columns* columns;
  Vector w;
  bool intercept;
  Index plane, planes;
  double value = 0;
  Vector gradient;
  Matrix hessian;  // upper triangle until it is finished

  Likelihood(const Columns& c, Vector at, bool with_intercept, Index which, Index of);
  void accumulate(const Block& block);
  void merge(const Likelihood& other);
};
Likelihood likelihood_at(const Likelihood& empty, const Rows& rows, const Execution& execution);

/// Covariance of the posterior and log evidence at the mode w.
struct Posterior {
  Matrix covariance;
  double log_evidence;
};
Posterior posterior_of(const BayesLogistic& spec, const Likelihood& at);

/// Jaakkola and Jordan's Gaussian N(mean, covariance), with log_evidence its lower bound.
struct Bounded {
  Vector mean;
  Posterior posterior;
  long long iterations = 0;
  bool done = false;
};
Bounded bounded_from(const BayesLogistic& spec, const Likelihood& mode, const Posterior& laplace, const Rows& rows,
                     const Execution& execution);
/// How far mean and covariance are from a fixed point, in posterior standard deviations, and the bound there: by plain sums.
struct BoundCheck {
  double away, log_evidence;
};
BoundCheck bound_check(const BayesLogistic& spec, const Columns& columns, const Vector& mean, const Matrix& covariance,
                       Index plane, Index planes, const Rows& rows, const Execution& execution);

/// Fills everything of a plane that follows from its w and the covariance about it.
void fill_plane(BayesLogisticModel& model, Index plane, const Likelihood& at, const Posterior& posterior);
void make_room(BayesLogisticModel& model, Index planes, Index width);

Certificate certificate_of(const BayesLogistic& spec, double value, long long iterations, bool done);

}  // namespace lemma::bayes_logistic
