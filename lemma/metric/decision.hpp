// lemma/metric/decision.hpp: what decisions cost, and which threshold costs least.
#pragma once
#include <lemma/metric/measure.hpp>
#include <lemma/model/bayes_rule.hpp>

namespace lemma {

/// Decisions (−1: withheld) against the truth. Losses as in model/bayes_rule.hpp; a withheld row costs `reject`.
struct DecisionScore {
  double cost = 0;               // Σ w L(truth, decision) / Σ w
  std::optional<Bounds> bounds;  // of the cost, from the spread over the rows
  double withheld = 0;           // share of the rows
  double error = 0;              // share of mistakes among the rows that were decided; NaN where there is none
  std::optional<Bounds> error_bounds;
  Matrix counts;  // a row for each true class, a column for each decision, the last one of withheld rows
};
DecisionScore score_decisions(const Labels& truth, const Labels& decided, const MatrixView& losses,
                              std::optional<double> reject = {}, const VectorView& weights = Vector());
std::vector<Measure> measures(const DecisionScore& score);

/// The threshold on a score (rows with at least this much are called positive) under which the rows cost least.
struct BestThreshold {
  double threshold = 0;  // infinite where calling none positive is best
  double cost = 0;       // mean loss of these rows there: too small for new rows, since it was chosen by them
};
/// Losses of two classes, `positive` being the second. Of equal costs the largest threshold. Cost  O(n log n).
BestThreshold best_threshold(const Labels& truth, const VectorView& score, const MatrixView& losses, int positive = 1,
                             const VectorView& weights = Vector());

}  // namespace lemma
