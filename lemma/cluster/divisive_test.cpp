// lemma/cluster/divisive_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/divisive.hpp>
#include <lemma/cluster/divisive/bisecting.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/model/fit.hpp>
#include <numeric>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Kaufman and Rousseeuw's example of five things (Finding Groups in Data, chapter 6).
Matrix five() {
  Matrix out(5, 5);
  out << 0, 2, 6, 10, 9, 2, 0, 5, 9, 8, 6, 5, 0, 4, 5, 10, 9, 4, 0, 3, 9, 8, 5, 3, 0;
  return out;
}

/// The textbook, with every mean taken anew.
Parting by_definition(const Matrix& d, std::vector<Index> stayed) {
  const auto mean = [&](Index row, const std::vector<Index>& others) {
    double sum = 0, count = 0;
    for (const Index each : others)
      if (each != row) sum += d(row, each), ++count;
    return count > 0 ? sum / count : 0.0;
  };
  std::vector<Index> left;
  while (stayed.size() > 1) {
    Index best = -1;
    double most = 0;
    for (const Index row : stayed) {
      const double gain = mean(row, stayed) - (left.empty() ? 0 : mean(row, left));
      if ((left.empty() && best < 0) || gain > most + (best < 0 ? 1e-12 : 0)) best = row, most = gain;
    }
    if (best < 0) break;
    left.push_back(best);
    std::erase(stayed, best);
  }
  std::sort(left.begin(), left.end());
  return {left, stayed, 0};
}

TEST(Divisive, PartsTheExampleOfTheBook) {
  const auto model = fit(Divisive{.input = Input::square}, five());
  EXPECT_EQ(model.heights, (Vector(4) << 2, 3, 5, 10).finished());
  EXPECT_EQ(cut_into(model.merges, 2), (Labels{0, 0, 1, 1, 1}));
  EXPECT_EQ(cut_into(model.merges, 3), (Labels{0, 0, 1, 2, 2}));
  EXPECT_NEAR(model.coefficient, 1 - (0.2 + 0.2 + 0.5 + 0.3 + 0.3) / 5, 1e-14);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Divisive, EachSplinterGroupIsThatOfTheTextbook) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Matrix x = normal_matrix(40, 2, seed);
    const Dissimilarities all = Dissimilarities::of_rows(x, Metric());
    const Matrix square = all.square();
    for (const Parting& each : diana(all, {})) {
      std::vector<Index> both = each.left;
      both.insert(both.end(), each.stayed.begin(), each.stayed.end());
      std::sort(both.begin(), both.end());
      const Parting slow = by_definition(square, both);
      EXPECT_EQ(each.left, slow.left);
      EXPECT_EQ(each.stayed, slow.stayed);
      EXPECT_EQ(each.diameter, diameter_of(all, both));
    }
  }
}

TEST(Divisive, PartsTheWidestClusterFirstAndEndsWithEachRowAlone) {
  const Matrix x = normal_matrix(60, 3, 9);
  const auto model = fit(Divisive{.k = 4}, x);
  EXPECT_EQ(model.heights.size(), 59);
  for (Index t = 1; t < 59; ++t) EXPECT_GE(model.heights(t), model.heights(t - 1));
  EXPECT_EQ(model.labels.maxCoeff(), 4);
  EXPECT_EQ(model.cut(Cut{.k = 4}).codes("cluster").size(), 60U);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
}

