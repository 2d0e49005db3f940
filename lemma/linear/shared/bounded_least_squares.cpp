// lemma/linear/shared/bounded_least_squares.cpp
#include <algorithm>
#include <cmath>
#include <lemma/linear/shared/bounded_least_squares.hpp>
#include <lemma/math/factorise.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr int kMostRounds = 1000;
constexpr double kZero = 1e-15;  // of what is left, in units of g

/// The free entries with the step that would be best for them.
struct Stride {
  std::vector<Index> free;
  Vector d;
  double share = 1;  // of the step up to the first bound

  double room(std::size_t f, const Vector& x, const Vector& low, const Vector& high) const {
    const double each = d(static_cast<Index>(f));
    if (each == 0) return INFINITY;
    return std::max(0.0, ((each > 0 ? high : low)(free[f]) - x(free[f])) / each);
  }
};

/// Goes to the first bound that is met, and gives the entries that are still free.
std::vector<Index> go(const Stride& step, Vector& x, const Vector& low, const Vector& high) {
  std::vector<Index> still;
  for (std::size_t f = 0; f < step.free.size(); ++f) {
    const Index i = step.free[f];
    const double d = step.d(static_cast<Index>(f));
    if (step.share < 1 && step.room(f, x, low, high) <= step.share * (1 + 1e-12)) {
      x(i) = d > 0 ? high(i) : low(i);
    } else {
      x(i) += step.share * d;
      still.push_back(i);
    }
  }
  return still;
}

/// The entry at a bound that would gain most by leaving it; −1 when none would.
Index best_to_free(const Vector& x, const Vector& gradient, const Vector& low, const Vector& high, Index not_this,
                   double least) {
  Index best = -1;
  for (Index i = 0; i < x.size(); ++i) {
    const double inward = x(i) <= low(i) ? -gradient(i) : x(i) >= high(i) ? gradient(i) : 0;
    if (inward > least && i != not_this && high(i) > low(i)) {
      least = inward;
      best = i;
    }
  }
  return best;
}

}  // namespace

Vector bounded_least_squares(const Matrix& a, const Vector& g, const Vector& low, const Vector& high) {
  Vector x = 0.5 * (low + high);
  std::vector<Index> free(static_cast<std::size_t>(a.cols()));
  std::iota(free.begin(), free.end(), Index{0});
  const double size = std::max(g.cwiseAbs().maxCoeff(), a.cwiseAbs().maxCoeff());
  Index freed = -1, refused = -1;
  for (int round = 0; round < kMostRounds; ++round) {
    if (!free.empty()) {
      Stride step{free, least_squares(a(Eigen::all, free), -(g + a * x)).w};
      for (std::size_t f = 0; f < free.size(); ++f) step.share = std::min(step.share, step.room(f, x, low, high));
      const std::size_t before = free.size();
      free = go(step, x, low, high);
      if (step.share == 0 && freed >= 0 && std::find(free.begin(), free.end(), freed) == free.end()) refused = freed;
      freed = -1;
      if (free.size() < before) continue;
    }
    const Vector left = g + a * x;
    if (left.cwiseAbs().maxCoeff() <= kZero * size) break;
    freed = best_to_free(x, a.transpose() * left, low, high, refused, 1e-14 * size * left.norm());
    if (freed < 0) break;
    refused = -1;
    free.push_back(freed);
  }
  return x.cwiseMax(low).cwiseMin(high);
}

}  // namespace lemma
