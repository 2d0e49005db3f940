// lemma/math/special.cpp
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <lemma/math/simd.hpp>
#include <lemma/math/special.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The row becomes exp(row − max); returns {max, Σ}. A row of −∞ alone stays a sum of nothing.
struct ShiftedSum {
  double largest, sum;
  double log() const { return std::isfinite(largest) ? largest + std::log(sum) : largest; }
};
ShiftedSum exponentiate(double* row, Index n) {
  Eigen::Map<Eigen::ArrayXd> v(row, n);
  const double largest = n > 0 ? v.maxCoeff<Eigen::PropagateNaN>() : -kInfinity;
  if (!std::isfinite(largest)) return {largest, 0};
  v -= largest;
  simd::exp({row, static_cast<std::size_t>(n)}, {row, static_cast<std::size_t>(n)});
  double sum = 0;
  for (const double each : v) sum += each;  // in their order: Eigen's would depend on where in memory the row begins
  return {largest, sum};
}

}  // namespace

double log_sum_exp(const VectorView& v) {
  Vector copy = v;
  return exponentiate(copy.data(), copy.size()).log();
}

Vector log_sum_exp_rows(const MatrixView& m) {
  Vector out(m.rows());
  for (Index i = 0; i < m.rows(); ++i) out(i) = log_sum_exp(m.row(i).transpose());
  return out;
}

Vector softmax_rows(Eigen::Ref<Matrix> m) {
  Vector out(m.rows());
  for (Index i = 0; i < m.rows(); ++i) {
    const ShiftedSum s = exponentiate(m.row(i).data(), m.cols());
    if (s.sum > 0) m.row(i) /= s.sum;
    out(i) = s.log();
  }
  return out;
}

double log1p_exp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

double logistic(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

double log_gamma(double x) { return boost::math::lgamma(x); }
double digamma(double x) { return boost::math::digamma(x); }
double trigamma(double x) { return boost::math::trigamma(x); }

}  // namespace lemma
