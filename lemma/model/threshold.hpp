// lemma/model/threshold.hpp: a class that is predicted only where it is probable enough.
#pragma once
#include <functional>
#include <lemma/model/any_model.hpp>

namespace lemma {

/// How a classifier without probabilities comes to some: "fit it with --probabilities true", or "calibrate(perceptron) does".
std::string way_to_probabilities(const Method& method);

/// What a model says of rows, but of two classes the second is predicted where its probability is at least the threshold, and
/// the first elsewhere. Error when the model predicts no classes, tells other than two apart, or has no probabilities.
Prediction predict_at_threshold(const AnyModel& model, double threshold, const MatrixView& x,
                                const PredictOptions& options = {});
/// The same of rows that the caller asks the model about.
Prediction predict_at_threshold(const AnyModel& model, double threshold, const PredictOptions& options,
                                const std::function<Prediction(const PredictOptions&)>& ask);

}  // namespace lemma
