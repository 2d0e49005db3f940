// lemma/neural/shared/trained.cpp: from a plan and rows to a trained network, and what it says.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/math/special.hpp>
#include <lemma/model/cut_short.hpp>
#include <lemma/neural/shared/checkpoint.hpp>
#include <lemma/optimize/gradient_check.hpp>

namespace lemma::neural {
namespace {

constexpr double kSmall = 3e6;  // rows times multiplications of a row that are trained on at once
constexpr double kMuch = 1e9;   // the same, from which on batches are learned in numbers of 4 bytes
constexpr double kMostWeights = 2e8;
constexpr Index kMostAtOnce = 2000;  // weights of Levenberg and Marquardt's equations
constexpr Index kChecked = 32;       // rows of a gradient check
constexpr double kRight = 1e-6;      // error of a derivative
constexpr double kVanishing = 1e-4;  // gradient of the first layer beside the largest

double multiplications(const Network& net) {
  double out = 0;
  for (const Layer& each : net.layers)
    out += static_cast<double>(each.weights()) *
           (each.kind == Layer::Kind::convolution ? static_cast<double>(each.places()) : 1);
  return out;
}

/// Multiplications of all rows on their way through the network.
double work_of(const Network& net, Index rows) { return static_cast<double>(rows) * multiplications(net); }

Solver chosen_solver(const Plan& plan, Index rows) {
  const Settings& settings = plan.settings;
  if (settings.solver) return *settings.solver;
  const bool smooth = plan.net.loss != Loss::absolute && plan.net.smooth();
  const bool small = work_of(plan.net, rows) <= kSmall;
  return smooth && small && settings.dropout == 0 && settings.noise == 0 && settings.rates.empty() &&
                 !settings.checkpoint && settings.precision != Precision::single
             ? Solver::lbfgs
             : Solver::adam;
}

/// Where a vanishing gradient is claimed numbers have 8 bytes; those of 4 do not go so far down.
Precision usual_precision(const Plan& plan, Index rows) {
  return takes_all_rows(*plan.settings.solver) || work_of(plan.net, rows) < kMuch ? Precision::full : Precision::single;
}

double usual_step(Solver solver) { return solver == Solver::sgd || solver == Solver::nesterov ? 0.05 : 0.003; }

/// What of the settings is open, chosen.
void choose(Plan& plan, Index rows) {
  Settings& settings = plan.settings;
  settings.solver = chosen_solver(plan, rows);
  if (!takes_all_rows(*settings.solver) && !settings.step) settings.step = usual_step(*settings.solver);
  if (!settings.init)
    settings.init = plan.net.has(Activation::relu) || plan.net.has(Activation::softplus) ? Init::he : Init::glorot;
  if (!settings.precision) settings.precision = usual_precision(plan, rows);
  check_settings(plan.method, settings, plan.net.loss);
  const auto with_weights = std::ssize(plan.net.with_weights());
  if (!settings.rates.empty() && std::ssize(settings.rates) != with_weights)
    throw Error(fmt::format("{}: rates holds {}, and {} weights (the output too)", plan.method,
                            count_of(std::ssize(settings.rates), "number"),
                            with_weights == 1 ? "1 layer has" : fmt::format("{} layers have", with_weights)));
  if (settings.solver == Solver::lm && plan.net.weight_count() > kMostAtOnce)
    throw Error(
        fmt::format("{}: lm solves equations in all weights at once, {} here, and {} are the most it takes; take "
                    "lbfgs or a solver by batches",
                    plan.method, format_count(plan.net.weight_count()), format_count(kMostAtOnce)));
}

/// The weights to begin with that a fit was told; none: those that are drawn.
Vector given_start(const Plan& plan, const Matrix& start) {
  if (start.size() == 0) return {};
  if (start.size() != plan.net.weight_count() || !start.allFinite())
    throw Error(
        fmt::format("{}: it cannot start from {} where it has {}; give a network of the same layers, columns "
                    "and classes",
                    plan.method, count_of(start.size(), "weight"), format_count(plan.net.weight_count())));
  return start.reshaped<Eigen::RowMajor>();
}

/// The largest error of a derivative of the first few rows' losses and the penalty.
double gradient_error(const Network& net, const Examples& examples, double decay, const Vector& weights) {
  Examples few;
  const Index n = std::min(kChecked, examples.count());
  few.x = examples.x.topRows(n);
  few.targets = examples.targets.topRows(n);
  few.weight = examples.weight.head(n);
  const Objective objective(net, few, decay, {});
  return check_derivatives(objective, weights).gradient;
}

void warn(Trained& model, const Plan& plan, const Prepared& data, const Course& course) {
  for (const auto& name : data.constant)
    model.warnings.push_back(fmt::format("{} has one value only and takes no part", name));
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
        course.training.size() + 1, *plan.settings.step / 10));
  for (const double error : model.gradient_errors)
    if (!(error <= kRight))
      model.warnings.push_back(fmt::format(
          "a derivative differs from its differences by {:.0e} (1e-06 is allowed); at a kink of {} that can be", error,
          plan.net.has(Layer::Kind::max_pool) ? "relu, max or absolute" : "relu or absolute"));
}

}  // namespace

