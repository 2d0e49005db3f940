// lemma/kernel/gp.cpp: hyperparameters, one factorisation, and what follows from it.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/kernel/gp/parts.hpp>
#include <lemma/math/tiled_cholesky.hpp>

namespace lemma {
namespace {

/// A factor, and what had to be added to the noise to get it.
struct Factored {
  Matrix r;
  double jitter;
};

/// The least jitter of 1e-12, 1e-11, … 1e-6 of the kernel's values that lets the matrix be factorised; none when that can be.
Factored factorise_with_jitter(const BoundKernel& kernel, const KernelRows& data, double noise,
                               const Execution& execution) {
  const bool copies = noise == 0 && !(data.weight.array() == 1).all();  // observations that repeat without noise
  if (!copies)
    if (auto r = gp::factorise(kernel, data.weight, noise, execution)) return {std::move(*r), 0};
  const double size = std::max(kernel.diagonal().mean(), 1e-300);
  for (double share = 1e-12; share < 2e-6; share *= 10)
    if (auto r = gp::factorise(kernel, data.weight, noise + share * size, execution))
      return {std::move(*r), share * size};
  const GramCheck check = check_gram(kernel, execution);
  throw Error(fmt::format(
      "gp: the matrix of {} with noise {} is not positive definite (without it {}), and a jitter of {} does not "
      "help: take another kernel, or noise above {}",
      kernel.kernel().text(), noise, check.text(), format_significant(1e-6 * size, 3),
      format_significant(std::max(-check.least, 1e-6 * size), 3)));
}

void warn_of_reach(GpModel& model, const gp::Setting& setting, const KernelRows& data) {
  const Vector values = setting.values(), middle = gp::references(setting, data);
  const auto names = hyperparameters(setting.kernel);
  for (Index t = 0; t < values.size(); ++t) {
    const bool is_noise = t + 1 == values.size();
    if (is_noise && (!model.spec.learn_noise || setting.noise == 0)) continue;
    if (std::abs(std::log(values(t)) - middle(t)) > 0.9 * gp::kReach)
      model.warnings.push_back(fmt::format("the likelihood is greatest where {} is {}: the rows do not tell it from {}",
                                           is_noise ? "noise" : names[static_cast<std::size_t>(t)].name,
                                           format_significant(values(t), 3),
                                           values(t) > std::exp(middle(t)) ? "infinity" : "0"));
  }
}

}  // namespace

std::shared_ptr<GpFactor> empty_gp_factor() { return std::make_shared<GpFactor>(); }

GpModel fit(const Valid<Gp>& spec, const Rows& rows, const FitOptions& options) {
  Execution execution = options.execution();
  require_memory(Gp::name, rows.count(), spec->gigabytes);
  const KernelRows data = kernel_rows(Gp::name, spec->kernel, rows, execution);
  require(std::isfinite(data.weight.dot(data.y.cwiseAbs2())),
          fmt::format("gp: the squares of '{}' are too large to be added up", rows.target));
  gp::Setting setting = gp::start(*spec, data);
  gp::Learned learned{setting, 0, Stop::closed_form};
  if (spec->optimise) {
    const double jitter =
        factorise_with_jitter(BoundKernel(setting.kernel, data.points), data, setting.noise, execution.part(0, 0.05))
            .jitter;
    learned = gp::learn(*spec, setting, data, jitter, options.seed, execution.part(0.05, 0.9));
    setting = learned.setting;
    if (learned.stopped == Stop::cancelled) execution.progress = nullptr;  // what it has come to is worked out
  }
  const Hearing to_the_end(execution);
  GpModel model;
  model.spec = *spec;
  model.spec.kernel = setting.kernel;
  model.spec.noise = setting.noise;
  const BoundKernel kernel(setting.kernel, data.points);
  Factored factored = factorise_with_jitter(kernel, data, setting.noise,
                                            execution.part(0.9, 0.95, spec->optimise ? "" : "factorising"));
  const gp::Solved solved = gp::solve(factored.r, spec->mean, data, setting.noise + factored.jitter);
  model.noise = setting.noise;
  model.jitter = factored.jitter;
  model.mean = solved.mean;
  model.dual_coefficients = solved.alpha;
  model.log_marginal_likelihood = solved.log_likelihood;
  model.hyperparameters = setting.values();
  model.hyperparameter_names = gp::names_of(setting.kernel);
  model.points = KeptRows::of(setting.kernel, data.points);
  model.places = kept_places(setting.kernel, data.points);
  model.weights = data.weight;
  require(std::isfinite(solved.log_likelihood) && solved.alpha.allFinite(),
          fmt::format("gp: '{}' and its kernel are too large or too small to be worked with", rows.target));
  const bool with_gradient = spec->optimise || data.count() <= GpModel::kMostForGradient;
  model.lml_gradient = Vector::Constant(model.hyperparameters.size(), GpModel::kNone);
  if (with_gradient)
    model.lml_gradient = gp::Likelihood(data, spec->mean, factored.jitter, execution.part(0.95, 0.97))
                             .gradient(setting, solved.alpha, factored.r);
  model.factor->get([&] { return std::move(factored.r); });
  if (model.jitter > 0)
    model.warnings.push_back(
        fmt::format("a jitter of {} was added to the noise: without it the kernel matrix cannot be factorised (rows "
                    "repeat, or nearly)",
                    format_significant(model.jitter, 3)));
  if (!setting.kernel.is_positive())
    if (const GramCheck check = check_gram(kernel, execution); !check.is_positive())
      model.warnings.push_back(
          fmt::format("the matrix of {} has {}: it is no covariance", setting.kernel.text(), check.text()));
  if (spec->optimise) warn_of_reach(model, setting, data);
  const Vector gradient =
      spec->optimise ? gp::certified_gradient(model, setting, data, execution.part(0.97, 0.99)) : model.lml_gradient;
  model.certificate = gp::certificate_of(model, setting, kernel, data, gradient, execution.part(0.99, 1));
  model.certificate.iterations = learned.iterations;
  model.certificate.stopped = name_of(learned.stopped);
  return model;
}

template const Method& method_of<Gp>();

}  // namespace lemma
