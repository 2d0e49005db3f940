// lemma/linear/bayes_logistic.cpp: the mode by Newton's method, the posterior around it.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/linear/bayes_logistic/parts.hpp>
#include <lemma/linear/shared/planes.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/special.hpp>
#include <numbers>

namespace lemma {
namespace bayes_logistic {
namespace {

constexpr double kEnough = 1e-22;  // of the squared gradient in posterior standard deviations

struct Counts {
  Vector of;
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) of(block.label[static_cast<std::size_t>(i)]) += block.weight_of(i);
  }
  void merge(const Counts& other) { of += other.of; }
};

}  // namespace

Columns columns_of(const BayesLogistic& spec, const Rows& rows, const Execution& execution) {
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution.part(0, 0.5));
  const auto classes = static_cast<Index>(rows.classes.size());
  Columns out{Vector::Zero(rows.width()), Vector::Ones(rows.width()),
              scan(rows, Counts{Vector::Zero(classes)}, execution.part(0.5, 1)).of};
  for (Index k = 0; k < classes; ++k)
    if (!(out.counts(k) > 0))
      throw Error(
          fmt::format("bayes_logistic: no row of class '{}' has a weight", rows.classes[static_cast<std::size_t>(k)]));
  const Vector deviation = moments.deviation();
  const double n = out.counts.sum();
  for (Index j = 0; j < rows.width(); ++j) {
    const auto& name = rows.features[static_cast<std::size_t>(j)];
    const double size = std::max(std::abs(moments.least()(j)), std::abs(moments.greatest()(j)));
    if (!std::isfinite(deviation(j)) || !std::isfinite(moments.mean()(j)) || (!spec.standardize && size > 1e140))
      throw Error(fmt::format(
          "bayes_logistic: the values of '{}' are too large to be squared (they reach {:.0e}); use another unit", name,
          size));
    if (spec.intercept) out.mean(j) = moments.mean()(j);
    if (!spec.standardize) continue;
    if (deviation(j) > 1e-14 * size) out.scale(j) = deviation(j) * std::sqrt((n - 1) / n);
    else if (size > 0) out.scale(j) = size;
  }
  return out;
}

Matrix terms_of(const Columns& columns, bool intercept, const MatrixView& x) {
  const Index p = x.cols(), lead = intercept ? 1 : 0;
  Matrix z(x.rows(), p + lead);
  if (lead == 1) z.col(0).setOnes();
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < p; ++j) z(i, lead + j) = (x(i, j) - columns.mean(j)) / columns.scale(j);
  return z;
}

Likelihood::Likelihood(const Columns& c, Vector at, bool with_intercept, Index which, Index of)
    : columns(&c),
      w(std::move(at)),
      intercept(with_intercept),
      plane(which),
      planes(of),
      gradient(Vector::Zero(w.size())),
      hessian(Matrix::Zero(w.size(), w.size())) {}

void Likelihood::accumulate(const Block& block) {
  Matrix z = terms_of(*columns, intercept, block.x);
  const Vector eta = z * w;
  Vector pull(block.rows()), root(block.rows());
  for (Index i = 0; i < block.rows(); ++i) {
    const double weight = block.weight_of(i), p1 = logistic(eta(i)), p0 = logistic(-eta(i));
    const bool positive = is_positive(block.label[static_cast<std::size_t>(i)], plane, planes);
    value += weight * log1p_exp(positive ? -eta(i) : eta(i));
    pull(i) = weight * (positive ? -p0 : p1);
    root(i) = std::sqrt(weight * p0 * p1);
  }
  gradient.noalias() += z.transpose() * pull;
  z = root.asDiagonal() * z;
  blas::gram(z, hessian, 1);
}

void Likelihood::merge(const Likelihood& other) {
  value += other.value;
  gradient += other.gradient;
  hessian += other.hessian;
}

Likelihood likelihood_at(const Likelihood& empty, const Rows& rows, const Execution& execution) {
  Likelihood out = scan(rows, empty, execution);
  out.hessian = Matrix(out.hessian.selfadjointView<Eigen::Upper>());
  return out;
}

