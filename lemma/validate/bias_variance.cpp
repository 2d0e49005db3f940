// lemma/validate/bias_variance.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/text.hpp>
#include <lemma/validate/bias_variance.hpp>
#include <lemma/validate/cross.hpp>

namespace lemma {
namespace {

/// At one point: what is so (a number, or probabilities), its noise, and what the samples said.
struct Point {
  std::vector<double> truth;
  double noise = 0;
  std::vector<double> said;  // numbers, or codes of classes
};

struct Parts {
  double error = 0, bias = 0, variance = 0;
};

/// Of numbers.
Parts parts_of_number(const Point& point) {
  const auto b = static_cast<double>(point.said.size());
  Parts out;
  double mean = 0;
  for (const double h : point.said) mean += h / b;
  for (const double h : point.said) {
    out.error += (h - point.truth[0]) * (h - point.truth[0]) / b;
    out.variance += (h - mean) * (h - mean) / b;
  }
  out.bias = (mean - point.truth[0]) * (mean - point.truth[0]);
  return out;
}

/// Of classes: half the sum over the entries of vectors of 0 and 1. The error is counted by itself: 1 − p(h) less the noise.
Parts parts_of_class(const Point& point) {
  const auto b = static_cast<double>(point.said.size());
  std::vector<double> votes(point.truth.size(), 0.0);
  Parts out;
  for (const double h : point.said) {
    votes[static_cast<std::size_t>(h)] += 1 / b;
    out.error += (1 - point.truth[static_cast<std::size_t>(h)] - point.noise) / b;
  }
  for (std::size_t k = 0; k < votes.size(); ++k) {
    out.bias += 0.5 * (votes[k] - point.truth[k]) * (votes[k] - point.truth[k]);
    out.variance += 0.5 * votes[k] * (1 - votes[k]);
  }
  return out;
}

Measure mean_measure(std::string name, std::string meaning, const Vector& values) {
  auto bounds = bounds_of_mean(values);
  if (bounds) bounds->lower = std::max(0.0, bounds->lower);
  return {std::move(name), values.mean(), std::move(meaning), false, bounds};
}

void measure_points(const std::vector<Point>& points, bool noise_known, BiasVariance& out) {
  const bool classes = out.task == Task::classification;
  std::vector<double> error, bias, variance, noise;
  for (const Point& point : points) {
    if (point.said.size() < 2) continue;
    const Parts parts = classes ? parts_of_class(point) : parts_of_number(point);
    error.push_back(parts.error + point.noise);
    bias.push_back(parts.bias);
    variance.push_back(parts.variance);
    noise.push_back(point.noise);
  }
  require(!error.empty(), "no point was judged by two samples or more; take more samples");
  const auto vector = [](std::vector<double>& v) { return Vector(Eigen::Map<Vector>(v.data(), std::ssize(v))); };
  out.points = std::ssize(error);
  out.error = mean_measure("error", classes ? "share of mistakes" : "mean squared error", vector(error));
  out.bias = mean_measure(noise_known ? "bias_squared" : "bias_squared_and_noise",
                          noise_known ? "the mean of all samples is not what is so"
                                      : "the mean of all samples is not the response, which has noise of its own",
                          vector(bias));
  out.variance = mean_measure("variance", "samples differ from their mean", vector(variance));
  if (noise_known) out.noise = mean_measure("noise", "of the response itself: nobody has less", vector(noise));
  out.left = out.error.value - out.bias.value - out.variance.value - (out.noise ? out.noise->value : 0);
}

std::uint64_t sample_seed(std::uint64_t seed, Index b) {
  return RandomStream(seed, 0xb1a5).split(static_cast<std::uint64_t>(b)).bits();
}

void require_samples(const BiasVarianceOptions& options) {
  if (options.samples < 2) throw Error(fmt::format("the number of samples is {}, must be at least 2", options.samples));
}

}  // namespace

BiasVariance bias_variance(const AnySpec& spec, const Truth& truth, const std::string& formula,
                           const BiasVarianceOptions& options) {
  require_samples(options);
  if (options.rows < 2) throw Error(fmt::format("the number of rows is {}, must be at least 2", options.rows));
  if (options.points < 2) throw Error(fmt::format("the number of points is {}, must be at least 2", options.points));
  BiasVariance out;
  out.method = spec.text();
  out.formula = formula.empty() ? truth.response + " ~ ." : formula;
  out.source = truth.name;
  out.task = truth.of_classes() ? Task::classification : Task::regression;
  out.samples = options.samples;
  out.rows = options.rows;
  const Formula parsed = lemma::formula(out.formula);
  const Table where = draw_table(truth, options.points, sample_seed(options.seed, -1));
  std::vector<Point> points(at(options.points));
  std::vector<double> x(truth.features.size());
  for (Index i = 0; i < options.points; ++i) {
    Point& point = points[at(i)];
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = where.column(static_cast<Index>(j)).numbers().values[at(i)];
    point.truth.resize(std::max<std::size_t>(1, truth.classes.size()));
    const bool known = truth.of_classes() ? truth.probabilities(x.data(), point.truth.data())
                                          : truth.moments(x.data(), point.truth[0], point.noise);
    if (!known)
      throw Error(fmt::format("{} does not know {} at a point, so that bias and noise cannot be told apart", truth.name,
                              truth.of_classes() ? "the probabilities" : "the mean"));
    if (truth.of_classes())
      for (const double p : point.truth) point.noise += 0.5 * p * (1 - p);
    point.said.resize(static_cast<std::size_t>(options.samples));
  }
  Quietly quiet(options.execution.progress);
  parallel_for(options.samples, options.execution.part(0, 1, "fitting samples"), [&](Index b) {
    const Table sample = draw_table(truth, options.rows, sample_seed(options.seed, b));
    TrainOptions how;
    how.fit.seed = fit_seed(options.seed, b);
    how.fit.threads = options.execution.threads;
    how.fit.progress = &quiet;
    const TrainedModel trained = train(spec.shared(), spec.params(), parsed, MemoryTableStream(sample), how);
    if (quiet.cancelled()) throw Cancelled();
    if (trained.model->task() != out.task)
      throw Error(fmt::format("{} is for {}, and {} has a response for {}", out.method, name_of(trained.model->task()),
                              truth.name, name_of(out.task)));
    const Prediction said = trained.predict(where);
    const auto& classes = trained.design.classes();
    for (Index i = 0; i < options.points; ++i)
      points[at(i)].said[at(b)] = truth.of_classes()
                                      ? static_cast<double>(std::find(truth.classes.begin(), truth.classes.end(),
                                                                      classes[at(said.label()[at(i)])]) -
                                                            truth.classes.begin())
                                      : said.value()(i);
  });
  measure_points(points, true, out);
  return out;
}

BiasVariance bias_variance(const AnySpec& spec, const Formula& formula, const TableStream& data,
                           const BiasVarianceOptions& options) {
  require_samples(options);
  const Experiment experiment(spec, formula, data, options.experiment);
  if (experiment.task() != Task::regression && experiment.task() != Task::classification)
    throw Error(
        fmt::format("bias and variance are of predictions, and {} is for {}", spec.text(), name_of(experiment.task())));
  BiasVariance out;
  out.method = spec.text();
  out.formula = experiment.design().formula_text();
  out.source = experiment.data();
  out.task = experiment.task();
  out.samples = options.samples;
  out.rows = experiment.rows();
  const bool classes = out.task == Task::classification;
  Plan plan;
  plan.kind = PlanKind::bootstrap;
  plan.samples = options.samples;
  const PlanRows rows = experiment.rows_of(plan);
  const Resampling resampling(plan, rows, options.seed);
  std::vector<Experiment::Asked> asked(static_cast<std::size_t>(options.samples));
  Quietly quiet(options.execution.progress);
  parallel_for(options.samples, options.execution.part(0, 1, "fitting samples"), [&](Index b) {
    const Resample resample = resampling.at(b);
    if (resample.test.empty()) return;
    FitOptions how;
    how.seed = fit_seed(options.seed, b);
    how.threads = options.execution.threads;
    how.progress = &quiet;
    const auto learned = experiment.fit(resample.train, how);
    if (quiet.cancelled()) throw Cancelled();
    asked[at(b)] = experiment.ask(learned, resample.test);
  });
  std::vector<Point> points(at(experiment.rows()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!classes) points[i].truth = {experiment.y()(static_cast<Index>(i))};
    else {
      points[i].truth.assign(experiment.design().classes().size(), 0.0);
      points[i].truth[at(experiment.labels()[i])] = 1;
    }
  }
  for (const auto& each : asked)
    for (std::size_t j = 0; j < each.rows.size(); ++j)
      points[at(each.rows[j])].said.push_back(classes ? each.answers.predicted[j]
                                                      : each.answers.value(static_cast<Index>(j)));
  measure_points(points, false, out);
  return out;
}

Value to_value(const BiasVariance& found) {
  Value out = Value::object();
  out.set("method", found.method);
  out.set("formula", found.formula);
  out.set("source", found.source);
  out.set("task", name_of(found.task));
  out.set("samples", found.samples);
  out.set("rows", found.rows);
  out.set("points", found.points);
  std::vector<Measure> all{found.error, found.bias, found.variance};
  if (found.noise) all.push_back(*found.noise);
  out.set("measures", to_value(all));
  out.set("rounding", found.left);
  return out;
}

std::string text(const BiasVariance& found) {
  std::vector<std::string> names, values, shares, bounds, meanings;
  const auto add = [&](const Measure& each) {
    names.push_back(each.name);
    values.push_back(format_significant(each.value, 4));
    shares.push_back(found.error.value > 0 ? format_fixed(100 * each.value / found.error.value, 1) : "");
    bounds.push_back(each.bounds ? fmt::format("[{}, {}]", format_significant(each.bounds->lower, 3),
                                               format_significant(each.bounds->upper, 3))
                                 : "");
    meanings.push_back(each.meaning);
  };
  add(found.bias);
  add(found.variance);
  if (found.noise) add(*found.noise);
  add(found.error);
  std::string out =
      fmt::format("{} on {}: {}\n{} of {}, at {}\n\n", found.method, found.source, found.formula,
                  count_of(found.samples, "sample"), count_of(found.rows, "row"), count_of(found.points, "point"));
  out += TextTable()
             .words("part", names)
             .right("value", values)
             .right("%", shares)
             .words("95 % interval", bounds)
             .words("what it is", meanings)
             .str();
  if (!found.noise)
    out +=
        "\n" +
        wrap(
            "Rows have one response each, so that bias and noise are one number; a truth that is known (--truth) tells "
            "them apart.",
            98) +
        "\n";
  return out;
}

}  // namespace lemma
