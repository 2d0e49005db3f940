// lemma/metric/curves_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/metric/classification.hpp>
#include <lemma/metric/curves.hpp>
#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

struct Scores {
  Labels truth;
  Vector a, b, w;
};

/// Rounded scores, so that there are ties; some rows count several times, some not at all.
Scores random_scores(Index n, std::uint64_t seed) {
  RandomStream stream(seed);
  Scores out{{}, Vector(n), Vector(n), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    out.truth.push_back(static_cast<int>(stream.below(2)));
    out.a(i) = std::round(8 * (stream.uniform() + 0.3 * out.truth.back())) / 8;
    out.b(i) = std::round(8 * (0.5 * out.a(i) + stream.uniform())) / 8;
    out.w(i) = static_cast<double>(stream.below(4));
  }
  return out;
}

/// Weight k is k copies.
Scores copied(const Scores& s) {
  Scores out;
  std::vector<double> a, b;
  for (Index i = 0; i < s.w.size(); ++i)
    for (int copy = 0; copy < s.w(i); ++copy) {
      out.truth.push_back(s.truth[at(i)]);
      a.push_back(s.a(i));
      b.push_back(s.b(i));
    }
  out.a = Eigen::Map<Vector>(a.data(), std::ssize(a));
  out.b = Eigen::Map<Vector>(b.data(), std::ssize(b));
  out.w = Vector::Ones(std::ssize(a));
  return out;
}

TEST(PrecisionRecall, AveragesToTheReferencesAveragePrecision) {
  for (const char* name : {"metrics_binary", "metrics_binary_ties"}) {
    const Golden golden(name);
    const auto curve = precision_recall_curve(golden.labels("y"), golden.vector("score"));
    double sum = 0, before = 0;
    for (Index t = 0; t < curve.recall.size(); ++t) {
      sum += (curve.recall(t) - before) * curve.precision(t);
      before = curve.recall(t);
    }
    EXPECT_TRUE(golden.agrees("average_precision", sum)) << name;
    EXPECT_EQ(curve.recall(curve.recall.size() - 1), 1);
  }
}

TEST(PrecisionRecall, IsThatOfTheRowsAboveEachThreshold) {
  const Scores s = random_scores(60, 1);
  const auto curve = precision_recall_curve(s.truth, s.a, 1, s.w);
  double positives = 0;
  for (Index i = 0; i < 60; ++i) positives += s.truth[at(i)] * s.w(i);
  for (Index t = 0; t < curve.threshold.size(); ++t) {
    double found = 0, said = 0;
    for (Index i = 0; i < 60; ++i)
      if (s.a(i) >= curve.threshold(t)) {
        said += s.w(i);
        found += s.w(i) * s.truth[at(i)];
      }
    EXPECT_DOUBLE_EQ(curve.precision(t), found / said);
    EXPECT_DOUBLE_EQ(curve.recall(t), found / positives);
  }
}

TEST(Lift, OfAScoreThatTellsNothingIsOneAndOfAPerfectOneTheInverseOfTheShare) {
  const Labels truth{1, 0, 0, 1, 0, 0, 0, 0};
  const auto none = lift_curve(truth, Vector::Constant(8, 0.3));
  ASSERT_EQ(none.share.size(), 2);
  EXPECT_EQ(none.lift(1), 1);
  const auto perfect = lift_curve(truth, Vector{{9, 1, 1, 8, 1, 1, 1, 1}});
  EXPECT_EQ(perfect.share, (Vector{{0, 0.125, 0.25, 1}}));
  EXPECT_EQ(perfect.gain, (Vector{{0, 0.5, 1, 1}}));
  EXPECT_EQ(perfect.lift(2), 4);  // 1 over the share of positives
}

