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

constexpr Index kTogether = 32;  // places for one thread at a time
constexpr Index kMostInBox = 256;
constexpr double kFlat = 1e-12;  // a spread below this share of the squared bandwidth is none
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Matrix responses(const Vector& response, Index classes, double centre) {
  if (classes == 0) return response.array() - centre;
  Matrix out = Matrix::Zero(response.size(), classes);
  for (Index i = 0; i < response.size(); ++i) out(i, static_cast<Index>(response(i))) = 1;
  return out;
}

/// Four sums side by side, in an order that the number of terms alone decides.
template <class Term>
double sum_of(Index n, const Term& term) {
  double s[4] = {0, 0, 0, 0};
  Index i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) s[k] += term(i + k);
  for (; i < n; ++i) s[0] += term(i);
  return (s[0] + s[1]) + (s[2] + s[3]);
}

/// The sum of each class's weights, in four rows side by side: a sum need not wait for the one before it.
void add_by_class(Index n, const double* weight, const double* code, Matrix& sums) {
  for (Index i = 0; i < n; ++i) sums(i % 4, static_cast<Index>(code[i])) += weight[i];
}

double greatest_of(Index n, const double* values) {
  double m[4] = {-kInfinity, -kInfinity, -kInfinity, -kInfinity};
  Index i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) m[k] = values[i + k] > m[k] ? values[i + k] : m[k];
  for (; i < n; ++i) m[0] = std::max(m[0], values[i]);
  return std::max(std::max(m[0], m[1]), std::max(m[2], m[3]));
}

}  // namespace

void Smoother::Near::clear() {
  stretches.clear();
  distance.clear();
}

/// Where some row is within 1 of a place, one at distance d has at most exp(½ − ½ d²) of its weight (times the weights' own ratio):
/// all n together are below 2⁻⁶⁰ beyond this radius.
Smoother::Smoother(const Matrix& rows, const Vector& response, const Vector& weights, Index classes,
                   const Vector& bandwidth, int degree)
    : points_(rows * bandwidth.cwiseInverse().asDiagonal()),
      weight_(weights),
      centre_(classes == 0 ? weights.dot(response) / weights.sum() : 0),
      degree_(degree),
      of_classes_(classes > 0) {
  y_ = responses(response, classes, centre_);
  const double ratio = weight_.maxCoeff() / weight_.minCoeff();
  radius2_ = 1 + 2 * (60 * std::numbers::ln2 + std::log(static_cast<double>(count()) * ratio));
  std::vector<Index> order(at(count()));
  std::iota(order.begin(), order.end(), Index{0});
  fill_boxes(order);
  lay_out(order);
}

/// Halves the rows along the column that they are widest in, until they fit into a box. Changes their order.
void Smoother::fill_boxes(std::span<Index> rows) {
  Box box{boxes_.empty() ? 0 : boxes_.back().first + boxes_.back().size, static_cast<Index>(rows.size()),
          points_.row(rows[0]), points_.row(rows[0])};
  for (const Index i : rows) {
    box.low = box.low.cwiseMin(points_.row(i).transpose());
    box.high = box.high.cwiseMax(points_.row(i).transpose());
  }
  Index widest = 0;
  if (box.size > kMostInBox && box.low.size() > 0) {
    const double width = (box.high - box.low).maxCoeff(&widest);
    if (width > 0 && std::isfinite(width)) {
      const auto middle = rows.begin() + box.size / 2;
      std::nth_element(rows.begin(), middle, rows.end(), [&](Index a, Index b) {
        return std::pair(points_(a, widest), a) < std::pair(points_(b, widest), b);
      });
      fill_boxes(rows.first(at(box.size / 2)));
      fill_boxes(rows.subspan(at(box.size / 2)));
      return;
    }
  }
  boxes_.push_back(std::move(box));
}

