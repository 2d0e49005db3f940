// lemma/bayes/mcmc/diagnostics.cpp
#include <algorithm>
#include <cmath>
#include <lemma/bayes/mcmc/diagnostics.hpp>
#include <lemma/core/random.hpp>
#include <numeric>
#include <vector>

namespace lemma::mcmc {
namespace {

/// The first and the second half of each chain are chains of their own; of an odd number the one in the middle is left out.
Matrix halves_of(const Matrix& chains) {
  const Index half = chains.cols() / 2;
  Matrix out(2 * chains.rows(), half);
  out << chains.leftCols(half), chains.rightCols(half);
  return out;
}

/// Φ⁻¹((rank − 3/8) / (S + 1/4)) over all chains; equal values share their mean rank.
Matrix normal_scores(const Matrix& chains) {
  const Index size = chains.size();
  const double* values = chains.data();
  std::vector<Index> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
  Matrix out(chains.rows(), chains.cols());
  for (std::size_t from = 0, to; from < order.size(); from = to) {
    for (to = from + 1; to < order.size() && values[order[to]] == values[order[from]];) ++to;
    const double rank = 0.5 * static_cast<double>(from + 1 + to);
    for (std::size_t i = from; i < to; ++i)
      out.data()[order[i]] = normal_quantile((rank - 0.375) / (static_cast<double>(size) + 0.25));
  }
  return out;
}

struct Variances {
  double within, both;  // W, and var⁺ = W (n − 1)/n + variance of the chains' means
};
Variances variances_of(const Matrix& chains) {
  const auto n = static_cast<double>(chains.cols()), m = static_cast<double>(chains.rows());
  const Vector means = chains.rowwise().mean();
  const double within = (chains.colwise() - means).squaredNorm() / (m * (n - 1));
  const double between = m > 1 ? (means.array() - means.mean()).matrix().squaredNorm() / (m - 1) : 0;
  return {within, within * (n - 1) / n + between};
}

}  // namespace

double split_r_hat(const Matrix& chains) {
  const Variances v = variances_of(halves_of(chains));
  return v.both == 0 ? 1 : std::sqrt(v.both / v.within);
}

double rank_r_hat(const Matrix& chains) {
  const double median = quantile_of(chains.reshaped(), 0.5);
  const Matrix folded = (chains.array() - median).abs();
  return std::max(split_r_hat(normal_scores(chains)), split_r_hat(normal_scores(folded)));
}

double effective_size(const Matrix& chains) {
  const Matrix halves = halves_of(chains);
  const Matrix off = halves.colwise() - Vector(halves.rowwise().mean());
  const Index n = halves.cols(), m = halves.rows();
  const Variances v = variances_of(halves);
  const auto size = static_cast<double>(n * m);
  if (v.both == 0) return size;
  const auto correlation = [&](Index lag) {
    const double together = off.leftCols(n - lag).cwiseProduct(off.rightCols(n - lag)).sum() / size;
    return 1 - (v.within - together) / v.both;
  };
  double sum = 0, before = INFINITY;  // of ρ₂ₖ + ρ₂ₖ₊₁: positive, and falling
  for (Index lag = 0; lag + 1 < n; lag += 2) {
    const double pair = std::min(before, (lag == 0 ? 1.0 : correlation(lag)) + correlation(lag + 1));
    if (!(pair > 0)) break;
    sum += pair;
    before = pair;
  }
  const double tau = std::max(2 * sum - 1, 1 / std::log10(size));
  return size / tau;
}

double quantile_of(Vector values, double p) {
  const double at = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<Index>(std::floor(at));
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values(below), share = at - static_cast<double>(below);
  if (share == 0) return low;
  return low + share * (*std::min_element(values.begin() + below + 1, values.end()) - low);
}

double deviation_of(const Matrix& chains) {
  return std::sqrt((chains.array() - chains.mean()).matrix().squaredNorm() / static_cast<double>(chains.size() - 1));
}

double mean_error(const Matrix& chains) { return deviation_of(chains) / std::sqrt(effective_size(chains)); }

/// d sd = d sd² / (2 sd), in units of sd: no unit of a column is too small to be squared twice.
double deviation_error(const Matrix& chains) {
  const double deviation = deviation_of(chains);
  return 0.5 * deviation * mean_error(((chains.array() - chains.mean()) / deviation).square());
}

double share_error(const Matrix& chains, double end) { return mean_error((chains.array() <= end).cast<double>()); }

Known known_of(const Matrix& chains, double level) {
  const Vector all = chains.reshaped();
  Known out{};
  out.mean = all.mean();
  out.deviation = deviation_of(chains);
  out.lower = quantile_of(all, 0.5 - 0.5 * level);
  out.upper = quantile_of(all, 0.5 + 0.5 * level);
  out.effective = effective_size(chains);
  out.error = out.deviation / std::sqrt(out.effective);
  out.r_hat = rank_r_hat(chains);
  return out;
}

}  // namespace lemma::mcmc
