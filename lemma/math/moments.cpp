// lemma/math/moments.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/simd/gram.hpp>
#include <lemma/math/twofold.hpp>

namespace lemma {
namespace {

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
std::span<double> span_of(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
template <class X>
std::span<const double> row_of(const X& x, Index i) {
  return {x.row(i).data(), static_cast<std::size_t>(x.cols())};
}

void require_width(const Block& block, Index features) {
  require(block.x.cols() == features,
          "moments: a block has " + std::to_string(block.x.cols()) + " columns, must have " + std::to_string(features));
}
void require_finite_diagonal(const Matrix& upper, const Block& block) {
  require(upper.diagonal().allFinite(), "moments: a value among rows " + std::to_string(block.first + 1) + " to " +
                                            std::to_string(block.first + block.rows()) +
                                            " is not finite, or too large to be squared");
}

/// A value near the block's mean, exact for a constant column.
Vector origin_of(const MatrixView& x) {
  const Index step = std::max<Index>(1, x.rows() / 64), count = (x.rows() + step - 1) / step;
  Vector sum = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); i += step) sum += (x.row(i) - x.row(0)).transpose();
  return x.row(0).transpose() + sum / static_cast<double>(count);
}

/// Means merge in twice the working precision; returns second − first.
double merge_means(double& value, double& rest, double other_value, double other_rest, double share) {
  const Twofold here{value, rest}, difference = Twofold{other_value, other_rest} - here;
  const Twofold mean = here + difference * share;
  value = mean.value;
  rest = mean.rest;
  return difference.rounded();
}

/// A state without rows has no triangle yet: most states are made only to be filled by one block, and need not be
/// zeroed or copied before.
Matrix both_triangles(const Matrix& upper, Index side) {
  if (upper.size() == 0) return Matrix::Zero(side, side);
  return upper.selfadjointView<Eigen::Upper>();
}

/// into += from above the diagonal; what lies below is never written.
void add_upper(Matrix& into, const Matrix& from) {
  for (Index i = 0; i < into.rows(); ++i) into.row(i).tail(into.cols() - i) += from.row(i).tail(into.cols() - i);
}

/// All numbers of a stored state's square: zeros below the diagonal.
void append_upper(std::vector<double>& numbers, const Matrix& upper, Index side) {
  for (Index i = 0; i < side; ++i) {
    numbers.insert(numbers.end(), static_cast<std::size_t>(upper.size() == 0 ? side : i), 0.0);
    if (upper.size() > 0) numbers.insert(numbers.end(), &upper(i, i), upper.row(i).data() + side);
  }
}
Matrix upper_from(const double* numbers, Index rows, Index side) {
  return rows == 0 ? Matrix() : Matrix(Eigen::Map<const Matrix>(numbers, side, side));
}

}  // namespace

Moments::Moments(Index features) : mean_(Vector::Zero(features)), mean_rest_(Vector::Zero(features)) {}

/// About an origin o near the mean: Σ w d dᵀ with d = x − o, less (Σ w d)(Σ w d)ᵀ / Σw, which is small beside it.
void Moments::accumulate(const Block& block) {
  require_width(block, features());
  if (block.rows() == 0) return;
  const Index p = features();
  const Vector origin = origin_of(block.x);
  Moments own(p);
  own.upper_.resize(p, p);
  Vector sum = Vector::Zero(p);
  simd::GramTile tile(own.upper_, simd::GramTile::Start::anew);
  for (Index i = 0; i < block.rows(); ++i) {
    const double weight = block.weight_of(i), root = std::sqrt(weight);
    if (weight == 0) continue;
    tile.add(row_of(block.x, i), span_of(origin), root, span_of(sum));
    ++own.rows_;
    own.weight_ += weight;
  }
  if (own.rows_ == 0) return;
  tile.finish();
  require_finite_diagonal(own.upper_, block);
  for (Index i = 0; i < p; ++i) {
    own.upper_.row(i).tail(p - i) -= (sum(i) / own.weight_) * sum.tail(p - i).transpose();
    own.upper_(i, i) = std::max(0.0, own.upper_(i, i));
    const Twofold mean = exact_sum(origin(i), sum(i) / own.weight_);
    own.mean_(i) = mean.value;
    own.mean_rest_(i) = mean.rest;
  }
  if (rows_ == 0) *this = std::move(own);
  else merge(own);
}

