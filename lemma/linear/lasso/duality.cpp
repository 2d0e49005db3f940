// lemma/linear/lasso/duality.cpp: how far coefficients are from the best ones, from columns, response and coefficients alone.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/lasso/parts.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/model/claim.hpp>

namespace lemma::net {
namespace {

/// λ that are looked at together. Of columns that are copied the residuals are in memory: half as many as there are columns, so that
/// they take no more than half of the rows do.
Index at_once(const StandardisedColumns& columns) {
  constexpr Index kMost = 128;
  return columns.blocks ? kMost : std::clamp<Index>(columns.count / 2, 8, kMost);
}

/// Carries no penalty, and moves both ways: the dual point must not see it. Where c may not be negative and is 0, it moves
/// one way only.
bool is_free(const NetPenalty& penalty, Index j, double lambda, double c) {
  return penalty.l1(j, lambda) + penalty.l2(j, lambda) == 0 && (!penalty.positive || c != 0);
}

/// An orthonormal basis of the free columns.
blas::Columns free_basis(const StandardisedColumns& columns, const NetPenalty& penalty, double lambda,
                         const Vector& c) {
  std::vector<Index> free;
  for (Index j = 0; j < columns.count; ++j)
    if (columns.length(j) > 0 && is_free(penalty, j, lambda, c(j))) free.push_back(j);
  blas::Columns q(columns.rows, static_cast<Index>(free.size()));
  if (free.empty()) return q;
  for (Index k = 0; k < q.cols(); ++k) {
    const Index j = free[static_cast<std::size_t>(k)];
    q.col(k) = columns.column(j) / columns.length(j);
  }
  std::vector<int> order;
  const Vector factors = blas::pivoted_householder(q, order);
  Index rank = 0;
  while (rank < factors.size() && std::abs(q(rank, rank)) > 1e-13 * std::abs(q(0, 0))) ++rank;
  q.conservativeResize(Eigen::NoChange, rank);
  if (rank > 0) blas::form_q(q, factors.head(rank));
  return q;
}

/// zⱼ·θ for every column (rows) and every θ (columns of the result).
Matrix correlations(const StandardisedColumns& columns, const Matrix& theta, const Execution& execution) {
  if (!columns.sparse) return multiply_transposed(columns.z, theta, execution);
  Matrix out(columns.count, theta.rows());
  parallel_for(theta.rows(), execution, [&](Index k) {
    const Vector one = theta.row(k);
    for (Index j = 0; j < columns.count; ++j) out(j, k) = columns.dot(j, one);
  });
  return out;
}

/// y − Z c for each row c, by products with the columns that any of them uses. Of few columns some rows are copied at a time: as many
/// tiles of the product as keep the threads busy, each of them the same as in one large product.
Matrix residuals(const StandardisedColumns& columns, const Matrix& c, const Execution& execution) {
  constexpr Index kTogether = 32 * kProductTile;
  Matrix out(c.rows(), columns.rows);
  std::vector<Index> used;
  for (Index j = 0; j < columns.count; ++j)
    if ((c.col(j).array() != 0).any()) used.push_back(j);
  if (columns.sparse) {
    parallel_for(c.rows(), execution, [&](Index k) { out.row(k) = columns.residual(used, c.row(k)); });
    return out;
  }
  const bool most = static_cast<Index>(used.size()) * 2 > columns.count;
  const Matrix own = most ? Matrix() : Matrix(c(Eigen::all, used));
  for (Index first = 0; first < columns.rows; first += kTogether) {
    const Index size = std::min(kTogether, columns.rows - first);
    const auto part = columns.z.middleCols(first, size);
    const Matrix fitted = most ? multiply(c, part, execution) : multiply(own, part(used, Eigen::all), execution);
    for (Index k = 0; k < c.rows(); ++k)
      out.row(k).segment(first, size) = columns.y.segment(first, size).transpose() - fitted.row(k);
  }
  return out;
}

/// Of each λ the squares of the residual; and of its dual point θ, the residual without what the free columns tell, the products with
/// y, itself and every column (a column of z).
struct DualPoints {
  Vector rss, along_y, squares;
  Matrix z;
  explicit DualPoints(Index count) : rss(count), along_y(count), squares(count) {}
};

DualPoints of_copied(const StandardisedColumns& columns, const NetPenalty& penalty, const Vector& lambda,
                     const Matrix& c, bool bounded, const Execution& execution) {
  DualPoints out(lambda.size());
  Matrix theta = residuals(columns, c, execution);
  blas::Columns free;
  for (Index k = 0; k < lambda.size(); ++k) {
    Vector r = theta.row(k);
    out.rss(k) = r.squaredNorm();
    if (k == 0 || lambda(k) == 0 || penalty.positive)
      free = free_basis(columns, penalty, bounded ? 1 : lambda(k), c.row(k));
    for (int twice = 0; twice < 2 && free.cols() > 0; ++twice) r -= free * (free.transpose() * r);
    out.along_y(k) = r.dot(columns.y);
    out.squares(k) = r.squaredNorm();
    theta.row(k) = r;
  }
  out.z = correlations(columns, theta, execution);
  return out;
}

/// The same where every column is penalised, in one pass over the rows.
struct BlockPoints {
  const StandardisedColumns* columns;
  const Matrix* c;
  DualPoints sums;