namespace {

double penalty(const BayesLogistic& spec, const Vector& w) {
  const auto c = w.tail(w.size() - (spec.intercept ? 1 : 0));
  return spec.prior == LogisticPrior::gaussian ? 0.5 * spec.alpha * c.squaredNorm() : spec.alpha * c.lpNorm<1>();
}

/// A triangle of h, with as little added to its diagonal as it takes.
Matrix triangle_of_hessian(Matrix h) {
  const double size = std::max(h.diagonal().maxCoeff(), 1e-300);
  for (double more = 0;; more = more == 0 ? 1e-14 : 10 * more) {
    Matrix tried = h;
    tried.diagonal().array() += more * size;
    if (const auto r = cholesky(tried)) return *r;
  }
}

Vector solve_with(const Matrix& triangle, const Vector& b) {
  return solve_upper(triangle, solve_upper_transposed(triangle, Matrix(b)));
}

/// The step to the minimum of the quadratic model with Laplace's prior: one coordinate after the other.
Vector laplace_step(const BayesLogistic& spec, const Likelihood& at) {
  const Index lead = spec.intercept ? 1 : 0;
  Vector d = Vector::Zero(at.w.size()), pull = at.gradient;  // gradient + H d
  for (int sweep = 0; sweep < 10'000; ++sweep) {
    double moved = 0;
    for (Index j = 0; j < d.size(); ++j) {
      const double h = at.hessian(j, j);
      if (!(h > 0)) continue;
      const double u = h * (at.w(j) + d(j)) - pull(j), shrink = j < lead ? 0 : spec.alpha;
      const double best = (u > shrink ? u - shrink : u < -shrink ? u + shrink : 0) / h, change = best - at.w(j) - d(j);
      if (change == 0) continue;
      d(j) = best == 0 ? -at.w(j) : d(j) + change;
      pull += change * at.hessian.col(j);
      moved = std::max(moved, h * change * change);
    }
    if (moved <= 1e-28) break;
  }
  return d;
}

Vector newton_step(const BayesLogistic& spec, const Likelihood& at) {
  if (spec.prior == LogisticPrior::laplace) return laplace_step(spec, at);
  const Index lead = spec.intercept ? 1 : 0, p = at.w.size() - lead;
  Matrix h = at.hessian;
  h.diagonal().tail(p).array() += spec.alpha;
  Vector g = at.gradient;
  g.tail(p) += spec.alpha * at.w.tail(p);
  return -solve_with(triangle_of_hessian(h), g);
}

struct Mode {
  Likelihood at;
  long long iterations = 0;
  bool done = false;
};

Mode find_mode(const BayesLogistic& spec, const Columns& columns, Index plane, Index planes, const Rows& rows,
               const Execution& execution) {
  const Index lead = spec.intercept ? 1 : 0;
  const auto empty = [&](Vector w) { return Likelihood(columns, std::move(w), spec.intercept, plane, planes); };
  Mode out{likelihood_at(empty(Vector::Zero(columns.mean.size() + lead)), rows, execution)};
  for (; out.iterations < spec.max_iterations && !out.done; ++out.iterations) {
    if (execution.cancelled()) break;
    const Vector step = newton_step(spec, out.at);
    const double before = out.at.value + penalty(spec, out.at.w), size = step.dot(out.at.hessian * step);
    if (size <= kEnough) {
      out.done = true;
      break;
    }
    bool better = false;
    for (double share = 1; share > 1e-10 && !better; share /= 2) {
      const Likelihood next = likelihood_at(empty(out.at.w + share * step), rows, execution);
      const double now = next.value + penalty(spec, next.w);
      better = now <= before + 1e-13 * std::abs(before) && (share < 1 || size < 1e-10 || now < before);
      if (better) out.at = next;
    }
    out.done = !better && size < 1e-12;
    if (!better) break;
  }
  return out;
}

}  // namespace

Posterior posterior_of(const BayesLogistic& spec, const Likelihood& at) {
  const Index lead = spec.intercept ? 1 : 0, p = at.w.size() - lead;
  const bool gaussian = spec.prior == LogisticPrior::gaussian;
  std::vector<Index> free;  // all, or those that are not at the kink
  double log_prior = 0;
  for (Index j = 0; j < at.w.size(); ++j) {
    if (j < lead || gaussian || at.w(j) != 0) free.push_back(j);
    if (j < lead) continue;
    if (gaussian) log_prior += 0.5 * std::log(spec.alpha / (2 * std::numbers::pi));
    else if (at.w(j) != 0) log_prior += std::log(spec.alpha / 2);
    else {  // ∫ ½ α e^(−α|c| − g c) dc
      const double share = std::min(std::abs(at.gradient(j)) / spec.alpha, 1 - 1e-12);
      log_prior -= std::log1p(-share * share);
    }
  }
  Matrix h = at.hessian(free, free);
  if (gaussian) h.diagonal().tail(p).array() += spec.alpha;
  Posterior out{Matrix::Zero(at.w.size(), at.w.size()), 0};
  if (free.empty()) {
    out.log_evidence = -at.value - penalty(spec, at.w) + log_prior;
    return out;
  }
  const Matrix triangle = triangle_of_hessian(h);
  const Matrix inverse = solve_upper(triangle, Matrix::Identity(h.rows(), h.rows()));
  out.covariance(free, free) = inverse * inverse.transpose();
  out.log_evidence =
      -at.value - penalty(spec, at.w) + log_prior +
      0.5 * (static_cast<double>(free.size()) * std::log(2 * std::numbers::pi) - log_determinant(triangle));
  return out;
}

