// lemma/mixture/gaussian/mcd.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/mixture/gaussian/mcd.hpp>
#include <lemma/mixture/shared/spread.hpp>
#include <numeric>

namespace lemma::mcd {
namespace {

constexpr Index kTrialRows = 2000;  // beyond so many, starts are tried on so many of them, evenly taken
constexpr int kFirstSteps = 2;      // of each start, before the best go on
constexpr std::size_t kBest = 10;
constexpr int kMostSteps = 200;
constexpr double kWithin = 0.975;

/// One step: the h rows nearest to the set. Nothing where the set lies in a plane.
std::optional<Set> concentrated(const Set& set, const MatrixView& x, Index h) {
  const auto d = distances(set, x);
  if (!d) return {};
  return set_of(x, nearest(*d, h));
}

/// p + 1 rows by chance, and more until they lie in no plane.
std::optional<Set> random_set(const MatrixView& x, RandomStream stream) {
  const auto order = permutation(stream, x.rows());
  for (Index size = std::min(x.cols() + 1, x.rows()); size <= x.rows(); size += std::max<Index>(1, size / 4)) {
    Set out = set_of(x, {order.begin(), order.begin() + size});
    if (std::isfinite(out.log_determinant)) return out;
  }
  return {};
}

Set converged(Set set, const MatrixView& x, Index h) {
  for (int step = 0; step < kMostSteps; ++step) {
    auto next = concentrated(set, x, h);
    if (!next) break;
    const bool done = next->log_determinant >= set.log_determinant - 1e-12 * std::abs(set.log_determinant) - 1e-13;
    set = *std::move(next);
    if (done) break;
  }
  return set;
}

Matrix evenly_taken(const MatrixView& x) {
  Matrix out(kTrialRows, x.cols());
  for (Index i = 0; i < kTrialRows; ++i) out.row(i) = x.row(i * x.rows() / kTrialRows);
  return out;
}

}  // namespace

std::optional<Vector> distances(const Set& set, const MatrixView& x) {
  const auto root = cholesky(set.covariance);
  if (!root) return {};
  Matrix y = x.rowwise() - set.mean.transpose();
  RightTriangle(*root).divide(y);
  Vector out(x.rows());
  for (Index i = 0; i < x.rows(); ++i) out(i) = mixture::square_sum(y.row(i).data(), y.cols());
  return out;
}

std::vector<Index> nearest(const Vector& d, Index h) {
  std::vector<Index> order(at(d.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto closer = [&](Index a, Index b) { return d(a) != d(b) ? d(a) < d(b) : a < b; };
  std::nth_element(order.begin(), order.begin() + (h - 1), order.end(), closer);
  order.resize(at(h));
  std::sort(order.begin(), order.end());
  return order;
}

Set set_of(const MatrixView& x, const std::vector<Index>& which) {
  const auto n = static_cast<double>(which.size());
  Set out{Vector::Zero(x.cols()), Matrix::Zero(x.cols(), x.cols()), -HUGE_VAL};
  const Vector origin = x.row(which.front()).transpose();
  for (const Index i : which) out.mean += x.row(i).transpose() - origin;
  out.mean = origin + out.mean / n;
  Matrix d(static_cast<Index>(which.size()), x.cols());
  for (std::size_t i = 0; i < which.size(); ++i) d.row(static_cast<Index>(i)) = x.row(which[i]) - out.mean.transpose();
  out.covariance = d.transpose() * d / n;
  out.covariance = (0.5 * (out.covariance + out.covariance.transpose())).eval();
  const Vector unit = out.covariance.diagonal().cwiseSqrt();
  if (!(unit.minCoeff() > 0)) return out;
  const auto root = cholesky(unit.cwiseInverse().asDiagonal() * out.covariance * unit.cwiseInverse().asDiagonal());
  if (root && root->diagonal().minCoeff() > 1e-7)
    out.log_determinant = log_determinant(*root) + 2 * unit.array().log().sum();
  return out;
}

Set search(const MatrixView& x, Index h, int restarts, std::uint64_t seed, const Execution& execution) {
  const bool few = x.rows() <= kTrialRows;
  const Matrix sample = few ? Matrix(x) : evenly_taken(x);
  const Index h_sample = few ? h : h * kTrialRows / x.rows();
  std::vector<Set> ends(at(restarts), Set{{}, {}, HUGE_VAL});
  parallel_for(restarts, execution.part(0, 0.8, "sets of rows"), [&](Index r) {
    auto set = random_set(sample, RandomStream(seed, at(r)));
    for (int step = 0; set && std::isfinite(set->log_determinant) && step < kFirstSteps; ++step)
      set = concentrated(*set, sample, h_sample);
    if (set) ends[at(r)] = *std::move(set);
  });
  const std::size_t going = std::min(kBest, ends.size());
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return ends[a].log_determinant < ends[b].log_determinant; });
  std::vector<Set> best(going, Set{{}, {}, HUGE_VAL});
  parallel_for(static_cast<Index>(going), execution.part(0.8, 1, "the best sets"), [&](Index i) {
    const Set& start = ends[order[at(i)]];
    best[at(i)] = std::isfinite(start.log_determinant) ? converged(start, x, h) : start;
  });
  const auto least = std::min_element(best.begin(), best.end(), [](const Set& a, const Set& b) {
    const double digits = std::isfinite(b.log_determinant) ? 1e-12 * std::abs(b.log_determinant) : 0;
    return a.log_determinant < b.log_determinant - digits;
  });
  if (!std::isfinite(least->log_determinant))
    throw Error(fmt::format(
        "gaussian: {} of {} lie in a plane, so that their covariance has no determinant; leave columns out, "
        "or take a larger --support",
        count_of(h, "row"), format_count(x.rows())));
  return *least;
}

double consistency(double share, Index p) {
  if (share >= 1) return 1;
  const auto df = static_cast<double>(p);
  return share / chi_squared_cdf(chi_squared_quantile(share, df), df + 2);
}

Set reweighted(const Set& set, const MatrixView& x, Index h) {
  const Index p = x.cols();
  Set corrected = set;
  corrected.covariance *= consistency(static_cast<double>(h) / static_cast<double>(x.rows()), p);
  const Vector d = *distances(corrected, x);
  const double limit = chi_squared_quantile(kWithin, static_cast<double>(p));
  std::vector<Index> within;
  for (Index i = 0; i < x.rows(); ++i)
    if (d(i) <= limit) within.push_back(i);
  Set out = set_of(x, within);
  out.covariance *= consistency(kWithin, p);
  return out;
}

}  // namespace lemma::mcd
