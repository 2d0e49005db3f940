// app/model_report.hpp: a fitted model as the JSON document and the text of `fit`.
#pragma once
#include "context.hpp"

#include <lemma/model/train.hpp>

namespace lemma::app {

/// {"method", "task", "params", "features", "target", "classes"?, "rows", "certificate", "warnings", "results"}
Value fit_document(const TrainedModel& trained);
/// The same for a person: what was fitted to what, the summary and the certificate.
std::string fit_text(const TrainedModel& trained, const Context& context);

/// Of an updated model: the fit's rows and those of each update, as [{"data", "rows"}, …].
Value parts_document(const std::vector<OriginPart>& parts);

/// What was noted when the model was made (rows dropped, terms chosen), for one that comes from a file.
void print_notes(const TrainedModel& trained, const std::string& path, const Context& context);

/// "holds (optimal; eigen-residual 8.9e-16, allowed 1e-10)"
std::string certificate_line(const Certificate& certificate, const Context& context);

/// That line with a heading, and the sentence a person can read.
std::string certificate_text(const Certificate& certificate, const Context& context);

/// Where work that gives back what it has was cancelled: that it was, and which file holds it ("": none), and the exit code.
void tell_if_cancelled(const std::string& written, Context& context);

}  // namespace lemma::app
