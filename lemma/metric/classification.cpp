// lemma/metric/classification.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/metric/classification.hpp>

namespace lemma {
namespace {

void require_probabilities(const Labels& truth, const MatrixView& p) {
  if (static_cast<Index>(truth.size()) != p.rows())
    throw Error(fmt::format("there are probabilities of {} rows for {} rows", p.rows(), truth.size()));
  for (Index i = 0; i < p.rows(); ++i) {
    for (Index k = 0; k < p.cols(); ++k)
      if (!(p(i, k) >= -1e-9 && p(i, k) <= 1 + 1e-9))
        throw Error(
            fmt::format("the probability of class {} in row {} is {}, must be from 0 to 1", k + 1, i + 1, p(i, k)));
    if (truth[static_cast<std::size_t>(i)] < 0 || truth[static_cast<std::size_t>(i)] >= p.cols())
      throw Error(
          fmt::format("the true class of row {} is not one of the {} that have probabilities", i + 1, p.cols()));
  }
}

double or_zero(double value) { return std::isnan(value) ? 0 : value; }

/// What higher values of speak for class k; empty where there is nothing.
Vector score_of(const ClassPredictions& predictions, Index k, Index classes) {
  if (predictions.probabilities.size() > 0) return predictions.probabilities.col(k);
  if (classes != 2 || predictions.score.size() == 0) return {};
  return k == 1 ? predictions.score : Vector(-predictions.score);
}

std::vector<ClassScore> score_each_class(const Labels& truth, const ClassPredictions& predictions,
                                         const Confusion& table, const VectorView& w, RateInterval rates) {
  std::vector<ClassScore> out;
  for (Index k = 0; k < table.classes(); ++k) {
    const Vector score = score_of(predictions, k, table.classes());
    const Auc area = score.size() ? auc(truth, score, static_cast<int>(k), w) : Auc{std::nan(""), {}};
    out.push_back({table.of_class(k),
                   table.precision(k),
                   table.recall(k),
                   table.f1(k),
                   area.value,
                   bounds_of_rate(table.precision(k), table.predicted_as(k), rates),
                   bounds_of_rate(table.recall(k), table.of_class(k), rates),
                   {},
                   area.bounds});
  }
  return out;
}

/// Averages over the classes that occur: plain ones, and ones weighted by the rows of the class.
struct Averages {
  double precision = 0, recall = 0, f1 = 0, weighted_precision = 0, weighted_f1 = 0, auc = 0;
};
Averages average(const std::vector<ClassScore>& classes) {
  Averages out;
  double occur = 0, rows = 0, areas = 0;
  for (const auto& one : classes) {
    if (one.rows == 0) continue;
    occur += 1;
    rows += one.rows;
    out.precision += or_zero(one.precision);
    out.recall += one.recall;
    out.f1 += one.f1;
    out.weighted_precision += one.rows * or_zero(one.precision);
    out.weighted_f1 += one.rows * one.f1;
    if (!std::isnan(one.auc)) {
      out.auc += one.auc;
      areas += 1;
    }
  }
  out.precision = detail::share(out.precision, occur);
  out.recall = detail::share(out.recall, occur);
  out.f1 = detail::share(out.f1, occur);
  out.weighted_precision = detail::share(out.weighted_precision, rows);
  out.weighted_f1 = detail::share(out.weighted_f1, rows);
  out.auc = detail::share(out.auc, areas);
  return out;
}

void add_overall(std::vector<Measure>& out, const Confusion& table, RateInterval rates) {
  const double accuracy = table.accuracy(), n = table.total();
  out.push_back(
      {"accuracy", accuracy, "share of the rows whose class is right", true, bounds_of_rate(accuracy, n, rates)});
  out.push_back(
      {"error", 1 - accuracy, "share of the rows whose class is wrong", false, bounds_of_rate(1 - accuracy, n, rates)});
  out.push_back({"balanced_accuracy", table.balanced_accuracy(), "mean over the classes of the share found", true, {}});
}

void add_agreement(std::vector<Measure>& out, const Confusion& table) {
  out.push_back({"matthews", table.matthews(), "correlation of true and predicted class (MCC)", true, {}});
  out.push_back({"kappa", table.kappa(), "Cohen: agreement beyond chance", true, {}});
}

void add_two_class(std::vector<Measure>& out, const Confusion& table, RateInterval rates) {
  const double positives = table.of_class(1), negatives = table.of_class(0), found = table.predicted_as(1);
  out.push_back({"sensitivity", table.recall(1), "share of the positives that are found (recall)", true,
                 bounds_of_rate(table.recall(1), positives, rates)});
  out.push_back({"specificity", table.recall(0), "share of the negatives that are found", true,
                 bounds_of_rate(table.recall(0), negatives, rates)});
  out.push_back({"precision", table.precision(1), "share of the predicted positives that are positive", true,
                 bounds_of_rate(table.precision(1), found, rates)});
  out.push_back({"f1", table.f1(1), "harmonic mean of precision and sensitivity", true, {}});
}

void add_averages(std::vector<Measure>& out, const Averages& mean) {
  out.push_back({"macro_precision", mean.precision, "mean over the classes", true, {}});
  out.push_back({"macro_recall", mean.recall, "mean over the classes", true, {}});
  out.push_back({"macro_f1", mean.f1, "mean over the classes", true, {}});
  out.push_back(
      {"weighted_precision", mean.weighted_precision, "mean over the classes, weighted by their rows", true, {}});
  out.push_back({"weighted_f1", mean.weighted_f1, "mean over the classes, weighted by their rows", true, {}});
}

void add_ranking(std::vector<Measure>& out, const Labels& truth, const VectorView& score, const VectorView& w) {
  const Auc area = auc(truth, score, 1, w);
  out.push_back(
      {"auc", area.value, "a positive has the higher score than a negative with this probability", true, area.bounds});
  out.push_back(
      {"average_precision", average_precision(truth, score, 1, w), "area under precision over recall", true, {}});
}

std::optional<Bounds> at_least_zero(std::optional<Bounds> bounds) {
  if (bounds) bounds->lower = std::max(0.0, bounds->lower);
  return bounds;
}

void add_probabilities(std::vector<Measure>& out, const Labels& truth, const MatrixView& p, const VectorView& w) {
  const Vector losses = log_losses(truth, p);
  out.push_back({"log_loss", detail::mean(losses, w),
                 "mean of -log(probability of the true class), in nats; probabilities below 2.2e-16 count as that",
                 false, at_least_zero(bounds_of_mean(losses, w))});
  const Vector brier = p.cols() == 2 ? Vector(brier_scores(truth, p) / 2) : brier_scores(truth, p);
  out.push_back({"brier", detail::mean(brier, w),
                 p.cols() == 2
                     ? "mean of (probability of the positive class - truth) squared"
                     : "mean over the rows of the squared errors of the probabilities, summed over the classes",
                 false, at_least_zero(bounds_of_mean(brier, w))});
}

}  // namespace

Vector log_losses(const Labels& truth, const MatrixView& probabilities) {
  require_probabilities(truth, probabilities);
  Vector out(probabilities.rows());
  for (Index i = 0; i < out.size(); ++i)
    out(i) = -std::log(std::clamp(probabilities(i, truth[static_cast<std::size_t>(i)]), kSmallestProbability, 1.0));
  return out;
}

Vector brier_scores(const Labels& truth, const MatrixView& probabilities) {
  require_probabilities(truth, probabilities);
  Matrix difference = probabilities;
  for (Index i = 0; i < difference.rows(); ++i) difference(i, truth[static_cast<std::size_t>(i)]) -= 1;
  return difference.rowwise().squaredNorm();
}

ClassificationScore score_classification(const Labels& truth, const ClassPredictions& predictions, Index classes,
                                         const VectorView& weights, RateInterval rates) {
  const Vector w = detail::frequencies(static_cast<Index>(truth.size()), weights);
  if (predictions.probabilities.size() > 0 && predictions.probabilities.cols() != classes)
    throw Error(
        fmt::format("there are probabilities of {} classes for {} classes", predictions.probabilities.cols(), classes));
  ClassificationScore out{confusion(truth, predictions.predicted, classes, w), {}, {}, {}};
  out.per_class = score_each_class(truth, predictions, out.confusion, w, rates);
  add_overall(out.measures, out.confusion, rates);
  if (classes == 2) add_two_class(out.measures, out.confusion, rates);
  else add_averages(out.measures, average(out.per_class));
  add_agreement(out.measures, out.confusion);
  const Vector score = score_of(predictions, 1, classes);
  if (classes == 2 && score.size() > 0) {
    add_ranking(out.measures, truth, score, w);
    out.roc = roc_curve(truth, score, 1, w);
  } else if (predictions.probabilities.size() > 0) {
    out.measures.push_back(
        {"macro_auc", average(out.per_class).auc, "mean over the classes, each against the rest", true, {}});
  }
  if (predictions.probabilities.size() > 0) add_probabilities(out.measures, truth, predictions.probabilities, w);
  return out;
}

}  // namespace lemma
