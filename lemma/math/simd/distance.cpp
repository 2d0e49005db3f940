// lemma/math/simd/distance.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/distance.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/distance.hpp>
#include <limits>

#ifndef LEMMA_MATH_SIMD_DISTANCE_ONCE
#define LEMMA_MATH_SIMD_DISTANCE_ONCE
namespace lemma::simd {
constexpr std::size_t kPlainTile = 16;  // centres side by side in the plain search
constexpr std::size_t kFilterTile = 8;  // and in the filter
constexpr std::size_t kChunk = 8;       // columns between two looks whether a sum may stop
}  // namespace lemma::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- the plain search: lanes are centres, so each lane is the textbook loop ----

using Wide = hn::ScalableTag<double>;
constexpr std::size_t kVectors = kPlainTile / hn::MaxLanes(Wide());

/// Squared distances of x to the centres of one tile; false as soon as all are beyond `limit`. Sums of squares never fall,
/// also after rounding, so what is beyond it stays there.
HWY_INLINE bool tile_distances(const double* HWY_RESTRICT x, std::size_t columns, const double* HWY_RESTRICT tile,
                               double limit, double* HWY_RESTRICT out) {
  const Wide d;
  constexpr std::size_t n = hn::MaxLanes(Wide());
  const auto most = hn::Set(d, limit);
  hn::Vec<Wide> sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (std::size_t j = 0; j < columns;) {
    for (const std::size_t end = std::min(columns, j + kChunk); j < end; ++j) {
      const auto xj = hn::Set(d, x[j]);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto gap = hn::Sub(xj, hn::LoadU(d, tile + j * kPlainTile + v * n));
        sum[v] = hn::Add(sum[v], hn::Mul(gap, gap));
      }
    }
    auto least = sum[0];
    HWY_UNROLL(8)
    for (std::size_t v = 1; v < kVectors; ++v) least = hn::Min(least, sum[v]);
    if (hn::AllTrue(d, hn::Gt(least, most))) return false;
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, out + v * n);
  return true;
}

int plain_nearest(const double* x, std::size_t columns, const double* tiles, std::size_t count, double limit,
                  double* distance) {
  double best = limit, out[kPlainTile];
  int which = static_cast<int>(count);  // until a centre at the limit or nearer is met, and the guess is one
  for (std::size_t first = 0; first < count; first += kPlainTile) {
    if (!tile_distances(x, columns, tiles + first * columns, best, out)) continue;
    for (std::size_t k = 0; k < std::min(kPlainTile, count - first); ++k)
      if (out[k] < best || (out[k] == best && which == static_cast<int>(count))) {
        best = out[k];
        which = static_cast<int>(first + k);
      }
  }
  *distance = best;
  return which;
}

// ---- the filter: lanes are rows ----

using Narrow = hn::ScalableTag<float>;
using Whole = hn::RebindToSigned<Narrow>;
using Half = hn::Rebind<float, Wide>;
constexpr std::size_t kLanes = hn::MaxLanes(Narrow());
constexpr std::size_t kGroups = 3;                               // vectors of rows in a panel
constexpr std::size_t kAtOnce = HWY_TARGET <= HWY_AVX3 ? 8 : 4;  // centres: 24 sums in 32 registers, 12 in 16
constexpr std::size_t kPanel = kGroups * kLanes;
using VF = hn::Vec<Narrow>;

