// lemma/embed/shared/spectral.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/shared/spectral.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/inertia.hpp>
#include <lemma/math/partial_eigen.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-4;  // residual beside the largest eigenvalue that is kept
constexpr double kRounding = 1e-11;  // beside A's size: eigenvalues below it are not told from 0
constexpr double kLeftOut = 0.01;    // no eigenvalue is left out that is smaller than the last one by this share

double size_of(const Csr& a) {
  double size = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (Index k = a.start[at(i)]; k < a.start[at(i) + 1]; ++k) sum += std::abs(a.value[at(k)]);
    size = std::max(size, sum);
  }
  return size;
}

/// The pairs of A within the span of q, ascending.
SpectralAxes within(const Csr& a, const Matrix& q, const Execution& execution) {
  const Matrix h = q.transpose() * multiply(a, q, execution);
  const Eigenpairs pairs = symmetric_eigen(Matrix(0.5 * (h + h.transpose())));
  SpectralAxes out{pairs.values.reverse(), q * pairs.vectors.rowwise().reverse()};
  turn_columns(out.vectors);
  return out;
}

}  // namespace

SpectralAxes spectral_axes(std::string_view method, const SpectralProblem& problem, Index count,
                           const Execution& execution) {
  const Index n = problem.matrix.rows();
  if (count + 1 > n)
    throw Error(fmt::format("{}: {} of {} are asked for; at most {}", method, count_of(count, "dimension"),
                            count_of(n, "row"), n - 1));
  const PartialEigen found = smallest_eigen(problem.matrix, count + 1, execution);
  // t lies in the span of the vectors found, but where 0 is there several times it need not be one of them: the span without t.
  const Vector along = found.vectors.transpose() * problem.trivial;
  const Matrix rest = Matrix::Identity(count + 1, count + 1) - along * along.transpose() / along.squaredNorm();
  const Eigenpairs directions = symmetric_eigen(rest, count);
  Matrix q = found.vectors * directions.vectors;
  q -= problem.trivial * (problem.trivial.transpose() * q);
  return within(problem.matrix, q, execution.part(0, 0));
}

Certificate spectral_certificate(const SpectralProblem& problem, const SpectralAxes& axes, const Execution& execution) {
  const Index count = axes.values.size();
  const double size = size_of(problem.matrix), last = axes.values(count - 1), unit = std::max(last, kRounding * size);
  execution.report(0.1, "looking at the axes again");
  const Matrix left = problem.times(axes.vectors) - axes.vectors * axes.values.asDiagonal();
  Matrix all(axes.vectors.rows(), count + 1);
  all << problem.trivial, axes.vectors;
  const double residual = left.colwise().norm().maxCoeff() / unit,
               square = (all.transpose() * all - Matrix::Identity(count + 1, count + 1)).cwiseAbs().maxCoeff();
  if (execution.cancelled()) throw Cancelled();
  // t and those before the last may lie below the bound, and nothing else.
  const double bound = std::min((1 - kLeftOut) * last, last - kRounding * size);
  const std::optional<Index> below = bound > 0 ? eigenvalues_below(problem.matrix, bound) : Index{0};
  const bool complete = below && *below <= count;
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "residual of the eigenvectors";
  out.value = complete ? std::max(residual, square) : 1;
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = complete ? fmt::format(
                               "The coordinates are eigenvectors to {:.1e} of the last eigenvalue (allowed {:.0e}), "
                               "and the inertia of "
                               "the matrix shows that none below 99 % of the last is left out.",
                               out.value, out.tolerance)
                : below ? std::string("The matrix has an eigenvalue that is smaller than one that is kept.")
                        : std::string("The matrix could not be factorised to count its smaller eigenvalues.");
  return out;
}

void SparseSum::add(std::span<const std::int32_t> which, const Matrix& block) {
  for (std::size_t a = 0; a < which.size(); ++a)
    for (std::size_t b = 0; b < which.size(); ++b)
      rows_[at(which[a])].emplace_back(which[b], block(static_cast<Index>(a), static_cast<Index>(b)));
}

Csr SparseSum::matrix() const {
  Csr out;
  out.start = {0};
  out.width = static_cast<Index>(rows_.size());
  std::vector<double> sum(rows_.size());
  std::vector<char> is_there(rows_.size(), 0);
  for (const auto& row : rows_) {
    for (const auto& [column, value] : row) {
      if (!is_there[at(column)]) out.column.push_back(column), sum[at(column)] = 0, is_there[at(column)] = 1;
      sum[at(column)] += value;
    }
    const auto first = out.column.begin() + out.start.back();
    std::sort(first, out.column.end());
    for (auto column = first; column != out.column.end(); ++column) {
      out.value.push_back(sum[at(*column)]);
      is_there[at(*column)] = 0;
    }
    out.start.push_back(static_cast<Index>(out.value.size()));
  }
  return out;
}

}  // namespace lemma
