// app/column_summary.hpp: what describe says of the numbers of a column.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/data/table.hpp>
#include <span>
#include <string>

namespace lemma::app {

/// Of the values that are there; quartiles are R's (type 7). They are selected, not sorted: O(n).
struct NumberSummary {
  Index count = 0;
  double min = 0, q1 = 0, median = 0, mean = 0, q3 = 0, max = 0, sd = 0;
};
NumberSummary summarise(std::span<const double> values, const Execution& execution);

/// How many different values there are; missing ones do not count.
Index count_distinct(std::span<const double> values, const Execution& execution);

/// "numeric", "date", "time", "categorical", "text".
std::string_view type_shown(const Column& column);
/// A statistic of dates to the day, of times to the second.
std::string moment_shown(double days, Quantity quantity);

}  // namespace lemma::app
