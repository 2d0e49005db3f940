// lemma/ensemble/model_average.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/ensemble/model_average.hpp>
#include <lemma/ensemble/model_average/mixture_weights.hpp>
#include <lemma/ensemble/shared/out_of_fold.hpp>
#include <lemma/model/look_again.hpp>
#include <numbers>

namespace lemma {
namespace {

using namespace ensemble;

constexpr double kGap = 1e-9;    // nats per row
constexpr double kApart = 1e-6;  // of what is told, relative

/// Of each method the root mean squared error out of fold. One that is never wrong would have a density without bounds: it is given
/// a millionth of the spread of the response.
Vector deviations_of(const OutOfFold& said, const TrainingRows& rows) {
  if (rows.of_classes()) return {};
  double mean = 0, spread = 0;
  for (const Index i : rows.counting) mean += rows.weight(i) * rows.y(i) / rows.mass;
  for (const Index i : rows.counting) spread += rows.weight(i) * std::pow(rows.y(i) - mean, 2) / rows.mass;
  const double least = spread > 0 ? 1e-6 * std::sqrt(spread) : 1;
  return errors_of(said, rows).cwiseSqrt().cwiseMax(least);
}

/// log p_m(yᵢ) of the rows that count: a row each, a column for each method.
Matrix log_densities(const OutOfFold& said, const TrainingRows& rows, const Vector& deviations) {
  Matrix out(std::ssize(rows.counting), std::ssize(said.said));
  const double classes = static_cast<double>(rows.classes());
  for (Index m = 0; m < out.cols(); ++m)
    for (Index r = 0; r < out.rows(); ++r) {
      const Index i = rows.counting[at(r)];
      if (rows.of_classes()) {
        const double p = said.said[at(m)](i, rows.label[at(i)]);
        out(r, m) = std::log((rows.mass * p + 1 / classes) / (rows.mass + 1));
      } else {
        const double z = (rows.y(i) - said.said[at(m)](i, 0)) / deviations(m);
        out(r, m) = -0.5 * (z * z + std::log(2 * std::numbers::pi)) - std::log(deviations(m));
      }
    }
  return out;
}

Vector weights_of(const TrainingRows& rows) {
  Vector out(std::ssize(rows.counting));
  for (Index r = 0; r < out.size(); ++r) out(r) = rows.weight(rows.counting[at(r)]);
  return out;
}

/// What the rows say of the methods: all that is told but the weights.
struct Held {
  Vector deviations;
  Matrix log_density;
  Vector log_likelihoods;
  MixtureLikelihood likelihood;
  double mass;

