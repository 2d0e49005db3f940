// app/verify.cpp: lemma verify MODEL DATA: the certificate computed again, from the model and the data alone.
#include "commands.hpp"
#include "data_options.hpp"
#include "model_report.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <lemma/catalog.hpp>
#include <lemma/core/text.hpp>
#include <lemma/model/store.hpp>

namespace lemma::app {
namespace {

struct Verify {
  std::string model;
  DataOptions data;
};

void verify(const Verify& options, Context& context) {
  const TrainedModel trained = load(options.model, catalog());
  const auto data = options.data.stream(context);
  const Verification found = trained.verify(*data, options.data.limit(), context.execution());
  const bool agrees = found.same_rows && found.certificate.holds();  // what is stored is a claim, this is the evidence
  context.exit_code = agrees ? kDone : kAnswerIsNo;
  print_notes(trained, options.model, context);
  if (context.json) {
    Value out = Value::object();
    out.set("model", options.model);
    out.set("method", trained.model->method().name());
    out.set("same_rows", found.same_rows);
    out.set("stored", to_value(trained.model->certificate()));
    out.set("recomputed", to_value(found.certificate));
    out.set("verified", agrees);
    return context.print_json(out);
  }
  context.print(fmt::format("{}: {} fitted on {} ({} rows)\n", options.model, trained.model->method().name(),
                            trained.origin.name, trained.origin.rows.rows()));
  const std::string rows = found.same_rows ? "the rows the model was fitted on"
                                           : fmt::format("{} ({} rows given, {} fitted)",
                                                         context.bad("not the rows the model was fitted on"),
                                                         found.rows, trained.origin.rows.rows());
  context.print(fmt::format("  data           {}\n", rows));
  context.print(fmt::format("  as stored      {}\n", certificate_line(trained.model->certificate(), context)));
  context.print(fmt::format("  computed anew  {}\n", certificate_line(found.certificate, context)));
  context.print(fmt::format("{} {}\n", agrees ? context.good("Verified.") : context.bad("Not verified."),
                            wrap(found.certificate.message, 88)));
}

}  // namespace

void add_verify(CLI::App& tool, Context& context) {
  auto options = std::make_shared<Verify>();
  auto* command = tool.add_subcommand("verify", "compute a model's certificate again from the data");
  command->add_option("MODEL", options->model, "a model file written by fit -o")->required();
  options->data.add(*command, "the rows the model was fitted on");
  options->data.add_memory(*command);
  command->footer("Example: lemma fit lda iris 'species ~ .' -o iris.lemma && lemma verify iris.lemma iris");
  command->callback([options, &context] { verify(*options, context); });
}

}  // namespace lemma::app
