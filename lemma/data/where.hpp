// lemma/data/where.hpp: the rows of a table that meet a condition.
#pragma once
#include <lemma/core/matrix.hpp>
#include <lemma/data/table.hpp>
#include <string_view>
#include <vector>

namespace lemma {

/// The rows for which the condition is true, in their order. Where a value is missing and it cannot be told,
/// the row is left out, as in R's subset(). Knows == != < <= > >= & | !, %in% c(…), is.na(), parentheses, arithmetic and
/// the functions of formulas that look at one row (log, pmin, …):
///
///     age > 30 & sex == "M" & !is.na(bmi)
///     species %in% c("setosa", "virginica") | log(area) < 2
///
/// Texts are compared by their bytes. An error shows the condition with a caret under the place.
std::vector<Index> where(std::string_view condition, const Table& table);

}  // namespace lemma
