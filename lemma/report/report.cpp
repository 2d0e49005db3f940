// lemma/report/report.cpp: a report on data: set apart, compare, choose, judge.
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/expression.hpp>
#include <lemma/data/split.hpp>
#include <lemma/report/sections.hpp>
#include <lemma/validate/strata.hpp>
#include <numeric>

namespace lemma::reporting {
namespace {

/// A name as a formula writes it.
std::string written(const std::string& name) {
  const bool plain = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                     std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return (std::isalnum(c) && c < 128) || c == '_' || c == '.'; });
  return plain ? name : "`" + name + "`";
}

/// What is looked at, and how it is called.
struct Question {
  Table table;               // the rows that have a response
  std::string formula_text;  // without columns that no method of a report takes
  Formula formula;
  std::string response;  // "sp:sex" where the response is columns as they stand; else empty
  std::vector<Finding> found = {};
  std::optional<Missing> missing = {};
};

/// Texts, and names that are different in nearly every row, say nothing of the next row: `.` goes without them.
std::vector<std::string> names_and_texts(const Table& table, const std::vector<std::string>& response) {
  std::vector<std::string> out;
  for (const Column& column : table.all()) {
    if (std::find(response.begin(), response.end(), column.name) != response.end()) continue;
    const bool names = column.type() == ColumnType::categorical &&
                       2 * static_cast<Index>(column.categories().levels.size()) > table.rows();
    if (names || column.type() == ColumnType::text) out.push_back(column.name);
  }
  return out;
}

Question question_of(const Table& table, const std::string& text, const ReportOptions& options) {
  Question out{table, text, formula(text), ""};
  std::vector<std::string> response;
  bool as_they_stand = !out.formula.response.empty();
  for (const Expression& each : out.formula.response) {
    as_they_stand = as_they_stand && each.kind == Expression::Kind::name && each.text.find(':') == std::string::npos;
    for (const auto& name : columns_of(each)) table.column(name), response.push_back(name);
  }
  if (as_they_stand)
    for (const auto& name : response) out.response += (out.response.empty() ? "" : ":") + name;
  if (out.formula.has_dot()) {
    const auto left = names_and_texts(table, response);
    for (const auto& name : left) out.formula_text += " - " + written(name);
    if (!left.empty()) {
      out.formula = formula(out.formula_text);
      out.found.push_back({false, "names", fmt::format("Left out: {}", join_words(left, 6)),
                           "Texts, and names that are different in nearly every row, tell nothing of the next row."});
    }
  }
  std::vector<Index> rows;
  for (Index i = 0; i < table.rows(); ++i)
    if (std::none_of(response.begin(), response.end(),
                     [&](const std::string& name) { return table.column(name).is_missing(i); }))
      rows.push_back(i);
  if (static_cast<Index>(rows.size()) < table.rows()) {
    out.found.push_back(
        {true, "no_response",
         fmt::format("{} without a response", count_of(table.rows() - static_cast<Index>(rows.size()), "row")),
         "Nothing can be learned from them here; they take no part."});
    out.table = Table(table.select(rows).all(), table.source());
  }
  require(out.table.rows() > 0, "there are no rows with a response");
  out.missing = options.missing;
  if (!out.missing)
    for (const Column& column : out.table.all())
      if (column.missing() > 0) out.missing = Missing::median;
  return out;
}

DesignOptions design_options(const Question& question) {
  DesignOptions out;
  if (question.missing) out.missing = *question.missing;
  return out;
}

Design design_of(const Question& question, const Execution& execution) {
  DesignOptions how = design_options(question);
  how.classify_categories = true;
  how.execution = execution;
  return Design(question.formula, question.table, how);
}

/// Whether a plane leaves two classes on either side: then the likelihood has no maximum.
void look_for_separation(const Question& question, const Table& rows, const Shape& shape, const ReportOptions& options,
                         std::vector<Finding>& out) {
  constexpr double kMost = 2e8;
  const double work = static_cast<double>(shape.rows) * static_cast<double>(shape.features * shape.features);
  if (shape.classes != 2 || work > kMost || shape.rows <= shape.features) return;
  try {
    const AnySpec glm = parse_method("glm");
    TrainOptions how;
    how.design = design_options(question);
    how.fit = {{}, options.seed, options.execution.threads, nullptr};
    const TrainedModel fitted = train(glm.shared(), glm.params(), question.formula, MemoryTableStream(rows), how);
    for (const auto& warning : fitted.model->warnings())
      if (warning.find("separat") != std::string::npos)
        out.push_back(
            {true, "separation", "The classes can be separated",
             fmt::format("{}. Coefficients without a penalty then grow without end, and their standard errors mean "
                         "nothing; predictions are not harmed. A penalty (`logistic(lambda=1)`) keeps them.",
                         warning)});
  } catch (const Error&) {}  // then there is nothing to say about it
}

