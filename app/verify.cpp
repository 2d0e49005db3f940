// app/verify.cpp: lemma verify MODEL DATA: the certificate computed again, from the model and the data alone.
#include "commands.hpp"
#include "data_options.hpp"
#include "flags.hpp"
#include "model_report.hpp"

#include <CLI/CLI.hpp>
#include <cctype>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/matrix_stream.hpp>
#include <lemma/model/store.hpp>

namespace lemma::app {
namespace {

struct Verify {
  std::string model;
  DataOptions data;
  std::vector<std::string> more;
};

std::string named(const std::vector<OriginPart>& parts) {
  std::vector<std::string> words;
  for (const auto& part : parts) words.push_back(fmt::format("{} ({})", part.name, count_of(part.rows, "row")));
  return join_words(words);
}

std::string about_rows(const TrainedModel& trained, const Verification& found, const Context& context) {
  const Origin& origin = trained.origin;
  const bool weights_unknown =
      !origin.rows.weighted_hash() && !(trained.design.weights().empty() && trained.design.precision().empty());
  if (found.same_rows)
    return weights_unknown ? "the rows the model was fitted on (an older file, which does not tell of their weights)"
                           : "the rows the model was fitted on";
  if (found.all_there && !origin.parts.empty())
    return context.bad("the rows the model was fitted on, but mixed") +
           ": those of the fit and of each update are wanted apart";
  if (!found.missing.empty())
    return fmt::format("{}: those of {} are missing", context.bad("not all the rows the model was fitted on"),
                       named(found.missing));
  std::string equal;
  if (found.overlap.none()) equal = ", none of them equal to a row of the fit";
  else if (found.rows == origin.rows.rows() && found.overlap.equal == found.rows) equal = " with other weights";
  else if (found.overlap.exact())
    equal = fmt::format(", {} of them equal to a row of the fit", found.overlap.equal + found.overlap.alarms);
  return fmt::format("{} ({} given{}, {} fitted)", context.bad("not the rows the model was fitted on"),
                     count_of(found.rows, "row"), equal, format_count(origin.rows.rows()));
}

void verify(const Verify& options, Context& context) {
  const TrainedModel trained = load(options.model, catalog());
  const auto wanted = [&](const auto&) { return columns_as_they_are(trained.design); };
  std::vector<std::shared_ptr<const TableStream>> data;
  data.push_back(options.data.where_it_lies(context, wanted));
  for (const auto& name : options.more) {
    DataOptions next = options.data;
    next.data = name;
    data.push_back(next.where_it_lies(context, wanted));
  }
  std::vector<const TableStream*> tables;
  for (const auto& each : data) tables.push_back(each.get());
  const Verification found = trained.verify(tables, options.data.limit(), context.execution());
  const bool agrees = found.same_rows && found.certificate.holds();  // what is stored is a claim, this is the evidence
  const bool nothing = found.same_rows && !found.certificate.claims();
  context.exit_code = agrees || nothing ? kDone : kAnswerIsNo;
  print_notes(trained, options.model, context);
  if (context.json) {
    Value out = Value::object();
    out.set("model", options.model);
    out.set("method", trained.model->method().name());
    out.set("same_rows", found.same_rows);
    out.set("rows", found.rows);
    out.set("rows_of_the_model", trained.origin.rows.rows());
    if (!trained.origin.parts.empty()) out.set("missing", parts_document(found.missing));
    out.set("stored", to_value(trained.model->certificate()));
    out.set("recomputed", to_value(found.certificate));
    out.set("verified", nothing ? Value() : Value(agrees));
    return context.print_json(out);
  }
  context.print(fmt::format("{}: {} fitted on {} ({})\n", options.model, trained.model->method().name(),
                            trained.origin.name, count_of(trained.origin.rows.rows(), "row")));
  context.print(fmt::format("  data           {}\n", about_rows(trained, found, context)));
  if (!found.same_rows && !trained.origin.parts.empty()) {
    std::string names;
    for (const auto& part : trained.origin.parts) names += " " + part.name;
    context.print(fmt::format("  to verify      lemma verify {}{}\n", options.model, names));
  }
  context.print(fmt::format("  as stored      {}\n", certificate_line(trained.model->certificate(), context)));
  context.print(fmt::format("  computed anew  {}\n", certificate_line(found.certificate, context)));
  const bool elsewhere = !found.same_rows && found.certificate.holds();
  std::string message =
      elsewhere ? "The certificate holds on the rows given, but they are not the rows the model was fitted on."
                : found.certificate.message;
  if (nothing && !message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  context.print(fmt::format("{} {}\n",
                            agrees    ? context.good("Verified.")
                            : nothing ? "Nothing to verify:"
                                      : context.bad("Not verified."),
                            wrap(residues_bounded(message), 88)));
}

}  // namespace

void add_verify(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Verify>();
  auto* command = add_command(tool, "verify", "compute a model's certificate again from the data");
  add_option(*command, "MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command, "the rows the model was fitted on");
  add_option(*command, "MORE", options->more, "of an updated model: the rows of each update");
  options->data.add_memory(*command);
  command->footer("Example: lemma fit lda iris 'species ~ .' -o iris.lemma && lemma verify iris.lemma iris");
  command->callback([options, &context] { verify(*options, context); });
}

}  // namespace lemma::app
