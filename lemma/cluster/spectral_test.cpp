// lemma/cluster/spectral_test.cpp
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/cluster/spectral.hpp>
#include <lemma/cluster/spectral/affinity_graph.hpp>
#include <lemma/cluster/spectral/cuts.hpp>
#include <lemma/core/random.hpp>
#include <lemma/data/datasets.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/fit.hpp>

#include <tests/golden.hpp>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

Matrix columns_of(std::string_view name, const std::vector<std::string>& columns) {
  const Table table = dataset(name);
  Matrix x(table.rows(), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j)
    x.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(table.column(columns[j]).numbers().values.data(), x.rows());
  return x;
}
Matrix iris() { return columns_of("iris", {"sepal_length", "sepal_width", "petal_length", "petal_width"}); }

/// Two rings, one around the other.
Matrix rings(Index n, std::uint64_t seed) {
  Matrix x = 0.05 * normal_matrix(n, 2, seed);
  for (Index i = 0; i < n; ++i) {
    const double angle = 6.283185307179586 * static_cast<double>(i) / static_cast<double>(n), r = i % 2 == 0 ? 1 : 2;
    x(i, 0) += r * std::cos(angle), x(i, 1) += r * std::sin(angle);
  }
  return x;
}

/// A path 1 − 2 − … − n, as edges.
Matrix path(Index n) {
  Matrix out(n - 1, 3);
  for (Index i = 0; i + 1 < n; ++i) out.row(i) << static_cast<double>(i), static_cast<double>(i + 1), 1;
  return out;
}

void expect_golden(const std::string& id, const Matrix& x, const Spectral& how, const std::vector<Index>& shown) {
  const Golden golden(id);
  Spectral spec = how;
  const auto model = fit(spec, x);
  EXPECT_TRUE(model.certificate.holds()) << id << ": " << model.certificate.message;
  EXPECT_EQ(static_cast<double>(model.parts), golden.number("n_components_graph"));
  EXPECT_TRUE(golden.agrees("degree_sum", Value(model.total_mass)));
  const Vector eigenvalues = golden.vector("eigenvalues_normalised");
  ASSERT_GE(eigenvalues.size(), model.eigenvalues.size());
  for (Index j = 0; j < model.eigenvalues.size(); ++j) EXPECT_NEAR(model.eigenvalues(j), eigenvalues(j), 1e-8) << id;
  const Vector fiedler = golden.vector("fiedler_abs_first6");
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(std::abs(model.fiedler(i)), fiedler(i), 1e-6) << id;
  Index negative = (model.fiedler.array() < 0).count();
  std::vector<Index> sizes{negative, x.rows() - negative};
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes, shown) << id;
  // The normalised cut of the split by sign is where the sweep has passed the negative ones.
  const double cut = model.sweep(negative - 1, 0);
  double mass = 0;
  Spectral again = model.spec;
  const Vector degrees = affinity_graph(again, MemoryRows(x), nullptr, {}).graph.degrees();
  for (Index i = 0; i < x.rows(); ++i) mass += model.fiedler(i) < 0 ? degrees(i) : 0;
  EXPECT_NEAR(cut / mass + cut / (degrees.sum() - mass), golden.number("ncut_sign_split"),
              1e-6 * golden.number("ncut_sign_split"))
      << id;
  spec.mass = VertexMass::one;
  const auto plain = fit(spec, x);
  const Vector unnormalised = golden.vector("eigenvalues_unnormalised");
  for (Index j = 0; j < plain.eigenvalues.size(); ++j) EXPECT_NEAR(plain.eigenvalues(j), unnormalised(j), 1e-7) << id;
  EXPECT_TRUE(plain.certificate.holds()) << id << ": " << plain.certificate.message;
}

TEST(Spectral, HasTheSpectrumOfTheReference) {
  expect_golden("laplacian_iris_rbf", iris(), {.k = 8, .graph = SpectralGraph::full, .sigma = 0.5}, {50, 100});
  expect_golden("laplacian_swiss_roll_k10", columns_of("swiss_roll", {"x", "y", "z"}), {.k = 8, .neighbors = 10},
                {499, 501});
}

TEST(Spectral, PartsRingsThatNoCentresPart) {
  const Matrix x = rings(300, 3);
  for (const SpectralGraph graph : {SpectralGraph::knn, SpectralGraph::mutual}) {
    const auto model = fit(Spectral{.k = 2, .graph = graph, .neighbors = 8}, x);
    EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
    for (Index i = 0; i < 300; ++i) EXPECT_EQ(model.labels(i), static_cast<double>(i % 2 + 1)) << i;
  }
}

