// lemma/mixture/mppca/certify.cpp: one more step by the hidden numbers of the rows.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/math/svd.hpp>
#include <lemma/mixture/mppca.hpp>
#include <lemma/mixture/shared/searched.hpp>
#include <limits>

namespace lemma {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// E by the q × q matrices, and the sums of M about the model's means.
struct PlainStep {
  const MppcaModel* model;
  const std::vector<factors::Factors>* parts;
  double log_likelihood = 0, hard = 0, weight = 0;
  Vector mass;
  Matrix shift, scatter;

  PlainStep(const MppcaModel& m, const std::vector<factors::Factors>& f)
      : model(&m),
        parts(&f),
        mass(Vector::Zero(m.k())),
        shift(Matrix::Zero(m.k(), m.width())),
        scatter(Matrix::Zero(m.k() * m.width(), m.width())) {}
  void accumulate(const Block& block) {
    const Index components = model->k(), p = model->width();
    std::vector<factors::Asker> askers;
    for (const auto& each : *parts) askers.emplace_back(each);
    Vector l(components);
    for (Index i = 0; i < block.rows(); ++i) {
      const double w = block.weight_of(i);
      if (w == 0) continue;
      for (Index c = 0; c < components; ++c)
        l(c) = std::log(model->weights(c)) + askers[at(c)].of(block.x.row(i).data()).log_density;
      const double most = l.maxCoeff(), total = most + std::log((l.array() - most).exp().sum());
      weight += w;
      log_likelihood += w * total;
      hard += w * (most - total);
      for (Index c = 0; c < components; ++c) {
        const double r = w * std::exp(l(c) - total);
        const Vector d = (block.x.row(i) - model->means.row(c)).transpose();
        mass(c) += r;
        shift.row(c) += r * d.transpose();
        scatter.middleRows(c * p, p) += r * d * d.transpose();
      }
    }
  }
  void merge(const PlainStep& other) {
    log_likelihood += other.log_likelihood;
    hard += other.hard;
    weight += other.weight;
    mass += other.mass;
    shift += other.shift;
    scatter += other.scatter;
  }
};

Matrix triangle(const Matrix& m) {
  auto root = cholesky(m);
  require(root.has_value(), "mppca: a matrix of hidden numbers is not positive definite");
  return *std::move(root);
}

/// Tipping and Bishop's step for one component, in units of σ: W ← S W (I + M⁻¹WᵀSW)⁻¹, σ² ← tr(S − S W M⁻¹ W'ᵀ) / p. With M = RᵀR and
/// V = W R⁻¹ it is W' = S V (I + VᵀSV)⁻¹ R, in which no product is larger than S.
double movement_of(const factors::Factors& at, const Matrix& covariance, double least) {
  const Index p = at.width(), q = at.count();
  const double noise = at.noise(0);
  const Matrix w = at.loadings / std::sqrt(noise), s = covariance / noise, identity = Matrix::Identity(q, q);
  const Matrix r = triangle(w.transpose() * w + identity), v = divide_by_upper(w, r), sv = s * v;
  const Matrix b = v.transpose() * sv, inner = triangle(identity + 0.5 * (b + b.transpose()));
  const Matrix next = sv * solve_upper(inner, solve_upper_transposed(inner, r));
  const double explained = (sv * solve_upper_transposed(r, next.transpose())).trace();
  const double next_noise = std::max(least / noise, (s.trace() - explained) / static_cast<double>(p));
  double most = std::abs(next_noise - 1);
  for (Index j = 0; j < p; ++j)
    most = std::max(most, (next.row(j) - w.row(j)).cwiseAbs().maxCoeff() / std::sqrt(w.row(j).squaredNorm() + 1));
  return most;
}

/// What the expected log-likelihood of the component's rows lacks to the greatest, a row: by the singular values of a triangle of S.
double lack_of(const factors::Factors& at, const Matrix& s, double least, bool& binds) {
  const Index p = at.width(), q = at.count();
  const auto triangle = cholesky(s);
  const Vector values = triangle ? Vector(thin_svd(*triangle).s.array().square()) : thin_svd(s).s;
  double noise = values.tail(p - q).mean();
  if (noise < least) {
    noise = least;
    binds = true;
  }
  double best = 0;
  for (Index j = 0; j < p; ++j) {
    const double kept = j < q ? std::max(values(j), noise) : noise;
    best += std::log(kept) + values(j) / kept;
  }
  const Matrix root = *cholesky(at.covariance());
  const Matrix half = solve_upper_transposed(root, s);
  const double own = log_determinant(root) + solve_upper_transposed(root, half.transpose()).trace();
  return 0.5 * (own - best);
}

}  // namespace

Certificate certify(const MppcaModel& model, const Rows& rows, const Execution& execution) {
  const auto moments = scan(rows, Moments(rows.width()), execution.part(0, 0.2));
  const double mean_variance = moments.variances(moments.weight()).mean(), least = model.spec.floor * mean_variance;
  std::vector<factors::Factors> parts;
  for (Index c = 0; c < model.k(); ++c) parts.push_back(model.component(c));
  const auto found = scan(rows, PlainStep(model, parts), execution.part(0.2, 1));
  const Index p = model.width();
  bool binds = false;
  double movement = (found.mass / found.weight - model.weights).cwiseAbs().maxCoeff(), lack = 0, rounding = 0;
  for (Index c = 0; c < model.k(); ++c) {
    if (!(found.mass(c) > 1e-12 * found.weight)) continue;  // it has died, and stays
    const auto& part = parts[at(c)];
    const Vector delta = found.shift.row(c).transpose() / found.mass(c);
    const Matrix s = found.scatter.middleRows(c * p, p) / found.mass(c) - delta * delta.transpose();
    movement = std::max(movement, movement_of(part, s, least));
    for (Index j = 0; j < p; ++j)
      movement = std::max(movement, std::abs(delta(j)) / std::sqrt(part.loadings.row(j).squaredNorm() + part.noise(0)));
    lack = std::max(lack, lack_of(part, s, least, binds));
    const double greatest = part.loadings.colwise().squaredNorm().maxCoeff() + part.noise(0);
    rounding =
        std::max(rounding, 64 * kEpsilon * static_cast<double>(p) *
                               (greatest + part.mean.cwiseAbs().maxCoeff() * std::sqrt(part.noise(0))) / part.noise(0));
  }
  const mixture::Told told = mixture::told_apart(model, found.log_likelihood, found.hard, found.weight);
  const double off = std::max(told.criteria, told.way);

  // A mean in standard deviations of its column moves less than one in those of its component, by which the work ends.
  const mixture::Look look{.movement = movement,
                           .rounding = rounding,
                           .same = off <= 1e-9 + rounding && (model.floor_reached == binds || rounding > 1e-9),
                           .off = off,
                           .moving = "a weight, a mean, a loading or a noise"};
  Certificate out = mixture::fixed_point(look, model.spec.tolerance, model.iterations, model.spec.max_iterations);
  if (!look.same || lack <= 1e-9 + out.tolerance + rounding) return out;
  out.value = std::max(out.value, out.tolerance * 2 + lack);
  out.stopped = model.iterations >= model.spec.max_iterations ? "iteration limit" : "not converged";
  out.message = fmt::format("Other directions are likelier for the rows of a component (by {} a row).",
                            format_significant(lack, 2));
  return out;
}

}  // namespace lemma
