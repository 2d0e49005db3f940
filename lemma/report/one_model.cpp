// lemma/report/one_model.cpp: a report on one model.
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/hearing.hpp>
#include <lemma/core/text.hpp>
#include <lemma/report/sections.hpp>

namespace lemma::reporting {
namespace {

Section use_section(const std::string& file, const ReportOptions& options) {
  Section out{"use", "How to use it"};
  std::vector<std::string> flags = options.reading;
  flags.insert(flags.end(), options.choosing.begin(), options.choosing.end());
  const auto with_flags = [&](std::vector<std::string> words) {
    words.insert(words.end(), flags.begin(), flags.end());
    return command_line(words) + "\n";
  };
  out.blocks.emplace_back(
      Code{"Commands for this model", command_line({"lemma", "show", file}) + "\n" +
                                          command_line({"lemma", "predict", file, "new.csv", "-o", "predictions.csv"}) +
                                          "\n" + with_flags({"lemma", "evaluate", file, options.data}) +
                                          with_flags({"lemma", "verify", file, options.data})});
  return out;
}

/// How good it is on these rows, and its certificate: made again where they are the rows of its fit.
Section quality_section(const TrainedModel& trained, const Table& table, const ReportOptions& options) {
  Section out{"quality", "How good it is"};
  try {
    JudgeOptions how;
    how.seed = options.seed;
    how.execution = options.execution.part(0.1, 0.5, "judging");
    if (options.missing) how.missing = options.missing;
    const Judgement judged = judge(trained, table, how);
    if (judged.honesty)
      out.blocks.emplace_back(
          Notice{judged.honesty->kind == Honesty::Kind::test ? Notice::Kind::good : Notice::Kind::warning,
                 "What these rows are to the model", judged.honesty->sentence});
    for (const auto& note : judged.notes) out.blocks.emplace_back(Paragraph{note + "."});
    add_judgement(judged, out);
  } catch (const Error& error) {
    out.blocks.emplace_back(Paragraph{fmt::format("These rows do not judge it: {}.", error.what())});
  }
  add_certificate(trained.model->certificate(), "The certificate of its fit", out);
  try {
    const Verification again =
        trained.verify(MemoryTableStream(table), {}, options.execution.part(0.5, 0.7, "verifying"));
    if (again.same_rows) add_certificate(again.certificate, "Computed again from these rows, it", out);
  } catch (const Error&) {}  // they are other rows: there is nothing to hold it against
  return out;
}

}  // namespace

Report report_on(const TrainedModel& trained, const std::string& file, const Table& table,
                 const ReportOptions& options) {
  const Hearing hearing(options.execution);
  require(table.rows() > 0, "there are no rows to report on");
  Report out;
  out.best = trained.model->method().name();
  out.document.title = fmt::format("{}: {} of {}", file, out.best, trained.origin.name);
  out.document.lead =
      fmt::format("{}; fitted to {}. This page looks at it on {}, {}.", trained.design.formula_text(),
                  count_of(trained.origin.rows.rows(), "row"), table.source(), count_of(table.rows(), "row"));
  std::string hash;
  try {
    hash = hash_text_of(table);
    std::vector<Finding> found;
    AloneScores scores;
    std::optional<DesignData> data;
    try {
      data = trained.design.apply(table, Missing::drop, options.execution);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: these rows are not such as the model takes: {}", options.data, error.what()));
    }
    if (data->has_response) scores = alone(table, trained.design, *data, options.seed);
    found = findings(table, trained.design, *data, scores);
    out.document.sections.push_back(quality_section(trained, table, options));
    Section model{"model", "The model"};
    add_pictures(trained, table, options.execution.part(0.7, 1), model);
    add_summary(trained, model);
    out.document.sections.push_back(std::move(model));
    out.document.sections.push_back(findings_section(found));
    out.document.sections.push_back(data_section(table, trained.design, scores));
  } catch (const Cancelled&) { out.cancelled = true; }
  out.document.sections.push_back(use_section(file, options));
  out.document.sections.push_back(repeat_section(options, {{"model", file},
                                                           {"data", table.source()},
                                                           {"rows", format_count(table.rows())},
                                                           {"hash of the data", hash.empty() ? "not taken" : hash},
                                                           {"formula", trained.design.formula_text()}}));
  return out;
}

}  // namespace lemma::reporting
