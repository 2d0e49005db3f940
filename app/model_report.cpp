// app/model_report.cpp
#include "model_report.hpp"

#include <fmt/core.h>
#include <lemma/core/params.hpp>
#include <lemma/core/text.hpp>

namespace lemma::app {

Value fit_document(const TrainedModel& trained) {
  const auto names = trained.names();
  const auto& model = trained.model;
  Value out = Value::object();
  out.set("method", model->method().name());
  out.set("task", name_of(model->method().about().task));
  out.set("params", model->params());
  out.set("formula", trained.design.formula_text());
  out.set("features", names.features);
  if (!names.target.empty()) out.set("target", names.target);
  if (!names.classes.empty()) out.set("classes", names.classes);
  out.set("data", trained.origin.name);
  out.set("rows", trained.origin.rows.rows());
  out.set("certificate", to_value(model->certificate()));
  std::vector<std::string> warnings = model->warnings();
  warnings.insert(warnings.end(), trained.notes.begin(), trained.notes.end());
  out.set("warnings", warnings);
  out.set("results", model->results(names));
  return out;
}

std::string certificate_text(const Certificate& certificate, const Context& context) {
  std::string out = context.bold("Certificate") + ": ";
  if (certificate.strength == Strength::none) return out + "none. " + certificate.message + "\n";
  const auto strength = to_value(certificate).at("strength").as_string();
  out += certificate.holds() ? context.good("holds") : context.bad("DOES NOT HOLD");
  out += fmt::format(" ({}; {} {}, allowed {}; {})\n", strength, certificate.kind, format_significant(certificate.value, 3), format_significant(certificate.tolerance, 3), certificate.stopped);
  if (!certificate.message.empty()) out += "  " + wrap(certificate.message, 98, 2) + "\n";
  return out;
}

}  // namespace lemma::app
