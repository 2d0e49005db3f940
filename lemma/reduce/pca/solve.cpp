// lemma/reduce/pca/solve.cpp: the frame of the columns, and four ways to the axes.
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/text.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/reduce/pca/parts.hpp>

namespace lemma::pca {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kConverged = 1e-6;  // residual over the first variance at which the randomized solver is content
constexpr double kLeastSpread = 1e-140, kGreatestSpread = 1e150;

/// An Error for columns whose spread cannot be squared within the range of numbers.
void require_usable_spread(const Rows& rows, const ColumnMoments& range) {
  for (Index j = 0; j < rows.width(); ++j) {
    const double spread = range.greatest()(j) - range.least()(j);
    const auto& column = rows.features[static_cast<std::size_t>(j)];
    if (!(spread < kGreatestSpread))
      throw Error(fmt::format(
          "the values of '{}' are so large that their squares are not finite; divide them by a constant", column));
    if (spread > 0 && spread < kLeastSpread)
      throw Error(fmt::format(
          "the values of '{}' lie so close together that their squares vanish; multiply them by a constant", column));
  }
}

/// `squares`: Σ w (x − mean)², or Σ w x² where columns are not centred.
Ground ground_of(const Valid<Pca>& spec, const Rows& rows, double weight, Index count, const Vector& mean,
                 const Vector& squares) {
  if (weight <= 1 || (spec->center && count < 2))
    throw Error(
        fmt::format("pca: a variance needs at least two rows, and there {} {}", count == 1 ? "is" : "are", count));
  if (squares.maxCoeff() == 0) throw Error("pca: no column varies, so there is no direction of variance");
  Ground ground;
  ground.weight = weight;
  ground.rows = count;
  ground.frame = {spec->center ? mean : Vector::Zero(mean.size()).eval(), Vector::Ones(mean.size())};
  ground.variances = squares / (weight - 1);
  for (Index j = 0; spec->scale && j < mean.size(); ++j) {
    if (squares(j) > 0) {
      ground.frame.scale(j) = std::sqrt(ground.variances(j));
      ground.variances(j) = 1;
    } else {
      ground.warnings.push_back(
          fmt::format("'{}' has no spread and is not scaled", rows.features[static_cast<std::size_t>(j)]));
    }
  }
  return ground;
}

/// The rows with each column divided by its scale, made block by block.
class ScaledRows final : public Rows {
 public:
  ScaledRows(const Rows& rows, const Vector& scale) : Rows(rows), rows_(rows), scale_(scale) {}
  Index count() const override { return rows_.count(); }
  Block read(Index first, Index size, BlockBuffer& buffer) const override {
    Block block = rows_.read(first, size, buffer);
    Matrix scaled = (block.x.array().rowwise() / scale_.transpose().array()).matrix();
    buffer.x.swap(scaled);
    Block out(buffer.x, first);
    out.weight = block.weight;
    return out;
  }

 private:
  const Rows& rows_;
  const Vector& scale_;
};

/// The triangle R with RᵀR = Σ a aᵀ over the rows a in the frame. Two merge by a QR of one on the other, so no condition
/// number is ever squared.
class Triangle {
 public:
  explicit Triangle(const Frame& frame) : frame_(&frame), r_(0, frame.mean.size()) {}
  void accumulate(const Block& block) { absorb(frame_->apply(block)); }
  void merge(const Triangle& other) { absorb(other.r_); }
  const Matrix& triangle() const { return r_; }

 private:
  void absorb(const Matrix& rows) {
    if (rows.rows() == 0) return;
    Matrix stacked(r_.rows() + rows.rows(), frame_->mean.size());
    stacked.topRows(r_.rows()) = r_;
    stacked.bottomRows(rows.rows()) = rows;
    r_ = triangle_of(stacked);
  }
  const Frame* frame_;
  Matrix r_;  // no rows while empty
};

Axes of_singular(Svd svd, double divisor, Index longest) {
  const double rounding = 8 * kEpsilon * std::sqrt(static_cast<double>(longest));
  return {svd.s.cwiseAbs2() / divisor, std::move(svd.v), rounding * rounding};
}

}  // namespace

Matrix framed_rows(const Rows& rows, const Frame& frame, const Execution& execution) {
  Matrix a(rows.count(), rows.width());
  for_each_block(rows, execution,
                 [&](const Block& block) { a.middleRows(block.first, block.rows()) = frame.apply(block); });
  return a;
}

Matrix Frame::apply(const Block& block, Index from, Index size) const {
  Matrix a =
      ((block.x.middleRows(from, size).rowwise() - mean.transpose()).array().rowwise() / scale.transpose().array())
          .matrix();
  if (!block.weight.empty())
    for (Index i = 0; i < size; ++i) a.row(i) *= std::sqrt(block.weight_of(from + i));
  return a;
}

