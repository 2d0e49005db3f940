// lemma/metric/ranking.cpp: how well a score tells one class from the rest: ROC, AUC, average precision.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/metric/classification.hpp>
#include <limits>
#include <numeric>

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
  std::vector<Index> order(truth.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return score(i) > score(j); });
  Ranking out;
  for (const Index i : order) {
    if (w(i) == 0) continue;
    if (out.ties.empty() || score(i) < out.ties.back().score) out.ties.push_back({score(i), 0, 0});
    const bool is_positive = truth[static_cast<std::size_t>(i)] == positive;
    (is_positive ? out.ties.back().positives : out.ties.back().negatives) += w(i);
    (is_positive ? out.positives : out.negatives) += w(i);
  }
  return out;
}

Vector checked(const Labels& truth, const VectorView& score, const VectorView& weights) {
  if (static_cast<Index>(truth.size()) != score.size())
    throw Error(fmt::format("there are {} scores for {} rows", score.size(), truth.size()));
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

}  // namespace lemma
