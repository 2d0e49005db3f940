// lemma/math/row_products.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/row_products.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>
#include <lemma/core/error.hpp>
#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/single.hpp>

HWY_BEFORE_NAMESPACE();
namespace lemma::rows::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Lane = hn::Vec<Tag<T>>;

template <class T>
constexpr std::size_t kLanesOf = hn::MaxLanes(Tag<T>());
constexpr std::size_t kVectors = 3;  // columns whose chains run side by side
template <class T>
constexpr std::size_t kTileOf = kVectors* kLanesOf<T>;
constexpr std::size_t kMostRows = 8;
constexpr std::size_t kDepth =
    256;  // steps of the chains before the next rows, at most: a tile's rows of B stay in the cache
constexpr std::size_t kChunk = 96;  // rows that pass before the next tile

/// As many rows as registers hold chains of, and as keep the units busy.
constexpr std::size_t rows_together(std::size_t vectors) { return HWY_TARGET <= HWY_AVX3 || vectors == 1 ? 8 : 4; }

/// Up to kMostRows rows of X and C; those that are not there are the last one, and their C is nobody's.
template <class T>
struct RowPointers {
  const T* x[kMostRows];
  T* c[kMostRows];
};

/// c ± Σ_k x_k b_k over `depth` steps, for a tile of columns.
template <std::size_t Vectors, bool Minus, class T>
HWY_INLINE void chains(const RowPointers<T>& rows, std::size_t depth, const T* HWY_RESTRICT b, bool onto) {
  constexpr std::size_t kRows = rows_together(Vectors), kLanes = kLanesOf<T>;
  using V = Lane<T>;
  const Tag<T> d;
  V sum[kRows][Vectors];
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (std::size_t v = 0; v < Vectors; ++v) sum[r][v] = onto ? hn::LoadU(d, rows.c[r] + v * kLanes) : hn::Zero(d);
  }
  for (std::size_t k = 0; k < depth; ++k, b += Vectors * kLanes) {
    V z[Vectors];
    HWY_UNROLL(3)
    for (std::size_t v = 0; v < Vectors; ++v) z[v] = hn::LoadU(d, b + v * kLanes);
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; ++r) {
      const V a = hn::Set(d, rows.x[r][k]);
      HWY_UNROLL(3)
      for (std::size_t v = 0; v < Vectors; ++v)
        sum[r][v] = Minus ? hn::NegMulAdd(a, z[v], sum[r][v]) : hn::MulAdd(a, z[v], sum[r][v]);
    }
  }
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (std::size_t v = 0; v < Vectors; ++v) hn::StoreU(sum[r][v], d, rows.c[r] + v * kLanes);
  }
}

/// Columns beyond the last, and rows beyond the last, get room of their own.
template <class T>
struct Room {
  HWY_ALIGN T c[kMostRows][kTileOf<T>];
};

/// One tile of columns for `count` rows from x and c on: c = (or +=, −=) X B.
template <std::size_t Vectors, bool Minus, class T>
HWY_INLINE void tile_of_rows(const T* x, std::size_t x_stride, std::size_t count, std::size_t depth, const T* b, T* c,
                             std::size_t c_stride, std::size_t columns, bool onto) {
  constexpr std::size_t kRows = rows_together(Vectors);
  Room<T> room;
  RowPointers<T> rows{};
  const bool fits = columns >= Vectors * kLanesOf<T>;
  for (std::size_t i = 0; i < count; i += kRows) {
    const std::size_t here = std::min(kRows, count - i);
    for (std::size_t r = 0; r < kRows; ++r) {
      rows.x[r] = x + std::min(i + r, count - 1) * x_stride;
      rows.c[r] = fits && r < here ? c + (i + r) * c_stride : room.c[r];
      if (onto && !fits && r < here) std::copy_n(c + (i + r) * c_stride, columns, room.c[r]);
      else if (onto && (!fits || r >= here)) std::fill_n(room.c[r], kTileOf<T>, T(0));
    }
    chains<Vectors, Minus>(rows, depth, b, onto);
    if (!fits)
      for (std::size_t r = 0; r < here; ++r) std::copy_n(room.c[r], columns, c + (i + r) * c_stride);
  }
}

