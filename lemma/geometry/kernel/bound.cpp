// lemma/geometry/kernel/bound.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/geometry/kernel/bound.hpp>
#include <lemma/geometry/kernel/part.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/row_products.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kRows = 256, kColumns = 512;  // a tile: 1 MB

Index tiles(Index count, Index size) { return (count + size - 1) / size; }

std::vector<Index> indices(Index first, Index size) {
  std::vector<Index> out(static_cast<std::size_t>(size));
  std::iota(out.begin(), out.end(), first);
  return out;
}

/// 0 · x is 0 for finite x alone, and such a sum goes several numbers side by side.
bool is_finite(const auto& block) {
  for (Index i = 0; i < block.outerSize(); ++i) {
    const double sum = block.IsRowMajor ? (0 * block.row(i).array()).sum() : (0 * block.col(i).array()).sum();
    if (!(sum == 0)) return false;
  }
  return true;
}

void require_finite(const KernelPart& part, const Kernel& kernel, const auto& block) {
  if (!part.is_bounded() && !is_finite(block))
    throw Error(
        fmt::format("a value of the kernel {} overflows: bring the columns to one scale first ('scale | …'), or "
                    "choose a smaller gamma or degree",
                    kernel.text()));
}

std::span<const double> numbers(const Vector& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}

/// The rows that are not zero.
std::vector<Index> support(const MatrixView& coefficients) {
  std::vector<Index> out;
  for (Index i = 0; i < coefficients.rows(); ++i)
    if (coefficients(i, 0) != 0) out.push_back(i);
  return out;
}

/// Σ over tiles of points, in their order: K(rows, tile) coefficients(tile).
void add_expansion(Index count, const MatrixView& coefficients, Eigen::Ref<Matrix> out, auto&& make_block) {
  Matrix block(out.rows(), std::min(kColumns, count));
  out.setZero();
  for (Index first = 0; first < count; first += kColumns) {
    const Index size = std::min(kColumns, count - first);
    make_block(first, block.leftCols(size));
    RightFactor(coefficients.middleRows(first, size)).add_to(block.leftCols(size), out);
  }
}

}  // namespace

BoundKernel::BoundKernel(const Kernel& kernel, Points points)
    : kernel_(kernel),
      points_(std::make_shared<const Points>(std::move(points))),
      part_(make_part(kernel_, *points_)) {}
BoundKernel::~BoundKernel() = default;
BoundKernel::BoundKernel(BoundKernel&&) noexcept = default;
BoundKernel& BoundKernel::operator=(BoundKernel&&) noexcept = default;

void BoundKernel::cross_block(const MatrixView& x, Index first, Eigen::Ref<Matrix> out) const {
  part_->cross(x, first, out);
  require_finite(*part_, kernel_, out);
}

void BoundKernel::own_block(std::span<const Index> which, Index first, Eigen::Ref<Matrix> out) const {
  part_->own(which, first, out);
  require_finite(*part_, kernel_, out);
}

void BoundKernel::add_own(std::span<const Index> which, std::span<const double> weight, Index first,
                          std::span<double> sum) const {
  part_->add_own(which, weight, first, sum);
  require_finite(*part_, kernel_, Eigen::Map<const Vector>(sum.data(), std::ssize(sum)));
}

bool BoundKernel::is_quick() const { return part_->is_quick(); }

Vector BoundKernel::diagonal() const { return part_->diagonal(); }
Vector BoundKernel::diagonal_of(const MatrixView& x) const { return part_->diagonal_of(x); }

void BoundKernel::gram_upper(Eigen::Ref<Matrix> out, const Execution& execution) const {
  const Index n = count(), across = tiles(n, kRows);
  parallel_for(across * (across + 1) / 2, execution, [&](Index tile) {  // tiles (i, j ≥ i), row after row
    Index i = 0;
    for (; tile >= across - i; ++i) tile -= across - i;
    const Index from = i * kRows, to = (i + tile) * kRows, rows = std::min(kRows, n - from);
    own_block(indices(from, rows), to, out.block(from, to, rows, std::min(kRows, n - to)));
  });
}

Matrix BoundKernel::gram(const Execution& execution) const {
  Matrix out(count(), count());
  gram_upper(out, execution);
  out.triangularView<Eigen::StrictlyLower>() = out.transpose();
  return out;
}

Matrix BoundKernel::cross(const MatrixView& x, const Execution& execution) const {
  Matrix out(x.rows(), count());
  parallel_for(tiles(x.rows(), kRows), execution, [&](Index tile) {
    const Index from = tile * kRows, rows = std::min(kRows, x.rows() - from);
    for (Index first = 0; first < count(); first += kColumns)
      cross_block(x.middleRows(from, rows), first, out.block(from, first, rows, std::min(kColumns, count() - first)));
  });
  return out;
}

