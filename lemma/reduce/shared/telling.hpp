// lemma/reduce/shared/telling.hpp: what models of this room tell, in words.
#pragma once
#include <lemma/model/comparison.hpp>
#include <lemma/model/concepts.hpp>
#include <lemma/model/fields.hpp>

namespace lemma {

/// The names of the first columns, at most 30; x1, x2, … where there are none.
std::vector<std::string> shown_names(const std::vector<std::string>& names, Index count, std::string_view letter = "x");
/// Numbers with four decimals, a row for each name, at most 8 columns.
std::string entries_table(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                          const Matrix& entries);
/// "IC1", "IC2", …
std::vector<std::string> numbered(std::string_view prefix, Index count);

/// Makes the certificate one of the first number that is not what the rows give, if there is one.
void report_told(const Comparison& same, Certificate& certificate);

/// 1 / standard deviation of each column of a covariance; 0 where a column does not vary.
Vector inverse_deviations(const Matrix& covariance);

}  // namespace lemma