template <bool Minus, class T>
HWY_INLINE void tile(const T* x, std::size_t x_stride, std::size_t count, std::size_t depth, const T* b, T* c,
                     std::size_t c_stride, std::size_t columns, bool onto) {
  constexpr std::size_t kLanes = kLanesOf<T>;
  if (columns > 2 * kLanes) tile_of_rows<3, Minus>(x, x_stride, count, depth, b, c, c_stride, columns, onto);
  else if (columns > kLanes) tile_of_rows<2, Minus>(x, x_stride, count, depth, b, c, c_stride, columns, onto);
  else tile_of_rows<1, Minus>(x, x_stride, count, depth, b, c, c_stride, columns, onto);
}

template <class T>
HWY_INLINE std::size_t whole_vectors(std::size_t columns) {
  return (columns + kLanesOf<T> - 1) / kLanesOf<T> * kLanesOf<T>;
}
/// How many columns the tile that begins at `first` takes up: whole vectors.
template <class T>
HWY_INLINE std::size_t width_of(std::size_t first, std::size_t columns) {
  return std::min(kTileOf<T>, whole_vectors<T>(columns - first));
}

template <class T>
HWY_INLINE void lay_out_as(const double* b, std::size_t row_step, std::size_t column_step, std::size_t depth,
                           std::size_t columns, T* out) {
  constexpr std::size_t kAtOnce = 16;  // rows of B: where its columns are far apart, a line of the cache is read whole
  for (std::size_t first = 0; first < columns; first += kTileOf<T>) {
    const std::size_t width = width_of<T>(first, columns), real = std::min(width, columns - first);
    for (std::size_t begin = 0; begin < depth; begin += kAtOnce) {
      const std::size_t end = std::min(begin + kAtOnce, depth);
      for (std::size_t j = 0; j < real; ++j)
        for (std::size_t k = begin; k < end; ++k)
          out[k * width + j] = static_cast<T>(b[k * row_step + (first + j) * column_step]);
    }
    out += depth * width;
  }
}

template <class T>
HWY_INLINE void multiply_as(const T* x, std::size_t x_stride, std::size_t count, std::size_t depth, const T* tiles,
                            std::size_t columns, T* c, std::size_t c_stride, bool onto) {
  const std::size_t parts = std::max<std::size_t>(1, (depth + kDepth - 1) / kDepth),
                    step = std::max<std::size_t>(1, (depth + parts - 1) / parts);
  for (std::size_t i = 0; i < count; i += kChunk)
    for (std::size_t from = 0; from < depth || from == 0; from += step)
      for (std::size_t first = 0; first < columns; first += kTileOf<T>)
        tile<false>(x + i * x_stride + from, x_stride, std::min(kChunk, count - i), std::min(step, depth - from),
                    tiles + first * depth + from * width_of<T>(first, columns), c + i * c_stride + first, c_stride,
                    columns - first, onto || from > 0);
}

std::size_t padded(std::size_t columns) { return whole_vectors<double>(columns); }
void lay_out(const double* b, std::size_t row_step, std::size_t column_step, std::size_t depth, std::size_t columns,
             double* out) {
  lay_out_as(b, row_step, column_step, depth, columns, out);
}
void multiply(const double* x, std::size_t x_stride, std::size_t count, std::size_t depth, const double* tiles,
              std::size_t columns, double* c, std::size_t c_stride, bool onto) {
  multiply_as(x, x_stride, count, depth, tiles, columns, c, c_stride, onto);
}
std::size_t padded_single(std::size_t columns) { return whole_vectors<float>(columns); }
void lay_out_single(const double* b, std::size_t row_step, std::size_t column_step, std::size_t depth,
                    std::size_t columns, float* out) {
  lay_out_as(b, row_step, column_step, depth, columns, out);
}
void multiply_single(const float* x, std::size_t x_stride, std::size_t count, std::size_t depth, const float* tiles,
                     std::size_t columns, float* c, std::size_t c_stride, bool onto) {
  multiply_as(x, x_stride, count, depth, tiles, columns, c, c_stride, onto);
}

