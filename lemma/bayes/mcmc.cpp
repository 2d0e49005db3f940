// lemma/bayes/mcmc.cpp: the fit, and what follows from draws.
#include <cmath>
#include <fmt/core.h>
#include <lemma/bayes/mcmc/diagnostics.hpp>
#include <lemma/bayes/mcmc/target.hpp>
#include <lemma/model/own_order.hpp>

namespace lemma {
namespace mcmc {

Matrix user_draws(const McmcModel& model, const Matrix& theta) {
  const Index lead = model.lead(), terms = model.terms(), p = model.width();
  Matrix out = theta;
  for (Index k = 0; k < model.planes(); ++k)
    for (Index i = 0; i < theta.rows(); ++i) {
      double base = lead == 1 ? model.centre + model.unit * theta(i, k * terms) : 0;
      for (Index j = 0; j < p; ++j) {
        const Index column = k * terms + lead + j;
        out(i, column) = model.unit * theta(i, column) / model.scale(j);
        base -= model.mean(j) * out(i, column);
      }
      if (lead == 1) out(i, k * terms) = base;
    }
  if (model.draws_noise())
    for (Index i = 0; i < theta.rows(); ++i) out(i, terms) = model.unit * std::exp(theta(i, terms));
  return out;
}

Matrix chains_of(const Matrix& draws, Index j, Index chains) {
  const Vector column = draws.col(j);
  return Eigen::Map<const Matrix>(column.data(), chains, column.size() / chains);
}

void tell(McmcModel& model) {
  const Matrix draws = user_draws(model, model.theta);
  model.quantities.resize(draws.cols(), 7);
  for (Index j = 0; j < draws.cols(); ++j) {
    const Known k = known_of(chains_of(draws, j, model.spec.chains), model.spec.level);
    model.quantities.row(j) << k.mean, k.deviation, k.lower, k.upper, k.error, k.effective, k.r_hat;
  }
  for (Index k = 0; k < model.planes(); ++k) {
    const Index first = k * model.terms();
    model.intercept.of(k) = model.spec.intercept ? model.quantities(first, 0) : 0;
    for (Index j = 0; j < model.width(); ++j)
      model.coefficients.of(k, j) = model.quantities(first + model.lead() + j, 0);
  }
}

McmcModel model_of(const Mcmc& spec, const Sizes& sizes, Index planes, const Draws& draws) {
  McmcModel model;
  model.spec = spec;
  model.mean = sizes.mean;
  model.scale = sizes.scale;
  model.centre = sizes.centre;
  model.unit = sizes.unit;
  model.coefficients.of = Matrix::Zero(planes, sizes.mean.size());
  model.intercept.of = Vector::Zero(planes);
  model.theta = draws.theta;
  model.energy = draws.energy;
  model.step = draws.step;
  model.acceptance = draws.acceptance;
  model.divergences = draws.divergences;
  tell(model);
  return model;
}

}  // namespace mcmc

void Mcmc::check() const {
  require(!noise || !family || *family == McmcFamily::gaussian,
          fmt::format("mcmc: noise is for the gaussian family, and this is {}",
                      name_of(family.value_or(McmcFamily::gaussian))));
  require(sampler != McmcSampler::gibbs || family != McmcFamily::poisson,
          "mcmc: of a Poisson regression the conditionals are not known; use --sampler nuts or metropolis");
}

McmcModel fit(const Valid<Mcmc>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.02));
  Mcmc chosen = *spec;
  chosen.family = mcmc::family_of(*spec, rows);
  const RowsInOwnOrder own(rows, execution.part(0.02, 0.03));  // chains carry rounding on: the order must not decide it
  const mcmc::Sizes sizes = mcmc::sizes_of(chosen, *own, execution.part(0.03, 0.05));
  const mcmc::Target target(chosen, sizes, *own, execution.part(0.05, 0.06));
  if (chosen.sampler == McmcSampler::gibbs) target.require_conditionals();
  const mcmc::Round round = mcmc::round_about_the_mode(target, execution.part(0.06, 0.1));
  const mcmc::Draws draws = mcmc::drawn(chosen, target, round, options.seed, execution.part(0.1, 0.6, "chains"));
  McmcModel model = mcmc::model_of(chosen, sizes, mcmc::planes_of(*chosen.family, rows.classes.size()), draws);
  require(model.quantities.allFinite(),
          "mcmc: a quantity is too large or too small to be told in the units of its column; use another unit");
  if (model.divergences > 0)
    model.warnings.push_back(
        fmt::format("{} of {} draws are divergent: parts of the posterior may be left out; raise --target to 0.95",
                    model.divergences, model.theta.rows()));
  model.certificate = certify(model, rows, execution.part(0.6, 1));
  return model;
}

template const Method& method_of<Mcmc>();

}  // namespace lemma
