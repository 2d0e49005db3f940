// lemma/mixture/mppca.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/special.hpp>
#include <lemma/mixture/gmm/components.hpp>
#include <lemma/mixture/mppca.hpp>
#include <lemma/mixture/shared/searched.hpp>

namespace lemma {
namespace {

constexpr int kDefaultRestarts = 10;

Index parameter_count(Index k, Index p, Index q) { return k - 1 + k * (p + p * q - q * (q - 1) / 2 + 1); }

/// The covariance W Wᵀ + σ² I of the greatest likelihood for S, σ² at least `least`.
Matrix low_rank(const Matrix& s, Index q, double least, bool& binds) {
  const Eigenpairs pairs = symmetric_eigen(s);
  double noise = pairs.values.tail(s.rows() - q).mean();
  if (!(noise >= least)) {
    noise = least;
    binds = true;
  }
  Matrix out = Matrix::Zero(s.rows(), s.rows());
  for (Index k = 0; k < q; ++k) {
    const double more = std::max(0.0, pairs.values(k) - noise);
    out += more * pairs.vectors.col(k) * pairs.vectors.col(k).transpose();
  }
  for (Index i = 0; i < out.rows(); ++i)
    for (Index j = 0; j < i; ++j) out(i, j) = out(j, i);
  out.diagonal().array() += noise;
  return out;
}

/// Gaussians whose covariances have that shape: those of gmm, cut to it in each M-step.
std::shared_ptr<const gmm::Ground> ground_of(const Mppca& spec, const Rows& rows, const Execution& execution) {
  // Dependent columns are welcome: their density is the noise's.
  auto ground = std::make_shared<gmm::Ground>(
      *gmm::survey(Gmm{.components = spec.components, .covariance = Covariance::diagonal}, rows, execution));
  ground->floor = 0;
  const double least = spec.floor * ground->mean_variance();
  const Index q = *spec.dimensions;
  ground->shape = [=](const Matrix& s, bool& binds) { return low_rank(s, q, least, binds); };
  return ground;
}

const gmm::Gaussians& gaussians_of(const em::Mixture& mixture) {
  return static_cast<const gmm::Gaussians&>(*mixture.components);
}

void take(MppcaModel& model, const em::Mixture& mixture) {
  const auto& gaussians = gaussians_of(mixture);
  const Index q = *model.spec.dimensions;
  model.weights = mixture.weights;
  model.means = gaussians.absolute_means();
  model.floor_reached = gaussians.floor_binds();
  const Index p = model.means.cols(), k = model.means.rows();
  model.loadings.resize(k * p, q);
  model.noise.resize(k);
  for (Index c = 0; c < k; ++c) {
    const Eigenpairs pairs = symmetric_eigen(gaussians.covariances().middleRows(c * p, p));
    model.noise(c) = pairs.values.tail(p - q).mean();
    for (Index j = 0; j < q; ++j)
      model.loadings.block(c * p, j, p, 1) =
          std::sqrt(std::max(0.0, pairs.values(j) - model.noise(c))) * pairs.vectors.col(j);
  }
}

em::Search search(const Mppca& spec, const Rows& rows, const std::shared_ptr<const gmm::Ground>& ground,
                  std::uint64_t seed, const Execution& execution) {
  em::Plan plan;
  plan.components = spec.components;
  plan.restarts = *spec.restarts;
  plan.limits = {spec.max_iterations, 0.5 * spec.tolerance, spec.solver};
  plan.weight = ground->weight;
  plan.start = [&](Index k, Index r, const Execution& part) {
    // Pieces that are long beside their distance are no clusters of k-means: every second start is by rows at random.
    const Gmm start{.components = spec.components, .start = r % 2 == 0 ? GmmStart::kmeans : GmmStart::random};
    return gmm::start_of(start, k, rows, ground, seed, r, part);
  };
  plan.parameters = [&](Index k) { return parameter_count(k, rows.width(), *spec.dimensions); };
  plan.held_up = [](const em::Mixture& mixture) { return gaussians_of(mixture).floor_binds(); };
  return em::search(rows, plan, execution);
}

/// log π_k f_k(x) of each row and component.
Matrix joint(const MppcaModel& model, const MatrixView& x) {
  require_width(model, x.cols());
  Matrix out(x.rows(), model.k());
  for (Index c = 0; c < model.k(); ++c)
    out.col(c) = factors::log_densities(model.component(c), x).array() + std::log(model.weights(c));
  return out;
}

void warn(MppcaModel& model, const em::Search& found) {
  if (found.cancelled) model.warnings.push_back("cancelled: not all starts were finished");
  if (model.floor_reached)
    model.warnings.push_back(
        fmt::format("a component shrank onto few rows and its noise is held up by the floor of {:g}, in all of {}: its "
                    "likelihood says more of the floor than of the rows; take fewer components or dimensions",
                    model.spec.floor, count_of(*model.spec.restarts, "start")));
  mixture::warn_of_dead(model.weights, model.warnings);
}

}  // namespace

void Mppca::check() const { mixture::require_numbers("mppca", components); }

factors::Factors MppcaModel::component(Index c) const {
  const Index p = width();
  return {means.row(c).transpose(), loadings.middleRows(c * p, p), Vector::Constant(p, noise(c))};
}

void MppcaModel::check() const {
  const Index p = width();
  require(spec.dimensions.has_value() && k() > 0 && p > 1 && *spec.dimensions < p && weights.size() == k() &&
              noise.size() == k() && loadings.rows() == k() * p && loadings.cols() == *spec.dimensions,
          "mppca: weights, means and loadings do not fit together");
  mixture::check_searched("mppca", *this);
  require(means.allFinite() && loadings.allFinite() && noise.allFinite() && (noise.array() > 0).all(),
          "mppca: a number is not usable");
  require(parameters == parameter_count(k(), p, *spec.dimensions), "mppca: the number of parameters is wrong");
}

Matrix MppcaModel::memberships(const MatrixView& x) const {
  Matrix out = joint(*this, x);
  softmax_rows(out);
  return out;
}
Vector MppcaModel::log_density(const MatrixView& x) const { return log_sum_exp_rows(joint(*this, x)); }

Labels MppcaModel::assign(const MatrixView& x) const { return mixture::likeliest_component(memberships(x)); }

DrawnRows MppcaModel::draw(Index count, std::uint64_t seed) const {
  DrawnRows out{Matrix(count, width())};
  Vector z(loadings.cols());
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, at(i));
    const Index c = mixture::drawn_component(weights, random);
    for (double& each : z) each = random.normal();
    for (Index j = 0; j < width(); ++j) {
      double value = means(c, j) + std::sqrt(noise(c)) * random.normal();
      for (Index l = 0; l < z.size(); ++l) value += loadings(c * width() + j, l) * z(l);
      out.x(i, j) = value;
    }
  }
  return out;
}

