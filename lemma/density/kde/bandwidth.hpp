// lemma/density/kde/bandwidth.hpp: how wide a bump is. Inner header.
#pragma once
#include <lemma/density/kde/sums.hpp>

namespace lemma::kde {

/// The bandwidth of each column that the spec asks for. Error where it does not fit the columns, or these have no spread.
Vector bandwidth_of(const Kde& spec, const density::DensityRows& rows, const std::vector<std::string>& features,
                    const Execution& execution);
/// The numbers given, one for each column.
Vector given_bandwidth(const std::vector<double>& given, Index width);

/// Scott's, over the deviation of the kernel: the unit of the rules that search.
Vector scott_unit(DensityKernel kernel, const density::DensityRows& rows);

/// Σ w log f₋ᵢ(xᵢ) over some of the rows in the tree's order, brought up to all; −∞ is told as kLogOfNothing.
double left_out_likelihood(const Sums& sums, const Vector& weights, double mass, double c, double log_volume,
                           Index judged, double epsilon, const Execution& execution);
/// Rows that are judged: all of up to `most`, else so many evenly taken in the tree's order.
std::vector<Index> judged_rows(const Sums& sums, Index most);

/// Sheather and Jones: the right side of h = (2 √π n Ŝ(h))^(−1/5) for one column.
class PlugIn {
 public:
  /// Of more different values than `most_values` the pairs are those of bins.
  explicit PlugIn(const density::SortedColumn& column, std::size_t most_values = 1024);
  double right_side(double h) const;
  double solution() const;
  double unit() const { return scale_; }

 private:
  double fourth(double h) const;  // Ŝ with that bandwidth
  double sixth(double h) const;
  double pairs(double h, bool sixth) const;
  std::vector<double> value_, weight_;
  double mass_, scale_, alpha_;
};

}  // namespace lemma::kde
