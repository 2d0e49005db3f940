// lemma/kernel/kernel_part.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/kernel/kernel_part.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/math/simd_kernel.hpp>
#include <numbers>

namespace lemma {
namespace {

using Out = KernelPart::Out;
std::size_t at(Index i) { return static_cast<std::size_t>(i); }

std::span<double> row_of(Out& out, Index i) { return {&out(i, 0), at(out.cols())}; }

/// out(i, j) = x_i · z_(first + j), for z without its zeros: each row of z adds columns of x.
void sparse_products(const MatrixView& x, const Csr& z, Index first, Out out) {
  const Matrix columns = x.transpose();
  Vector sum(x.rows());
  for (Index j = 0; j < out.cols(); ++j) {
    sum.setZero();
    for (Index k = z.start[at(first + j)]; k < z.start[at(first + j) + 1]; ++k)
      sum += z.value[at(k)] * columns.row(z.column[at(k)]).transpose();
    out.col(j) = sum;
  }
}

void products(const MatrixView& x, const Points& z, Index first, Out out) {
  if (z.is_sparse()) return sparse_products(x, z.sparse(), first, out);
  blas::gemm(blas::Op::plain, x, blas::Op::transposed, z.dense().middleRows(first, out.cols()), out);
}

Vector squared_norms(const Points& points) {
  if (!points.is_sparse()) return points.dense().rowwise().squaredNorm();
  const Csr& x = points.sparse();
  Vector norms = Vector::Zero(points.count());
  for (Index i = 0; i < points.count(); ++i)
    for (Index k = x.start[at(i)]; k < x.start[at(i) + 1]; ++k) norms(i) += x.value[at(k)] * x.value[at(k)];
  return norms;
}

/// f(x·z): linear, poly, tanh.
template <class F>
class InnerPart final : public KernelPart {
 public:
  InnerPart(const Points& points, F f) : points_(points), f_(f) {}
  void cross(const MatrixView& x, Index first, Out out) const override {
    products(x, points_, first, out);
    for (Index i = 0; i < out.rows(); ++i) f_(row_of(out, i));
  }
  void own(std::span<const Index> which, Index first, Out out) const override {
    cross(points_.rows(which), first, out);
  }
  Vector diagonal() const override { return of(squared_norms(points_)); }
  Vector diagonal_of(const MatrixView& x) const override { return of(x.rowwise().squaredNorm()); }

 private:
  Vector of(Vector inner) const {
    f_(std::span<double>(inner.data(), at(inner.size())));
    return inner;
  }
  const Points& points_;
  F f_;
};

/// f(‖x − z‖²) with f(0) = 1, on rows moved and stretched first: rbf, matern, and periodic on its circles.
template <class F>
class DistancePart final : public KernelPart {
 public:
  using Map = std::function<Matrix(const MatrixView&)>;
  DistancePart(Points points, Map map, F f)
      : points_(std::move(points)), map_(std::move(map)), f_(f), norms_(squared_norms(points_)) {}

  void cross(const MatrixView& x, Index first, Out out) const override { compare(map_(x), first, out); }
  void own(std::span<const Index> which, Index first, Out out) const override {
    compare(points_.rows(which), first, out);
  }
  Vector diagonal() const override { return Vector::Ones(points_.count()); }
  Vector diagonal_of(const MatrixView& x) const override { return Vector::Ones(x.rows()); }

 private:
  void compare(const Matrix& x, Index first, Out out) const {
    products(x, points_, first, out);
    const auto norms = norms_.segment(first, out.cols()).array();
    for (Index i = 0; i < out.rows(); ++i) {
      const double norm = x.row(i).squaredNorm();
      out.row(i).array() = norm + norms.transpose() - 2 * out.row(i).array();
      // ‖x‖² + ‖z‖² − 2 x·z has lost its digits where it is this small beside its terms
      const double doubtful = 1e-6 * norm;
      for (Index j = 0; j < out.cols(); ++j)
        if (out(i, j) <= doubtful + 1e-6 * norms(j)) out(i, j) = exact(x, i, first + j);
      f_(row_of(out, i));
    }
  }
  double exact(const Matrix& x, Index i, Index j) const {
    if (!points_.is_sparse()) return (x.row(i) - points_.dense().row(j)).squaredNorm();
    Vector difference = x.row(i);
    const Csr& z = points_.sparse();
    for (Index k = z.start[at(j)]; k < z.start[at(j) + 1]; ++k) difference(z.column[at(k)]) -= z.value[at(k)];
    return difference.squaredNorm();
  }