TEST(Spectral, OfAGraphInPartsHasAnEigenvalueZeroForEachAndFindsThem) {
  Matrix x = normal_matrix(90, 2, 4);
  for (Index i = 0; i < 90; ++i) x(i, 0) += 100.0 * static_cast<double>(i % 3);
  const auto model = fit(Spectral{.neighbors = 6}, x);
  EXPECT_EQ(model.parts, 3);
  EXPECT_GE(model.k(), 3);
  EXPECT_LT(model.eigenvalues.head(3).maxCoeff(), 1e-10);
  EXPECT_EQ(model.fiedler.size(), 0);
  EXPECT_EQ(model.best_cut.size(), 0);
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_NE(model.warnings[0].find("3 connected parts"), std::string::npos);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const auto three = fit(Spectral{.k = 3, .neighbors = 6}, x);
  EXPECT_EQ(three.normalized_cut, 0);
  for (Index i = 0; i < 90; ++i) EXPECT_EQ(three.labels(i), static_cast<double>(i % 3 + 1)) << i;
  EXPECT_NE(
      message_of([&] { fit(Spectral{.k = 2, .neighbors = 6}, x); }).find("k is 2, but the graph has 3 connected parts"),
      std::string::npos);
  EXPECT_NE(message_of([&] { fit(Spectral{.neighbors = 6, .cut = SpectralCut::sweep}, x); }).find("3 connected parts"),
            std::string::npos);
}

TEST(Spectral, OfAPathOfTenCutsItInTheMiddleAndTheSparsityIsBelowHalfOfLambda) {
  const Matrix edges = path(10);
  const auto model = fit(Spectral{.input = Input::pairs, .cut = SpectralCut::sweep}, edges);
  EXPECT_EQ(model.count(), 10);
  EXPECT_EQ(model.edges, 9);
  EXPECT_EQ(model.total_mass, 18);
  EXPECT_EQ(model.things.front(), "0");
  for (Index i = 0; i < 10; ++i) EXPECT_EQ(model.labels(i), i < 5 ? 1 : 2);
  EXPECT_NEAR(model.best_cut(0), 1.0 / 9, 1e-14);
  EXPECT_NEAR(model.best_cut(1), 1.0 / 81, 1e-14);
  EXPECT_NEAR(model.eigenvalues(1), 1 - std::cos(3.141592653589793 / 9), 1e-12);
  EXPECT_LE(model.cheeger(0), model.best_cut(0));
  EXPECT_GE(model.cheeger(1), model.best_cut(0));
  EXPECT_LT(model.best_cut(1), model.cheeger(0)) << "Cheeger's bounds are not for the product of the masses";
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  const auto ratio = fit(Spectral{.input = Input::pairs, .mass = VertexMass::one, .cut = SpectralCut::sweep}, edges);
  EXPECT_NEAR(ratio.eigenvalues(1), 2 - 2 * std::cos(3.141592653589793 / 10), 1e-12);
  EXPECT_NEAR(ratio.best_cut(0), 0.2, 1e-14);
}

TEST(Spectral, TheSweepIsThatOfTheDefinition) {
  const Matrix x = normal_matrix(60, 2, 8);
  Spectral spec{.k = 3, .neighbors = 6, .affinity = SpectralAffinity::gaussian};
  const AffinityGraph data = affinity_graph(spec, MemoryRows(x), nullptr, {});
  const Vector mass = masses(data.graph, VertexMass::degree);
  RandomStream stream(2);
  const auto order = permutation(stream, 60);
  const Matrix a = sweep_of(data.graph, mass, order), b = sweep_by_edges(data.graph, mass, order);
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-12 * a.maxCoeff());
  for (const Index s : {0, 17, 58}) {
    double cut = 0, inside = 0;
    for (Index i = 0; i <= s; ++i) {
      inside += mass(order[at(i)]);
      for (std::size_t e = 0; e < data.graph.neighbors_of(order[at(i)]).size(); ++e)
        if (std::find(order.begin(), order.begin() + s + 1, data.graph.neighbors_of(order[at(i)])[e]) ==
            order.begin() + s + 1)
          cut += data.graph.weights_of(order[at(i)])[e];
    }
    EXPECT_NEAR(a(s, 0), cut, 1e-12 * a.col(0).maxCoeff());
    EXPECT_NEAR(a(s, 1), cut / (inside * (mass.sum() - inside)), 1e-12);
    EXPECT_NEAR(a(s, 2), cut / std::min(inside, mass.sum() - inside), 1e-12);
  }
}

TEST(Spectral, TakesASquareOfAffinitiesOrEdgesOfTheSameGraph) {
  const Matrix x = rings(80, 5);
  Spectral spec{.k = 2, .neighbors = 8, .affinity = SpectralAffinity::gaussian};
  const Graph graph = affinity_graph(spec, MemoryRows(x), nullptr, {}).graph;
  Matrix square = Matrix::Zero(80, 80), edges(graph.entries() / 2, 3);
  Index next = 0;
  for (Index i = 0; i < 80; ++i)
    for (std::size_t e = 0; e < graph.neighbors_of(i).size(); ++e) {
      const Index j = graph.neighbors_of(i)[e];
      square(i, j) = graph.weights_of(i)[e];
      if (i < j) edges.row(next++) << static_cast<double>(i), static_cast<double>(j), graph.weights_of(i)[e];
    }
  const auto rows = fit(spec, x), given = fit(Spectral{.k = 2, .input = Input::square}, square),
             listed = fit(Spectral{.k = 2, .input = Input::pairs}, edges);
  EXPECT_EQ(rows.labels, given.labels);
  EXPECT_EQ(rows.labels, listed.labels);
  EXPECT_NEAR(rows.eigenvalues(1), listed.eigenvalues(1), 1e-10);
  EXPECT_TRUE(listed.certificate.holds()) << listed.certificate.message;
  EXPECT_TRUE(given.certificate.holds()) << given.certificate.message;
}

