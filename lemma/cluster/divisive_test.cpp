// lemma/cluster/divisive_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/divisive.hpp>
#include <lemma/cluster/divisive/diana.hpp>
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

}  // namespace
}  // namespace lemma
