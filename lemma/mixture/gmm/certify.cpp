// lemma/mixture/gmm/certify.cpp: one more step, by another route than the fit's.
#include <algorithm>
#include <cmath>
#include <lemma/math/eigen.hpp>
#include <lemma/math/moments.hpp>
#include <lemma/mixture/gmm/components.hpp>
#include <lemma/mixture/shared/searched.hpp>
#include <limits>
#include <numbers>

namespace lemma {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// A Gaussian by the eigenvectors of its covariance: (x − μ)ᵀ V Λ⁻¹ Vᵀ (x − μ).
struct Eigenform {
  Vector mean;
  Eigenpairs pairs;
  double constant = 0;

  Eigenform(const Vector& m, const Matrix& covariance) : mean(m), pairs(symmetric_eigen(covariance)) {
    constant =
        -0.5 * (static_cast<double>(m.size()) * std::log(2 * std::numbers::pi) + pairs.values.array().log().sum());
  }
  Matrix turned(const Matrix& d) const { return d * pairs.vectors; }
  double log_density(const auto& turned_row) const {
    return constant - 0.5 * (turned_row.array().square() / pairs.values.transpose().array()).sum();
  }
};

/// One step of the textbook about the model's means.
struct PlainStep {
  const GmmModel* model;
  const std::vector<Eigenform>* forms;
  double log_likelihood = 0, hard = 0;
  Vector mass;
  Matrix shift, scatter;  // Σ w r d, and Σ w r d dᵀ of the components below each other

  PlainStep(const GmmModel& m, const std::vector<Eigenform>& f)
      : model(&m),
        forms(&f),
        mass(Vector::Zero(m.k())),
        shift(Matrix::Zero(m.k(), m.width())),
        scatter(Matrix::Zero(m.k() * m.width(), m.width())) {}

