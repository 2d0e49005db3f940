// lemma/geometry/graph/components.cpp: connected parts, and Laplacians, whose null spaces count them.
#include <algorithm>
#include <cmath>
#include <lemma/geometry/graph.hpp>
#include <lemma/geometry/graph/union_find.hpp>

namespace lemma {

Index Components::largest() const {
  return static_cast<Index>(std::max_element(size.begin(), size.end()) - size.begin());
}

Components components(const Graph& graph) {
  UnionFind sets(graph.count());
  for (Index i = 0; i < graph.count(); ++i)
    for (const Index j : graph.neighbors_of(i)) sets.join(i, j);
  Components out;
  for (Index i = 0; i < graph.count(); ++i) {
    const Index first = sets.find(i);
    if (first == i) out.size.push_back(0);
    out.label.push_back(first == i ? static_cast<int>(out.size.size()) - 1
                                   : out.label[static_cast<std::size_t>(first)]);
    ++out.size[static_cast<std::size_t>(out.label.back())];
  }
  return out;
}

Csr laplacian(const Graph& graph, Laplacian kind) {
  if (graph.is_directed()) throw Error("a Laplacian is of a graph whose edges go both ways; this one is directed");
  const Vector degrees = graph.degrees();
  const Vector roots = degrees.cwiseSqrt();
  const auto entry = [&](Index i, Index j, double w) {
    if (kind == Laplacian::unnormalised) return -w;
    if (w == 0) return -0.0;  // also of vertices whose edges all weigh nothing
    return kind == Laplacian::symmetric ? -w / (roots(i) * roots(j)) : -w / degrees(i);
  };
  Csr out{{0}, {}, {}, graph.count()};
  const auto add = [&](Index column, double value) {
    out.column.push_back(static_cast<std::int32_t>(column));
    out.value.push_back(value);
  };
  for (Index i = 0; i < graph.count(); ++i) {
    const auto columns = graph.neighbors_of(i);
    const auto weights = graph.weights_of(i);
    const double diagonal = kind == Laplacian::unnormalised ? degrees(i) : degrees(i) > 0 ? 1 : 0;
    std::size_t k = 0;
    for (; k < columns.size() && columns[k] < i; ++k) add(columns[k], entry(i, columns[k], weights[k]));
    add(i, diagonal);
    for (; k < columns.size(); ++k) add(columns[k], entry(i, columns[k], weights[k]));
    out.start.push_back(static_cast<Index>(out.column.size()));
  }
  return out;
}

}  // namespace lemma
