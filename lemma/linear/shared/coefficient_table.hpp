// lemma/linear/shared/coefficient_table.hpp: coefficients and their tests as R prints them.
#pragma once
#include <lemma/core/matrix.hpp>
#include <string>
#include <vector>

namespace lemma {

struct CoefficientTable {
  std::vector<std::string> names;
  std::vector<double> estimates, std_errors, statistics, p;  // NaN: not determined, printed NA
  std::string statistic = "t value", p_value = "Pr(>|t|)";

  void add(std::string name, double estimate, double std_error, double statistic_value, double p_of_it);
  /// As R's printCoefmat: estimates and errors share their decimals; marks and their legend where something is
  /// significant.
  std::string str(int digits = 4) const;
};

/// Up to so many rows the quantiles of the residuals are found (they have to be sorted).
inline constexpr Index kMostResiduals = 100'000;

struct WeightedValue {
  double value = 0, weight = 1;  // of weight k: k copies
};
/// Least, quartiles (R's type 7) and largest of the values whose weight is not 0.
Vector five_quantiles(std::vector<WeightedValue> values);

/// The five numbers under Min, 1Q, Median, 3Q, Max, as R prints the residuals of a model.
std::string five_numbers(const Vector& quantiles, int digits = 4, int gap = 1);

/// Rounded to so many significant digits, then printed as R prints a number.
std::string format_rounded(double number, int significant = 4);
/// C's %.4g, NA for NaN: what R's formatC gives.
std::string format_general(double number, int significant = 4);

}  // namespace lemma
