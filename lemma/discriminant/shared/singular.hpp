// lemma/discriminant/shared/singular.hpp: which columns make a covariance singular.
#pragma once
#include <lemma/core/rows.hpp>

namespace lemma {

/// Share of a column's variance that the columns before it must leave: below it the scatter has no digits to tell.
constexpr double kLeastShare = 1e-10;

/// The names of columns, each in quotes.
std::vector<std::string> quoted(const Rows& rows, const std::vector<Index>& columns);

/// Columns whose spread is no more than the rounding of their values, the sizes of which are those of the means.
std::vector<Index> constant_columns(const Matrix& covariance, const Matrix& means);

/// Columns that are a combination of those before them: Cholesky of the correlations, skipping them.
std::vector<Index> dependent_columns(const Matrix& covariance);

}  // namespace lemma