struct Compared {
  std::vector<CrossResult> results;
  Candidates used;
  bool cancelled = false;
};

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

Candidates asked_for(const ReportOptions& options, const Shape& shape) {
  if (options.methods.empty()) return candidates_for(shape);
  Candidates out;
  for (const auto& method : options.methods)
    out.methods.push_back({method, std::string(parse_method(method).method().about().summary)});
  return out;
}

/// Each candidate on the same folds. One that cannot be fitted is left out, with its reason.
Compared compare_candidates(const Candidates& asked, const Question& question, const Table& rows, const Plan& plan,
                            const ReportOptions& options, const Execution& execution) {
  Compared out;
  out.used.left_out = asked.left_out;
  const MemoryTableStream stream(rows);
  std::optional<Plan> settled;
  std::optional<PlanRows> plan_rows;
  for (std::size_t i = 0; i < asked.methods.size() && !out.cancelled; ++i) {
    const Candidate& candidate = asked.methods[i];
    const double step = 1.0 / static_cast<double>(asked.methods.size()), begin = static_cast<double>(i) * step;
    try {
      CrossOptions how;
      how.experiment.design = design_options(question);
      how.experiment.leave_out_unseen = true;
      how.seed = options.seed;
      how.look_for_leaks = false;
      how.execution = execution.part(begin, begin + step, "comparing " + candidate.method);
      const Experiment experiment(parse_method(candidate.method), question.formula, stream, how.experiment);
      if (!settled) settled = plan, plan_rows = experiment.rows_of(*settled);
      require(experiment.rows() == plan_rows->count, "it takes other rows than those before it");
      CrossResult found = cross(experiment, Resampling(*settled, *plan_rows, options.seed), how);
      if (found.cancelled) out.cancelled = true;
      found.method = candidate.method;  // as it is typed
      if (!found.cancelled) out.results.push_back(std::move(found)), out.used.methods.push_back(candidate);
    } catch (const Cancelled&) { out.cancelled = true; } catch (const Error& error) {
      out.used.left_out.push_back({candidate.method, first_line(error.what())});
    }
  }
  return out;
}

