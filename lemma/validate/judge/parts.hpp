// lemma/validate/judge/parts.hpp: what the files of judge share. Inner header.
#pragma once
#include <functional>
#include <lemma/validate/answers.hpp>
#include <lemma/validate/judge.hpp>

namespace lemma::judging {

/// Whether the model has that to say of rows.
bool gives(const AnyModel& model, const PartInfo& wanted);

/// What the model says of the rows and what is true of them, in one pass.
Answers ask_model(const AnyModel& model, const Rows& rows, const JudgeOptions& options, const Execution& execution);

/// The measures of numbers or classes (`out` says which by its task), with the table of errors.
void measure_answers(const std::vector<std::string>& classes, const Answers& answers, Judgement& out);

/// The measures that were asked for besides. Error where this model, or its task, has none.
void add_asked(const AnyModel& model, const Rows& rows, const Answers& answers, const JudgeOptions& options,
               Judgement& out);

/// Percentile intervals for measures that have no other, by drawing `rows` rows again and again: `again` measures them anew, given
/// how often each was drawn. What grows with the rows, as the largest error does, has none. How many samples were drawn; 0: none.
Index draw_bounds(std::vector<Measure>& measures, Index rows, const Vector& weight, std::size_t classes,
                  const JudgeOptions& options, const Execution& execution,
                  const std::function<std::vector<Measure>(const Vector& times)>& again);
/// Of everything that was measured, but for what follows from distances between the rows; of the largest error its meaning says
/// how many new rows can have a larger one.
void add_bootstrap_bounds(const Answers& answers, const JudgeOptions& options, const Execution& execution,
                          Judgement& out);

/// The calibration of `answers`, as asked for.
void add_calibration(const AskedMeasure& asked, const Answers& answers, Judgement& out);

/// Whether it tells the clusters of the rows of its fit, and nothing of others: a hierarchy, the vertices of a graph.
bool tells_of_its_own_rows(const AnyModel& model);
/// The clusters of these rows, −1 being noise, in whatever order they come. Error where they are not those of the fit.
Labels own_clusters(const AnyModel& model, const Rows& rows, const Execution& execution);

/// Where the clusters were found: the rows as they stand, or for a pipeline after its first steps.
void measure_clusters(const AnyModel& model, const Rows& rows, const Answers& answers, const Execution& execution,
                      Judgement& out);

/// Intervals of what follows from the distances to the centres, the clusters being those that they are.
void add_cluster_bounds(const AnyModel& model, const Rows& rows, const Answers& answers, const JudgeOptions& options,
                        const Execution& execution, Judgement& out);

/// The root of the mean squared error of each row's prediction by the model without it, where that follows from the model and
/// the row alone. Nothing unless these are training rows. A pipeline's first steps, and fill-ins, have learned from all rows:
/// then what the model says of a row is no longer its residual without it.
std::vector<Measure> leave_one_out(const TrainedModel& trained, const Honesty& honesty, const Rows& rows,
                                   const Vector& weights, const Execution& execution);

}  // namespace lemma::judging