// ---- the triangle: its tile of columns [first, first + width) has the rows 0 … first + width − 1, the last of them a
// triangle with zeros on and below the diagonal ----

using Lanes = Tag<double>;
using V = Lane<double>;
constexpr std::size_t kLanes = kLanesOf<double>, kTile = kTileOf<double>;

std::size_t triangle_size(std::size_t side) {
  std::size_t size = 0;
  for (std::size_t first = 0; first < side; first += kTile)
    size += std::min(first + kTile, side) * width_of<double>(first, side);
  return size;
}

void lay_out_triangle(const double* r, std::size_t stride, std::size_t side, double* out) {
  for (std::size_t first = 0; first < side; first += kTile) {
    const std::size_t width = width_of<double>(first, side), end = std::min(first + kTile, side);
    for (std::size_t k = 0; k < end; ++k, out += width)
      for (std::size_t j = std::max(first, k + 1); j < end; ++j) out[j - first] = r[k * stride + j];
  }
}

/// x_j is known once all before it are; its multiples are then taken from those after it. Up to kMostRows rows side by
/// side, for a row alone would wait for itself.
HWY_INLINE void solve_corner(double* x, std::size_t stride, std::size_t count, std::size_t size, std::size_t width,
                             const double* HWY_RESTRICT triangle, const double* HWY_RESTRICT inverse) {
  const Lanes d;
  HWY_ALIGN double rest[kMostRows][kTile];
  double known[kMostRows][kTile];
  for (std::size_t r = 0; r < count; ++r) {
    std::copy_n(x + r * stride, size, rest[r]);
    std::fill(rest[r] + size, rest[r] + width, 0.0);
  }
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t r = 0; r < count; ++r) {
      known[r][k] = rest[r][k] * inverse[k];
      const V a = hn::Set(d, known[r][k]);
      for (std::size_t v = (k + 1) / kLanes * kLanes; v < width; v += kLanes)
        hn::Store(hn::NegMulAdd(a, hn::LoadU(d, triangle + k * width + v), hn::Load(d, rest[r] + v)), d, rest[r] + v);
    }
  }
  for (std::size_t r = 0; r < count; ++r) std::copy_n(known[r], size, x + r * stride);
}

void divide(double* x, std::size_t stride, std::size_t count, std::size_t side, const double* tiles,
            const double* inverse) {
  for (std::size_t i = 0; i < count; i += kChunk) {
    const std::size_t rows = std::min(kChunk, count - i);
    double* const chunk = x + i * stride;
    const double* b = tiles;
    for (std::size_t first = 0; first < side; first += kTile) {
      const std::size_t width = width_of<double>(first, side), size = std::min(kTile, side - first);
      for (std::size_t from = 0; from < first; from += kDepth)
        tile<true>(chunk + from, stride, rows, std::min(kDepth, first - from), b + from * width, chunk + first, stride,
                   side - first, true);
      for (std::size_t r = 0; r < rows; r += kMostRows)
        solve_corner(chunk + r * stride + first, stride, std::min(kMostRows, rows - r), size, width, b + first * width,
                     inverse + first);
      b += (first + size) * width;
    }
  }
}

}  // namespace lemma::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma {
namespace rows {
HWY_EXPORT(padded);
HWY_EXPORT(lay_out);
HWY_EXPORT(multiply);
HWY_EXPORT(padded_single);
HWY_EXPORT(lay_out_single);
HWY_EXPORT(multiply_single);
HWY_EXPORT(triangle_size);
HWY_EXPORT(lay_out_triangle);
HWY_EXPORT(divide);

namespace {

Matrix products(const MatrixView& x, const MatrixView& b, RightFactor::As as, const Execution& execution) {
  constexpr Index kRows = 1024;  // for one thread at a time
  const RightFactor factor(b, as);
  Matrix out(x.rows(), as == RightFactor::As::plain ? b.cols() : b.rows());
  parallel_for((x.rows() + kRows - 1) / kRows, execution, [&](Index part) {
    const Index first = part * kRows, size = std::min(kRows, x.rows() - first);
    factor.multiply(x.middleRows(first, size), out.middleRows(first, size));
  });
  return out;
}

}  // namespace
}  // namespace rows