/// DeLong's test from its definition: all pairs of a positive and a negative, O(n²).
AucComparison by_definition(const Scores& s) {
  std::vector<Index> x, y;
  for (Index i = 0; i < s.a.size(); ++i) (s.truth[at(i)] == 1 ? x : y).push_back(i);
  const auto m = std::ssize(x), n = std::ssize(y);
  const auto psi = [](double a, double b) { return a > b ? 1.0 : a == b ? 0.5 : 0.0; };
  Matrix v10(m, 2), v01(n, 2);
  for (int r = 0; r < 2; ++r) {
    const Vector& score = r == 0 ? s.a : s.b;
    v10.col(r).setZero();
    v01.col(r).setZero();
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        v10(i, r) += psi(score(x[at(i)]), score(y[at(j)])) / static_cast<double>(n);
        v01(j, r) += psi(score(x[at(i)]), score(y[at(j)])) / static_cast<double>(m);
      }
  }
  const Vector theta = v10.colwise().mean();
  const auto covariance = [&](const Matrix& v) {
    const Matrix c = v.rowwise() - theta.transpose();
    return Matrix(c.transpose() * c / static_cast<double>(v.rows() - 1));
  };
  const Matrix s10 = covariance(v10), s01 = covariance(v01);
  const Matrix all = s10 / static_cast<double>(m) + s01 / static_cast<double>(n);
  AucComparison out;
  out.first = theta(0);
  out.second = theta(1);
  out.difference = theta(0) - theta(1);
  out.standard_error = std::sqrt(all(0, 0) + all(1, 1) - 2 * all(0, 1));
  return out;
}

TEST(DeLong, IsItsDefinitionOverAllPairs) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Scores s = random_scores(70, seed);
    Scores plain = s;
    plain.w = Vector::Ones(70);
    const auto found = compare_auc(s.truth, s.a, s.b), expected = by_definition(plain);
    EXPECT_NEAR(found.first, expected.first, 1e-13);
    EXPECT_NEAR(found.second, expected.second, 1e-13);
    EXPECT_NEAR(found.standard_error, expected.standard_error, 1e-13);
    EXPECT_NEAR(found.z, expected.difference / expected.standard_error, 1e-10);
    const auto weighted = compare_auc(s.truth, s.a, s.b, 1, s.w), of_copies = by_definition(copied(s));
    EXPECT_NEAR(weighted.difference, of_copies.difference, 1e-13);
    EXPECT_NEAR(weighted.standard_error, of_copies.standard_error, 1e-13);
  }
}

TEST(DeLong, OfOneModelIsTheIntervalOfItsArea) {  // against a score that ties all rows, whose area is ½ without error
  const Scores s = random_scores(80, 3);
  const auto found = compare_auc(s.truth, s.a, Vector::Zero(80));
  const Auc one = auc(s.truth, s.a);
  EXPECT_NEAR(found.second, 0.5, 1e-14);
  EXPECT_NEAR(found.bounds->upper + 0.5, one.bounds->upper, 1e-12);
}

TEST(DeLong, ScoresInTheSameOrderDoNotDiffer) {
  const Scores s = random_scores(50, 4);
  const auto found = compare_auc(s.truth, s.a, (3 * s.a.array() + 1).matrix());
  EXPECT_EQ(found.difference, 0);
  EXPECT_EQ(found.p, 1);
}

TEST(DeLong,
     CallsAQuarterOfNothingADifferenceAsOftenAsItSays) {  // 200 draws without a difference: 5 % ± 3 standard errors
  int rejected = 0;
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    RandomStream stream(99, draw);
    Labels truth;
    Vector a(120), b(120);
    for (Index i = 0; i < 120; ++i) {
      truth.push_back(static_cast<int>(i % 2));
      const double common = truth.back() + stream.normal();
      a(i) = common + stream.normal();
      b(i) = common + stream.normal();
    }
    rejected += compare_auc(truth, a, b).p < 0.05;
  }
  EXPECT_GE(rejected, 1);
  EXPECT_LE(rejected, 19);
}

