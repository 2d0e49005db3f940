// lemma/math/simd.cpp: compiled once for each vector width (Highway's foreach_target), chosen among at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lemma/math/simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <lemma/math/simd.hpp>
#include <lemma/math/simd/dispatch.hpp>
#include <limits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace lemma::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<double>;
using V = hn::Vec<Lanes>;

// Is MulAdd one rounding here? (On narrower x86 vectors it is a product and a sum.)
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64
constexpr bool kFused = true;
#else
constexpr bool kFused = false;
#endif

/// a = high + low with 26 bits each (Veltkamp), so that products of halves are exact.
HWY_INLINE void split(V a, V& high, V& low) {
  const V scaled = hn::Mul(a, hn::Set(Lanes(), 134217729.0));
  high = hn::Sub(scaled, hn::Sub(scaled, a));
  low = hn::Sub(a, high);
}

/// a·b − round(a·b), exactly.
HWY_INLINE V product_rest(V a, V b, V product) {
  if constexpr (kFused) return hn::MulSub(a, b, product);
  V ah, al, bh, bl;
  split(a, ah, al);
  split(b, bh, bl);
  const V first = hn::Sub(hn::Mul(ah, bh), product);
  return hn::Add(hn::Add(hn::Add(first, hn::Mul(ah, bl)), hn::Mul(al, bh)), hn::Mul(al, bl));
}

/// sum becomes round(sum + b); what rounding took goes to rest (Knuth's two-sum).
HWY_INLINE void add_compensated(V b, V& sum, V& rest) {
  const V s = hn::Add(sum, b), part = hn::Sub(s, sum);
  const V lost = hn::Add(hn::Sub(sum, hn::Sub(s, part)), hn::Sub(b, part));
  sum = s;
  rest = hn::Add(rest, lost);
}

constexpr std::size_t kMost = HWY_MAX_BYTES / sizeof(double);  // lanes

/// The last few numbers, then zeros.
HWY_INLINE V load_tail(const double* from, std::size_t count) {
  HWY_ALIGN double tail[kMost] = {};
  std::copy(from, from + count, tail);
  return hn::Load(Lanes(), tail);
}
HWY_INLINE void store_tail(V v, double* to, std::size_t count) {
  HWY_ALIGN double tail[kMost];
  hn::Store(v, Lanes(), tail);
  std::copy(tail, tail + count, to);
}

Twofold dot(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, std::size_t n) {
  const Lanes lanes;
  const std::size_t width = hn::Lanes(lanes);
  V sum = hn::Zero(lanes), rest = hn::Zero(lanes), sum2 = sum, rest2 = rest;
  const auto step = [&](V x, V y, V& s, V& r) HWY_ATTR {
    const V p = hn::Mul(x, y);
    r = hn::Add(r, product_rest(x, y, p));
    add_compensated(p, s, r);
  };
  std::size_t j = 0;
  for (; j + 2 * width <= n; j += 2 * width) {
    step(hn::LoadU(lanes, a + j), hn::LoadU(lanes, b + j), sum, rest);
    step(hn::LoadU(lanes, a + j + width), hn::LoadU(lanes, b + j + width), sum2, rest2);
  }
  for (; j + width <= n; j += width) step(hn::LoadU(lanes, a + j), hn::LoadU(lanes, b + j), sum, rest);
  if (j < n) step(load_tail(a + j, n - j), load_tail(b + j, n - j), sum2, rest2);
  HWY_ALIGN double values[kMost], rests[kMost];
  add_compensated(sum2, sum, rest);
  hn::Store(sum, lanes, values);
  hn::Store(hn::Add(rest, rest2), lanes, rests);
  Twofold total;
  for (std::size_t k = 0; k < width; ++k) total = total + Twofold{values[k], rests[k]};
  return total;
}

