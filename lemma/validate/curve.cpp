// lemma/validate/curve.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/threshold.hpp>
#include <lemma/validate/curve.hpp>
#include <lemma/validate/judge/parts.hpp>

namespace lemma {
namespace {

std::vector<double> list(const Vector& v) { return {v.begin(), v.end()}; }

/// The class that the curve is about.
int positive_code(const CurveOptions& options, const std::vector<std::string>& classes, const std::string& model) {
  if (options.positive.empty()) {
    if (classes.size() == 2) return 1;
    throw Error(fmt::format("{} tells {} classes apart; --positive says which one is held against the rest: {}", model,
                            classes.size(), join_words(classes, 20)));
  }
  const auto found = std::find(classes.begin(), classes.end(), options.positive);
  if (found == classes.end())
    throw Error(fmt::format("{} has no class '{}'{}; it has {}", model, options.positive,
                            did_you_mean(options.positive, classes), join_words(classes, 20)));
  return static_cast<int>(found - classes.begin());
}

/// What one model says, ready for a curve.
struct Scored {
  Labels truth;
  Vector score, weight;
  int positive = 1;
  RowSelection kept;
};

/// The probability of a class, or of two classes without probabilities the value that decides between them.
Vector score_from(const TrainedModel& trained, const AskedTable& asked, const TableStream& data, int positive,
                  const std::string& name, CurveKind kind) {
  const Matrix& p = asked.answers.probabilities;
  if (p.size() > 0) return p.col(positive);
  const std::string hint = way_to_probabilities(trained.model->method());
  if (kind == CurveKind::calibration)
    throw Error(fmt::format("{} gives no probabilities that could be calibrated; {}", name, hint));
  if (asked.answers.score.size() > 0) return asked.answers.score * (positive == 1 ? 1.0 : -1.0);
  if (!judging::gives(trained.model, kDecisionPart))
    throw Error(fmt::format("{} gives neither probabilities nor a decision value that rows could be ordered by; {}",
                            name, hint));
  PredictOptions options;
  options.what = {std::string(kDecisionPart.name)};
  const Table table = (data.table() ? *data.table() : read_all(data)).select(asked.kept.rows(0, asked.kept.count()));
  const Matrix decision = trained.predict(table, options).decision();
  const auto classes = static_cast<Index>(asked.classes.size());
  if (decision.cols() == 1 && classes == 2) return decision.col(0) * (positive == 1 ? 1.0 : -1.0);
  if (decision.cols() == classes) {
    if (classes == 2) return decision.col(positive) - decision.col(1 - positive);
    return decision.col(positive);
  }
  throw Error(fmt::format("{} has no value of class {} alone that rows could be ordered by{}", name,
                          asked.classes[static_cast<std::size_t>(positive)], hint));
}

/// Of the rows with the largest scores, so large a share of all: positives among them, against as many drawn at random. Between two
/// scores in proportion.
Measure lift_at(double share, const LiftCurve& c) {
  const auto after = std::lower_bound(c.share.begin(), c.share.end(), share) - c.share.begin();
  const double from = c.share(after - 1), to = c.share(after), part = (share - from) / (to - from);
  const double gain = c.gain(after - 1) + part * (c.gain(after) - c.gain(after - 1));
  return {fmt::format("lift_{}", share),
          gain / share,
          fmt::format("positives among the {} % of the rows with the largest scores, against as many drawn at random",
                      100 * share),
          true,
          {}};
}

/// What is told beside the curve.
std::vector<Measure> measures_beside(CurveKind kind, const Scored& s, const CurveOptions& options) {
  switch (kind) {
    case CurveKind::roc: {
      const Auc area = auc(s.truth, s.score, s.positive, s.weight);
      return {{"auc", area.value, "a positive has the higher score than a negative with this probability", true,
               area.bounds}};
    }
    case CurveKind::pr:
      return {{"average_precision",
               average_precision(s.truth, s.score, s.positive, s.weight),
               "area under precision over recall",
               true,
               {}}};
    case CurveKind::lift: {
      const LiftCurve c = lift_curve(s.truth, s.score, s.positive, s.weight);
      return {lift_at(0.1, c), lift_at(0.2, c)};
    }
    default: return measures(calibration(s.truth, s.score, s.positive, options.bins, options.by, s.weight));
  }
}

Table points_of(CurveKind kind, const Scored& s, const CurveOptions& options) {
  const auto number = [](const char* name, const Vector& v) { return numeric(name, list(v)); };
  switch (kind) {
    case CurveKind::roc: {
      const RocCurve c = roc_curve(s.truth, s.score, s.positive, s.weight);
      Vector threshold = c.threshold;
      threshold(0) = std::nan("");  // no row has so large a score
      return Table({number("threshold", threshold), number("false_positive_rate", c.false_positive_rate),
                    number("true_positive_rate", c.true_positive_rate)});
    }
    case CurveKind::pr: {
      const PrecisionRecallCurve c = precision_recall_curve(s.truth, s.score, s.positive, s.weight);
      return Table({number("threshold", c.threshold), number("recall", c.recall), number("precision", c.precision)});
    }
    case CurveKind::lift: {
      LiftCurve c = lift_curve(s.truth, s.score, s.positive, s.weight);
      c.threshold(0) = std::nan("");
      return Table(
          {number("threshold", c.threshold), number("share", c.share), number("gain", c.gain), number("lift", c.lift)});
    }
    case CurveKind::calibration: break;
  }
  const Calibration c = calibration(s.truth, s.score, s.positive, options.bins, options.by, s.weight);
  std::vector<double> lower, upper, rows, predicted, observed, low, high;
  for (const auto& bin : c.bins) {
    lower.push_back(bin.lower);
    upper.push_back(bin.upper);
    rows.push_back(bin.weight);
    predicted.push_back(bin.predicted);
    observed.push_back(bin.observed);
    low.push_back(bin.bounds ? bin.bounds->lower : std::nan(""));
    high.push_back(bin.bounds ? bin.bounds->upper : std::nan(""));
  }
  return Table({numeric("from", lower), numeric("to", upper), numeric("rows", rows), numeric("predicted", predicted),
                numeric("observed", observed), numeric("observed_lower", low), numeric("observed_upper", high)});
}

/// Holm: the smallest p times the number of pairs, the next times one less, never falling.
void adjust(std::vector<AucPair>& pairs) {
  std::vector<AucPair*> order;
  for (auto& pair : pairs) order.push_back(&pair);
  std::stable_sort(order.begin(), order.end(),
                   [](const AucPair* a, const AucPair* b) { return a->found.p < b->found.p; });
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::min(1.0, std::max(least, order[i]->found.p * static_cast<double>(order.size() - i)));
    order[i]->adjusted = least;
  }
}

bool same_rows(const Scored& a, const Scored& b) {
  return a.kept.count() == b.kept.count() && a.kept.rows(0, a.kept.count()) == b.kept.rows(0, b.kept.count()) &&
         a.weight == b.weight;
}

/// Whether each row is of the positive class by the one model as by the other, whose classes may have other codes.
bool same_truth(const Scored& a, const Scored& b) {
  for (std::size_t i = 0; i < a.truth.size(); ++i)
    if ((a.truth[i] == a.positive) != (b.truth[i] == b.positive)) return false;
  return true;
}

void compare_pairs(const std::vector<Scored>& scored, CurveResult& out) {
  for (std::size_t b = 1; b < scored.size(); ++b) {
    if (!same_rows(scored[0], scored[b])) {
      out.notes.emplace_back("the models were not asked about the same rows, so that their areas are not compared");
      return;
    }
    if (!same_truth(scored[0], scored[b])) {
      out.notes.emplace_back(
          "the models do not mean the same by the positive class, so that their areas are not compared");
      return;
    }
  }
  double positives = 0, rest = 0;
  for (Index i = 0; i < scored[0].score.size(); ++i)
    (scored[0].truth[at(i)] == scored[0].positive ? positives : rest) +=
        scored[0].weight.size() > 0 ? scored[0].weight(i) : 1;
  if (!(positives > 1 && rest > 1)) return;
  for (std::size_t a = 0; a < scored.size(); ++a)
    for (std::size_t b = a + 1; b < scored.size(); ++b)
      out.pairs.push_back(
          {a, b, compare_auc(scored[0].truth, scored[a].score, scored[b].score, scored[0].positive, scored[0].weight)});
  adjust(out.pairs);
}

}  // namespace

