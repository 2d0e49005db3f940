// lemma/core/text_numbers.cpp: numbers as R prints them (formatReal in R's src/main/format.c), sizes and times.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/text.hpp>
#include <limits>

namespace lemma {
namespace {

/// How a finite number looks with so many significant digits: |x| ≈ a.bcd × 10^power, trailing zeros dropped.
struct Digits {
  int power = 0;
  int significant = 1;
  bool rounded_up = false;  // to a power of ten, in scientific form only: 9996 with three digits is 1e+04, else 9996
};

Digits digits_of(double number, int digits) {
  if (number == 0) return {};
  const std::string text = fmt::format("{:.{}e}", std::abs(number), digits - 1);
  const std::size_t e = text.find('e');
  Digits out;
  out.power = std::stoi(text.substr(e + 1));
  std::string mantissa = text.substr(0, e);
  std::erase(mantissa, '.');
  out.significant = static_cast<int>(mantissa.find_last_not_of('0')) + 1;
  const double fixed_rounding = 0.5 / std::pow(10.0, std::max(digits - out.power, 0));
  out.rounded_up = out.power > 0 && out.power <= 22 && std::abs(number) < std::pow(10.0, out.power) - fixed_rounding;
  return out;
}

struct Format {
  bool scientific = false;
  int decimals = 0;
};

/// R's rule: fixed unless that is wider than scientific.
Format common_format(const std::vector<double>& numbers, int digits) {
  int decimals = 0, fixed_left = 1, significant = 1, most_power = -400, least_power = 400;
  bool negative = false, any = false;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    const Digits d = digits_of(number, digits);
    const bool minus = std::signbit(number) && number != 0;
    const int left = d.power + 1 - d.rounded_up;
    any = true;
    negative = negative || minus;
    decimals = std::max(decimals, d.significant - d.power - 1);
    fixed_left = std::max(fixed_left, minus + std::max(left, 1));
    significant = std::max(significant, d.significant);
    most_power = std::max(most_power, d.power);
    least_power = std::min(least_power, d.power);
  }
  if (!any) return {};
  const int exponent_width = most_power >= 100 || least_power <= -100 ? 5 : 4;  // e+05, e-123
  const int scientific_width = negative + significant + (significant > 1) + exponent_width;
  const int fixed_width = fixed_left + decimals + (decimals > 0);
  return fixed_width <= scientific_width ? Format{false, decimals} : Format{true, significant - 1};
}

std::string written(double number, const Format& format) {
  if (std::isnan(number)) return "NA";
  if (std::isinf(number)) return number > 0 ? "Inf" : "-Inf";
  if (number == 0) number = 0;  // no minus
  return format.scientific ? fmt::format("{:.{}e}", number, format.decimals)
                           : fmt::format("{:.{}f}", number, format.decimals);
}

void bring_to_one_width(std::vector<std::string>& cells) {
  int width = 0;
  for (const auto& cell : cells) width = std::max(width, display_width(cell));
  for (auto& cell : cells) cell = pad_left(cell, width);
}

std::vector<std::string> written_alike(const std::vector<double>& numbers, int digits) {
  const Format format = common_format(numbers, std::clamp(digits, 1, 17));
  std::vector<std::string> out;
  out.reserve(numbers.size());
  for (const double number : numbers) out.push_back(written(number, format));
  bring_to_one_width(out);
  return out;
}

}  // namespace

std::string format_significant(double number, int digits) { return written_alike({number}, digits)[0]; }

std::vector<std::string> format_column(const std::vector<double>& numbers, int digits) {
  return written_alike(numbers, digits);
}

std::string format_fixed(double number, int decimals) {
  std::string out = written(number, {false, std::max(decimals, 0)});
  if (out.starts_with('-') && out.find_first_of("123456789I") == std::string::npos) out.erase(0, 1);
  return out;
}

std::vector<std::string> format_p_column(const std::vector<double>& p, int digits) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  // Those that read well with a point and those below are formatted apart, and those near zero only bounded.
  std::vector<double> large, small;
  const double least_large = digits > 1 ? 1e-4 : 1e-3;
  const auto is_large = [&](double value) { return value >= least_large; };
  for (const double value : p)
    if (value >= epsilon) (is_large(value) ? large : small).push_back(value);
  const auto large_text = written_alike(large, digits), small_text = written_alike(small, digits);
  std::size_t width = 0;
  if (!large.empty()) width = std::max(width, large_text[0].size());
  if (!small.empty()) width = std::max(width, small_text[0].size());

  int bound_digits = std::max(1, digits - 2);
  bool close = bound_digits == 1;  // "<2e-16" rather than "< 2e-16"
  if (width > 0) {
    const int wide = static_cast<int>(width);
    if (bound_digits > 1 && bound_digits + 6 > wide) bound_digits = std::max(1, wide - 7);
    close = bound_digits == 1 && wide <= 6;
  }
  const std::string bound = (close ? "<" : "< ") + format_significant(epsilon, bound_digits);

  std::vector<std::string> out;
  std::size_t next_large = 0, next_small = 0;
  for (const double value : p) {
    if (std::isnan(value)) out.push_back("NA");
    else if (value < epsilon) out.push_back(bound);
    else out.push_back(is_large(value) ? large_text[next_large++] : small_text[next_small++]);
  }
  bring_to_one_width(out);
  return out;
}

std::string format_p(double p, int digits) { return format_p_column({p}, digits)[0]; }

std::string_view significance_mark(double p) {
  return p <= 0.001 ? "***" : p <= 0.01 ? "**" : p <= 0.05 ? "*" : p <= 0.1 ? "." : "";
}

std::string format_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string format_bytes(double bytes) {
  constexpr std::string_view units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(units) && bytes >= (unit == 0 ? 1000 : 999.5)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit > 0 && bytes < 9.95 ? 1 : 0, units[unit]);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "NA";
  if (seconds < 0.0995) return fmt::format("{:.{}f} ms", seconds * 1000, seconds < 0.00995 ? 1 : 0);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::min(std::llround(std::min(seconds, 1e15)), 1000000000000000LL));
  const auto two = [](std::int64_t large, std::string_view unit, std::int64_t small, std::string_view part) {
    return small == 0 ? fmt::format("{} {}", large, unit) : fmt::format("{} {} {} {}", large, unit, small, part);
  };
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return two(whole / 60, "min", whole % 60, "s");
  if (whole < 86400) return two(whole / 3600, "h", whole % 3600 / 60, "min");
  return two(whole / 86400, "d", whole % 86400 / 3600, "h");
}

}  // namespace lemma