/// Rows moved to the frame, in float32, first as they lie, then with the rows of a group in the lanes.
HWY_INLINE void pack(const double* x, std::size_t stride, const int* rows, std::size_t count, std::size_t columns,
                     const double* HWY_RESTRICT origin, double scale, float* HWY_RESTRICT straight,
                     float* HWY_RESTRICT panel, float* HWY_RESTRICT squared_norm) {
  const Wide wide;
  const Half half;
  const auto factor = hn::Set(wide, scale);
  constexpr std::size_t n = hn::MaxLanes(Wide());
  for (std::size_t i = 0; i < kPanel; ++i) {
    const double* row = x + static_cast<std::size_t>(rows[std::min(i, count - 1)]) * stride;
    float* to = straight + i * columns;
    std::size_t j = 0;
    for (; j + n <= columns; j += n) {
      const auto moved = hn::Mul(hn::Sub(hn::LoadU(wide, row + j), hn::LoadU(wide, origin + j)), factor);
      hn::StoreU(hn::DemoteTo(half, moved), half, to + j);
    }
    for (; j < columns; ++j) to[j] = static_cast<float>((row[j] - origin[j]) * scale);
  }
  const Narrow narrow;
  const auto places = hn::Mul(hn::Iota(Whole(), 0), hn::Set(Whole(), static_cast<int>(columns)));
  for (std::size_t g = 0; g < kGroups; ++g) {
    VF squares = hn::Zero(narrow);
    for (std::size_t j = 0; j < columns; ++j) {
      const VF v = hn::GatherIndex(narrow, straight + g * kLanes * columns + j, places);
      squares = hn::MulAdd(v, v, squares);
      hn::StoreU(v, narrow, panel + j * kPanel + g * kLanes);
    }
    hn::StoreU(squares, narrow, squared_norm + g * kLanes);
  }
}

struct Leaders {
  VF best[kGroups], second[kGroups];
  hn::Vec<Whole> which[kGroups];
};

/// Scores of a panel's rows against kAtOnce centres, and the new leaders.
HWY_INLINE void score(const float* HWY_RESTRICT panel, std::size_t columns, const float* HWY_RESTRICT tile,
                      const float* HWY_RESTRICT half, int first, Leaders& leaders) {
  const Narrow d;
  VF sum[kGroups][kAtOnce];
  HWY_UNROLL(8)
  for (std::size_t c = 0; c < kAtOnce; ++c) {
    HWY_UNROLL(3)
    for (std::size_t g = 0; g < kGroups; ++g) sum[g][c] = hn::Set(d, half[c]);
  }
  for (std::size_t j = 0; j < columns; ++j) {
    VF x[kGroups];
    HWY_UNROLL(3)
    for (std::size_t g = 0; g < kGroups; ++g) x[g] = hn::LoadU(d, panel + j * kPanel + g * kLanes);
    HWY_UNROLL(8)
    for (std::size_t c = 0; c < kAtOnce; ++c) {
      const VF center = hn::Set(d, tile[j * kFilterTile + c]);
      HWY_UNROLL(3)
      for (std::size_t g = 0; g < kGroups; ++g) sum[g][c] = hn::NegMulAdd(x[g], center, sum[g][c]);
    }
  }
  HWY_UNROLL(8)
  for (std::size_t c = 0; c < kAtOnce; ++c) {
    HWY_UNROLL(3)
    for (std::size_t g = 0; g < kGroups; ++g) {
      const VF s = sum[g][c];
      const auto leads = hn::Lt(s, leaders.best[g]);
      leaders.second[g] = hn::Min(leaders.second[g], hn::Max(leaders.best[g], s));
      leaders.best[g] = hn::Min(leaders.best[g], s);
      leaders.which[g] = hn::IfThenElse(hn::RebindMask(Whole(), leads), hn::Set(Whole(), first + static_cast<int>(c)),
                                        leaders.which[g]);
    }
  }
}

std::size_t filter_space(std::size_t columns) { return 2 * kPanel * columns; }
std::size_t filter_panel() { return kPanel; }

/// `out` arrays have room for whole panels.
void filter_rows(const double* x, std::size_t stride, const int* rows, std::size_t count, std::size_t columns,
                 const double* origin, double scale, const float* tiles, const float* half, std::size_t centers,
                 float* space, float* best, float* second, float* squared_norm, int* which) {
  const Narrow d;
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  float* panel = space + kPanel * columns;
  for (std::size_t i = 0; i < count; i += kPanel) {
    pack(x, stride, rows + i, std::min(kPanel, count - i), columns, origin, scale, space, panel, squared_norm + i);
    Leaders leaders;
    for (std::size_t g = 0; g < kGroups; ++g) {
      leaders.best[g] = leaders.second[g] = infinity;
      leaders.which[g] = hn::Zero(Whole());
    }
    for (std::size_t k = 0; k < centers; k += kAtOnce)
      score(panel, columns, tiles + (k / kFilterTile) * kFilterTile * columns + k % kFilterTile, half + k,
            static_cast<int>(k), leaders);
    for (std::size_t g = 0; g < kGroups; ++g) {
      hn::StoreU(leaders.best[g], d, best + i + g * kLanes);
      hn::StoreU(leaders.second[g], d, second + i + g * kLanes);
      hn::StoreU(leaders.which[g], Whole(), which + i + g * kLanes);
    }
  }
}

