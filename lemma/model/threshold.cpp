// lemma/model/threshold.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/model/method.hpp>
#include <lemma/model/threshold.hpp>

namespace lemma {
namespace {

bool gives_probabilities(const AnyModel& model) {
  const auto parts = model->parts();
  return std::any_of(parts.begin(), parts.end(),
                     [](const PartInfo& part) { return part.name == kProbabilitiesPart.name; });
}

void check(const AnyModel& model, double threshold) {
  const Method& method = model->method();
  if (!(threshold >= 0 && threshold <= 1))
    throw Error(fmt::format("--threshold is {}, must be a probability between 0 and 1", threshold));
  if (model->task() != Task::classification)
    throw Error(fmt::format("--threshold decides between two classes, and {} predicts none", method.name()));
  if (model->class_count() != 2)
    throw Error(
        fmt::format("--threshold decides between two classes, and this {} tells {} apart; predict --what "
                    "probabilities gives theirs",
                    method.name(), model->class_count()));
  if (gives_probabilities(model)) return;
  throw Error(fmt::format("this {} gives no probabilities that --threshold could be held against: {}", method.name(),
                          way_to_probabilities(method)));
}

}  // namespace

std::string way_to_probabilities(const Method& method) {
  const auto way = method.way_to(kProbabilitiesPart.name);
  return way.empty() ? fmt::format("calibrate({}) does", method.name()) : fmt::format("fit it with {}", way);
}

Prediction predict_at_threshold(const AnyModel& model, double threshold, const MatrixView& x,
                                const PredictOptions& options) {
  return predict_at_threshold(model, threshold, options,
                              [&](const PredictOptions& more) { return model.predict(x, more); });
}

Prediction predict_at_threshold(const AnyModel& model, double threshold, const PredictOptions& options,
                                const std::function<Prediction(const PredictOptions&)>& ask) {
  check(model, threshold);
  PredictOptions more = options;
  const bool wanted = options.asks(kProbabilitiesPart);
  if (!wanted) more.what.emplace_back(kProbabilitiesPart.name);
  Prediction out = ask(more);
  const Matrix probabilities = out.probabilities();
  for (PredictedPart& part : out.parts())
    if (part.info.name == kClassPart.name) {
      Labels& codes = std::get<Labels>(part.data);
      for (std::size_t i = 0; i < codes.size(); ++i)
        codes[i] = probabilities(static_cast<Index>(i), 1) >= threshold ? 1 : 0;
    }
  if (!wanted)
    std::erase_if(out.parts(), [](const PredictedPart& part) { return part.info.name == kProbabilitiesPart.name; });
  return out;
}

}  // namespace lemma