Matrix BoundKernel::expand(const MatrixView& x, const MatrixView& coefficients, const Execution& execution) const {
  Matrix out(x.rows(), coefficients.cols());
  const Vector weight = coefficients.cols() == 1 ? coefficients.col(0) : Vector();
  parallel_for(tiles(x.rows(), kRows), execution, [&](Index tile) {
    const Index from = tile * kRows, rows = std::min(kRows, x.rows() - from);
    if (coefficients.cols() == 1) {
      part_->expand(x.middleRows(from, rows), numbers(weight), {out.data() + from, static_cast<std::size_t>(rows)});
      require_finite(*part_, kernel_, out.middleRows(from, rows));
    } else {
      add_expansion(count(), coefficients, out.middleRows(from, rows), [&](Index first, Eigen::Ref<Matrix> block) {
        cross_block(x.middleRows(from, rows), first, block);
      });
    }
  });
  return out;
}

Matrix BoundKernel::expand_own(const MatrixView& coefficients, const Execution& execution) const {
  Matrix out = Matrix::Zero(count(), coefficients.cols());
  if (coefficients.cols() == 1) {  // symmetric: sum the rows of those points that count
    const std::vector<Index> which = support(coefficients);
    Vector weight(std::ssize(which));
    for (Index i = 0; i < weight.size(); ++i) weight(i) = coefficients(which[static_cast<std::size_t>(i)], 0);
    parallel_for(tiles(count(), kColumns), execution, [&](Index tile) {
      const Index first = tile * kColumns, columns = std::min(kColumns, count() - first);
      add_own(which, numbers(weight), first, {out.data() + first, static_cast<std::size_t>(columns)});
    });
    return out;
  }
  parallel_for(tiles(count(), kRows), execution, [&](Index tile) {
    const Index from = tile * kRows, rows = std::min(kRows, count() - from);
    const auto which = indices(from, rows);
    add_expansion(count(), coefficients, out.middleRows(from, rows),
                  [&](Index first, Eigen::Ref<Matrix> block) { own_block(which, first, block); });
  });
  return out;
}

bool GramCheck::is_positive() const {
  const double rounding = static_cast<double>(rows_checked) * 8 * std::numeric_limits<double>::epsilon();
  return least >= -rounding * std::max(greatest, -least);
}

std::string GramCheck::text() const {
  if (!is_symmetric())
    return fmt::format("not symmetric: entries differ by up to {} of the largest", format_significant(asymmetry, 3));
  const std::string ends =
      fmt::format("smallest eigenvalue {}, largest {}{}", format_significant(least, 3), format_significant(greatest, 3),
                  rows_checked > 0 ? fmt::format(" ({} rows)", rows_checked) : "");
  return ends + (is_positive() ? ": positive semidefinite" : ": not positive semidefinite");
}

GramCheck check_gram(const MatrixView& gram, Index most) {
  GramCheck check;
  if (gram.rows() == 0) return check;
  const double size = gram.cwiseAbs().maxCoeff();
  if (size > 0) check.asymmetry = (gram - gram.transpose()).cwiseAbs().maxCoeff() / size;
  check.rows_checked = std::min(most, gram.rows());
  Matrix minor(check.rows_checked, check.rows_checked);
  const auto place = [&](Index i) { return i * gram.rows() / check.rows_checked; };
  for (Index i = 0; i < minor.rows(); ++i)
    for (Index j = 0; j < minor.cols(); ++j) minor(i, j) = (gram(place(i), place(j)) + gram(place(j), place(i))) / 2;
  const Vector values = symmetric_eigen(minor).values;
  check.greatest = values(0);
  check.least = values(values.size() - 1);
  return check;
}

GramCheck check_gram(const BoundKernel& kernel, const Execution& execution, Index most) {
  const Index n = kernel.count(), m = std::min(most, n);
  std::vector<Index> which(static_cast<std::size_t>(m));
  for (Index i = 0; i < m; ++i) which[static_cast<std::size_t>(i)] = i * n / m;
  if (const auto* given = kernel.kernel().get<Precomputed>(); given && kernel.points().dense().size() > 0 && m < n) {
    GramCheck check = check_gram(BoundKernel(kernel.kernel(), kernel.points().select(which)), execution, m);
    const Matrix& all = kernel.points().dense();
    const double size = all.cwiseAbs().maxCoeff();
    if (all.rows() == all.cols() && size > 0) check.asymmetry = (all - all.transpose()).cwiseAbs().maxCoeff() / size;
    return check;
  }
  const BoundKernel some(kernel.kernel(), kernel.points().select(which));
  Matrix minor(m, m);
  for (Index from = 0; from < m; from += kRows) {
    const Index rows = std::min(kRows, m - from);
    some.own_block(indices(from, rows), 0, minor.middleRows(from, rows));
  }
  return check_gram(minor, m);
}

}  // namespace lemma
