// lemma/neural/mlp.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/cut_short.hpp>
#include <lemma/neural/mlp/parts.hpp>
#include <lemma/optimize/gradient_check.hpp>

namespace lemma {
namespace {

using namespace mlp;
using neural::Activation;
using neural::Course;
using neural::Init;
using neural::Loss;
using neural::Network;
using neural::Solver;

constexpr double kSmall = 3e6;  // rows times weights that are trained on at once
constexpr double kMostWeights = 2e8;
constexpr Index kMostForUpdate = 20000;  // weights
constexpr Index kChecked = 32;           // rows of a gradient check
constexpr double kRight = 1e-6;          // error of a derivative
constexpr double kVanishing = 1e-4;      // gradient of the first layer beside the largest

Solver chosen_solver(const Mlp& spec, Index rows, Index weights) {
  if (spec.solver) return *spec.solver;
  const bool smooth = *spec.loss != Loss::absolute && spec.activation != Activation::relu;
  const bool small = static_cast<double>(rows) * static_cast<double>(weights) <= kSmall;
  return smooth && small && spec.dropout == 0 && spec.noise == 0 ? Solver::lbfgs : Solver::adam;
}

double usual_step(Solver solver) { return solver == Solver::sgd || solver == Solver::nesterov ? 0.05 : 0.003; }

neural::TrainingOptions options_of(const Mlp& spec) {
  neural::TrainingOptions out;
  out.solver = *spec.solver;
  out.tolerance = spec.tolerance;
  out.max_iterations = spec.max_iterations;
  out.epochs = spec.epochs;
  out.batch = spec.batch;
  out.step = spec.step.value_or(0);
  out.fade = spec.fade;
  out.momentum = spec.momentum;
  out.dropout = spec.dropout;
  out.noise = spec.noise;
  out.patience = spec.patience;
  return out;
}

/// What of a spec is open, chosen.
void choose(Mlp& spec, Index rows, Index weights) {
  spec.solver = chosen_solver(spec, rows, weights);
  if (!neural::takes_all_rows(*spec.solver) && !spec.step) spec.step = usual_step(*spec.solver);
  if (!spec.init)
    spec.init =
        spec.activation == Activation::relu || spec.activation == Activation::softplus ? Init::he : Init::glorot;
  spec.check();
}

/// The largest error of a derivative of the first few rows' losses and the penalty.
double gradient_error(const Network& net, const neural::Examples& examples, double decay, const Vector& weights) {
  neural::Examples few;
  const Index n = std::min(kChecked, examples.count());
  few.x = examples.x.topRows(n);
  few.targets = examples.targets.topRows(n);
  few.weight = examples.weight.head(n);
  const neural::Objective objective(net, few, decay, {});
  return check_derivatives(objective, weights).gradient;
}

void warn(MlpModel& model, const Prepared& data, const Course& course) {
  for (const auto& name : data.constant)
    model.warnings.push_back(fmt::format("'{}' has one value only and takes no part", name));
  const Vector& sizes = model.gradient_sizes;
  if (sizes.size() > 2 && sizes(0) < kVanishing * sizes.maxCoeff())
    model.warnings.push_back(fmt::format(
        "the gradient vanishes: of the first layer it is {:.0e} of the largest at the start; try relu, fewer "
        "layers or another init",
        sizes(0) / sizes.maxCoeff()));
  if (course.diverged)
    model.warnings.push_back(fmt::format(
        "the steps diverge: in epoch {} the loss grew beyond measure, and the weights are those from before it; try "
        "--step {:.2g}",
        course.training.size() + 1, *model.spec.step / 10));
  for (const double error : model.gradient_errors)
    if (!(error <= kRight))
      model.warnings.push_back(fmt::format(
          "a derivative differs from its differences by {:.0e} (1e-06 is allowed); at a kink of relu or absolute that "
          "can be",
          error));
}

Vector vector_of(const std::vector<double>& v) { return Eigen::Map<const Vector>(v.data(), std::ssize(v)); }

}  // namespace

void Mlp::check() const {
  for (const double units : layers)
    if (units != std::floor(units))
      throw Error(fmt::format("mlp: layers holds {}, and a layer has a whole number of units", units));
  if (!solver || !neural::takes_all_rows(*solver)) return;
  if (loss == neural::Loss::absolute)
    throw Error(
        fmt::format("mlp: the loss absolute has kinks, where {} finds no way on; take a solver by batches: adam, "
                    "sgd, nesterov or rmsprop",
                    name_of(*solver)));
  if (dropout > 0 || noise > 0)
    throw Error(
        fmt::format("mlp: {} is drawn anew for each batch, and {} looks at all rows at once; take a solver by "
                    "batches: adam, sgd, nesterov or rmsprop",
                    dropout > 0 ? "dropout" : "noise", name_of(*solver)));
}

Network MlpModel::network() const { return network_of(spec, width(), outputs()); }

MlpModel fit(const Valid<Mlp>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  MlpModel model;
  model.spec = *spec;
  model.spec.loss = chosen_loss(*spec, rows);
  model.classes = std::ssize(rows.classes);
  model.seed = static_cast<std::int64_t>(options.seed & 0x1fffffffffffff);
  const Network net = network_of(model.spec, rows.width(), outputs_of(rows));
  const auto count = static_cast<double>(net.weight_count());
  require(
      count <= kMostWeights,
      fmt::format("mlp: these layers have {:.0f} weights, and {:.0f} are the most there may be", count, kMostWeights));
  const Prepared data = prepare(model.spec, rows, model.seed, execution.part(0, 0.1));
  choose(model.spec, data.train.count(), net.weight_count());
  model.mean = data.mean;
  model.scale = data.scale;
  model.response_mean = data.response_mean;
  model.response_scale = data.response_scale;

  const neural::Objective learned(net, data.train, model.spec.decay, execution);
  const neural::TrainingOptions how = options_of(model.spec);
  std::vector<double> ends, errors;
  Course kept;
  for (Index r = 0; r < spec->restarts; ++r) {
    const Vector start = start_of(net, model.spec, model.seed, r);
    const RandomStream chance = stream_of(model.seed, r);
    const Execution part = execution.part(0.1 + 0.8 * static_cast<double>(r) / spec->restarts,
                                          0.1 + 0.8 * (static_cast<double>(r) + 1) / spec->restarts);
    const neural::Objective objective(net, data.train, model.spec.decay, part);
    Course course;
    try {
      if (!std::isfinite(learned.loss(start)))
        throw Error("mlp: the loss is no number at the start; let it standardize, or give columns in other units");
      if (spec->gradcheck) errors.push_back(gradient_error(net, data.train, model.spec.decay, start));
      course = neural::takes_all_rows(how.solver)
                   ? neural::train_on_all(objective, data.held_out, start, how)
                   : neural::train_by_batches(objective, data.held_out, start, how, chance.split(1), chance.split(2));
    } catch (const Cancelled&) {
      if (ends.empty()) throw;
      kept.stopped = Stop::cancelled;
      errors.resize(std::min(errors.size(), ends.size()));
      break;
    }
    const neural::Objective undisturbed(net, data.train, model.spec.decay, unheard(execution));
    const double end = course.held_out.empty() ? undisturbed.value(course.weights)
                                               : *std::min_element(course.held_out.begin(), course.held_out.end());
    const bool cancelled = course.stopped == Stop::cancelled;
    if (ends.empty() || end < ends[at(best_of(vector_of(ends)))]) kept = std::move(course);
    ends.push_back(end);
    if (!cancelled) continue;
    kept.stopped = Stop::cancelled;
    break;
  }
  model.spec.restarts = static_cast<int>(ends.size());
  model.restart_losses = vector_of(ends);
  model.gradient_errors = vector_of(errors);
  model.weights = kept.weights;
  model.training_loss = vector_of(kept.training);
  model.validation_loss = vector_of(kept.held_out);
  model.best_epoch = kept.best;
  const neural::Objective objective(net, data.train, model.spec.decay, unheard(execution));
  model.loss = objective.loss(model.weights) / objective.total();
  model.objective = objective.value(model.weights);
  Vector gradient;
  const neural::Objective losses(net, data.train, 0, unheard(execution));
  losses.value(start_of(net, model.spec, model.seed, best_of(model.restart_losses)), gradient);
  model.gradient_sizes = net.size_by_layer(gradient);
  if (net.weight_count() <= kMostForUpdate && *model.spec.loss != Loss::absolute)
    model.curvature = objective.curvature(model.weights);
  warn(model, data, kept);

  const bool cancelled = kept.stopped == Stop::cancelled;
  const std::string nothing = why_nothing(model);
  if (nothing.empty()) {
    model.certificate = certify(model, rows, unheard(execution));
  } else {
    model.certificate.kind = "norm of the gradient, relative to that at the start";
    model.certificate.tolerance = model.spec.tolerance;
    model.certificate.iterations = std::ssize(kept.training);
    model.certificate.stopped = "by choice";
    model.certificate.message = nothing + ": nothing is claimed of the weights.";
  }
  if (cancelled) model.certificate.stopped = "cancelled";
  else if (nothing.empty() && !model.certificate.holds()) model.certificate.stopped = name_of(kept.stopped);
  return model;
}

MlpModel updated(const MlpModel& model, const Rows& rows, const FitOptions& options) {
  require_width(model, rows.width());
  if (*model.spec.loss == Loss::absolute)
    throw Error("mlp: a network of absolute losses has no curvature to remember its rows by; fit it to all rows");
  if (model.curvature.size() == 0)
    throw Error(
        fmt::format("mlp: this network does not keep what an update needs, which only those of at most {} weights "
                    "do; fit it to all rows",
                    kMostForUpdate));
  const Execution execution = options.execution();
  const Network net = model.network();
  MlpModel out = model;
  out.past = model.weights;
  out.past_curvature = model.curvature;
  const neural::Past past{out.past, out.past_curvature};
  const neural::Examples examples = prepare_more(model, rows, execution.part(0, 0.2));
  neural::TrainingOptions how = options_of(model.spec);
  if (!neural::takes_all_rows(how.solver)) how.solver = Solver::lbfgs;
  const neural::Objective objective(net, examples, 0, execution.part(0.2, 0.9), &past);
  const neural::Examples none{Matrix(0, model.width()), Matrix(0, model.outputs()), Vector(0)};
  const Course course = neural::train_on_all(objective, none, model.weights, how);

  const neural::Objective undisturbed(net, examples, 0, unheard(execution), &past);
  out.weights = course.weights;
  out.training_loss = vector_of(course.training);
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
  require(spec.loss && spec.solver && spec.init, "mlp: a parameter was not chosen");
  require(neural::takes_all_rows(*spec.solver) || spec.step, "mlp: a parameter was not chosen");
  require(width() > 0 && scale.size() == width() && mean.allFinite() && scale.allFinite() && (scale.array() > 0).all(),
          "mlp: the means and scales of its columns are not usable");
  require((classes > 0) == (*spec.loss == Loss::cross_entropy) && classes != 1 && classes >= 0,
          "mlp: its classes are not those of its loss");
  require(response_scale.size() == response_mean.size() && (response_mean.size() == 0) == (classes > 0) &&
              response_mean.allFinite() && response_scale.allFinite() && (response_scale.array() > 0).all(),
          "mlp: the means and scales of its responses are not usable");
  const auto is_unscaled = [](const Vector& m, const Vector& s) {
    return (m.array() == 0).all() && (s.array() == 1).all();
  };
  require(spec.standardize || is_unscaled(mean, scale), "mlp: columns are scaled that should not be");
  require((spec.standardize && *spec.loss != Loss::poisson) || is_unscaled(response_mean, response_scale),
          "mlp: responses are scaled that should not be");
  double count = 0;  // before sizes that a file tells are multiplied as whole numbers
  for (std::size_t l = 0; l <= spec.layers.size(); ++l)
    count += (1 + (l == 0 ? static_cast<double>(width()) : spec.layers[l - 1])) *
             (l == spec.layers.size() ? static_cast<double>(outputs()) : spec.layers[l]);
  require(static_cast<double>(weights.size()) == count && weights.allFinite(),
          "mlp: its weights are not those of its layers");
  require(gradient_sizes.size() == std::ssize(spec.layers) + 1 && gradient_sizes.allFinite(),
          "mlp: there is not one gradient for each layer");
  require(std::isfinite(objective) && std::isfinite(loss) && training_loss.allFinite() && validation_loss.allFinite() &&
              restart_losses.allFinite(),
          "mlp: a loss of it is not finite");
  const bool was_updated = past.size() > 0;
  require(restart_losses.size() == (was_updated ? 0 : spec.restarts) &&
              gradient_errors.size() == (spec.gradcheck && !was_updated ? spec.restarts : 0) &&
              gradient_errors.allFinite(),
          "mlp: its starts are not those it tells");
  const bool held_out = spec.validation > 0 && !was_updated;
  require(best_epoch >= 0 && best_epoch <= training_loss.size() &&
              validation_loss.size() == (held_out ? training_loss.size() : 0) &&
              (held_out || best_epoch == training_loss.size()),
          "mlp: its epochs are not those it tells");
  const bool remembers = weights.size() <= kMostForUpdate && *spec.loss != Loss::absolute;
  require(curvature.size() == (remembers ? weights.size() : 0) && curvature.allFinite() &&
              (curvature.array() >= 0).all() && past_curvature.size() == past.size() &&
              (!was_updated || (remembers && past.size() == weights.size())) && past.allFinite() &&
              past_curvature.allFinite() && (past_curvature.array() >= 0).all(),
          "mlp: what it keeps for updates is not usable");
  require(seed >= 0, "mlp: its seed is not one");
}

Matrix MlpModel::last_sums(const MatrixView& x) const {
  require_width(*this, x.cols());
  Matrix scaled = x.rowwise() - mean.transpose();
  scaled.array().rowwise() /= scale.transpose().array();
  return network().outputs(weights, scaled);
}

Matrix MlpModel::values(const MatrixView& x) const {
  require(classes == 0, "mlp: it was fitted to classes; ask it to classify");
  Matrix z = last_sums(x);
  if (*spec.loss == Loss::poisson) return z.array().min(700.0).exp();
  z.array().rowwise() *= response_scale.transpose().array();
  return z.rowwise() + response_mean.transpose();
}

Vector MlpModel::predict(const MatrixView& x) const {
  require(!several(), "mlp: it was fitted to several responses; ask it for its values");
  return values(x).col(0);
}

Matrix MlpModel::probabilities(const MatrixView& x) const {
  require(classes > 0, "mlp: it was fitted to numbers; ask it to predict");
  Matrix out = last_sums(x);
  softmax_rows(out);
  return out;
}

Labels MlpModel::classify(const MatrixView& x) const {
  require(classes > 0, "mlp: it was fitted to numbers; ask it to predict");
  return greatest_class(last_sums(x));
}

Prediction MlpModel::prediction(const MatrixView& x, const PredictOptions& options) const {
  Prediction out;
  if (several()) return out;
  if (classes == 0 && options.asks(kValuePart)) out.add(kValuePart, predict(x));
  if (classes > 0 && options.asks(kClassPart)) out.add(kClassPart, classify(x));
  if (classes > 0 && options.asks(kProbabilitiesPart)) out.add(kProbabilitiesPart, probabilities(x));
  return out;
}

std::string MlpModel::summary(const Names&) const {
  std::string units;
  for (const double each : spec.layers) units += fmt::format("{} {}, ", each, name_of(spec.activation));
  std::string out = fmt::format("{}, {}{}: {}\n", count_of(width(), "input"), units, count_of(outputs(), "output"),
                                count_of(weights.size(), "weight"));
  const bool on_all = neural::takes_all_rows(*spec.solver);
  out += fmt::format("loss {}, decay {:.4g}, solver {}", name_of(*spec.loss), spec.decay, name_of(*spec.solver));
  if (!on_all) out += fmt::format(", batches of {}, step {:.4g}", spec.batch, *spec.step);
  out += fmt::format("\n{} inside, weights begin by {}\n", spec.standardize ? "scaled" : "not scaled",
                     name_of(*spec.init));
  out += fmt::format(
      "mean loss {} after {}{}\n", format_significant(loss, 4),
      fmt::format("{} {}{}", format_count(best_epoch), on_all ? "iteration" : "epoch", best_epoch == 1 ? "" : "s"),
      validation_loss.size() > 0
          ? fmt::format(" (of rows held out {}, the least of {})",
                        best_epoch > 0 ? format_significant(validation_loss(best_epoch - 1), 4) : "NA",
                        validation_loss.size())
          : "");
  if (past.size() > 0) out += "of the rows of the last update; those before pull the weights back to where they were\n";
  if (restart_losses.size() > 1)
    out +=
        fmt::format("{} starts ended between {} and {}\n", restart_losses.size(),
                    format_significant(restart_losses.minCoeff(), 4), format_significant(restart_losses.maxCoeff(), 4));
  if (gradient_errors.size() > 0)
    out += fmt::format("all derivatives at the start are those of differences to within {:.0e}\n",
                       std::max(gradient_errors.maxCoeff(), 1e-8));
  std::vector<std::string> rows;
  std::vector<double> sizes, counts;
  const Network net = network();
  for (Index l = 0; l < net.layers(); ++l) {
    rows.push_back(l + 1 < net.layers() ? fmt::format("hidden {}", l + 1) : "output");
    counts.push_back(static_cast<double>(net.begin(l + 1) - net.begin(l)));
    sizes.push_back(gradient_sizes(l));
  }
  TextTable table;
  table.words("layer", rows).numbers("weights", counts);
  table.numbers(past.size() > 0 ? "gradient before it" : "gradient at the start", sizes, 3);
  return out + "\n" + table.str();
}

template const Method& method_of<Mlp>();

}  // namespace lemma
