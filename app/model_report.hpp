// app/model_report.hpp: a fitted model as the JSON document and the text of `fit`.
#pragma once
#include "context.hpp"

#include <lemma/model/train.hpp>

namespace lemma::app {

/// {"method", "task", "params", "features", "target", "classes"?, "rows", "certificate", "warnings", "results"}
Value fit_document(const TrainedModel& trained);

/// One or two lines: whether the certificate holds, and its sentence.
std::string certificate_text(const Certificate& certificate, const Context& context);

}  // namespace lemma::app