  void accumulate(const Block& block) {
    constexpr Index kTile = 512;
    for (Index first = 0; first < block.rows(); first += kTile)
      add(block, first, std::min(kTile, block.rows() - first));
  }
  void add(const Block& block, Index first, Index count) {
    const Index k = model->k(), p = model->width();
    const auto x = block.x.middleRows(first, count);
    Matrix l(count, k);
    for (Index c = 0; c < k; ++c) {
      const Eigenform& form = (*forms)[at(c)];
      const Matrix turned = form.turned(x.rowwise() - form.mean.transpose());
      for (Index i = 0; i < count; ++i) l(i, c) = std::log(model->weights(c)) + form.log_density(turned.row(i));
    }
    for (Index i = 0; i < count; ++i) {
      const double w = block.weight_of(first + i), most = l.row(i).maxCoeff();
      const double total = most + std::log((l.row(i).array() - most).exp().sum());
      if (w > 0) {
        log_likelihood += w * total;
        hard += w * (most - total);
      }
      l.row(i) = (w * (l.row(i).array() - total).exp()).matrix();
      mass += l.row(i).transpose();
    }
    for (Index c = 0; c < k; ++c) {
      const Matrix d = x.rowwise() - model->means.row(c);
      const Matrix weighted = l.col(c).asDiagonal() * d;
      shift.row(c) += weighted.colwise().sum();
      scatter.middleRows(c * p, p) += weighted.transpose() * d;
    }
  }
  void merge(const PlainStep& other) {
    log_likelihood += other.log_likelihood;
    hard += other.hard;
    mass += other.mass;
    shift += other.shift;
    scatter += other.scatter;
  }
};

/// Σ clipped at the floor through the eigenvectors of Σ v = λ S v: Σ = S V Λ Vᵀ S.
Matrix clipped_anew(const Matrix& sigma, const Matrix& s, double floor, bool& binds) {
  const Eigenpairs pairs = generalised_eigen(sigma, s);
  if (!(pairs.values.minCoeff() < floor)) return sigma;
  binds = true;
  const Matrix sv = s * pairs.vectors;
  return sv * pairs.values.cwiseMax(floor).asDiagonal() * sv.transpose();
}

/// The covariances after the step, each as a p × p matrix, by the kind of the model.
std::vector<Matrix> next_covariances(const GmmModel& model, const PlainStep& found, const Matrix& s, bool& binds) {
  const Index k = model.k(), p = model.width();
  const Gmm& spec = model.spec;
  std::vector<Matrix> out;
  Matrix pooled = Matrix::Zero(p, p);
  for (Index c = 0; c < k; ++c) {
    if (!(found.mass(c) > 0)) {
      out.push_back(model.covariance(c));
      continue;
    }
    const Vector delta = found.shift.row(c).transpose() / found.mass(c);
    out.push_back(found.scatter.middleRows(c * p, p) / found.mass(c) - delta * delta.transpose());
    pooled += found.mass(c) / found.mass.sum() * out.back();
  }
  const double mean_variance = s.diagonal().mean();
  for (Matrix& sigma : out) {
    if (spec.variance) {
      sigma = *spec.variance * Matrix::Identity(p, p);
    } else if (spec.covariance == Covariance::spherical) {
      const double v = sigma.diagonal().mean(), least = spec.floor * mean_variance;
      binds = binds || v < least;
      sigma = std::max(v, least) * Matrix::Identity(p, p);
    } else if (spec.covariance == Covariance::diagonal) {
      const Vector v = sigma.diagonal(), least = spec.floor * s.diagonal();
      binds = binds || (v.array() < least.array()).any();
      sigma = Vector(v.cwiseMax(least)).asDiagonal();
    } else {
      sigma = clipped_anew(spec.covariance == Covariance::tied ? pooled : sigma, s, spec.floor, binds);
    }
  }
  return out;
}

/// The farthest way: of a weight, of a mean in standard deviations, of a covariance relative to itself.
double movement_of(const GmmModel& model, const PlainStep& found, const std::vector<Eigenform>& forms,
                   const std::vector<Matrix>& next) {
  double most = (found.mass / found.mass.sum() - model.weights).cwiseAbs().maxCoeff();
  for (Index c = 0; c < model.k(); ++c) {
    if (!(found.mass(c) > 1e-12 * found.mass.sum())) continue;  // it has died, and stays
    const auto& [values, vectors] = forms[at(c)].pairs;
    const Vector length = values.cwiseSqrt();
    const Vector way = (vectors.transpose() * found.shift.row(c).transpose() / found.mass(c)).cwiseQuotient(length);
    Matrix change = vectors.transpose() * (next[at(c)] - model.covariance(c)) * vectors;
    change = length.cwiseInverse().asDiagonal() * change * length.cwiseInverse().asDiagonal();
    most = std::max({most, way.norm(), change.cwiseAbs().maxCoeff()});
  }
  return most;
}

/// How far rounding alone may move: a mean by its last digit, a covariance by as many as its shape costs.
double rounding_of(const GmmModel& model, const std::vector<Eigenform>& forms, const Vector& unit) {
  double digits = 0;
  for (Index c = 0; c < model.k(); ++c) {
    const auto& [values, vectors] = forms[at(c)].pairs;
    for (Index j = 0; j < values.size(); ++j) {
      const double length = std::sqrt(values(j));
      double offset = 0, spread = 0;
      for (Index f = 0; f < unit.size(); ++f) {
        offset += std::abs(vectors(f, j) * model.means(c, f));
        spread += std::abs(vectors(f, j)) * unit(f);
      }
      digits = std::max({digits, kEpsilon * offset / length, kEpsilon * spread * spread / values(j)});
    }
  }
  return 16 * digits;
}

}  // namespace

Certificate certify(const GmmModel& model, const Rows& rows, const Execution& execution) {
  const auto moments = scan(rows, Moments(rows.width()), execution.part(0, 0.2));
  const double n = moments.weight();
  const Matrix s = moments.covariance(n);
  std::vector<Eigenform> forms;
  for (Index c = 0; c < model.k(); ++c) forms.emplace_back(model.means.row(c).transpose(), model.covariance(c));
  const auto found = scan(rows, PlainStep(model, forms), execution.part(0.2, 1));

  bool binds = false;
  const auto next = next_covariances(model, found, s, binds);
  const double movement = movement_of(model, found, forms, next);
  const double rounding = rounding_of(model, forms, s.diagonal().cwiseSqrt());
  const mixture::Told told = mixture::told_apart(model, found.log_likelihood, found.hard, n);
  const double off = std::max(told.criteria, told.way), allowed = 1e-9 + rounding * rounding + 1e-3 * rounding;

  const mixture::Look look{.movement = movement,
                           .rounding = rounding,
                           .same = off <= allowed && (model.floor_reached == binds || rounding > 1e-9),
                           .off = off,
                           .moving = "a weight, a mean or a covariance"};
  return mixture::fixed_point(look, model.spec.tolerance, model.iterations, model.spec.max_iterations);
}

}  // namespace lemma
