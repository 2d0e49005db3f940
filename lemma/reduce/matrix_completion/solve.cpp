// lemma/reduce/matrix_completion/solve.cpp
#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/reduce/matrix_completion/solve.hpp>

namespace lemma {
namespace {

constexpr Index kMore = 6;       // directions that join at once
constexpr int kEvery = 3;        // sweeps between looks at the gap
constexpr int kTurns = 6;        // products with YᵀY in a look
constexpr double kGone = 1e-10;  // beside the first singular value

double squares_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return sum;
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// A and B with the same product, and the least ‖A‖² + ‖B‖² there is.
void balance(LowRank& z) {
  if (z.a.cols() == 0) return;
  const Svd left = thin_svd(z.a), right = thin_svd(z.b);
  const Matrix core = left.s.asDiagonal() * (left.v.transpose() * right.v) * right.s.asDiagonal();
  const Svd svd = thin_svd(core);
  Index rank = 0;
  while (rank < svd.s.size() && svd.s(rank) > kGone * svd.s(0)) ++rank;
  const Vector root = svd.s.head(rank).cwiseSqrt();
  z.a = left.u * svd.u.leftCols(rank) * root.asDiagonal();
  z.b = right.u * svd.v.leftCols(rank) * root.asDiagonal();
}

/// A step of soft thresholding along each pair of singular vectors: those whose value it would bring to 0 are gone. (Regressions alone
/// take them there in the limit.) Whether any went.
bool drop_what_vanishes(const Csr& y, double lambda, LowRank& z, const Execution& execution) {
  const Matrix image = multiply(y, z.b, execution);
  std::vector<Index> kept;
  for (Index k = 0; k < z.b.cols(); ++k) {
    const double d = z.b.col(k).squaredNorm();
    if (d + z.a.col(k).dot(image.col(k)) / d > lambda) kept.push_back(k);
  }
  if (static_cast<Index>(kept.size()) == z.b.cols()) return false;
  z.a = Matrix(z.a(Eigen::all, kept));
  z.b = Matrix(z.b(Eigen::all, kept));
  return true;
}

/// Singular values and right vectors of the residual: in the span of those of Z and of where the last look ended.
struct Look {
  double norm;
  Matrix joining;  // columns of B to come, orthogonal to those that are there
};
Look look_at(const Csr& y, const Csr& y_by_column, double lambda, LowRank& z, const Execution& execution) {
  const Index p = y.width, more = std::min<Index>(kMore, std::min(y.rows(), p));
  if (z.beyond.cols() != more) z.beyond = normal_matrix(p, more, 1);
  Matrix here = z.b;
  for (Index k = 0; k < here.cols(); ++k) here.col(k).normalize();
  Matrix span(p, here.cols() + more);
  span << here, z.beyond;
  Svd found;
  for (int turn = 0; turn <= kTurns; ++turn) {
    if (span.cols() > p) span = Matrix(span.leftCols(p));
    span = thin_svd(span).u;
    const Matrix image = multiply(y, span, execution);
    if (turn == kTurns) {
      if (image.rows() >= image.cols()) found = thin_svd(image);
      else {
        Svd turned = thin_svd(Matrix(image.transpose()));
        found = {std::move(turned.v), std::move(turned.s), std::move(turned.u)};
      }
    } else span = multiply(y_by_column, image, execution);
  }
  Matrix vectors = span * found.v;
  Look out{found.s(0), Matrix(p, 0)};
  z.beyond = vectors.rightCols(more);
  Matrix outside = vectors - here * (here.transpose() * vectors);
  std::vector<Index> joining;
  for (Index k = 0; k < vectors.cols(); ++k) {
    if (found.s(k) > lambda * (1 + 1e-9) && outside.col(k).norm() > 0.3 && static_cast<Index>(joining.size()) < more)
      joining.push_back(k);
    if (outside.col(k).norm() > 0.3) z.beyond.col(k % more) = outside.col(k);
  }
  out.joining.resize(p, static_cast<Index>(joining.size()));
  for (std::size_t k = 0; k < joining.size(); ++k)
    out.joining.col(static_cast<Index>(k)) = outside.col(joining[k]) * std::sqrt(found.s(joining[k]) - lambda);
  return out;
}

}  // namespace

Vector LowRank::singular_values() const { return b.colwise().squaredNorm().transpose(); }

double gap_of(double lambda, double norm, double nuclear, double squares, double with_x) {
  const double share = norm > lambda ? lambda / norm : 1, objective = 0.5 * squares + lambda * nuclear;
  return (objective - share * with_x + 0.5 * share * share * squares) / objective;
}

double bounded_gap_of(double lambda, double norm, double nuclear, double squares, double with_x, double noise) {
  const double residual = std::sqrt(squares);
  const double gap = 1 - (with_x - noise * residual) / (std::max(lambda, norm) * nuclear);
  return std::max(std::abs(gap), std::abs(residual / noise - 1));
}

double largest_singular_value(const Known& known, const Execution& execution) {
  const auto times = [&](const double* x, double* y) {
    const Eigen::Map<const Matrix> in(x, known.by_row.width, 1);
    Eigen::Map<Matrix>(y, known.by_row.width, 1) =
        multiply(known.by_column, multiply(known.by_row, in, execution), execution);
  };
  return std::sqrt(std::max(0.0, largest_eigen(known.by_row.width, times, 1, execution).values(0)));
}

void solve(const Known& known, double lambda, double tolerance, int most, LowRank& z, const Execution& execution) {
  if (z.b.rows() == 0) z.a = Matrix(known.by_row.rows(), 0), z.b = Matrix(known.by_row.width, 0);
  z.converged = false;
  const double worst = std::log(tolerance);
  for (int sweep = 0;; ++sweep) {
    if (execution.cancelled()) throw Cancelled();
    if (sweep % kEvery == 0 || sweep == most) {
      balance(z);
      Csr y = residuals(known.by_row, z.a, z.b, execution);
      if (drop_what_vanishes(y, lambda, z, execution)) y = residuals(known.by_row, z.a, z.b, execution);
      const Csr by_column = transposed(y);
      const Look look = look_at(y, by_column, lambda, z, execution);
      const double squares = squares_of(y.value), nuclear = z.singular_values().sum();
      z.objective = 0.5 * squares + lambda * nuclear;
      z.norm = look.norm;
      z.with_x = inner(y.value, known.by_row.value);
      z.gap = gap_of(lambda, z.norm, nuclear, squares, z.with_x);
      z.error = std::sqrt(squares / static_cast<double>(known.count()));
      z.converged = z.gap <= tolerance;
      execution.report(std::clamp(std::log(std::max(z.gap, tolerance)) / worst, 0.0, 0.99), "low rank");
      if (z.converged || sweep == most) return;
      if (look.joining.cols() > 0 && z.b.cols() < std::min(known.by_row.rows(), known.by_row.width)) {
        const Index room = std::min(known.by_row.rows(), known.by_row.width) - z.b.cols(),
                    joining = std::min(room, look.joining.cols());
        Matrix wider(z.b.rows(), z.b.cols() + joining);
        wider << z.b, look.joining.leftCols(joining);
        z.b = std::move(wider);
      }
    }
    z.a = ridge_of_rows(known.by_row, z.b, lambda, false, execution);
    z.b = ridge_of_rows(known.by_column, z.a, lambda, false, execution);
    ++z.sweeps;
  }
}

double solve_within(const Known& known, double first, double noise, double tolerance, double within, int most,
                    LowRank& z, const Execution& execution) {
  constexpr double kRough = 1e-2, kInside = 1e-2;  // a residual is known to the root of what an objective is
  constexpr double kLeast = 1e-12;                 // of first: below it rounding is all there is
  constexpr int kMostSteps = 40;
  const auto residual_of = [&] { return z.error * std::sqrt(static_cast<double>(known.count())); };
  double lambda = first;
  do {
    lambda *= 0.5;
    solve(known, lambda, kRough, std::min(most, 30), z, execution.part(0, 0));
  } while (residual_of() > noise && lambda > kLeast * first);
  double low = 0, high = first, slope = 1, last_lambda = 0, last_residual = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    solve(known, lambda, kInside * tolerance, most, z,
          execution.part(step / double{kMostSteps}, (step + 1) / double{kMostSteps}));
    const double residual = residual_of(), nuclear = z.singular_values().sum();
    if (nuclear > 0 && bounded_gap_of(lambda, z.norm, nuclear, residual * residual, z.with_x, noise) <= within) break;
    (residual > noise ? high : low) = lambda;
    if (last_lambda > 0 && residual != last_residual && lambda != last_lambda)
      slope = std::clamp(std::log(residual / last_residual) / std::log(lambda / last_lambda), 0.05, 2.0);
    last_lambda = lambda, last_residual = residual;
    lambda *= std::clamp(std::pow(noise / residual, 1 / slope), 0.25, 4.0);
    if (!(lambda > low && lambda < high)) lambda = low > 0 ? std::sqrt(low * high) : 0.5 * high;
  }
  return lambda;
}

}  // namespace lemma
