// lemma/validate/cross/text.cpp: cross-validation as a document, as a table of predictions, and as text.
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/validate/cross.hpp>

namespace lemma {
namespace {

Value scores_document(const std::vector<Score>& scores) {
  Value out = Value::object();
  for (const auto& each : scores) {
    Value one = Value::object();
    one.set("mean", each.mean);
    one.set("sd", each.sd);
    one.set("bounds", each.bounds ? Value(std::vector<double>{each.bounds->lower, each.bounds->upper}) : Value());
    one.set("resamples", each.resamples);
    one.set("higher_is_better", each.higher_is_better);
    out.set(each.name, std::move(one));
  }
  return out;
}

std::string scores_text(const CrossResult& result) {
  std::vector<std::string> names, means, sds, bounds, meanings;
  const bool several = result.folds.size() > 1 && !(result.plan.kind == PlanKind::loo && result.plan.group.empty());
  bool any_bounds = false;
  for (const auto& each : result.scores) {
    names.push_back(each.name);
    means.push_back(format_significant(each.mean, 4));
    sds.push_back(format_significant(each.sd, 2));
    bounds.push_back(each.bounds ? fmt::format("[{}, {}]", format_significant(each.bounds->lower, 3),
                                               format_significant(each.bounds->upper, 3))
                                 : "");
    any_bounds = any_bounds || each.bounds;
    meanings.push_back(each.meaning);
  }
  TextTable table;
  table.words("measure", names).right(several ? "mean" : "value", means);
  if (several) table.right("sd", sds);
  if (any_bounds) table.words("95 % interval", bounds);
  return table.words("what it is", meanings).str();
}

std::string sizes_text(const CrossResult& result) {
  if (result.closed_form)
    return fmt::format("{}, each predicted from all others in closed form", count_of(result.rows, "row"));
  Index least = result.folds.front().train, most = least, fewest = static_cast<Index>(result.folds.front().rows.size()),
        largest = fewest;
  for (const auto& each : result.folds) {
    const auto size = static_cast<Index>(each.rows.size());
    least = std::min(least, each.train);
    most = std::max(most, each.train);
    fewest = std::min(fewest, size);
    largest = std::max(largest, size);
  }
  const auto range = [](Index a, Index b) {
    return a == b ? format_count(a) : fmt::format("{} to {}", format_count(a), format_count(b));
  };
  return fmt::format("{}, {}: learned from {}, judged on {}", count_of(result.rows, "row"),
                     count_of(static_cast<Index>(result.folds.size()), "fit"), range(least, most),
                     range(fewest, largest));
}

std::string interval_words(const CrossResult& result) {
  const bool own = result.folds.size() == 1 || (result.plan.kind == PlanKind::loo && result.plan.group.empty());
  if (own) return "";
  if (result.plan.kind == PlanKind::folds || result.plan.kind == PlanKind::holdout ||
      result.plan.kind == PlanKind::given)
    return "\nsd is over the fits; the interval is corrected for the rows that they share (Nadeau and Bengio 2003).\n";
  return "\nsd is over the fits, which share rows: it is no standard error, and there is no interval.\n";
}

std::string errors_text(const CrossResult& result) {
  if (result.errors.empty()) return "";
  std::vector<std::string> names;
  std::vector<double> apparent, oob, gamma, e632, plus;
  for (const auto& each : result.errors) {
    names.push_back(each.name);
    apparent.push_back(each.apparent);
    oob.push_back(each.out_of_bag);
    gamma.push_back(each.no_information);
    e632.push_back(each.e632);
    plus.push_back(each.e632_plus);
  }
  TextTable table;
  table.words("error", names).numbers("apparent", apparent).numbers("out of bag", oob).numbers("no information", gamma);
  table.numbers(".632", e632);
  if (result.plan.kind == PlanKind::e632_plus) table.numbers(".632+", plus);
  return "\n" + table.str();
}

}  // namespace

Table out_of_fold(const CrossResult& result) {
  std::vector<double> row, repeat, fold, truth, value;
  std::vector<std::string> classes, predicted;
  std::vector<std::vector<double>> p(result.classes.size());
  for (const auto& each : result.folds) {
    const Answers& a = each.answers;
    for (std::size_t i = 0; i < each.rows.size(); ++i) {
      const auto at = static_cast<Index>(i);
      row.push_back(static_cast<double>(result.kept.row(each.rows[i]) + 1));
      repeat.push_back(each.repeat + 1);
      fold.push_back(result.closed_form ? row.back() : each.fold + 1);
      if (a.y.size() > 0) truth.push_back(a.y(at));
      if (a.value.size() > 0) value.push_back(a.value(at));
      if (!a.label.empty()) classes.push_back(result.classes[static_cast<std::size_t>(a.label[i])]);
      if (!a.predicted.empty()) predicted.push_back(result.classes[static_cast<std::size_t>(a.predicted[i])]);
      for (std::size_t k = 0; a.probabilities.size() > 0 && k < p.size(); ++k)
        p[k].push_back(a.probabilities(at, static_cast<Index>(k)));
    }
  }
  std::vector<Column> columns{numeric("row", row), numeric("repeat", repeat), numeric("fold", fold)};
  if (!truth.empty()) columns.push_back(numeric("truth", truth));
  if (!classes.empty()) columns.push_back(categorical("truth", classes));
  if (!value.empty()) columns.push_back(numeric("prediction", value));
  if (!predicted.empty()) columns.push_back(categorical("class", predicted));
  for (std::size_t k = 0; k < p.size(); ++k)
    if (!p[k].empty()) columns.push_back(numeric("p_" + result.classes[k], p[k]));
  return Table(std::move(columns), "out-of-fold predictions");
}

Value to_value(const CrossResult& result) {
  Value out = Value::object();
  out.set("method", result.method);
  out.set("task", name_of(result.task));
  out.set("formula", result.formula);
  out.set("data", result.data);
  out.set("rows", result.rows);
  if (!result.classes.empty()) out.set("classes", result.classes);
  out.set("plan", to_value(result.plan));
  out.set("seed", static_cast<std::int64_t>(result.seed));
  out.set("planned", result.planned);
  out.set("done", result.closed_form ? result.planned : static_cast<Index>(result.folds.size()));
  out.set("cancelled", result.cancelled);
  out.set("closed_form", result.closed_form);
  out.set("scores", scores_document(result.scores));
  if (!result.errors.empty()) {
    Value errors = Value::object();
    for (const auto& each : result.errors) {
      Value one = Value::object();
      one.set("apparent", each.apparent);
      one.set("out_of_bag", each.out_of_bag);
      one.set("no_information", each.no_information);
      one.set("632", each.e632);
      one.set("632+", each.e632_plus);
      errors.set(each.name, std::move(one));
    }
    out.set("errors", std::move(errors));
  }
  Value::List folds;
  for (const auto& each : result.folds) {
    if (each.measures.empty()) continue;
    Value one = Value::object();
    one.set("repeat", each.repeat + 1);
    one.set("fold", each.fold + 1);
    one.set("train", each.train);
    one.set("rows", each.rows.size());
    Value measures = Value::object();
    for (const auto& m : each.measures) measures.set(m.name, m.value);
    one.set("measures", std::move(measures));
    folds.push_back(std::move(one));
  }
  out.set("folds", std::move(folds));
  Value::List leaks;
  for (const auto& each : result.leaks) {
    Value one = Value::object();
    one.set("kind", name_of(each.kind));
    one.set("message", each.sentence);
    leaks.push_back(std::move(one));
  }
  out.set("leaks", std::move(leaks));
  out.set("notes", result.notes);
  return out;
}

std::string text(const CrossResult& result) {
  std::string out = fmt::format("{} on {}: {}\n{}\n{}", result.method, result.data, result.formula, result.plan.text(),
                                sizes_text(result));
  if (result.cancelled) out += fmt::format("\ncancelled: {} of {} fits are done", result.folds.size(), result.planned);
  return out + "\n\n" + scores_text(result) + interval_words(result) + errors_text(result);
}

}  // namespace lemma