std::vector<std::string> with_flags(std::vector<std::string> words, const std::vector<std::string>& flags) {
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

/// The commands that do again what the page tells of, and go on from there.
Section use_section(const Question& question, const std::string& method, bool set_apart, const ReportOptions& options) {
  Section out{"use", "How to use it"};
  std::vector<std::string> seed, missing, every = options.reading;
  if (options.seed != 1) seed = {"--seed", std::to_string(options.seed)};
  if (question.missing) missing = {"--missing", std::string(name_of(*question.missing))};
  every.insert(every.end(), options.choosing.begin(), options.choosing.end());
  std::string commands;
  const auto add = [&](const std::vector<std::string>& words) { commands += command_line(words) + "\n"; };
  if (set_apart) {
    std::vector<std::string> split{"lemma", "split", options.data, "--test", "0.2"};
    if (!question.response.empty()) split = with_flags(split, {"--by", question.response});
    add(with_flags(with_flags(with_flags(split, {"-o", "train.csv", "test.csv"}), seed), every));
    std::vector<std::string> fit{"lemma", "fit", method, "train.csv", question.formula_text, "-o", "model.lemma"};
    add(with_flags(with_flags(with_flags(fit, missing), seed), options.reading));
    add(with_flags({"lemma", "evaluate", "model.lemma", "test.csv"}, options.reading));
    add(with_flags({"lemma", "verify", "model.lemma", "train.csv"}, options.reading));
    out.blocks.emplace_back(Paragraph{"The model of this page, and its score:"});
    out.blocks.emplace_back(Code{"Commands that fit and judge the model of this page", commands});
    commands.clear();
  }
  std::vector<std::string> whole{"lemma", "fit", method, options.data, question.formula_text, "-o", "final.lemma"};
  add(with_flags(with_flags(with_flags(whole, missing), seed), every));
  add({"lemma", "predict", "final.lemma", "new.csv", "-o", "predictions.csv"});
  out.blocks.emplace_back(
      Paragraph{set_apart ? "For new rows, learn from all there are; the score above is then slightly too careful:"
                          : "For new rows:"});
  out.blocks.emplace_back(Code{"Commands that fit the method to all rows and predict new ones", commands});
  return out;
}

std::string rows_and_columns(const Question& question, const Design& design) {
  std::string out = fmt::format("{}, {}", count_of(question.table.rows(), "row"),
                                count_of(static_cast<Index>(design.columns().size()), "column"));
  const auto& classes = design.classes();
  if (!classes.empty())
    out += fmt::format("; {} has {}: {}", design.target(), count_of(static_cast<Index>(classes.size()), "class"),
                       join_words(classes, 6));
  else if (design.has_response()) out += fmt::format("; {} is a number", design.target());
  return out + ".";
}

/// The principal components of the columns, standardised.
void add_components(const Question& question, const ReportOptions& options, Document& document) {
  try {
    const AnySpec pca = parse_method("pca(scale=true)");
    TrainOptions how;
    how.design = design_options(question);
    how.fit = {{}, options.seed, options.execution.threads, options.execution.progress};
    const TrainedModel fitted =
        train(pca.shared(), pca.params(), question.formula, MemoryTableStream(question.table), how);
    Section section{"components", "Principal components"};
    section.blocks.emplace_back(
        Paragraph{"Directions in which the standardised columns vary most: where few of them "
                  "explain much, the table has fewer dimensions than columns."});
    add_certificate(fitted.model->certificate(), "The certificate of pca", section);
    add_pictures(fitted, question.table, options.execution, section);
    document.sections.push_back(std::move(section));
  } catch (const Error&) {}  // one column, or none that varies
}

/// What the page is about, where a reader begins.
Section summary_section(const Report& report, const std::optional<MethodComparison>& compared,
                        const std::optional<Judgement>& judged, bool set_apart, const std::vector<Finding>& found,
                        const AloneScores& scores) {
  Section out{"short", "In short"};
  if (report.cancelled)
    out.blocks.emplace_back(Notice{Notice::Kind::warning, "Cancelled", "This page has what was found until then."});
  if (compared && !report.best.empty()) {
    const Score& score = *compared->methods[compared->best].find(compared->metric);
    const Measure* measure = judged ? find_measure(judged->measures, compared->metric) : nullptr;
    std::string text =
        fmt::format("Over the folds its {} is {}.", compared->metric, score_text(score.mean, score.bounds));
    if (set_apart && measure)
      text += fmt::format(" On {} that took no part in any choice it is {}.", count_of(judged->rows, "row"),
                          score_text(measure->value, measure->bounds));
    else if (!set_apart && compared->methods[0].task != Task::clustering)
      text += fmt::format(
          " So few rows leave none to judge the choice by: the best of {} looks a little better than it is.",
          compared->methods.size());
    if (compared->metric == "accuracy" && scores.baseline > 0)
      text += fmt::format(" Saying the most frequent class of every row scores {}.", format_fixed(scores.baseline, 3));
    out.blocks.emplace_back(
        Notice{Notice::Kind::good,
               fmt::format("The best of {}: `{}`", count_of(static_cast<Index>(compared->methods.size()), "method"),
                           report.best),
               text});
  }
  std::vector<std::string> serious;
  for (const Finding& each : found)
    if (each.serious) serious.push_back(each.title);
  if (!serious.empty()) {
    std::string all;
    for (const auto& each : serious) all += (all.empty() ? "" : "; ") + each;
    out.blocks.emplace_back(Notice{Notice::Kind::warning, "Look first at", all + "."});
  }
  return out;
}

}  // namespace

