// lemma/validate/bootstrap.cpp
#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/glm/again.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/validate/bootstrap.hpp>
#include <lemma/validate/cross.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kMostLeftOut = 1000, kBlocks = 200;

/// Coefficients of one plane are told with their intercept.
const Value* intercept_beside(const Value& results, const std::string& name) {
  const Value* intercept = name == "coefficients" ? results.find("intercept") : nullptr;
  return intercept && intercept->is_number() && results.at(name).as_array().shape.size() == 1 ? intercept : nullptr;
}

/// A result as flat numbers.
std::optional<Vector> numbers_in(const Experiment::Learned& learned, const Design& design, const std::string& name) {
  const Names names{design.features(), design.classes(), design.target()};
  const Value all = learned.model->results(names);
  const Value* found = all.find(name);
  if (!found) return {};
  if (found->is_number()) return Vector::Constant(1, found->as_double());
  if (!found->is_array()) return {};
  auto data = found->as_array().data;
  if (const Value* intercept = intercept_beside(all, name)) data.insert(data.begin(), intercept->as_double());
  return Vector(Eigen::Map<const Vector>(data.data(), static_cast<Index>(data.size())));
}

/// Names of the entries, by what they run along.
std::vector<std::string> names_of_entries(const Value& value, const FieldInfo& info, const Design& design) {
  if (!value.is_array()) return {info.name};
  const auto name = [&](Axis axis, Index i) {
    const auto& names = axis == Axis::feature ? design.features() : design.classes();
    const bool known = (axis == Axis::feature || axis == Axis::label) && i < static_cast<Index>(names.size());
    return known ? names[static_cast<std::size_t>(i)] : std::to_string(i + 1);
  };
  const auto& shape = value.as_array().shape;
  const Index across = shape.back(),
              down = static_cast<Index>(value.as_array().data.size()) / std::max<Index>(1, across);
  std::vector<std::string> out;
  for (Index i = 0; i < down; ++i)
    for (Index j = 0; j < across; ++j)
      out.push_back((shape.size() > 1 ? name(info.along.down, i) + ": " : "") + name(info.along.across, j));
  return out;
}

const FieldInfo& find_result(const std::vector<FieldInfo>& results, const std::string& name,
                             const std::string& method) {
  std::vector<std::string> names;
  for (const auto& each : results) {
    if (each.name == name) return each;
    names.emplace_back(each.name);
  }
  throw Error(fmt::format("{} has no result '{}'{}; it has {}", method, name, did_you_mean(name, names),
                          join_words(names, 40)));
}

