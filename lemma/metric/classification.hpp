// lemma/metric/classification.hpp: predicted classes and probabilities against true classes.
#pragma once
#include <lemma/metric/measure.hpp>

namespace lemma {

/// Counts of (true class, predicted class): a row for each true class, a column for each predicted one; n = Σw.
/// What is not defined (precision of a class that is never predicted) is NaN.
struct Confusion {
  Matrix counts;

  Index classes() const { return counts.rows(); }
  double total() const { return counts.sum(); }
  double of_class(Index k) const { return counts.row(k).sum(); }  // rows of class k
  double predicted_as(Index k) const { return counts.col(k).sum(); }
  double accuracy() const;
  double recall(Index k) const;       // of the rows of class k, those that were found: sensitivity
  double precision(Index k) const;    // of the rows predicted as class k, those that are
  double f1(Index k) const;           // 2 TP / (2 TP + FP + FN): harmonic mean of the two
  double specificity(Index k) const;  // of the rows of other classes, those not predicted as k
  double balanced_accuracy() const;   // mean recall of the classes that occur
  double kappa() const;               // Cohen: accuracy beyond what the margins give by chance
  double matthews() const;            // correlation of the two class vectors (Gorodkin 2004 for more than two)
};

/// Error unless both hold one code 0 … classes−1 for each row.
Confusion confusion(const Labels& truth, const Labels& predicted, Index classes, const VectorView& weights = Vector());

/// The class with the largest probability in each row, the first of equals.
Labels most_probable(const MatrixView& probabilities);

/// Rank-based measures of one score, higher for the class `positive`. Cost  O(n log n).
struct RocCurve {
  Vector false_positive_rate, true_positive_rate;  // from (0, 0), one point for each distinct score, largest first
  Vector threshold;                                // rows with at least this score count as positive; +∞ at (0, 0)
};
RocCurve roc_curve(const Labels& truth, const VectorView& score, int positive = 1,
                   const VectorView& weights = Vector());

struct Auc {
  double value = 0;              // P(score of a positive > score of a negative), ties counting one half
  std::optional<Bounds> bounds;  // value ± z √variance after DeLong, DeLong and Clarke-Pearson (1988), inside [0, 1]
};
Auc auc(const Labels& truth, const VectorView& score, int positive = 1, const VectorView& weights = Vector());

/// Σ (Rₖ − Rₖ₋₁) Pₖ over the distinct scores, without interpolation.
double average_precision(const Labels& truth, const VectorView& score, int positive = 1,
                         const VectorView& weights = Vector());

/// Probabilities below this count as this in the log loss: one certain but wrong row costs −log ε = 36.04, not infinity.
inline constexpr double kSmallestProbability = 2.220446049250313e-16;

/// −log max(p_true, ε) of each row, and Σₖ (pₖ − [k is the class])² of each row: their means are the log loss (in nats)
/// and Brier's score (1950). For two classes half of the latter is the familiar (p − y)².
Vector log_losses(const Labels& truth, const MatrixView& probabilities);
Vector brier_scores(const Labels& truth, const MatrixView& probabilities);

/// What there is to judge. Of two classes the second is the positive one.
struct ClassPredictions {
  Labels predicted;      // one class a row
  Matrix probabilities;  // one column a class, or empty
  Vector score;          // two classes without probabilities: higher for the second class, or empty
};

struct ClassScore {
  double rows = 0, precision = 0, recall = 0, f1 = 0, auc = 0;  // auc: this class against the rest
  std::optional<Bounds> precision_bounds = {}, recall_bounds = {}, f1_bounds = {}, auc_bounds = {};
};

/// Everything a front end shows. The macro averages are over the classes that occur among the rows, and count a
/// precision that is not defined as 0.
struct ClassificationScore {
  Confusion confusion;
  std::vector<ClassScore> per_class;
  std::vector<Measure> measures;
  std::optional<RocCurve> roc;  // two classes with a score
};
ClassificationScore score_classification(const Labels& truth, const ClassPredictions& predictions, Index classes,
                                         const VectorView& weights = Vector(),
                                         RateInterval rates = RateInterval::wilson);

}  // namespace lemma
