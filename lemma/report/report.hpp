// lemma/report/report.hpp: data, several methods and the best of them, or one model, told on one page.
//
// Of data with a response: a fifth of the rows is set apart and looked at once, at the end. On the others the candidates
// (candidates.hpp) are compared by the same folds; the best one is fitted to all of them and judged by the rows set apart, so that the
// score of what was chosen is not one that chose it. Of fewer than kFewestToSplit rows none is set apart, and the page says what
// that means. Without a response clusterings are compared by silhouettes of rows that they were not learned from.
//
// Cost  the fits of all candidates to all folds. The same data and seed give the same bytes, on any number of threads.
#pragma once
#include <lemma/model/train.hpp>
#include <lemma/report/document.hpp>

namespace lemma::reporting {

struct ReportOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> methods;  // to compare; empty: those that suit the data
  std::string metric;                // to choose by; empty: accuracy, rmse or silhouette
  std::optional<Missing> missing;    // without it the median, where values are missing
  std::string data;                  // how the user calls the data, for commands
  /// Flags that commands on the same data need: those that say how files are read, and those that choose rows.
  std::vector<std::string> reading, choosing;
  std::string command;  // what was typed, for the end of the page
  Execution execution;
};

struct Report {
  Document document;
  std::string best;        // the method that was chosen; empty: none was
  bool cancelled = false;  // the page has what was found until then
  std::vector<std::string> notes;
};

/// Error where the formula or the data are wrong. A method that cannot be fitted is told on the page. Cancelled: what there is.
Report report_on(const Table& table, const std::string& formula, const ReportOptions& options = {});

/// One model, on rows of its kind.
Report report_on(const TrainedModel& trained, const std::string& file, const Table& table,
                 const ReportOptions& options = {});

/// Words as a shell takes them: those with marks of their own in quotes.
std::string command_line(const std::vector<std::string>& words);

}  // namespace lemma::reporting
