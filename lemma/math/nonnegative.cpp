// lemma/math/nonnegative.cpp
#include <algorithm>
#include <cmath>
#include <lemma/math/factorise.hpp>
#include <lemma/math/nonnegative.hpp>
#include <limits>
#include <vector>

namespace lemma {
namespace {

constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();

/// The minimiser over the coordinates that take part, the others 0; false where they depend on each other.
bool solve_on(const Matrix& q, const VectorView& c, const std::vector<Index>& part, Vector& out) {
  const auto size = static_cast<Index>(part.size());
  Matrix small(size, size), right(size, 1);
  for (Index a = 0; a < size; ++a) {
    for (Index b = 0; b < size; ++b) small(a, b) = q(part[at(a)], part[at(b)]);
    right(a, 0) = c(part[at(a)]);
  }
  const auto r = cholesky(small);
  if (!r) return false;
  const Matrix found = solve_upper(*r, solve_upper_transposed(*r, right));
  out.setZero();
  for (Index a = 0; a < size; ++a) out(part[at(a)]) = found(a, 0);
  return out.allFinite();
}

}  // namespace

Vector nonnegative_least_squares(const Matrix& q, const VectorView& c) {
  const Index k = q.rows();
  Vector w = Vector::Zero(k), next(k);
  std::vector<Index> part;
  std::vector<char> barred(at(k), 0);  // depends on those that take part
  const double size = c.cwiseAbs().maxCoeff();
  for (Index round = 0; round < 3 * k + 10; ++round) {
    Index best = -1;
    double steepest = 0;
    for (Index j = 0; j < k; ++j) {
      if (barred[at(j)] || !(q(j, j) > 0) || std::find(part.begin(), part.end(), j) != part.end()) continue;
      double slope = c(j), sum = std::abs(c(j));
      for (const Index l : part) {
        slope -= q(j, l) * w(l);
        sum += std::abs(q(j, l)) * w(l);
      }
      if (slope > kRounding * std::max(sum, 1e-3 * size) && slope / std::sqrt(q(j, j)) > steepest) {
        steepest = slope / std::sqrt(q(j, j));
        best = j;
      }
    }
    if (best < 0) break;
    part.push_back(best);
    while (!part.empty()) {
      if (!solve_on(q, c, part, next)) {
        barred[at(best)] = 1;
        std::erase(part, best);
        break;
      }
      double step = 1;  // as far as all stay at least 0
      for (const Index j : part)
        if (next(j) <= 0) step = std::min(step, w(j) > 0 ? w(j) / (w(j) - next(j)) : 0.0);
      w += step * (next - w);
      if (step == 1) break;
      std::erase_if(part, [&](Index j) {
        if (next(j) > 0 || w(j) > kRounding * w.maxCoeff()) return false;
        w(j) = 0;
        return true;
      });
      if (std::find(part.begin(), part.end(), best) == part.end())
        barred[at(best)] = 1;  // rounding alone brought it in
    }
  }
  return w;
}

void nonnegative_sweep(const Matrix& q, const double* c, Eigen::Ref<Vector> w) {
  for (Index j = 0; j < q.rows(); ++j)
    if (q(j, j) > 0) w(j) = std::max(0.0, w(j) + (c[j] - q.row(j).dot(w)) / q(j, j));
}

double nonnegative_slack(const Matrix& q, const VectorView& c, const VectorView& w) {
  double sum = 0;
  for (Index j = 0; j < q.rows(); ++j) {
    if (!(q(j, j) > 0)) continue;
    const double moved = std::max(0.0, w(j) + (c(j) - q.row(j).dot(w)) / q(j, j)) - w(j);
    sum += q(j, j) * moved * moved;
  }
  return std::sqrt(sum);
}

}  // namespace lemma
