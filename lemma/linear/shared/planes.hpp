// lemma/linear/shared/planes.hpp: what any set of planes f(x) = x·w + b says of rows: one between two classes, one for each of
// more. Inner header.
#pragma once
#include <lemma/model/concepts.hpp>

namespace lemma::planes {

/// f of each plane for each row; Error where the width is another.
Matrix decision(std::string_view method, const AffineMap& planes, const MatrixView& x);
/// Error unless every coefficient is a number. It names the column whose unit is the most extreme, by the columns' `spread`.
void require_numbers(std::string_view method, bool all_are, const std::vector<std::string>& features,
                     const Vector& spread);
/// margin = t f and slack = max(0, 1 − margin) of the rows' own classes; of more than two classes for each plane.
std::vector<NamedColumn> diagnose(const Matrix& f, std::span<const int> label);
/// The class on the positive side of plane k.
std::string name(const Names& names, Index k, Index planes);
/// Coefficients side by side.
std::string table(const AffineMap& planes, bool intercept, const Names& names, int digits = 5);

}  // namespace lemma::planes
