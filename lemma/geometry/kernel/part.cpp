// lemma/geometry/kernel/part.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/kernel/distance.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/math/simd.hpp>

namespace lemma {
namespace {

using Out = KernelPart::Out;

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

// ---- f, over a row of inner products ----

using Row = std::span<double>;

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
    Made operator()(const Rbf& rbf) const { return rbf_part(points, rbf); }
    Made operator()(const Matern& matern) const { return matern_part(points, matern); }
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

void products(const MatrixView& x, const Points& z, Index first, Out out) {
  if (z.is_sparse()) return sparse_products(x, z.sparse(), first, out);
  RightFactor(z.dense().middleRows(first, out.cols()), RightFactor::As::transposed).multiply(x, out);
}

Vector squared_norms(const Points& points) {
  if (!points.is_sparse()) return points.dense().rowwise().squaredNorm();
  const Csr& x = points.sparse();
  Vector norms = Vector::Zero(points.count());
  for (Index i = 0; i < points.count(); ++i)
    for (Index k = x.start[at(i)]; k < x.start[at(i) + 1]; ++k) norms(i) += x.value[at(k)] * x.value[at(k)];
  return norms;
}

void KernelPart::expand(const MatrixView& x, std::span<const double> weight, std::span<double> out) const {
  constexpr Index kColumns = 512;
  const Eigen::Map<const Matrix> w(weight.data(), std::ssize(weight), 1);
  Eigen::Map<Matrix> sum(out.data(), std::ssize(out), 1);
  Matrix block(x.rows(), std::min(kColumns, w.size()));
  sum.setZero();
  for (Index first = 0; first < w.size(); first += kColumns) {
    const Index size = std::min(kColumns, w.size() - first);
    cross(x, first, block.leftCols(size));
    RightFactor(w.middleRows(first, size)).add_to(block.leftCols(size), sum);
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
