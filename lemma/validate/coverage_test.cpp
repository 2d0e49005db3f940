// lemma/validate/coverage_test.cpp: how often a stated interval holds the truth, by drawing data whose truth is known. 200 draws for
// each; `make coverage` takes 20,000 (LEMMA_DRAWS), where the margin of three standard errors is a tenth as wide.
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/linear/ols.hpp>
#include <lemma/math/distributions.hpp>
#include <lemma/metric/clustering.hpp>
#include <lemma/metric/curves.hpp>
#include <lemma/metric/decision.hpp>
#include <lemma/metric/regression.hpp>
#include <lemma/validate/bootstrap.hpp>
#include <lemma/validate/bound.hpp>
#include <lemma/validate/cross.hpp>
#include <lemma/validate/judge/parts.hpp>
#include <lemma/validate/risk.hpp>
#include <lemma/validate/truth.hpp>
#include <tests/trained.hpp>

namespace lemma {
namespace {

int draws() {
  const char* asked = std::getenv("LEMMA_DRAWS");
  return asked ? std::max(20, std::atoi(asked)) : 200;
}

/// Of as many seeds, the share for which `holds` must not be below `least` by more than three standard errors.
template <class F>
void expect_covers(double least, const F& holds) {
  int covered = 0;
  const int n = draws();
  for (int i = 0; i < n; ++i) covered += holds(RandomStream(2026, static_cast<std::uint64_t>(i)));
  const double share = static_cast<double>(covered) / n;
  testing::Test::RecordProperty("share", std::to_string(share));
  EXPECT_GE(share, least - 3 * std::sqrt(least * (1 - least) / n)) << "of " << n << " draws";
}

bool inside(const Bounds& bounds, double truth) { return bounds.lower <= truth && truth <= bounds.upper; }

double share_of_hits(RandomStream& stream, double p, int n) {
  double hits = 0;
  for (int i = 0; i < n; ++i) hits += stream.uniform() < p;
  return hits / n;
}

TEST(Coverage, OfWilsonsInterval) {
  expect_covers(0.94, [](RandomStream stream) { return inside(*wilson(share_of_hits(stream, 0.1, 80), 80), 0.1); });
}

TEST(Coverage, OfTheExactIntervalIsNeverLess) {
  for (const double p : {0.02, 0.3})
    expect_covers(0.95,
                  [&](RandomStream stream) { return inside(*clopper_pearson(share_of_hits(stream, p, 25), 25), p); });
}

TEST(Coverage, OfHoeffdingsIntervalIsNeverLess) {
  expect_covers(0.95, [](RandomStream stream) { return inside(*hoeffding(share_of_hits(stream, 0.5, 60), 60), 0.5); });
}

TEST(Coverage, OfAMeanOfSkewLosses) {
  expect_covers(0.925, [](RandomStream stream) {
    Vector losses(80);
    for (double& each : losses) each = -std::log(1 - stream.uniform());
    return inside(*bounds_of_mean(losses), 1);
  });
}

/// Scores N(shift, 1) of 40 positives and N(0, 1) of 60 negatives.
struct Ranked {
  Labels label = Labels(100, 0);
  Vector score = Vector(100);
  Ranked(RandomStream& stream, double shift) {
    for (Index i = 0; i < 100; ++i) {
      label[static_cast<std::size_t>(i)] = i < 40;
      score(i) = stream.normal() + (i < 40 ? shift : 0);
    }
  }
};

TEST(Coverage, OfDeLongsIntervalOfAnArea) {
  const double truth = normal_cdf(1 / std::sqrt(2.0));
  expect_covers(0.935, [&](RandomStream stream) {
    const Ranked rows(stream, 1);
    return inside(*auc(rows.label, rows.score).bounds, truth);
  });
}

TEST(Coverage, OfDeLongsIntervalOfADifferenceOnTheSameRows) {
  // the second score is the first and as much noise
  const double truth = normal_cdf(1 / std::sqrt(2.0)) - normal_cdf(1 / 2.0);
  expect_covers(0.93, [&](RandomStream stream) {
    const Ranked rows(stream, 1);
    Vector noisy = rows.score;
    for (double& each : noisy) each += stream.normal();
    return inside(*compare_auc(rows.label, rows.score, noisy).bounds, truth);
  });
}

/// Answers of two classes: right with probability 0.8 for the first, 0.6 for the second, half of each.
Answers two_classes(RandomStream& stream, int n) {
  Answers out;
  for (int i = 0; i < n; ++i) {
    const int truth = static_cast<int>(stream.below(2));
    const bool right = stream.uniform() < (truth == 0 ? 0.8 : 0.6);
    out.label.push_back(truth);
    out.predicted.push_back(right ? truth : 1 - truth);
  }
  return out;
}

TEST(Coverage, OfTheBootstrapOfMeasuresWithoutAFormula) {
  // balanced accuracy 0.7; F1 = 2 · 0.3 / (2 · 0.3 + 0.1 + 0.2); kappa = (0.7 − 0.5) / (1 − 0.5)
  const std::vector<std::pair<std::string, double>> truths{
      {"balanced_accuracy", 0.7}, {"f1", 0.6 / 0.9}, {"kappa", 0.4}};
  for (const auto& [name, truth] : truths)
    expect_covers(0.925, [&, &name = name, &truth = truth](RandomStream stream) {
      Judgement judged;
      judged.task = Task::classification;
      judged.rows = 120;
      const Answers answers = two_classes(stream, 120);
      judging::measure_answers({"a", "b"}, answers, judged);
      JudgeOptions options;
      options.bootstrap = 200;
      options.seed = stream.bits();
      judging::add_bootstrap_bounds(answers, options, {}, judged);
      return inside(*find_measure(judged.measures, name)->bounds, truth);
    });
}

/// Two clusters by the sign of the first of two N(0, 1) columns.
Measure mean_silhouette(RandomStream stream, Index n) {
  Matrix x(n, 2);
  Labels cluster;
  for (double& each : x.reshaped()) each = stream.normal();
  for (Index i = 0; i < n; ++i) cluster.push_back(x(i, 0) > 0);
  return *find_measure(validity_measures(x, cluster), "silhouette");
}

TEST(Coverage, OfTheJackknifeOfAMeanSilhouette) {
  double truth = 0;
  for (std::uint64_t k = 0; k < 40; ++k) truth += mean_silhouette(RandomStream(7, k), 800).value / 40;
  for (const Index n : {60, 260})  // each row on its own, and groups of rows
    expect_covers(0.93, [&](RandomStream stream) { return inside(*mean_silhouette(stream, n).bounds, truth); });
}

TEST(Coverage, OfTheMeanCostOfDecisions) {
  Matrix losses{{0, 1}, {5, 0}};
  expect_covers(0.93, [&](RandomStream stream) {
    const Answers answers = two_classes(stream, 150);
    const auto found = measures(score_decisions(answers.label, answers.predicted, losses));
    return inside(*find_measure(found, "cost")->bounds, 0.5 * 0.2 * 1 + 0.5 * 0.4 * 5);
  });
}

Table line(RandomStream& stream, int n) {
  std::vector<double> x, y;
  for (int i = 0; i < n; ++i) {
    x.push_back(stream.normal());
    y.push_back(2 * x.back() + stream.normal());
  }
  return Table({numeric("x", x), numeric("y", y)}, "line");
}

TEST(Coverage, OfBootstrapIntervalsOfACoefficient) {
  for (const auto kind : {ResultInterval::percentile, ResultInterval::basic, ResultInterval::bca})
    expect_covers(0.91, [&](RandomStream stream) {  // of 50 rows they are known to be a little narrow
      ResultBootstrap options;
      options.samples = 99;
      options.interval = kind;
      options.seed = stream.bits();
      options.execution.threads = 1;
      const Table rows = line(stream, 50);
      const auto found = bootstrap(Ols{}, formula("y ~ x"), MemoryTableStream(rows), options);
      return found.lower(1) <= 2 && 2 <= found.upper(1);
    });
}

TEST(Coverage, OfNadeauAndBengiosIntervalOfACrossValidatedError) {
  // least squares with an intercept on n = 54 rows of one N(0, 1) column: E e² = (1 + 1/n)(1 + 1/(n − 3))
  const double truth = (1 + 1.0 / 54) * (1 + 1.0 / 51);
  expect_covers(0.93, [&](RandomStream stream) {
    CrossOptions options;
    options.seed = stream.bits();
    options.execution.threads = 1;
    const Table rows = line(stream, 60);
    const auto found = cross(Ols{}, formula("y ~ x"), MemoryTableStream(rows), {.folds = 10}, options);
    return inside(*found.find("mse")->bounds, truth);
  });
}

TEST(Coverage, OfTheBoundsOfAnErrorIsNeverLess) {
  const auto truth = truth_named("gaussians(distance=2, dimensions=1)");
  const Table rows = draw_table(*truth, 60, 9);
  const TrainedModel model = trained("lda", rows, "class ~ .");
  const double exact = risk(model, *truth).error.value;
  for (const std::size_t which : {0, 1})  // hoeffding, binomial
    expect_covers(0.95, [&](RandomStream stream) {
      const Table fresh = draw_table(*truth, 100, stream.bits());
      return exact <= *bound_risk(model, MemoryTableStream(fresh)).bounds[which].value;
    });
}

}  // namespace
}  // namespace lemma