CurveResult curve(CurveKind kind, std::span<const NamedModel> models, const TableStream& data,
                  const CurveOptions& options) {
  require(!models.empty(), "a curve needs a model");
  CurveResult out;
  out.kind = kind;
  out.data = data.schema().source();
  std::vector<Scored> scored;
  for (const auto& [name, trained] : models) {
    if (trained->model->task() != Task::classification)
      throw Error(fmt::format("{} is for {}; curves are of classes", name, name_of(trained->model->task())));
    AskedTable asked = ask(*trained, data, options.judge);
    Scored one;
    one.positive = positive_code(options, asked.classes, name);
    one.score = score_from(*trained, asked, data, one.positive, name, kind);
    one.truth = std::move(asked.answers.label);
    one.weight = std::move(asked.answers.weight);
    one.kept = asked.kept;
    ModelCurve found;
    found.model = name;
    found.method = trained->model->method().name();
    found.rows = asked.kept.count();
    found.honesty = asked.honesty;
    found.notes = asked.notes;
    found.points = points_of(kind, one, options);
    found.measures = measures_beside(kind, one, options);
    judging::draw_bounds(found.measures, static_cast<Index>(one.truth.size()), one.weight, 2, options.judge,
                         options.judge.execution.part(1, 1), [&](const Vector& times) {
                           Scored drawn = one;
                           drawn.weight = times;
                           return measures_beside(kind, drawn, options);
                         });
    const std::string positive = asked.classes[static_cast<std::size_t>(one.positive)];
    if (out.positive.empty()) out.positive = positive;
    else if (out.positive != positive)
      throw Error(
          fmt::format("the positive class of {} is {}, and that of {} is {}; --positive says which one is meant",
                      out.curves[0].model, out.positive, name, positive));
    out.curves.push_back(std::move(found));
    scored.push_back(std::move(one));
  }
  if (kind == CurveKind::roc && scored.size() > 1) compare_pairs(scored, out);
  return out;
}