void Moments::merge(const Moments& other) {
  require(features() == other.features(), "moments: states with different columns cannot be merged");
  if (other.rows_ == 0) return;
  if (rows_ == 0) {  // an empty side must not change a bit of the other
    *this = other;
    return;
  }
  const double weight = weight_ + other.weight_, share = other.weight_ / weight;
  Vector d(features());
  for (Index j = 0; j < d.size(); ++j)
    d(j) = merge_means(mean_(j), mean_rest_(j), other.mean_(j), other.mean_rest_(j), share);
  for (Index i = 0; i < d.size(); ++i) {
    const Index rest = d.size() - i;
    upper_.row(i).tail(rest) += other.upper_.row(i).tail(rest) + (weight_ * share * d(i)) * d.tail(rest).transpose();
  }
  rows_ += other.rows_;
  weight_ = weight;
}

Matrix Moments::scatter() const { return both_triangles(upper_, features()); }
Matrix Moments::covariance(double divisor) const { return both_triangles(upper_, features()) / divisor; }
Vector Moments::variances(double divisor) const {
  if (upper_.size() == 0) return Vector::Zero(features());
  return upper_.diagonal() / divisor;
}

std::vector<double> Moments::numbers() const {
  std::vector<double> out{static_cast<double>(features()), static_cast<double>(rows_), weight_};
  for (const auto* v : {&mean_, &mean_rest_}) out.insert(out.end(), v->begin(), v->end());
  append_upper(out, upper_, features());
  return out;
}

Moments Moments::from_numbers(const std::vector<double>& numbers) {
  require(numbers.size() >= 3 && numbers[0] >= 0 && numbers[0] < 1e6, "moments: this is no stored state");
  const auto p = static_cast<std::size_t>(numbers[0]);
  require(numbers.size() == 3 + 2 * p + p * p, "moments: a stored state has the wrong number of values");
  Moments out(static_cast<Index>(p));
  out.rows_ = static_cast<Index>(numbers[1]);
  out.weight_ = numbers[2];
  const double* from = numbers.data() + 3;
  std::copy_n(from, p, out.mean_.data());
  std::copy_n(from + p, p, out.mean_rest_.data());
  out.upper_ = upper_from(from + 2 * p, out.rows_, out.features());
  return out;
}

ClassMoments::ClassMoments(Index features, Index classes)
    : weight_(Vector::Zero(classes)),
      count_(static_cast<std::size_t>(classes), 0),
      mean_(Matrix::Zero(classes, features)),
      mean_rest_(Matrix::Zero(classes, features)) {}

/// Two looks at the block: the class means, then the rows about them.
void ClassMoments::accumulate(const Block& block) {
  require_width(block, features());
  require(static_cast<Index>(block.label.size()) == block.rows(), "moments: each row needs a class");
  const Index p = features();
  ClassMoments own(p, classes());
  std::vector<std::pair<Index, Index>> rows;  // row, class
  for (Index i = 0; i < block.rows(); ++i) {
    const Index k = block.label[static_cast<std::size_t>(i)];
    require(k < classes(), "moments: class code " + std::to_string(k) + " in row " +
                               std::to_string(block.first + i + 1) + ", must be below " + std::to_string(classes()));
    if (k < 0 || block.weight_of(i) == 0) continue;
    rows.emplace_back(i, k);
    own.weight_(k) += block.weight_of(i);
    ++own.count_[static_cast<std::size_t>(k)];
  }
  if (rows.empty()) return;
  own.rows_ = static_cast<Index>(rows.size());
  const Eigen::RowVectorXd origin = block.x.row(rows.front().first);
  for (const auto& [i, k] : rows) own.mean_.row(k) += block.weight_of(i) * (block.x.row(i) - origin);
  for (Index k = 0; k < classes(); ++k) {
    if (own.weight_(k) == 0) continue;
    for (Index j = 0; j < p; ++j) {
      const Twofold mean = exact_sum(origin(j), own.mean_(k, j) / own.weight_(k));
      own.mean_(k, j) = mean.value;
      own.mean_rest_(k, j) = mean.rest;
    }
  }
  own.upper_.resize(p, p);
  simd::GramTile tile(own.upper_, simd::GramTile::Start::anew);
  for (const auto& [i, k] : rows) tile.add(row_of(block.x, i), row_of(own.mean_, k), std::sqrt(block.weight_of(i)));
  tile.finish();
  require_finite_diagonal(own.upper_, block);
  if (rows_ == 0) *this = std::move(own);
  else merge(own);
}