  Points points_;  // mapped
  Map map_;
  F f_;
  Vector norms_;
};

/// exp(−γ‖x − z‖²) of dense rows whose norms leave the distance its digits: all in registers.
class GaussianPart final : public KernelPart {
 public:
  using Map = std::function<Matrix(const MatrixView&)>;
  GaussianPart(simd::GaussianPoints points, Map map) : points_(std::move(points)), map_(std::move(map)) {}
  void cross(const MatrixView& x, Index first, Out out) const override {
    points_.block(points_.rows(map_(x)), first, out);
  }
  void own(std::span<const Index> which, Index first, Out out) const override {
    points_.block(points_.own_rows(which), first, out);
  }
  Vector diagonal() const override { return Vector::Ones(points_.count()); }
  Vector diagonal_of(const MatrixView& x) const override { return Vector::Ones(x.rows()); }
  void expand(const MatrixView& x, std::span<const double> weight, std::span<double> out) const override {
    points_.expand(points_.rows(map_(x)), weight, out);
  }
  void add_own(std::span<const Index> which, std::span<const double> weight, Index first,
               std::span<double> sum) const override {
    points_.add_at_points(points_.own_rows(which), weight, first, sum);
  }
  bool is_bounded() const override { return true; }
  bool is_quick() const override { return points_.width() <= 64; }

 private:
  simd::GaussianPoints points_;  // mapped
  Map map_;
};

/// exp(−γ Σ |xⱼ − zⱼ|)
class LaplacePart final : public KernelPart {
 public:
  LaplacePart(const Points& points, double gamma) : points_(points), gamma_(gamma) {}
  void cross(const MatrixView& x, Index first, Out out) const override {
    for (Index i = 0; i < out.rows(); ++i) {
      const double all = x.row(i).lpNorm<1>();
      for (Index j = 0; j < out.cols(); ++j) out(i, j) = -gamma_ * distance(x, i, all, first + j);
      simd::exp(row_of(out, i), row_of(out, i));
    }
  }
  void own(std::span<const Index> which, Index first, Out out) const override {
    cross(points_.rows(which), first, out);
  }
  Vector diagonal() const override { return Vector::Ones(points_.count()); }
  Vector diagonal_of(const MatrixView& x) const override { return Vector::Ones(x.rows()); }

 private:
  double distance(const MatrixView& x, Index i, double all, Index j) const {
    if (!points_.is_sparse()) return (x.row(i) - points_.dense().row(j)).lpNorm<1>();
    const Csr& z = points_.sparse();
    double sum = all;  // where z is zero, |x|; elsewhere that is replaced
    for (Index k = z.start[at(j)]; k < z.start[at(j) + 1]; ++k) {
      const double a = x(i, z.column[at(k)]);
      sum += std::abs(a - z.value[at(k)]) - std::abs(a);
    }
    return std::max(sum, 0.0);
  }
  const Points& points_;
  double gamma_;
};

/// Column j of a row is its value with training row j.
class PrecomputedPart final : public KernelPart {
 public:
  explicit PrecomputedPart(const Points& points) : points_(points) {}
  void cross(const MatrixView& x, Index first, Out out) const override {
    for (Index j = 0; j < out.cols(); ++j) out.col(j) = x.col(points_.places()[at(first + j)]);
  }
  void own(std::span<const Index> which, Index first, Out out) const override {
    for (Index i = 0; i < out.rows(); ++i)
      for (Index j = 0; j < out.cols(); ++j) out(i, j) = value(which[at(i)], first + j);
  }
  Vector diagonal() const override {
    Vector out(points_.count());
    for (Index i = 0; i < out.size(); ++i) out(i) = value(i, i);
    return out;
  }
  Vector diagonal_of(const MatrixView&) const override {
    throw Error("a precomputed kernel does not tell the value of a new row with itself, which is needed here");
  }

