// app/column_summary.cpp
#include "column_summary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <lemma/core/rows.hpp>
#include <lemma/data/dates.hpp>
#include <lemma/math/column_moments.hpp>

namespace lemma::app {
namespace {

std::vector<double> present(std::span<const double> values) {
  std::vector<double> out;
  out.reserve(values.size());
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](double v) { return !std::isnan(v); });
  return out;
}

/// Brings the values of these ranks, which rise, to their places among [begin, end).
void select(std::vector<double>& values, std::size_t begin, std::size_t end, std::span<const std::size_t> ranks) {
  if (ranks.empty() || end - begin < 2) return;
  const std::size_t half = ranks.size() / 2, rank = ranks[half];
  const auto at = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(at(begin), at(rank), at(end));
  select(values, begin, rank, ranks.first(half));
  select(values, rank + 1, end, ranks.subspan(half + 1));
}

/// R's quantile of type 7: between the values of the two ranks around p (n − 1).
struct Quantile {
  std::size_t low, high;
  double between;
  Quantile(double p, std::size_t n) {
    const double at = p * static_cast<double>(n - 1);
    low = static_cast<std::size_t>(at);
    high = std::min(low + 1, n - 1);
    between = at - static_cast<double>(low);
  }
  double of(const std::vector<double>& selected) const {
    return selected[low] + between * (selected[high] - selected[low]);
  }
};

/// Sorted in runs, which then merge two by two: on several threads, and a cancel is heard between them.
void sort_in_runs(std::vector<double>& values, const Execution& execution) {
  const auto n = static_cast<Index>(values.size());
  const auto at = [&](Index i) { return values.begin() + std::min(i, n); };
  constexpr Index kRun = Index{1} << 18;
  parallel_for((n + kRun - 1) / kRun, execution, [&](Index i) { std::sort(at(i * kRun), at((i + 1) * kRun)); });
  for (Index run = kRun; run < n; run *= 2)
    parallel_for((n + 2 * run - 1) / (2 * run), execution,
                 [&](Index i) { std::inplace_merge(at(2 * i * run), at((2 * i + 1) * run), at((2 * i + 2) * run)); });
}

/// By a table of their bits, twice as large as they are many.
Index count_by_hash(std::span<const double> values) {
  constexpr std::uint64_t kFree = ~std::uint64_t{0};  // the bits of a NaN
  std::vector<std::uint64_t> slots(std::bit_ceil(2 * values.size() + 1), kFree);
  const std::size_t mask = slots.size() - 1;
  Index distinct = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
    std::size_t place = ((bits ^ bits >> 32) * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (slots[place] != kFree && slots[place] != bits) place = (place + 1) & mask;
    distinct += slots[place] == kFree;
    slots[place] = bits;
  }
  return distinct;
}

}  // namespace

NumberSummary summarise(std::span<const double> values, const Execution& execution) {
  NumberSummary out;
  const auto rows = static_cast<Index>(values.size());
  const Eigen::Map<const Matrix> column(values.data(), rows, 1);
  const auto moments = scan(MemoryRows(column), ColumnMoments(1), execution);
  std::vector<double> there = present(values);
  out.count = static_cast<Index>(there.size());
  if (there.empty()) return out;
  const std::size_t n = there.size();
  const Quantile q1(0.25, n), median(0.5, n), q3(0.75, n);
  std::array<std::size_t, 6> ranks = {q1.low, q1.high, median.low, median.high, q3.low, q3.high};
  const auto last = std::unique(ranks.begin(), ranks.end());
  select(there, 0, n, std::span(ranks.begin(), last));
  out.min = moments.least()(0);
  out.q1 = q1.of(there);
  out.median = median.of(there);
  out.mean = moments.mean()(0);
  out.q3 = q3.of(there);
  out.max = moments.greatest()(0);
  out.sd = moments.deviation()(0);
  return out;
}

Index count_distinct(std::span<const double> values, const Execution& execution) {
  constexpr std::size_t kMostHashed = std::size_t{1}
                                      << 22;  // beyond, the table would take more than its share of memory
  if (values.size() <= kMostHashed) return count_by_hash(values);
  std::vector<double> there = present(values);
  sort_in_runs(there, execution);
  return std::unique(there.begin(), there.end()) - there.begin();
}

std::string_view type_shown(const Column& column) {
  return column.type() == ColumnType::numeric ? name_of(column.numbers().quantity) : name_of(column.type());
}

std::string moment_shown(double days, Quantity quantity) {
  constexpr double kSeconds = 86400;
  return moment_text(quantity == Quantity::date ? std::floor(days) : std::round(days * kSeconds) / kSeconds, quantity);
}

}  // namespace lemma::app
