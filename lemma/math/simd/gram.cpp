// lemma/math/simd/gram.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/gram.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <lemma/core/hearing.hpp>
#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/gram.hpp>
#include <utility>

#ifndef LEMMA_GRAM_TAKEN  // once for all targets
#define LEMMA_GRAM_TAKEN
namespace lemma::simd {
/// How many rows were looked at, and how many of them were taken.
struct Taken {
  std::size_t looked_at = 0, rows = 0;
};
}  // namespace lemma::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<double>;
using V = hn::Vec<Lanes>;
constexpr std::size_t kLanes = hn::MaxLanes(Lanes());
constexpr std::size_t kVectors = kLanes >= 4 ? 3 : 4;                   // side by side in a panel
constexpr std::size_t kAtOnce = kLanes >= 8 ? 8 : kLanes == 4 ? 4 : 2;  // rows of C: 24 sums in 32 registers, 12 in 16
constexpr std::size_t kPanel = kVectors * kLanes;
constexpr std::size_t kPanelsAtOnce = 8;  // stay in the second cache while the others stream by
static_assert(kPanel % kAtOnce == 0);

std::size_t panel_width() { return kPanel; }

/// One row to its place in each panel. What the last vector holds beyond the last column is never stored in C.
HWY_INLINE void centre_into_panels(const double* HWY_RESTRICT x, const double* HWY_RESTRICT origin, double scale,
                                   std::size_t columns, double* HWY_RESTRICT out, std::size_t panel_size,
                                   double* HWY_RESTRICT sum) {
  const Lanes d;
  const V factor = hn::Set(d, scale);
  std::size_t j = 0;
  for (; j < columns; out += panel_size) {
    double* to = out;
    for (; to < out + kPanel && j + kLanes <= columns; j += kLanes, to += kLanes) {
      const V moved = hn::Mul(hn::Sub(hn::LoadU(d, x + j), hn::LoadU(d, origin + j)), factor);
      hn::Store(moved, d, to);
      if (sum) hn::StoreU(hn::MulAdd(moved, factor, hn::LoadU(d, sum + j)), d, sum + j);
    }
    if (to == out + kPanel || j == columns) continue;
#if HWY_TARGET <= HWY_AVX2  // masked vectors touch nothing beyond the last column
    const auto there = hn::FirstN(d, columns - j);
    const V moved = hn::Mul(hn::Sub(hn::MaskedLoad(there, d, x + j), hn::MaskedLoad(there, d, origin + j)), factor);
    hn::Store(moved, d, to);
    if (sum) hn::BlendedStore(hn::Add(hn::MaskedLoad(there, d, sum + j), hn::Mul(moved, factor)), there, d, sum + j);
    j = columns;
#else
    for (; j < columns; ++j, ++to) {
      *to = (x[j] - origin[j]) * scale;
      if (sum) sum[j] += *to * scale;
    }
#endif
  }
}

void centre_row(const double* x, const double* origin, double scale, std::size_t columns, double* out,
                std::size_t panel_size, double* sum) {
  centre_into_panels(x, origin, scale, columns, out, panel_size, sum);
}

/// Rows of weight other than 0, until `room` of them have come.
Taken centre_rows(const double* x, std::size_t stride, std::size_t count, const double* origin, const double* roots,
                  std::size_t columns, std::size_t room, double* out, std::size_t panel_size, double* sum) {
  Taken taken;
  for (; taken.looked_at < count && taken.rows < room; ++taken.looked_at) {
    const double root = roots[taken.looked_at];
    if (!(root != 0)) continue;
    centre_into_panels(x + taken.looked_at * stride, origin, root, columns, out + taken.rows * kPanel, panel_size, sum);
    ++taken.rows;
  }
  return taken;
}

/// Σ aᵢ bⱼ over the rows of a tile: kAtOnce columns of one panel by Count vectors of columns of another.
template <std::size_t Count>
HWY_INLINE void products(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, std::size_t rows,
                         double* HWY_RESTRICT out) {
  const Lanes d;
  V sum[kAtOnce][Count];
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Count; ++v) sum[i][v] = hn::Zero(d);
  }
  for (std::size_t k = 0; k < rows; ++k, a += kPanel, b += kPanel) {
    V right[Count];
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Count; ++v) right[v] = hn::Load(d, b + v * kLanes);
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const V left = hn::Set(d, a[i]);
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < Count; ++v) sum[i][v] = hn::MulAdd(left, right[v], sum[i][v]);
    }
  }
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Count; ++v) hn::Store(sum[i][v], d, out + i * kPanel + v * kLanes);
  }
}

template <std::size_t Most>
HWY_INLINE void products_of(std::size_t count, const double* a, const double* b, std::size_t rows, double* out) {
  if constexpr (Most > 1) {
    if (count < Most) return products_of<Most - 1>(count, a, b, rows, out);
  }
  products<Most>(a, b, rows, out);
}

/// Where a small piece of C lies: kAtOnce rows from `i`, `width` columns from `j`.
struct Piece {
  double* c;
  std::size_t stride, side, i, j, width;
};

/// Asks for the piece's memory ahead of its products.
HWY_INLINE void fetch(const Piece& piece) {
  for (std::size_t r = 0; r < kAtOnce && piece.i + r < piece.side; ++r)
    for (std::size_t k = 0; k < piece.width; k += 8)
      hwy::Prefetch(piece.c + (piece.i + r) * piece.stride + std::min(piece.j + k, piece.side - 1));
}

