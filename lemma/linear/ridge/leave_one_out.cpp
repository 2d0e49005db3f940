// lemma/linear/ridge/leave_one_out.cpp: what is predicted of each row from all others.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <lemma/linear/ridge.hpp>
#include <lemma/math/factorise.hpp>

namespace lemma {
namespace {

/// y − r / (1 − h), with h the diagonal of the hat matrix.
std::optional<Vector> by_leverages(const RidgeModel& model, const Rows& rows, const Execution& execution) {
  const Ridge& spec = model.spec;
  Matrix x = gather(rows, execution);
  const Index n = x.rows();
  if (spec.intercept) x.rowwise() -= x.colwise().mean().eval();
  Matrix a = x.transpose() * x;
  a.diagonal().array() += spec.lambda[0];
  const auto r = cholesky(a);
  if (!r) return {};
  const Matrix half = solve_upper_transposed(*r, x.transpose());
  Vector out(n);
  for_each_block(rows, execution, [&](const Block& block) {
    const Vector fitted = model.predict(block.x);
    for (Index i = 0; i < block.rows(); ++i) {
      const double h = half.col(block.first + i).squaredNorm() + (spec.intercept ? 1 / static_cast<double>(n) : 0);
      const double y = block.y[static_cast<std::size_t>(i)], residual = y - block.offset_of(i) - fitted(i);
      out(block.first + i) = y - residual / (1 - h);
    }
  });
  return out;
}

constexpr Index kMostColumns = 300;       // of which a system is solved for each row
constexpr double kLeastPivot = 3e-3;      // of the Cholesky factor: its system is then known to 1e-11 or so
constexpr double kLeastVariation = 1e-9;  // a column that varies by less without a row may be constant without it

/// Where columns are standardised, the penalty too changes with the rows: without row i, which lies d from the mean, the scatter
/// is S − dᵀd n/(n−1), and its diagonal over n − 1 are the squared scales. All of it follows from S, so that a row costs
/// one system of the width of the rows, and no pass over them:
///
///     (S₍ᵢ₎ + λ P∘ssᵀ) b = Σ (x − mean)(y − mean)₍ᵢ₎,     s² = diag S₍ᵢ₎ / (n − 1),
///
/// in columns brought to unit length. Nothing where a column is, without a row, nearly constant or a sum of others.
std::optional<Vector> by_scatter(const RidgeModel& model, const Rows& rows, const Execution& execution) {
  const Index n = rows.count();
  if (n < 3 || rows.width() > std::min(kMostColumns, n)) return {};
  const Matrix x = gather(rows, execution);
  std::vector<Index> varies;  // a constant column has the coefficient 0, whichever row is left out
  for (Index j = 0; j < x.cols(); ++j)
    if (x.col(j).minCoeff() < x.col(j).maxCoeff()) varies.push_back(j);
  Matrix z = x(Eigen::all, varies);
  z.rowwise() -= z.colwise().mean().eval();
  for (Index j = 0; j < z.cols(); ++j) z.col(j) /= z.col(j).norm();
  Vector y(n), offset(n);
  BlockBuffer buffer;
  const Block all = rows.outcome(0, n, buffer);
  for (Index i = 0; i < n; ++i) {
    offset(i) = all.offset_of(i);
    y(i) = all.y[static_cast<std::size_t>(i)] - offset(i);
  }
  const double mean = y.mean(), most = static_cast<double>(n - 1), share = static_cast<double>(n) / most;
  const Vector r = y.array() - mean;
  const Matrix scatter = z.transpose() * z;
  const Vector along = z.transpose() * r;
  Vector out(n);
  std::atomic<bool> known = true;
  parallel_for(n, execution, [&](Index i) {
    if (!known) return;
    const Vector d = z.row(i);
    Matrix a = scatter - share * d * d.transpose();
    if (!(a.diagonal().array() > kLeastVariation).all()) {
      known = false;
      return;
    }
    a.diagonal() += model.spec.lambda[0] / most * Vector(a.diagonal());  // λ s²
    const auto triangle = cholesky(a);
    if (!triangle || !(triangle->diagonal().minCoeff() > kLeastPivot * triangle->diagonal().maxCoeff())) {
      known = false;
      return;
    }
    const Matrix b = solve_upper(*triangle, solve_upper_transposed(*triangle, along - share * r(i) * d));
    out(i) = offset(i) + mean - r(i) / most + share * d.dot(b.col(0));
  });
  if (!known) return {};
  return out;
}

}  // namespace

std::optional<Vector> leave_one_out(const RidgeModel& model, const Rows& rows, const Execution& execution) {
  const Ridge& spec = model.spec;
  if (spec.lambda.size() != 1 || !(spec.lambda[0] > 0) || !spec.penalty_factors.empty() || spec.penalty.size() > 0 ||
      rows.has_weights || rows.has_precision || (spec.standardize && !spec.intercept))
    return {};  // a λ that was chosen changes with the rows
  auto out = spec.standardize ? by_scatter(model, rows, execution) : by_leverages(model, rows, execution);
  if (out && !out->allFinite()) return {};
  return out;
}

}  // namespace lemma
