// app/model_report.cpp
#include "model_report.hpp"

#include <fmt/core.h>
#include <lemma/core/params.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>

namespace lemma::app {

Value parts_document(const std::vector<OriginPart>& parts) {
  Value::List out;
  for (const auto& part : parts) {
    Value one = Value::object();
    one.set("data", part.name);
    one.set("rows", part.rows);
    out.push_back(std::move(one));
  }
  return out;
}

Value fit_document(const TrainedModel& trained) {
  const auto names = trained.names();
  const auto& model = trained.model;
  Value out = Value::object();
  out.set("method", model->method().name());
  out.set("task", name_of(model->task()));
  out.set("params", model->params());
  out.set("formula", trained.design.formula_text());
  out.set("features", names.features);
  if (!names.target.empty()) out.set("target", names.target);
  if (!names.classes.empty()) out.set("classes", names.classes);
  out.set("data", trained.origin.name);
  out.set("rows", trained.origin.rows.rows());
  if (!trained.origin.parts.empty()) out.set("parts", parts_document(trained.origin.parts));
  out.set("certificate", to_value(model->certificate()));
  std::vector<std::string> warnings = model->warnings();
  warnings.insert(warnings.end(), trained.notes.begin(), trained.notes.end());
  out.set("warnings", warnings);
  if (!trained.choice.is_null()) out.set("choice", trained.choice);
  out.set("results", trained.results());
  return out;
}

std::string fit_text(const TrainedModel& trained, const Context& context) {
  const auto names = trained.names();
  return context.bold(fmt::format("{} of {}: {}", trained.model->method().name(), trained.origin.name,
                                  trained.design.formula_text())) +
         fmt::format("\n{}, {}\n\n", count_of(trained.origin.rows.rows(), "row"),
                     count_of(static_cast<Index>(names.features.size()), "column")) +
         trained.model->summary(names) + "\n" + certificate_text(trained.model->certificate(), context);
}

void print_notes(const TrainedModel& trained, const std::string& path, const Context& context) {
  for (const auto& note : trained.notes) context.note(fmt::format("note: {}: {}", path, note));
}

std::string certificate_line(const Certificate& certificate, const Context& context) {
  if (certificate.strength == Strength::none) return "none";
  const auto strength = to_value(certificate).at("strength").as_string();
  return fmt::format("{} ({}; {} {}, allowed {}; {})",
                     certificate.holds() ? context.good("holds") : context.bad("DOES NOT HOLD"), strength,
                     certificate.kind, residue_text(certificate.value, certificate.tolerance, 3),
                     format_significant(certificate.tolerance, 3), certificate.stopped);
}

std::string certificate_text(const Certificate& certificate, const Context& context) {
  const std::string sentence =
      certificate.message.empty() ? "" : "  " + wrap(residues_bounded(certificate.message), 98, 2) + "\n";
  return fmt::format("{}: {}\n{}", context.bold("Certificate"), certificate_line(certificate, context), sentence);
}

void tell_if_cancelled(const std::string& written, Context& context) {
  const int signal = interrupted();
  if (signal == 0) return;
  context.warn(written.empty() ? "cancelled: what is shown is as far as it came"
                               : fmt::format("cancelled: the model as far as it came is in {}", written));
  context.exit_code = kSignal + signal;
}

}  // namespace lemma::app
