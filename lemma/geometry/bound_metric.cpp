// lemma/geometry/bound_metric.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/bound_metric.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/simd/panels.hpp>

namespace lemma {
namespace {

using simd::kPanel;
std::size_t to_size(Index i) { return static_cast<std::size_t>(i); }

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

double largest_gap(const double* x, const double* z, Index width, Index stride) {
  double most = 0;
  for (Index j = 0; j < width; ++j) most = std::max(most, std::abs(x[j] - z[j * stride]));
  return most;
}

/// (Σ |xⱼ − zⱼ|ᵖ)^(1/p), the largest gap put before the bracket.
double power_mean(const double* x, const double* z, Index width, Index stride, double p) {
  const double most = largest_gap(x, z, width, stride);
  if (most == 0 || !std::isfinite(most)) return most;
  double sum = 0;
  for (Index j = 0; j < width; ++j) sum += std::pow(std::abs(x[j] - z[j * stride]) / most, p);
  return most * std::pow(sum, 1 / p);
}

double overlap(const double* x, const double* z, Index width, Index stride) {
  Index both = 0, either = 0;
  for (Index j = 0; j < width; ++j) {
    both += (x[j] != 0) & (z[j * stride] != 0);
    either += (x[j] != 0) | (z[j * stride] != 0);
  }
  return either == 0 ? 0 : static_cast<double>(either - both) / static_cast<double>(either);
}

double mixed(const double* x, const double* z, Index width, Index stride, const std::vector<double>& inverse) {
  double sum = 0, count = 0;
  for (Index j = 0; j < width; ++j) {
    const double a = x[j], b = z[j * stride], factor = inverse[to_size(j)];
    if (std::isnan(a) || std::isnan(b)) continue;
    sum += factor == 0 ? (a != b ? 1.0 : 0.0) : std::abs(a - b) * factor;
    ++count;
  }
  return sum / count;
}

void require_finite_row(std::string_view metric, Index row, const double* x, Index width, bool missing) {
  for (Index j = 0; j < width; ++j)
    if (!std::isfinite(x[j]) && !(missing && std::isnan(x[j])))
      throw Error(fmt::format("{}: row {}, column {} is {}, must be a finite number{}", metric, row + 1, j + 1,
                              std::isnan(x[j]) ? "missing" : "infinite", missing ? " or missing" : ""));
}

/// x brought to length 1. Error when there is no direction.
void to_unit(std::string_view metric, Index row, double* x, Index width, std::string_view lacks) {
  double most = 0, squares = 0;
  for (Index j = 0; j < width; ++j) most = std::max(most, std::abs(x[j]));
  if (most == 0) throw Error(fmt::format("{}: row {} has no direction: {}", metric, row + 1, lacks));
  const int exponent = std::ilogb(most);
  for (Index j = 0; j < width; ++j) {
    x[j] = std::scalbn(x[j], -exponent);
    squares += x[j] * x[j];
  }
  const double length = std::sqrt(squares);
  for (Index j = 0; j < width; ++j) x[j] /= length;
}

void subtract_mean(double* x, Index width) {
  const auto [least, greatest] = std::minmax_element(x, x + width);
  const bool constant = *least == *greatest;  // its mean is rounded: it would leave a direction of noise
  const int exponent = std::ilogb(std::max({std::abs(*least), std::abs(*greatest), 0x1p-1022}));
  double sum = 0;
  for (Index j = 0; j < width; ++j) sum += x[j] = std::scalbn(x[j], -exponent);
  const double mean = sum / static_cast<double>(width);
  for (Index j = 0; j < width; ++j) x[j] = constant ? 0 : x[j] - mean;
}

}  // namespace

BoundMetric::BoundMetric(const Metric& metric, Index width) : metric_(metric), width_(width) {
  share_ = static_cast<double>(width);
  metric.check("metric");
  require(width > 0, "a metric compares rows that have columns: here are none");
  const auto as = [&](Sum sum, Finish finish) { sum_ = sum, finish_ = finish; };
  std::visit(Overloaded{[&](const EuclideanMetric&) { as(Sum::squares, Finish::root); },
                        [&](const SqEuclideanMetric&) { as(Sum::squares, Finish::itself); },
                        [&](const ManhattanMetric&) { as(Sum::absolute, Finish::itself); },
                        [&](const ChebyshevMetric&) { as(Sum::maximum, Finish::itself); },
                        [&](const MinkowskiMetric& m) {
                          power_ = m.p;
                          if (m.p == 1) as(Sum::absolute, Finish::itself);
                          else if (m.p == 2) as(Sum::squares, Finish::root);
                          else as(std::isinf(m.p) ? Sum::maximum : Sum::power, Finish::itself);
                        },
                        [&](const CosineMetric&) { as(Sum::squares, Finish::half); },
                        [&](const CorrelationMetric&) { as(Sum::squares, Finish::half); },
                        [&](const HammingMetric&) { as(Sum::unequal, Finish::share); },
                        [&](const JaccardMetric&) { as(Sum::overlap, Finish::itself); },
                        [&](const MahalanobisMetric& m) {
                          as(Sum::squares, Finish::root);
                          bind(m);
                        },
                        [&](const GowerMetric& m) {
                          as(Sum::mixed, Finish::itself);
                          bind(m);
                        }},
             metric.named());
}

BoundMetric BoundMetric::of(const Metric& metric, const MatrixView& rows, std::span<const Index> codes,
                            const Execution& execution) {
  return {metric.resolved(rows, codes, execution), rows.cols()};
}

void BoundMetric::bind(const MahalanobisMetric& metric) {
  const Matrix& c = metric.covariance;
  if (c.rows() != width_)
    throw Error(fmt::format("mahalanobis: the covariance is {0} x {0} for rows of {1} columns", c.rows(), width_));
  if (!c.isApprox(c.transpose(), 1e-12)) throw Error("mahalanobis: the covariance is not symmetric");
  centre_ = Vector::Zero(width_);
  if (!metric.centre.empty()) centre_ = Eigen::Map<const Vector>(metric.centre.data(), width_);
  for (Index j = 0; j < width_; ++j)
    if (!(c(j, j) > 0)) throw Error(fmt::format("mahalanobis: the variance of column {} is {}", j + 1, c(j, j)));
  // Of correlations, so that units do not matter; r_jj² is then the share of column j that those before it do not
  // explain.
  const Vector scale = c.diagonal().cwiseSqrt();
  Matrix correlations = c;
  for (Index i = 0; i < width_; ++i)
    for (Index j = 0; j < width_; ++j) correlations(i, j) = c(i, j) / scale(i) / scale(j);
  const auto factor = cholesky(correlations);
  const double least = static_cast<double>(width_) * 0x1p-46;
  for (Index j = 0; factor && j < width_; ++j)
    if ((*factor)(j, j) * (*factor)(j, j) < least)
      throw Error(fmt::format("mahalanobis: column {} is a linear combination of those before it", j + 1));
  if (!factor)
    throw Error("mahalanobis: the covariance is not positive definite: some columns are linear combinations of others");
  upper_ = *factor * scale.asDiagonal();
}

void BoundMetric::bind(const GowerMetric& metric) {
  if (static_cast<Index>(metric.ranges.size()) != width_)
    throw Error(fmt::format("gower has {} ranges for rows of {} columns", metric.ranges.size(), width_));
  for (const double range : metric.ranges) {
    inverse_.push_back(range == 0 ? 0 : 1 / range);
    if (!std::isfinite(inverse_.back()))
      throw Error(fmt::format("gower: the range {} is too small to divide by", range));
  }
}

double BoundMetric::distance(std::span<const double> x, std::span<const double> z) const {
  for (const auto& row : {x, z})
    if (static_cast<Index>(row.size()) != width_)
      throw Error(fmt::format("{} of rows with {} columns was given one with {}", metric_.name(), width_, row.size()));
  std::vector<double> a(x.size()), b(z.size());
  map_row(0, x.data(), a.data());
  map_row(1, z.data(), b.data());
  return between(a.data(), b.data());
}

void BoundMetric::map_row(Index row, const double* x, double* out) const {
  require_finite_row(metric_.name(), row, x, width_, metric_.takes_missing());
  if (upper_.size() > 0) {  // R⁻ᵀ (x − centre), from the first column on
    for (Index j = 0; j < width_; ++j) {
      double rest = x[j] - centre_(j);
      for (Index i = 0; i < j; ++i) rest -= upper_(i, j) * out[i];
      out[j] = rest / upper_(j, j);
    }
    return;
  }
  std::copy(x, x + width_, out);
  if (metric_.get<CorrelationMetric>()) {
    subtract_mean(out, width_);
    to_unit(metric_.name(), row, out, width_, "its columns are all equal");
  } else if (metric_.get<CosineMetric>()) {
    to_unit(metric_.name(), row, out, width_, "its columns are all 0");
  }
}

Matrix BoundMetric::mapped(const MatrixView& rows, const Execution& execution) const {
  if (rows.cols() != width_)
    throw Error(fmt::format("{} was made for rows of {} columns, these have {}", metric_.name(), width_, rows.cols()));
  constexpr Index kTogether = 512;
  Matrix out(rows.rows(), width_);
  parallel_for((rows.rows() + kTogether - 1) / kTogether, execution, [&](Index block) {
    for (Index i = block * kTogether; i < std::min((block + 1) * kTogether, rows.rows()); ++i)
      map_row(i, rows.row(i).data(), out.row(i).data());
  });
  return out;
}

double BoundMetric::sum_of(const double* x, const double* z, Index stride) const {
  double sum = 0;
  switch (sum_) {
    case Sum::squares:
      for (Index j = 0; j < width_; ++j) sum += (x[j] - z[j * stride]) * (x[j] - z[j * stride]);
      return sum;
    case Sum::absolute:
      for (Index j = 0; j < width_; ++j) sum += std::abs(x[j] - z[j * stride]);
      return sum;
    case Sum::maximum: return largest_gap(x, z, width_, stride);
    case Sum::unequal:
      for (Index j = 0; j < width_; ++j) sum += x[j] != z[j * stride] ? 1 : 0;
      return sum;
    case Sum::power: return power_mean(x, z, width_, stride, power_);
    case Sum::overlap: return overlap(x, z, width_, stride);
    case Sum::mixed: break;
  }
  return mixed(x, z, width_, stride, inverse_);
}

/// √Σ (xⱼ − zⱼ)² after scaling by a power of two.
double BoundMetric::careful_root(const double* x, const double* z, Index stride) const {
  const double most = largest_gap(x, z, width_, stride);
  if (most == 0 || !std::isfinite(most)) return most;
  const int exponent = std::ilogb(most);
  double sum = 0;
  for (Index j = 0; j < width_; ++j) {
    const double gap = std::scalbn(x[j] - z[j * stride], -exponent);
    sum += gap * gap;
  }
  return std::scalbn(std::sqrt(sum), exponent);
}

double BoundMetric::reach(double distance) const {
  switch (finish_) {
    case Finish::root: return distance > 1e150 ? HUGE_VAL : distance * distance * (1 + 0x1p-50) + 2 * kLow;
    case Finish::half: return 2 * distance + 0x1p-1070;
    case Finish::share: return distance * share_ * (1 + 0x1p-50);
    case Finish::itself: break;
  }
  return distance;
}

double BoundMetric::root(const double* x, const double* z) const {
  const double sum = sum_of(x, z);
  if (sum_ != Sum::squares) return sum;
  return sum >= kLow && sum <= kHigh ? std::sqrt(sum) : careful_root(x, z, 1);
}

// ---- PackedPoints ----

PackedPoints::PackedPoints(BoundMetric metric, const MatrixView& rows, const Execution& execution)
    : PackedPoints(of_mapped(metric, metric.mapped(rows, execution))) {}

PackedPoints PackedPoints::of_mapped(BoundMetric metric, const Matrix& rows, std::span<const std::int32_t> order) {
  PackedPoints out(std::move(metric));
  const Index width = out.metric_.width();
  out.count_ = order.empty() ? rows.rows() : static_cast<Index>(order.size());
  out.numbers_.resize(to_size(out.panels() * kPanel * width));
  for (Index i = 0; i < out.count_; ++i) {
    const double* row = &rows(order.empty() ? i : order[to_size(i)], 0);
    double* to = out.numbers_.data() + i / kPanel * kPanel * width + i % kPanel;
    for (Index j = 0; j < width; ++j) to[j * kPanel] = row[j];
  }
  return out;
}

void PackedPoints::drop(Index i) {
  const double* last = at(--count_);
  double* to = numbers_.data() + (at(i) - numbers_.data());
  for (Index j = 0; j < metric_.width_; ++j) to[j * kPanel] = last[j * kPanel];
}

void PackedPoints::unpack(Index i, double* out) const {
  const double* from = at(i);
  for (Index j = 0; j < metric_.width_; ++j) out[j] = from[j * kPanel];
}

void PackedPoints::sums(const double* x, Index rows, Index first, Index panels, double* out) const {
  const Index width = metric_.width_;
  if (metric_.sum_ <= BoundMetric::Sum::unequal)
    return simd::panel_sums(static_cast<simd::Gap>(metric_.sum_), x, rows, width, panel(first), panels, out);
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < panels; ++k)
      for (Index l = 0; l < kPanel; ++l)
        out[(i * panels + k) * kPanel + l] = metric_.sum_of(x + i * width, panel(first + k) + l, kPanel);
}

