// lemma/validate/bound.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/quietly.hpp>
#include <lemma/core/random.hpp>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/rows_for.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/special.hpp>
#include <lemma/metric/classification.hpp>
#include <lemma/model/any_spec.hpp>
#include <lemma/validate/bound.hpp>

namespace lemma {
namespace {

std::string shown(double number) { return format_significant(number, 4); }

/// Rows that had no part in the model.
bool are_new(const Honesty& honesty) { return honesty.kind == Honesty::Kind::test; }
bool are_training(const Honesty& honesty) { return honesty.kind == Honesty::Kind::training; }

void add(RiskBounds& out, std::string name, std::optional<double> value, std::string assumes, std::string says) {
  if (value && *value >= 1) says = fmt::format("says nothing here: it comes to {}", shown(*value));
  out.bounds.push_back({std::move(name), value, std::move(assumes), std::move(says)});
}

/// Exact upper end: by the F distribution.
double binomial_upper(double mistakes, double n, double delta) {
  if (mistakes >= n) return 1;
  const double f = f_quantile(1 - delta, 2 * (mistakes + 1), 2 * (n - mistakes));
  return (mistakes + 1) * f / (n - mistakes + (mistakes + 1) * f);
}

void add_of_new_rows(RiskBounds& out, double n) {
  const std::string assumes = fmt::format("independent rows that had no part in the model{}",
                                          out.looks > 1 ? fmt::format(", looked at for {} models", out.looks) : "");
  const char* why = are_training(out.honesty) ? "does not apply: the model has learned from these rows"
                    : out.honesty.kind == Honesty::Kind::mixed
                        ? "does not apply: the model has learned from some of these rows"
                        : "does not apply: it is not known whether the model has learned from these rows";
  if (!are_new(out.honesty)) {
    add(out, "hoeffding", {}, assumes, why);
    add(out, "binomial", {}, assumes, why);
    return;
  }
  const double m = out.looks, half = std::sqrt(std::log(2 * m / out.delta) / (2 * n));
  add(out, "hoeffding", out.error + half, assumes, fmt::format("the error is at most {}", shown(out.error + half)));
  const double exact = binomial_upper(std::round(out.error * n), n, out.delta / m);
  add(out, "binomial", exact, assumes, fmt::format("the error is at most {}", shown(exact)));
}

/// What a rule of several classes is from, where each class has an affine function and the largest one decides.
struct LinearRules {
  double classes = 0, columns = 0;
  /// log of how many ways they can label n points, at most. Each pair of classes is told apart by a half space, and these signs
  /// say which function is largest; or by Natarajan's lemma (1989): n^d K^2d with d = K (columns + 1).
  double log_growth_of(double n) const {
    const double pairs = 0.5 * classes * (classes - 1) * log_growth(n, columns + 1);
    const double natarajan = classes * (columns + 1) * (std::log(n) + 2 * std::log(classes));
    return std::min(pairs, natarajan);
  }
};
std::optional<LinearRules> linear_rules(const AnyModel& model) {
  const Index classes = model->class_count();
  const auto planes = model->affine();
  if (classes < 3 || !planes || planes->a.rows() != classes) return {};
  return LinearRules{static_cast<double>(classes), static_cast<double>(planes->a.cols())};
}

void add_vc(const AnyModel& model, RiskBounds& out, double n) {
  const auto d = vc_dimension(model);
  const auto rules = linear_rules(model);
  const std::string assumes =
      d       ? fmt::format("independent training rows, and a rule from a class of VC dimension {}: half spaces", *d)
      : rules ? fmt::format(
                    "independent training rows, and a rule by the largest of {} linear functions of {} columns, "
                    "which can label few of all {} ^ n ways",
                    rules->classes, rules->columns, rules->classes)
              : "independent training rows, and a rule from a class whose VC dimension is known";
  if (!are_training(out.honesty))
    return add(out, "vc", {}, assumes, "does not apply: it is about the rows that the model has learned from");
  if (!d && !rules)
    return add(out, "vc", {}, assumes,
               fmt::format("does not apply: the VC dimension of {} is not known, and may be infinite", out.method));
  const double growth = d ? log_growth(2 * n, *d) : rules->log_growth_of(2 * n);
  const double value = out.error + std::sqrt(8 / n * (std::log(4 / out.delta) + growth));
  add(out, "vc", value, assumes, fmt::format("the error is at most {}", shown(value)));
}

constexpr Index kTogether = 4096;  // rows that are asked at once

/// The rows of each class.
std::vector<std::vector<Index>> rows_by_class(const Rows& rows) {
  std::vector<std::vector<Index>> out(rows.classes.size());
  BlockBuffer buffer;
  for (Index first = 0; first < rows.count(); first += kTogether) {
    const Block block = rows.read(first, std::min(kTogether, rows.count() - first), buffer);
    for (Index i = 0; i < block.rows(); ++i) out[at(block.label[at(i)])].push_back(first + i);
  }
  return out;
}

/// How well a fit to random signs follows them: |mean σᵢ h(xᵢ)|, since with a rule its opposite is one too.
double followed(const AnySpec& spec, const Rows& rows, const std::vector<std::string>& sides, RandomStream& stream,
                const FitOptions& how) {
  const Index n = rows.count();
  std::vector<int> sign(at(n));
  for (int& each : sign) each = static_cast<int>(stream.below(2));
  if (std::count(sign.begin(), sign.end(), 1) % n == 0) sign[0] = 1 - sign[0];  // all alike: no method takes that
  const AnyModel model = spec.fit(RelabelledRows(rows, sign, sides), how);
  double sum = 0;
  BlockBuffer buffer;
  for (Index first = 0; first < n; first += kTogether) {
    const Block block = rows.read(first, std::min(kTogether, n - first), buffer);
    const Labels said = model.predict(block.x).label();
    for (Index i = 0; i < block.rows(); ++i) sum += said[at(i)] == sign[at(first + i)] ? 1 : -1;
  }
  return std::abs(sum) / static_cast<double>(n);
}

/// The largest mean σᵢ ℓᵢ that the method finds, over random signs, with ℓᵢ = 1 where a rule is wrong on row i and −1 elsewhere. Of
/// two classes ℓ is the rule itself, up to signs that are random anyway. Of more, what is largest of all rows is at most the sum of
/// what is largest of each class's rows alone, where a rule says whether they are of that class.
struct Complexity {
  double mean = 0, standard_error = 0;
};
Complexity complexity_of(const TrainedModel& trained, const Rows& rows, const BoundOptions& options) {
  const AnySpec spec(parse_method(trained.model->method().name()).shared(), trained.model->params());
  const auto n = static_cast<double>(rows.count());
  const bool two = rows.classes.size() == 2;
  const auto of_class = two ? std::vector<std::vector<Index>>() : rows_by_class(rows);
  std::vector<double> found(static_cast<std::size_t>(options.draws));
  parallel_for(options.draws, options.judge.execution.part(0.3, 1, "random signs"), [&](Index b) {
    RandomStream stream = RandomStream(options.seed, 0x5ad).split(static_cast<std::uint64_t>(b));
    FitOptions how;
    how.seed = options.seed;
    how.threads = options.judge.execution.threads;
    Quietly quiet(options.judge.execution.progress);
    how.progress = &quiet;
    if (two) found[at(b)] = followed(spec, rows, rows.classes, stream, how);
    for (const auto& which : of_class) {
      double share = 1;
      try {
        if (which.size() > 1) share = followed(spec, SelectedRows(rows, which), {"of it", "not of it"}, stream, how);
      } catch (const Error&) { share = 1; }  // no fit to so few rows: then a rule may follow all of their signs
      found[at(b)] += share * static_cast<double>(which.size()) / n;
    }
    if (quiet.cancelled()) throw Cancelled();  // a fit may have ended early
  });
  Complexity out;
  for (const double each : found) out.mean += each / options.draws;
  for (const double each : found)
    out.standard_error += (each - out.mean) * (each - out.mean) / (options.draws * std::max(1.0, options.draws - 1.0));
  out.standard_error = std::sqrt(out.standard_error);
  return out;
}

void add_rademacher(const TrainedModel& trained, const TableStream& data, const BoundOptions& options, RiskBounds& out,
                    double n, bool weighted) {
  std::string assumes =
      "independent training rows, and a fit that finds the rule of its class that suits random signs best; one that "
      "does not makes the bound too small";
  if (trained.model->class_count() > 2)
    assumes += ", and so do rules that tell a class from the rest in more ways than those of two classes";
  if (!are_training(out.honesty))
    return add(out, "rademacher", {}, assumes, "does not apply: it is about the rows that the model has learned from");
  if (weighted)
    return add(out, "rademacher", {}, assumes,
               "does not apply: random signs are drawn for single rows, and these have weights");
  RowsUse use;
  use.use = Use::judging;
  use.missing = options.judge.missing;
  const RowsOfData given = rows_for(trained.design, data, use, options.judge.memory);
  const Complexity found = complexity_of(trained, *given.rows, options);
  const double value =
      out.error + found.mean + 2 * found.standard_error + 3 * std::sqrt(std::log(2 / out.delta) / (2 * n));
  add(out, "rademacher", value, assumes,
      fmt::format("the error is at most {} (complexity {} by {})", shown(value), shown(found.mean),
                  count_of(options.draws, "draw")));
}

}  // namespace

double log_growth(double n, double dimension) {
  if (dimension >= n) return n * std::log(2.0);
  Vector terms(static_cast<Index>(dimension) + 1);
  for (Index i = 0; i < terms.size(); ++i) {
    const auto k = static_cast<double>(i);
    terms(i) = log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
  }
  return log_sum_exp(terms);
}

std::optional<double> vc_dimension(const AnyModel& model) {
  if (model->task() != Task::classification || model->class_count() != 2) return {};
  const auto plane = model->affine();
  if (!plane || plane->a.rows() > 2) return {};
  return static_cast<double>(plane->a.cols() + 1);
}

RiskBounds bound_risk(const TrainedModel& trained, const TableStream& data, const BoundOptions& options) {
  const AnyModel& model = trained.model;
  if (model->task() != Task::classification)
    throw Error(fmt::format("bounds are of shares of mistakes, and {} is for {}: its errors have no bound",
                            model->method().name(), name_of(model->task())));
  if (!(options.delta > 0 && options.delta < 1))
    throw Error(fmt::format("delta is {}, must be above 0 and below 1", options.delta));
  if (options.looks < 1) throw Error(fmt::format("the number of looks is {}, must be at least 1", options.looks));
  if (options.draws < 1) throw Error(fmt::format("the number of draws is {}, must be at least 1", options.draws));
  JudgeOptions how = options.judge;
  how.execution = options.judge.execution.part(0, 0.3);
  const AskedTable asked = ask(trained, data, how);
  RiskBounds out;
  out.model = out.method = model->method().name();
  out.data = data.schema().source();
  out.rows = asked.kept.count();
  out.looks = options.looks;
  out.delta = options.delta;
  out.honesty = asked.honesty;
  out.notes = asked.notes;
  const Confusion table = confusion(asked.answers.label, asked.answers.predicted,
                                    static_cast<Index>(asked.classes.size()), asked.answers.weight);
  out.error = 1 - table.accuracy();
  const double n = table.total();
  add_of_new_rows(out, n);
  add_vc(model, out, n);
  add_rademacher(trained, data, options, out, n, asked.answers.weight.size() > 0);
  return out;
}

Value to_value(const RiskBounds& found) {
  Value out = Value::object();
  out.set("model", found.model);
  out.set("method", found.method);
  out.set("data", found.data);
  out.set("rows", found.rows);
  out.set("delta", found.delta);
  out.set("looks", found.looks);
  out.set("error", found.error);
  out.set("equal_to_training_rows", to_value(found.honesty));
  Value::List bounds;
  for (const auto& each : found.bounds) {
    Value one = Value::object();
    one.set("bound", each.name);
    one.set("value", each.value ? Value(*each.value) : Value());
    one.set("says_nothing", each.says_nothing());
    one.set("assumes", each.assumes);
    one.set("message", each.says);
    bounds.push_back(std::move(one));
  }
  out.set("bounds", std::move(bounds));
  out.set("notes", found.notes);
  return out;
}

std::string text(const RiskBounds& found) {
  std::string out = fmt::format("{} on {}: {}, {} of them wrong\n{}\n\nWith probability {}:\n\n", found.model,
                                found.data, count_of(found.rows, "row"), shown(found.error),
                                wrap(found.honesty.sentence, 98), shown(1 - found.delta));
  for (const auto& each : found.bounds)
    out += wrap(fmt::format("{}: {}. Assumes {}.", each.name, each.says, each.assumes), 98, 2) + "\n";
  return out;
}

}  // namespace lemma