Table table_of(const CurveResult& result) {
  if (result.curves.size() == 1) return result.curves[0].points;
  std::vector<Table> parts;
  for (const auto& each : result.curves) {
    std::vector<Column> columns{
        text("model", std::vector<std::string>(static_cast<std::size_t>(each.points.rows()), each.model))};
    for (const Column& column : each.points.all()) columns.push_back(column);
    parts.emplace_back(std::move(columns));
  }
  return stack(parts);
}

Value to_value(const CurveResult& result) {
  Value out = Value::object();
  out.set("curve", name_of(result.kind));
  out.set("data", result.data);
  out.set("positive", result.positive);
  Value::List models;
  for (const auto& each : result.curves) {
    Value one = Value::object();
    one.set("model", each.model);
    one.set("method", each.method);
    one.set("rows", each.rows);
    one.set("equal_to_training_rows", to_value(each.honesty));
    one.set("measures", to_value(each.measures));
    Value points = Value::object();
    for (const Column& column : each.points.all()) points.set(column.name, column.numbers().values);
    one.set("points", std::move(points));
    one.set("notes", each.notes);
    models.push_back(std::move(one));
  }
  out.set("models", std::move(models));
  Value::List pairs;
  for (const auto& pair : result.pairs) {
    Value one = Value::object();
    one.set("first", result.curves[pair.first].model);
    one.set("second", result.curves[pair.second].model);
    one.set("difference", pair.found.difference);
    one.set("standard_error", pair.found.standard_error);
    one.set("bounds", std::vector<double>{pair.found.bounds->lower, pair.found.bounds->upper});
    one.set("z", pair.found.z);
    one.set("p", pair.found.p);
    one.set("p_holm", pair.adjusted);
    pairs.push_back(std::move(one));
  }
  out.set("pairs", std::move(pairs));
  out.set("notes", result.notes);
  return out;
}

std::string text(const CurveResult& result) {
  const std::string what = result.kind == CurveKind::roc    ? "ROC curve"
                           : result.kind == CurveKind::pr   ? "precision-recall curve"
                           : result.kind == CurveKind::lift ? "lift curve"
                                                            : "calibration curve";
  std::string out = fmt::format("{} of {} against the rest on {}\n", what, result.positive, result.data);
  std::vector<std::string> models, names, values, bounds, meanings;
  for (const auto& each : result.curves)
    for (const auto& measure : each.measures) {
      models.push_back(each.model);
      names.push_back(measure.name);
      values.push_back(format_significant(measure.value, 4));
      bounds.push_back(measure.bounds ? fmt::format("[{}, {}]", format_significant(measure.bounds->lower, 3),
                                                    format_significant(measure.bounds->upper, 3))
                                      : "");
      meanings.push_back(measure.meaning);
    }
  for (const auto& each : result.curves)
    out += wrap((result.curves.size() > 1 ? each.model + ": " : "") + each.honesty.sentence, 98) + "\n";
  TextTable table;
  if (result.curves.size() > 1) table.words("model", models);
  table.words("measure", names).right("value", values);
  if (std::any_of(bounds.begin(), bounds.end(), [](const auto& each) { return !each.empty(); }))
    table.words("95 % interval", bounds);
  out += "\n" + table.words("what it is", meanings).str();
  if (result.kind == CurveKind::calibration)
    for (const auto& each : result.curves) {
      out += "\n" + (result.curves.size() > 1 ? each.model + "\n" : std::string());
      TextTable bins;
      for (const Column& column : each.points.all()) bins.numbers(column.name, column.numbers().values, 3);
      out += bins.str();
    }
  if (!result.pairs.empty()) {
    std::vector<std::string> first, second, difference, between, p;
    for (const auto& pair : result.pairs) {
      first.push_back(result.curves[pair.first].model);
      second.push_back(result.curves[pair.second].model);
      difference.push_back(format_significant(pair.found.difference, 3));
      between.push_back(fmt::format("[{}, {}]", format_significant(pair.found.bounds->lower, 3),
                                    format_significant(pair.found.bounds->upper, 3)));
      p.push_back(format_p(pair.adjusted));
    }
    out += "\nDifferences of the areas, on the same rows (DeLong, DeLong and Clarke-Pearson 1988" +
           std::string(result.pairs.size() > 1 ? "; p after Holm)\n" : ")\n");
    out += TextTable()
               .words("model", first)
               .words("against", second)
               .right("difference", difference)
               .words("95 % interval", between)
               .right("p", p)
               .str();
  }
  return out;
}

}  // namespace lemma
