// lemma/linear/ridge.cpp: one scan, one SVD, every λ.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/linear/learn_triangle.hpp>
#include <lemma/linear/ridge_parts.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/svd.hpp>

namespace lemma {
namespace {

constexpr double kRank = 1e-14;  // singular values below this share of the largest are 0 to rounding

/// c = range · u + free · v with cᵀP c = ‖u‖².
struct PenaltyBasis {
  Matrix range, free;
};

PenaltyBasis basis_of_factors(const std::vector<double>& factors) {
  const auto p = static_cast<Index>(factors.size());
  std::vector<Index> held, free;
  for (Index j = 0; j < p; ++j) (factors[static_cast<std::size_t>(j)] > 0 ? held : free).push_back(j);
  PenaltyBasis out{Matrix::Zero(p, static_cast<Index>(held.size())), Matrix::Zero(p, static_cast<Index>(free.size()))};
  for (Index k = 0; k < out.range.cols(); ++k) {
    const Index j = held[static_cast<std::size_t>(k)];
    out.range(j, k) = 1 / std::sqrt(factors[static_cast<std::size_t>(j)]);
  }
  for (Index k = 0; k < out.free.cols(); ++k) out.free(free[static_cast<std::size_t>(k)], k) = 1;
  return out;
}

/// P = V diag(d) Vᵀ: u = d^½ Vᵀ c where d is not 0, v the rest.
PenaltyBasis basis_of_matrix(const Matrix& penalty) {
  const Eigenpairs pairs = symmetric_eigen(penalty);
  Index rank = 0;
  while (rank < pairs.values.size() && pairs.values(rank) > ridge::kNull * pairs.values(0)) ++rank;
  const Vector stretch = pairs.values.head(rank).cwiseSqrt().cwiseInverse();
  return {pairs.vectors.leftCols(rank) * stretch.asDiagonal(), pairs.vectors.rightCols(penalty.rows() - rank)};
}

PenaltyBasis penalty_basis(const Ridge& spec, Index p) {
  if (spec.penalty.size() > 0) return basis_of_matrix(spec.penalty);
  if (!spec.penalty_factors.empty()) return basis_of_factors(spec.penalty_factors);
  return {Matrix::Identity(p, p), Matrix(p, 0)};
}

/// What one SVD knows of every λ: c = along · diag(σ / (σ² + λ)) · rotated + unpenalised.
struct Solutions {
  Matrix along;  // E: a column for each singular value
  Vector sigma, rotated;
  Matrix free;         // F Fᵀ is the inverse of the free part's Gram matrix
  Vector unpenalised;  // the free part's own solution

