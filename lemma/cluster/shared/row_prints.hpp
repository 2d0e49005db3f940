// lemma/cluster/shared/row_prints.hpp: rows known again in whatever order they come.
#pragma once
#include <lemma/core/matrix.hpp>
#include <vector>

namespace lemma {

/// Of each row the leading 53 bits of its hash, as a number.
Vector prints_of(const MatrixView& rows);

/// One number of all rows in their order.
double print_of_all(const MatrixView& rows);

/// out[i]: which of these rows was row i of the fit. Equal rows are as good as each other; rows that are not known again
/// (other rows, or the same from another machine) take the places that are left in their order.
std::vector<Index> places_by_prints(const Vector& prints, const MatrixView& rows);

}  // namespace lemma
