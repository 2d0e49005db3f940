// lemma/mixture/mixture.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/mixture/mixture/products.hpp>
#include <lemma/mixture/shared/searched.hpp>

namespace lemma {
namespace {

using products::Kind;
using products::Products;

constexpr int kDefaultRestarts = 5;

const Products& products_of(const em::Mixture& mixture) { return static_cast<const Products&>(*mixture.components); }

em::Search search(const Mixture& spec, const Rows& rows, const std::shared_ptr<const products::Ground>& ground,
                  std::uint64_t seed, const Execution& execution) {
  em::Plan plan;
  plan.components = spec.components;
  plan.restarts = *spec.restarts;
  plan.limits = {spec.max_iterations, 0.5 * spec.tolerance,
                 spec.solver == MixtureSolver::squarem ? em::Solver::squarem : em::Solver::em};
  plan.weight = ground->weight;
  plan.start = [&](Index k, Index start, const Execution& part) {
    const em::Mixture from = products::start_of(k, rows, ground, seed, start, part);
    return spec.solver == MixtureSolver::online ? products::online_pass(rows, from, part) : from;
  };
  plan.parameters = [&](Index k) { return products::parameter_count(*ground, k); };
  plan.held_up = [](const em::Mixture&) { return false; };  // of categories a probability of 0 is no collapse
  return em::search(rows, plan, execution);
}

void warn(MixtureModel& model, bool cancelled) {
  if (cancelled) model.warnings.push_back("cancelled: not all starts were finished");
  mixture::warn_of_dead(model.weights, model.warnings);
  for (Index j = 0; j < model.width(); ++j) {
    if (model.spec.kinds[at(j)] != "gaussian") continue;
    const double least = model.spec.floor * model.column_variances(j);
    if ((model.variances.col(j).array() <= least * (1 + 1e-9)).any()) {
      model.warnings.push_back(fmt::format(
          "a component shrank onto one value of column {} and is held up by the floor of {:g}: its likelihood "
          "says more of the floor than of the rows; take fewer components",
          j + 1, model.spec.floor));
      break;
    }
  }
}

}  // namespace

void Mixture::check() const {
  mixture::require_numbers("mixture", components);
  for (const auto& kind : kinds) {
    const auto known = products::names_of(Kind{});
    if (kind != "auto" && std::find(known.begin(), known.end(), kind) == known.end())
      throw Error(
          fmt::format("mixture: kinds is '{}', must be gaussian, bernoulli, poisson, exponential, multinomial, "
                      "categorical or auto",
                      kind));
  }
}

void MixtureModel::check() const {
  const Index p = width();
  require(k() > 0 && p > 0 && weights.size() == k() && variances.rows() == k() && variances.cols() == p &&
              levels.size() == at(p) && spec.kinds.size() == at(p) && column_means.size() == p &&
              column_variances.size() == p,
          "mixture: components and columns do not fit together");
  mixture::check_searched("mixture", *this);
  Index all = 0;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    require(levels[j] >= 0 && levels[j] < (1 << 24) && (levels[j] > 0) == (spec.kinds[j] == "categorical"),
            "mixture: the levels of a column do not fit its kind");
    all += levels[j];
  }
  require(probabilities.rows() == k() && probabilities.cols() == all,
          "mixture: there is not a probability of each level");
  require(values.allFinite() && variances.allFinite() && probabilities.allFinite() && column_means.allFinite() &&
              column_variances.allFinite(),
          "mixture: a number is not finite");
  require((probabilities.array() > 0).all(), "mixture: a probability is not above 0");
  double first = 0;
  for (Index c = 0; c < k(); ++c) {
    Index level = 0;
    for (Index j = 0; j < p; ++j) {
      const std::string& kind = spec.kinds[at(j)];
      const double v = values(c, j);
      const bool usable = kind == "gaussian"      ? variances(c, j) > 0
                          : kind == "categorical" ? v == 0
                          : kind == "bernoulli"   ? v > 0 && v < 1
                                                  : v > 0;
      require(usable && (kind == "gaussian" || variances(c, j) == 0), "mixture: a parameter is none of its kind");
      if (kind != "categorical") continue;
      require(std::abs(probabilities.row(c).segment(level, levels[at(j)]).sum() - 1) <= 1e-9,
              "mixture: the probabilities of levels are not shares of one");
      level += levels[at(j)];
    }
    first = 0;
    bool any = false;
    for (Index j = 0; j < p; ++j)
      if (spec.kinds[at(j)] == "multinomial") {
        first += values(c, j);
        any = true;
      }
    require(!any || std::abs(first - 1) <= 1e-9, "mixture: the shares of the counts are not shares of one");
  }
  require(parameters == products::parameter_count(*products::ground_of(*this), k()),
          "mixture: the number of parameters is wrong");
}

