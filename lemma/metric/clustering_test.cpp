// lemma/metric/clustering_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/error.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/metric/clustering.hpp>
#include <numeric>
#include <tests/golden.hpp>

namespace lemma {
namespace {

/// Two partitions with that contingency table.
std::pair<Labels, Labels> partitions_of(const Matrix& table) {
  std::pair<Labels, Labels> out;
  for (Index i = 0; i < table.rows(); ++i)
    for (Index j = 0; j < table.cols(); ++j)
      for (int copy = 0; copy < table(i, j); ++copy) {
        out.first.push_back(static_cast<int>(i));
        out.second.push_back(static_cast<int>(j));
      }
  return out;
}

TEST(Agreement, MatchesTheReference) {
  const Golden golden("rand_index_table");
  const auto [classes, clusters] = partitions_of(golden.matrix("table"));
  const Matrix table = contingency(classes, clusters);
  EXPECT_EQ(table, golden.matrix("table"));
  EXPECT_TRUE(golden.agrees("adjusted_rand", adjusted_rand_index(table)));
  EXPECT_TRUE(golden.agrees("rand", rand_index(table)));
  EXPECT_TRUE(golden.agrees("mutual_information_nats", mutual_information(table)));
  EXPECT_TRUE(golden.agrees("purity", purity(table)));
  EXPECT_NEAR(normalized_mutual_information(table), 0.7581756800057785, 1e-13);  // scikit-learn
  EXPECT_NEAR(adjusted_mutual_information(table), 0.7551191675800485, 1e-12);    // scikit-learn
}

TEST(Agreement, DoesNotDependOnHowTheClustersAreCalled) {
  const Labels classes{0, 0, 1, 1, 2, 2}, clusters{2, 2, 0, 0, 1, 1};
  for (const auto& measure : agreement_measures(classes, clusters)) {
    const double best = measure.name == "mutual_information"         ? std::log(3.0)
                        : measure.name == "variation_of_information" ? 0.0
                                                                     : 1.0;
    EXPECT_NEAR(measure.value, best, 1e-14) << measure.name;
  }
}

TEST(Agreement, OfIndependentPartitionsIsZeroBeyondChance) {
  double rand = 0, information = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomStream stream(seed);
    Labels a, b;
    for (int i = 0; i < 60; ++i) {
      a.push_back(static_cast<int>(stream.below(3)));
      b.push_back(static_cast<int>(stream.below(4)));
    }
    rand += adjusted_rand_index(contingency(a, b)) / 200;
    information += adjusted_mutual_information(contingency(a, b)) / 200;
  }
  EXPECT_NEAR(rand, 0, 0.01);
  EXPECT_NEAR(information, 0, 0.01);
}

TEST(Agreement, OfOneClusterWithOneClassIsPerfect) {
  const Matrix table{{5.0}};
  EXPECT_EQ(adjusted_rand_index(table), 1);
  EXPECT_EQ(adjusted_mutual_information(table), 1);
  EXPECT_EQ(normalized_mutual_information(table), 1);
}

struct Iris {
  Matrix x = Matrix(150, 4);
  Labels species;
  Iris() {
    const Table table = dataset("iris");
    Index column = 0;
    for (const char* name : {"sepal_length", "sepal_width", "petal_length", "petal_width"}) {
      const auto& values = table.column(name).numbers().values;
      x.col(column++) = Eigen::Map<const Vector>(values.data(), 150);
    }
    const auto& codes = table.column("species").categories().codes;
    species.assign(codes.begin(), codes.end());
  }
};

TEST(Validity, MatchesTheReference) {
  const Golden golden("validity_iris");
  const Iris iris;
  const Vector silhouette = silhouettes(iris.x, iris.species);
  const auto scatter = cluster_scatter(iris.x, iris.species);
  EXPECT_TRUE(golden.agrees("average_silhouette", silhouette.mean()));
  EXPECT_TRUE(golden.agrees("silhouette_first10", Vector(silhouette.head(10))));
  const Vector each{{silhouette.head(50).mean(), silhouette.segment(50, 50).mean(), silhouette.tail(50).mean()}};
  EXPECT_TRUE(golden.agrees("cluster_average_silhouette", each));
  EXPECT_TRUE(golden.agrees("calinski_harabasz", calinski_harabasz(scatter)));
  EXPECT_TRUE(golden.agrees("davies_bouldin", davies_bouldin(scatter)));
  EXPECT_TRUE(golden.agrees("within_ss", scatter.total_within()));
}

TEST(Validity, AWeightOfKIsKCopies) {
  const Matrix x{{0.0}, {1.0}, {5.0}, {7.0}}, copied{{0.0}, {1.0}, {1.0}, {5.0}, {5.0}, {5.0}, {7.0}};
  const auto weighted = validity_measures(x, {0, 0, 1, 1}, Vector{{1.0, 2.0, 3.0, 1.0}});
  const auto expected = validity_measures(copied, {0, 0, 0, 1, 1, 1, 1});
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(weighted[i].value, expected[i].value, 1e-13) << expected[i].name;
}

TEST(Validity, TheSumsOfSquaresAddUpFarFromTheOrigin) {  // Σ ‖x − mean‖² = within + between
  const Matrix x = normal_matrix(90, 3, 5).array() + 1e7;
  Labels clusters;
  for (int i = 0; i < 90; ++i) clusters.push_back(i % 4);
  const auto scatter = cluster_scatter(x, clusters);
  const double total = (x.rowwise() - x.colwise().mean()).squaredNorm();
  EXPECT_NEAR(scatter.total_within() + scatter.between, total, 1e-6 * total);
}

TEST(Validity, IsTheSameForAnyNumberOfThreads) {
  const Iris iris;
  Execution one, four;
  one.threads = 1;
  four.threads = 4;
  EXPECT_EQ(silhouettes(iris.x, iris.species, Vector(), one), silhouettes(iris.x, iris.species, Vector(), four));
}

TEST(Validity, SaysThatASilhouetteOfTooManyRowsIsNotComputed) {
  const Index n = kMostSilhouetteRows + 1;
  Labels clusters(static_cast<std::size_t>(n), 0);
  clusters.back() = 1;
  EXPECT_THROW(silhouettes(Matrix::Zero(n, 1), clusters), Error);
  const auto all = validity_measures(Matrix::Zero(n, 1), clusters);
  const Measure* silhouette = find_measure(all, "silhouette");
  ASSERT_NE(silhouette, nullptr);
  EXPECT_TRUE(std::isnan(silhouette->value));
  EXPECT_NE(silhouette->meaning.find("20000"), std::string::npos);
}

TEST(Validity, OfOneClusterIsNotDefined) {
  const Matrix x{{0.0}, {1.0}};
  EXPECT_THROW(silhouettes(x, {0, 0}), Error);
  EXPECT_TRUE(std::isnan(calinski_harabasz(cluster_scatter(x, {0, 0}))));
  EXPECT_THROW(cluster_scatter(x, {0, -1}), Error);
  EXPECT_THROW(cluster_scatter(x, {0}), Error);
}

TEST(Matching, IsTheBestOfAllPairingsAndItsPricesProveIt) {
  RandomStream stream(4);
  for (const auto& [rows, columns] : {std::pair{4, 4}, {3, 5}, {5, 3}, {1, 4}}) {
    Matrix table(rows, columns);
    for (double& each : table.reshaped()) each = static_cast<double>(stream.below(30));
    const Index m = std::max(rows, columns);
    std::vector<Index> order(static_cast<std::size_t>(m));
    std::iota(order.begin(), order.end(), Index{0});
    double best = 0;
    do {
      double sum = 0;
      for (Index j = 0; j < columns; ++j)
        if (order[static_cast<std::size_t>(j)] < rows) sum += table(order[static_cast<std::size_t>(j)], j);
      best = std::max(best, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    const Matching found = best_matching(table);
    EXPECT_EQ(found.total, best);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) {
        EXPECT_GE(found.row_price(i) + found.column_price(j), table(i, j)) << i << " " << j;
        if (found.row_of[static_cast<std::size_t>(j)] == i) {
          EXPECT_EQ(found.row_price(i) + found.column_price(j), table(i, j));
        }
      }
  }
}

TEST(Agreement, OfFowlkesAndMallowsAndTheVariationOfInformationIsThatOfTheDefinition) {
  const Labels a{0, 0, 0, 1, 1, 2, 2, 2}, b{0, 0, 1, 1, 1, 2, 2, 0};
  double both = 0, in_a = 0, in_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      in_a += a[i] == a[j];
      in_b += b[i] == b[j];
      both += a[i] == a[j] && b[i] == b[j];
    }
  const Matrix table = contingency(a, b);
  EXPECT_NEAR(fowlkes_mallows(table), both / std::sqrt(in_a * in_b), 1e-14);
  EXPECT_NEAR(fowlkes_mallows(contingency(a, a)), 1, 1e-14);
  EXPECT_NEAR(variation_of_information(contingency(a, a)), 0, 1e-14);
  double conditional = 0;  // H(a | b) + H(b | a)
  for (Index i = 0; i < table.rows(); ++i)
    for (Index j = 0; j < table.cols(); ++j)
      if (table(i, j) > 0)
        conditional -=
            table(i, j) / 8 * (std::log(table(i, j) / table.row(i).sum()) + std::log(table(i, j) / table.col(j).sum()));
  EXPECT_NEAR(variation_of_information(table), conditional, 1e-14);
  EXPECT_EQ(matched_share(table), 6.0 / 8);
}

TEST(Agreement, RowsOfNoClusterAreAColumnOfTheirOwn) {
  const Matrix table = contingency({0, 0, 1, 1, 1}, {0, -1, 1, 1, -1});
  EXPECT_EQ(table, (Matrix(2, 3) << 1, 0, 1, 0, 2, 1).finished());
}

TEST(Contingency, OfTwoClusteringsCountsRowsOfNoneInEither) {
  const Matrix table = contingency_of_clusters({0, 0, -1, 1, -1}, {1, -1, 1, 0, -1});
  EXPECT_EQ(table, (Matrix(3, 3) << 0, 1, 1, 1, 0, 0, 0, 1, 1).finished());
  EXPECT_EQ(contingency_of_clusters({0, 1, 1}, {0, 0, 1}), contingency({0, 1, 1}, {0, 0, 1}));
}

}  // namespace
}  // namespace lemma