  Held(const OutOfFold& said, const TrainingRows& rows)
      : deviations(deviations_of(said, rows)),
        log_density(log_densities(said, rows, deviations)),
        log_likelihoods(log_density.transpose() * weights_of(rows) / rows.mass),
        likelihood(log_density, weights_of(rows)),
        mass(rows.mass) {}
  Vector weights(AverageBy by) const {
    const Index methods = likelihood.methods();
    if (by == AverageBy::mixture) return likelihood.best();
    if (by == AverageBy::equal) return Vector::Constant(methods, 1.0 / static_cast<double>(methods));
    const Vector relative = (mass * (log_likelihoods.array() - log_likelihoods.maxCoeff())).exp();
    return relative / relative.sum();
  }
};

void require_probabilities(const AnyModel& model) {
  const std::string name = model->method().name();
  require(gives(model, kProbabilitiesPart.name),
          fmt::format("model_average: {0} has no probabilities to weigh it by; calibrate({0}) does", name));
}

double apart_of(const Vector& told, const Vector& found) {
  if (told.size() != found.size()) return 1;
  return told.size() == 0 ? 0 : ((told - found).array().abs() / found.array().abs().max(1.0)).maxCoeff();
}

/// How far what is told lies from what is found.
double apart_of(const ModelAverageModel& model, const Held& held) {
  double apart =
      std::max(apart_of(model.deviations, held.deviations), apart_of(model.log_likelihoods, held.log_likelihoods));
  apart = std::max(apart, std::abs(model.log_likelihood - held.likelihood.at(model.weights)));
  if (model.spec.by != AverageBy::mixture)
    apart = std::max(apart, apart_of(model.weights, held.weights(model.spec.by)));
  return apart;
}

Certificate certificate_of(const ModelAverageModel& model, const Held& held, Strength weakest, std::string failure,
                           bool same_order) {
  const bool mixture = model.spec.by == AverageBy::mixture;
  const double apart = apart_of(model, held);
  if (failure.empty() && !(apart <= kApart))
    failure = fmt::format("likelihoods or weights are {:.1e} from those that are found", apart);
  Certificate out;
  out.strength = mixture ? weakest : std::max(weakest, Strength::consistent);
  out.kind = mixture ? "gap of the held-out likelihood" : "weights by likelihoods found again";
  out.value = !failure.empty() ? 1 : mixture ? held.likelihood.gap(model.weights) : apart;
  out.tolerance = mixture ? kGap : kApart;
  out.iterations = model.spec.folds;
  out.stopped = "all folds";
  if (!failure.empty()) {
    out.message = fmt::format("It is not the average of these rows: {}.", failure);
    return out;
  }
  out.message =
      mixture ? fmt::format(
                    "No other weights of these methods are likelier by more than {:.1e} per row (allowed {:.0e}), "
                    "by densities from models that had not seen the row",
                    out.value, out.tolerance)
              : fmt::format(
                    "Weights are those of the rule, by densities from models that had not seen the row, to "
                    "within {:.1e} (allowed {:.0e})",
                    out.value, out.tolerance);
  out.message += fmt::format("; each model holds for all rows.{}",
                             same_order ? ""
                                        : " The rows come in another order than at the fit: of the folds told their "
                                          "sizes are compared.");
  return out;
}

}  // namespace

void ModelAverage::check() const {
  if (methods) check_methods(name, *methods);
}

Needs ModelAverage::needs(Needs usual) const { return methods ? needs_of_all(*methods, usual) : usual; }

void ModelAverageModel::check() const {
  require(spec.methods && !spec.methods->empty(), "model_average: a parameter was not chosen");
  const Index count = std::ssize(*spec.methods);
  require(features >= 1 && classes >= 0 && classes != 1 && std::ssize(models) == count,
          "model_average: there is not one model for each method");
  require(
      weights.size() == count && weights.allFinite() && weights.minCoeff() >= 0 && std::abs(weights.sum() - 1) <= 1e-9,
      "model_average: the weights are not shares of 1, one for each method");
  require(log_likelihoods.size() == count && log_likelihoods.allFinite() && std::isfinite(log_likelihood),
          "model_average: there is not one likelihood for each method");
  require(classes > 0 ? deviations.size() == 0
                      : deviations.size() == count && deviations.allFinite() && deviations.minCoeff() > 0,
          "model_average: there is not one deviation above 0 for each method");
  for (const int each : fold)
    require(each >= -1 && each < spec.folds, "model_average: a row is in a fold that there is not");
  for (const AnyModel& each : models) {
    require_fits(ModelAverage::name, each, features, classes);
    if (classes > 0) require_probabilities(each);
  }
  seed_of_text(ModelAverage::name, seed);
}

Vector ModelAverageModel::predict(const MatrixView& x) const {
  require(classes == 0, "model_average: it was fitted to classes; ask it to classify");
  require_width(*this, x.cols());
  Vector out = Vector::Zero(x.rows());
  for (Index m = 0; m < weights.size(); ++m)
    if (weights(m) > 0) out += weights(m) * said(models[at(m)], x, kValuePart.name).value();
  return out;
}

Matrix ModelAverageModel::probabilities(const MatrixView& x) const {
  require(classes > 0, "model_average: it was fitted to numbers; ask it to predict");
  require_width(*this, x.cols());
  Matrix out = Matrix::Zero(x.rows(), classes);
  for (Index m = 0; m < weights.size(); ++m)
    if (weights(m) > 0) out += weights(m) * said(models[at(m)], x, kProbabilitiesPart.name).probabilities();
  return out;
}

Labels ModelAverageModel::classify(const MatrixView& x) const { return likeliest(probabilities(x)); }

std::string ModelAverageModel::summary(const Names&) const {
  std::vector<std::string> texts;
  for (const AnySpec& each : *spec.methods) texts.push_back(each.text());
  TextTable table;
  table.words("method", texts)
      .numbers("weight", {weights.begin(), weights.end()})
      .numbers("log likelihood per row out of fold", {log_likelihoods.begin(), log_likelihoods.end()});
  if (classes == 0) table.numbers("root mean squared error out of fold", {deviations.begin(), deviations.end()});
  return fmt::format("{} folds, weights by {}\n\n{}\nLog likelihood per row of the mixture: {}\n", spec.folds,
                     name_of(spec.by), table.str(), format_significant(log_likelihood, 5));
}

ModelAverageModel fit(const Valid<ModelAverage>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const TrainingRows data(ModelAverage::name, rows, execution);
  ModelAverageModel model;
  model.spec = *spec;
  if (!model.spec.methods) model.spec.methods = usual_methods(data.of_classes());
  model.features = rows.width();
  model.classes = data.classes();
  model.seed = text_of_seed(options.seed);
  model.order = order_of(data);
  model.fold = folds_of(ModelAverage::name, data, spec->folds, options.seed);
  model.models = fit_all(ModelAverage::name, *model.spec.methods, data, options.seed,
                         execution.part(0, 0.2, "methods on all rows"));
  if (data.of_classes())
    for (const AnyModel& each : model.models) require_probabilities(each);
  const OutOfFold said =
      out_of_fold(ModelAverage::name, *model.spec.methods, data, model.fold, spec->folds, options.seed,
                  options.progress, execution.part(0.2, 0.95, "methods without each fold"));
  const Held held(said, data);
  model.deviations = held.deviations;
  model.log_likelihoods = held.log_likelihoods;
  model.weights = held.weights(spec->by);
  model.log_likelihood = held.likelihood.at(model.weights);
  Strength weakest = Strength::optimal;
  const auto look = [&](std::size_t m) {
    if (model.models[m]->certificate().claims()) weakest = std::max(weakest, model.models[m]->certificate().strength);
    return model.models[m]->certificate();
  };
  const std::string failure = first_failure(model.models, look, execution);
  model.certificate = certificate_of(model, held, weakest, failure, true);
  return model;
}

Certificate certify(const ModelAverageModel& model, const Rows& source, const Execution& execution) {
  const TrainingRows rows(ModelAverage::name, source, execution);
  const std::uint64_t seed = seed_of_text(ModelAverage::name, model.seed);
  const auto found = folds_of(ModelAverage::name, rows, model.spec.folds, seed);
  const bool same_order = order_of(rows) == model.order;
  Strength weakest = Strength::optimal;
  const auto look = [&](std::size_t m) {
    const Certificate again = look_again(model.models[m], (*model.spec.methods)[m], source, execution.part(0, 0));
    if (again.claims()) weakest = std::max(weakest, again.strength);
    return again;
  };
  std::string failure = first_failure(model.models, look, execution);
  if (!same_folds(model.fold, found, same_order)) failure = "a row is told to be in another fold than it is";
  const OutOfFold said = out_of_fold(ModelAverage::name, *model.spec.methods, rows, found, model.spec.folds, seed,
                                     execution.progress, execution.part(0, 0.9, "methods without each fold"));
  return certificate_of(model, Held(said, rows), weakest, failure, same_order);
}

template const Method& method_of<ModelAverage>();

}  // namespace lemma
