// lemma/metric/curves.hpp: what a score or a probability is worth at every threshold, and two scores of the same rows.
//
// Of two classes, or of one class against the rest: `positive` is its code. Weights are frequencies.
#pragma once
#include <array>
#include <lemma/metric/measure.hpp>
#include <string_view>

namespace lemma {

/// One point for each distinct score, largest first: of the rows with at least this score the share that is positive, and the
/// share of all positives that are among them. NaN where no row is positive. Cost  O(n log n).
struct PrecisionRecallCurve {
  Vector threshold, recall, precision;
};
PrecisionRecallCurve precision_recall_curve(const Labels& truth, const VectorView& score, int positive = 1,
                                            const VectorView& weights = Vector());

/// From (0, 0), one point for each distinct score, largest first. Taking the `share` of the rows with the largest scores finds
/// `gain` of the positives, `lift` = gain / share times as many as a share drawn at random would (NaN at the first point).
struct LiftCurve {
  Vector threshold, share, gain, lift;
};
LiftCurve lift_curve(const Labels& truth, const VectorView& score, int positive = 1,
                     const VectorView& weights = Vector());

/// Whether two scores of the same rows have different areas under their ROC curves: DeLong, DeLong and Clarke-Pearson (1988).
/// Their areas are correlated, so that intervals of each alone say little of the difference. Cost  O(n log n).
struct AucComparison {
  double first = 0, second = 0, difference = 0;
  double standard_error = 0;
  double z = 0, p = 1;           // of a difference of 0; p is two-sided. Scores in the same order: z 0, p 1
  std::optional<Bounds> bounds;  // of the difference
};
/// Error unless there are two rows or more of either kind.
AucComparison compare_auc(const Labels& truth, const VectorView& first, const VectorView& second, int positive = 1,
                          const VectorView& weights = Vector());

/// How probabilities are put together. `width`: intervals of equal length; `count`: as many rows in each as ties allow.
enum class Bins { width, count };
constexpr auto names_of(Bins) { return std::array<std::string_view, 2>{"width", "count"}; }

/// Rows with probabilities in [lower, upper) (the last one closed): what was said of them on average, and how often it was so.
struct CalibrationBin {
  double lower = 0, upper = 1, weight = 0;
  double predicted = 0, observed = 0;
  std::optional<Bounds> bounds;  // of `observed`: Wilson
};

/// Brier's score of one class, mean (p − y)², in parts that add up to it (Murphy 1973; Stephenson, Coelho and Jolliffe 2008):
///
///     brier = reliability − resolution + uncertainty + within
///
/// With nₖ rows, mean probability p̄ₖ and frequency ȳₖ in bin k:  reliability Σ nₖ (p̄ₖ − ȳₖ)² / n, 0 when what is said is so;
/// resolution Σ nₖ (ȳₖ − ȳ)² / n, how far the bins differ; uncertainty ȳ (1 − ȳ), of the rows alone; `within` what differs inside
/// the bins, Σ ((p − p̄ₖ)² − 2 (p − p̄ₖ)(y − ȳₖ)) / n, 0 where each bin has one probability.
struct BrierParts {
  double brier = 0, reliability = 0, resolution = 0, uncertainty = 0, within = 0;
};

struct Calibration {
  std::vector<CalibrationBin> bins;  // those that hold rows
  double expected_error = 0;         // Σ nₖ |ȳₖ − p̄ₖ| / n: the expected calibration error (ECE)
  double largest_error = 0;          // of any bin
  BrierParts brier;
};
/// Probabilities of the class `positive`. Error outside [0, 1].
Calibration calibration(const Labels& truth, const VectorView& probability, int positive = 1, int bins = 10,
                        Bins by = Bins::width, const VectorView& weights = Vector());

/// ECE, its largest part and Brier's parts as front ends list them.
std::vector<Measure> measures(const Calibration& calibration);

}  // namespace lemma