Vector vector_of(const std::vector<double>& v) { return Eigen::Map<const Vector>(v.data(), std::ssize(v)); }

TrainingOptions options_of(const Settings& settings) {
  TrainingOptions out;
  out.solver = *settings.solver;
  out.tolerance = settings.tolerance;
  out.max_iterations = settings.max_iterations;
  out.epochs = settings.epochs;
  out.batch = settings.batch;
  out.step = settings.step.value_or(0);
  out.fade = settings.fade;
  out.momentum = settings.momentum;
  out.dropout = settings.dropout;
  out.noise = settings.noise;
  out.patience = settings.patience;
  out.rates = settings.rates;
  return out;
}

void require_weights(std::string_view method, double count) {
  require(count <= kMostWeights,
          fmt::format("{}: these layers have {:.0f} weights, and {:.0f} are the most there may be", method, count,
                      kMostWeights));
}

void check_settings(std::string_view method, const Settings& settings, std::optional<Loss> loss) {
  if (!settings.solver || !takes_all_rows(*settings.solver)) return;
  if (loss == Loss::absolute)
    throw Error(
        fmt::format("{}: the loss absolute has kinks, where {} finds no way on; take a solver by batches: adam, "
                    "sgd, nesterov or rmsprop",
                    method, name_of(*settings.solver)));
  if (settings.precision == Precision::single)
    throw Error(
        fmt::format("{}: {} follows the gradient down to where numbers of 4 bytes end; take precision double, or a "
                    "solver by batches: adam, sgd, nesterov or rmsprop",
                    method, name_of(*settings.solver)));
  if (settings.checkpoint || !settings.rates.empty())
    throw Error(
        fmt::format("{}: {}, and {} looks at all rows at once; take a solver by batches: adam, sgd, nesterov or "
                    "rmsprop",
                    method,
                    settings.checkpoint ? "a checkpoint is kept after each epoch of batches"
                                        : "rates are those of steps by batches",
                    name_of(*settings.solver)));
  if (settings.dropout > 0 || settings.noise > 0)
    throw Error(
        fmt::format("{}: {} is drawn anew for each batch, and {} looks at all rows at once; take a solver by "
                    "batches: adam, sgd, nesterov or rmsprop",
                    method, settings.dropout > 0 ? "dropout" : "noise", name_of(*settings.solver)));
}

