// lemma/mixture/gmm.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/random.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/factorise.hpp>
#include <lemma/mixture/gmm.hpp>
#include <lemma/mixture/gmm/components.hpp>
#include <lemma/mixture/shared/searched.hpp>

namespace lemma {
namespace {

constexpr int kDefaultRestarts = 5;

const gmm::Gaussians& gaussians_of(const em::Mixture& mixture) {
  return static_cast<const gmm::Gaussians&>(*mixture.components);
}
/// The spec with what was left open filled in, and fitting the rows.
Gmm completed(Gmm spec, const Rows& rows) {
  const Matrix* given = std::get_if<Matrix>(&spec.start);
  if (!spec.restarts) spec.restarts = given ? 1 : kDefaultRestarts;
  if (given && given->cols() != rows.width())
    throw Error(fmt::format("gmm: start has {} columns, but the rows have {}: {}", given->cols(), rows.width(),
                            join_words(rows.features)));
  return spec;
}

em::Search search(const Gmm& spec, const Rows& rows, const std::shared_ptr<const gmm::Ground>& ground,
                  std::uint64_t seed, const Execution& execution) {
  em::Plan plan;
  plan.components = spec.components;
  plan.restarts = *spec.restarts;
  plan.limits = {spec.max_iterations, 0.5 * spec.tolerance, spec.solver};
  plan.weight = ground->weight;
  plan.start = [&](Index k, Index start, const Execution& part) {
    return gmm::start_of(spec, k, rows, ground, seed, start, part);
  };
  plan.parameters = [&](Index k) {
    return gmm::parameter_count(spec.covariance, spec.variance.has_value(), k, rows.width());
  };
  plan.held_up = [](const em::Mixture& mixture) { return gaussians_of(mixture).floor_binds(); };
  return em::search(rows, plan, execution);
}

void warn(GmmModel& model, const em::Search& found) {
  if (found.cancelled) model.warnings.push_back("cancelled: not all starts were finished");
  if (model.floor_reached)
    model.warnings.push_back(
        fmt::format("a component shrank onto few rows and is held up by the floor of {:g}, in all of {}: its "
                    "likelihood says more of the floor "
                    "than of the rows; take fewer components, or --covariance diagonal, spherical or tied",
                    model.spec.floor, count_of(*model.spec.restarts, "start")));
  mixture::warn_of_dead(model.weights, model.warnings);
}

}  // namespace

void Gmm::check() const {
  mixture::require_numbers("gmm", components);
  if (variance && covariance != Covariance::spherical)
    throw Error("gmm: variance gives one variance to all columns; it needs covariance spherical");
  const Matrix* given = std::get_if<Matrix>(&start);
  if (!given) return;
  if (given->size() == 0) throw Error("gmm: start has no means");
  if (components.size() != 1 || static_cast<Index>(components[0]) != given->rows())
    throw Error(fmt::format("gmm: start has {}, and components must be {} too", count_of(given->rows(), "mean"),
                            given->rows()));
  if (restarts && *restarts > 1)
    throw Error(fmt::format("gmm: restarts is {}, but from given means there is only 1 way to start", *restarts));
}

void GmmModel::check() const {
  const Index p = width();
  require(k() > 0 && p > 0, "gmm: there are no means");
  mixture::check_searched("gmm", *this);
  require(means.allFinite() && covariances.allFinite(), "gmm: a number is not finite");
  require(covariances.rows() == gmm::covariance_rows(spec.covariance, k(), p) &&
              covariances.cols() == gmm::covariance_columns(spec.covariance, p),
          "gmm: the covariances are not of the kind that was fitted");
  for (Index c = 0; c < k(); ++c) {
    const Matrix sigma = covariance(c);
    require(sigma == sigma.transpose() && (sigma.diagonal().array() > 0).all() && cholesky(sigma).has_value(),
            "gmm: a covariance is not symmetric and positive definite");
  }
  if (spec.variance) require((covariances.array() == *spec.variance).all(), "gmm: a variance is not the given one");
  require(parameters == gmm::parameter_count(spec.covariance, spec.variance.has_value(), k(), p),
          "gmm: the number of parameters is wrong");
}

Matrix GmmModel::covariance(Index component) const {
  const Index p = width();
  switch (spec.covariance) {
    case Covariance::full: return covariances.middleRows(component * p, p);
    case Covariance::tied: return covariances;
    case Covariance::diagonal: return Vector(covariances.row(component).transpose()).asDiagonal();
    default: return covariances(component, 0) * Matrix::Identity(p, p);
  }
}

Matrix GmmModel::memberships(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix r;
  em::responsibilities(gmm::mixture_of(*this), x, r);
  return r;
}

Vector GmmModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix r;
  return em::responsibilities(gmm::mixture_of(*this), x, r);
}

Labels GmmModel::assign(const MatrixView& x) const { return mixture::likeliest_component(memberships(x)); }

DrawnRows GmmModel::draw(Index count, std::uint64_t seed) const {
  const Index p = width();
  std::vector<Matrix> roots;
  for (Index c = 0; c < k(); ++c) roots.push_back(*cholesky(covariance(c)));
  DrawnRows out{Matrix(count, p)};
  Vector z(p);
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, at(i));
    const Index c = mixture::drawn_component(weights, random);
    for (Index j = 0; j < p; ++j) z(j) = random.normal();
    for (Index j = 0; j < p; ++j) {
      double value = means(c, j);
      for (Index l = 0; l <= j; ++l) value += roots[at(c)](l, j) * z(l);
      out.x(i, j) = value;
    }
  }
  return out;
}

std::string GmmModel::summary(const Names& names) const {
  return fmt::format("Mixture of {} with {} covariance{}, after {}\n\nWeights and means:\n", count_of(k(), "Gaussian"),
                     name_of(spec.covariance), spec.covariance == Covariance::tied || k() == 1 ? "" : "s",
                     count_of(iterations, "iteration")) +
         mixture::means_text(weights, {}, means, names.features) + mixture::tried_text(tried, tried_bic) +
         mixture::criteria_text(log_likelihood, parameters, aic, bic, icl);
}

GmmModel fit(const Valid<Gmm>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  GmmModel model;
  model.spec = completed(*spec, rows);
  const auto ground = gmm::survey(model.spec, rows, execution.part(0, 0.05));
  const em::Search found = search(model.spec, rows, ground, options.seed, execution.part(0.05, 0.95));
  if (!found.best) throw Cancelled();
  const em::Run& best = *found.best;
  const auto& gaussians = gaussians_of(best.mixture);
  model.weights = best.mixture.weights;
  model.means = gaussians.absolute_means();
  model.covariances = gaussians.covariances();
  model.floor_reached = gaussians.floor_binds();
  warn(model, found);
  const Index parameters =
      gmm::parameter_count(model.spec.covariance, model.spec.variance.has_value(), model.k(), model.width());
  mixture::finish(model, found, parameters, ground->weight, rows, execution);
  return model;
}

template const Method& method_of<Gmm>();

}  // namespace lemma
