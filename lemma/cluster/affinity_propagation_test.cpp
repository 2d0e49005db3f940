// lemma/cluster/affinity_propagation_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/affinity_propagation.hpp>
#include <lemma/cluster/kmedoids.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix groups(Index n, std::uint64_t seed, double apart = 7) {
  Matrix x = normal_matrix(n, 2, seed);
  for (Index i = 0; i < n; ++i) x(i, i % 2) += apart * static_cast<double>(i % 4);
  return x;
}

Matrix squares(const Matrix& x) {
  Matrix out(x.rows(), x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.rows(); ++j) out(i, j) = (x.row(i) - x.row(j)).squaredNorm();
  return out;
}

double net_of(const Matrix& d, const std::vector<Index>& which, double preference) {
  double out = preference * static_cast<double>(which.size());
  for (Index i = 0; i < d.rows(); ++i) {
    double least = HUGE_VAL;
    for (const Index k : which) least = std::min(least, d(i, k));
    out -= least;
  }
  return out;
}

std::vector<Index> exemplars_of(const AffinityPropagationModel& model) {
  std::vector<Index> out;
  for (const double each : model.medoid_rows) out.push_back(static_cast<Index>(each) - 1);
  return out;
}

/// The greatest net similarity over all sets of exemplars.
double best_of_all(const Matrix& d, double preference) {
  const auto n = static_cast<unsigned>(d.rows());
  double best = -HUGE_VAL;
  for (unsigned set = 1; set < (1U << n); ++set) {
    std::vector<Index> which;
    for (unsigned k = 0; k < n; ++k)
      if (set >> k & 1U) which.push_back(k);
    best = std::max(best, net_of(d, which, preference));
  }
  return best;
}

TEST(AffinityPropagation, OfFewRowsNearlyAlwaysFindsTheBestOfAllSetsOfExemplars) {
  int best = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix x = normal_matrix(12, 2, seed), d = squares(x);
    const auto model = fit(AffinityPropagation{.preference = -1.5}, x);
    EXPECT_NEAR(model.net_similarity, net_of(d, exemplars_of(model), -1.5), 1e-10);
    const double greatest = best_of_all(d, -1.5);
    EXPECT_LE(model.net_similarity, greatest + 1e-9);
    best += model.net_similarity > greatest - 1e-9;
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  }
  EXPECT_GE(best, 17) << "of 20";
}

TEST(AffinityPropagation, FindsGroupsWithoutBeingToldHowMany) {
  const Matrix x = groups(160, 3);
  const auto model = fit(AffinityPropagation{.preference = -200}, x);
  EXPECT_EQ(model.k(), 4);
  EXPECT_EQ(model.sizes, Vector::Constant(4, 40));
  EXPECT_EQ(model.spec.preference, -200.0);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const auto medoids = fit(KMedoids{.k = 4, .metric = SqEuclideanMetric{}}, x);
  EXPECT_NEAR(model.total, medoids.total, 1e-9 * model.total) << "of so many exemplars none are better";
}

TEST(AffinityPropagation, AHigherPreferenceHasNoFewerExemplarsAndZeroMakesEachRowItsOwn) {
  const Matrix x = groups(60, 8);
  Index before = 0;
  for (const double preference : {-1e6, -300.0, -30.0, -3.0, -0.3, 0.0}) {
    const auto model = fit(AffinityPropagation{.preference = preference}, x);
    EXPECT_GE(model.k(), before) << preference;
    EXPECT_TRUE(model.certificate.holds()) << preference << ": " << model.certificate.message;
    before = model.k();
  }
  EXPECT_EQ(before, 60);
  EXPECT_EQ(fit(AffinityPropagation{.preference = -1e6}, x).k(), 1);
}

TEST(AffinityPropagation, ThePreferenceLeftOutIsTheMedianOfTheSimilarities) {
  for (const Index n : {30, 28, 3, 2}) {  // 435 pairs, 378, 3 and 1
    const Matrix x = groups(n, 5), d = squares(x);
    std::vector<double> pairs;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j) pairs.push_back(d(i, j));
    std::sort(pairs.begin(), pairs.end());
    const std::size_t half = pairs.size() / 2;
    const double median = pairs.size() % 2 == 1 ? pairs[half] : 0.5 * (pairs[half - 1] + pairs[half]);
    EXPECT_NEAR(*fit(AffinityPropagation{}, x).spec.preference, -median, 1e-12) << n;
  }
  const Matrix equal = Matrix::Constant(5, 2, 3.5);  // distances of 0, and none but these
  EXPECT_EQ(*fit(AffinityPropagation{}, equal).spec.preference, 0);
}

TEST(AffinityPropagation, ASquareIsAsGoodAsTheRowsItIsMadeOf) {
  const Matrix x = groups(40, 2), d = squares(x);
  const auto rows = fit(AffinityPropagation{.preference = -50}, x);
  MemoryRows square(d);
  const auto given = fit(Valid<AffinityPropagation>(AffinityPropagation{.input = Input::square, .preference = -50}),
                         static_cast<const Rows&>(square), FitOptions{});
  EXPECT_EQ(given.medoid_rows, rows.medoid_rows);
  EXPECT_NEAR(given.net_similarity, rows.net_similarity, 1e-9);
  EXPECT_EQ(given.assign(d), rows.assign(x));
  EXPECT_TRUE(certify(given, square, {}).holds());
}