Course train(Trained& model, Plan& plan, const Rows& rows, const FitOptions& options, Vector* with_curvature) {
  const Execution execution = options.execution();
  const Network& net = plan.net;
  Settings& settings = plan.settings;
  model.classes = std::ssize(rows.classes);
  model.seed = static_cast<std::int64_t>(options.seed & 0x1fffffffffffff);
  const Prepared data = prepare(plan, rows, model.seed, execution.part(0, 0.1));
  choose(plan, data.train.count());
  model.mean = data.mean;
  model.scale = data.scale;
  model.response_mean = data.response_mean;
  model.response_scale = data.response_scale;

  const Objective learned(net, data.train, settings.decay, execution);
  TrainingOptions how = options_of(settings);
  const Vector given = given_start(plan, options.start);
  const int restarts = settings.restarts;
  SoFar so_far;
  std::optional<Checkpoint> checkpoint;
  if (settings.checkpoint) checkpoint.emplace(plan, data, model.seed, given);
  if (checkpoint) so_far = checkpoint->read();
  std::vector<double>&ends = so_far.ends, &errors = so_far.errors;
  Course& kept = so_far.kept;
  for (auto r = static_cast<Index>(ends.size()); r < restarts; ++r) {
    const bool is_given = r == 0 && given.size() > 0;
    const Vector drawn = start_of(plan, model.seed, r), &start = is_given ? given : drawn;
    how.norm_at_start = 0;
    if (is_given && takes_all_rows(how.solver)) {  // measured by where the seed would have begun, as verify does
      Vector gradient;
      learned.value(drawn, gradient);
      how.norm_at_start = gradient.stableNorm();
    }
    const RandomStream chance = stream_of(model.seed, r);
    const Execution part = execution.part(0.1 + 0.8 * static_cast<double>(r) / restarts,
                                          0.1 + 0.8 * (static_cast<double>(r) + 1) / restarts);
    const Objective objective(net, data.train, settings.decay, part, nullptr, *settings.precision);
    Course course;
    try {
      if (!std::isfinite(learned.loss(start)))
        throw Error(fmt::format(
            "{}: the loss is no number at the start; let it standardize, or give columns in other units", plan.method));
      const bool goes_on = so_far.snapshot.has_value();
      if (settings.gradcheck && !goes_on) errors.push_back(gradient_error(net, data.train, settings.decay, start));
      Keeper keeper;
      if (goes_on) keeper.from = &*so_far.snapshot;
      if (checkpoint) keeper.keep = [&](const Snapshot& snapshot) { checkpoint->write(so_far, snapshot); };
      course = takes_all_rows(how.solver)
                   ? train_on_all(objective, data.held_out, start, how)
                   : train_by_batches(objective, data.held_out, start, how, chance.split(1), chance.split(2), keeper);
      so_far.snapshot.reset();
    } catch (const Cancelled&) {
      if (ends.empty()) throw;
      kept.stopped = Stop::cancelled;
      errors.resize(std::min(errors.size(), ends.size()));
      break;
    }
    const Objective undisturbed(net, data.train, settings.decay, unheard(execution));
    const double end = course.held_out.empty() ? undisturbed.value(course.weights)
                                               : *std::min_element(course.held_out.begin(), course.held_out.end());
    const bool cancelled = course.stopped == Stop::cancelled;
    if (ends.empty() || end < ends[at(best_of(vector_of(ends)))]) kept = std::move(course);
    ends.push_back(end);
    if (!cancelled) continue;
    kept.stopped = Stop::cancelled;
    break;
  }
  settings.restarts = static_cast<int>(ends.size());
  model.restart_losses = vector_of(ends);
  model.gradient_errors = vector_of(errors);
  model.weights = kept.weights;
  model.training_loss = vector_of(kept.training);
  model.validation_loss = vector_of(kept.held_out);
  model.best_epoch = kept.best;
  const Objective objective(net, data.train, settings.decay, unheard(execution));
  model.loss = objective.loss(model.weights) / objective.total();
  model.objective = objective.value(model.weights);
  Vector gradient;
  const Objective losses(net, data.train, 0, unheard(execution));
  losses.value(start_of(plan, model.seed, best_of(model.restart_losses)), gradient);
  model.gradient_sizes = net.size_by_layer(gradient);
  if (with_curvature) *with_curvature = objective.curvature(model.weights);
  warn(model, plan, data, kept);
  return kept;
}

