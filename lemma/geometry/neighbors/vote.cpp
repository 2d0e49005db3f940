// lemma/geometry/neighbors/vote.cpp
#include <algorithm>
#include <cmath>
#include <lemma/geometry/neighbors/vote.hpp>
#include <vector>

namespace lemma {
namespace {

double kernel_at(VoteWeights by, double u) {
  if (by == VoteWeights::gaussian) return std::exp(-2 * u * u);
  return std::max(by == VoteWeights::epanechnikov ? 1 - u * u : 1 - u, 0.0);
}

}  // namespace

void weigh(VoteWeights by, std::span<const double> distance, double h, std::span<double> copies) {
  if (by == VoteWeights::uniform || distance.empty()) return;
  std::vector<double> factor(distance.size());
  const bool at_zero = std::find(distance.begin(), distance.end(), 0.0) != distance.end();
  double sum = 0;
  for (std::size_t j = 0; j < factor.size(); ++j) {
    if (by != VoteWeights::distance) factor[j] = h > 0 ? kernel_at(by, distance[j] / h) : 1;
    else if (at_zero) factor[j] = distance[j] == 0 ? 1 : 0;
    else factor[j] = distance[0] / distance[j];
    sum += factor[j] * copies[j];
  }
  if (!(sum > 0)) return;
  for (std::size_t j = 0; j < factor.size(); ++j) copies[j] *= factor[j];
}

Vector vote(std::span<const double> response, std::span<const double> counts, Index classes) {
  Vector out = Vector::Zero(std::max<Index>(classes, 1));
  double sum = 0;
  for (std::size_t j = 0; j < response.size(); ++j) {
    if (classes > 0) out(static_cast<Index>(response[j])) += counts[j];
    else out(0) += counts[j] * response[j];
    sum += counts[j];
  }
  return out / sum;
}

}  // namespace lemma