bool fused() {
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64
  return true;
#else
  return false;
#endif
}

// ---- rows and their own centres ----

using Four = hn::CappedTag<double, 4>;

void own_distances(const double* x, std::size_t stride, std::size_t rows, std::size_t columns, const double* centers,
                   const int* label, double* distance) {
  const Four d;
  constexpr std::size_t n = hn::MaxLanes(Four());
  for (std::size_t i = 0; i < rows; ++i) {
    const double* row = x + i * stride;
    const double* center = centers + static_cast<std::size_t>(label[i]) * columns;
    auto sum = hn::Zero(d);
    std::size_t j = 0;
    for (; j + n <= columns; j += n) {
      const auto gap = hn::Sub(hn::LoadU(d, row + j), hn::LoadU(d, center + j));
      sum = hn::Add(sum, hn::Mul(gap, gap));
    }
    double total = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; j < columns; ++j) total += (row[j] - center[j]) * (row[j] - center[j]);
    distance[i] = total;
  }
}

void add_rows(const double* x, std::size_t stride, std::size_t rows, std::size_t columns,
              const double* HWY_RESTRICT origin, const int* label, const double* weight, double* HWY_RESTRICT sums) {
  const Wide d;
  constexpr std::size_t n = hn::MaxLanes(Wide());
  for (std::size_t i = 0; i < rows; ++i) {
    const double* row = x + i * stride;
    double* sum = sums + static_cast<std::size_t>(label[i]) * columns;
    const double w = weight ? weight[i] : 1.0;
    if (w == 0) continue;  // a row that is not there, wherever it lies
    const auto factor = hn::Set(d, w);
    std::size_t j = 0;
    for (; j + n <= columns; j += n) {
      const auto moved = hn::Mul(factor, hn::Sub(hn::LoadU(d, row + j), hn::LoadU(d, origin + j)));
      hn::StoreU(hn::Add(hn::LoadU(d, sum + j), moved), d, sum + j);
    }
    for (; j < columns; ++j) sum[j] += w * (row[j] - origin[j]);
  }
}

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {
HWY_EXPORT(plain_nearest);
HWY_EXPORT(filter_space);
HWY_EXPORT(filter_panel);
HWY_EXPORT(filter_rows);
HWY_EXPORT(fused);
HWY_EXPORT(own_distances);
HWY_EXPORT(add_rows);

namespace {
std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }
std::size_t padded(Index count, std::size_t tile) { return (size_of(count) + tile - 1) / tile * tile; }

/// Σⱼ (xⱼ − cⱼ)² in the order of j.
double squared_distance(const double* x, const double* c, Index columns) {
  double sum = 0;
  for (Index j = 0; j < columns; ++j) sum += (x[j] - c[j]) * (x[j] - c[j]);
  return sum;
}
}  // namespace

PlainCenters::PlainCenters(const MatrixView& centers)
    : count_(centers.rows()),
      width_(centers.cols()),
      rows_(centers),
      tiles_(padded(centers.rows(), kPlainTile) * size_of(centers.cols()), std::numeric_limits<double>::infinity()) {
  for (Index k = 0; k < count_; ++k)
    for (Index j = 0; j < width_; ++j)
      tiles_[((size_of(k) / kPlainTile) * size_of(width_) + size_of(j)) * kPlainTile + size_of(k) % kPlainTile] =
          centers(k, j);
}

