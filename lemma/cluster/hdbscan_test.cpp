// lemma/cluster/hdbscan_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/dbscan.hpp>
#include <lemma/cluster/hdbscan.hpp>
#include <lemma/cluster/hdbscan/condense.hpp>
#include <lemma/core/random.hpp>
#include <lemma/geometry/graph/mutual_reachability.hpp>
#include <lemma/model/fit.hpp>
#include <map>

#include <tests/message_of.hpp>

namespace lemma {
namespace {

/// Three groups of spreads 0.3, 1 and 3, and rows anywhere between.
Matrix densities(Index n, std::uint64_t seed) {
  Matrix x = normal_matrix(n, 2, seed);
  for (Index i = 0; i < n; ++i) {
    const Index group = i % 10 == 0 ? 3 : i % 3;
    const double spread[] = {0.3, 1, 3, 12}, centre[] = {0, 12, 36, 15};
    x.row(i) *= spread[group];
    x(i, 0) += centre[group];
  }
  return x;
}

/// Equal up to the names of the clusters; noise is noise.
bool same_partition(const Vector& a, const Vector& b) {
  std::map<double, double> there, back;
  for (Index i = 0; i < a.size(); ++i) {
    if ((a(i) == 0) != (b(i) == 0)) return false;
    if (there.emplace(a(i), b(i)).first->second != b(i) || back.emplace(b(i), a(i)).first->second != a(i)) return false;
  }
  return true;
}

TEST(Hdbscan, FindsClustersOfDifferentDensities) {
  const Matrix x = densities(600, 4);
  const auto model = fit(Hdbscan{.min_cluster_size = 20}, x);
  EXPECT_EQ(model.k(), 3);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  EXPECT_GT(model.noise, 10);
  double right = 0, there = 0;
  for (Index i = 0; i < x.rows(); ++i)
    if (i % 10 != 0 && model.labels(i) > 0) {
      ++there;
      std::map<double, int> count;
      for (Index j = i % 3; j < x.rows(); j += 3)
        if (j % 10 != 0 && model.labels(j) > 0) ++count[model.labels(j)];
      right += std::max_element(count.begin(), count.end(), [](auto& a, auto& b) {
                 return a.second < b.second;
               })->first == model.labels(i);
    }
  EXPECT_GT(right / there, 0.99);
  EXPECT_EQ(model.strengths.maxCoeff(), 1);
  EXPECT_EQ((model.strengths.array() == 0).count(), model.noise);
  EXPECT_TRUE((model.outliers.array() >= 0).all() && (model.outliers.array() < 1).all());
}

TEST(Hdbscan, TheHierarchyAtAHeightIsWhatDbscanFindsWithThatRadius) {
  const Matrix x = densities(200, 9);
  const auto model = fit(Hdbscan{.min_cluster_size = 5, .min_points = 4}, x);
  for (const double radius : {0.2, 0.7, 1.5, 4.0}) {
    const auto flat = fit(Dbscan{.radius = radius, .min_points = 4}, x);
    Labels of_core(200, -1);
    for (Index c = 0; c < flat.core_rows.size(); ++c)
      of_core[at(static_cast<Index>(flat.core_rows(c)) - 1)] = static_cast<int>(flat.clusters(c));
    const Labels cut = cut_into(model.merges, 200 - (model.heights.array() <= radius).count());
    for (Index i = 0; i < 200; ++i) {
      EXPECT_EQ(model.core(i) <= radius, of_core[at(i)] > 0) << i;
      for (Index j = 0; j < i; ++j)
        if (of_core[at(i)] > 0 && of_core[at(j)] > 0) {
          EXPECT_EQ(cut[at(i)] == cut[at(j)], of_core[at(i)] == of_core[at(j)]) << i << " " << j;
        }
    }
  }
}

TEST(Hdbscan, WithOneRowInTheCoreDistanceIsSingleLinkage) {
  const Matrix x = normal_matrix(80, 3, 2);
  const auto model = fit(Hdbscan{.min_points = 1}, x);
  const auto plain = spanning_tree(Dissimilarities::of_rows(x, Metric()));
  EXPECT_EQ(model.core, Vector::Zero(80));
  for (Index t = 0; t < 79; ++t) EXPECT_EQ(model.heights(t), plain[at(t)].weight);
}

TEST(Hdbscan, TheSpanningTreeIsTheOneOfAllPairs) {
  const Matrix x = normal_matrix(120, 2, 6);
  const auto model = fit(Hdbscan{}, x);
  const Dissimilarities all = Dissimilarities::of_rows(x, Metric());
  std::vector<Edge> pairs;
  for (Index i = 0; i < 120; ++i)
    for (Index j = i + 1; j < 120; ++j)
      pairs.push_back({i, j, std::max(all(i, j), std::max(model.core(i), model.core(j)))});
  const auto expected = spanning_tree(Graph::of_edges(120, pairs));
  const auto kept = mutual_reachability_tree(all, {model.core.data(), 120});
  EXPECT_EQ(kept, expected);
  EXPECT_EQ(mutual_reachability_tree(Dissimilarities::on_demand(x, Metric()), {model.core.data(), 120}), expected);
}

TEST(Hdbscan, OfManyRowsIsTheHierarchyOfAllPairsAndAWrongOneIsFoundOut) {
  const Matrix x = densities(2500, 8);  // enough for float32 to be asked first, by the fit and by the certificate
  const auto model = fit(Hdbscan{.min_cluster_size = 30, .min_points = 6}, x);
  ASSERT_TRUE(model.certificate.holds()) << model.certificate.message;
  const auto tree = mutual_reachability_tree(Dissimilarities::on_demand(x, Metric()), {model.core.data(), 2500});
  for (Index t = 0; t < 2499; ++t) ASSERT_EQ(model.heights(t), tree[at(t)].weight);
  const auto one = fit(Hdbscan{.min_cluster_size = 30, .min_points = 6}, x, {.threads = 1});
  EXPECT_EQ(one.merges, model.merges);
  EXPECT_EQ(one.labels, model.labels);
  const auto message = [&](const HdbscanModel& wrong) {
    const Certificate found = certify(wrong, MemoryRows(x), {});
    return found.holds() ? "it holds" : found.message;
  };
  HdbscanModel higher = model;  // the last merge higher than what joins its sides
  higher.heights(2498) *= 1.5;
  EXPECT_NE(message(higher).find("Merge 2499 has the height"), std::string::npos) << message(higher);
  HdbscanModel lower = model;
  lower.heights(1000) = lower.heights(999);
  EXPECT_NE(message(lower).find("Merge 1001 has the height"), std::string::npos) << message(lower);
  HdbscanModel wide = model;
  wide.core(7) *= 1.2;
  EXPECT_NE(message(wide).find("core distance"), std::string::npos) << message(wide);
  HdbscanModel other = model;  // by other core distances
  other.spec.min_points = 5;
  EXPECT_NE(message(other).find("core distance"), std::string::npos) << message(other);
}

TEST(Hdbscan, StabilitiesAreThoseOfTheLevelsTakenOneByOne) {
  // By definition: at each level (height) the components with enough rows; a cluster lives as long as it does not part.
  const Matrix x = densities(90, 3);
  const auto model = fit(Hdbscan{.min_cluster_size = 6, .min_points = 3}, x);
  const double greatest = model.heights(model.heights.size() - 1);
  for (Index c = 1; c < model.tree.rows(); ++c) {
    const double birth = model.tree(c, 2), split = model.tree(c, 3);
    double sum = 0;  // ∫ (rows left at λ) dλ, level by level
    const MergeTree tree(model.merges, "test");
    const Condensed condensed = condense(tree, model.heights, 6);
    const CondensedCluster& own = condensed.clusters[at(c)];
    for (Index place = tree.first(own.node); place < tree.first(own.node) + own.size; ++place) {
      const Index row = tree.order()[at(place)];
      double leaves = birth;  // lowest level above the split at which its component has 6 rows
      for (Index t = model.heights.size(); t-- > 0;) {
        const double h = model.heights(t);
        if (h >= birth || h < split) continue;
        const Labels cut = cut_into(model.merges, 90 - (model.heights.array() <= h).count());
        if (std::count(cut.begin(), cut.end(), cut[at(row)]) >= 6) leaves = h;
      }
      sum += greatest / leaves - greatest / birth;
    }
    EXPECT_NEAR(model.tree(c, 4), sum, 1e-9 * std::max(1.0, sum)) << c;
  }
}

TEST(Hdbscan, DoesNotDependOnTheOrderOfTheRowsThoughManyHeightsAreEqual) {
  Matrix grid(100, 2);  // all distances to neighbours are equal
  for (Index i = 0; i < 100; ++i)
    grid.row(i) << static_cast<double>(i % 10 + (i % 10 > 4 ? 2 : 0)), static_cast<double>(i / 10);
  RandomStream stream(3);
  const auto order = permutation(stream, 100);
  Matrix shuffled(100, 2);
  for (Index i = 0; i < 100; ++i) shuffled.row(i) = grid.row(order[at(i)]);
  const auto a = fit(Hdbscan{.min_cluster_size = 8}, grid), b = fit(Hdbscan{.min_cluster_size = 8}, shuffled);
  Vector back(100);
  for (Index i = 0; i < 100; ++i) back(order[at(i)]) = b.labels(i);
  EXPECT_EQ(a.k(), 2);
  EXPECT_TRUE(same_partition(a.labels, back));
  EXPECT_TRUE(certify(a, MemoryRows(shuffled), {}).holds()) << certify(a, MemoryRows(shuffled), {}).message;
}

TEST(Hdbscan, LeavesAreSmallerThanTheClustersOfGreatestMass) {
  const Matrix x = densities(300, 8);
  const auto mass = fit(Hdbscan{}, x), leaf = fit(Hdbscan{.selection = ClusterSelection::leaf}, x);
  EXPECT_TRUE(leaf.certificate.holds()) << leaf.certificate.message;
  EXPECT_GE(leaf.k(), mass.k());
  for (Index c = 0; c < leaf.tree.rows(); ++c) EXPECT_EQ(leaf.tree(c, 5) > 0, c > 0 && leaf.tree(c, 3) == 0);
}

TEST(Hdbscan, TheNaturalWrongAlgorithmsFailTheCertificate) {
  const Matrix x = densities(150, 5);
  const HdbscanModel right = fit(Hdbscan{.min_cluster_size = 8}, x);
  ASSERT_TRUE(certify(right, MemoryRows(x), {}).holds());
  const auto with_tree = [&](const std::vector<Edge>& edges) {
    HdbscanModel wrong = right;
    std::vector<Joined> joined;
    for (const Edge& each : edges) joined.push_back({each.from, each.to, each.weight});
    wrong.merges = merges_of(joined);
    for (Index t = 0; t < wrong.heights.size(); ++t) wrong.heights(t) = joined[at(t)].height;
    const MergeTree tree(wrong.merges, "test");
    describe(wrong, condense(tree, wrong.heights, 8), tree);
    return certify(wrong, MemoryRows(x), {});
  };
  // single linkage of the distances themselves, as if rows did not have to reach others
  EXPECT_FALSE(with_tree(spanning_tree(Dissimilarities::of_rows(x, Metric()))).holds());
  // another spanning tree: all rows joined to the first
  const Dissimilarities all = Dissimilarities::of_rows(x, Metric());
  std::vector<Edge> star;
  for (Index i = 1; i < 150; ++i) star.push_back({0, i, std::max({all(0, i), right.core(0), right.core(i)})});
  std::sort(star.begin(), star.end(), [](const Edge& a, const Edge& b) { return a.weight < b.weight; });
  EXPECT_FALSE(with_tree(star).holds());
  {  // core distances that do not count the row itself
    HdbscanModel wrong = fit(Hdbscan{.min_cluster_size = 8, .min_points = 9}, x);
    wrong.spec.min_points = 8;
    EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds());
  }
  {  // the leaves told as the choice of greatest mass
    HdbscanModel wrong = fit(Hdbscan{.min_cluster_size = 3, .selection = ClusterSelection::leaf}, x);
    wrong.spec.selection = ClusterSelection::eom;
    EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds());
  }
}

TEST(Hdbscan, TakesASquareAndAnswersWhatItCannotDo) {
  const Matrix x = densities(120, 6);
  const auto rows = fit(Hdbscan{}, x),
             given = fit(Hdbscan{.input = Input::square}, Dissimilarities::of_rows(x, Metric()).square());
  EXPECT_EQ(rows.labels, given.labels);
  EXPECT_TRUE(given.certificate.holds()) << given.certificate.message;
  EXPECT_NE(message_of([&] {
              fit(Hdbscan{}, normal_matrix(3, 2, 1));
            }).find("min_cluster_size is 5, but there are only 3 rows"),
            std::string::npos);
  EXPECT_NE(message_of([&] { fit(Hdbscan{.input = Input::pairs}, x); }).find("takes rows or a square"),
            std::string::npos);
  const auto equal = fit(Hdbscan{}, Matrix::Constant(30, 2, 3.0));
  EXPECT_EQ(equal.k(), 0);
  EXPECT_EQ(equal.noise, 30);
  EXPECT_TRUE(equal.certificate.holds()) << equal.certificate.message;
  EXPECT_FALSE(equal.warnings.empty());
}

}  // namespace
}  // namespace lemma