void Smoother::lay_out(std::span<const Index> order) {
  row_.assign(order.begin(), order.end());
  place_.resize(row_.size());
  log_weight_.resize(row_.size());
  response_.resize(row_.size());
  columns_.resize(row_.size() * at(points_.cols()));
  for (std::size_t place = 0; place < row_.size(); ++place) {
    const Index row = row_[place];
    Index code = 0;
    if (of_classes_) y_.row(row).maxCoeff(&code);
    place_[at(row)] = static_cast<Index>(place);
    log_weight_[place] = std::log(weight_(row));
    response_[place] = of_classes_ ? static_cast<double>(code) : y_(row, 0);
  }
  for (const Box& box : boxes_)
    for (Index j = 0; j < points_.cols(); ++j)
      for (Index i = 0; i < box.size; ++i)
        columns_[at(box.first * points_.cols() + j * box.size + i)] = points_(row_[at(box.first + i)], j);
}

void Smoother::add(const Box& box, const double* place, Near& near) const {
  const std::size_t before = near.distance.size();
  near.distance.resize(before + at(box.size));
  double* out = near.distance.data() + before;
  const double* column = columns_.data() + box.first * points_.cols();
  for (Index j = 0; j < points_.cols(); ++j, column += box.size) {
    const double x = place[j];
    for (Index i = 0; i < box.size; ++i) {
      const double gap = x - column[i];
      out[i] += gap * gap;
    }
  }
  if (!near.stretches.empty() && near.stretches.back().second == box.first)
    near.stretches.back().second = box.first + box.size;
  else near.stretches.emplace_back(box.first, box.first + box.size);
}

/// Where no row but the place's own is within 1 of it, all rows are near.
void Smoother::look(const Eigen::RowVectorXd& place, Index own, Near& near) const {
  near.clear();
  const double* x = place.data();
  const Index p = points_.cols();
  for (const Box& box : boxes_) {
    double distance = 0;
    for (Index j = 0; j < p; ++j) {
      const double gap = std::max({box.low(j) - x[j], x[j] - box.high(j), 0.0});
      distance += gap * gap;
    }
    if (!(distance > radius2_)) add(box, x, near);
  }
  if (near.size() == count()) return;
  Index beside = own < 0 ? 1 : 2;  // rows within 1, the own one among them
  for (auto d = near.distance.begin(); d != near.distance.end() && beside > 0; ++d)
    if (*d <= 1) --beside;
  if (beside == 0) return;
  near.clear();
  for (const Box& box : boxes_) add(box, x, near);
}

Index Smoother::looked_at(const Eigen::RowVectorXd& place) const {
  Near near;
  look(place, -1, near);
  return near.size();
}

