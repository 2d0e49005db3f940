// lemma/kernel/nadaraya_watson/smoother.cpp
#include <algorithm>
#include <cmath>
#include <lemma/kernel/nadaraya_watson/smoother.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/simd.hpp>
#include <numbers>
#include <numeric>

namespace lemma::nadaraya {
namespace {

constexpr Index kTogether = 32;   // places looked at together without a tree
constexpr Index kSearched = 256;  // and with one
constexpr double kFlat = 1e-12;   // a spread below this share of the squared bandwidth is none
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kFewRows = 2000, kMostColumns = 12, kTrial = 64;
constexpr double kMostNear = 0.1;  // of the rows: with more a tree saves nothing

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Matrix responses(const Vector& response, Index classes, double centre) {
  if (classes == 0) return response.array() - centre;
  Matrix out = Matrix::Zero(response.size(), classes);
  for (Index i = 0; i < response.size(); ++i) out(i, static_cast<Index>(response(i))) = 1;
  return out;
}

}  // namespace

Smoother::Smoother(const Matrix& rows, const Vector& response, const Vector& weights, Index classes,
                   const Vector& bandwidth, int degree, const Execution& execution)
    : points_(rows * bandwidth.cwiseInverse().asDiagonal()),
      weight_(weights),
      log_weight_(weights.array().log()),
      centre_(classes == 0 ? weights.dot(response) / weights.sum() : 0),
      degree_(degree) {
  y_ = responses(response, classes, centre_);
  choose_tree(execution);
}

/// Where some row is within 1 of a place, one at distance d has at most exp(½ − ½ d²) of its weight (times the weights' own ratio):
/// all n together are below 2⁻⁶⁰ beyond this radius.
void Smoother::choose_tree(const Execution& execution) {
  const Index n = points_.rows();
  if (n < kFewRows || points_.cols() > kMostColumns || !points_.allFinite()) return;
  const double ratio = weight_.maxCoeff() / weight_.minCoeff();
  radius_ = std::sqrt(1 + 2 * (60 * std::numbers::ln2 + std::log(static_cast<double>(n) * ratio)));
  auto tree = std::make_unique<Neighbors>(points_, Metric(EuclideanMetric{}),
                                          SearchOptions{.structure = SearchBy::kd_tree}, execution);
  Matrix some(kTrial, points_.cols());
  for (Index i = 0; i < kTrial; ++i) some.row(i) = points_.row(i * n / kTrial);
  const auto found = tree->within(some, radius_, execution);
  if (static_cast<double>(found.row.size()) <= kMostNear * static_cast<double>(kTrial * n)) tree_ = std::move(tree);
}

/// take(place, rows near it). A place that no row but its own is within 1 of is shown all rows.
void Smoother::visit(const Matrix& places, std::span<const Index> own, const Execution& execution,
                     const std::function<void(Index, Near)>& take) const {
  const auto own_of = [&](Index i) { return own.empty() ? Index{-1} : own[at(i)]; };
  const auto all_of = [&](Index first, Index size) {
    Matrix distance(size, count());
    simd::squared_distances(places.middleRows(first, size), points_, distance);
    for (Index i = 0; i < size; ++i) take(first + i, {{}, {distance.row(i).data(), at(count())}});
  };
  const Index size = tree_ ? kSearched : kTogether;
  parallel_for((places.rows() + size - 1) / size, execution, [&](Index tile) {
    const Index first = tile * size, rows = std::min(size, places.rows() - first);
    if (!tree_) return all_of(first, rows);
    Execution here;
    here.threads = 1;
    auto found = tree_->within(places.middleRows(first, rows), radius_, here);
    for (Index i = 0; i < rows; ++i) {
      const auto near = found.rows_of(i);
      const auto from = at(found.start[at(i)]), count_near = near.size();
      const std::size_t nearest = !near.empty() && near[0] == own_of(first + i) ? 1 : 0;
      const std::span<double> distance(found.distance.data() + from, count_near);
      if (nearest >= count_near || distance[nearest] > 1) {
        all_of(first + i, 1);
        continue;
      }
      for (double& each : distance) each *= each;
      take(first + i, {near, distance});
    }
  });
}

/// With L the largest logarithm of a weight beside the own one's, and S₀, S the sums of weights and responses over e^L, the own
/// row of weight w counts 1 beside q S₀, q = e^L / w.
Smoother::Sums Smoother::means(Near near, Index own) const {
  const Index n = near.size();
  double largest = -kInfinity;
  for (Index i = 0; i < n; ++i) {
    const Index row = near.row(i);
    double& k = near.distance[at(i)];
    k = row == own ? -kInfinity : -0.5 * k + log_weight_(row);
    largest = std::max(largest, k);
  }
  Sums out{Eigen::RowVectorXd::Zero(outputs()), Eigen::RowVectorXd::Zero(outputs()), 0};
  double total = 0;
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(outputs());
  if (largest == -kInfinity) {  // too far to tell, or nothing but the row itself
    for (Index i = 0; i < count(); ++i) {
      if (i == own) continue;
      const double w = own >= 0 ? 1 : weight_(i);
      total += w;
      sum += w * y_.row(i);
    }
    const bool copies = own >= 0 && weight_(own) > 1;
    out.left_out = copies || total == 0 ? Eigen::RowVectorXd(own >= 0 ? y_.row(own) : sum) : sum / total;
    out.value = own >= 0 ? Eigen::RowVectorXd(y_.row(own)) : sum / total;
    out.share = own >= 0 ? 1 : 0;
    return out;
  }
  for (Index i = 0; i < n; ++i) near.distance[at(i)] -= largest;
  simd::exp(near.distance, near.distance);
  for (Index i = 0; i < n; ++i) {
    const double k = near.distance[at(i)];
    total += k;
    if (outputs() == 1) sum(0) += k * y_(near.row(i), 0);
    else sum += k * y_.row(near.row(i));
  }
  if (own < 0) {
    out.value = sum / total;
    return out;
  }
  const double q = std::exp(largest - log_weight_(own)), left = std::max(weight_(own) - 1, 0.0) / weight_(own);
  out.value = (y_.row(own) + q * sum) / (1 + q * total);
  out.share = 1 / (1 + q * total);
  out.left_out = left > 0 ? Eigen::RowVectorXd((left * y_.row(own) + q * sum) / (left + q * total))
                          : Eigen::RowVectorXd(sum / total);
  return out;
}

/// ȳ + (x − x̄)·b with b the slope of least squares, shortest where the rows nearby do not spread.
Eigen::RowVectorXd Smoother::line(const Eigen::RowVectorXd& place, Near near, Index own, bool leave_out,
                                  double& share) const {
  const Index n = near.size();
  Vector k(n);
  Index own_at = -1;
  for (Index i = 0; i < n; ++i) {
    const Index row = near.row(i);
    k(i) = -0.5 * near.distance[at(i)] + log_weight_(row);
    if (row != own) continue;
    own_at = i;
    if (leave_out) k(i) = weight_(own) > 1 ? std::log(weight_(own) - 1) : -kInfinity;
  }
  const double largest = k.maxCoeff();
  if (largest == -kInfinity) {
    for (Index i = 0; i < n; ++i) k(i) = i == own_at ? 0 : leave_out ? 1 : weight_(near.row(i));
  } else {
    k.array() -= largest;
    simd::exp({k.data(), at(n)}, {k.data(), at(n)});
  }
  Matrix x(n, points_.cols());
  Vector y(n);
  for (Index i = 0; i < n; ++i) {
    x.row(i) = points_.row(near.row(i));
    y(i) = y_(near.row(i), 0);
  }
  const double sum = k.sum(), mean = k.dot(y) / sum, own_k = own_at >= 0 && !leave_out ? k(own_at) : 0;
  const Vector middle = x.transpose() * k / sum, off = place.transpose() - middle;
  x.rowwise() -= middle.transpose();
  const Matrix spread = x.transpose() * k.asDiagonal() * x;
  const Vector pull = x.transpose() * k.cwiseProduct((y.array() - mean).matrix());
  const Eigenpairs axes = symmetric_eigen(spread);
  double value = mean;
  share = own_k / sum;
  for (Index a = 0; a < axes.values.size() && axes.values(a) > kFlat * sum; ++a) {
    const double along = axes.vectors.col(a).dot(off);
    value += along * axes.vectors.col(a).dot(pull) / axes.values(a);
    share += own_k * along * along / axes.values(a);  // own rows: the place is the row itself
  }
  return Eigen::RowVectorXd::Constant(1, value);
}

Smoother::Sums Smoother::sums(const Eigen::RowVectorXd& place, Near near, Index own) const {
  if (degree_ == 0) return means(near, own);
  Sums out;
  double ignored = 0;
  out.value = line(place, near, own, false, out.share);
  if (own >= 0) out.left_out = line(place, near, own, true, ignored);
  return out;
}

Matrix Smoother::at(const Matrix& places, const Execution& execution) const {
  Matrix out(places.rows(), outputs());
  visit(places, {}, execution, [&](Index i, Near near) { out.row(i) = sums(places.row(i), near, -1).value; });
  return out;
}

Smoother::Own Smoother::own(std::span<const Index> which, const Execution& execution) const {
  const auto n = static_cast<Index>(which.size());
  Matrix places(n, points_.cols());
  for (Index i = 0; i < n; ++i) places.row(i) = points_.row(which[nadaraya::at(i)]);
  Own out{Matrix(n, outputs()), Matrix(n, outputs()), Vector(n)};
  visit(places, which, execution, [&](Index i, Near near) {
    const Sums found = sums(places.row(i), near, which[nadaraya::at(i)]);
    out.fitted.row(i) = found.value;
    out.left_out.row(i) = found.left_out;
    out.share(i) = found.share;
  });
  return out;
}

}  // namespace lemma::nadaraya
