// lemma/math/simd/triangle.hpp: how long rows are in units of a triangle, many rows side by side.
#pragma once
#include <lemma/core/matrix.hpp>
#include <span>
#include <vector>

namespace lemma::simd {

/// Rows less an origin, the numbers of a column beside each other: lanes are rows, so that a row's arithmetic is the
/// textbook's, in an order that its length alone decides, whatever stands beside it and however wide a vector is.
class RowsAside {
 public:
  RowsAside(const MatrixView& x, std::span<const double> origin);

  /// out[i] = ‖(x_i − origin − centre) R⁻¹‖² with R upper triangular and inverse_j = 1 / r_jj. The quotient has the bits of
  /// RightTriangle::divide (row_products.hpp), and its squares are summed in four chains, column j in chain j mod 4.
  void squares(std::span<const double> centre, const MatrixView& r, std::span<const double> inverse,
               std::span<double> out);

 private:
  std::size_t rows_, columns_, stride_;
  std::vector<double> numbers_;   // [column][row], zeros in the places after the last row
  std::vector<double> quotient_;  // of the rows at hand
};

}  // namespace lemma::simd
