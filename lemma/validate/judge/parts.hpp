// lemma/validate/judge/parts.hpp: what the files of judge share. Inner header.
#pragma once
#include <lemma/validate/answers.hpp>
#include <lemma/validate/judge.hpp>

namespace lemma::judging {

/// What the model says of the rows and what is true of them, in one pass.
Answers ask_model(const AnyModel& model, const Rows& rows, const JudgeOptions& options, const Execution& execution);

/// The measures of numbers or classes (`out` says which by its task), with the table of errors.
void measure_answers(const std::vector<std::string>& classes, const Answers& answers, Judgement& out);

/// The measures that were asked for besides. Error where this model, or its task, has none.
void add_asked(const AnyModel& model, const Rows& rows, const Answers& answers, const JudgeOptions& options,
               Judgement& out);

/// Where the clusters were found: the rows as they stand, or for a pipeline after its first steps.
void measure_clusters(const AnyModel& model, const Rows& rows, const Answers& answers, const Execution& execution,
                      Judgement& out);

/// The root of the mean squared error of each row's prediction by the model without it, where that follows from the model and
/// the row alone. Nothing unless these are training rows. A pipeline's first steps, and fill-ins, have learned from all rows:
/// then what the model says of a row is no longer its residual without it.
std::vector<Measure> leave_one_out(const TrainedModel& trained, const Honesty& honesty, const Rows& rows,
                                   const Vector& weights, const Execution& execution);

}  // namespace lemma::judging
