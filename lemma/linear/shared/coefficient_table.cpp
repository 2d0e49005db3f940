// lemma/linear/shared/coefficient_table.cpp: R's printCoefmat and the parts of print.summary.lm that other models share.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/shared/coefficient_table.hpp>

namespace lemma {
namespace {

double round_to(double number, int decimals) {
  return std::isfinite(number) ? std::strtod(fmt::format("{:.{}f}", number, decimals).c_str(), nullptr) : number;
}

std::vector<double> rounded(std::vector<double> numbers, int decimals) {
  for (double& number : numbers) number = round_to(number, decimals);
  return numbers;
}

/// Decimals that show the smallest of the numbers to so many digits.
int decimals_for(const std::vector<double>& numbers, int digits) {
  double least = INFINITY;
  for (const double number : numbers)
    if (std::isfinite(number) && number != 0) least = std::min(least, std::abs(number));
  return std::isfinite(least) ? std::max(1, digits - 1 - static_cast<int>(std::floor(std::log10(least))))
                              : std::max(1, digits - 1);
}

/// One format for estimates and errors; a number that only rounding made zero is written on its own.
std::vector<std::string> format_alike(const std::vector<double>& numbers, int digits) {
  const auto short_numbers = rounded(numbers, decimals_for(numbers, digits));
  auto cells = format_column(short_numbers, digits);
  std::vector<double> lost;
  const auto is_lost = [&](std::size_t i) {
    return numbers[i] != 0 && std::isfinite(numbers[i]) && std::strtod(cells[i].c_str(), nullptr) == 0;
  };
  std::vector<std::size_t> where;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (is_lost(i)) {
      where.push_back(i);
      lost.push_back(numbers[i]);
    }
  const auto own = format_column(lost, std::max(1, digits - 1));
  for (std::size_t i = 0; i < where.size(); ++i) cells[where[i]] = own[i];
  return cells;
}

}  // namespace

void CoefficientTable::add(std::string name, double estimate, double std_error, double statistic_value,
                           double p_of_it) {
  names.push_back(std::move(name));
  estimates.push_back(estimate);
  std_errors.push_back(std_error);
  statistics.push_back(statistic_value);
  p.push_back(p_of_it);
}

void CoefficientTable::add_limits(double low, double high) {
  lower.push_back(low);
  upper.push_back(high);
}

std::string CoefficientTable::str(int digits) const {
  const int test_digits = std::clamp(digits - 1, 1, 5);
  auto both = estimates;
  both.insert(both.end(), std_errors.begin(), std_errors.end());
  const auto cells = format_alike(both, digits);
  const auto middle = cells.begin() + static_cast<std::ptrdiff_t>(estimates.size());
  TextTable table;
  table.words("", names).right("Estimate", {cells.begin(), middle}).right("Std. Error", {middle, cells.end()});
  table.right(statistic, format_column(rounded(statistics, test_digits), digits));
  table.right(p_value, format_p_column(p, test_digits));
  const bool marks = std::any_of(p.begin(), p.end(), [](double each) { return each < 0.1; });
  if (marks) {
    std::vector<std::string> words;
    for (const double each : p) words.emplace_back(significance_mark(each));
    table.words("", words);
  }
  if (!lower.empty()) {
    auto limits = lower;
    limits.insert(limits.end(), upper.begin(), upper.end());
    const auto limit_cells = format_alike(limits, digits);
    const auto half = limit_cells.begin() + static_cast<std::ptrdiff_t>(lower.size());
    const auto share = [](double tail) { return format_significant(100 * tail, 3) + " %"; };
    table.right(share((1 - level) / 2), {limit_cells.begin(), half});
    table.right(share((1 + level) / 2), {half, limit_cells.end()});
  }
  std::string out = table.str({.gap = 1});
  if (marks) out += fmt::format("---\nSignif. codes:  {}\n", kSignificanceLegend);
  return out;
}

Vector five_quantiles(std::vector<WeightedValue> values) {
  std::erase_if(values, [](const auto& each) { return each.weight == 0; });
  if (values.empty()) return {};
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  std::vector<double> up_to;  // copies up to and with each
  up_to.reserve(values.size());
  for (double sum = 0; const auto& each : values) up_to.push_back(sum += each.weight);
  const auto copy = [&](double index) {  // the copies in order, counted from 0
    const auto at = std::upper_bound(up_to.begin(), up_to.end(), index) - up_to.begin();
    return values[std::min(static_cast<std::size_t>(at), values.size() - 1)].value;
  };
  Vector out(5);
  for (int k = 0; k < 5; ++k) {
    const double place = std::max(up_to.back() - 1, 0.0) * k / 4, below = std::floor(place);
    out(k) = copy(below) + (place > below ? (place - below) * (copy(below + 1) - copy(below)) : 0);
  }
  return out;
}

std::string five_numbers(const Vector& quantiles, int digits, int gap) {
  const double largest = quantiles.cwiseAbs().maxCoeff();
  const int decimals =
      largest > 0 ? std::max(0, static_cast<int>(std::floor(digits + 1.5 - std::log10(largest)))) : digits + 1;
  const auto cells = format_column(rounded({quantiles.begin(), quantiles.end()}, decimals), digits);
  TextTable table;
  for (std::size_t i = 0; const char* name : {"Min", "1Q", "Median", "3Q", "Max"}) table.right(name, {cells[i++]});
  return table.str({.gap = gap});
}

std::string format_rounded(double number, int significant) {
  return format_significant(
      std::isfinite(number) ? std::strtod(fmt::format("{:.{}e}", number, significant - 1).c_str(), nullptr) : number);
}

std::string format_general(double number, int significant) {
  return std::isnan(number) ? "NA" : fmt::format("{:.{}g}", number, significant);
}

}  // namespace lemma
