// lemma/embed/tsne/certify.cpp: the divergence and its gradient by their definitions, pair by pair.
#include <algorithm>
#include <cmath>
#include <lemma/embed/tsne/parts.hpp>

namespace lemma::tsne {
namespace {

/// p_j|i of one row by its σ, and how far the perplexity is from the one asked for. Where more rows than that are equally near, p must be
/// spread evenly over them.
double spread_over(const Seen& seen, double sigma, double perplexity, std::vector<double>& p) {
  const double least = *std::min_element(seen.distance.begin(), seen.distance.end()) / sigma;
  double sum = 0, entropy = 0, equal = 0;
  p.clear();
  for (const double d : seen.distance) {
    const double r = d / sigma;
    p.push_back(std::exp(-0.5 * (r - least) * (r + least)));
    sum += p.back();
    equal += r == least ? 1 : 0;
  }
  for (double& each : p) {
    each /= sum;
    if (each > 0) entropy -= each * std::log(each);
  }
  return std::abs(entropy - std::log(std::max(perplexity, equal)));
}

}  // namespace

Look look_again(const Compared& data, const TsneModel& model, const Execution& execution) {
  const Tsne& spec = model.spec;
  const Index n = data.count();
  const bool exact = spec.forces == TsneForces::exact;
  Matrix dense = exact ? Matrix::Zero(n, n) : Matrix();
  std::vector<Seen> near(exact ? 0 : at(n));
  std::vector<std::vector<double>> shares(near.size());
  Vector off(n);
  for_each_row_seen(data, *spec.forces, *spec.perplexity, SearchBy::brute_force, execution.part(0, 0.4),
                    [&](Index i, Seen seen) {
                      std::vector<double> p;
                      off(i) = spread_over(seen, model.bandwidths(i), *spec.perplexity, p);
                      if (exact) {
                        for (std::size_t k = 0; k < seen.row.size(); ++k) dense(i, seen.row[k]) = p[k];
                      } else {
                        near[at(i)] = std::move(seen);
                        shares[at(i)] = std::move(p);
                      }
                    });
  if (exact) dense = symmetric(dense, execution.part(0.4, 0.45));
  const Csr sparse = exact ? Csr() : symmetric(near, shares);

  const Matrix& y = model.places;
  Vector row_sum(n), divergence(n), square(n);
  parallel_for(n, execution.part(0.45, 0.7), [&](Index i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j)
      if (j != i) sum += 1 / (1 + (y.row(i) - y.row(j)).squaredNorm());
    row_sum(i) = sum;
  });
  const double z = row_sum.sum();
  parallel_for(n, execution.part(0.7, 1), [&](Index i) {
    Eigen::RowVectorXd slope = Eigen::RowVectorXd::Zero(y.cols());
    std::size_t next = exact ? 0 : at(sparse.start[at(i)]);
    const std::size_t end = exact ? 0 : at(sparse.start[at(i) + 1]);
    double sum = 0;
    for (Index j = 0; j < n; ++j) {
      if (j == i) continue;
      double p = exact ? dense(i, j) : 0;
      if (!exact && next < end && sparse.column[next] == j) p = sparse.value[next++];
      const double w = 1 / (1 + (y.row(i) - y.row(j)).squaredNorm()), q = w / z;
      if (p > 0) sum += p * std::log(p / q);
      slope += 4 * (p - q) * w * (y.row(i) - y.row(j));
    }
    divergence(i) = sum;
    square(i) = slope.squaredNorm();
  });
  Look out;
  out.divergence = divergence.sum();
  out.gradient = std::sqrt(square.sum());
  out.off_perplexity = off.maxCoeff(&out.row);
  return out;
}

}  // namespace lemma::tsne
