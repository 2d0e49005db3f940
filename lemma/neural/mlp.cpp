// lemma/neural/mlp.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/model/cut_short.hpp>
#include <lemma/neural/mlp.hpp>

namespace lemma {
namespace {

using neural::Loss;
using neural::Plan;

constexpr Index kMostForUpdate = 20000;  // weights

Plan plan_of(const Mlp& spec, Index inputs, Index outputs) {
  std::vector<Index> sizes{inputs};
  for (const double units : spec.layers) sizes.push_back(static_cast<Index>(units));
  sizes.push_back(outputs);
  return {Mlp::name, neural::dense_network(sizes, spec.activation, spec.loss.value_or(Loss::squared)),
          neural::settings_of(spec)};
}

double weights_of(const Mlp& spec, Index inputs, Index outputs) {  // not as whole numbers: a file may tell any sizes
  double count = 0, from = static_cast<double>(inputs);
  for (const double units : spec.layers) count += (1 + from) * units, from = units;
  return count + (1 + from) * static_cast<double>(outputs);
}

bool remembers(const Mlp& spec, Index weights) { return weights <= kMostForUpdate && *spec.loss != Loss::absolute; }

}  // namespace

void Mlp::check() const {
  for (const double units : layers)
    if (units != std::floor(units))
      throw Error(fmt::format("mlp: layers holds {}, and a layer has a whole number of units", units));
  neural::check_settings(name, neural::settings_of(*this), loss);
}

Plan MlpModel::plan() const { return plan_of(spec, width(), outputs()); }

MlpModel fit(const Valid<Mlp>& spec, const Rows& rows, const FitOptions& options) {
  MlpModel model;
  model.spec = *spec;
  model.spec.loss = neural::chosen_loss(Mlp::name, spec->loss, rows);
  neural::require_weights(Mlp::name, weights_of(*spec, rows.width(), neural::outputs_of(rows)));
  Plan plan = plan_of(model.spec, rows.width(), neural::outputs_of(rows));
  const bool remembered = remembers(model.spec, plan.net.weight_count());
  const neural::Course course = neural::train(model, plan, rows, options, remembered ? &model.curvature : nullptr);
  neural::tell(model.spec, plan.settings);
  neural::certify_now(model, plan, course, [&] { return certify(model, rows, unheard(options.execution())); });
  return model;
}

Certificate certify(const MlpModel& model, const Rows& rows, const Execution& execution) {
  return neural::certify(model, model.plan(), model.memory(), rows, execution);
}

MlpModel updated(const MlpModel& model, const Rows& rows, const FitOptions& options) {
  require_width(model, rows.width());
  if (*model.spec.loss == Loss::absolute)
    throw Error(
        "mlp: a network of absolute losses has no curvature to remember its rows by; fit it to all rows "
        "(with --from it begins where this one is)");
  if (model.curvature.size() == 0)
    throw Error(
        fmt::format("mlp: this network does not keep what an update needs, which only those of at most {} weights "
                    "do; fit it to all rows (with --from it begins where this one is)",
                    kMostForUpdate));
  const Execution execution = options.execution();
  const Plan plan = model.plan();
  const neural::Network& net = plan.net;
  MlpModel out = model;
  out.past = model.weights;
  out.past_curvature = model.curvature;
  const neural::Past past{out.past, out.past_curvature};
  const neural::Examples examples = neural::prepare_more(model, plan, rows, execution.part(0, 0.2));
  neural::TrainingOptions how = neural::options_of(plan.settings);
  if (!neural::takes_all_rows(how.solver)) how.solver = neural::Solver::lbfgs;
  const neural::Objective objective(net, examples, 0, execution.part(0.2, 0.9), &past);
  const neural::Examples none{Matrix(0, model.width()), Matrix(0, model.outputs()), Vector(0)};
  const neural::Course course = neural::train_on_all(objective, none, model.weights, how);

  const neural::Objective undisturbed(net, examples, 0, unheard(execution), &past);
  out.weights = course.weights;
  out.training_loss = neural::vector_of(course.training);
  out.best_epoch = course.best;
  out.validation_loss = out.restart_losses = out.gradient_errors = Vector();
  out.loss = undisturbed.loss(out.weights) / undisturbed.total();
  out.objective = undisturbed.value(out.weights);
  Vector gradient;
  undisturbed.value(out.past, gradient);
  out.gradient_sizes = net.size_by_layer(gradient);
  out.curvature = undisturbed.curvature(out.weights);
  out.warnings.clear();
  out.certificate = certify(out, rows, unheard(execution));
  if (course.stopped == Stop::cancelled || !out.certificate.holds()) out.certificate.stopped = name_of(course.stopped);
  return out;
}

void MlpModel::check() const {
  require(spec.loss && width() > 0 &&
              static_cast<double>(weights.size()) == weights_of(spec, width(), std::max<Index>(outputs(), 0)),
          "mlp: its weights are not those of its layers");
  neural::check(*this, plan(), was_updated());
  const bool remembered = remembers(spec, weights.size());
  require(curvature.size() == (remembered ? weights.size() : 0) && curvature.allFinite() &&
              (curvature.array() >= 0).all() && past_curvature.size() == past.size() &&
              (!was_updated() || (remembered && past.size() == weights.size())) && past.allFinite() &&
              past_curvature.allFinite() && (past_curvature.array() >= 0).all(),
          "mlp: what it keeps for updates is not usable");
}

std::string MlpModel::summary(const Names&) const {
  std::string units;
  std::vector<std::string> names;
  for (const double each : spec.layers) {
    units += fmt::format("{} {}, ", each, name_of(spec.activation));
    names.push_back(fmt::format("hidden {}", names.size() + 1));
  }
  names.emplace_back("output");
  const std::string layers = fmt::format("{}, {}{}: {}\n", count_of(width(), "input"), units,
                                         count_of(outputs(), "output"), count_of(weights.size(), "weight"));
  return neural::summary(*this, plan(), layers, names, was_updated());
}

template const Method& method_of<Mlp>();

}  // namespace lemma
