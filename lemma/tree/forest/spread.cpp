// lemma/tree/forest/spread.cpp: how sure a forest is of its mean, from what trees say whose bags lack a row.
#include <cmath>
#include <lemma/math/row_products.hpp>
#include <lemma/tree/forest/memory.hpp>
#include <lemma/tree/forest/rows.hpp>

namespace lemma::forest {
namespace {

constexpr Index kRowsTogether = 512;

const Copies& copies_of(const Grove& grove, const Plan& plan) {
  MemoryCell& cell = *grove.memory;
  std::call_once(cell.copies_once, [&] {
    const Index n = grove.rows_by_place();
    const Bags bags(plan, n, {grove.weight.begin(), grove.weight.end()}, grove.seed_bits());
    std::vector<double> copies;
    for (Index b = 0; b < plan.trees; ++b) {
      bags.draw(b, copies);
      for (const double each : copies) cell.copies.push_back(static_cast<std::uint16_t>(each));
    }
  });
  return cell.copies;
}

}  // namespace

/// With t_b what tree b says of x and N_bi the copies of row i in its bag,
///     infinitesimal jackknife   Σᵢ Cov_b(N_bi, t_b)²                      − n v / B
///     jackknife                 (n − 1)/n Σᵢ (mean of t_b over N_bi = 0, less the mean)²   − (e − 1) n v / B
/// where v is the variance of the t_b: what so few trees add to either by chance. Both estimate the same; one errs upwards where the
/// other errs downwards. Where chance left less than nothing, or less than v / B, of their mean, v / B is taken.
Matrix standard_errors(const Grove& grove, const Plan& plan, const MatrixView& x) {
  const Copies& copies = copies_of(grove, plan);
  const Index n = grove.rows_by_place(), trees = plan.trees;
  const double b = static_cast<double>(trees), rows = static_cast<double>(n);
  Matrix said = grove.said_by_trees(x);
  for (Index i = 0; i < said.rows(); ++i) {  // a row by itself: sums in the order of the trees
    double sum = 0;
    for (Index t = 0; t < trees; ++t) sum += said(i, t);
    for (Index t = 0; t < trees; ++t) said(i, t) -= sum / b;
  }
  Vector infinitesimal = Vector::Zero(x.rows()), jackknife = Vector::Zero(x.rows());
  for (Index first = 0; first < n; first += kRowsTogether) {
    const Index count = std::min(kRowsTogether, n - first);
    Matrix times(trees, count), without(trees, count);
    for (Index t = 0; t < trees; ++t)
      for (Index i = 0; i < count; ++i) {
        times(t, i) = copies[at(t * n + first + i)];
        without(t, i) = times(t, i) == 0 ? 1 : 0;
      }
    for (Index i = 0; i < count; ++i) {
      const double outside = without.col(i).sum();
      times.col(i) /= b;
      if (outside > 0) without.col(i) /= outside;
    }
    const Matrix covariance = row_products(said, times), moved = row_products(said, without);
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < count; ++j) {
        infinitesimal(i) += covariance(i, j) * covariance(i, j);
        jackknife(i) += moved(i, j) * moved(i, j);
      }
  }
  Matrix out(x.rows(), 3);
  for (Index i = 0; i < x.rows(); ++i) {
    double variance = 0;
    for (Index t = 0; t < trees; ++t) variance += said(i, t) * said(i, t) / b;
    const double first = infinitesimal(i) - rows * variance / b,
                 second = (rows - 1) / rows * jackknife(i) - (std::exp(1.0) - 1) * rows * variance / b;
    out(i, 0) = std::sqrt(std::max(first, 0.0));
    out(i, 1) = std::sqrt(std::max(second, 0.0));
    out(i, 2) = std::sqrt(std::max((first + second) / 2, variance / b));
  }
  return out;
}

}  // namespace lemma::forest