 private:
  double value(Index i, Index j) const { return points_.dense()(i, points_.places()[at(j)]); }
  const Points& points_;
};

class ConstantPart final : public KernelPart {
 public:
  ConstantPart(const Points& points, double value) : points_(points), value_(value) {}
  void cross(const MatrixView&, Index, Out out) const override { out.setConstant(value_); }
  void own(std::span<const Index>, Index, Out out) const override { out.setConstant(value_); }
  Vector diagonal() const override { return Vector::Constant(points_.count(), value_); }
  Vector diagonal_of(const MatrixView& x) const override { return Vector::Constant(x.rows(), value_); }

 private:
  const Points& points_;
  double value_;
};

class CustomPart final : public KernelPart {
 public:
  CustomPart(const Points& points, const CustomKernel& own) : points_(points), own_(own) {
    if (!own_.value)
      throw Error(fmt::format(
          "the kernel '{}' was defined in the program that made this model: give its function again", own_.name));
  }
  void cross(const MatrixView& x, Index first, Out out) const override {
    const Matrix z = points_.rows(first, out.cols());
    for (Index i = 0; i < out.rows(); ++i) {
      const Vector row = x.row(i);
      for (Index j = 0; j < out.cols(); ++j) out(i, j) = value(row, z.row(j));
    }
  }
  void own(std::span<const Index> which, Index first, Out out) const override {
    cross(points_.rows(which), first, out);
  }
  Vector diagonal() const override { return diagonal_of(points_.rows(0, points_.count())); }
  Vector diagonal_of(const MatrixView& x) const override {
    Vector out(x.rows());
    for (Index i = 0; i < x.rows(); ++i) out(i) = value(x.row(i), x.row(i));
    return out;
  }

 private:
  double value(const Vector& x, const Vector& z) const {
    return own_.value({x.data(), at(x.size())}, {z.data(), at(z.size())});
  }
  const Points& points_;
  CustomKernel own_;
};

/// Term by term, or factor by factor.
class CombinedPart final : public KernelPart {
 public:
  CombinedPart(std::vector<std::unique_ptr<const KernelPart>> parts, bool multiply)
      : parts_(std::move(parts)), multiply_(multiply) {}
  void cross(const MatrixView& x, Index first, Out out) const override {
    combine(out, [&](const KernelPart& part, Out into) { part.cross(x, first, into); });
  }
  void own(std::span<const Index> which, Index first, Out out) const override {
    combine(out, [&](const KernelPart& part, Out into) { part.own(which, first, into); });
  }
  Vector diagonal() const override {
    return combined([](const KernelPart& part) { return part.diagonal(); });
  }
  Vector diagonal_of(const MatrixView& x) const override {
    return combined([&](const KernelPart& part) { return part.diagonal_of(x); });
  }

