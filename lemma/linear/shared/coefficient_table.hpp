// lemma/linear/shared/coefficient_table.hpp: coefficients and their tests as R prints them.
#pragma once
#include <array>
#include <lemma/core/matrix.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lemma {

/// The limits of coefficients in the printed table: none, or estimate ± quantile · standard error.
enum class PrintedInterval { none, wald };
constexpr auto names_of(PrintedInterval) { return std::array<std::string_view, 2>{"none", "wald"}; }

struct CoefficientTable {
  std::vector<std::string> names;
  std::vector<double> estimates, std_errors, statistics, p;  // NaN: not determined, printed NA
  std::vector<double> lower, upper;                          // confidence limits; empty: not shown
  double level = 0.95;                                       // of the limits
  std::string statistic = "t value", p_value = "Pr(>|t|)";

  void add(std::string name, double estimate, double std_error, double statistic_value, double p_of_it);
  void add_limits(double low, double high);  // of the coefficient added last
  /// As R's printCoefmat: estimates and errors share their decimals; marks and their legend where something is
  /// significant. Confidence limits stand last, under R's names for them: 2.5 %, 97.5 %.
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
