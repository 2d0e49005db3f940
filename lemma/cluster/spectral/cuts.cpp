// lemma/cluster/spectral/cuts.cpp
#include <algorithm>
#include <cmath>
#include <lemma/cluster/spectral/cuts.hpp>
#include <lemma/core/text.hpp>
#include <numeric>

namespace lemma {
namespace {

void set_ratios(Matrix& sweep, Index s, double cut, double inside, double all) {
  const double outside = std::max(0.0, all - inside), least = std::min(inside, outside);
  // A set without mass (vertices without edges) cuts nothing, and is no better for it.
  sweep.row(s) << cut, least > 0 ? cut / inside / outside : 0.0, least > 0 ? cut / least : 0.0;
}

}  // namespace

double normalized_cut(const Graph& graph, const Vector& mass, const Vector& labels, Index k) {
  Vector cut = Vector::Zero(k), inside = cut;
  for (Index i = 0; i < graph.count(); ++i) {
    const auto own = static_cast<Index>(labels(i)) - 1;
    inside(own) += mass(i);
    for (std::size_t e = 0; e < graph.neighbors_of(i).size(); ++e)
      if (labels(graph.neighbors_of(i)[e]) != labels(i)) cut(own) += graph.weights_of(i)[e];
  }
  double out = 0;
  for (Index c = 0; c < k; ++c)
    if (inside(c) > 0) out += cut(c) / inside(c);
  return out;
}

std::vector<Index> sweep_order(const Vector& v) {
  std::vector<Index> out(at(v.size()));
  std::iota(out.begin(), out.end(), Index{0});
  std::stable_sort(out.begin(), out.end(), [&](Index a, Index b) { return v(a) < v(b); });
  return out;
}

Matrix sweep_of(const Graph& graph, const Vector& mass, const std::vector<Index>& order) {
  const Index n = graph.count();
  std::vector<char> in(at(n), 0);
  Matrix out(n - 1, 3);
  double cut = 0, inside = 0;
  const double all = mass.sum();
  for (Index s = 0; s + 1 < n; ++s) {
    const Index v = order[at(s)];
    for (std::size_t e = 0; e < graph.neighbors_of(v).size(); ++e)
      cut += in[at(graph.neighbors_of(v)[e])] ? -graph.weights_of(v)[e] : graph.weights_of(v)[e];
    in[at(v)] = 1;
    inside += mass(v);
    set_ratios(out, s, std::max(0.0, cut), inside, all);
  }
  return out;
}

Matrix sweep_by_edges(const Graph& graph, const Vector& mass, const std::vector<Index>& order) {
  const Index n = graph.count();
  std::vector<Index> place(at(n));
  for (Index s = 0; s < n; ++s) place[at(order[at(s)])] = s;
  Vector begins = Vector::Zero(n), ends = begins;
  for (Index i = 0; i < n; ++i)
    for (std::size_t e = 0; e < graph.neighbors_of(i).size(); ++e) {
      const Index j = graph.neighbors_of(i)[e];
      if (place[at(i)] > place[at(j)]) continue;
      begins(place[at(i)]) += graph.weights_of(i)[e];
      ends(place[at(j)]) += graph.weights_of(i)[e];
    }
  Matrix out(n - 1, 3);
  double begun = 0, ended = 0, inside = 0;
  for (Index s = 0; s + 1 < n; ++s) {
    begun += begins(s), ended += ends(s), inside += mass(order[at(s)]);
    set_ratios(out, s, std::max(0.0, begun - ended), inside, mass.sum());
  }
  return out;
}

Vector cheeger_bounds(double lambda, const Graph& graph, VertexMass mass) {
  const double delta = mass == VertexMass::degree ? 1.0 : graph.degrees().maxCoeff();
  const double least = std::max(0.0, lambda);
  return (Vector(2) << least / 2, std::sqrt(2 * delta * least)).finished();
}

std::string vertices_text(Index count) { return count == 1 ? "1 vertex" : format_count(count) + " vertices"; }

Matrix spectral_rows(const Matrix& vectors, Index k) {
  Matrix out = vectors.leftCols(k);
  for (Index i = 0; i < out.rows(); ++i)
    if (const double length = out.row(i).norm(); length > 0) out.row(i) /= length;
  return out;
}

Vector fiedler_of(const Matrix& vectors, const Vector& mass) {
  Vector out = vectors.col(1).cwiseQuotient(mass.cwiseSqrt());
  Index largest = 0;
  out.cwiseAbs().maxCoeff(&largest);
  return out / (out(largest) < 0 ? -out.norm() : out.norm());
}

}  // namespace lemma
