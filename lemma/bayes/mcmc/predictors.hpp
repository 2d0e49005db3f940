// lemma/bayes/mcmc/predictors.hpp: what every draw says of a row. Inner header: use lemma/bayes/mcmc.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <lemma/bayes/mcmc.hpp>
#include <lemma/math/row_products.hpp>

namespace lemma::mcmc {

/// η of a few rows for every draw: row by row, the planes of a draw side by side.
class Predictors {
 public:
  explicit Predictors(const McmcModel& model) : model_(model), right_(planes_of(model), RightFactor::As::transposed) {}
  /// body(first, [1 z], η) for a few rows at a time.
  template <class Body>
  void each(const MatrixView& x, const Body& body) const {
    constexpr Index kRowsAtOnce = 64;
    for (Index first = 0; first < x.rows(); first += kRowsAtOnce) {
      const Matrix z = columns_of(x.middleRows(first, std::min(kRowsAtOnce, x.rows() - first)));
      Matrix eta(z.rows(), model_.theta.rows() * model_.planes());
      right_.multiply(z, eta);
      body(first, z, eta);
    }
  }

 private:
  Matrix columns_of(const MatrixView& x) const {
    Matrix z(x.rows(), model_.terms());
    for (Index i = 0; i < x.rows(); ++i) {
      if (model_.lead() == 1) z(i, 0) = 1;
      for (Index j = 0; j < x.cols(); ++j) z(i, model_.lead() + j) = (x(i, j) - model_.mean(j)) / model_.scale(j);
    }
    return z;
  }
  static Matrix planes_of(const McmcModel& m) {
    Matrix out(m.theta.rows() * m.planes(), m.terms());
    for (Index s = 0; s < m.theta.rows(); ++s)
      for (Index k = 0; k < m.planes(); ++k)
        for (Index j = 0; j < m.terms(); ++j) out(s * m.planes() + k, j) = m.theta(s, k * m.terms() + j);
    return out;
  }
  const McmcModel& model_;
  RightFactor right_;
};

/// σ of draw s, where the response has unit size.
inline double sigma_of(const McmcModel& m, Index s) {
  return m.draws_noise() ? std::exp(m.theta(s, m.terms())) : m.spec.noise.value_or(1) / m.unit;
}

}  // namespace lemma::mcmc
