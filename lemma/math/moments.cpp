// lemma/math/moments.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/simd.hpp>

namespace lemma {
namespace {

std::span<const double> span_of(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
std::span<double> span_of(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
std::span<const double> row_of(const Block& block, Index i) {
  return {block.x.row(i).data(), static_cast<std::size_t>(block.x.cols())};
}

/// How many rows are centred and squared at a time: a tile of about 1 MB stays in a core's second cache.
Index tile_rows(Index features) { return std::clamp<Index>(131072 / std::max<Index>(1, features), 32, 1024); }

/// Centred rows times √w, collected until a tile is full, then added to an upper triangle as Σ w d dᵀ.
class SquaringTile {
 public:
  SquaringTile(Index features, Matrix& upper) : upper_(upper), capacity_(tile_rows(features)) {
    thread_local std::vector<double> scratch;
    scratch.resize(static_cast<std::size_t>(capacity_ * features));
    numbers_ = scratch.data();
  }
  std::span<double> next_row() {
    if (used_ == capacity_) flush();
    return {numbers_ + upper_.cols() * used_++, static_cast<std::size_t>(upper_.cols())};
  }
  void flush() {
    if (used_ > 0) blas::gram(Eigen::Map<const Matrix>(numbers_, used_, upper_.cols()), upper_, 1);
    used_ = 0;
  }

 private:
  Matrix& upper_;
  Index capacity_, used_ = 0;
  double* numbers_;
};

void require_width(const Block& block, Index features) {
  require(block.x.cols() == features, "moments: a block has " + std::to_string(block.x.cols()) + " columns, must have " +
                                          std::to_string(features));
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

Matrix both_triangles(const Matrix& upper) { return upper.selfadjointView<Eigen::Upper>(); }

}  // namespace

Moments::Moments(Index features)
    : mean_(Vector::Zero(features)), mean_rest_(Vector::Zero(features)), upper_(Matrix::Zero(features, features)) {}

/// About an origin o near the mean: Σ w d dᵀ with d = x − o, less (Σ w d)(Σ w d)ᵀ / Σw, which is small beside it.
void Moments::accumulate(const Block& block) {
  require_width(block, features());
  if (block.rows() == 0) return;
  const Index p = features();
  const Vector origin = origin_of(block.x);
  Moments own(p);
  Vector sum = Vector::Zero(p);
  SquaringTile tile(p, own.upper_);
  for (Index i = 0; i < block.rows(); ++i) {
    const double weight = block.weight_of(i), root = std::sqrt(weight);
    if (weight == 0) continue;
    simd::centre(row_of(block, i), span_of(origin), root, tile.next_row(), span_of(sum));
    ++own.rows_;
    own.weight_ += weight;
  }
  tile.flush();
  if (own.rows_ == 0) return;
  require_finite_diagonal(own.upper_, block);
  for (Index i = 0; i < p; ++i) {
    own.upper_.row(i).tail(p - i) -= (sum(i) / own.weight_) * sum.tail(p - i).transpose();
    own.upper_(i, i) = std::max(0.0, own.upper_(i, i));
    const Twofold mean = exact_sum(origin(i), sum(i) / own.weight_);
    own.mean_(i) = mean.value;
    own.mean_rest_(i) = mean.rest;
  }
  merge(own);
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

Matrix Moments::scatter() const { return both_triangles(upper_); }
Matrix Moments::covariance(double divisor) const { return both_triangles(upper_) / divisor; }
Vector Moments::variances(double divisor) const { return upper_.diagonal() / divisor; }

std::vector<double> Moments::numbers() const {
  std::vector<double> out{static_cast<double>(features()), static_cast<double>(rows_), weight_};
  for (const auto* v : {&mean_, &mean_rest_}) out.insert(out.end(), v->begin(), v->end());
  out.insert(out.end(), upper_.data(), upper_.data() + upper_.size());
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
  std::copy_n(from + 2 * p, p * p, out.upper_.data());
  return out;
}

ClassMoments::ClassMoments(Index features, Index classes)
    : weight_(Vector::Zero(classes)),
      count_(static_cast<std::size_t>(classes), 0),
      mean_(Matrix::Zero(classes, features)),
      mean_rest_(Matrix::Zero(classes, features)),
      upper_(Matrix::Zero(features, features)) {}

/// Two looks at the block: the class means, then the rows about them.
void ClassMoments::accumulate(const Block& block) {
  require_width(block, features());
  require(static_cast<Index>(block.label.size()) == block.rows(), "moments: each row needs a class");
  const Index p = features();
  ClassMoments own(p, classes());
  std::vector<std::pair<Index, Index>> rows;  // row, class
  for (Index i = 0; i < block.rows(); ++i) {
    const Index k = block.label[static_cast<std::size_t>(i)];
    require(k < classes(), "moments: class code " + std::to_string(k) + " in row " + std::to_string(block.first + i + 1) +
                               ", must be below " + std::to_string(classes()));
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
  SquaringTile tile(p, own.upper_);
  for (const auto& [i, k] : rows) {
    const double root = std::sqrt(block.weight_of(i));
    const double* const mean = own.mean_.row(k).data();
    simd::centre(row_of(block, i), {mean, static_cast<std::size_t>(p)}, root, tile.next_row());
  }
  tile.flush();
  require_finite_diagonal(own.upper_, block);
  merge(own);
}

void ClassMoments::merge(const ClassMoments& other) {
  require(features() == other.features() && classes() == other.classes(),
          "moments: states with different columns or classes cannot be merged");
  if (other.rows_ == 0) return;
  if (rows_ == 0) {
    *this = other;
    return;
  }
  SquaringTile tile(features(), upper_);
  for (Index k = 0; k < classes(); ++k) {
    const double weight = weight_(k) + other.weight_(k);
    if (other.weight_(k) == 0) continue;
    if (weight_(k) == 0) {
      mean_.row(k) = other.mean_.row(k);
      mean_rest_.row(k) = other.mean_rest_.row(k);
    } else {
      const double share = other.weight_(k) / weight, root = std::sqrt(weight_(k) * share);
      const std::span<double> d = tile.next_row();
      for (Index j = 0; j < features(); ++j)
        d[static_cast<std::size_t>(j)] = root * merge_means(mean_(k, j), mean_rest_(k, j), other.mean_(k, j), other.mean_rest_(k, j), share);
    }
    weight_(k) = weight;
    count_[static_cast<std::size_t>(k)] += other.count_[static_cast<std::size_t>(k)];
  }
  tile.flush();
  upper_ += other.upper_;
  rows_ += other.rows_;
}

Vector ClassMoments::mean() const {
  const double total = weight_.sum();
  return total > 0 ? Vector(means().transpose() * weight_ / total) : Vector(Vector::Zero(features()));
}

Matrix ClassMoments::within_scatter() const { return both_triangles(upper_); }

Matrix ClassMoments::between_scatter() const {
  const Matrix centred = weight_.cwiseSqrt().asDiagonal() * (means().rowwise() - mean().transpose());
  Matrix upper = Matrix::Zero(features(), features());
  blas::gram(centred, upper);
  return both_triangles(upper);
}

std::vector<double> ClassMoments::numbers() const {
  std::vector<double> out{static_cast<double>(features()), static_cast<double>(classes()), static_cast<double>(rows_)};
  out.insert(out.end(), weight_.begin(), weight_.end());
  out.insert(out.end(), count_.begin(), count_.end());
  for (const auto* m : {&mean_, &mean_rest_, &upper_}) out.insert(out.end(), m->data(), m->data() + m->size());
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
  std::copy_n(from + 2 * k + 2 * k * p, p * p, out.upper_.data());
  return out;
}

}  // namespace lemma