int PlainCenters::nearest(const double* x, int guess, double& distance) const {
  const double limit = squared_distance(x, rows_.row(guess).data(), width_);
  return LEMMA_DISPATCH(plain_nearest)(x, size_of(width_), tiles_.data(), size_of(count_), limit, &distance);
}

// The score is h − Σ xⱼcⱼ, one term after another. With u = 2⁻²⁴, C the largest ‖c‖ and ‖x‖ ≤ norm, the roundings of x, c, h
// and of the p steps together are at most (p + 4) u (½C² + norm·C), twice that where a step is two operations. `square`
// and the like are the plain search's own roundings, 2 (p + 4) 2⁻⁵³ of a squared distance (≤ 2 norm² + 2 C²), so that a
// decision of the filter is also that of the plain search. What is lost to underflow is below the last term.
FilterCenters::FilterCenters(const MatrixView& centers, const Frame& frame)
    : count_(centers.rows()),
      width_(centers.cols()),
      tiles_(padded(centers.rows(), kFilterTile) * size_of(centers.cols()), 0.0f),
      half_(padded(centers.rows(), kFilterTile), std::numeric_limits<float>::infinity()) {
  double longest = 0;
  for (Index k = 0; k < count_; ++k) {
    double squares = 0;
    for (Index j = 0; j < width_; ++j) {
      const double c = (centers(k, j) - frame.origin(j)) * frame.scale;
      squares += c * c;
      tiles_[((size_of(k) / kFilterTile) * size_of(width_) + size_of(j)) * kFilterTile + size_of(k) % kFilterTile] =
          static_cast<float>(c);
    }
    half_[size_of(k)] = static_cast<float>(0.5 * squares);
    longest = std::max(longest, std::sqrt(squares));
  }
  const double p = static_cast<double>(width_) + 4;
  const double step = 1.05 * p * 0x1p-24 * (LEMMA_DISPATCH(fused)() ? 1 : 2);
  slope_ = step * longest;
  square_ = p * 0x1p-49;
  level_ = 0.5 * step * longest * longest + square_ * longest * longest + p * (1 + longest) * 0x1p-100;
  norm_error_ = step;
  usable_ = longest < 0x1p40 && width_ <= 8192;
}

struct Filter {
  static void run(const MatrixView& x, std::span<const int> rows, const FilterCenters& centers, const Frame& frame,
                  Scores& out) {
    const std::size_t panel = LEMMA_DISPATCH(filter_panel)(), columns = size_of(centers.width_);
    const std::size_t room = (rows.size() + panel - 1) / panel * panel;
    for (auto* array : {&out.best, &out.second, &out.squared_norm}) array->resize(std::max(array->size(), room));
    out.which.resize(std::max(out.which.size(), room));
    out.space.resize(std::max(out.space.size(), LEMMA_DISPATCH(filter_space)(columns)));
    LEMMA_DISPATCH(filter_rows)
    (x.data(), size_of(x.outerStride()), rows.data(), rows.size(), columns, frame.origin.data(), frame.scale,
     centers.tiles_.data(), centers.half_.data(), centers.half_.size(), out.space.data(), out.best.data(),
     out.second.data(), out.squared_norm.data(), out.which.data());
  }
};

void filter(const MatrixView& x, std::span<const int> rows, const FilterCenters& centers, const Frame& frame,
            Scores& out) {
  Filter::run(x, rows, centers, frame, out);
}

void own_distances(const MatrixView& x, const Matrix& centers, std::span<const int> label, std::span<double> distance) {
  LEMMA_DISPATCH(own_distances)
  (x.data(), size_of(x.outerStride()), size_of(x.rows()), size_of(x.cols()), centers.data(), label.data(),
   distance.data());
}

void add_rows(const MatrixView& x, const Vector& origin, std::span<const int> label, std::span<const double> weight,
              Matrix& sums) {
  LEMMA_DISPATCH(add_rows)
  (x.data(), size_of(x.outerStride()), size_of(x.rows()), size_of(x.cols()), origin.data(), label.data(),
   weight.empty() ? nullptr : weight.data(), sums.data());
}

}  // namespace lemma::simd
#endif
