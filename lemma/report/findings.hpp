// lemma/report/findings.hpp: what to watch out for before a model of these rows is believed.
#pragma once
#include <lemma/data/design.hpp>
#include <string>
#include <vector>

namespace lemma::reporting {

/// How well one column predicts the response by itself: learned on one half of the rows and held against the other, and the other way
/// round. Values in up to 50 groups of equal size (levels as they are) each say the most frequent class, or the mean, of their group.
struct Alone {
  std::string column;
  double score = 0;  // accuracy, or R²
};
struct AloneScores {
  double baseline = 0;         // what saying the same of every row would score
  std::vector<Alone> columns;  // the best first; equal ones in the table's order
};
AloneScores alone(const Table& table, const Design& design, const DesignData& data, std::uint64_t seed = 1);

struct Finding {
  bool serious = false;     // it can spoil a model, or an estimate
  std::string kind;         // "missing", "duplicates", "outliers", "collinear", "imbalance", "leak", …
  std::string title, text;  // one line; what it means and what to do
};

/// `data` is what the design makes of the table for training. Nothing is fitted here but `alone`, which is passed in.
/// Cost  O(n p) and, of up to 300 columns, O(n p² + p³) for their dependence.
std::vector<Finding> findings(const Table& table, const Design& design, const DesignData& data,
                              const AloneScores& scores);

}  // namespace lemma::reporting
