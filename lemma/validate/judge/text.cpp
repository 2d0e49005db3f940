// lemma/validate/judge/text.cpp: a judgement as a document, and as text.
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/validate/judge.hpp>

namespace lemma {
namespace {

std::string interval(const std::optional<Bounds>& bounds) {
  if (!bounds) return "";
  return fmt::format("[{}, {}]", format_significant(bounds->lower, 3), format_significant(bounds->upper, 3));
}
std::string interval(const Measure& measure) { return interval(measure.bounds); }

std::string measures_text(const std::vector<Measure>& measures) {
  std::vector<std::string> names, values, bounds, meanings;
  for (const auto& measure : measures) {
    names.push_back(measure.name);
    values.push_back(format_significant(measure.value, 4));
    bounds.push_back(interval(measure));
    meanings.push_back(measure.meaning);
  }
  return TextTable()
      .words("measure", names)
      .right("value", values)
      .words("95 % interval", bounds)
      .words("what it is", meanings)
      .str();
}

std::vector<std::string> counts_text(const Vector& counts) {
  std::vector<std::string> cells;
  for (const double count : counts) cells.push_back(format_significant(count, 10));
  return cells;
}

std::string confusion_text(const Judgement& judgement) {
  TextTable table;
  table.words("true \\ predicted", judgement.classes);
  for (std::size_t k = 0; k < judgement.classes.size(); ++k)
    table.right(judgement.classes[k], counts_text(judgement.confusion->counts.col(static_cast<Index>(k))));
  std::vector<std::string> precision, recall, f1;
  const auto cell = [](double value, const std::optional<Bounds>& bounds) {
    return format_fixed(value, 3) + (bounds ? " " + interval(bounds) : "");
  };
  for (const auto& one : judgement.per_class) {
    precision.push_back(cell(one.precision, one.precision_bounds));
    recall.push_back(cell(one.recall, one.recall_bounds));
    f1.push_back(cell(one.f1, one.f1_bounds));
  }
  std::string out = "\n" + table.words("precision", precision).words("recall", recall).words("F1", f1).str();
  if (judgement.threshold)
    out += fmt::format("\n{} is predicted where its probability is at least {}.\n", judgement.classes.back(),
                       format_significant(*judgement.threshold, 10));
  return out;
}

std::string clusters_text(const ClassesInClusters& found) {
  TextTable table;
  table.words(found.truth + " \\ cluster", found.classes);
  for (Index k = 0; k < found.counts.cols(); ++k) table.right(std::to_string(k + 1), counts_text(found.counts.col(k)));
  return "\n" + table.str();
}

Value per_class_document(const std::vector<ClassScore>& scores) {
  Value out = Value::object();
  const auto add = [&](const char* name, double ClassScore::*part) {
    std::vector<double> values;
    for (const auto& score : scores) values.push_back(score.*part);
    out.set(name, values);
  };
  add("rows", &ClassScore::rows);
  add("precision", &ClassScore::precision);
  add("recall", &ClassScore::recall);
  add("f1", &ClassScore::f1);
  add("auc", &ClassScore::auc);
  Value bounds = Value::object();
  const auto add_bounds = [&](const char* name, std::optional<Bounds> ClassScore::*part) {
    Value::List all;
    bool any = false;
    for (const auto& score : scores) {
      const auto& each = score.*part;
      any = any || each;
      all.push_back(each ? Value(std::vector<double>{each->lower, each->upper}) : Value());
    }
    if (any) bounds.set(name, std::move(all));
  };
  add_bounds("precision", &ClassScore::precision_bounds);
  add_bounds("recall", &ClassScore::recall_bounds);
  add_bounds("f1", &ClassScore::f1_bounds);
  add_bounds("auc", &ClassScore::auc_bounds);
  out.set("bounds", std::move(bounds));
  return out;
}

}  // namespace

Value to_value(const Judgement& judgement) {
  Value out = Value::object();
  out.set("model", judgement.model);
  out.set("method", judgement.method);
  out.set("task", name_of(judgement.task));
  out.set("data", judgement.data);
  out.set("rows", judgement.rows);
  if (judgement.weight) out.set("total_weight", *judgement.weight);
  if (judgement.honesty) out.set("equal_to_training_rows", to_value(*judgement.honesty));
  out.set("measures", to_value(judgement.measures));
  Value intervals = Value::object();
  intervals.set("rates", name_of(judgement.rates));
  if (judgement.bootstrap > 0) intervals.set("bootstrap_samples", judgement.bootstrap);
  out.set("intervals", std::move(intervals));
  if (judgement.confusion) {
    out.set("classes", judgement.classes);
    out.set("confusion", judgement.confusion->counts);
    out.set("per_class", per_class_document(judgement.per_class));
    if (judgement.threshold) out.set("threshold", *judgement.threshold);
  }
  if (!judgement.space.empty()) out.set("space", judgement.space);
  if (const auto& found = judgement.clusters) {
    Value truth = Value::object();
    truth.set("name", found->truth);
    truth.set("classes", found->classes);
    truth.set("clusters", found->counts);
    out.set("truth", std::move(truth));
  }
  if (!judgement.leave_one_out.empty()) out.set("leave_one_out", to_value(judgement.leave_one_out));
  out.set("notes", judgement.notes);
  return out;
}

std::string heading(const Judgement& judgement) {
  std::string out = fmt::format("{} judged on {}: {}", judgement.model,
                                judgement.data.empty() ? "rows" : judgement.data, count_of(judgement.rows, "row"));
  if (judgement.weight) out += fmt::format(" of total weight {}", format_significant(*judgement.weight, 7));
  return out;
}

std::string tables(const Judgement& judgement) {
  std::string out = measures_text(judgement.measures);
  if (!judgement.space.empty())
    out += fmt::format("\nDistances are measured after {}, where the clusters were found.\n", judgement.space);
  if (judgement.confusion) out += confusion_text(judgement);
  if (judgement.clusters) out += clusters_text(*judgement.clusters);
  for (const auto& measure : judgement.leave_one_out)
    out += fmt::format("\nLeave-one-out, in closed form: {} {} {}, an honest estimate from these rows.\n", measure.name,
                       format_significant(measure.value, 4), interval(measure));
  return out;
}

std::string text(const Judgement& judgement) {
  std::string out = heading(judgement) + "\n";
  if (judgement.honesty) out += wrap(judgement.honesty->sentence, 98) + "\n";
  return out + "\n" + tables(judgement);
}

}  // namespace lemma
