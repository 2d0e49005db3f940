// lemma/math/special.cpp
#include <algorithm>
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

/// The row becomes its softmax; returns log Σ exp.
double normalise(double* row, Index n) {
  const ShiftedSum s = exponentiate(row, n);
  if (s.sum > 0)
    for (Index j = 0; j < n; ++j) row[j] /= s.sum;
  return s.log();
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
  const Index n = m.cols();
  if (n == 0 || m.outerStride() != n) {
    for (Index i = 0; i < m.rows(); ++i) out(i) = normalise(m.row(i).data(), n);
    return out;
  }
  // Rows that touch are exponentiated at once: a call for each of few columns costs more than its numbers do.
  for (Index first = 0, i = 0; first < m.rows(); first = i) {
    for (i = first; i < m.rows(); ++i) {
      Eigen::Map<Eigen::ArrayXd> v(m.row(i).data(), n);
      out(i) = v.maxCoeff<Eigen::PropagateNaN>();
      if (!std::isfinite(out(i))) break;  // it stays as it is
      v -= out(i);
    }
    const std::span<double> numbers(m.row(first).data(), static_cast<std::size_t>((i - first) * n));
    simd::exp(numbers, numbers);
    for (Index r = first; r < i; ++r) {
      double* row = m.row(r).data();
      double sum = 0;
      for (Index j = 0; j < n; ++j) sum += row[j];
      for (Index j = 0; j < n; ++j) row[j] /= sum;
      out(r) += std::log(sum);
    }
    i = std::min(i + 1, m.rows());
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
