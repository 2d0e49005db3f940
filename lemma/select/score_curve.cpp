// lemma/select/score_curve.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/select/score_curve.hpp>

namespace lemma {
namespace {

constexpr std::uint64_t kShuffleStream = 0x73687566;

const Score& named(const std::vector<Score>& scores, const std::string& metric) {
  for (const auto& each : scores)
    if (each.name == metric) return each;
  std::vector<std::string> names;
  for (const auto& each : scores) names.push_back(each.name);
  throw Error(fmt::format("there is no measure '{}' here{}; there are {}", metric, did_you_mean(metric, names),
                          join_words(names, 30)));
}

std::string usual_metric(Task task) {
  return task == Task::classification ? "accuracy" : task == Task::regression ? "rmse" : "silhouette";
}

ScoreCurve begun(const CrossResult& first, const std::string& metric, std::string along) {
  ScoreCurve out;
  out.method = first.method;
  out.formula = first.formula;
  out.data = first.data;
  out.plan = first.plan;
  out.rows = first.rows;
  out.metric = metric.empty() ? usual_metric(first.task) : metric;
  out.along = std::move(along);
  return out;
}

void check_plan(const Plan& plan) {
  if (plan.kind == PlanKind::loo)
    throw Error("a curve takes the mean over folds: leaving out one row at a time has none; use --folds");
}

/// One point after the other, until it is cancelled.
ScoreCurve curve_of(std::size_t count, const std::string& metric, const std::string& along, const CrossOptions& options,
                    const std::function<CrossResult(std::size_t, const CrossOptions&, ScoreCurve::Point&)>& make) {
  std::optional<ScoreCurve> out;
  for (std::size_t i = 0; i < count; ++i) {
    CrossOptions how = options;
    how.judge_training = true;
    how.look_for_leaks = false;
    const auto step = 1.0 / static_cast<double>(count);
    how.execution = options.execution.part(static_cast<double>(i) * step, static_cast<double>(i + 1) * step, "curve");
    ScoreCurve::Point point;
    try {
      const CrossResult found = make(i, how, point);
      if (found.cancelled) throw Cancelled();
      if (!out) out = begun(found, metric, along);
      point.test = named(found.scores, out->metric);
      point.training = named(found.apparent, out->metric);
      if (along == "rows") {
        double rows = 0;
        for (const auto& fold : found.folds)
          rows += static_cast<double>(fold.train) / static_cast<double>(found.folds.size());
        point.value = rows;
        point.at = format_significant(std::round(rows), 10);
      }
      out->points.push_back(std::move(point));
    } catch (const Cancelled&) {
      if (!out) throw;
      out->cancelled = true;
      return *out;
    }
  }
  return *out;
}

}  // namespace

const Score& score_named(const CrossResult& result, const std::string& metric) {
  return named(result.scores, metric.empty() ? usual_metric(result.task) : metric);
}

ScoreCurve learning_curve(const AnySpec& spec, const Formula& formula, const TableStream& data, const Plan& plan,
                          const std::vector<double>& shares, const std::string& metric, const CrossOptions& options) {
  check_plan(plan);
  require(!shares.empty(), "a learning curve needs shares of the rows, such as 0.1,0.3,1");
  for (const double share : shares)
    if (!(share > 0 && share <= 1))
      throw Error(fmt::format("a share of the rows is {}, must be above 0 and at most 1", share));
  const Experiment experiment(spec, formula, data, options.experiment);
  Plan settled = plan;
  PlanRows rows = experiment.rows_of(settled);
  const Resampling resampling(settled, std::move(rows), options.seed);
  return curve_of(shares.size(), metric, "rows", options, [&](std::size_t i, CrossOptions how, ScoreCurve::Point&) {
    how.train_share = shares[i];
    return cross(experiment, resampling, how);
  });
}

ScoreCurve validation_curve(const AnySpec& spec, const std::string& axis, const Formula& formula,
                            const TableStream& data, const Plan& plan, const std::string& metric,
                            const CrossOptions& options) {
  check_plan(plan);
  const SearchSpace space(spec, {axis});
  const auto places = space.grid();
  ScoreCurve out = curve_of(places.size(), metric, space.axes()[0].path, options,
                            [&](std::size_t i, const CrossOptions& how, ScoreCurve::Point& point) {
                              const Value value = space.axes()[0].at(places[i][0]);
                              const std::string text = space.text(places[i]);
                              point.at = text.substr(text.find('=') + 1);
                              point.value = value.is_number() ? value.as_double()
                                            : value.is_array() && value.as_array().data.size() == 1
                                                ? value.as_array().data[0]
                                                : static_cast<double>(i + 1);
                              return cross(space.spec(places[i]), formula, data, plan, how);
                            });
  out.method = spec.text();
  return out;
}

Table table_of(const ScoreCurve& curve) {
  std::vector<double> value, training, training_sd, test, test_sd, lower, upper;
  std::vector<std::string> at;
  for (const auto& point : curve.points) {
    at.push_back(point.at);
    value.push_back(point.value);
    training.push_back(point.training.mean);
    training_sd.push_back(point.training.sd);
    test.push_back(point.test.mean);
    test_sd.push_back(point.test.sd);
    lower.push_back(point.test.bounds ? point.test.bounds->lower : std::nan(""));
    upper.push_back(point.test.bounds ? point.test.bounds->upper : std::nan(""));
  }
  return Table({curve.along == "rows" ? numeric("rows", value) : text(curve.along, at), numeric("training", training),
                numeric("training_sd", training_sd), numeric("test", test), numeric("test_sd", test_sd),
                numeric("lower", lower), numeric("upper", upper)},
               "curve");
}

Value to_value(const ScoreCurve& curve) {
  Value out = Value::object();
  out.set("method", curve.method);
  out.set("formula", curve.formula);
  out.set("data", curve.data);
  out.set("rows", curve.rows);
  out.set("metric", curve.metric);
  out.set("along", curve.along);
  out.set("plan", to_value(curve.plan));
  Value::List points;
  for (const auto& point : curve.points) {
    Value one = Value::object();
    one.set("at", point.at);
    one.set("value", point.value);
    one.set("training", point.training.mean);
    one.set("training_sd", point.training.sd);
    one.set("test", point.test.mean);
    one.set("test_sd", point.test.sd);
    one.set("bounds", point.test.bounds ? Value(std::vector<double>{point.test.bounds->lower, point.test.bounds->upper})
                                        : Value());
    points.push_back(std::move(one));
  }
  out.set("points", std::move(points));
  out.set("cancelled", curve.cancelled);
  return out;
}

std::string text(const ScoreCurve& curve) {
  std::vector<std::string> at, training, test, sd, bounds;
  for (const auto& point : curve.points) {
    at.push_back(point.at);
    training.push_back(format_significant(point.training.mean, 4));
    test.push_back(format_significant(point.test.mean, 4));
    sd.push_back(format_significant(point.test.sd, 2));
    bounds.push_back(point.test.bounds ? fmt::format("[{}, {}]", format_significant(point.test.bounds->lower, 3),
                                                     format_significant(point.test.bounds->upper, 3))
                                       : "");
  }
  return fmt::format("{} of {} on {}: {}\nalong {}; {}\n\n", curve.metric, curve.method, curve.data, curve.formula,
                     curve.along == "rows" ? "the rows learned from" : curve.along, curve.plan.text()) +
         TextTable()
             .right(curve.along, at)
             .right("training", training)
             .right("test", test)
             .right("sd", sd)
             .words("95 % interval", bounds)
             .str();
}

PermutationTest permutation_test(const AnySpec& spec, const Formula& formula, const TableStream& data, const Plan& plan,
                                 int shuffles, const std::string& metric, const CrossOptions& options) {
  require(shuffles >= 1, "a permutation test needs at least one shuffle");
  CrossOptions how = options;
  how.look_for_leaks = false;
  how.execution = options.execution.part(0, 1.0 / (shuffles + 1), "shuffling");
  const Experiment experiment(spec, formula, data, how.experiment);
  const CrossResult real = cross(spec, formula, data, plan, how);
  if (real.cancelled) throw Cancelled();
  const Score& score = score_named(real, metric);
  PermutationTest out;
  out.metric = score.name;
  out.score = score.mean;
  out.higher_is_better = score.higher_is_better;
  const Table all = data.table() ? *data.table() : read_all(data);
  const Table table = all.select(experiment.kept().rows(0, experiment.rows()));
  const auto responses = experiment.design().response_columns();
  require(!responses.empty(), "there is no response to shuffle");
  Index as_good = 0;
  for (int b = 0; b < shuffles; ++b) {
    RandomStream stream = RandomStream(options.seed, kShuffleStream).split(static_cast<std::uint64_t>(b));
    const auto order = permutation(stream, table.rows());
    const Table moved = table.select(order);
    std::vector<Column> columns;
    for (const auto& column : table.all()) {
      const bool shuffled = std::find(responses.begin(), responses.end(), column.name) != responses.end();
      columns.push_back(shuffled ? moved.column(column.name) : column);
    }
    how.execution = options.execution.part((b + 1.0) / (shuffles + 1), (b + 2.0) / (shuffles + 1), "shuffling");
    try {
      const CrossResult found =
          cross(spec, formula, MemoryTableStream(std::make_shared<const Table>(std::move(columns))), plan, how);
      if (found.cancelled) throw Cancelled();
      const double each = score_named(found, metric).mean;
      out.shuffled.push_back(each);
      as_good += (out.higher_is_better ? each >= out.score : each <= out.score) ? 1 : 0;
    } catch (const Cancelled&) {
      out.cancelled = true;
      break;
    }
  }
  out.p = static_cast<double>(1 + as_good) / static_cast<double>(1 + out.shuffled.size());
  return out;
}

std::string text(const PermutationTest& test) {
  double mean = 0;
  for (const double each : test.shuffled) mean += each / static_cast<double>(test.shuffled.size());
  return wrap(fmt::format(
                  "Permutation test: with the response shuffled {} is {} on average over {} shuffles, here {}; chance "
                  "does as well with probability p = {}.",
                  test.metric, format_significant(mean, 4), test.shuffled.size(), format_significant(test.score, 4),
                  format_p(test.p)),
              98) +
         "\n";
}

Value to_value(const PermutationTest& test) {
  Value out = Value::object();
  out.set("metric", test.metric);
  out.set("score", test.score);
  out.set("shuffled", test.shuffled);
  out.set("p", test.p);
  return out;
}

}  // namespace lemma