void add_scaled(Twofold factor, const double* HWY_RESTRICT x, std::size_t n, double* HWY_RESTRICT sum,
                double* HWY_RESTRICT rest) {
  const Lanes lanes;
  const std::size_t width = hn::Lanes(lanes);
  const V value = hn::Set(lanes, factor.value), little = hn::Set(lanes, factor.rest);
  const auto step = [&](V a, V& s, V& r) HWY_ATTR {
    const V p = hn::Mul(a, value);
    r = hn::Add(r, hn::MulAdd(a, little, product_rest(a, value, p)));
    add_compensated(p, s, r);
  };
  std::size_t j = 0;
  for (; j + width <= n; j += width) {
    V s = hn::LoadU(lanes, sum + j), r = hn::LoadU(lanes, rest + j);
    step(hn::LoadU(lanes, x + j), s, r);
    hn::StoreU(s, lanes, sum + j);
    hn::StoreU(r, lanes, rest + j);
  }
  if (j == n) return;
  V s = load_tail(sum + j, n - j), r = load_tail(rest + j, n - j);
  step(load_tail(x + j, n - j), s, r);
  store_tail(s, sum + j, n - j);
  store_tail(r, rest + j, n - j);
}

void centre(const double* HWY_RESTRICT x, const double* HWY_RESTRICT origin, double scale, std::size_t n,
            double* HWY_RESTRICT out, double* HWY_RESTRICT sum) {
  const Lanes lanes;
  const std::size_t width = hn::Lanes(lanes);
  const V factor = hn::Set(lanes, scale);
  const auto step = [&](V a, V o) HWY_ATTR { return hn::Mul(hn::Sub(a, o), factor); };
  std::size_t j = 0;
  for (; j + width <= n; j += width) {
    const V d = step(hn::LoadU(lanes, x + j), hn::LoadU(lanes, origin + j));
    hn::StoreU(d, lanes, out + j);
    if (sum) hn::StoreU(hn::MulAdd(d, factor, hn::LoadU(lanes, sum + j)), lanes, sum + j);
  }
  if (j == n) return;
  const V d = step(load_tail(x + j, n - j), load_tail(origin + j, n - j));
  store_tail(d, out + j, n - j);
  if (sum) store_tail(hn::MulAdd(d, factor, load_tail(sum + j, n - j)), sum + j, n - j);
}

void exp(const double* in, double* out, std::size_t n) {
  const Lanes lanes;
  const std::size_t width = hn::Lanes(lanes);
  const auto safe_exp = [&](V x) HWY_ATTR {  // the series keeps no NaN and no infinity: they go around it
    const V low = hn::Set(lanes, -745.2), high = hn::Set(lanes, 709.782712893384);
    V y = hn::Exp(lanes, hn::Min(hn::Max(x, low), high));
    y = hn::IfThenElse(hn::Gt(x, high), hn::Set(lanes, std::numeric_limits<double>::infinity()), y);
    y = hn::IfThenZeroElse(hn::Lt(x, low), y);
    return hn::IfThenElse(hn::Eq(x, x), y, x);
  };
  std::size_t j = 0;
  for (; j + width <= n; j += width) hn::StoreU(safe_exp(hn::LoadU(lanes, in + j)), lanes, out + j);
  if (j < n) store_tail(safe_exp(load_tail(in + j, n - j)), out + j, n - j);
}

/// Distances of one row to `centres` (features × padded, transposed so that lanes are centres). Each is a sum over the
/// features in their order, whatever the width of a vector.
HWY_INLINE void distances_of_row(const double* HWY_RESTRICT x, std::size_t features, const double* HWY_RESTRICT centres,
                                 std::size_t padded, double* HWY_RESTRICT out) {
  const Lanes lanes;
  const std::size_t width = hn::Lanes(lanes);
  for (std::size_t k = 0; k < padded; k += 2 * width) {
    V a = hn::Zero(lanes), b = a;
    for (std::size_t j = 0; j < features; ++j) {
      const V xj = hn::Set(lanes, x[j]);
      const V da = hn::Sub(xj, hn::LoadU(lanes, centres + j * padded + k));
      const V db = hn::Sub(xj, hn::LoadU(lanes, centres + j * padded + k + width));
      a = hn::MulAdd(da, da, a);
      b = hn::MulAdd(db, db, b);
    }
    hn::StoreU(a, lanes, out + k);
    hn::StoreU(b, lanes, out + k + width);
  }
}