/// What lies on or above the diagonal goes to C.
HWY_INLINE void store(const double* HWY_RESTRICT from, const Piece& piece, bool onto) {
  const Lanes d;
  for (std::size_t r = 0; r < kAtOnce && piece.i + r < piece.side; ++r) {
    const double* in = from + r * kPanel;
    const std::size_t row = piece.i + r;
    double* to = piece.c + row * piece.stride + piece.j;
    if (piece.j >= row && piece.j + piece.width <= piece.side) {
      for (std::size_t k = 0; k < piece.width; k += kLanes) {
        const V value = hn::Load(d, in + k);
        hn::StoreU(onto ? hn::Add(hn::LoadU(d, to + k), value) : value, d, to + k);
      }
    } else {
      for (std::size_t k = row > piece.j ? row - piece.j : 0; k < piece.width && piece.j + k < piece.side; ++k)
        to[k] = onto ? to[k] + in[k] : in[k];
    }
  }
}

/// Vectors wholly left of the diagonal are left out, and so are those beyond the last column.
void square_panels(const double* panels, std::size_t panel_size, std::size_t rows, std::size_t side, double* c,
                   std::size_t stride, bool onto) {
  HWY_ALIGN double out[kAtOnce * kPanel];
  constexpr std::size_t kGroup = kPanelsAtOnce * kPanel;
  for (std::size_t first = 0; first < side; first += kGroup)
    for (std::size_t j = first; j < side; j += kPanel)
      for (std::size_t i = first; i < std::min({side, j + kPanel, first + kGroup}); i += kAtOnce) {
        const std::size_t from = i > j ? (i - j) / kLanes : 0,
                          to = std::min(kVectors, (side - j + kLanes - 1) / kLanes);
        const Piece piece{c, stride, side, i, j + from * kLanes, (to - from) * kLanes};
        fetch(piece);
        products_of<kVectors>(to - from, panels + i / kPanel * panel_size + i % kPanel,
                              panels + j / kPanel * panel_size + from * kLanes, rows, out);
        store(out, piece, onto);
      }
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(panel_width);
HWY_EXPORT(centre_row);
HWY_EXPORT(centre_rows);
HWY_EXPORT(square_panels);

namespace {

constexpr std::size_t kLine = 64 / sizeof(double);  // numbers in a cache line

std::vector<double>& spare() {
  thread_local std::vector<double> numbers;
  return numbers;
}

/// Rows squared at a time: enough that C is seldom visited, and at most about 4 MB.
std::size_t tile_rows(std::size_t columns) {
  return std::clamp<std::size_t>((std::size_t{1} << 19) / std::max<std::size_t>(1, columns), 32, 256);
}

double* line_start(double* at) {
  const auto skipped = reinterpret_cast<std::uintptr_t>(at) / sizeof(double) % kLine;
  return at + (skipped == 0 ? 0 : kLine - skipped);
}

}  // namespace

GramTile::GramTile(Eigen::Ref<Matrix> upper, Start start)
    : upper_(upper),
      columns_(static_cast<std::size_t>(upper.cols())),
      capacity_(tile_rows(columns_)),
      onto_(start == Start::onto),
      scratch_(std::exchange(spare(), {})) {
  const std::size_t width = LEMMA_DISPATCH(panel_width)(), needed = (columns_ + width - 1) / width * width * capacity_;
  if (scratch_.size() < needed + kLine) scratch_.resize(needed + kLine);
  panels_ = line_start(scratch_.data());
}

GramTile::~GramTile() { spare() = std::move(scratch_); }

void GramTile::add(std::span<const double> x, std::span<const double> origin, double root, std::span<double> sum) {
  if (used_ == capacity_) square();
  const std::size_t width = LEMMA_DISPATCH(panel_width)();
  LEMMA_DISPATCH(centre_row)
  (x.data(), origin.data(), root, columns_, panels_ + used_ * width, width * capacity_, sum.data());
  ++used_;
}

void GramTile::add(const MatrixView& x, std::span<const double> origin, std::span<const double> roots,
                   std::span<double> sum) {
  const std::size_t width = LEMMA_DISPATCH(panel_width)(), stride = static_cast<std::size_t>(x.outerStride());
  for (std::size_t done = 0; done < roots.size();) {
    if (used_ == capacity_) square();
    const auto taken = LEMMA_DISPATCH(centre_rows)(x.data() + done * stride, stride, roots.size() - done, origin.data(),
                                                   roots.data() + done, columns_, capacity_ - used_,
                                                   panels_ + used_ * width, width * capacity_, sum.data());
    done += taken.looked_at;
    used_ += taken.rows;
  }
}

void GramTile::square() {
  finish();
  ask();
}

void GramTile::finish() {
  if (used_ == 0 && onto_) return;
  const std::size_t size = LEMMA_DISPATCH(panel_width)() * capacity_;
  LEMMA_DISPATCH(square_panels)
  (panels_, size, used_, columns_, upper_.data(), static_cast<std::size_t>(upper_.outerStride()), onto_);
  onto_ = true;
  used_ = 0;
}

}  // namespace lemma::simd
#endif
