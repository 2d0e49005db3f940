// lemma/bayes/conjugate/belief.cpp: Beta and Gamma through F and χ², and the shortest intervals.
#include <cmath>
#include <lemma/bayes/conjugate/parts.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/special.hpp>
#include <limits>
#include <numbers>

namespace lemma::conjugate {

double Belief::mean() const {
  switch (kind) {
    case Kind::beta: return a / (a + b);
    case Kind::gamma: return a / b;
    case Kind::inverse_gamma: return a > 1 ? b / (a - 1) : quantile(0.5);  // the median where there is no mean
    case Kind::normal:
    case Kind::student: return a;
  }
  return 0;
}

double Belief::deviation() const {
  switch (kind) {
    case Kind::beta: return std::sqrt(a / (a + b) * (b / (a + b)) / (a + b + 1));
    case Kind::gamma: return std::sqrt(a) / b;
    case Kind::inverse_gamma: return a > 2 ? b / (a - 1) / std::sqrt(a - 2) : -1;
    case Kind::normal: return b;
    case Kind::student: return df > 2 ? b * std::sqrt(df / (df - 2)) : -1;
  }
  return 0;
}

double Belief::cdf(double x) const {
  switch (kind) {
    case Kind::beta: return x <= 0 ? 0 : x >= 1 ? 1 : f_cdf(b * x / (a * (1 - x)), 2 * a, 2 * b);
    case Kind::gamma: return x <= 0 ? 0 : chi_squared_cdf(2 * b * x, 2 * a);
    case Kind::inverse_gamma: return x <= 0 ? 0 : chi_squared_upper(2 * b / x, 2 * a);
    case Kind::normal: return normal_cdf((x - a) / b);
    case Kind::student: return t_cdf((x - a) / b, df);
  }
  return 0;
}

double Belief::quantile(double p) const {
  switch (kind) {
    case Kind::beta: {
      const double f = f_quantile(p, 2 * a, 2 * b);
      return std::isinf(f) ? 1 : a * f / (b + a * f);
    }
    case Kind::gamma: return chi_squared_quantile(p, 2 * a) / (2 * b);
    case Kind::inverse_gamma: return 2 * b / chi_squared_quantile(1 - p, 2 * a);
    case Kind::normal: return a + b * normal_quantile(p);
    case Kind::student: return a + b * t_quantile(p, df);
  }
  return 0;
}

double Belief::log_density(double x) const {
  switch (kind) {
    case Kind::beta: return (a - 1) * std::log(x) + (b - 1) * std::log1p(-x);
    case Kind::gamma: return (a - 1) * std::log(x) - b * x;
    case Kind::inverse_gamma: return -(a + 1) * std::log(x) - b / x;
    case Kind::normal: return -0.5 * (x - a) / b * ((x - a) / b);
    case Kind::student: return -0.5 * (df + 1) * std::log1p((x - a) / b * ((x - a) / b) / df);
  }
  return 0;
}

double Belief::density(double x) const {
  double log = log_density(x);
  switch (kind) {
    case Kind::beta: log += log_gamma(a + b) - log_gamma(a) - log_gamma(b); break;
    case Kind::gamma:
    case Kind::inverse_gamma: log += a * std::log(b) - log_gamma(a); break;
    case Kind::normal: log -= std::log(b) + 0.5 * std::log(2 * std::numbers::pi); break;
    case Kind::student:
      log += log_gamma(0.5 * (df + 1)) - log_gamma(0.5 * df) - 0.5 * std::log(df * std::numbers::pi) - std::log(b);
  }
  return std::exp(log);
}

std::pair<double, double> Belief::highest_density(double level) const {
  const double rest = 1 - level;
  if (kind == Kind::normal || kind == Kind::student) return {quantile(rest / 2), quantile(1 - rest / 2)};
  const bool falls = kind != Kind::inverse_gamma && a <= 1, rises = kind == Kind::beta && b <= 1;
  if (falls && rises) return {quantile(rest / 2), quantile(1 - rest / 2)};
  if (falls) return {0, quantile(level)};
  if (rises) return {quantile(rest), 1};
  // The density at both ends is the same: the difference falls with the probability q below the lower one.
  double low = 0, high = rest;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double q = 0.5 * (low + high);
    if (q == low || q == high) break;
    if (log_density(quantile(q)) < log_density(quantile(q + level))) low = q;
    else high = q;
  }
  const double q = 0.5 * (low + high);
  return {quantile(q), quantile(q + level)};
}

}  // namespace lemma::conjugate
