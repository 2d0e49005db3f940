// lemma/math/residuals.cpp
#include <algorithm>
#include <cmath>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/residuals.hpp>
#include <lemma/math/simd.hpp>
#include <utility>

namespace lemma {
namespace {

std::span<double> span_of(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// Σ w r (x − mean): the gradient for the centred columns, or as it is without an intercept.
Vector centred_gradient(const LeastSquares& data, const Residuals& residuals) {
  Vector g(data.features());
  for (Index j = 0; j < g.size(); ++j) {
    const Twofold raw{residuals.gradient()(j), residuals.gradient_rest()(j)};
    const Twofold sum{residuals.sum(), residuals.sum_rest()};
    const Twofold shift = data.intercept() ? sum * data.mean()(j) + sum * data.mean_rest()(j) : Twofold{};
    g(j) = (raw - shift).rounded();
  }
  return g;
}

/// ‖y‖ + Σ ‖xⱼ‖ |bⱼ|, squared: the size of what cancels in a residual. For the slopes columns are centred when there is
/// an intercept; for the intercept they are not.
struct Sizes {
  double slopes, intercept;
};
Sizes sizes_of_terms(const LeastSquares& data, const LinearSolution& solution) {
  const Index p = data.features();
  const double root = std::sqrt(data.mass());
  double centred = data.triangle().col(p).stableNorm(), means = root * std::abs(data.mean()(p));
  for (const Index j : solution.kept) {
    centred += data.triangle().col(j).stableNorm() * std::abs(solution.coefficients(j));
    means += root * std::abs(data.mean()(j) * solution.coefficients(j));
  }
  return {centred * centred, (centred + means) * (centred + means)};
}
double share_of(double part, double size) { return part == 0 ? 0 : part / size; }  // no part, no size: none is missing

/// d with RᵀR d = g: what the coefficients lack, if R is right.
Vector correction(const LinearSolution& solution, const Vector& gradient) {
  Vector d = gradient(solution.kept);
  blas::solve_upper(blas::Op::transposed, solution.triangle, d);
  blas::solve_upper(blas::Op::plain, solution.triangle, d);
  return d;
}

/// Does d change a coefficient by more than 1e-12 of itself (and 1e-16 of its standard error)?
bool matters(const LinearSolution& solution, const Vector& d, double sum_of_squares, double degrees_of_freedom) {
  const Index k = d.size();
  Matrix inverse = Matrix::Identity(k, k);
  blas::solve_upper(blas::Op::plain, solution.triangle, inverse);
  const double sigma = degrees_of_freedom > 0 ? std::sqrt(sum_of_squares / degrees_of_freedom) : 0;
  for (Index j = 0; j < k; ++j) {
    const double b = std::abs(solution.coefficients(solution.kept[static_cast<std::size_t>(j)]));
    if (std::abs(d(j)) > std::max(1e-12 * b, 1e-16 * sigma * inverse.row(j).stableNorm())) return true;
  }
  return false;
}

}  // namespace

Residuals::Residuals(double intercept, Vector coefficients)
    : intercept_(intercept),
      coefficients_(std::move(coefficients)),
      gradient_(Vector::Zero(coefficients_.size())),
      gradient_rest_(Vector::Zero(coefficients_.size())) {}

void Residuals::accumulate(const Block& block) {
  require(block.x.cols() == coefficients_.size(), "residuals: a block has the wrong number of columns");
  const auto p = static_cast<std::size_t>(block.x.cols());
  Twofold total{sum_, sum_rest_}, squares{sum_of_squares_, 0};
  for (Index i = 0; i < block.rows(); ++i) {
    if (i % 1024 == 1023) ask();
    const double weight = block.weight_of(i) * block.precision_of(i);
    if (weight == 0) continue;
    const std::span<const double> x(block.x.row(i).data(), p);
    const Twofold known = exact_sum(block.y[static_cast<std::size_t>(i)], -block.offset_of(i));
    const Twofold r = known + exact_sum(-intercept_, 0) - simd::dot(x, span_of(coefficients_)), weighted = r * weight;
    simd::add_scaled(weighted, x, span_of(gradient_), span_of(gradient_rest_));
    total = total + weighted;
    squares = squares + Twofold{weighted.value * r.value, 0};
  }
  sum_ = total.value;
  sum_rest_ = total.rest;
  sum_of_squares_ = squares.rounded();
}

void Residuals::merge(const Residuals& other) {
  const Twofold total = Twofold{sum_, sum_rest_} + Twofold{other.sum_, other.sum_rest_};
  sum_ = total.value;
  sum_rest_ = total.rest;
  sum_of_squares_ += other.sum_of_squares_;
  for (Index j = 0; j < gradient_.size(); ++j) {
    const Twofold g = Twofold{gradient_(j), gradient_rest_(j)} + Twofold{other.gradient_(j), other.gradient_rest_(j)};
    gradient_(j) = g.value;
    gradient_rest_(j) = g.rest;
  }
}

Excess excess(const LeastSquares& data, const LinearSolution& solution, const Residuals& residuals) {
  const auto k = static_cast<Index>(solution.kept.size());
  blas::Columns columns(data.triangle().rows(), k);  // the kept columns, each of unit length
  Vector length(k), g = centred_gradient(data, residuals)(solution.kept);
  for (Index j = 0; j < k; ++j) {
    columns.col(j) = data.triangle().col(solution.kept[static_cast<std::size_t>(j)]);
    length(j) = columns.col(j).stableNorm();
    columns.col(j) /= length(j);
  }
  std::vector<int> order;
  blas::pivoted_householder(columns, order);
  const Matrix r = columns.topRows(k).triangularView<Eigen::Upper>();
  Vector rotated(k);
  for (Index j = 0; j < k; ++j) {
    const Index from = order[static_cast<std::size_t>(j)];
    rotated(j) = g(from) / length(from);
  }
  blas::solve_upper(blas::Op::transposed, r, rotated);
  const double of_intercept = data.intercept() ? residuals.sum() * residuals.sum() / data.mass() : 0;
  Excess out;
  out.gap = 0.5 * (rotated.squaredNorm() + of_intercept);
  const Sizes sizes = sizes_of_terms(data, solution);
  out.relative = share_of(rotated.squaredNorm(), sizes.slopes) + share_of(of_intercept, sizes.intercept);
  Matrix inverse = Matrix::Identity(k, k);
  blas::solve_upper(blas::Op::plain, r, inverse);
  for (Index j = 0; j < k; ++j) {
    const double spread = inverse.row(j).stableNorm() / length(order[static_cast<std::size_t>(j)]);
    out.coefficient_error_bound = std::max(out.coefficient_error_bound, std::sqrt(2 * out.gap) * spread);
  }
  return out;
}

RefinedSolution solve_refined(const Rows& rows, const LeastSquares& data, const Execution& execution,
                              double tolerance) {
  const auto look = [&](LinearSolution solution) {
    Residuals residuals = scan(rows, Residuals(solution.intercept, solution.coefficients), execution);
    solution.residual_ss = residuals.sum_of_squares();
    const Excess e = excess(data, solution, residuals);
    return RefinedSolution{std::move(solution), std::move(residuals), e, 0};
  };
  constexpr int kMost = 5;
  RefinedSolution best = look(solve(data, tolerance));
  const double degrees = data.weight() - static_cast<double>(best.solution.rank(data.intercept()));
  for (int step = 1; step <= kMost; ++step) {
    const Vector d = correction(best.solution, centred_gradient(data, best.residuals));
    if (!d.allFinite() || !matters(best.solution, d, best.residuals.sum_of_squares(), degrees)) break;
    LinearSolution next = best.solution;
    next.coefficients(next.kept) += d;
    if (data.intercept()) next.intercept = intercept_for(data, next.coefficients);
    RefinedSolution refined = look(std::move(next));
    if (!(refined.excess.gap < best.excess.gap)) break;
    refined.refinements = step;
    best = std::move(refined);
  }
  return best;
}

}  // namespace lemma