Matrix MixtureModel::memberships(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix r;
  em::responsibilities(products::mixture_of(*this), x, r);
  return r;
}

Vector MixtureModel::log_density(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix r;
  return em::responsibilities(products::mixture_of(*this), x, r);
}

Labels MixtureModel::assign(const MatrixView& x) const { return mixture::likeliest_component(memberships(x)); }

std::string MixtureModel::summary(const Names& names) const {
  constexpr Index kMost = 20;
  const Index shown = std::min(k(), kMost);
  std::vector<std::string> component;
  std::vector<double> share;
  for (Index c = 0; c < shown; ++c) {
    component.push_back(fmt::format("{}", c + 1));
    share.push_back(weights(c));
  }
  const auto feature = [&](Index j) {
    return at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1);
  };
  TextTable table;
  table.right("component", component).numbers("weight", share, 4);
  Index level = 0;
  for (Index j = 0; j < width(); ++j) {
    if (spec.kinds[at(j)] != "categorical") {
      const Vector column = values.col(j).head(shown);
      table.numbers(fmt::format("{} ({})", feature(j), spec.kinds[at(j)]), {column.begin(), column.end()}, 4);
      continue;
    }
    for (Index l = 0; l < std::min<Index>(levels[at(j)], 8); ++l) {
      const Vector column = probabilities.col(level + l).head(shown);
      table.numbers(fmt::format("{}={}", feature(j), l + 1), {column.begin(), column.end()}, 3);
    }
    level += levels[at(j)];
  }
  std::string out = fmt::format(
      "Mixture of {} with independent columns, after {}\n\nWeights, means, rates and "
      "probabilities:\n",
      count_of(k(), "source"), count_of(iterations, "iteration"));
  out += table.str({.width = 100});
  if (shown < k()) out += fmt::format("... and {} more\n", k() - shown);
  return out + mixture::tried_text(tried, tried_bic) +
         mixture::criteria_text(log_likelihood, parameters, aic, bic, icl);
}

MixtureModel fit(const Valid<Mixture>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  MixtureModel model;
  model.spec = *spec;
  model.spec.kinds = products::kinds_of(*spec, rows);
  if (!model.spec.restarts) model.spec.restarts = kDefaultRestarts;
  const auto ground = products::survey(model.spec, rows, execution.part(0, 0.05));
  const em::Search found = search(model.spec, rows, ground, options.seed, execution.part(0.05, 0.95));
  if (!found.best) throw Cancelled();
  const em::Run& best = *found.best;
  const Products& parts = products_of(best.mixture);
  model.weights = best.mixture.weights;
  model.values = parts.values();
  model.variances = parts.variances();
  model.probabilities = parts.probabilities();
  model.levels.assign(ground->levels.begin(), ground->levels.end());
  model.column_means = ground->mean;
  model.column_variances = ground->variance;
  model.floor_reached = parts.floor_binds();
  warn(model, found.cancelled);
  mixture::finish(model, found, products::parameter_count(*ground, model.k()), ground->weight, rows, execution);
  return model;
}

template const Method& method_of<Mixture>();

}  // namespace lemma