void ClassMoments::merge(const ClassMoments& other) {
  require(features() == other.features() && classes() == other.classes(),
          "moments: states with different columns or classes cannot be merged");
  if (other.rows_ == 0) return;
  if (rows_ == 0) {
    *this = other;
    return;
  }
  simd::GramTile tile(upper_, simd::GramTile::Start::onto);
  Vector d(features());
  const Vector origin = Vector::Zero(features());
  for (Index k = 0; k < classes(); ++k) {
    const double weight = weight_(k) + other.weight_(k);
    if (other.weight_(k) == 0) continue;
    if (weight_(k) == 0) {
      mean_.row(k) = other.mean_.row(k);
      mean_rest_.row(k) = other.mean_rest_.row(k);
    } else {
      const double share = other.weight_(k) / weight, root = std::sqrt(weight_(k) * share);
      for (Index j = 0; j < features(); ++j)
        d(j) = merge_means(mean_(k, j), mean_rest_(k, j), other.mean_(k, j), other.mean_rest_(k, j), share);
      tile.add(span_of(d), span_of(origin), root);
    }
    weight_(k) = weight;
    count_[static_cast<std::size_t>(k)] += other.count_[static_cast<std::size_t>(k)];
  }
  tile.finish();
  add_upper(upper_, other.upper_);
  rows_ += other.rows_;
}

Vector ClassMoments::mean() const {
  const double total = weight_.sum();
  return total > 0 ? Vector(means().transpose() * weight_ / total) : Vector(Vector::Zero(features()));
}

Matrix ClassMoments::within_scatter() const { return both_triangles(upper_, features()); }

Matrix ClassMoments::between_scatter() const {
  const Matrix centred = weight_.cwiseSqrt().asDiagonal() * (means().rowwise() - mean().transpose());
  Matrix upper = Matrix::Zero(features(), features());
  blas::gram(centred, upper);
  return both_triangles(upper, features());
}

std::vector<double> ClassMoments::numbers() const {
  std::vector<double> out{static_cast<double>(features()), static_cast<double>(classes()), static_cast<double>(rows_)};
  out.insert(out.end(), weight_.begin(), weight_.end());
  out.insert(out.end(), count_.begin(), count_.end());
  for (const auto* m : {&mean_, &mean_rest_}) out.insert(out.end(), m->data(), m->data() + m->size());
  append_upper(out, upper_, features());
  return out;
}

ClassMoments ClassMoments::from_numbers(const std::vector<double>& numbers) {
  require(numbers.size() >= 3 && numbers[0] >= 0 && numbers[0] < 1e6 && numbers[1] >= 0 && numbers[1] < 1e6,
          "moments: this is no stored state");
  const auto p = static_cast<std::size_t>(numbers[0]), k = static_cast<std::size_t>(numbers[1]);
  require(numbers.size() == 3 + 2 * k + 2 * k * p + p * p, "moments: a stored state has the wrong number of values");
  ClassMoments out(static_cast<Index>(p), static_cast<Index>(k));
  out.rows_ = static_cast<Index>(numbers[2]);
  const double* from = numbers.data() + 3;
  std::copy_n(from, k, out.weight_.data());
  std::transform(from + k, from + 2 * k, out.count_.begin(), [](double c) { return static_cast<Index>(c); });
  std::copy_n(from + 2 * k, k * p, out.mean_.data());
  std::copy_n(from + 2 * k + k * p, k * p, out.mean_rest_.data());
  out.upper_ = upper_from(from + 2 * k + 2 * k * p, out.rows_, out.features());
  return out;
}

}  // namespace lemma
