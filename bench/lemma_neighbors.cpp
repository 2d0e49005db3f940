// bench/lemma_neighbors.cpp: Lemma's side of the workloads about neighbours, texts and naive Bayes.
#include "lemma_job.hpp"

#include <lemma/bayes/naive_bayes.hpp>
#include <lemma/data/design.hpp>
#include <lemma/data/svmlight.hpp>
#include <lemma/geometry/neighbors.hpp>
#include <numeric>

namespace lemma::bench {
namespace {

constexpr Index kNearest = 10;

/// The structure and all queries.
Value nearest(const Job& task, const std::string& name, const SearchOptions& how) {
  Value out = Value::object(), quality = Value::object();
  const Matrix x = task.matrix(name + "_X.npy"), queries = task.matrix(name + "_Q.npy");
  std::string choice;
  const NeighborLists lists = timed(out, [&] {
    const Neighbors search(x, Metric(), how, task.execution());
    choice = search.choice();
    return search.nearest(queries, kNearest, task.execution());
  });
  if (how.recall < 1) {
    const Index some = std::min<Index>(500, queries.rows());
    const Neighbors exact(x, Metric(), SearchOptions{.structure = SearchBy::brute_force}, task.execution());
    const NeighborLists truth = exact.nearest(queries.topRows(some), kNearest, task.execution());
    double found = 0;
    for (Index i = 0; i < some; ++i)
      for (const double d : lists.distances_of(i)) found += d <= truth.distances_of(i).back() ? 1 : 0;
    quality.set("recall", found / static_cast<double>(truth.row.size()));
  } else {
    quality.set("distances", std::accumulate(lists.distance.begin(), lists.distance.end(), 0.0));
  }
  out.set("quality", quality);
  out.set("note", choice);
  return out;
}

Value naive_bayes_sparse(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const SparseData data = read_svmlight(task.file("sparse_logit.svm"));
  Labels codes;
  for (const double y : data.y) codes.push_back(y > 0);
  MemoryRows rows(data.x);
  rows.labels(codes, {"-1", "1"});
  const Valid<NaiveBayes> spec(NaiveBayes{.kinds = {"multinomial"}});
  const auto [model, said] = timed(out, [&] {
    auto fitted = fit(spec, rows, task.options);
    Labels classes = greatest_class(fitted.decision(data.x, task.execution()));
    return std::pair(std::move(fitted), std::move(classes));
  });
  double errors = 0;
  for (std::size_t i = 0; i < said.size(); ++i) errors += said[i] != codes[i] ? 1 : 0;
  quality.set("errors", errors);
  out.set("quality", quality);
  evidence(out, model.certificate);
  return out;
}

/// The table is there, as the peer's list of texts is.
Value tokens(const Job& task) {
  Value out = Value::object(), quality = Value::object();
  const Table table = read_csv(task.file("tokens.csv"));
  const Csr x = timed(out, [&] {
    DesignOptions how;
    how.execution = task.execution();
    return Design(formula("~ text(body, min = 2)"), table, how).sparse(table);
  });
  quality.set("words", static_cast<double>(x.width));
  quality.set("entries", static_cast<double>(x.value.size()));
  out.set("quality", quality);
  return out;
}

}  // namespace

Workloads neighbor_workloads() {
  return {
      {"knn_low", [](const Job& task) { return nearest(task, "knn_low", {.structure = SearchBy::kd_tree}); }},
      {"knn_mid", [](const Job& task) { return nearest(task, "knn_mid", {.structure = SearchBy::brute_force}); }},
      {"knn_most",
       [](const Job& task) { return nearest(task, "knn_most", {.structure = SearchBy::projections, .recall = 0.95}); }},
      {"naive_bayes_sparse", naive_bayes_sparse},
      {"tokens", tokens}};
}

}  // namespace lemma::bench