  BlockPoints(const StandardisedColumns& of, const Matrix& coefficients)
      : columns(&of), c(&coefficients), sums(coefficients.rows()) {
    sums.z = Matrix::Zero(of.count, coefficients.rows());
    sums.rss.setZero();
    sums.along_y.setZero();
  }
  void accumulate(const Block& block) {
    const Matrix z = columns->rows_of(block);
    const auto y = columns->y_of(block);
    Matrix r = y.replicate(1, c->rows());
    blas::gemm(blas::Op::plain, z, blas::Op::transposed, *c, r, -1, 1);
    sums.rss += r.colwise().squaredNorm().transpose();
    sums.along_y += r.transpose() * y;
    blas::gemm(blas::Op::transposed, z, blas::Op::plain, r, sums.z, 1, 1);
  }
  void merge(const BlockPoints& other) {
    sums.rss += other.sums.rss;
    sums.along_y += other.sums.along_y;
    sums.z += other.sums.z;
  }
};
DualPoints of_blocks(const StandardisedColumns& columns, const Matrix& c, const Execution& execution) {
  DualPoints out = scan(*columns.blocks, BlockPoints(columns, c), execution).sums;
  out.squares = out.rss;
  return out;
}

/// Primal minus dual, the dual taken at τθ: D = τ θ·y − ½ τ² ‖θ‖² − Σ (|zⱼ·τθ| − λ₁)₊² / 2λ₂, with τ so small that
/// |zⱼ·τθ| ≤ λ₁ where λ₂ is 0, or everywhere: the better of the two, since a λ₂ far below λ₁ makes rounding expensive.
double penalised_gap(const StandardisedColumns& columns, const NetPenalty& penalty, double lambda, double objective,
                     const DualPoints& seen, Index k) {
  const auto z = seen.z.col(k);
  double shrink = 1, within = 1, conjugate = 0;
  const auto size = [&](Index j) { return penalty.positive ? z(j) : std::abs(z(j)); };
  for (Index j = 0; j < columns.count; ++j) {
    const double l1 = penalty.l1(j, lambda);
    if (!(columns.length(j) > 0) || l1 + penalty.l2(j, lambda) == 0 || !(size(j) > l1)) continue;
    within = std::min(within, l1 / size(j));
    if (penalty.l2(j, lambda) == 0) shrink = std::min(shrink, l1 / size(j));
  }
  for (Index j = 0; j < columns.count; ++j) {
    const double l2 = penalty.l2(j, lambda), over = std::max(0.0, shrink * size(j) - penalty.l1(j, lambda));
    if (columns.length(j) > 0 && l2 > 0) conjugate += over * over / (2 * l2);
    const bool one_way = penalty.positive && penalty.l1(j, lambda) + l2 == 0;
    if (one_way && z(j) > 1e-11 * columns.length(j) * std::sqrt(columns.total)) return objective;  // it should grow
  }
  const auto dual = [&](double tau) { return tau * seen.along_y(k) - 0.5 * tau * tau * seen.squares(k); };
  return objective - std::max(dual(shrink) - conjugate, dual(within));
}

/// Under Σ fⱼ |cⱼ| ≤ s the dual is θ·y − ½ ‖θ‖² − s max |zⱼ·θ| / fⱼ.
double bounded_gap(const StandardisedColumns& columns, const NetPenalty& penalty, double bound, const DualPoints& seen,
                   Index k) {
  const auto z = seen.z.col(k);
  double largest = 0;
  for (Index j = 0; j < columns.count; ++j)
    if (columns.length(j) > 0 && penalty.factors(j) > 0)
      largest = std::max(largest, (penalty.positive ? z(j) : std::abs(z(j))) / penalty.factors(j));
  return 0.5 * seen.rss(k) - (seen.along_y(k) - 0.5 * seen.squares(k) - bound * largest);
}

}  // namespace

std::vector<Duality> duality(const StandardisedColumns& columns, const NetPenalty& penalty, const Vector& lambda,
                             const Matrix& c, std::optional<double> bound, const Execution& execution) {
  std::vector<Duality> out(static_cast<std::size_t>(lambda.size()));
  const Index together = at_once(columns);
  for (Index first = 0; first < lambda.size(); first += together) {
    const Index size = std::min(together, lambda.size() - first);
    const Matrix own = c.middleRows(first, size);
    const DualPoints seen =
        columns.blocks ? of_blocks(columns, own, execution)
                       : of_copied(columns, penalty, lambda.segment(first, size), own, bound.has_value(), execution);
    for (Index k = 0; k < size; ++k) {
      Duality& at = out[static_cast<std::size_t>(first + k)];
      const double l = lambda(first + k);
      const Vector b = own.row(k);
      at.rss = seen.rss(k);
      at.norm = penalty.factors.dot(b.cwiseAbs());
      const double squares = penalty.factors.dot(b.cwiseAbs2());
      at.objective = 0.5 * at.rss + l * (penalty.alpha * at.norm + 0.5 * (1 - penalty.alpha) * squares);
      const double gap = bound ? bounded_gap(columns, penalty, *bound, seen, k)
                               : penalised_gap(columns, penalty, l, at.objective, seen, k);
      at.gap = columns.total > 0 ? std::max(gap, 0.0) / (0.5 * columns.total) : gap;
      if (!std::isfinite(gap)) at.gap = gap;
      if (bound && at.norm > *bound) at.gap += (at.norm - *bound) / (*bound > 0 ? *bound : 1) * 0.1;  // not feasible
      if (penalty.positive && (b.array() < 0).any()) at.gap += 1;
    }
  }
  return out;
}

Certificate certificate_of(const Vector& gaps, double tolerance, long long sweeps, std::string_view stopped) {
  Certificate out;
  for (const double gap : gaps) out.value = gap <= out.value ? out.value : gap;  // NaN stays
  out.strength = Strength::optimal;
  out.kind = "relative duality gap";
  out.tolerance = claimed(tolerance);
  out.iterations = sweeps;
  out.stopped = stopped;
  out.message =
      fmt::format("{} exceeds its minimum by at most {:.1e} of the objective at b = 0 (allowed {:.0e}){}.",
                  gaps.size() == 1 ? "The objective" : "At the worst λ of the path the objective", out.value, tolerance,
                  out.holds() ? "" : "; raise max_iterations, or loosen tolerance if this is good enough");
  return out;
}

}  // namespace lemma::net
