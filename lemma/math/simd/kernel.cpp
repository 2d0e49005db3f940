// lemma/math/simd/kernel.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd/kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <lemma/math/simd/dispatch.hpp>
#include <lemma/math/simd/kernel.hpp>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<double>;
using V = hn::Vec<Lanes>;

// Products of kRows rows with kVectors vectors of points stay in registers.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kRows = 6, kVectors = 4;
#else
constexpr std::size_t kRows = 4, kVectors = 2;
#endif
constexpr std::size_t kMostLanes = HWY_MAX_BYTES / sizeof(double);

/// 2^x for x ≤ 0, to about one unit in the last place; 0 below −1022.5.
HWY_INLINE V power_of_two(V x) {
  const Lanes d;
  // 1.5 · 2⁵² + 1023: a sum with it is rounded to a whole number, and ends in the digits of an exponent's field
  const V shift = hn::Set(d, 6755399441055744.0 + 1023.0);
  const V held = hn::Max(x, hn::Set(d, -1023.0));  // whose field is that of 0
  const V shifted = hn::Add(held, shift);
  const V r = hn::Sub(held, hn::Sub(shifted, shift));  // exactly, |r| ≤ ½
  // interpolates at the zeros of Chebyshev's polynomial, with 2⁰ = 1: relative error 2e-17
  V p = hn::Set(d, 0x1.e9d3fe3952179p-32);
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.e6063f7217bc6p-28));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.b524fae627834p-24));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.62bfd47773353p-20));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.ffcbfc670dcd4p-17));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.430913096fd9fp-13));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.5d87fe78a5276p-10));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.3b2ab6fba1ddap-7));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.c6b08d704a0c2p-5));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.ebfbdff82c598p-3));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.62e42fefa39efp-1));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(hn::RebindToUnsigned<Lanes>(), shifted))));
}

/// Products of `Count` rows (from x on, `stride` apart) with all points of a panel.
template <std::size_t Count>
HWY_INLINE void panel_products(const double* HWY_RESTRICT x, std::size_t stride, std::size_t width,
                               const double* HWY_RESTRICT points, double* HWY_RESTRICT out) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  V sum[Count][kVectors];
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < Count; ++r) {
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < kVectors; ++c) sum[r][c] = hn::Zero(d);
  }
  for (std::size_t k = 0; k < width; ++k, points += kVectors * lanes) {
    V z[kVectors];
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < kVectors; ++c) z[c] = hn::LoadU(d, points + c * lanes);
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < Count; ++r) {
      const V a = hn::Set(d, x[r * stride + k]);
      HWY_UNROLL(4)
      for (std::size_t c = 0; c < kVectors; ++c) sum[r][c] = hn::MulAdd(a, z[c], sum[r][c]);
    }
  }
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < Count; ++r) {
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < kVectors; ++c) hn::Store(sum[r][c], d, out + (r * kVectors + c) * lanes);
  }
}

HWY_INLINE void products_of(std::size_t count, const double* x, std::size_t stride, std::size_t width,
                            const double* points, double* out) {
  if (count == kRows) return panel_products<kRows>(x, stride, width, points, out);
  for (std::size_t r = 0; r < count; ++r)
    panel_products<1>(x + r * stride, stride, width, points, out + r * kVectors * hn::Lanes(Lanes()));
}

using detail::PanelsOf;
using detail::RowsOf;
HWY_INLINE const double* panel(const PanelsOf& z, std::size_t p) {
  return z.panels + p * z.width * kVectors * hn::Lanes(Lanes());
}
HWY_INLINE const double* norms_of(const PanelsOf& z, std::size_t p) {
  return z.half_norms + p * kVectors * hn::Lanes(Lanes());
}

HWY_INLINE V kernel_of(V product, V row_norm, V norm) {
  return power_of_two(hn::Min(hn::Sub(product, hn::Add(row_norm, norm)), hn::Zero(Lanes())));
}

std::size_t panel_size() { return kVectors * hn::Lanes(Lanes()); }

/// ½ Σ z² of each point of a panel, summed as products are.
void half_norms(const double* HWY_RESTRICT points, std::size_t width, double* HWY_RESTRICT out) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_UNROLL(4)
  for (std::size_t c = 0; c < kVectors; ++c) {
    V sum = hn::Zero(d);
    for (std::size_t k = 0; k < width; ++k) {
      const V z = hn::LoadU(d, points + k * kVectors * lanes + c * lanes);
      sum = hn::MulAdd(z, z, sum);
    }
    hn::StoreU(hn::Mul(sum, hn::Set(d, 0.5)), d, out + c * lanes);
  }
}