double quantile(const std::vector<double>& sorted, double p) {  // R's type 6, as boot.ci takes: (B + 1) p
  const auto count = static_cast<double>(sorted.size());
  const double place = std::clamp((count + 1) * p, 1.0, count) - 1;
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

double acceleration(const std::vector<double>& without) {
  if (without.size() < 2) return 0;
  const double mean = std::accumulate(without.begin(), without.end(), 0.0) / static_cast<double>(without.size());
  double squares = 0, cubes = 0;
  for (const double each : without) {
    const double d = mean - each;
    squares += d * d;
    cubes += d * d * d;
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

/// The rows without each row, each group, or each of some blocks of rows.
std::vector<std::vector<Index>> jackknife(const PlanRows& rows) {
  const Index n = rows.count;
  std::vector<int> part = rows.groups;
  if (part.empty())
    for (Index i = 0; i < n; ++i) part.push_back(static_cast<int>(n <= kMostLeftOut ? i : i % kBlocks));
  const int parts = *std::max_element(part.begin(), part.end()) + 1;
  std::vector<std::vector<Index>> out(static_cast<std::size_t>(parts));
  for (int k = 0; k < parts; ++k)
    for (Index i = 0; i < n; ++i)
      if (part[static_cast<std::size_t>(i)] != k) out[static_cast<std::size_t>(k)].push_back(i);
  return out;
}

/// Fits whose coefficients alone are asked for, where the method has a shorter way to them than a fit. Nothing: it has none.
std::optional<GlmAgain> short_way(const Experiment& experiment, const AnyModel& whole, const std::string& result) {
  const auto* glm = model_cast<GlmModel>(whole);
  if (!glm || result != "coefficients" || !experiment.learns_by_method_alone() || experiment.all().sparse()) return {};
  std::optional<GlmAgain> out(std::in_place, *glm, experiment.all());
  if (!out->usable()) out.reset();
  return out;
}

/// How often each row was drawn.
std::vector<double> times_of(const std::vector<Index>& drawn, Index rows) {
  std::vector<double> out(static_cast<std::size_t>(rows), 0.0);
  for (const Index i : drawn) out[static_cast<std::size_t>(i)] += 1;
  return out;
}

}  // namespace

IntervalOf interval_of_samples(ResultInterval kind, double estimate, std::vector<double> samples,
                               const std::vector<double>& without, double level) {
  if (samples.size() < 2) return {std::nan(""), std::nan("")};
  std::sort(samples.begin(), samples.end());
  const double alpha = (1 - level) / 2;
  const double low = quantile(samples, alpha), high = quantile(samples, 1 - alpha);
  if (kind == ResultInterval::percentile) return {low, high};
  if (kind == ResultInterval::basic) return {2 * estimate - high, 2 * estimate - low};
  double below = 0;
  for (const double each : samples) below += each < estimate ? 1 : each == estimate ? 0.5 : 0;
  const double share = below / static_cast<double>(samples.size());
  if (!(share > 0 && share < 1))
    return {std::nan(""), std::nan("")};  // all samples on one side: there is no correction
  const double z0 = normal_quantile(share), a = acceleration(without);
  const auto corrected = [&](double p) {
    const double z = z0 + normal_quantile(p);
    return quantile(samples, normal_cdf(z0 + z / (1 - a * z)));
  };
  return {corrected(alpha), corrected(1 - alpha)};
}

BootstrapResult bootstrap(const AnySpec& spec, const Formula& formula, const TableStream& data,
                          const ResultBootstrap& options) {
  require(options.samples >= 10, "a bootstrap needs at least 10 samples");
  if (!(options.level > 0 && options.level < 1))
    throw Error(fmt::format("the level of an interval is {}, must be above 0 and below 1", options.level));
  const Experiment experiment(spec, formula, data, options.experiment);
  const Method& method = experiment.spec().method();
  const auto results = method.results();
  const FieldInfo& info = find_result(results, options.result, method.name());
  Plan plan{.kind = PlanKind::bootstrap, .samples = options.samples};
  plan.group = options.group;
  const PlanRows rows = experiment.rows_of(plan);
  const Resampling draws(plan, rows, options.seed);
  FitOptions how;
  Quietly quiet(options.execution.progress);
  how.threads = options.execution.threads;
  how.seed = options.seed;
  how.progress = &quiet;
  std::vector<Index> all(static_cast<std::size_t>(experiment.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  const auto whole = experiment.fit(all, how);
  if (quiet.cancelled()) throw Cancelled();  // it may have ended early
  const auto estimate = numbers_in(whole, experiment.design(), options.result);
  if (!estimate || estimate->size() == 0)
    throw Error(fmt::format("'{}' of {} is no array of numbers", options.result, method.name()));
  BootstrapResult out;
  out.method = experiment.spec().text();
  out.formula = experiment.design().formula_text();
  out.data = experiment.data();
  out.result = options.result;
  out.interval = options.interval;
  out.level = options.level;
  out.rows = experiment.rows();
  out.estimate = *estimate;
  out.notes = experiment.notes();
  const Value value =
      whole.model
          ->results({experiment.design().features(), experiment.design().classes(), experiment.design().target()})
          .at(options.result);
  out.names = names_of_entries(value, info, experiment.design());
  if (static_cast<Index>(out.names.size()) < out.estimate.size()) out.names.insert(out.names.begin(), "(Intercept)");

  const auto again = short_way(experiment, whole.model, options.result);
  const auto fits = [&](Index count, const Execution& execution, const auto& rows_of) {
    std::vector<std::optional<Vector>> found(static_cast<std::size_t>(count));
    std::atomic<Index> done = 0;
    Execution silent;
    silent.threads = options.execution.threads;
    parallel_for(count, silent, [&](Index i) {
      if (execution.cancelled()) return;
      FitOptions each = how;
      each.seed = fit_seed(options.seed, i);
      try {
        const std::vector<Index> drawn = rows_of(i);
        if (again) found[static_cast<std::size_t>(i)] = (*again)(times_of(drawn, experiment.rows()));
        if (found[static_cast<std::size_t>(i)]) {
          execution.report(static_cast<double>(++done) / static_cast<double>(count), "bootstrap");
          return;
        }
        const auto learned = experiment.fit_drawn(drawn, each);
        if (quiet.cancelled()) return;
        const bool same = !learned.design || learned.design->features() == experiment.design().features();
        if (same) found[static_cast<std::size_t>(i)] = numbers_in(learned, experiment.design(), options.result);
      } catch (const Cancelled&) { return; } catch (const Error&) {
      }  // a sample without a class, or with a column that does not vary
      execution.report(static_cast<double>(++done) / static_cast<double>(count), "bootstrap");
    });
    return found;
  };
  const bool leaves_out = options.interval == ResultInterval::bca;
  const auto samples = fits(options.samples, options.execution.part(0, leaves_out ? 0.6 : 1),
                            [&](Index i) { return draws.at(i).train; });
  std::vector<std::optional<Vector>> without;
  if (leaves_out && !options.execution.cancelled()) {
    const auto parts = jackknife(rows);
    without = fits(static_cast<Index>(parts.size()), options.execution.part(0.6, 1),
                   [&](Index i) { return parts[static_cast<std::size_t>(i)]; });
  }
  out.cancelled = options.execution.cancelled();
  const Index width = estimate->size();
  const auto usable = [&](const std::optional<Vector>& v) { return v && v->size() == width; };
  for (const auto& each : samples) (usable(each) ? out.samples : out.failed) += 1;
  if (out.samples < 2) {
    if (out.cancelled) throw Cancelled();
    throw Error("hardly any sample could be fitted: too few rows, or a class or level that is seldom drawn");
  }
  out.mean = out.std_error = out.lower = out.upper = Vector::Constant(width, std::nan(""));
  for (Index j = 0; j < width; ++j) {
    std::vector<double> drawn, left;
    for (const auto& each : samples)
      if (usable(each) && std::isfinite((*each)(j))) drawn.push_back((*each)(j));
    for (const auto& each : without)
      if (usable(each) && std::isfinite((*each)(j))) left.push_back((*each)(j));
    if (drawn.size() < 2) continue;
    const auto count = static_cast<double>(drawn.size());
    out.mean(j) = std::accumulate(drawn.begin(), drawn.end(), 0.0) / count;
    double squares = 0;
    for (const double each : drawn) squares += (each - out.mean(j)) * (each - out.mean(j));
    out.std_error(j) = std::sqrt(squares / (count - 1));
    const auto bounds = interval_of_samples(options.interval, out.estimate(j), drawn, left, options.level);
    out.lower(j) = bounds.lower;
    out.upper(j) = bounds.upper;
  }
  if (experiment.task() == Task::clustering)
    out.notes.push_back(
        "clusters have no order of their own: where samples number them otherwise, entries of different clusters are "
        "taken together, and errors are too large");
  if (out.failed > 0 && !out.cancelled)
    out.notes.push_back(
        fmt::format("{} of {} samples had no fit with these columns and do not count", out.failed, options.samples));
  return out;
}

Value to_value(const BootstrapResult& result) {
  Value out = Value::object();
  out.set("method", result.method);
  out.set("formula", result.formula);
  out.set("data", result.data);
  out.set("rows", result.rows);
  out.set("result", result.result);
  out.set("interval", name_of(result.interval));
  out.set("level", result.level);
  out.set("samples", result.samples);
  out.set("failed", result.failed);
  out.set("names", result.names);
  out.set("estimate", result.estimate);
  out.set("bias", Vector(result.mean - result.estimate));
  out.set("std_error", result.std_error);
  out.set("lower", result.lower);
  out.set("upper", result.upper);
  out.set("cancelled", result.cancelled);
  out.set("notes", result.notes);
  return out;
}

std::string text(const BootstrapResult& result) {
  const auto list = [](const Vector& v) { return std::vector<double>(v.data(), v.data() + v.size()); };
  std::vector<std::string> bounds;
  for (Index j = 0; j < result.lower.size(); ++j)
    bounds.push_back(std::isnan(result.lower(j)) ? "NA"
                                                 : fmt::format("[{}, {}]", format_significant(result.lower(j), 4),
                                                               format_significant(result.upper(j), 4)));
  return fmt::format("{} of {} on {}: {}\n{} of {}, {} intervals\n\n", result.result, result.method, result.data,
                     result.formula, count_of(result.samples, "sample"), count_of(result.rows, "row"),
                     name_of(result.interval)) +
         TextTable()
             .words("", result.names)
             .numbers("estimate", list(result.estimate))
             .numbers("bias", list(result.mean - result.estimate), 2)
             .numbers("std. error", list(result.std_error), 3)
             .words(fmt::format("{} % interval", format_significant(100 * result.level, 3)), bounds)
             .str();
}

}  // namespace lemma