 private:
  void combine(Out out, auto&& make) const {
    make(*parts_[0], out);
    Matrix next(out.rows(), out.cols());
    for (std::size_t k = 1; k < parts_.size(); ++k) {
      make(*parts_[k], next);
      if (multiply_) out.array() *= next.array();
      else out += next;
    }
  }
  Vector combined(auto&& make) const {
    Vector out = make(*parts_[0]);
    for (std::size_t k = 1; k < parts_.size(); ++k) {
      const Vector next = make(*parts_[k]);
      if (multiply_) out.array() *= next.array();
      else out += next;
    }
    return out;
  }
  std::vector<std::unique_ptr<const KernelPart>> parts_;
  bool multiply_;
};

// ---- f, over a row of inner products or squared distances ----

using Row = std::span<double>;
Eigen::Map<Eigen::ArrayXd> array(Row row) { return {row.data(), static_cast<Index>(row.size())}; }

struct Gaussian {
  double gamma;
  void operator()(Row row) const {
    array(row) *= -gamma;
    simd::exp(row, row);
  }
};

auto matern_of(Smoothness nu, double length) {
  const double twice_nu = 1 + 2 * static_cast<double>(nu), factor = std::sqrt(twice_nu) / length;
  return [nu, factor](Row row) {
    const Eigen::ArrayXd a = factor * array(row).max(0).sqrt();
    array(row) = -a;
    simd::exp(row, row);
    if (nu == Smoothness::three_halves) array(row) *= 1 + a;
    if (nu == Smoothness::five_halves) array(row) *= 1 + a + a.square() / 3;
  };
}

double whole_power(double base, int power) {
  double out = 1;
  for (; power > 0; power >>= 1, base *= base)
    if (power & 1) out *= base;
  return out;
}

template <class Part, class... Arguments>
std::unique_ptr<const KernelPart> make(Arguments&&... arguments) {
  return std::make_unique<const Part>(std::forward<Arguments>(arguments)...);
}
template <class F>
std::unique_ptr<const KernelPart> inner_part(const Points& points, F f) {
  return make<InnerPart<F>>(points, f);
}

/// Rows moved to the points' mean (distances do not change, but keep their digits) and multiplied by `stretch`, a
/// diagonal or a matrix. Sparse points are not moved.
template <class F>
std::unique_ptr<const KernelPart> distance_part(const Points& points, const std::vector<double>& lengths,
                                                const Matrix& metric, F f) {
  const Index width = points.width();
  if (!lengths.empty() && static_cast<Index>(lengths.size()) != width)
    throw Error(fmt::format("the kernel has {} lengths for {} features", lengths.size(), width));
  if (metric.size() > 0 && metric.rows() != width)
    throw Error(fmt::format("the kernel's metric is {0} x {0} for {1} features", metric.rows(), width));
  Vector scale = Vector::Ones(width);
  for (std::size_t j = 0; j < lengths.size(); ++j) scale(static_cast<Index>(j)) = 1 / lengths[j];
  if (points.is_sparse()) {
    if (metric.size() > 0) throw Error("a kernel with a metric takes dense rows: it mixes all columns");
    Csr moved = points.sparse();
    for (std::size_t k = 0; k < moved.value.size(); ++k) moved.value[k] *= scale(moved.column[k]);
    const auto map = [scale](const MatrixView& x) -> Matrix { return x * scale.asDiagonal(); };
    return make<DistancePart<F>>(Points(std::move(moved)), map, f);
  }
  const Vector centre = points.means();
  Matrix root;  // M = RᵀR: (x − z)ᵀM(x − z) = ‖R(x − z)‖²
  if (metric.size() > 0) {
    if (!metric.isApprox(metric.transpose(), 1e-12)) throw Error("the kernel's metric is not symmetric");
    auto factor = cholesky(metric);
    if (!factor) throw Error("the kernel's metric is not positive definite");
    root = factor->transpose();
  }
  const auto map = [centre, scale, root](const MatrixView& x) -> Matrix {
    Matrix moved = (x.rowwise() - centre.transpose()) * scale.asDiagonal();
    if (root.size() > 0) moved = (moved * root).eval();
    return moved;
  };
  Matrix moved = map(points.dense());
  if constexpr (std::is_same_v<F, Gaussian>) {
    simd::GaussianPoints packed(moved, f.gamma);
    constexpr double kMostHalfNorm = 1000;  // so that γ‖x − z‖² is good to 1e-12
    if (packed.greatest_half_norm() <= kMostHalfNorm) return make<GaussianPart>(std::move(packed), map);
  }
  return make<DistancePart<F>>(Points(std::move(moved)), map, f);
}

/// On a circle of circumference `period`, sin²(π (x − z) / period) is a quarter of the squared chord.
std::unique_ptr<const KernelPart> periodic_part(const Points& points, const Periodic& periodic) {
  const double turn = 2 * std::numbers::pi / periodic.period;
  const auto map = [turn](const MatrixView& x) -> Matrix {
    Matrix circles(x.rows(), 2 * x.cols());
    circles.leftCols(x.cols()) = (turn * x.array()).cos();
    circles.rightCols(x.cols()) = (turn * x.array()).sin();
    return circles;
  };
  if (points.is_sparse())
    throw Error("the periodic kernel takes dense rows: 0 is a place on its circle like any other");
  const Gaussian f{1 / (2 * periodic.length * periodic.length)};
  return make<DistancePart<Gaussian>>(Points(map(points.dense())), map, f);
}

std::unique_ptr<const KernelPart> make_named(const Kernel::Named& named, const Points& points) {
  struct Maker {
    const Points& points;
    using Made = std::unique_ptr<const KernelPart>;
    Made operator()(const LinearKernel&) const {
      return inner_part(points, [](Row) {});
    }
    Made operator()(const Spectrum&) const { return (*this)(LinearKernel{}); }
    Made operator()(const Poly& poly) const {
      return inner_part(points, [gamma = poly.gamma.value(), offset = poly.offset, power = poly.degree](Row row) {
        for (double& value : row) value = whole_power(gamma * value + offset, power);
      });
    }
    Made operator()(const Tanh& tanh) const {
      return inner_part(points, [gamma = tanh.gamma.value(), offset = tanh.offset](Row row) {
        for (double& value : row) value = std::tanh(gamma * value + offset);
      });
    }
    Made operator()(const Rbf& rbf) const {
      return distance_part(points, rbf.lengths, rbf.metric, Gaussian{rbf.rate().value_or(0.5)});
    }
    Made operator()(const Matern& matern) const {
      return distance_part(points, matern.lengths, {}, matern_of(matern.nu, matern.length.value_or(1)));
    }
    Made operator()(const Laplace& laplace) const { return make<LaplacePart>(points, laplace.gamma.value()); }
    Made operator()(const Periodic& periodic) const { return periodic_part(points, periodic); }
    Made operator()(const Precomputed&) const {
      if (points.is_sparse())
        throw Error("a precomputed kernel matrix is given with all its numbers, not as sparse rows");
      return make<PrecomputedPart>(points);
    }
    Made operator()(const ConstantKernel& constant) const { return make<ConstantPart>(points, constant.value); }
  };
  return std::visit(Maker{points}, named);
}

std::unique_ptr<const KernelPart> combined(const std::vector<Kernel>& kernels, const Points& points, bool multiply) {
  std::vector<std::unique_ptr<const KernelPart>> parts;
  parts.reserve(kernels.size());
  for (const Kernel& kernel : kernels) parts.push_back(make_part(kernel, points));
  return make<CombinedPart>(std::move(parts), multiply);
}

}  // namespace

void KernelPart::expand(const MatrixView& x, std::span<const double> weight, std::span<double> out) const {
  constexpr Index kColumns = 512;
  const Eigen::Map<const Vector> w(weight.data(), std::ssize(weight));
  Eigen::Map<Vector> sum(out.data(), std::ssize(out));
  Matrix block(x.rows(), std::min(kColumns, w.size()));
  sum.setZero();
  for (Index first = 0; first < w.size(); first += kColumns) {
    const Index size = std::min(kColumns, w.size() - first);
    cross(x, first, block.leftCols(size));
    sum.noalias() += block.leftCols(size) * w.segment(first, size);
  }
}

void KernelPart::add_own(std::span<const Index> which, std::span<const double> weight, Index first,
                         std::span<double> out) const {
  constexpr std::size_t kRows = 256;
  Eigen::Map<Vector> sum(out.data(), std::ssize(out));
  Matrix block(static_cast<Index>(std::min(kRows, which.size())), sum.size());
  for (std::size_t from = 0; from < which.size(); from += kRows) {
    const std::size_t size = std::min(kRows, which.size() - from);
    const auto rows = static_cast<Index>(size);
    own(which.subspan(from, size), first, block.topRows(rows));
    sum.noalias() += block.topRows(rows).transpose() * Eigen::Map<const Vector>(weight.data() + from, rows);
  }
}

std::unique_ptr<const KernelPart> make_part(const Kernel& kernel, const Points& points) {
  if (const auto* named = std::get_if<Kernel::Named>(&kernel.node())) return make_named(*named, points);
  if (const auto* own = std::get_if<CustomKernel>(&kernel.node())) return make<CustomPart>(points, *own);
  if (const auto* sum = std::get_if<Kernel::Sum>(&kernel.node())) return combined(sum->terms, points, false);
  return combined(std::get<Kernel::Product>(kernel.node()).factors, points, true);
}

}  // namespace lemma
