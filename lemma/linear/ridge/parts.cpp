// lemma/linear/ridge/parts.cpp: the problem in standardised columns, and what is said of each λ.
#include <algorithm>
#include <cmath>
#include <lemma/core/hearing.hpp>
#include <lemma/linear/ridge/parts.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/multiply.hpp>

namespace lemma::ridge {
namespace {

constexpr double kRounding = 4e-15;    // of a column's raw length, what rounding its values can leave about the mean
constexpr double kLeastShare = 1e-10;  // degrees of freedom left, over n: below, they are rounding
constexpr double kNone = RidgeModel::kNone;

/// The triangle of [x y], not centred: that about the means, and the means as one more row.
Eigen::MatrixXd about_zero(const LeastSquares& data) {
  const Index size = data.features() + 1, rows = data.triangle().rows();
  blas::Columns stacked(rows + 1, size);
  stacked << data.triangle(), std::sqrt(data.mass()) * (data.mean() + data.mean_rest()).transpose();
  blas::householder(stacked);
  return stacked.topRows(std::min(size, rows + 1)).triangularView<Eigen::Upper>();
}

/// Squared errors of rows predicted from all others, for each λ.
struct LeaveOneOut {
  const Problem* problem;
  const RidgeModel* model;
  const std::function<Matrix(const Matrix&)>* leverages;
  Vector sum;
  double weight = 0;

  void accumulate(const Block& block) {
    Matrix x = block.x;
    const auto& data = problem->data;
    if (problem->intercept)
      for (Index i = 0; i < x.rows(); ++i)
        for (Index j = 0; j < x.cols(); ++j) x(i, j) = (x(i, j) - data.mean()(j)) - data.mean_rest()(j);
    x = x * problem->scale.cwiseInverse().asDiagonal();
    if (problem->intercept) x(Eigen::all, problem->constant).setZero();
    const Matrix h = (*leverages)(x), fitted = multiply_transposed(block.x, model->coefficients.of, heard());
    const double of_intercept = problem->intercept ? 1 / data.mass() : 0;
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i), precision = block.precision_of(i);
      if (w == 0) continue;
      weight += w;
      for (Index k = 0; k < sum.size(); ++k) {
        const double r =
            block.y[static_cast<std::size_t>(i)] - block.offset_of(i) - model->intercept.of(k) - fitted(i, k);
        const double left = 1 - precision * (h(i, k) + of_intercept);
        sum(k) += left > 1e-12 ? w * (r / left) * (r / left) : kNone;  // without it the fit is not determined
      }
    }
  }
  void merge(const LeaveOneOut& other) {
    sum += other.sum;
    weight += other.weight;
  }
};

}  // namespace

Problem problem_of(const Ridge& spec, LeastSquares data) {
  const Index p = data.features();
  Problem out{std::move(data), spec.intercept, Vector::Ones(p), {}, {}, {}, 0, 0};
  const double root_mass = std::sqrt(out.data.mass());
  Eigen::MatrixXd t = spec.intercept ? out.data.triangle() : about_zero(out.data);
  for (Index j = 0; j < p; ++j) {
    const double length = out.data.triangle().col(j).stableNorm(),
                 raw = std::hypot(length, root_mass * out.data.mean()(j));
    if (length <= kRounding * raw) {
      out.constant.push_back(j);
      if (spec.intercept) t.col(j).setZero();
    } else if (spec.standardize) {
      out.scale(j) = length / root_mass;
      t.col(j) /= out.scale(j);
    }
  }
  const Index k = std::min(p, t.rows());
  out.a = t.topLeftCorner(k, p).triangularView<Eigen::Upper>();
  out.z = t.col(p).head(k);
  out.rest = t.rows() > p ? t(p, p) * t(p, p) : 0;
  out.total_ss = out.z.squaredNorm() + out.rest;
  return out;
}

PenaltyRoot penalty_root(const Ridge& spec, Index features) {
  if (spec.penalty.size() > 0) {  // diag(d^½) Vᵀ
    const Eigenpairs pairs = symmetric_eigen(spec.penalty);
    const double least = kNull * pairs.values(0);
    const Vector root = pairs.values.unaryExpr([&](double v) { return v > least ? std::sqrt(v) : 0.0; });
    return {{}, root.asDiagonal() * pairs.vectors.transpose()};
  }
  Vector factors = Vector::Ones(features);
  if (!spec.penalty_factors.empty()) factors = Eigen::Map<const Vector>(spec.penalty_factors.data(), features);
  return {factors.cwiseSqrt(), {}};
}

double intercept_of(const Problem& problem, const Vector& coefficients) {
  return intercept_for(problem.data, coefficients);
}

double residual_ss(const Problem& problem, const Vector& c) {
  return (problem.z - problem.a * c).squaredNorm() + problem.rest;
}

double gcv(double n, double rss, double df) {
  const double left = n - df;
  return left > kLeastShare * n ? n * rss / (left * left) : kNone;
}

double choose_lambda(const RidgeModel& model) {
  const Vector& criterion = model.spec.choose == RidgeChoice::loo ? model.loo_mse.of : model.gcv.of;
  Index best = -1;
  for (Index k = 0; k < criterion.size(); ++k)
    if (std::isfinite(criterion(k)) && (best < 0 || criterion(k) < criterion(best))) best = k;
  return best < 0 ? model.lambda.of.maxCoeff() : model.lambda.of(best);
}

bool leaves_out(const Ridge& spec, const Rows& rows) {
  return spec.choose == RidgeChoice::loo || rows.count() <= kMostLeftOut;
}

Vector leave_one_out(const Problem& problem, const RidgeModel& model, const Rows& rows,
                     const std::function<Matrix(const Matrix&)>& leverages, const Execution& execution) {
  const LeaveOneOut empty{&problem, &model, &leverages, Vector::Zero(model.lambda.size())};
  const LeaveOneOut all = scan(rows, empty, execution);
  return (all.sum / all.weight).unaryExpr([](double v) { return std::isfinite(v) ? v : kNone; });
}

}  // namespace lemma::ridge