void certify_now(Trained& model, const Plan& plan, const Course& course, const std::function<Certificate()>& certify) {
  const std::string nothing = why_nothing(plan.settings);
  if (nothing.empty()) {
    model.certificate = certify();
  } else {
    model.certificate.kind = "norm of the gradient, relative to that at the start";
    model.certificate.tolerance = plan.settings.tolerance;
    model.certificate.iterations = std::ssize(course.training);
    model.certificate.stopped = "by choice";
    model.certificate.message = nothing + ": nothing is claimed of the weights.";
  }
  if (course.stopped == Stop::cancelled) model.certificate.stopped = "cancelled";
  else if (nothing.empty() && !model.certificate.holds()) model.certificate.stopped = name_of(course.stopped);
}

void check(const Trained& model, const Plan& plan, bool was_updated) {
  const Settings& settings = plan.settings;
  const auto need = [&](bool holds, std::string_view otherwise) {
    require(holds, fmt::format("{}: {}", plan.method, otherwise));
  };
  const Vector &mean = model.mean, &scale = model.scale;
  need(settings.solver && settings.init && (takes_all_rows(*settings.solver) || settings.step),
       "a parameter was not chosen");
  need(mean.size() > 0 && scale.size() == mean.size() && mean.allFinite() && scale.allFinite() &&
           (scale.array() > 0).all(),
       "the means and scales of its columns are not usable");
  need((model.classes > 0) == (plan.net.loss == Loss::cross_entropy) && model.classes != 1 && model.classes >= 0,
       "its classes are not those of its loss");
  need(model.response_scale.size() == model.response_mean.size() &&
           (model.response_mean.size() == 0) == (model.classes > 0) && model.response_mean.allFinite() &&
           model.response_scale.allFinite() && (model.response_scale.array() > 0).all(),
       "the means and scales of its responses are not usable");
  const auto is_unscaled = [](const Vector& m, const Vector& s) {
    return (m.array() == 0).all() && (s.array() == 1).all();
  };
  need(settings.standardize || is_unscaled(mean, scale), "columns are scaled that should not be");
  need((settings.standardize && plan.net.loss != Loss::poisson) ||
           is_unscaled(model.response_mean, model.response_scale),
       "responses are scaled that should not be");
  need(model.weights.size() == plan.net.weight_count() && model.weights.allFinite(),
       "its weights are not those of its layers");
  need(model.gradient_sizes.size() == std::ssize(plan.net.with_weights()) && model.gradient_sizes.allFinite(),
       "there is not one gradient for each layer");
  need(std::isfinite(model.objective) && std::isfinite(model.loss) && model.training_loss.allFinite() &&
           model.validation_loss.allFinite() && model.restart_losses.allFinite(),
       "a loss of it is not finite");
  need(model.restart_losses.size() == (was_updated ? 0 : settings.restarts) &&
           model.gradient_errors.size() == (settings.gradcheck && !was_updated ? settings.restarts : 0) &&
           model.gradient_errors.allFinite(),
       "its starts are not those it tells");
  const bool held_out = settings.validation > 0 && !was_updated;
  need(model.best_epoch >= 0 && model.best_epoch <= model.training_loss.size() &&
           model.validation_loss.size() == (held_out ? model.training_loss.size() : 0) &&
           (held_out || model.best_epoch == model.training_loss.size()),
       "its epochs are not those it tells");
  need(model.seed >= 0, "its seed is not one");
}

Matrix Trained::scaled(const MatrixView& x) const {
  Matrix out;
  return Matrix(neural::Standards{mean, scale}.of(x, out));
}

Matrix last_sums(const Trained& model, const Plan& plan, const MatrixView& x) {
  require_width(plan.method, model.width(), x.cols());
  return plan.net.outputs(model.weights, x, {model.mean, model.scale},
                          plan.settings.precision.value_or(Precision::full));  // older files tell none
}

Matrix values(const Trained& model, const Plan& plan, const MatrixView& x) {
  require(model.classes == 0, fmt::format("{}: it was fitted to classes; ask it to classify", plan.method));
  Matrix z = last_sums(model, plan, x);
  if (plan.net.loss == Loss::poisson) return z.array().min(700.0).exp();
  z.array().rowwise() *= model.response_scale.transpose().array();
  return z.rowwise() + model.response_mean.transpose();
}

