// lemma/geometry/graph.cpp: how graphs are made.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/geometry/graph.hpp>
#include <limits>

namespace lemma {
namespace {

void require_vertices(Index count) {
  if (count < 0 || count > std::numeric_limits<std::int32_t>::max())
    throw Error(fmt::format("a graph takes up to 2^31 - 1 vertices, not {}", count));
}

void check(const Edge& edge, std::size_t number, Index vertices) {
  const auto refuse = [&](const std::string& what) { throw Error(fmt::format("edge {}: {}", number + 1, what)); };
  for (const Index vertex : {edge.from, edge.to})
    if (vertex < 0 || vertex >= vertices) refuse(fmt::format("there is no vertex {} among {}", vertex + 1, vertices));
  if (edge.from == edge.to) refuse(fmt::format("it leads from vertex {} to itself", edge.from + 1));
  if (!std::isfinite(edge.weight) || edge.weight < 0)
    refuse(fmt::format("the weight between vertices {} and {} is {}, must be finite and not negative", edge.from + 1,
                       edge.to + 1, edge.weight));
}

/// Rows in which entries may stand in any order become rows with rising columns.
void sort_rows(Csr& x) {
  std::vector<std::pair<std::int32_t, double>> row;
  for (Index i = 0; i < x.rows(); ++i) {
    const Index from = x.start[at(i)], to = x.start[at(i + 1)];
    row.clear();
    for (Index k = from; k < to; ++k) row.emplace_back(x.column[at(k)], x.value[at(k)]);
    std::sort(row.begin(), row.end());
    for (Index k = from; k < to; ++k) std::tie(x.column[at(k)], x.value[at(k)]) = row[at(k - from)];
  }
}

/// Columns rise by themselves: rows are gone through in order.
Csr transposed(const Csr& x) {
  Csr out{std::vector<Index>(x.start.size(), 0), std::vector<std::int32_t>(x.column.size()),
          std::vector<double>(x.value.size()), x.rows()};
  for (const std::int32_t j : x.column) ++out.start[at(j) + 1];
  for (std::size_t i = 1; i < out.start.size(); ++i) out.start[i] += out.start[i - 1];
  std::vector<Index> next(out.start.begin(), out.start.end() - 1);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index k = x.start[at(i)]; k < x.start[at(i + 1)]; ++k) {
      const Index place = next[at(x.column[at(k)])]++;
      out.column[at(place)] = static_cast<std::int32_t>(i);
      out.value[at(place)] = x.value[at(k)];
    }
  return out;
}

/// Entries of both, or of one of the two; where both have one, that of a.
Csr merged(const Csr& a, const Csr& b, bool both) {
  Csr out{{0}, {}, {}, a.width};
  const auto add = [&](const Csr& from, Index k) {
    out.column.push_back(from.column[at(k)]);
    out.value.push_back(from.value[at(k)]);
  };
  for (Index i = 0; i < a.rows(); ++i) {
    Index k = a.start[at(i)], l = b.start[at(i)];
    const Index k_end = a.start[at(i + 1)], l_end = b.start[at(i + 1)];
    while (k < k_end || l < l_end) {
      const bool only_a = l == l_end || (k < k_end && a.column[at(k)] < b.column[at(l)]);
      const bool only_b = !only_a && (k == k_end || b.column[at(l)] < a.column[at(k)]);
      if (only_a) {
        if (!both) add(a, k);
        ++k;
      } else if (only_b) {
        if (!both) add(b, l);
        ++l;
      } else {
        add(a, k);
        ++k, ++l;
      }
    }
    out.start.push_back(static_cast<Index>(out.column.size()));
  }
  return out;
}

}  // namespace

