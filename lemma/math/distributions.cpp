// lemma/math/distributions.cpp
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <lemma/math/distributions.hpp>
#include <limits>

namespace lemma {
namespace {

namespace bm = boost::math;

/// No exceptions: what has no answer is NaN, what is too large is infinite. double is not promoted to long double:
/// valgrind, other CPUs and this one agree.
using Policy = bm::policies::policy<
    bm::policies::domain_error<bm::policies::ignore_error>, bm::policies::pole_error<bm::policies::ignore_error>,
    bm::policies::overflow_error<bm::policies::ignore_error>, bm::policies::underflow_error<bm::policies::ignore_error>,
    bm::policies::evaluation_error<bm::policies::ignore_error>, bm::policies::promote_double<false>>;
using StudentT = bm::students_t_distribution<double, Policy>;
using FisherF = bm::fisher_f_distribution<double, Policy>;
using ChiSquared = bm::chi_squared_distribution<double, Policy>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool usable(double df) { return df > 0 && !std::isnan(df); }

/// P(X ≤ x) and P(X > x) for a variable on (0, ∞) or the whole line, ends included.
template <class D>
double below(const D& distribution, double x, bool positive) {
  if (std::isnan(x)) return kNaN;
  if (x == kInfinity) return 1;
  if (x == -kInfinity || (positive && x <= 0)) return 0;
  return bm::cdf(distribution, x);
}
template <class D>
double above(const D& distribution, double x, bool positive) {
  if (std::isnan(x)) return kNaN;
  if (x == kInfinity) return 0;
  if (x == -kInfinity || (positive && x <= 0)) return 1;
  return bm::cdf(bm::complement(distribution, x));
}
template <class D>
double at(const D& distribution, double p, bool positive) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0) return positive ? 0 : -kInfinity;
  return p == 1 ? kInfinity : bm::quantile(distribution, p);
}

}  // namespace

/// ½ erfc(z/√2). Far out, half a unit in the last place of z/√2 would cost z² of them in the answer: so the quotient's
/// rest goes in by the derivative.
double normal_upper(double z) {
  constexpr double kHigh = 0.70710678118654757, kLow = -4.8336466567264568e-17;  // 1/√2
  const double h = z * kHigh, rest = std::fma(z, kHigh, -h) + z * kLow;
  if (std::isinf(z)) return z > 0 ? 0 : 1;
  return 0.5 * (std::erfc(h) - 1.1283791670955126 * std::exp(-h * h) * rest);  // 2/√π
}
double normal_cdf(double z) { return normal_upper(-z); }
double normal_log_density(double z) { return -0.5 * z * z - 0.91893853320467274178; }  // ½ log 2π

double t_cdf(double t, double df) { return usable(df) ? below(StudentT(df), t, false) : kNaN; }
double t_upper(double t, double df) { return usable(df) ? above(StudentT(df), t, false) : kNaN; }
double t_two_sided(double t, double df) { return 2 * t_upper(std::abs(t), df); }
double t_quantile(double p, double df) { return usable(df) ? at(StudentT(df), p, false) : kNaN; }
double t_upper_quantile(double p, double df) { return -t_quantile(p, df); }

double f_cdf(double f, double df1, double df2) {
  return usable(df1) && usable(df2) ? below(FisherF(df1, df2), f, true) : kNaN;
}
double f_upper(double f, double df1, double df2) {
  return usable(df1) && usable(df2) ? above(FisherF(df1, df2), f, true) : kNaN;
}
double f_quantile(double p, double df1, double df2) {
  return usable(df1) && usable(df2) ? at(FisherF(df1, df2), p, true) : kNaN;
}

double chi_squared_cdf(double x, double df) { return usable(df) ? below(ChiSquared(df), x, true) : kNaN; }
double chi_squared_upper(double x, double df) { return usable(df) ? above(ChiSquared(df), x, true) : kNaN; }
double chi_squared_quantile(double p, double df) { return usable(df) ? at(ChiSquared(df), p, true) : kNaN; }

}  // namespace lemma
