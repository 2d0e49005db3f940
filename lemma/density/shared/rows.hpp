// lemma/density/shared/rows.hpp: the rows of a density in memory, and what its widths are made of.
#pragma once
#include <lemma/core/rows.hpp>
#include <string_view>

namespace lemma::density {

/// The logarithm of the smallest number there is: what is told as the logarithm of a density of 0, which has none.
inline constexpr double kLogOfNothing = -744.4400719213812;

/// Rows of a weight above 0.
struct DensityRows {
  Matrix x;
  Vector weight;
  double mass = 0;  // n, the sum of the weights

  Index count() const { return x.rows(); }
  Index width() const { return x.cols(); }
};
/// Error, in the name of the method, where a number is not finite or no row has a weight.
DensityRows density_rows(std::string_view method, const Rows& rows, const Execution& execution);

/// One column as it is sorted: each value once, with the weight of its rows.
struct SortedColumn {
  std::vector<double> value, weight;
  double mass = 0;

  SortedColumn(const DensityRows& rows, Index column);
  /// Linear between the copies of the rows (type 7 of Hyndman and Fan, R's default): a weight of k is k copies.
  double quantile(double p) const;
  double quartile_range() const { return quantile(0.75) - quantile(0.25); }
  double standard_deviation() const;  // divisor n − 1

 private:
  double at_place(double place) const;  // of the copies in their order, from 0
};

/// Error that names the first column in which all rows have the same value, which leaves no density.
void require_spread(std::string_view method, const DensityRows& rows, const std::vector<std::string>& features,
                    std::string_view or_else);

}  // namespace lemma::density