Graph Graph::of_edges(Index vertices, std::span<const Edge> edges, bool directed) {
  require_vertices(vertices);
  struct Entry {
    Index from, to;
    double weight;
    std::size_t number;
    auto key() const { return std::tuple(from, to, number); }
  };
  std::vector<Entry> entries;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    check(edges[e], e, vertices);
    entries.push_back({edges[e].from, edges[e].to, edges[e].weight, e});
    if (!directed) entries.push_back({edges[e].to, edges[e].from, edges[e].weight, e});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
  Csr out{std::vector<Index>(at(vertices + 1), 0), {}, {}, vertices};
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const Entry& one = entries[e];
    if (e > 0 && entries[e - 1].from == one.from && entries[e - 1].to == one.to) {
      if (entries[e - 1].weight != one.weight)
        throw Error(fmt::format("edge {}: the weight between vertices {} and {} is {}, but edge {} says {}",
                                one.number + 1, one.from + 1, one.to + 1, one.weight, entries[e - 1].number + 1,
                                entries[e - 1].weight));
      continue;
    }
    ++out.start[at(one.from + 1)];
    out.column.push_back(static_cast<std::int32_t>(one.to));
    out.value.push_back(one.weight);
  }
  for (Index i = 0; i < vertices; ++i) out.start[at(i + 1)] += out.start[at(i)];
  return {std::move(out), directed};
}

std::span<const std::int32_t> Graph::neighbors_of(Index i) const {
  const Index from = matrix_.start[at(i)];
  return {matrix_.column.data() + from, at(matrix_.start[at(i + 1)] - from)};
}
std::span<const double> Graph::weights_of(Index i) const {
  const Index from = matrix_.start[at(i)];
  return {matrix_.value.data() + from, at(matrix_.start[at(i + 1)] - from)};
}

Vector Graph::degrees() const {
  Vector out = Vector::Zero(count());
  for (Index i = 0; i < count(); ++i)
    for (const double w : weights_of(i)) out(i) += w;
  return out;
}

Graph Graph::reweighted(const std::function<double(double)>& f) const {
  Graph out = *this;
  for (double& w : out.matrix_.value) {
    const double old = w;
    w = f(w);
    if (!std::isfinite(w) || w < 0)
      throw Error(fmt::format("the weight {} of an edge became {}, must be finite and not negative", old, w));
  }
  return out;
}

Graph Graph::induced(std::span<const Index> vertices) const {
  std::vector<std::int32_t> place(at(count()), -1);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i] < 0 || vertices[i] >= count())
      throw Error(fmt::format("there is no vertex {} among {}", vertices[i] + 1, count()));
    if (place[at(vertices[i])] >= 0) throw Error(fmt::format("vertex {} is taken twice", vertices[i] + 1));
    place[at(vertices[i])] = static_cast<std::int32_t>(i);
  }
  Csr out{{0}, {}, {}, static_cast<Index>(vertices.size())};
  for (const Index i : vertices) {
    for (std::size_t k = 0; k < neighbors_of(i).size(); ++k)
      if (const std::int32_t j = place[at(neighbors_of(i)[k])]; j >= 0) {
        out.column.push_back(j);
        out.value.push_back(weights_of(i)[k]);
      }
    out.start.push_back(static_cast<Index>(out.column.size()));
  }
  sort_rows(out);
  return {std::move(out), is_directed_};
}

Graph graph_of(const NeighborLists& lists, Join join) {
  require_vertices(lists.count());
  for (std::size_t k = 0; k < lists.row.size(); ++k)
    if (lists.row[k] < 0 || lists.row[k] >= lists.count())
      throw Error(fmt::format("a list names point {} among {}: only the lists of the points themselves make a graph",
                              lists.row[k] + 1, lists.count()));
  Csr own{lists.start, lists.row, lists.distance, lists.count()};
  sort_rows(own);
  if (join == Join::directed) return {std::move(own), true};
  return {merged(own, transposed(own), join == Join::mutual), false};
}

Graph knn_graph(const Neighbors& points, Index k, Join join, const Execution& execution) {
  return graph_of(points.nearest_own(k, execution), join);
}

Graph radius_graph(const Neighbors& points, double radius, const Execution& execution) {
  return graph_of(points.within_own(radius, execution), Join::either);
}

}  // namespace lemma
