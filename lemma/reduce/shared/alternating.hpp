// lemma/reduce/shared/alternating.hpp: a matrix known in some places as a product of two narrow ones, a ridge regression for each row.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/core/sparse.hpp>
#include <span>

namespace lemma {

/// The matrix with its rows as columns.
Csr transposed(const Csr& entries);

/// argmin_a Σ (value − b_column · a)² + λ |a|² over the places that are known of one row; 0 where none is.
Vector ridge_of_row(std::span<const std::int32_t> columns, std::span<const double> values, const MatrixView& b,
                    double lambda);
/// The same for each row of the entries: a row of the result each. With `by_count` the penalty of a row is λ times its entries.
Matrix ridge_of_rows(const Csr& entries, const MatrixView& b, double lambda, bool by_count, const Execution& execution);

/// value − a_row · b_column in the places that are known.
Csr residuals(const Csr& entries, const MatrixView& a, const MatrixView& b, const Execution& execution);

}  // namespace lemma
