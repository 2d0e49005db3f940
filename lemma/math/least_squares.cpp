// lemma/math/least_squares.cpp: from rows to a triangle.
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/block_triangle.hpp>
#include <lemma/math/least_squares.hpp>
#include <lemma/math/simd.hpp>

namespace lemma {
namespace {

/// What the rows of a block are measured from: a value near the mean, exact for a constant column. Of rows of unlike weight
/// the heavy ones say where that is: a row that hardly counts may lie so far out that no digit of the others is left there.
Vector origin_of(const Block& block, Index features) {
  const Index rows = block.rows(), step = std::max<Index>(1, rows / 64);
  const auto y = [&](Index i) { return block.y[static_cast<std::size_t>(i)] - block.offset_of(i); };
  const auto weight = [&](Index i) { return block.weight_of(i) * block.precision_of(i); };
  Index heaviest = 0;
  for (Index i = step; i < rows; i += step)
    if (weight(i) > weight(heaviest)) heaviest = i;
  Vector first(features + 1), sum = Vector::Zero(features + 1);
  first << block.x.row(heaviest).transpose(), y(heaviest);
  const double most = weight(heaviest);
  if (most == 0) return first;
  double mass = 0;
  for (Index i = 0; i < rows; i += step) {
    const double share = weight(i) / most;
    for (Index j = 0; j < features; ++j) sum(j) += share * (block.x(i, j) - first(j));
    sum(features) += share * (y(i) - first(features));
    mass += share;
  }
  return first + sum / mass;
}

}  // namespace

LeastSquares::LeastSquares(Index features, bool intercept, Route route)
    : features_(features),
      intercept_(intercept),
      route_(route),
      mean_(Vector::Zero(features + 1)),
      mean_rest_(Vector::Zero(features + 1)),
      r_(Eigen::MatrixXd::Zero(1, features + 1)) {}

/// One row of the tile is √w [1 x−o y−o], without the 1 and the origin o when there is no intercept. The triangle of the
/// tile then holds √Σw and √Σw (mean − o) in its first row, and the triangle about the mean below.
void LeastSquares::accumulate(const Block& block) {
  require(block.x.cols() == features_, "least squares: a block has " + std::to_string(block.x.cols()) +
                                           " columns, must have " + std::to_string(features_));
  require(static_cast<Index>(block.y.size()) == block.rows(), "least squares: each row needs a response");
  if (block.rows() == 0) return;
  LeastSquares own(features_, intercept_, route_);
  const Index lead = intercept_ ? 1 : 0, width = features_ + 1 + lead;
  const Vector origin = intercept_ ? origin_of(block, features_) : Vector::Zero(features_ + 1).eval();
  std::vector<std::pair<Index, double>> rows;  // those that count, with √(weight · precision)
  for (Index i = 0; i < block.rows(); ++i) {
    const double weight = block.weight_of(i), precision = block.precision_of(i);
    if (weight * precision == 0) continue;
    rows.emplace_back(i, std::sqrt(weight * precision));
    ++own.rows_;
    own.weight_ += weight;
    own.mass_ += weight * precision;
    if (precision != 1) own.log_precision_ += weight * std::log(precision);
  }
  if (rows.empty()) return;
  const auto features = static_cast<std::size_t>(features_);
  const auto fill = [&](Eigen::Ref<Matrix> tile) {
    Asking asking;
    for (Index k = 0; k < tile.rows(); ++k) {
      asking.before(features);
      const auto [i, root] = rows[static_cast<std::size_t>(k)];
      double* const to = tile.row(k).data();
      if (intercept_) to[0] = root;
      simd::centre({block.x.row(i).data(), features}, {origin.data(), features}, root, {to + lead, features});
      to[width - 1] = root * (block.y[static_cast<std::size_t>(i)] - block.offset_of(i) - origin(features_));
    }
  };
  const Matrix t = block_triangle(own.rows_, width, fill, route_ == Route::by_condition);
  require(t.allFinite(), "least squares: a value among rows " + std::to_string(block.first + 1) + " to " +
                             std::to_string(block.first + block.rows()) + " is not finite, or too large to be squared");
  if (t.rows() > lead) assign_listening(own.r_, t.bottomRightCorner(t.rows() - lead, features_ + 1));
  else own.r_.setZero(1, features_ + 1);
  if (intercept_)
    for (Index j = 0; j <= features_; ++j) {
      const Twofold mean = exact_sum(origin(j), t(0, j + 1) / t(0, 0));
      own.mean_(j) = mean.value;
      own.mean_rest_(j) = mean.rest;
    }
  merge(own);
}

/// With an intercept, the two means' difference is one more row: Σ over both about the common mean is the sum of those
/// about their own means plus (n₁ n₂ / n) (m₁ − m₂)ᵀ(m₁ − m₂).
void LeastSquares::merge(const LeastSquares& other) {
  require(features_ == other.features_ && intercept_ == other.intercept_,
          "least squares: states with different columns cannot be merged");
  if (other.rows_ == 0) return;
  if (rows_ == 0) {  // an empty side must not change a bit of the other
    const Route own_route = route_;
    *this = other;
    route_ = own_route;
    return;
  }
  const Index n = features_ + 1, dense = intercept_ ? 1 : 0;
  const double mass = mass_ + other.mass_, share = other.mass_ / mass;
  // Where all rows together are fewer than columns, the trapezoids stand above each other; else both are triangles.
  const bool wide = r_.rows() + other.r_.rows() + dense < n;
  const Index above = wide ? r_.rows() : 0;
  blas::Columns below = blas::Columns::Zero(above + (wide ? other.r_.rows() : n) + dense, n);
  below.middleRows(dense, above) = r_.topRows(above);
  below.middleRows(dense + above, other.r_.rows()) = other.r_;
  ask();
  if (intercept_) {
    const double root = std::sqrt(mass_ * share);
    for (Index j = 0; j < n; ++j) {
      const Twofold here{mean_(j), mean_rest_(j)}, there{other.mean_(j), other.mean_rest_(j)};
      const Twofold difference = there - here, mean = here + difference * share;
      below(0, j) = root * difference.rounded();
      mean_(j) = mean.value;
      mean_rest_(j) = mean.rest;
    }
  }
  if (wide) {
    blas::householder(below);
    r_ = below.triangularView<Eigen::Upper>();
  } else {
    if (r_.rows() < n) r_.conservativeResizeLike(Eigen::MatrixXd::Zero(n, n));
    blas::stack_triangles(r_, below, dense);
  }
  rows_ += other.rows_;
  weight_ += other.weight_;
  mass_ = mass;
  log_precision_ += other.log_precision_;
}

std::vector<double> LeastSquares::numbers() const {
  std::vector<double> out{static_cast<double>(features_),
                          intercept_ ? 1.0 : 0.0,
                          route_ == Route::householder ? 1.0 : 0.0,
                          static_cast<double>(rows_),
                          weight_,
                          mass_,
                          log_precision_};
  out.insert(out.end(), mean_.begin(), mean_.end());
  out.insert(out.end(), mean_rest_.begin(), mean_rest_.end());
  out.insert(out.end(), r_.data(), r_.data() + r_.size());
  return out;
}

LeastSquares LeastSquares::from_numbers(const std::vector<double>& numbers) {
  require(numbers.size() >= 7 && numbers[0] >= 0 && numbers[0] < 1e6, "least squares: this is no stored state");
  const auto n = static_cast<std::size_t>(numbers[0]) + 1;
  const std::size_t rest = numbers.size() - std::min(numbers.size(), 7 + 2 * n), rows = rest / n;
  require(rest % n == 0 && rows >= 1 && rows <= n, "least squares: a stored state has the wrong number of values");
  LeastSquares out(static_cast<Index>(n) - 1, numbers[1] != 0,
                   numbers[2] != 0 ? Route::householder : Route::by_condition);
  out.rows_ = static_cast<Index>(numbers[3]);
  out.weight_ = numbers[4];
  out.mass_ = numbers[5];
  out.log_precision_ = numbers[6];
  const double* from = numbers.data() + 7;
  std::copy_n(from, n, out.mean_.data());
  std::copy_n(from + n, n, out.mean_rest_.data());
  out.r_.resize(static_cast<Index>(rows), static_cast<Index>(n));
  std::copy_n(from + 2 * n, rows * n, out.r_.data());
  return out;
}

}  // namespace lemma
