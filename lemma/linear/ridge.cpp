// lemma/linear/ridge.cpp: one scan, one SVD, every λ.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/ridge/parts.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>
#include <lemma/linear/shared/share_explained.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>
#include <lemma/math/svd.hpp>

namespace lemma {
namespace {

constexpr double kRank = 1e-14;  // singular values below this share of the largest are 0 to rounding

/// c = range · u + free · v with cᵀP c = ‖u‖². For factors, range and free are columns of a diagonal matrix.
class PenaltyBasis {
 public:
  PenaltyBasis(const Ridge& spec, Index features) : features_(features) {
    if (spec.penalty.size() > 0) of_matrix(spec.penalty);
    else of_factors(spec.penalty_factors);
  }
  Matrix held_part(const Matrix& a) const {
    if (whole_) return a;
    return dense_ ? multiply(a, range_, heard()) : Matrix(a(Eigen::all, held_) * stretch_.asDiagonal());
  }
  Matrix free_part(const Matrix& a) const {
    return dense_ ? multiply(a, rest_, heard()) : Matrix(a(Eigen::all, free_));
  }
  Matrix from_held(const Matrix& u) const {
    if (whole_) return u;
    if (dense_) return multiply(range_, u, heard());
    Matrix out = Matrix::Zero(features_, u.cols());
    out(held_, Eigen::all) = stretch_.asDiagonal() * u;
    return out;
  }
  Matrix from_free(const Matrix& v) const {
    if (dense_) return multiply(rest_, v, heard());
    Matrix out = Matrix::Zero(features_, v.cols());
    out(free_, Eigen::all) = v;
    return out;
  }

 private:
  void of_factors(const std::vector<double>& factors) {
    whole_ = factors.empty();
    for (Index j = 0; j < static_cast<Index>(factors.size()); ++j)
      (factors[static_cast<std::size_t>(j)] > 0 ? held_ : free_).push_back(j);
    stretch_.resize(static_cast<Index>(held_.size()));
    for (std::size_t k = 0; k < held_.size(); ++k)
      stretch_(static_cast<Index>(k)) = 1 / std::sqrt(factors[static_cast<std::size_t>(held_[k])]);
  }
  /// P = V diag(d) Vᵀ: u = d^½ Vᵀ c where d is not 0, v the rest.
  void of_matrix(const Matrix& penalty) {
    const Eigenpairs pairs = symmetric_eigen(penalty);
    Index rank = 0;
    while (rank < pairs.values.size() && pairs.values(rank) > ridge::kNull * pairs.values(0)) ++rank;
    const Vector stretch = pairs.values.head(rank).cwiseSqrt().cwiseInverse();
    dense_ = true;
    range_ = pairs.vectors.leftCols(rank) * stretch.asDiagonal();
    rest_ = pairs.vectors.rightCols(penalty.rows() - rank);
  }

  Index features_;
  bool dense_ = false, whole_ = false;  // a matrix; nothing but ones
  std::vector<Index> held_, free_;
  Vector stretch_;
  Matrix range_, rest_;
};

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
  Matrix held = basis.held_part(problem.a),
         free = basis.free_part(problem.a);  // B: projected out of the held part first
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
  out.free = basis.from_free(stretch.asDiagonal() * of_free.v.leftCols(rank) *
                             of_free.s.head(rank).cwiseInverse().asDiagonal());
  out.unpenalised = out.free * (q.transpose() * problem.z);
  Matrix shadows = Matrix::Zero(rank, held.cols());
  for (int twice = 0; twice < 2 && rank > 0; ++twice) {  // the second projection takes away what rounding left
    const Matrix shadow = transposed_multiply(q, held, heard());
    held -= multiply(q, shadow, heard());
    shadows += shadow;
  }
  const Svd svd = thin_svd(held);
  out.along = basis.from_held(svd.v);
  if (rank > 0) out.along -= multiply(out.free, multiply(shadows, svd.v, heard()), heard());
  out.sigma = svd.s;
  out.rotated = svd.u.transpose() * problem.z;
  return out;
}

/// From where hardly anything is left of a coefficient to where hardly anything is taken from it: 10 σ₁² to 1e-9 of that.
std::vector<double> path_for(const Vector& sigma) {
  constexpr int kLength = 100;
  const double largest = sigma.size() > 0 ? 10 * sigma(0) * sigma(0) : 0;
  return largest > 0 ? lambda_path(largest, kLength, 1e-9) : std::vector<double>{1};
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
  const Hearing hearing(execution);
  check_width(*spec, rows);
  const ridge::Problem problem =
      ridge::problem_of(*spec, learn_triangle(Ridge::name, rows, true, LeastSquares::Route::by_condition,
                                              execution.part(0, 0.7, "reading rows")));
  const Index p = rows.width();
  const PenaltyBasis basis(*spec, p);
  const Solutions solutions = solve_all(problem, basis);
  const ridge::PenaltyRoot root = ridge::penalty_root(*spec, p);

  RidgeModel model;
  model.spec = *spec;
  if (spec->lambda.empty()) model.spec.lambda = path_for(solutions.sigma);
  const auto count = static_cast<Index>(model.spec.lambda.size());
  model.scale = problem.scale;
  if (rows.width() <= RidgeModel::kMostKept) {
    model.seen_weight = problem.data.weight();
    model.seen_mass = problem.data.mass();
    model.seen_mean = problem.data.mean() + problem.data.mean_rest();
    model.seen_triangle = problem.data.triangle();
  }
  model.lambda.of = Eigen::Map<const Vector>(model.spec.lambda.data(), count);
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
    model.deviance_ratio.of(k) =
        problem.total_ss > 0 ? share_explained(model.rss.of(k), problem.total_ss) : RidgeModel::kNone;
    model.gcv.of(k) = ridge::gcv(problem.data.weight(), model.rss.of(k), model.df.of(k));
    model.objective.of(k) = 0.5 * model.rss.of(k) + 0.5 * lambda * root.times(c).squaredNorm();
  }
  if (ridge::leaves_out(*spec, rows)) {
    const auto leverages = [&](const Matrix& x) {
      const Matrix along = multiply(x, solutions.along, heard()), free = multiply(x, solutions.free, heard());
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

template const Method& method_of<Ridge>();

}  // namespace lemma
