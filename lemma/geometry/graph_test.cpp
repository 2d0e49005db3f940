// lemma/geometry/graph_test.cpp
#include <cmath>
#include <gtest/gtest.h>
#include <lemma/core/random.hpp>
#include <lemma/geometry/graph.hpp>
#include <lemma/geometry/graph/concurrent_sets.hpp>
#include <lemma/geometry/graph/mutual_reachability.hpp>
#include <lemma/geometry/graph/union_find.hpp>
#include <numeric>
#include <rapidcheck/gtest.h>
#include <set>
#include <tests/message_of.hpp>

namespace lemma {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
using Edges = std::vector<Edge>;

/// All weights; −1 where there is no edge.
Matrix dense(const Graph& graph) {
  Matrix out = Matrix::Constant(graph.count(), graph.count(), -1);
  for (Index i = 0; i < graph.count(); ++i)
    for (std::size_t k = 0; k < graph.neighbors_of(i).size(); ++k)
      out(i, graph.neighbors_of(i)[k]) = graph.weights_of(i)[k];
  return out;
}

std::vector<Index> all_of(const Graph& graph) {
  std::vector<Index> out(static_cast<std::size_t>(graph.count()));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

TEST(Graph, OfEdgesIsSymmetricUnlessDirected) {
  const Edges edges = {{0, 2, 5}, {2, 1, 0}, {0, 2, 5}};  // said twice is said once
  const Graph graph = Graph::of_edges(4, edges), directed = Graph::of_edges(4, edges, true);
  EXPECT_EQ(graph.matrix().start, (std::vector<Index>{0, 1, 2, 4, 4}));
  EXPECT_EQ(graph.matrix().column, (std::vector<std::int32_t>{2, 2, 0, 1}));
  EXPECT_EQ(graph.matrix().value, (std::vector<double>{5, 0, 5, 0}));
  EXPECT_EQ(directed.matrix().column, (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(graph.degrees(), (Vector(4) << 5, 0, 5, 0).finished());
  EXPECT_EQ(Graph().count(), 0);
}

TEST(Graph, NamesTheEdgeThatIsWrong) {
  const auto said = [](const Edges& edges) { return message_of([&] { Graph::of_edges(3, edges); }); };
  EXPECT_EQ(said({{0, 1, 1}, {0, 3, 1}}), "edge 2: there is no vertex 4 among 3");
  EXPECT_EQ(said({{1, 1, 1}}), "edge 1: it leads from vertex 2 to itself");
  EXPECT_TRUE(contains(said({{0, 1, -2}}), "is -2, must be finite and not negative"));
  EXPECT_TRUE(contains(said({{0, 1, NAN}}), "nan"));
  EXPECT_EQ(said({{0, 1, 1}, {1, 0, 2}}), "edge 2: the weight between vertices 1 and 2 is 2, but edge 1 says 1");
}

TEST(Graph, OfNeighboursIsWhatTheListsSay) {
  const Matrix x = normal_matrix(60, 2, 1);
  const Neighbors search(x, Metric());
  const auto lists = search.nearest_own(4);
  Matrix listed = Matrix::Constant(60, 60, -1);
  for (Index i = 0; i < 60; ++i)
    for (std::size_t k = 0; k < 4; ++k) listed(i, lists.rows_of(i)[k]) = lists.distances_of(i)[k];
  EXPECT_EQ(dense(knn_graph(search, 4, Join::directed)), listed);
  EXPECT_TRUE(knn_graph(search, 4, Join::directed).is_directed());
  const Matrix back = listed.transpose();
  EXPECT_EQ(dense(knn_graph(search, 4, Join::mutual)), listed.cwiseMin(back));
  EXPECT_EQ(dense(knn_graph(search, 4, Join::either)), listed.cwiseMax(back));
}

TEST(Graph, WithinARadiusJoinsThosePairs) {
  const Matrix x = normal_matrix(80, 3, 2);
  Matrix expected = Dissimilarities::of_rows(x, Metric()).square();
  for (Index i = 0; i < 80; ++i)
    for (Index j = 0; j < 80; ++j)
      if (i == j || expected(i, j) > 0.8) expected(i, j) = -1;
  EXPECT_EQ(dense(radius_graph(Neighbors(x, Metric()), 0.8)), expected);
  EXPECT_EQ(radius_graph(Neighbors(Matrix::Ones(5, 2), Metric()), 0).entries(), 20) << "copies are 0 apart, and joined";
}

TEST(Graph, KeepsItsEdgesWithOtherWeightsAndAmongSomeVertices) {
  const Graph graph = Graph::of_edges(4, Edges{{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {3, 0, 4}});
  EXPECT_EQ(dense(graph.reweighted([](double) { return 1; })),
            (dense(graph).array() >= 0).select(1.0, Matrix::Constant(4, 4, -1)));
  EXPECT_TRUE(contains(message_of([&] { graph.reweighted([](double w) { return 2 - w; }); }),
                       "the weight 4 of an edge became -2"));
  const std::vector<Index> some = {3, 0, 2};
  EXPECT_EQ(dense(graph.induced(some)), (Matrix(3, 3) << -1, 4, 3, 4, -1, -1, 3, -1, -1).finished());
  EXPECT_TRUE(contains(message_of([&] { graph.induced(std::vector<Index>{1, 1}); }), "taken twice"));
  EXPECT_TRUE(contains(message_of([&] { graph.induced(std::vector<Index>{9}); }), "no vertex 10"));
}

TEST(Components, AreNumberedByTheirFirstVertices) {
  const Graph graph = Graph::of_edges(7, Edges{{5, 1, 1}, {2, 4, 0}, {4, 6, 1}}, true);
  const Components parts = components(graph);
  EXPECT_EQ(parts.label, (Labels{0, 1, 2, 3, 2, 1, 2}));
  EXPECT_EQ(parts.size, (std::vector<Index>{1, 2, 3, 1}));
  EXPECT_EQ(parts.largest(), 2);
  EXPECT_EQ(components(Graph()).count(), 0);
}

/// Prim as in the textbook, on a matrix, with ties by vertices.
Edges written_tree(const Matrix& d) {
  const Index n = d.rows();
  Edges tree;
  std::vector<bool> inside(static_cast<std::size_t>(n), false);
  inside[0] = true;
  const auto key = [](const Edge& e) { return std::tuple(e.weight, e.from, e.to); };
  for (Index step = 1; step < n; ++step) {
    std::optional<Edge> best;
    for (Index i = 0; i < n; ++i)
      for (Index j = i + 1; j < n; ++j)
        if (inside[static_cast<std::size_t>(i)] != inside[static_cast<std::size_t>(j)])
          if (const Edge e{i, j, d(i, j)}; !best || key(e) < key(*best)) best = e;
    inside[static_cast<std::size_t>(best->from)] = inside[static_cast<std::size_t>(best->to)] = true;
    tree.push_back(*best);
  }
  std::sort(tree.begin(), tree.end(), [&](const Edge& a, const Edge& b) { return key(a) < key(b); });
  return tree;
}

/// The complete graph of a matrix.
Graph complete(const Matrix& d) {
  Edges edges;
  for (Index i = 0; i < d.rows(); ++i)
    for (Index j = i + 1; j < d.rows(); ++j) edges.push_back({i, j, d(i, j)});
  return Graph::of_edges(d.rows(), edges);
}

RC_GTEST_PROP(SpanningTree, IsTheSameFromPrimOnDemandKeptAndKruskal, ()) {
  const Index n = *rc::gen::inRange(1, 40);
  const auto seed = static_cast<std::uint64_t>(*rc::gen::inRange(0, 1 << 20));
  const double step = *rc::gen::element(1e-6, 0.5, 3.0);  // ties, copies
  const Matrix x = (normal_matrix(n, 2, seed) / step).array().round() * step;
  const auto kept = Dissimilarities::of_rows(x, Metric());
  const Edges tree = written_tree(kept.square());
  RC_ASSERT(spanning_tree(kept) == tree);
  RC_ASSERT(spanning_tree(Dissimilarities::on_demand(x, Metric())) == tree);
  RC_ASSERT(spanning_tree(complete(kept.square())) == tree);
}

TEST(SpanningTree, IsTheSameOnAnyNumberOfThreads) {
  const Matrix x = normal_matrix(5000, 2, 3);  // more than one chunk
  const auto all = Dissimilarities::on_demand(x, Metric());
  const Edges one = spanning_tree(all, {.threads = 1});
  EXPECT_EQ(one, spanning_tree(all, {.threads = 4}));
  // what holds the graph of nearest neighbours together is in the tree: each point's nearest other
  const auto nearest = Neighbors(x, Metric()).nearest_own(1);
  std::set<std::pair<Index, Index>> pairs;
  for (const Edge& e : one) pairs.insert({e.from, e.to});
  for (Index i = 0; i < 5000; ++i) {
    const Index j = nearest.row[static_cast<std::size_t>(i)];
    EXPECT_TRUE(pairs.contains({std::min(i, j), std::max(i, j)}));
  }
}

TEST(SpanningTree, OfAGraphInPartsIsAForest) {
  const Graph graph = Graph::of_edges(5, Edges{{0, 1, 3}, {1, 2, 1}, {0, 2, 2}, {3, 4, 0}});
  EXPECT_EQ(spanning_tree(graph), (Edges{{3, 4, 0}, {1, 2, 1}, {0, 2, 2}}));
  EXPECT_EQ(spanning_tree(Graph::of_edges(3, Edges{{0, 1, 3}, {1, 0, 2}, {2, 1, 1}}, true)),
            (Edges{{1, 2, 1}, {0, 1, 2}}));
}

TEST(SpanningTree, OfLittleAndOfWhatCannotBeCompared) {
  EXPECT_TRUE(spanning_tree(Dissimilarities::of_square(Matrix(0, 0))).empty());
  EXPECT_TRUE(spanning_tree(Dissimilarities::of_rows(Matrix::Ones(1, 2), Metric())).empty());
  EXPECT_EQ(spanning_tree(Dissimilarities::on_demand(Matrix::Ones(3, 2), Metric())), (Edges{{0, 1, 0}, {0, 2, 0}}));
  const Matrix rows = (Matrix(2, 2) << 1, NAN, NAN, 4).finished();
  EXPECT_TRUE(contains(message_of([&] {
                         spanning_tree(Dissimilarities::on_demand(rows, GowerMetric{}, {"a", "b"}));
                       }),
                       "'a' and 'b' is not a number"));
}

class CancelledAtOnce final : public Progress {
 public:
  void report(double, std::string_view) override {}
  bool cancelled() const override { return true; }
};

TEST(SpanningTree, AndShortestPathsCanBeCancelled) {
  CancelledAtOnce progress;
  const Matrix x = normal_matrix(100, 2, 3);
  EXPECT_THROW(spanning_tree(Dissimilarities::of_rows(x, Metric()), {.progress = &progress}), Cancelled);
  const Graph graph = knn_graph(Neighbors(x, Metric()), 3);
  EXPECT_THROW(shortest_paths(graph, all_of(graph), {.progress = &progress}), Cancelled);
}

RC_GTEST_PROP(ShortestPaths, AreThoseOfFloydAndWarshall, ()) {
  const Index n = *rc::gen::inRange(1, 25);
  const bool directed = *rc::gen::arbitrary<bool>();
  std::set<std::pair<Index, Index>> taken;
  Edges edges;
  for (int e = *rc::gen::inRange(0, 60); e > 0 && n > 1; --e) {
    const Index i = *rc::gen::inRange<Index>(0, n), j = *rc::gen::inRange<Index>(0, n);
    if (i == j || taken.contains({i, j}) || (!directed && taken.contains({j, i}))) continue;
    taken.insert({i, j});
    edges.push_back({i, j, static_cast<double>(*rc::gen::inRange(0, 10))});
  }
  const Graph graph = Graph::of_edges(n, edges, directed);
  Matrix d = dense(graph);
  for (double& w : d.reshaped()) w = w < 0 ? HUGE_VAL : w;
  d.diagonal().setZero();
  for (Index k = 0; k < n; ++k)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) d(i, j) = std::min(d(i, j), d(i, k) + d(k, j));  // whole numbers: exact
  RC_ASSERT(shortest_paths(graph, all_of(graph)) == d);
}

TEST(ShortestPaths, AreTheSameOnAnyNumberOfThreadsAndFromAnyCompany) {
  const Graph graph = knn_graph(Neighbors(normal_matrix(400, 3, 4), Metric()), 5);
  const Matrix one = shortest_paths(graph, all_of(graph), {.threads = 1});
  EXPECT_EQ(one, shortest_paths(graph, all_of(graph), {.threads = 4}));
  const std::vector<Index> some = {17, 3};
  const Matrix two = shortest_paths(graph, some);
  EXPECT_EQ(two.row(0), one.row(17));
  EXPECT_EQ(two.row(1), one.row(3));
  EXPECT_TRUE(contains(message_of([&] { shortest_paths(graph, std::vector<Index>{400}); }), "no vertex 401"));
}

Matrix with_zeros(const Csr& x) {
  Matrix out;
  return dense_rows(x, 0, x.rows(), out);
}

TEST(Laplacian, OfAPathAndALonelyVertex) {
  const Graph path = Graph::of_edges(4, Edges{{0, 1, 2}, {1, 2, 2}});
  EXPECT_EQ(with_zeros(laplacian(path)),
            (Matrix(4, 4) << 2, -2, 0, 0, -2, 4, -2, 0, 0, -2, 2, 0, 0, 0, 0, 0).finished());
  const double r = -1 / std::sqrt(2.0);
  const Matrix symmetric = (Matrix(4, 4) << 1, r, 0, 0, r, 1, r, 0, 0, r, 1, 0, 0, 0, 0, 0).finished();
  EXPECT_LT((with_zeros(laplacian(path, Laplacian::symmetric)) - symmetric).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(with_zeros(laplacian(path, Laplacian::random_walk)),
            (Matrix(4, 4) << 1, -1, 0, 0, -0.5, 1, -0.5, 0, 0, -1, 1, 0, 0, 0, 0, 0).finished());
  EXPECT_TRUE(contains(message_of([] { laplacian(Graph::of_edges(2, Edges{{0, 1, 1}}, true)); }), "directed"));
}

TEST(Laplacian, IsSymmetricSumsToZeroAndCountsTheParts) {
  const Matrix x = normal_matrix(120, 2, 5);
  const Graph graph = radius_graph(Neighbors(x, Metric()), 0.35).reweighted([](double d) { return std::exp(-d * d); });
  const Matrix plain = with_zeros(laplacian(graph)), even = with_zeros(laplacian(graph, Laplacian::symmetric)),
               walk = with_zeros(laplacian(graph, Laplacian::random_walk));
  EXPECT_EQ(plain, plain.transpose());
  EXPECT_EQ(even, even.transpose());
  EXPECT_LT(plain.rowwise().sum().cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT(walk.rowwise().sum().cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT((even * graph.degrees().cwiseSqrt()).cwiseAbs().maxCoeff(), 1e-13);
  const Components parts = components(graph);
  ASSERT_GT(parts.count(), 1);
  for (Index c = 0; c < parts.count(); ++c) {  // the indicator of each part is in the null space
    Vector indicator(120);
    for (Index i = 0; i < 120; ++i) indicator(i) = parts.label[static_cast<std::size_t>(i)] == c ? 1 : 0;
    EXPECT_LT((plain * indicator).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(ShortestPaths, AreTheSameBitsWhicheverSourcesTheySetOutWith) {
  const Matrix x = normal_matrix(150, 2, 6);
  const Graph graph = knn_graph(Neighbors(x, Metric()), 4);
  std::vector<Index> sources;  // in no order, some twice
  for (Index k = 0; k < 170; ++k) sources.push_back(k * 37 % 150);
  const Matrix together = shortest_paths(graph, sources, {.threads = 2});
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Index alone[] = {sources[s]};
    EXPECT_EQ(Vector(together.row(static_cast<Index>(s))), Vector(shortest_paths(graph, alone).row(0)));
  }
}

TEST(ShortestPaths, FromAPlaceOutsideLeadThroughItsBestDoor) {
  const std::vector<Edge> edges{{0, 1, 1}, {1, 2, 1}, {2, 3, 5}};
  const Graph path = Graph::of_edges(5, edges);
  const std::vector<std::int32_t> doors{0, 2};
  const std::vector<double> far{2, 0.5};
  const Vector found = shortest_paths_from(path, doors, far);
  EXPECT_EQ(found(0), 2);
  EXPECT_EQ(found(1), 1.5);
  EXPECT_EQ(found(2), 0.5);
  EXPECT_EQ(found(3), 5.5);
  EXPECT_EQ(found(4), HUGE_VAL);
}

/// Groups of which some are far apart, some touch, with copies of rows and rows far off.
Matrix groups(Index n, Index width, std::uint64_t seed) {
  Matrix x = normal_matrix(n, width, seed);
  for (Index i = 0; i < n; ++i) x(i, 0) += static_cast<double>(i % 5 * (i % 5) * 6);
  for (Index i = 0; i < n / 10; ++i) x.row(i) = x.row(n - 1 - i);
  for (Index i = 0; i < 5; ++i) x(i, width - 1) += 100.0 * static_cast<double>(i);
  return x;
}

TEST(MutualReachabilityTree, FromListsIsTheOneOfAllPairs) {
  for (const Index width : {2, 10})
    for (const Index reach : {1, 5, 20}) {
      const Matrix x = groups(900, width, 3);
      const BoundMetric metric(Metric(), width);
      const auto lists = Neighbors(x, metric).nearest(x, std::max<Index>(8, reach));
      std::vector<double> core;
      for (Index i = 0; i < x.rows(); ++i) core.push_back(lists.distances_of(i)[static_cast<std::size_t>(reach - 1)]);
      const auto expected = mutual_reachability_tree(Dissimilarities::on_demand(x, metric), core);
      EXPECT_EQ(mutual_reachability_tree(x, metric, lists, core), expected) << width << " " << reach;
      EXPECT_EQ(mutual_reachability_tree(x, metric, lists, core, {.threads = 1}), expected) << width << " " << reach;
    }
}

TEST(MutualReachabilityTree, OfRowsOnALatticeIsTheOneOfAllPairsToo) {
  Matrix x(400, 2);  // equal distances everywhere, so that edges are told apart by their vertices alone
  for (Index i = 0; i < 400; ++i) x.row(i) << static_cast<double>(i % 20), static_cast<double>(i / 20);
  const BoundMetric metric(Metric(), 2);
  const auto lists = Neighbors(x, metric).nearest(x, 8);
  const std::vector<double> none(400, 0.0);
  EXPECT_EQ(mutual_reachability_tree(x, metric, lists, none), spanning_tree(Dissimilarities::of_rows(x, Metric())));
  const Matrix equal = Matrix::Ones(300, 2);  // all pairs get through: then it is Prim's
  EXPECT_EQ(mutual_reachability_tree(equal, metric, Neighbors(equal, metric).nearest(equal, 3),
                                     std::vector<double>(300, 0.0)),
            spanning_tree(Dissimilarities::of_rows(equal, Metric())));
}

TEST(SpanningTree, OfManyRowsByWayOfListsIsPrims) {
  for (const Index width : {2, 10}) {
    const Matrix x = groups(2500, width, 7);
    const BoundMetric metric(Metric(), width);
    EXPECT_EQ(spanning_tree(x, metric), spanning_tree(Dissimilarities::on_demand(x, metric))) << width;
  }
  const Matrix x = groups(2100, 3, 8);
  const BoundMetric manhattan(Metric(ManhattanMetric{}), 3);
  EXPECT_EQ(spanning_tree(x, manhattan), spanning_tree(Dissimilarities::on_demand(x, manhattan)));
}

TEST(ConcurrentSets, AreTheSetsOfOneThreadWithTheirFirstMembersAsRoots) {
  constexpr Index n = 20'000;
  RandomStream random(7);
  std::vector<std::pair<Index, Index>> pairs;
  for (Index k = 0; k < n; ++k) pairs.emplace_back(random.uniform() * n, random.uniform() * n);
  UnionFind plain(n);
  for (const auto& [i, j] : pairs) plain.join(i, j);
  ConcurrentSets sets(n);
  parallel_for(n / 100, {.threads = 4}, [&](Index part) {
    for (Index k = part * 100; k < (part + 1) * 100; ++k) sets.join(pairs[at(k)].first, pairs[at(k)].second);
  });
  for (Index i = 0; i < n; ++i) ASSERT_EQ(sets.find(i), plain.find(i));
}

}  // namespace
}  // namespace lemma