  double shrunk(Index k, double lambda) const {  // 1 / (σ² + λ); nothing where both are 0
    if (lambda == 0 && sigma(k) <= kRank * sigma(0)) return 0;
    return 1 / (sigma(k) * sigma(k) + lambda);
  }
  Vector shrinkage(double lambda) const {
    Vector out(sigma.size());
    for (Index k = 0; k < out.size(); ++k) out(k) = shrunk(k, lambda);
    return out;
  }
  Vector at(double lambda) const {
    return along * shrinkage(lambda).cwiseProduct(sigma).cwiseProduct(rotated) + unpenalised;
  }
  double df(double lambda) const { return shrinkage(lambda).dot(sigma.cwiseAbs2()) + static_cast<double>(free.cols()); }
};

Solutions solve_all(const ridge::Problem& problem, const PenaltyBasis& basis) {
  Solutions out;
  Matrix held = problem.a * basis.range, along = basis.range;
  Matrix free = problem.a * basis.free;  // B: projected out of the held part first
  Vector stretch(free.cols());
  for (Index j = 0; j < free.cols(); ++j) {
    const double length = free.col(j).stableNorm();
    stretch(j) = length > 0 ? 1 / length : 1;
  }
  free = free * stretch.asDiagonal();
  const Svd of_free = thin_svd(free);
  Index rank = 0;
  while (rank < of_free.s.size() && of_free.s(rank) > kRank * of_free.s(0)) ++rank;
  const Matrix q = of_free.u.leftCols(rank);
  out.free =
      basis.free * stretch.asDiagonal() * of_free.v.leftCols(rank) * of_free.s.head(rank).cwiseInverse().asDiagonal();
  out.unpenalised = out.free * (q.transpose() * problem.z);
  for (int twice = 0; twice < 2; ++twice) {  // the second projection takes away what rounding left
    const Matrix shadow = q.transpose() * held;
    held -= q * shadow;
    along -= out.free * shadow;
  }
  const Svd svd = thin_svd(held);
  out.along = along * svd.v;
  out.sigma = svd.s;
  out.rotated = svd.u.transpose() * problem.z;
  return out;
}

std::vector<std::string> warnings_of(const ridge::Problem& problem, const std::vector<std::string>& features) {
  if (problem.constant.empty() || !problem.intercept) return {};
  std::vector<std::string> names;
  for (const Index j : problem.constant) names.push_back("'" + features[static_cast<std::size_t>(j)] + "'");
  return {fmt::format("{} {} constant and {} no part: {} 0", join_words(names), names.size() == 1 ? "is" : "are",
                      names.size() == 1 ? "takes" : "take",
                      names.size() == 1 ? "its coefficient is" : "their coefficients are")};
}

void check_width(const Ridge& spec, const Rows& rows) {
  const auto wrong = [&](std::string_view what, Index size) {
    return size > 0 && size != rows.width()
               ? throw Error(fmt::format("ridge: there are {} {} for {} columns ({})", size, what, rows.width(),
                                         join_words(rows.features)))
               : false;
  };
  wrong("penalty_factors", static_cast<Index>(spec.penalty_factors.size()));
  wrong("rows of the penalty matrix", spec.penalty.rows());
}

}  // namespace

void Ridge::check() const {
  require(!lambda.empty(), "ridge: lambda is empty, must be at least one number");
  require(penalty_factors.empty() || penalty.size() == 0,
          "ridge: penalty_factors and penalty are both given; a penalty matrix holds the factors on its diagonal");
  if (penalty.size() == 0) return;
  require(penalty.rows() == penalty.cols(),
          fmt::format("ridge: penalty has {} rows and {} columns, must be square", penalty.rows(), penalty.cols()));
  const double size = penalty.cwiseAbs().maxCoeff();
  require(size > 0 && (penalty - penalty.transpose()).cwiseAbs().maxCoeff() <= 1e-12 * size,
          "ridge: penalty must be a symmetric matrix, and not 0");
  const Vector values = symmetric_eigen(penalty).values;
  require(values.tail(1)(0) >= -1e-12 * values(0),
          fmt::format("ridge: penalty has the eigenvalue {:.3g}, must have none below 0", values.tail(1)(0)));
}

RidgeModel fit(const Valid<Ridge>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  check_width(*spec, rows);
  const ridge::Problem problem =
      ridge::problem_of(*spec, learn_triangle(Ridge::name, rows, true, LeastSquares::Route::by_condition,
                                              execution.part(0, 0.7, "reading rows")));
  const Index p = rows.width(), count = static_cast<Index>(spec->lambda.size());
  const PenaltyBasis basis = penalty_basis(*spec, p);
  const Solutions solutions = solve_all(problem, basis);
  const Matrix root = ridge::penalty_root(*spec, p);

  RidgeModel model;
  model.spec = *spec;
  model.scale = problem.scale;
  model.lambda.of = Eigen::Map<const Vector>(spec->lambda.data(), count);
  model.coefficients.of.resize(count, p);
  for (PathNumbers* each :
       {&model.intercept, &model.df, &model.rss, &model.deviance_ratio, &model.gcv, &model.loo_mse, &model.objective})
    each->of = Vector::Constant(count, RidgeModel::kNone);
  for (Index k = 0; k < count; ++k) {
    const double lambda = model.lambda.of(k);
    Vector c = solutions.at(lambda);
    if (problem.intercept) c(problem.constant).setZero();
    const Vector b = c.cwiseQuotient(problem.scale);
    model.coefficients.of.row(k) = b;
    model.intercept.of(k) = problem.intercept ? ridge::intercept_of(problem, b) : 0;
    model.df.of(k) = solutions.df(lambda) + (problem.intercept ? 1 : 0);
    model.rss.of(k) = ridge::residual_ss(problem, c);
    model.deviance_ratio.of(k) = problem.total_ss > 0 ? 1 - model.rss.of(k) / problem.total_ss : RidgeModel::kNone;
    model.gcv.of(k) = ridge::gcv(problem.data.weight(), model.rss.of(k), model.df.of(k));
    model.objective.of(k) = 0.5 * model.rss.of(k) + 0.5 * lambda * (root * c).squaredNorm();
  }
  if (ridge::leaves_out(*spec, rows)) {
    const auto leverages = [&](const Matrix& x) {
      const Matrix along = x * solutions.along, free = x * solutions.free;
      Matrix out(x.rows(), count);
      for (Index k = 0; k < count; ++k)
        out.col(k) = along.cwiseAbs2() * solutions.shrinkage(model.lambda.of(k)) + free.rowwise().squaredNorm();
      return out;
    };
    model.loo_mse.of =
        ridge::leave_one_out(problem, model, rows, leverages, execution.part(0.7, 1, "leaving rows out"));
  }
  model.chosen_lambda = ridge::choose_lambda(model);
  model.warnings = warnings_of(problem, rows.features);
  model.certificate = ridge::certificate_of(problem, model);
  return model;
}

}  // namespace lemma
