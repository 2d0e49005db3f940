// lemma/reduce/shared/telling.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/reduce/shared/telling.hpp>

namespace lemma {

std::vector<std::string> shown_names(const std::vector<std::string>& names, Index count, std::string_view letter) {
  constexpr Index kMost = 30;
  std::vector<std::string> out;
  for (Index j = 0; j < std::min(count, kMost); ++j)
    out.push_back(at(j) < names.size() ? names[at(j)] : fmt::format("{}{}", letter, j + 1));
  return out;
}

std::string entries_table(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                          const Matrix& entries) {
  constexpr Index kMost = 8;
  TextTable table;
  table.words("", rows);
  for (Index k = 0; k < std::min(entries.cols(), kMost); ++k) {
    std::vector<std::string> cells;
    for (Index j = 0; j < std::ssize(rows); ++j) cells.push_back(format_fixed(entries(j, k), 4));
    table.right(columns[at(k)], cells);
  }
  return table.str();
}

std::vector<std::string> numbered(std::string_view prefix, Index count) {
  std::vector<std::string> out;
  for (Index k = 1; k <= count; ++k) out.push_back(fmt::format("{}{}", prefix, k));
  return out;
}

void report_told(const Comparison& same, Certificate& certificate) {
  if (!same.finding()) return;
  same.report(certificate);
  certificate.message = fmt::format(
      "What the model tells is not what the rows give: {}'{}' is off by {:.1e} of its size (allowed {:.0e}).",
      same.finding()->place, same.finding()->field, same.finding()->value, same.finding()->tolerance);
}

Vector inverse_deviations(const Matrix& covariance) {
  return covariance.diagonal().unaryExpr([](double v) { return v > 0 ? 1 / std::sqrt(v) : 0.0; });
}

}  // namespace lemma