TEST(DeLong, RefusesOneRowOfAKind) {
  EXPECT_EQ(message_of([] {
              compare_auc({1, 0, 0}, Vector{{1, 2, 3}}, Vector{{1, 2, 3}});
            }),
            "to compare two areas there must be two rows or more of either kind; 1 positive, 2 not");
}

TEST(Calibration, BriersPartsAddUpToItWhateverTheBins) {
  const Scores s = random_scores(200, 5);
  const Vector p = (s.a.array() / 2).min(1.0).matrix();
  for (const int bins : {1, 3, 10, 50})
    for (const Bins by : {Bins::width, Bins::count}) {
      const auto found = calibration(s.truth, p, 1, bins, by, s.w);
      const BrierParts& b = found.brier;
      EXPECT_NEAR(b.reliability - b.resolution + b.uncertainty + b.within, b.brier, 1e-14) << bins;
    }
}

TEST(Calibration, NothingIsLeftWithinBinsOfOneProbability) {  // 9 different probabilities in steps of 1/16
  const Scores s = random_scores(300, 6);
  const Vector p = (s.a.array() / 2).min(1.0).matrix();
  EXPECT_NEAR(calibration(s.truth, p, 1, 64).brier.within, 0, 1e-16);
  EXPECT_NE(calibration(s.truth, p, 1, 2).brier.within, 0);
}

TEST(Calibration, BinsAndTheirErrorByHand) {
  const Labels truth{0, 1, 1, 1};
  const Vector p{{0.05, 0.15, 0.95, 1.0}};
  const auto found = calibration(truth, p, 1, 10);
  ASSERT_EQ(found.bins.size(), 3u);  // [0, 0.1), [0.1, 0.2), [0.9, 1]
  EXPECT_EQ(found.bins[2].weight, 2);
  EXPECT_DOUBLE_EQ(found.bins[2].predicted, 0.975);
  EXPECT_DOUBLE_EQ(found.expected_error, (0.05 + 0.85 + 2 * 0.025) / 4);
  EXPECT_DOUBLE_EQ(found.largest_error, 0.85);
}

TEST(Calibration, AProbabilityOnAnEdgeIsInTheBinThatBeginsThere) {
  for (const int bins : {3, 7, 10, 49})
    for (int k = 0; k < bins; ++k) {
      const double edge = static_cast<double>(k) / bins;
      const auto found = calibration({1}, Vector{{edge}}, 1, bins);
      EXPECT_EQ(found.bins[0].lower, edge) << k << " of " << bins;
    }
}

TEST(Calibration, BinsOfEqualCountsKeepTiesTogether) {
  const Labels truth{0, 1, 0, 1, 0, 1};
  const auto found = calibration(truth, Vector{{0.1, 0.2, 0.3, 0.3, 0.3, 0.9}}, 1, 3, Bins::count);
  ASSERT_EQ(found.bins.size(), 3u);
  EXPECT_EQ(found.bins[0].weight, 2);
  EXPECT_EQ(found.bins[1].weight, 3);
  EXPECT_EQ(found.bins[2].weight, 1);
  EXPECT_EQ(found.bins[1].lower, 0.3);
}

TEST(Calibration, AWeightOfKIsKCopies) {
  const Scores s = random_scores(90, 7), all = copied(s);
  const auto of = [](const Scores& each) {
    return calibration(each.truth, (each.a.array() / 2).min(1.0).matrix(), 1, 5, Bins::count, each.w);
  };
  EXPECT_NEAR(of(s).expected_error, of(all).expected_error, 1e-14);
  EXPECT_NEAR(of(s).brier.resolution, of(all).brier.resolution, 1e-14);
}

TEST(Calibration, OnlyProbabilitiesCanBeCalibrated) {
  EXPECT_EQ(message_of([] {
              calibration({0, 1}, Vector{{0.5, 1.5}});
            }),
            "the probability of row 2 is 1.5, must be between 0 and 1");
}

}  // namespace
}  // namespace lemma