/// A whole panel's kernel values with some rows: row after row into `out`.
void kernel_panel(const PanelsOf& z, std::size_t p, const RowsOf& x, double* HWY_RESTRICT out, std::size_t out_stride) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double products[kRows * kVectors * kMostLanes];
  for (std::size_t i = 0; i < x.count; i += kRows) {
    const std::size_t count = std::min(kRows, x.count - i);
    products_of(count, x.rows + i * z.width, z.width, z.width, panel(z, p), products);
    for (std::size_t r = 0; r < count; ++r) {
      const V norm = hn::Set(d, x.half_norms[i + r]);
      HWY_UNROLL(4)
      for (std::size_t c = 0; c < kVectors; ++c) {
        const V product = hn::Load(d, products + (r * kVectors + c) * lanes);
        hn::StoreU(kernel_of(product, norm, hn::LoadU(d, norms_of(z, p) + c * lanes)), d,
                   out + (i + r) * out_stride + c * lanes);
      }
    }
  }
}

/// sum_j += Σ_i weight_i k(x_i, z_j) for the points of panels [from, to); `sum` begins with the first of these.
void add_at_panels(const PanelsOf& z, std::size_t from, std::size_t to, const RowsOf& x,
                   const double* HWY_RESTRICT weight, double* HWY_RESTRICT sum) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double products[kRows * kVectors * kMostLanes];
  for (std::size_t i = 0; i < x.count; i += kRows) {
    const std::size_t count = std::min(kRows, x.count - i);
    for (std::size_t p = from; p < to; ++p) {
      products_of(count, x.rows + i * z.width, z.width, z.width, panel(z, p), products);
      double* const here = sum + (p - from) * kVectors * lanes;
      HWY_UNROLL(4)
      for (std::size_t c = 0; c < kVectors; ++c) {
        V total = hn::LoadU(d, here + c * lanes);
        const V norm = hn::LoadU(d, norms_of(z, p) + c * lanes);
        for (std::size_t r = 0; r < count; ++r) {
          const V product = hn::Load(d, products + (r * kVectors + c) * lanes);
          total =
              hn::MulAdd(hn::Set(d, weight[i + r]), kernel_of(product, hn::Set(d, x.half_norms[i + r]), norm), total);
        }
        hn::StoreU(total, d, here + c * lanes);
      }
    }
  }
}

/// sum_i += Σ_j weight_j k(x_i, z_j) over the points of panels [from, to); `sum` has a vector of lanes for each row.
void add_over_panels(const PanelsOf& z, std::size_t from, std::size_t to, const RowsOf& x,
                     const double* HWY_RESTRICT weight, double* HWY_RESTRICT sum) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double products[kRows * kVectors * kMostLanes];
  for (std::size_t i = 0; i < x.count; i += kRows) {
    const std::size_t count = std::min(kRows, x.count - i);
    for (std::size_t p = from; p < to; ++p) {
      products_of(count, x.rows + i * z.width, z.width, z.width, panel(z, p), products);
      const double* w = weight + p * kVectors * lanes;
      for (std::size_t r = 0; r < count; ++r) {
        const V norm = hn::Set(d, x.half_norms[i + r]);
        V total = hn::LoadU(d, sum + (i + r) * lanes);
        HWY_UNROLL(4)
        for (std::size_t c = 0; c < kVectors; ++c) {
          const V product = hn::Load(d, products + (r * kVectors + c) * lanes);
          total = hn::MulAdd(hn::LoadU(d, w + c * lanes),
                             kernel_of(product, norm, hn::LoadU(d, norms_of(z, p) + c * lanes)), total);
        }
        hn::StoreU(total, d, sum + (i + r) * lanes);
      }
    }
  }
}

std::size_t gaussian_lanes() { return hn::Lanes(Lanes()); }

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(panel_size);
HWY_EXPORT(gaussian_lanes);
HWY_EXPORT(half_norms);
HWY_EXPORT(kernel_panel);
HWY_EXPORT(add_at_panels);
HWY_EXPORT(add_over_panels);

namespace {

detail::RowsOf bare(const GaussianRows& x) { return {x.rows.data(), x.half_norms.data(), at(x.count())}; }

}  // namespace

detail::PanelsOf GaussianPoints::bare() const { return {panels_.data(), half_norms_.data(), at(width_)}; }

Index GaussianPoints::panels_together() const {
  constexpr Index kBytes = 1 << 19;  // which stay in the second cache while all rows pass
  return std::max<Index>(1, kBytes / (8 * panel_ * std::max<Index>(width_, 1)));
}