void PackedPoints::distances(const double* x, Index rows, Index first, Index panels, double* out) const {
  sums(x, rows, first, panels, out);
  const Index width = metric_.width_, size = rows * panels * kPanel;
  if (metric_.finish_ == BoundMetric::Finish::root) {
    if (!simd::roots_between(BoundMetric::kLow, BoundMetric::kHigh, {out, to_size(size)})) return;
    for (Index i = 0; i < size; ++i)
      if (out[i] < 0)
        out[i] =
            metric_.careful_root(x + i / (panels * kPanel) * width, at(first * kPanel + i % (panels * kPanel)), kPanel);
  } else {
    for (Index i = 0; i < size; ++i) out[i] = metric_.distance_of(out[i], nullptr, nullptr);
  }
}

std::uint32_t PackedPoints::within(const double* x, Index k, double limit, double* sums) const {
  const Index taken = points_in(k);
  const std::uint32_t all = (std::uint32_t{1} << taken) - 1;
  if (metric_.sum_ <= BoundMetric::Sum::unequal)
    return all & simd::panel_within(static_cast<simd::Gap>(metric_.sum_), x, metric_.width_, panel(k), limit, sums);
  std::uint32_t bits = 0;
  for (Index l = 0; l < taken; ++l) {
    sums[l] = metric_.sum_of(x, panel(k) + l, kPanel);
    bits |= static_cast<std::uint32_t>(sums[l] <= limit) << l;
  }
  return bits;
}

}  // namespace lemma