RightFactor::RightFactor(const MatrixView& b, As as)
    : depth_(as == As::plain ? b.rows() : b.cols()), columns_(as == As::plain ? b.cols() : b.rows()) {
  using namespace rows;
  tiles_.assign(LEMMA_DISPATCH(padded)(at(columns_)) * at(depth_), 0.0);
  const std::size_t stride = at(b.outerStride());
  LEMMA_DISPATCH(lay_out)
  (b.data(), as == As::plain ? stride : 1, as == As::plain ? 1 : stride, at(depth_), at(columns_), tiles_.data());
}

void RightFactor::run(const MatrixView& x, Eigen::Ref<Matrix> out, bool onto) const {
  using namespace rows;
  require(x.cols() == depth_ && out.cols() == columns_ && out.rows() == x.rows(), "row products: the sizes do not fit");
  LEMMA_DISPATCH(multiply)
  (x.data(), at(x.outerStride()), at(x.rows()), at(depth_), tiles_.data(), at(columns_), out.data(),
   at(out.outerStride()), onto);
}

SingleFactor::SingleFactor(const MatrixView& b, RightFactor::As as)
    : depth_(as == RightFactor::As::plain ? b.rows() : b.cols()),
      columns_(as == RightFactor::As::plain ? b.cols() : b.rows()) {
  using namespace rows;
  const bool plain = as == RightFactor::As::plain;
  tiles_.assign(LEMMA_DISPATCH(padded_single)(at(columns_)) * at(depth_), 0.0F);
  const std::size_t stride = at(b.outerStride());
  LEMMA_DISPATCH(lay_out_single)
  (b.data(), plain ? stride : 1, plain ? 1 : stride, at(depth_), at(columns_), tiles_.data());
}

void SingleFactor::multiply(const SingleView& x, Eigen::Ref<SingleMatrix> out) const {
  using namespace rows;
  require(x.cols() == depth_ && out.cols() == columns_ && out.rows() == x.rows(), "row products: the sizes do not fit");
  LEMMA_DISPATCH(multiply_single)
  (x.data(), at(x.outerStride()), at(x.rows()), at(depth_), tiles_.data(), at(columns_), out.data(),
   at(out.outerStride()), false);
}

RightTriangle::RightTriangle(const MatrixView& r) : side_(r.rows()), inverse_diagonal_(at(r.rows())) {
  using namespace rows;
  require(r.rows() == r.cols(), "row products: a triangle is square");
  tiles_.assign(LEMMA_DISPATCH(triangle_size)(at(side_)), 0.0);
  LEMMA_DISPATCH(lay_out_triangle)(r.data(), at(r.outerStride()), at(side_), tiles_.data());
  for (Index j = 0; j < side_; ++j) inverse_diagonal_[at(j)] = 1 / r(j, j);
}

void RightTriangle::divide(Eigen::Ref<Matrix> x) const {
  using namespace rows;
  require(x.cols() == side_, "row products: the sizes do not fit");
  LEMMA_DISPATCH(divide)
  (x.data(), at(x.outerStride()), at(x.rows()), at(side_), tiles_.data(), inverse_diagonal_.data());
}

Matrix row_products(const MatrixView& x, const MatrixView& b, const Execution& execution) {
  return rows::products(x, b, RightFactor::As::plain, execution);
}
Matrix row_products_transposed(const MatrixView& x, const MatrixView& b, const Execution& execution) {
  return rows::products(x, b, RightFactor::As::transposed, execution);
}

}  // namespace lemma
#endif  // HWY_ONCE