TEST(AffinityPropagation, TheOrderOfTheRowsDoesNotMatter) {
  const Matrix x = groups(80, 6), backwards = x.colwise().reverse();
  const auto one = fit(AffinityPropagation{}, x), other = fit(AffinityPropagation{}, backwards);
  EXPECT_EQ(one.k(), other.k());
  EXPECT_NEAR(one.net_similarity, other.net_similarity, 1e-9 * std::abs(one.net_similarity));
  EXPECT_TRUE(certify(one, MemoryRows(backwards), {}).holds());
}

TEST(AffinityPropagation, OfRowsThatCouldStandForEachOtherOneDoes) {
  Matrix x(6, 1);
  x << 0, 0, 0, 9, 9, 9;
  const auto copies = fit(AffinityPropagation{.preference = -5}, x);
  EXPECT_EQ(copies.k(), 2);
  EXPECT_EQ(copies.total, 0);
  EXPECT_TRUE(copies.certificate.holds()) << copies.certificate.message;
  const auto pair = fit(AffinityPropagation{.preference = -5}, (Matrix(2, 1) << 0, 1).finished());
  EXPECT_EQ(pair.k(), 1);
  const auto equal = fit(AffinityPropagation{}, Matrix::Constant(7, 2, 3.0));
  EXPECT_EQ(equal.k(), 1);
  EXPECT_EQ(equal.net_similarity, 0);
  EXPECT_TRUE(equal.certificate.holds()) << equal.certificate.message;
}

TEST(AffinityPropagation, TheNaturalWrongExemplarsFailTheCertificate) {
  const Matrix x = groups(120, 4);
  const MemoryRows rows(x);
  const AffinityPropagationModel right = fit(AffinityPropagation{.preference = -150}, x);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  const auto with = [&](int k, double share) {  // medoids of so many clusters, for the exemplars
    const KMedoidsModel medoids = fit(KMedoids{.k = k, .metric = SqEuclideanMetric{}}, x);
    AffinityPropagationModel out = right;
    static_cast<MedoidClusters&>(out) = medoids;
    out.net_similarity = share * *out.spec.preference * k - medoids.total;
    return certify(out, rows, {});
  };
  ASSERT_TRUE(with(static_cast<int>(right.k()), 1).holds());
  EXPECT_FALSE(with(static_cast<int>(right.k()) - 1, 1).holds()) << "one more pays";
  EXPECT_FALSE(with(static_cast<int>(right.k()) + 1, 1).holds()) << "one fewer pays";
  EXPECT_FALSE(with(static_cast<int>(right.k()), 0).holds()) << "a net similarity without what exemplars cost";

  // Messages that were stopped, and rows that stand for themselves as the last ones say.
  const auto stopped = fit(AffinityPropagation{.preference = -150, .max_iterations = 8}, x);
  EXPECT_FALSE(stopped.certificate.holds());
  EXPECT_EQ(stopped.certificate.stopped, "iteration limit");
  ASSERT_FALSE(stopped.warnings.empty());
  EXPECT_NE(stopped.warnings[0].find("did not settle in 8 rounds"), std::string::npos) << stopped.warnings[0];

  AffinityPropagationModel moved = right;  // the exemplar of a cluster is not the best of its rows
  const Labels label = right.assign(x);
  for (Index i = 0; i < 120; ++i)
    if (label[at(i)] == 0 && static_cast<double>(i + 1) != right.medoid_rows(0)) {
      std::vector<Index> which = exemplars_of(right);
      which[0] = i;
      std::sort(which.begin(), which.end());
      const Compared data = compare("test", Input::rows, right.spec.metric, rows);
      moved.things.clear();
      moved.tell(which, data.dissimilarities, data.points, {}, 2);
      moved.net_similarity = -150.0 * static_cast<double>(moved.k()) - moved.total;
      break;
    }
  const Certificate found = certify(moved, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("raises the net similarity"), std::string::npos) << found.message;
}

TEST(AffinityPropagation, NewRowsGoToTheNearestExemplar) {
  const Matrix x = groups(80, 3);
  const auto model = fit(AffinityPropagation{.preference = -200}, x);
  const Matrix far = model.distances(x);
  for (Index m = 0; m < model.k(); ++m) {
    EXPECT_EQ(model.assign(model.medoids.row(m)), Labels{static_cast<int>(m)});
    EXPECT_EQ(far(static_cast<Index>(model.medoid_rows(m)) - 1, m), 0);
  }
}

TEST(AffinityPropagation, AnswersWhatItCannotDo) {
  const Matrix x = groups(20, 3);
  EXPECT_NE(message_of([&] { fit(AffinityPropagation{.preference = 1}, x); }).find("at most 0"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(AffinityPropagation{.damping = 0.2}, x); }).find("damping"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(AffinityPropagation{.input = Input::pairs}, x); }).find("pairs"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(AffinityPropagation{.gigabytes = 1e-6}, x); }).find("gigabytes"), std::string::npos);
  EXPECT_NE(message_of([&] { fit(AffinityPropagation{}, x.topRows(1)); }).find("1"), std::string::npos);
}

}  // namespace
}  // namespace lemma