Vector predict(const Trained& model, const Plan& plan, const MatrixView& x) {
  require(!model.several(), fmt::format("{}: it was fitted to several responses; ask it for its values", plan.method));
  return values(model, plan, x).col(0);
}

Matrix probabilities(const Trained& model, const Plan& plan, const MatrixView& x) {
  require(model.classes > 0, fmt::format("{}: it was fitted to numbers; ask it to predict", plan.method));
  Matrix out = last_sums(model, plan, x);
  softmax_rows(out);
  return out;
}

Labels classify(const Trained& model, const Plan& plan, const MatrixView& x) {
  require(model.classes > 0, fmt::format("{}: it was fitted to numbers; ask it to predict", plan.method));
  return greatest_class(last_sums(model, plan, x));
}

Prediction prediction(const Trained& model, const Plan& plan, const MatrixView& x, const PredictOptions& options) {
  Prediction out;
  if (model.several()) return out;
  const bool of_classes = model.classes > 0;
  if (!of_classes && options.asks(kValuePart)) out.add(kValuePart, predict(model, plan, x));
  if (!of_classes || (!options.asks(kClassPart) && !options.asks(kProbabilitiesPart))) return out;
  Matrix z = last_sums(model, plan, x);
  if (options.asks(kClassPart)) out.add(kClassPart, greatest_class(z));
  if (options.asks(kProbabilitiesPart)) {
    softmax_rows(z);
    out.add(kProbabilitiesPart, std::move(z));
  }
  return out;
}

std::string summary(const Trained& model, const Plan& plan, const std::string& layers,
                    const std::vector<std::string>& names, bool was_updated) {
  const Settings& settings = plan.settings;
  std::string out = layers;
  const bool on_all = takes_all_rows(*settings.solver);
  out += fmt::format("loss {}, decay {:.4g}, solver {}", name_of(plan.net.loss), settings.decay,
                     name_of(*settings.solver));
  if (!on_all) out += fmt::format(", batches of {}, step {:.4g}", settings.batch, *settings.step);
  if (settings.precision == Precision::single) out += ", single precision";
  out += fmt::format("\n{} inside, weights begin by {}\n", settings.standardize ? "scaled" : "not scaled",
                     name_of(*settings.init));
  out += fmt::format(
      "mean loss {} after {}{}\n", format_significant(model.loss, 4),
      fmt::format("{} {}{}", format_count(model.best_epoch), on_all ? "iteration" : "epoch",
                  model.best_epoch == 1 ? "" : "s"),
      model.validation_loss.size() > 0
          ? fmt::format(
                " (of rows held out {}, the least of {})",
                model.best_epoch > 0 ? format_significant(model.validation_loss(model.best_epoch - 1), 4) : "NA",
                model.validation_loss.size())
          : "");
  if (was_updated) out += "of the rows of the last update; those before pull the weights back to where they were\n";
  if (model.restart_losses.size() > 1)
    out += fmt::format("{} starts ended between {} and {}\n", model.restart_losses.size(),
                       format_significant(model.restart_losses.minCoeff(), 4),
                       format_significant(model.restart_losses.maxCoeff(), 4));
  if (model.gradient_errors.size() > 0)
    out += fmt::format("all derivatives at the start are those of differences to within {:.0e}\n",
                       std::max(model.gradient_errors.maxCoeff(), 1e-8));
  std::vector<double> sizes, counts;
  const std::vector<Index> with_weights = plan.net.with_weights();
  for (std::size_t i = 0; i < with_weights.size(); ++i) {
    counts.push_back(static_cast<double>(plan.net.layers[at(with_weights[i])].weights()));
    sizes.push_back(model.gradient_sizes(static_cast<Index>(i)));
  }
  TextTable table;
  table.words("layer", names).numbers("weights", counts);
  table.numbers(was_updated ? "gradient before it" : "gradient at the start", sizes, 3);
  return out + "\n" + table.str();
}

}  // namespace lemma::neural
