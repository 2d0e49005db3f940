// lemma/metric/ranking.cpp: how well a score tells one class from the rest: ROC, AUC, average precision.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/math/radix.hpp>
#include <lemma/metric/classification.hpp>
#include <lemma/metric/curves.hpp>
#include <limits>

namespace lemma {
namespace {

/// Rows with one score: the weight of the positives and of the negatives among them.
struct Tie {
  double score, positives, negatives;
};

struct Ranking {
  std::vector<Tie> ties;  // largest score first
  double positives = 0, negatives = 0;
};

Ranking rank(const Labels& truth, const VectorView& score, int positive, const VectorView& w) {
  require(truth.size() <= std::numeric_limits<std::uint32_t>::max(), "there are more than 4,294,967,295 rows to order");
  const bool alike = (w.array() == 1).all();  // then nothing needs to be known of a row but its class
  std::vector<KeyedRow> order(truth.size());
  for (std::size_t i = 0; i < order.size(); ++i)  // the largest first
    order[i] = {~key_of(score(static_cast<Index>(i))),
                alike ? static_cast<std::uint32_t>(truth[i] == positive) : static_cast<std::uint32_t>(i)};
  radix_sort(order);
  Ranking out;
  out.ties.reserve(order.size());
  for (const KeyedRow& each : order) {
    const double weight = alike ? 1.0 : w(static_cast<Index>(each.row));
    if (weight == 0) continue;
    const double value = number_of(~each.key);
    if (out.ties.empty() || value < out.ties.back().score) out.ties.push_back({value, 0, 0});
    const bool is_positive = alike ? each.row == 1 : truth[each.row] == positive;
    (is_positive ? out.ties.back().positives : out.ties.back().negatives) += weight;
    (is_positive ? out.positives : out.negatives) += weight;
  }
  return out;
}

Vector checked(const Labels& truth, const VectorView& score, const VectorView& weights) {
  if (static_cast<Index>(truth.size()) != score.size())
    throw Error(
        fmt::format("there are {} scores for {}", score.size(), count_of(static_cast<Index>(truth.size()), "row")));
  Vector w = detail::frequencies(score.size(), weights);
  detail::require_numbers(score, "the score");
  return w;
}

/// The placements of DeLong: for each tie the share of the other class that a row there beats, ties counting one half.
struct Placements {
  std::vector<double> of_positive, of_negative;
};
Placements placements(const Ranking& r) {
  Placements out;
  out.of_positive.reserve(r.ties.size());
  out.of_negative.reserve(r.ties.size());
  double negatives_above = 0, positives_above = 0;
  for (const Tie& tie : r.ties) {
    out.of_positive.push_back((r.negatives - negatives_above - tie.negatives / 2) / r.negatives);
    out.of_negative.push_back((positives_above + tie.positives / 2) / r.positives);
    negatives_above += tie.negatives;
    positives_above += tie.positives;
  }
  return out;
}

/// Σ w (v − mean)² / ((W − 1) W) over the ties, w being the weight of one class in each.
double variance_of_mean(const std::vector<Tie>& ties, const std::vector<double>& v, double Tie::*weight, double total,
                        double mean) {
  double sum = 0;
  for (std::size_t t = 0; t < ties.size(); ++t) sum += ties[t].*weight * (v[t] - mean) * (v[t] - mean);
  return sum / ((total - 1) * total);
}

}  // namespace

Auc auc(const Labels& truth, const VectorView& score, int positive, const VectorView& weights) {
  const Ranking r = rank(truth, score, positive, checked(truth, score, weights));
  if (r.positives == 0 || r.negatives == 0) return {std::numeric_limits<double>::quiet_NaN(), {}};
  const Placements v = placements(r);
  Auc out;
  for (std::size_t t = 0; t < r.ties.size(); ++t) out.value += r.ties[t].positives * v.of_positive[t];
  out.value /= r.positives;
  if (r.positives > 1 && r.negatives > 1) {
    const double variance = variance_of_mean(r.ties, v.of_positive, &Tie::positives, r.positives, out.value) +
                            variance_of_mean(r.ties, v.of_negative, &Tie::negatives, r.negatives, out.value);
    const double half = 1.9599639845400545 * std::sqrt(variance);
    out.bounds = Bounds{std::max(0.0, out.value - half), std::min(1.0, out.value + half)};
  }
  return out;
}

RocCurve roc_curve(const Labels& truth, const VectorView& score, int positive, const VectorView& weights) {
  const Ranking r = rank(truth, score, positive, checked(truth, score, weights));
  const auto points = static_cast<Index>(r.ties.size()) + 1;
  RocCurve out{Vector::Zero(points), Vector::Zero(points), Vector(points)};
  out.threshold(0) = std::numeric_limits<double>::infinity();
  double negatives = 0, positives = 0;
  for (Index t = 1; t < points; ++t) {
    const Tie& tie = r.ties[static_cast<std::size_t>(t - 1)];
    negatives += tie.negatives;
    positives += tie.positives;
    out.false_positive_rate(t) = detail::share(negatives, r.negatives);
    out.true_positive_rate(t) = detail::share(positives, r.positives);
    out.threshold(t) = tie.score;
  }
  return out;
}

double average_precision(const Labels& truth, const VectorView& score, int positive, const VectorView& weights) {
  const Ranking r = rank(truth, score, positive, checked(truth, score, weights));
  double sum = 0, predicted = 0, found = 0;
  for (const Tie& tie : r.ties) {
    predicted += tie.positives + tie.negatives;
    found += tie.positives;
    if (tie.positives > 0) sum += tie.positives * (found / predicted);
  }
  return detail::share(sum, r.positives);
}

PrecisionRecallCurve precision_recall_curve(const Labels& truth, const VectorView& score, int positive,
                                            const VectorView& weights) {
  const Ranking r = rank(truth, score, positive, checked(truth, score, weights));
  const auto points = static_cast<Index>(r.ties.size());
  PrecisionRecallCurve out{Vector(points), Vector(points), Vector(points)};
  double predicted = 0, found = 0;
  for (Index t = 0; t < points; ++t) {
    const Tie& tie = r.ties[static_cast<std::size_t>(t)];
    predicted += tie.positives + tie.negatives;
    found += tie.positives;
    out.threshold(t) = tie.score;
    out.recall(t) = detail::share(found, r.positives);
    out.precision(t) = found / predicted;
  }
  return out;
}

LiftCurve lift_curve(const Labels& truth, const VectorView& score, int positive, const VectorView& weights) {
  const Ranking r = rank(truth, score, positive, checked(truth, score, weights));
  const auto points = static_cast<Index>(r.ties.size()) + 1;
  LiftCurve out{Vector(points), Vector::Zero(points), Vector::Zero(points), Vector(points)};
  out.threshold(0) = std::numeric_limits<double>::infinity();
  out.lift(0) = std::numeric_limits<double>::quiet_NaN();
  double taken = 0, found = 0;
  for (Index t = 1; t < points; ++t) {
    const Tie& tie = r.ties[static_cast<std::size_t>(t - 1)];
    taken += tie.positives + tie.negatives;
    found += tie.positives;
    out.threshold(t) = tie.score;
    out.share(t) = taken / (r.positives + r.negatives);
    out.gain(t) = detail::share(found, r.positives);
    out.lift(t) = out.gain(t) / out.share(t);
  }
  return out;
}

namespace {

/// The placement of each row: the share of the other class that it beats (a positive) or that beats it (a negative).
struct PlacedRows {
  double auc = 0, positives = 0, negatives = 0;
  Vector placement;
};
PlacedRows placed_rows(const Labels& truth, const VectorView& score, int positive, const Vector& w) {
  const Ranking r = rank(truth, score, positive, w);
  const Placements v = placements(r);
  PlacedRows out{0, r.positives, r.negatives, Vector::Zero(score.size())};
  for (Index i = 0; i < score.size(); ++i) {
    if (w(i) == 0) continue;
    const auto tie =
        std::partition_point(r.ties.begin(), r.ties.end(), [&](const Tie& each) { return each.score > score(i); }) -
        r.ties.begin();
    const bool is_positive = truth[static_cast<std::size_t>(i)] == positive;
    out.placement(i) = (is_positive ? v.of_positive : v.of_negative)[static_cast<std::size_t>(tie)];
    if (is_positive) out.auc += w(i) * out.placement(i) / r.positives;
  }
  return out;
}

}  // namespace

AucComparison compare_auc(const Labels& truth, const VectorView& first, const VectorView& second, int positive,
                          const VectorView& weights) {
  const Vector w = checked(truth, first, weights);
  checked(truth, second, weights);
  const PlacedRows a = placed_rows(truth, first, positive, w), b = placed_rows(truth, second, positive, w);
  if (!(a.positives > 1 && a.negatives > 1))
    throw Error(fmt::format("to compare two areas there must be two rows or more of either kind; {} positive, {} not",
                            a.positives, a.negatives));
  AucComparison out{a.auc, b.auc, a.auc - b.auc, 0, 0, 1, {}};
  double of_positives = 0,
         of_negatives = 0;  // Σ w (d − d̄)², d the difference of the placements: its mean is that of the areas
  for (Index i = 0; i < w.size(); ++i) {
    const double d = a.placement(i) - b.placement(i) - out.difference;
    (truth[static_cast<std::size_t>(i)] == positive ? of_positives : of_negatives) += w(i) * d * d;
  }
  out.standard_error =
      std::sqrt(of_positives / ((a.positives - 1) * a.positives) + of_negatives / ((a.negatives - 1) * a.negatives));
  if (out.standard_error > 0) {
    out.z = out.difference / out.standard_error;
    out.p = 2 * normal_upper(std::abs(out.z));
  }
  const double half = 1.9599639845400545 * out.standard_error;
  out.bounds = Bounds{std::max(-1.0, out.difference - half), std::min(1.0, out.difference + half)};
  return out;
}

}  // namespace lemma