Report report_on(const Table& table, const std::string& text, const ReportOptions& options) {
  const Hearing hearing(options.execution);
  for (const auto& method : options.methods) parse_method(method);  // a mistake is told before any work
  Report out;
  Question question = question_of(table, text, options);
  options.execution.report(0, "looking at the data");
  const Design design = design_of(question, options.execution);
  const DesignData data = design.train(question.table, options.execution);
  Shape shape{!design.has_response()     ? Task::clustering
              : design.classes().empty() ? Task::regression
                                         : Task::classification,
              data.x.rows(), data.x.cols(), static_cast<Index>(design.classes().size())};
  const bool supervised = shape.task != Task::clustering;
  out.document.title = fmt::format("{}: {}", table.source().empty() ? options.data : table.source(), text);
  out.document.lead = rows_and_columns(question, design);

  AloneScores scores;
  std::vector<Finding> found;
  std::optional<MethodComparison> compared;
  std::optional<Judgement> judged;
  std::vector<Section> sections;
  const bool set_apart = supervised && question.table.rows() >= kFewestToSplit;
  std::string hash;
  try {
    hash = hash_text_of(question.table);
    if (supervised) scores = alone(question.table, design, data, options.seed);
    found = findings(question.table, design, data, scores);
    found.insert(found.end(), question.found.begin(), question.found.end());
    Split parts;
    parts.train.resize(static_cast<std::size_t>(question.table.rows()));
    std::iota(parts.train.begin(), parts.train.end(), Index{0});
    if (set_apart)
      parts =
          split(question.table.rows(), {kTestShare, {}}, strata_by(question.table, question.response), options.seed);
    const Table training = set_apart ? Table(question.table.select(parts.train).all(), table.source()) : question.table;
    const Table test = set_apart ? Table(question.table.select(parts.test).all(), table.source()) : question.table;
    look_for_separation(question, training, shape, options, found);
    std::stable_sort(found.begin(), found.end(),
                     [](const Finding& a, const Finding& b) { return a.serious > b.serious; });
    sections.push_back(data_section(question.table, design, scores));
    sections.push_back(findings_section(found));
    if (!supervised) {
      add_components(question, options, out.document);
      std::move(out.document.sections.begin(), out.document.sections.end(), std::back_inserter(sections));
    }

    const Index most = supervised ? kMostCompared : kMostClustered;
    Table taking_part = training;
    if (training.rows() > most)
      taking_part =
          Table(training.select(split(training.rows(), {{}, most}, {}, options.seed).test).all(), table.source());
    shape.rows = taking_part.rows();
    const Compared all = compare_candidates(asked_for(options, shape), question, taking_part, plan_for(shape), options,
                                            options.execution.part(0.05, 0.85));
    out.cancelled = all.cancelled;
    if (!all.results.empty()) {
      compared = comparison_of(all.results, options.metric);
      if (taking_part.rows() < training.rows())
        compared->notes.push_back(fmt::format("{} of {}, drawn at random, take part in the comparison.",
                                              format_count(taking_part.rows()), count_of(training.rows(), "row")));
      out.best = all.used.methods[compared->best].method;
      sections.push_back(comparison_section(*compared, all.used));
    } else if (!all.cancelled) {
      Section none{"methods", "Methods compared"};
      none.blocks.emplace_back(Notice{Notice::Kind::warning, "No method could be fitted", ""});
      for (const LeftOut& each : all.used.left_out)
        none.blocks.emplace_back(Paragraph{fmt::format("`{}` was left out: {}.", each.method, each.reason)});
      sections.push_back(std::move(none));
    }
    if (compared && !out.cancelled) {
      options.execution.report(0.86, "fitting " + out.best);
      const AnySpec spec = parse_method(out.best);
      TrainOptions how;
      how.design = design_options(question);
      how.fit = {{}, options.seed, options.execution.threads, options.execution.progress};
      const TrainedModel best = train(spec.shared(), spec.params(), question.formula, MemoryTableStream(training), how);
      Section section{"best", "The best one: " + out.best};
      try {
        JudgeOptions judging;
        judging.seed = options.seed;
        judging.execution = options.execution.part(0.88, 0.92);
        judged = judge(best, test, judging);
        section.blocks.emplace_back(
            Paragraph{set_apart         ? fmt::format("Fitted to {}, judged by {} set apart at the beginning.",
                                                      count_of(training.rows(), "row"), count_of(test.rows(), "row"))
                      : judged->honesty ? judged->honesty->sentence
                                        : "Fitted to all rows."});
        add_judgement(*judged, section);
      } catch (const Error& error) {
        section.blocks.emplace_back(Notice{Notice::Kind::warning, "It cannot be judged", error.what()});
      }
      add_certificate(best.model->certificate(), "The certificate", section);
      add_pictures(best, test, options.execution.part(0.92, 1), section);
      add_summary(best, section);
      sections.push_back(std::move(section));
    }
  } catch (const Cancelled&) { out.cancelled = true; }
  out.document.sections = {summary_section(out, compared, judged, set_apart, found, scores)};
  std::move(sections.begin(), sections.end(), std::back_inserter(out.document.sections));
  if (!out.best.empty()) out.document.sections.push_back(use_section(question, out.best, set_apart, options));
  out.document.sections.push_back(repeat_section(options, {{"data", table.source()},
                                                           {"rows", format_count(question.table.rows())},
                                                           {"hash of the data", hash.empty() ? "not taken" : hash},
                                                           {"formula", question.formula_text}}));
  if (out.document.sections[0].blocks.empty()) out.document.sections.erase(out.document.sections.begin());
  return out;
}

}  // namespace lemma::reporting
