// lemma/validate/judge/parts.hpp: what the files of judge share. Inner header.
#pragma once
#include <lemma/validate/judge.hpp>

namespace lemma::judging {

/// Given classes to hold clusters against.
struct Truth {
  std::string name;
  std::vector<std::string> classes;
  Labels labels;
};

/// What a model says of rows, and what is true of them. What there is not is empty.
struct Answers {
  Vector value;          // predicted numbers
  Labels predicted;      // predicted classes, or clusters
  Matrix probabilities;  // of the classes
  Vector y;              // the response: numbers,
  Labels label;          // or classes
  Vector weight;         // frequencies
  std::optional<Truth> truth;
};

/// Where the clusters were found: the rows as they stand, or for a pipeline after its first steps.
void measure_clusters(const AnyModel& model, const Rows& rows, const Answers& answers, const Execution& execution,
                      Judgement& out);

/// The root of the mean squared error of each row's prediction by the model without it, where that follows from the model and
/// the row alone. Nothing unless these are training rows. A pipeline's first steps, and fill-ins, have learned from all rows:
/// then what the model says of a row is no longer its residual without it.
std::vector<Measure> leave_one_out(const TrainedModel& trained, const Honesty& honesty, const Rows& rows,
                                   const Vector& weights, const Execution& execution);

}  // namespace lemma::judging