Ground ground_of(const Valid<Pca>& spec, const Rows& rows, const Moments& moments, const Execution& execution) {
  Vector squares = moments.variances(1);
  if (!spec->center) squares += moments.weight() * moments.mean().cwiseAbs2();
  if (!(squares.array() > kLeastSpread * kLeastSpread).all())  // no spread, or one that vanished
    require_usable_spread(rows, scan(rows, ColumnMoments(rows.width()), execution));
  return ground_of(spec, rows, moments.weight(), moments.rows(), moments.mean(), squares);
}

Ground ground_of(const Valid<Pca>& spec, const Rows& rows, const Execution& execution) {
  struct Counted : ColumnMoments {
    explicit Counted(Index columns) : ColumnMoments(columns) {}
    Index rows = 0;
    double total = 0;
    void accumulate(const Block& block) {
      ColumnMoments::accumulate(block);
      for (Index i = 0; i < block.rows(); ++i) {
        rows += block.weight_of(i) > 0;
        total += block.weight_of(i);
      }
    }
    void merge(const Counted& other) {
      ColumnMoments::merge(other);
      rows += other.rows;
      total += other.total;
    }
    bool all_finite() const {  // NaN takes no part in the weight of its column
      return (weight().array() == weight()(0)).all() && (weight()(0) >= total * (1 - 1e-12)) && least().allFinite() &&
             greatest().allFinite();
    }
  };
  if (rows.has_weights) require_finite(rows, execution);
  const auto moments = fine_scan(rows, Counted(rows.width()), execution);
  if (moments.rows > 0 && !moments.all_finite()) require_finite(rows, execution);
  require_usable_spread(rows, moments);
  const double weight = moments.weight()(0);
  Vector squares = moments.squares();
  if (!spec->center) squares += weight * moments.mean().cwiseAbs2();
  return ground_of(spec, rows, weight, moments.rows, moments.mean(), squares);
}

Moments moments_of(const Rows& rows, const Execution& execution) {
  if (rows.has_weights) require_finite(rows, execution);
  try {
    return scan(rows, Moments(rows.width()), execution);
  } catch (const Error&) {  // a value is not finite, or its square is not: say which
    require_finite(rows, execution);
    require_usable_spread(rows, scan(rows, ColumnMoments(rows.width()), execution));
    throw;
  }
}

Matrix spread(const Valid<Pca>& spec, const Ground& ground, const Moments& moments) {
  Matrix s = moments.covariance(ground.divisor());
  if (!spec->center) {
    const Vector mean = moments.mean();
    s += (moments.weight() / ground.divisor()) * (mean * mean.transpose());
  }
  if (spec->scale) {
    const Vector by = ground.frame.scale.cwiseInverse();
    s = (by.asDiagonal() * s * by.asDiagonal()).eval();
    s.diagonal() = ground.variances;  // 1, not 1 up to rounding
  }
  return s;
}

Axes by_covariance(const MatrixView& spread, std::optional<Index> count) {
  auto pairs = count && *count < spread.cols() ? symmetric_eigen(spread, *count) : symmetric_eigen(spread);
  return {std::move(pairs.values), std::move(pairs.vectors), 4 * kEpsilon * static_cast<double>(spread.cols())};
}

Axes by_gram(const Rows& rows, const Ground& ground, std::optional<Index> count, const Execution& execution) {
  const Matrix a = framed_rows(rows, ground.frame, execution);
  const Matrix products = outer_gram(a, execution);
  const auto pairs = count && *count < a.rows() ? symmetric_eigen(products, *count) : symmetric_eigen(products);
  const double rounding = 4 * kEpsilon * static_cast<double>(a.rows());
  Index kept = 0;  // v = Aᵀu / ‖Aᵀu‖ says nothing where Aᵀu is rounding
  while (kept < pairs.values.size() && pairs.values(kept) > rounding * pairs.values(0)) ++kept;
  Matrix loadings = transposed_multiply(a, pairs.vectors.leftCols(kept), execution);
  loadings.array().rowwise() /= loadings.colwise().norm().array().eval();
  turn_columns(loadings);
  return {pairs.values.head(kept) / ground.divisor(), std::move(loadings), rounding};
}

Axes by_svd(const Rows& rows, const Ground& ground, const Execution& execution) {
  const Index longest = std::max(rows.count(), rows.width());
  if (rows.count() < rows.width())
    return of_singular(thin_svd(framed_rows(rows, ground.frame, execution)), ground.divisor(), longest);
  return of_singular(thin_svd(scan(rows, Triangle(ground.frame), execution).triangle()), ground.divisor(), longest);
}

Axes by_random(const Valid<Pca>& spec, const Rows& rows, const Ground& ground, Index count, std::uint64_t seed,
               const Execution& execution) {
  const RandomisedSvd how{.count = count,
                          .oversampling = spec->oversampling,
                          .passes = spec->max_iterations,
                          .tolerance = kConverged,
                          .seed = seed};
  const ScaledRows scaled(rows, ground.frame.scale);
  auto leading =
      randomised_svd(spec->scale ? scaled : rows, ground.frame.mean.cwiseQuotient(ground.frame.scale), how, execution);
  return {leading.s.cwiseAbs2() / ground.divisor(), std::move(leading.v),
          4 * kEpsilon * static_cast<double>(rows.width())};
}

}  // namespace lemma::pca