std::string MppcaModel::summary(const Names& names) const {
  return fmt::format("Mixture of {} with {} each, after {}\n\nWeights, variances of the noise and means:\n",
                     count_of(k(), "source"), count_of(loadings.cols(), "direction"),
                     count_of(iterations, "iteration")) +
         mixture::means_text(weights, {{"noise", noise}}, means, names.features) +
         mixture::tried_text(tried, tried_bic) + mixture::criteria_text(log_likelihood, parameters, aic, bic, icl);
}

MppcaModel fit(const Valid<Mppca>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  MppcaModel model;
  model.spec = *spec;
  if (!model.spec.restarts) model.spec.restarts = kDefaultRestarts;
  if (!model.spec.dimensions) model.spec.dimensions = 1;
  if (*model.spec.dimensions >= rows.width())
    throw Error(fmt::format("mppca: dimensions is {}, and there {}; it must be fewer, so that noise is left",
                            *model.spec.dimensions,
                            rows.width() == 1 ? "is 1 column" : fmt::format("are {} columns", rows.width())));
  const auto ground = ground_of(model.spec, rows, execution.part(0, 0.05));
  const em::Search found = search(model.spec, rows, ground, options.seed, execution.part(0.05, 0.95));
  if (!found.best) throw Cancelled();
  const em::Run& best = *found.best;
  take(model, best.mixture);
  warn(model, found);
  mixture::finish(model, found, parameter_count(model.k(), model.width(), *model.spec.dimensions), ground->weight, rows,
                  execution);
  return model;
}

template const Method& method_of<Mppca>();

}  // namespace lemma
