// lemma/linear/ridge/certify.cpp: the model held against the rows by a QR of the triangle above the root of the penalty.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/linear/ridge/parts.hpp>
#include <lemma/linear/shared/learn_triangle.hpp>
#include <lemma/linear/shared/past_rows.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-20;  // of the squares that cancel: an error of 1e-10 in what they are squares of
constexpr double kRank = 1e-13;

/// Everything but the coefficients, from the problem and the numbers it follows from.
void compare_numbers(Comparison& same, const RidgeModel& model, const ridge::Problem& problem, const Rows& rows,
                     const Execution& execution) {
  const Index p = problem.data.features(), count = model.lambda.size();
  for (Index k = 0; k < count; ++k)
    same.entry("lambda", k, model.lambda.of(k), model.spec.lambda[static_cast<std::size_t>(k)], 0);
  for (Index j = 0; j < p; ++j) same.entry("scale", j, model.scale(j), problem.scale(j), problem.scale(j));
  if (model.seen_triangle.size() > 0) {
    same.relative("seen_weight", model.seen_weight, problem.data.weight());
    same.relative("seen_mass", model.seen_mass, problem.data.mass());
    compare_seen(same, model.seen_mean, model.seen_triangle, problem.data);
  }
  const ridge::PenaltyRoot root = ridge::penalty_root(model.spec, p);
  const ridge::Seen seen(problem, root);
  std::vector<ridge::Augmented> augmented;
  for (Index k = 0; k < count; ++k) {
    const double lambda = model.lambda.of(k), lead = model.spec.intercept ? 1 : 0;
    const Vector c = Vector(model.coefficients.of.row(k)).cwiseProduct(problem.scale);
    augmented.emplace_back(seen, lambda);
    const double rss = ridge::residual_ss(problem, c), df = augmented.back().df() + lead;
    const double n = problem.data.weight(), gcv = ridge::gcv(n, rss, df);
    same.entry("df", k, model.df.of(k), df, df, 1e-7);
    same.entry("rss", k, model.rss.of(k), rss, rss + 1e-6 * problem.total_ss);
    const double share = problem.total_ss > 0 ? 1 - rss / problem.total_ss : RidgeModel::kNone;
    same.entry("deviance_ratio", k, model.deviance_ratio.of(k), share, 1);
    same.entry("gcv", k, model.gcv.of(k), gcv, gcv + 1e-6 * problem.total_ss / n, 1e-7);
    const double objective = 0.5 * rss + 0.5 * lambda * root.times(c).squaredNorm();
    same.entry("objective", k, model.objective.of(k), objective, objective + 1e-6 * problem.total_ss);
  }
  if (same.finding()) return;
  if (model.updates > 0) {  // by gcv, or one λ
    for (const double each : model.loo_mse.of) same.number("loo_mse", each, RidgeModel::kNone, 0);
    return same.relative("chosen_lambda", model.chosen_lambda, ridge::choose_lambda(model));
  }
  Vector loo = Vector::Constant(count, RidgeModel::kNone);
  if (ridge::leaves_out(model.spec, rows)) {
    const auto leverages = [&](const Matrix& x) {
      Matrix out(x.rows(), count);
      for (Index k = 0; k < count; ++k) out.col(k) = augmented[static_cast<std::size_t>(k)].quadratic_form(x);
      return out;
    };
    loo = ridge::leave_one_out(problem, model, rows, leverages, execution);
  }
  for (Index k = 0; k < count; ++k)
    same.entry("loo_mse", k, model.loo_mse.of(k), loo(k), loo(k) + 1e-6 * problem.total_ss / problem.data.weight(),
               1e-7);
  same.relative("chosen_lambda", model.chosen_lambda, ridge::choose_lambda(model));
}

}  // namespace

