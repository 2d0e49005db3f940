// lemma/geometry/kernel/distance.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/kernel/distance.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/math/simd/kernel.hpp>
#include <numbers>

namespace lemma {
namespace {

using Out = KernelPart::Out;
using Row = std::span<double>;
Row row_of(Out& out, Index i) { return {&out(i, 0), at(out.cols())}; }
Eigen::Map<Eigen::ArrayXd> array(Row row) { return {row.data(), static_cast<Index>(row.size())}; }

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

// ---- f, over a row of squared distances ----

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

template <class Part, class... Arguments>
std::unique_ptr<const KernelPart> make(Arguments&&... arguments) {
  return std::make_unique<const Part>(std::forward<Arguments>(arguments)...);
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
    if (root.size() == 0) return moved;
    Matrix turned(moved.rows(), moved.cols());
    RightFactor(root).multiply(moved, turned);
    return turned;
  };
  Matrix moved = map(points.dense());
  if constexpr (std::is_same_v<F, Gaussian>) {
    simd::GaussianPoints packed(moved, f.gamma);
    constexpr double kMostHalfNorm = 1000;  // so that γ‖x − z‖² is good to 1e-12
    if (packed.greatest_half_norm() <= kMostHalfNorm) return make<GaussianPart>(std::move(packed), map);
  }
  return make<DistancePart<F>>(Points(std::move(moved)), map, f);
}

}  // namespace

std::unique_ptr<const KernelPart> rbf_part(const Points& points, const Rbf& rbf) {
  return distance_part(points, rbf.lengths, rbf.metric, Gaussian{rbf.rate().value_or(0.5)});
}

std::unique_ptr<const KernelPart> matern_part(const Points& points, const Matern& matern) {
  return distance_part(points, matern.lengths, {}, matern_of(matern.nu, matern.length.value_or(1)));
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

}  // namespace lemma