TEST(Divisive, TheNaturalWrongPartingsFailTheCertificate) {
  const Matrix x = normal_matrix(50, 2, 3);
  const DivisiveModel right = fit(Divisive{.k = 3}, x);
  ASSERT_TRUE(certify(right, MemoryRows(x), {}).holds());
  const Dissimilarities all = Dissimilarities::of_rows(x, Metric());
  // Only the first row leaves each cluster: the others are never asked whether they would follow.
  std::vector<Joined> joined;
  std::vector<Index> rest(50);
  std::iota(rest.begin(), rest.end(), Index{0});
  while (rest.size() > 1) {
    double most = -1;
    Index first = 0;
    for (const Index row : rest) {
      double sum = 0;
      for (const Index each : rest) sum += all(row, each);
      if (sum > most) most = sum, first = row;
    }
    const double diameter = diameter_of(all, rest);
    std::erase(rest, first);
    joined.push_back({first, rest.front(), diameter});
  }
  std::reverse(joined.begin(), joined.end());
  DivisiveModel wrong = right;
  wrong.merges = merges_of(joined);
  for (Index t = 0; t < 49; ++t) wrong.heights(t) = joined[at(t)].height;
  const MergeTree tree(wrong.merges, "test");
  wrong.coefficient = agglomerative_coefficient(tree, wrong.heights);
  const Certificate found = certify(wrong, MemoryRows(x), {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("a row stayed that is nearer"), std::string::npos) << found.message;
  DivisiveModel heights = right;  // mean dissimilarities told as diameters
  heights.heights *= 0.9;
  EXPECT_FALSE(certify(heights, MemoryRows(x), {}).holds());
}

TEST(Divisive, AnswersWhatItCannotDo) {
  const auto equal = fit(Divisive{}, Matrix::Constant(12, 2, 3.0));
  EXPECT_TRUE(equal.certificate.holds()) << equal.certificate.message;
  EXPECT_TRUE(std::isnan(equal.coefficient));
  EXPECT_FALSE(equal.warnings.empty());
  Matrix square = five();
  square(0, 1) = 3;
  EXPECT_NE(message_of([&] { fit(Divisive{.input = Input::square}, square); }).find("it must be the same"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { fit(Divisive{.k = 9}, normal_matrix(5, 2, 1)); }).find("k is 9, but there are only 5 rows"),
      std::string::npos);
  EXPECT_NE(message_of([&] { fit(Divisive{.gigabytes = 1e-6}, normal_matrix(50, 2, 1)); }).find("--gigabytes"),
            std::string::npos);
}

// ---- by 2-means ----

Matrix four_groups(Index n, std::uint64_t seed) {
  Matrix x = normal_matrix(n, 2, seed);
  for (Index i = 0; i < n; ++i) x(i, 0) += i % 4 < 2 ? 0 : 30, x(i, 1) += i % 2 == 0 ? 0 : 12;
  return x;
}

TEST(Bisecting, PartsTheFarthestGroupsFirstAndThenTheOthers) {
  const Matrix x = four_groups(80, 3);
  const auto model = fit(Divisive{.by = PartBy::bisecting}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const Labels two = cut_into(model.merges, 2), four = cut_into(model.merges, 4);
  for (Index i = 4; i < 80; ++i) {
    EXPECT_EQ(two[at(i)], two[at(i % 4)]);
    EXPECT_EQ(four[at(i)], four[at(i % 4)]);
  }
  EXPECT_EQ(two[0], two[1]);
  EXPECT_NE(two[0], two[2]);
  const double squares = (x.rowwise() - x.colwise().mean()).squaredNorm();
  EXPECT_NEAR(model.heights(78), squares, 1e-10 * squares);
  EXPECT_EQ(*fit(Divisive{.by = PartBy::bisecting}, x).spec.k, 2) << "where the heights leave the widest gap";
}

TEST(Bisecting, TheSumOfSquaresFallsByWhatLiesBetweenTheTwoMeans) {
  const Matrix x = normal_matrix(60, 3, 5);
  std::vector<Index> rows(60);
  std::iota(rows.begin(), rows.end(), Index{0});
  const Parting parting = two_means(x, rows);
  const Middle all = middle_of(x, rows), left = middle_of(x, parting.left), stayed = middle_of(x, parting.stayed);
  const auto a = static_cast<double>(parting.left.size()), b = static_cast<double>(parting.stayed.size());
  EXPECT_NEAR(all.squares - left.squares - stayed.squares, a * b / (a + b) * (left.mean - stayed.mean).squaredNorm(),
              1e-10 * all.squares);
}

TEST(Bisecting, EqualRowsArePartedLast) {
  Matrix x(6, 1);
  x << 1, 1, 1, 1, 9, 9;
  const auto model = fit(Divisive{.by = PartBy::bisecting}, x);
  EXPECT_EQ(model.heights.head(4), Vector::Zero(4));
  EXPECT_EQ(cut_into(model.merges, 2), (Labels{0, 0, 0, 0, 1, 1}));
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_TRUE(fit(Divisive{.by = PartBy::bisecting}, Matrix::Constant(5, 2, 1e9)).certificate.holds());
}

TEST(Bisecting, TheNaturalWrongHierarchiesFailTheCertificate) {
  const Matrix x = normal_matrix(200, 3, 7);
  const MemoryRows rows(x);
  const DivisiveModel right = fit(Divisive{.by = PartBy::bisecting}, x);
  ASSERT_TRUE(certify(right, rows, {}).holds());
  DivisiveModel splinters = fit(Divisive{}, x);  // DIANA's partings, with their sums of squares for heights
  splinters.spec.by = PartBy::bisecting;
  const MergeTree tree(splinters.merges, "divisive");
  for (Index t = 0; t < tree.steps(); ++t) {
    std::vector<Index> both;
    for (const Index side : {tree.left(t), tree.right(t)})
      both.insert(both.end(), tree.order().begin() + tree.first(side),
                  tree.order().begin() + tree.first(side) + tree.size(side));
    splinters.heights(t) = middle_of(x, both).squares;
  }
  splinters.coefficient = agglomerative_coefficient(tree, splinters.heights);
  const Certificate found = certify(splinters, rows, {});
  EXPECT_FALSE(found.holds());
  EXPECT_NE(found.message.find("nearer to the mean of the other side"), std::string::npos) << found.message;
  DivisiveModel diameters = right;
  diameters.heights = right.heights.cwiseSqrt();
  EXPECT_FALSE(certify(diameters, rows, {}).holds());
}

TEST(Bisecting, AnswersWhatItCannotDo) {
  EXPECT_NE(message_of([&] { fit(Divisive{.by = PartBy::bisecting, .input = Input::square}, five()); }).find("square"),
            std::string::npos);
  const Matrix x = normal_matrix(9, 2, 1);
  EXPECT_NE(
      message_of([&] { fit(Divisive{.by = PartBy::bisecting, .metric = ManhattanMetric{}}, x); }).find("manhattan"),
      std::string::npos);
  EXPECT_NE(message_of([&] { fit(Divisive{.by = PartBy::bisecting}, x.topRows(1)); }).find("at least 2"),
            std::string::npos);
}

}  // namespace
}  // namespace lemma