namespace ridge {

Augmented::Augmented(const Seen& seen, double lambda) : seen_(seen), lambda_(lambda), length_(seen.size()) {
  const Index p = seen.size(), rows = seen.a().rows();
  blas::Columns stacked(rows + p, p);
  stacked.topRows(rows) = seen.a();
  if (seen.root().is_diagonal()) stacked.bottomRows(p) = Vector(std::sqrt(lambda) * seen.root().diagonal).asDiagonal();
  else stacked.bottomRows(p) = std::sqrt(lambda) * seen.root().full;
  for (Index j = 0; j < p; ++j) {
    length_(j) = stacked.col(j).stableNorm();
    if (length_(j) == 0) length_(j) = 1;
    stacked.col(j) /= length_(j);
  }
  const Vector factors = blas::pivoted_householder(stacked, order_);
  Index rank = 0;
  while (rank < p && std::abs(stacked(rank, rank)) > kRank * std::abs(stacked(0, 0))) ++rank;
  kept_.assign(order_.begin(), order_.begin() + rank);
  r_ = stacked.topLeftCorner(rank, rank).triangularView<Eigen::Upper>();
  ahead_ = stacked.topRows(rank).triangularView<Eigen::Upper>();
  blas::Columns z = blas::Columns::Zero(rows + p, 1);
  z.col(0).head(rows) = seen.problem().z;
  blas::apply_q(blas::Op::transposed, stacked, factors, z);
  target_ = z.col(0).head(rank);
}

/// J − min J = ½ ‖R u − Qᵀz‖² + ½ λ ‖K c‖² of what is unseen, and ½ Σw times the square of what the intercept is off. Of
/// several best c, the fit gives the one with the least penalty: where λ = 0, P c is orthogonal to every direction that no
/// row sees.
Distance Augmented::distance(const Vector& coefficients, double intercept) const {
  const Problem& problem = seen_.problem();
  const auto& data = problem.data;
  const Index p = seen_.size(), rank = r_.rows();
  const Vector c = coefficients.cwiseProduct(problem.scale), u = seen_.of(c);
  Vector ordered(p);
  for (Index k = 0; k < p; ++k) {
    const Index j = order_[static_cast<std::size_t>(k)];
    ordered(k) = u(j) * length_(j);
  }
  double centred = std::sqrt(problem.total_ss), means = std::sqrt(data.mass()) * std::abs(data.mean()(c.size()));
  for (Index j = 0; j < c.size(); ++j) {
    centred += problem.a.col(j).stableNorm() * std::abs(c(j));
    means += std::sqrt(data.mass()) * std::abs(data.mean()(j) * coefficients(j));
  }
  const auto [unseen_held, unseen_free] = seen_.unseen(c);
  const double excess = (ahead_ * ordered - target_).squaredNorm() + lambda_ * unseen_held;
  const double off = problem.intercept ? intercept - intercept_of(problem, coefficients) : intercept;
  const double of_intercept = off * off * data.mass();
  const auto share = [](double part, double size) { return part == 0 ? 0 : part / (size * size); };
  Distance out{share(excess, centred) + share(of_intercept, centred + means), 0};
  const auto raise = [&](double to) { out.relative = out.relative >= to ? out.relative : to; };  // NaN stays
  raise(share(unseen_free, c.norm()));
  const PenaltyRoot& root = seen_.root();
  if (lambda_ == 0) raise(share(unseen_held, std::hypot(root.times(u).norm(), std::sqrt(unseen_held))));
  if (lambda_ == 0 && rank < p) {
    Matrix unseen = ahead_.rightCols(p - rank);  // a direction: −R⁻¹ of a column left out, and 1 for itself
    blas::solve_upper(blas::Op::plain, r_, unseen);
    const Vector pressure = root.transposed_times(root.times(u));
    for (Index k = 0; k < unseen.cols(); ++k) {
      Vector direction = Vector::Zero(p);
      direction(order_[static_cast<std::size_t>(rank + k)]) = -1 / length_(order_[static_cast<std::size_t>(rank + k)]);
      for (Index i = 0; i < rank; ++i)
        direction(kept_[static_cast<std::size_t>(i)]) = unseen(i, k) / length_(kept_[static_cast<std::size_t>(i)]);
      const double slope = direction.dot(pressure), size = direction.norm() * pressure.norm();
      if (slope != 0) raise((slope / size) * (slope / size));
    }
  }
  Matrix inverse = Matrix::Identity(rank, rank), spread = Matrix::Zero(p, rank);
  blas::solve_upper(blas::Op::plain, r_, inverse);
  for (Index k = 0; k < rank; ++k) {
    const Index j = kept_[static_cast<std::size_t>(k)];
    spread.row(j) = (std::sqrt(excess) / length_(j)) * inverse.row(k);
  }
  if (rank > 0) out.bound = seen_.reach(spread, std::sqrt(unseen_held)).cwiseQuotient(problem.scale).maxCoeff();
  return out;
}

/// The trace of A (AᵀA + λP)⁻¹ Aᵀ = ‖A R⁻¹‖².
double Augmented::df() const {
  Matrix a = seen_.a()(Eigen::all, kept_);
  for (Index k = 0; k < a.cols(); ++k) a.col(k) /= length_(kept_[static_cast<std::size_t>(k)]);
  blas::divide_by_upper(r_, a);
  return a.squaredNorm();
}

Vector Augmented::quadratic_form(const Matrix& rows) const {
  Matrix x = seen_.of_rows(rows)(Eigen::all, kept_);
  for (Index k = 0; k < x.cols(); ++k) x.col(k) /= length_(kept_[static_cast<std::size_t>(k)]);
  blas::divide_by_upper(r_, x);
  return x.rowwise().squaredNorm();
}

Certificate certificate_of(const Problem& problem, const RidgeModel& model) {
  const PenaltyRoot root = penalty_root(model.spec, problem.a.cols());
  const Seen seen(problem, root);
  Certificate out;
  double bound = 0;
  for (Index k = 0; k < model.lambda.size(); ++k) {
    const Distance at =
        Augmented(seen, model.lambda.of(k)).distance(model.coefficients.of.row(k), model.intercept.of(k));
    out.value = at.relative <= out.value ? out.value : at.relative;  // NaN stays
    bound = std::max(bound, at.bound);
  }
  out.strength = Strength::optimal;
  out.kind = "relative excess over the least objective";
  out.tolerance = kTolerance;
  out.stopped = "closed form";
  out.error_bound = bound;
  out.message = fmt::format(
      "{} exceeds the least possible one by {:.1e} of the squares that cancel in it (allowed {:.0e}); no coefficient "
      "is "
      "further than {:.1e} from the best one.",
      model.lambda.size() == 1 ? "The objective" : "At its worst λ the objective", out.value, out.tolerance, bound);
  return out;
}

}  // namespace ridge

Certificate certify(const RidgeModel& model, const Rows& rows, const Execution& execution) {
  const Hearing hearing(execution);
  const ridge::Problem problem = ridge::problem_of(
      model.spec, learn_triangle(Ridge::name, rows, true, LeastSquares::Route::householder, execution.part(0, 0.7)));
  Certificate out = ridge::certificate_of(problem, model);
  if (!out.holds()) return out;
  Comparison same;
  compare_numbers(same, model, problem, rows, execution.part(0.7, 1));
  if (same.finding()) same.report(out);
  return out;
}

}  // namespace lemma
