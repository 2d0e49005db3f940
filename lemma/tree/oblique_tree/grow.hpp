// lemma/tree/oblique_tree/grow.hpp: what the fit and the certificate of an oblique tree share: which thresholds there are.
#pragma once
#include <algorithm>
#include <lemma/tree/oblique_tree.hpp>
#include <utility>
#include <vector>

namespace lemma::oblique {

/// Values of a·x that differ by less than this share of their spread differ by rounding: no threshold lies between them. Of a
/// single column all values are exact.
inline constexpr double kApart = 1e-9;
inline constexpr double kTie = 1e-9;  // by which a gain must be greater to be better

/// A row of the node and its a·x, the least first.
using Projected = std::vector<std::pair<double, Index>>;
inline bool is_cut(const Projected& all, std::size_t i, bool single) {
  const double spread = all.back().first - all.front().first;
  return all[i + 1].first - all[i].first > (single ? 0 : kApart * spread);
}
inline double threshold_between(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

/// Σ a_j x_j over the columns that take part.
inline double product(const double* a, const double* x, Index width) {
  double sum = 0;
  for (Index j = 0; j < width; ++j)
    if (a[j] != 0) sum += a[j] * x[j];
  return sum;
}
inline bool is_single(const double* a, Index width) {
  return std::count_if(a, a + width, [](double each) { return each != 0; }) == 1;
}

void grow(ObliqueTreeModel& model, const MatrixView& x, const Block& outcome, Index classes, std::uint64_t seed,
          const Execution& execution);

}  // namespace lemma::oblique