GaussianPoints::GaussianPoints(const MatrixView& points, double gamma)
    : count_(points.rows()),
      width_(points.cols()),
      panel_(static_cast<Index>(LEMMA_DISPATCH(panel_size)())),
      stretch_(std::sqrt(2 * gamma * std::numbers::log2e)) {
  const Index panels = (count_ + panel_ - 1) / panel_;
  panels_.assign(at(panels * panel_ * width_), 0.0);
  half_norms_.assign(at(panels * panel_), 0.0);
  for (Index p = 0; p < panels; ++p) {
    double* panel = panels_.data() + p * panel_ * width_;
    for (Index i = p * panel_; i < std::min(count_, (p + 1) * panel_); ++i)
      for (Index k = 0; k < width_; ++k) panel[k * panel_ + i - p * panel_] = stretch_ * points(i, k);
    LEMMA_DISPATCH(half_norms)(panel, at(width_), half_norms_.data() + p * panel_);
  }
  if (count_ > 0) greatest_half_norm_ = *std::max_element(half_norms_.begin(), half_norms_.end());
}

GaussianRows GaussianPoints::rows(const MatrixView& x) const {
  GaussianRows out{stretch_ * x, Vector(x.rows())};
  std::vector<double> panel(at(panel_ * width_), 0.0), norms(at(panel_));
  for (Index from = 0; from < x.rows(); from += panel_) {  // by way of a panel, so that norms are summed alike
    const Index size = std::min(panel_, x.rows() - from);
    for (Index i = 0; i < size; ++i)
      for (Index k = 0; k < width_; ++k) panel[at(k * panel_ + i)] = out.rows(from + i, k);
    LEMMA_DISPATCH(half_norms)(panel.data(), at(width_), norms.data());
    std::copy_n(norms.data(), size, out.half_norms.data() + from);
  }
  return out;
}

GaussianRows GaussianPoints::own_rows(std::span<const Index> which) const {
  GaussianRows out{Matrix(std::ssize(which), width_), Vector(std::ssize(which))};
  for (Index i = 0; i < out.count(); ++i) {
    const Index point = which[at(i)], p = point / panel_;
    const double* from = panels_.data() + p * panel_ * width_ + (point - p * panel_);
    for (Index k = 0; k < width_; ++k) out.rows(i, k) = from[k * panel_];
    out.half_norms(i) = half_norms_[at(point)];
  }
  return out;
}

void GaussianPoints::block(const GaussianRows& x, Index first, Eigen::Ref<Matrix> out) const {
  const Index end = first + out.cols();
  Matrix whole;  // panels that stick out at either end
  for (Index p = first / panel_; p * panel_ < end; ++p) {
    const Index from = std::max(first, p * panel_), to = std::min(end, (p + 1) * panel_);
    if (to - from == panel_) {
      LEMMA_DISPATCH(kernel_panel)
      (bare(), at(p), simd::bare(x), out.data() + (from - first), at(out.outerStride()));
      continue;
    }
    whole.resize(out.rows(), panel_);
    LEMMA_DISPATCH(kernel_panel)(bare(), at(p), simd::bare(x), whole.data(), at(panel_));
    out.middleCols(from - first, to - from) = whole.middleCols(from - p * panel_, to - from);
  }
}

void GaussianPoints::add_at_points(const GaussianRows& x, std::span<const double> weight, Index first,
                                   std::span<double> sum) const {
  const Index end = first + std::ssize(sum), begin = first / panel_;
  std::vector<double> whole(at(((end + panel_ - 1) / panel_ - begin) * panel_), 0.0);
  std::copy(sum.begin(), sum.end(), whole.begin() + (first - begin * panel_));
  for (Index p = begin, last = (end + panel_ - 1) / panel_; p < last; p += panels_together())
    LEMMA_DISPATCH(add_at_panels)
  (bare(), at(p), at(std::min(last, p + panels_together())), simd::bare(x), weight.data(),
   whole.data() + (p - begin) * panel_);
  std::copy_n(whole.begin() + (first - begin * panel_), sum.size(), sum.begin());
}

void GaussianPoints::expand(const GaussianRows& x, std::span<const double> weight, std::span<double> out) const {
  const Index panels = (count_ + panel_ - 1) / panel_;
  const auto lanes = static_cast<Index>(LEMMA_DISPATCH(gaussian_lanes)());
  std::vector<double> padded(at(panels * panel_), 0.0);
  std::copy(weight.begin(), weight.end(), padded.begin());
  Matrix sums = Matrix::Zero(x.count(), lanes);
  for (Index from = 0; from < panels; from += panels_together()) LEMMA_DISPATCH(add_over_panels)
  (bare(), at(from), at(std::min(panels, from + panels_together())), simd::bare(x), padded.data(), sums.data());
  for (Index i = 0; i < x.count(); ++i) out[at(i)] = sums.row(i).sum();
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