/// Where every weight is 0, or there is nothing but the row itself.
Smoother::Sums Smoother::means_of_all(Index own) const {
  Sums out;
  double total = 0;
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(outputs());
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

/// With L the largest logarithm of a weight beside the own one's, and S₀, S the sums of weights and responses over e^L, the own
/// row of weight w counts 1 beside q S₀, q = e^L / w.
Smoother::Sums Smoother::means(Near& near, Index own) const {
  const Index own_place = own < 0 ? -1 : place_[at(own)];
  double largest = -kInfinity;
  double* k = near.distance.data();
  for (const auto& [first, end] : near.stretches) {
    const Index n = end - first;
    const double* log_weight = log_weight_.data() + first;
    for (Index i = 0; i < n; ++i) k[i] = log_weight[i] - 0.5 * k[i];
    if (own_place >= first && own_place < end) k[own_place - first] = -kInfinity;
    largest = std::max(largest, greatest_of(n, k));
    k += n;
  }
  if (largest == -kInfinity) return means_of_all(own);
  for (double& each : near.distance) each -= largest;
  simd::exp(near.distance, near.distance);
  Sums out{Eigen::RowVectorXd::Zero(outputs()), Eigen::RowVectorXd::Zero(outputs()), 0};
  double total = 0;
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(outputs());
  Matrix by_class = Matrix::Zero(of_classes_ ? 4 : 0, outputs());
  k = near.distance.data();
  for (const auto& [first, end] : near.stretches) {
    const double* y = response_.data() + first;
    const Index n = end - first;
    total += sum_of(n, [&](Index i) { return k[i]; });
    if (of_classes_) add_by_class(n, k, y, by_class);
    else sum(0) += sum_of(n, [&](Index i) { return k[i] * y[i]; });
    k += n;
  }
  if (of_classes_) sum = (by_class.row(0) + by_class.row(1)) + (by_class.row(2) + by_class.row(3));
  if (own < 0) {
    out.value = sum / total;
    return out;
  }
  const double log_own = log_weight_[at(own_place)], q = std::exp(largest - log_own);
  const double left = std::max(weight_(own) - 1, 0.0) / weight_(own);
  out.value = (y_.row(own) + q * sum) / (1 + q * total);
  out.share = 1 / (1 + q * total);
  out.left_out = left > 0 ? Eigen::RowVectorXd((left * y_.row(own) + q * sum) / (left + q * total))
                          : Eigen::RowVectorXd(sum / total);
  return out;
}

/// ȳ + (x − x̄)·b with b the slope of least squares, shortest where the rows nearby do not spread.
double Smoother::line(const Eigen::RowVectorXd& place, const Near& near, Index own, bool leave_out,
                      double& share) const {
  const Index n = near.size(), own_place = own < 0 ? -1 : place_[at(own)];
  Vector k(n), y(n);
  Matrix x(n, points_.cols());
  Index own_at = -1, to = 0;
  for (const auto& [first, end] : near.stretches)
    for (Index i = first; i < end; ++i, ++to) {
      k(to) = -0.5 * near.distance[at(to)] + log_weight_[at(i)];
      y(to) = response_[at(i)];
      x.row(to) = points_.row(row_[at(i)]);
      if (i != own_place) continue;
      own_at = to;
      if (leave_out) k(to) = weight_(own) > 1 ? std::log(weight_(own) - 1) : -kInfinity;
    }
  const double largest = k.maxCoeff();
  if (largest == -kInfinity) {
    to = 0;
    for (const auto& [first, end] : near.stretches)
      for (Index i = first; i < end; ++i, ++to) k(to) = to == own_at ? 0 : leave_out ? 1 : weight_(row_[at(i)]);
  } else {
    k.array() -= largest;
    simd::exp({k.data(), at(n)}, {k.data(), at(n)});
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
  return value;
}

Smoother::Sums Smoother::sums(const Eigen::RowVectorXd& place, Near& near, Index own) const {
  look(place, own, near);
  if (degree_ == 0) return means(near, own);
  Sums out;
  double ignored = 0;
  out.value = Eigen::RowVectorXd::Constant(1, line(place, near, own, false, out.share));
  if (own >= 0) out.left_out = Eigen::RowVectorXd::Constant(1, line(place, near, own, true, ignored));
  return out;
}

Matrix Smoother::values(const Matrix& places, const Execution& execution) const {
  Matrix out(places.rows(), outputs());
  parallel_for((places.rows() + kTogether - 1) / kTogether, execution, [&](Index tile) {
    Near near;
    for (Index i = tile * kTogether; i < std::min((tile + 1) * kTogether, places.rows()); ++i)
      out.row(i) = sums(places.row(i), near, -1).value;
  });
  return out;
}

Smoother::Own Smoother::own(std::span<const Index> which, const Execution& execution) const {
  const auto n = static_cast<Index>(which.size());
  Own out{Matrix(n, outputs()), Matrix(n, outputs()), Vector(n)};
  parallel_for((n + kTogether - 1) / kTogether, execution, [&](Index tile) {
    Near near;
    for (Index i = tile * kTogether; i < std::min((tile + 1) * kTogether, n); ++i) {
      const Sums found = sums(points_.row(which[at(i)]), near, which[at(i)]);
      out.fitted.row(i) = found.value;
      out.left_out.row(i) = found.left_out;
      out.share(i) = found.share;
    }
  });
  return out;
}

}  // namespace lemma::nadaraya
