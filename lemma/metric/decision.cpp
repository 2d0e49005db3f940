// lemma/metric/decision.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/metric/classification.hpp>
#include <lemma/metric/decision.hpp>

namespace lemma {

DecisionScore score_decisions(const Labels& truth, const Labels& decided, const MatrixView& losses,
                              std::optional<double> reject, const VectorView& weights) {
  if (truth.size() != decided.size())
    throw Error(fmt::format("there are {} decisions for {}", decided.size(),
                            count_of(static_cast<Index>(truth.size()), "row")));
  const Index classes = losses.rows();
  require_losses(losses, classes);
  const Vector w = detail::frequencies(static_cast<Index>(truth.size()), weights);
  Vector cost(w.size());
  DecisionScore out;
  out.counts = Matrix::Zero(classes, classes + 1);
  double wrong = 0, withheld = 0;
  for (Index i = 0; i < w.size(); ++i) {
    const int k = truth[at(i)], l = decided[at(i)];
    if (k < 0 || k >= classes || l < -1 || l >= classes)
      throw Error(fmt::format("row {}: class {} and decision {} are not among {} classes", i + 1, k, l, classes));
    if (l < 0 && !reject) throw Error(fmt::format("row {} is withheld, and what that costs is not said", i + 1));
    cost(i) = l < 0 ? *reject : losses(k, l);
    out.counts(k, l < 0 ? classes : l) += w(i);
    (l < 0 ? withheld : wrong) += l == k ? 0.0 : w(i);
  }
  const double n = w.sum();
  out.cost = detail::mean(cost, w);
  out.bounds = bounds_of_mean(cost, w);
  if (out.bounds) out.bounds->lower = std::max(0.0, out.bounds->lower);
  out.withheld = withheld / n;
  out.error = detail::share(wrong, n - withheld);
  out.error_bounds = wilson(out.error, n - withheld);
  return out;
}

std::vector<Measure> measures(const DecisionScore& score) {
  return {{"cost", score.cost, "mean loss of a decision", false, score.bounds},
          {"withheld", score.withheld, "share of the rows that are not decided", false,
           wilson(score.withheld, score.counts.sum())},
          {"error_of_decided", score.error, "share of mistakes among those that are", false, score.error_bounds}};
}

BestThreshold best_threshold(const Labels& truth, const VectorView& score, const MatrixView& losses, int positive,
                             const VectorView& weights) {
  require_losses(losses, 2);
  const Vector w = detail::frequencies(score.size(), weights);
  const RocCurve curve = roc_curve(truth, score, positive, w);
  double positives = 0, negatives = 0;
  for (Index i = 0; i < w.size(); ++i) (truth[at(i)] == positive ? positives : negatives) += w(i);
  BestThreshold best;
  for (Index t = 0; t < curve.threshold.size(); ++t) {
    const double found = positives > 0 ? curve.true_positive_rate(t) * positives : 0,
                 alarms = negatives > 0 ? curve.false_positive_rate(t) * negatives : 0;
    const double cost = (found * losses(1, 1) + (positives - found) * losses(1, 0) + alarms * losses(0, 1) +
                         (negatives - alarms) * losses(0, 0)) /
                        (positives + negatives);
    if (t == 0 || cost < best.cost) best = {curve.threshold(t), cost};
  }
  return best;
}

}  // namespace lemma