void make_room(BayesLogisticModel& model, Index planes, Index width) {
  model.coefficients.of.resize(planes, width);
  model.std_errors.of.resize(planes, width);
  for (PathNumbers* each : {&model.intercept, &model.intercept_std_error, &model.log_likelihood, &model.log_evidence})
    each->of = Vector::Zero(planes);
  const Index terms = width + (model.spec.intercept ? 1 : 0);
  model.posterior.resize(planes * terms, terms);
}

void fill_plane(BayesLogisticModel& model, Index plane, const Likelihood& at, const Posterior& posterior) {
  const Index lead = model.spec.intercept ? 1 : 0, p = at.w.size() - lead, terms = p + lead;
  const Vector by = at.columns->scale.cwiseInverse();
  model.mean = at.columns->mean;
  model.scale = at.columns->scale;
  model.coefficients.of.row(plane) = at.w.tail(p).cwiseProduct(by);
  model.std_errors.of.row(plane) = posterior.covariance.diagonal().tail(p).cwiseSqrt().cwiseProduct(by);
  model.posterior.middleRows(plane * terms, terms) = posterior.covariance;
  model.log_likelihood.of(plane) = -at.value;
  model.log_evidence.of(plane) = posterior.log_evidence;
  if (lead == 0) return;
  Vector to(terms);  // b₀ = w₀ − Σ mean c / scale
  to << 1, -at.columns->mean.cwiseProduct(by);
  model.intercept.of(plane) = to.dot(at.w);
  model.intercept_std_error.of(plane) = std::sqrt(std::max(0.0, to.dot(posterior.covariance * to)));
}

}  // namespace bayes_logistic

void BayesLogistic::check() const {
  require(approximation == LogisticPosterior::laplace || prior == LogisticPrior::gaussian,
          "bayes_logistic: approximation variational bounds the likelihood of a gaussian prior, and prior is laplace");
}

BayesLogisticModel fit(const Valid<BayesLogistic>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.05));
  const auto columns = bayes_logistic::columns_of(*spec, rows, execution.part(0.05, 0.1));
  const Index planes = bayes_logistic::planes_for(rows.classes.size());
  BayesLogisticModel model;
  model.spec = *spec;
  bayes_logistic::make_room(model, planes, rows.width());
  long long iterations = 0;
  bool done = true;
  for (Index k = 0; k < planes; ++k) {
    const double from = 0.1 + 0.8 * static_cast<double>(k) / static_cast<double>(planes);
    const auto mode =
        bayes_logistic::find_mode(*spec, columns, k, planes, rows, execution.part(from, from, "Newton steps"));
    execution.report(from + 0.8 / static_cast<double>(planes), "Newton steps");
    const auto laplace = bayes_logistic::posterior_of(*spec, mode.at);
    iterations += mode.iterations;
    done = done && mode.done;
    if (spec->approximation == LogisticPosterior::laplace) {
      bayes_logistic::fill_plane(model, k, mode.at, laplace);
      continue;
    }
    const auto found =
        bayes_logistic::bounded_from(*spec, mode.at, laplace, rows, execution.part(from, from, "turns of the bound"));
    const bayes_logistic::Likelihood there(columns, found.mean, spec->intercept, k, planes);
    bayes_logistic::fill_plane(model, k, bayes_logistic::likelihood_at(there, rows, execution.part(from, from)),
                               found.posterior);
    iterations += found.iterations;
    done = done && found.done;
  }
  lemma::planes::require_numbers(BayesLogistic::name,
                                 model.coefficients.of.allFinite() && model.intercept.of.allFinite() &&
                                     model.std_errors.of.allFinite() && model.intercept_std_error.of.allFinite(),
                                 rows.features, columns.scale);
  if (!done)
    model.warnings.push_back(fmt::format("the {} was not reached after {} steps; raise max_iterations",
                                         spec->approximation == LogisticPosterior::laplace ? "mode" : "greatest bound",
                                         iterations));
  model.certificate = certify(model, rows, execution.part(0.9, 1));
  model.certificate.iterations = iterations;
  if (!done) model.certificate.stopped = "iteration limit";
  return model;
}

template const Method& method_of<BayesLogistic>();

}  // namespace lemma