TEST(Spectral, TheNaturalWrongAlgorithmsFailTheCertificate) {
  Matrix x = normal_matrix(150, 2, 9);
  for (Index i = 0; i < 150; ++i) x(i, 0) += 3.0 * static_cast<double>(i % 3);
  const SpectralModel right = fit(Spectral{.k = 3, .neighbors = 15}, x);
  ASSERT_EQ(right.parts, 1);
  ASSERT_TRUE(certify(right, MemoryRows(x), {}).holds()) << certify(right, MemoryRows(x), {}).message;
  Spectral spec = right.spec;
  const Graph graph = affinity_graph(spec, MemoryRows(x), nullptr, {}).graph;
  {  // eigenvectors of the Laplacian that is not normalised
    SpectralModel wrong = fit(Spectral{.k = 3, .neighbors = 15, .mass = VertexMass::one}, x);
    wrong.spec.mass = VertexMass::degree;
    EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds());
  }
  {  // a solver that misses the second eigenvalue: all that is left are true pairs
    Matrix dense;
    dense_rows(scaled_laplacian(graph, VertexMass::degree), 0, 150, dense);
    const Eigenpairs all = symmetric_eigen(dense);
    SpectralModel wrong = right;
    for (Index j = 0; j < wrong.eigenvalues.size(); ++j) {
      const Index from = 149 - (j == 0 ? 0 : j + 1);
      wrong.eigenvalues(j) = std::max(0.0, all.values(from));
      wrong.vectors.col(j) = all.vectors.col(from);
    }
    const Certificate found = certify(wrong, MemoryRows(x), {});
    EXPECT_FALSE(found.holds());
    EXPECT_NE(found.message.find("missed"), std::string::npos) << found.message;
  }
  {  // one row in the wrong cluster
    SpectralModel wrong = right;
    wrong.labels(10) = wrong.labels(10) == 1 ? 2 : 1;
    wrong.sizes.setZero();
    for (const double label : wrong.labels) wrong.sizes(static_cast<Index>(label) - 1) += 1;
    wrong.normalized_cut = normalized_cut(graph, graph.degrees(), wrong.labels, 3);
    EXPECT_FALSE(certify(wrong, MemoryRows(x), {}).holds());
  }
}

TEST(Spectral, AnswersGraphsThatAreNone) {
  Matrix edges(3, 3);
  edges << 0, 1, 1, 1, 2, -0.5, 2, 0, 1;
  const auto refused = [&](const Matrix& data, const Spectral& spec) { return message_of([&] { fit(spec, data); }); };
  EXPECT_NE(refused(edges, {.input = Input::pairs}).find("the edge of '1' and '2' (row 2) has the weight -0.5"),
            std::string::npos);
  edges(1, 2) = 1, edges(2, 0) = 0;
  EXPECT_NE(refused(edges, {.input = Input::pairs}).find("joins '0' to itself"), std::string::npos);
  Matrix square(3, 3);
  square << 0, 1, 0, 1, 0, 2, 0, 3, 0;
  EXPECT_NE(refused(square, {.input = Input::square}).find("it must be the same"), std::string::npos);
  square << 0, 1, 0, 1, 0, -2, 0, -2, 0;
  EXPECT_NE(refused(square, {.input = Input::square}).find("must not be negative"), std::string::npos);
  EXPECT_NE(refused(Matrix::Zero(3, 3), {.input = Input::square}).find("no two vertices are joined"),
            std::string::npos);
  EXPECT_NE(refused(normal_matrix(20, 2, 1), {.graph = SpectralGraph::radius, .radius = 1e-6})
                .find("no two vertices are joined"),
            std::string::npos);
  EXPECT_NE(refused(normal_matrix(20, 2, 1), {.k = 30}).find("k is 30, but there are only 20 vertices"),
            std::string::npos);
  EXPECT_NE(refused(normal_matrix(20, 2, 1), {.k = 3, .cut = SpectralCut::sweep}).find("a sweep cuts into 2"),
            std::string::npos);
  EXPECT_NE(refused(Matrix::Constant(20, 2, 1.0), {.graph = SpectralGraph::full}).find("no sigma follows from them"),
            std::string::npos);
}

TEST(Spectral, OfManyRowsIsFoundByAFewEigenvectorsAlone) {
  const Matrix x = rings(3000, 6);
  const auto model = fit(Spectral{.k = 2, .neighbors = 10}, x);
  EXPECT_TRUE(model.certificate.holds()) << model.certificate.message;
  for (Index i = 0; i < 3000; ++i) ASSERT_EQ(model.labels(i), static_cast<double>(i % 2 + 1)) << i;
}

}  // namespace
}  // namespace lemma