void distances(const double* x, std::size_t stride, std::size_t rows, std::size_t features, const double* centres,
               std::size_t padded, double* out) {
  for (std::size_t i = 0; i < rows; ++i) distances_of_row(x + i * stride, features, centres, padded, out + i * padded);
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }
std::size_t lane_count() { return hn::Lanes(Lanes()); }

}  // namespace lemma::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lemma::simd {

HWY_EXPORT(dot);
HWY_EXPORT(add_scaled);
HWY_EXPORT(centre);
HWY_EXPORT(exp);
HWY_EXPORT(distances);
HWY_EXPORT(lane_count);
HWY_EXPORT(target_name);

namespace {

/// Centres as columns, padded to whole pairs of vectors.
struct TransposedCentres {
  explicit TransposedCentres(const MatrixView& centres) {
    const std::size_t step = 2 * LEMMA_DISPATCH(lane_count)();
    padded = (static_cast<std::size_t>(centres.rows()) + step - 1) / step * step;
    numbers.assign(padded * static_cast<std::size_t>(centres.cols()), 0.0);
    for (Index k = 0; k < centres.rows(); ++k)
      for (Index j = 0; j < centres.cols(); ++j)
        numbers[static_cast<std::size_t>(j) * padded + static_cast<std::size_t>(k)] = centres(k, j);
  }
  std::size_t padded;
  std::vector<double> numbers;
};

constexpr Index kRowsAtOnce = 64;

/// use(first row, rows × padded distances), for a few rows at a time.
template <class Use>
void for_rows(const MatrixView& x, const MatrixView& centres, Use&& use) {
  const TransposedCentres transposed(centres);
  std::vector<double> out(static_cast<std::size_t>(kRowsAtOnce) * transposed.padded);
  for (Index i = 0; i < x.rows(); i += kRowsAtOnce) {
    const Index rows = std::min(kRowsAtOnce, x.rows() - i);
    LEMMA_DISPATCH(distances)
    (x.data() + i * x.outerStride(), static_cast<std::size_t>(x.outerStride()), static_cast<std::size_t>(rows),
     static_cast<std::size_t>(x.cols()), transposed.numbers.data(), transposed.padded, out.data());
    use(i, rows, Eigen::Map<const Matrix>(out.data(), rows, static_cast<Index>(transposed.padded)));
  }
}

}  // namespace

std::string level() { return LEMMA_DISPATCH(target_name)(); }

void exp(std::span<const double> in, std::span<double> out) { LEMMA_DISPATCH(exp)(in.data(), out.data(), in.size()); }

void squared_distances(const MatrixView& x, const MatrixView& centres, Eigen::Ref<Matrix> out) {
  for_rows(x, centres,
           [&](Index first, Index rows, const auto& d) { out.middleRows(first, rows) = d.leftCols(centres.rows()); });
}

void nearest(const MatrixView& x, const MatrixView& centres, std::span<int> which, std::span<double> distance) {
  for_rows(x, centres, [&](Index first, Index rows, const auto& d) {
    for (Index i = 0; i < rows; ++i) {
      Index best = 0;
      for (Index k = 1; k < centres.rows(); ++k)
        if (d(i, k) < d(i, best)) best = k;
      which[static_cast<std::size_t>(first + i)] = static_cast<int>(best);
      distance[static_cast<std::size_t>(first + i)] = d(i, best);
    }
  });
}

void centre(std::span<const double> x, std::span<const double> origin, double scale, std::span<double> out,
            std::span<double> sum) {
  LEMMA_DISPATCH(centre)
  (x.data(), origin.data(), scale, x.size(), out.data(), sum.empty() ? nullptr : sum.data());
}

Twofold dot(std::span<const double> a, std::span<const double> b) {
  return LEMMA_DISPATCH(dot)(a.data(), b.data(), a.size());
}

void add_scaled(Twofold factor, std::span<const double> x, std::span<double> sum, std::span<double> rest) {
  LEMMA_DISPATCH(add_scaled)(factor, x.data(), x.size(), sum.data(), rest.data());
}

}  // namespace lemma::simd
#endif  // HWY_ONCE
