// lemma/validate/judge.hpp: how good a model is on rows whose truth is known, and whether these rows can tell.
#pragma once
#include <lemma/data/row_selection.hpp>
#include <lemma/metric/classification.hpp>
#include <lemma/metric/losses.hpp>
#include <lemma/validate/answers.hpp>
#include <lemma/validate/honesty.hpp>

namespace lemma {

struct JudgeOptions {
  std::optional<Missing> missing;   // of rows with missing values; without it as in the training
  std::string weights;              // a column of frequencies; empty: that of the training, where the data have it
  std::string truth;                // for clusters: the column of the true classes, or several ("sp:sex")
  std::optional<double> threshold;  // of two classes: the second is predicted where its probability is at least this
  RateInterval rates = RateInterval::wilson;  // the interval of a share of the rows
  std::optional<int>
      bootstrap;           // samples for the intervals of measures that have no formula; 0: none. Without it as many
                           // as there is time for: 200 to 1,000, none of more than 40,000 numbers (rows × classes)
  std::uint64_t seed = 1;  // of them
  std::vector<AskedMeasure> also;     // measures beyond those of the task, each only where it can be had
  std::optional<std::size_t> memory;  // bytes that the table may take; a larger one is read in blocks
  Execution execution;                // threads, progress
};

/// Clusters beside given classes: how many rows of each class lie in each cluster.
struct ClassesInClusters {
  std::string truth;
  std::vector<std::string> classes;
  Matrix counts;  // a row for each class, a column for each cluster
};

/// What is found. A value: everything a front end shows is in it.
struct Judgement {
  std::string model;  // how a person calls it: its file, or its method
  std::string method;
  Task task = Task::regression;
  std::string data;                           // where the rows came from
  Index rows = 0;                             // that were judged
  std::optional<double> weight;               // Σw, where rows have weights
  std::optional<Honesty> honesty;             // nothing for rows that come without a table
  std::vector<Measure> measures;              // every one that suits the task, with intervals where the rows give them
  RateInterval rates = RateInterval::wilson;  // of shares
  Index bootstrap = 0;                        // samples that gave the intervals of measures without a formula
  std::vector<std::string> classes;           // for classification, with
  std::optional<Confusion> confusion;         // the table of errors, and
  std::vector<ClassScore> per_class;          // precision, recall, F1 and AUC of each class,
  std::optional<double> threshold;            // and the threshold that decided, where one was given
  std::optional<ClassesInClusters> clusters;  // for clusters and a given truth
  std::string space;                   // for the clusters of a pipeline: after which steps distances are measured
  std::vector<Measure> leave_one_out;  // of training rows, where the model has it in closed form: an honest estimate
  std::vector<std::string> notes;      // rows left out, values filled in
};

/// Every measure that suits the task of a model, on rows of a table in memory, without its zeros, or on disk; and what these
/// rows are to the model. A row without a response cannot be judged: it is an error or left out, as the policy is. Error where
/// the model predicts nothing that could be judged, the response is absent, or a class was never seen in training.
Judgement judge(const TrainedModel& trained, const TableStream& data, const JudgeOptions& options = {});
Judgement judge(const TrainedModel& trained, const Table& table, const JudgeOptions& options = {});

/// The same of rows that have no table, such as a fold: measures alone. Of the options those about the table say nothing here.
Judgement judge(const AnyModel& model, const Rows& rows, const JudgeOptions& options = {});

/// What a model says of the rows of a table beside what is true of them: what measures and curves are made of.
struct AskedTable {
  Answers answers;
  RowSelection kept;                 // which rows of the table they are
  std::vector<std::string> classes;  // of the model
  std::vector<std::string> notes;    // rows left out, values filled in
  Honesty honesty;
};
/// Of a model that learns from a response, which the table must have.
AskedTable ask(const TrainedModel& trained, const TableStream& data, const JudgeOptions& options = {});

/// The document of `lemma evaluate --json`: see docs/json.md.
Value to_value(const Judgement& judgement);

/// "iris.lemma judged on iris: 150 rows"
std::string heading(const Judgement& judgement);
/// The measures, the table of errors, and what else was found.
std::string tables(const Judgement& judgement);
/// All of it: the heading, what the rows are, the tables.
std::string text(const Judgement& judgement);

}  // namespace lemma
