// lemma/cluster/spectral.cpp
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <lemma/cluster/kmeans.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/cluster/spectral.hpp>
#include <lemma/cluster/spectral/affinity_graph.hpp>
#include <lemma/cluster/spectral/cuts.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/partial_eigen.hpp>

namespace lemma {
namespace {

constexpr Index kMostLooked = 10;  // eigenvalues that a choice of k looks at

/// The eigenvalue 0 is known to be there, once for each part: solved beside it, the others would lose their digits to it. With a
/// small multiple of the unit matrix added none is far smaller than the rest.
PartialEigen first_pairs(Csr l, Index count, const Execution& execution) {
  double size = 0;
  for (const double each : l.value) size = std::max(size, std::abs(each));
  const double shift = 1e-6 * size;
  for (Index i = 0; i < l.rows(); ++i)
    for (Index e = l.start[at(i)]; e < l.start[at(i) + 1]; ++e)
      if (l.column[at(e)] == i) l.value[at(e)] += shift;
  PartialEigen out = smallest_eigen(l, count, execution);
  out.values.array() -= shift;
  return out;
}

/// So many clusters as leave the widest gap before the next eigenvalue.
Index widest_gap(const Vector& values, Index parts) {
  Index out = std::max<Index>(2, parts);
  double widest = -1;
  for (Index k = std::max<Index>(2, parts); k < values.size(); ++k)
    if (const double gap = values(k) - values(k - 1); gap > widest * (1 + 1e-9) + 1e-12) widest = gap, out = k;
  return out;
}

/// Numbers from 1, in the order in which the vertices meet them.
Vector numbered(const Labels& labels, Index k) {
  std::vector<double> number(at(k), 0);
  double next = 0;
  Vector out(static_cast<Index>(labels.size()));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    double& own = number[static_cast<std::size_t>(labels[i])];
    if (own == 0) own = ++next;
    out(static_cast<Index>(i)) = own;
  }
  return out;
}

void sweep(SpectralModel& model, const Graph& graph, const Vector& mass) {
  if (model.parts > 1) {
    model.warnings.push_back(fmt::format(
        "the graph has {} connected parts, which no edge joins: there is no Fiedler vector and no sweep", model.parts));
    return;
  }
  model.fiedler = fiedler_of(model.vectors, mass);
  const auto order = sweep_order(model.fiedler);
  model.sweep_order.resize(graph.count());
  for (Index s = 0; s < graph.count(); ++s) model.sweep_order(s) = static_cast<double>(order[at(s)] + 1);
  model.sweep = sweep_of(graph, mass, order);
  model.best_cut = (Vector(2) << model.sweep.col(2).minCoeff(), model.sweep.col(1).minCoeff()).finished();
  model.cheeger = cheeger_bounds(model.eigenvalues(1), graph, model.spec.mass);
}

/// The set of least conductance along the sweep, and the rest.
Labels best_cut(const SpectralModel& model) {
  Index best = 0;
  model.sweep.col(2).minCoeff(&best);
  Labels out(at(model.fiedler.size()), 1);
  for (Index s = 0; s <= best; ++s) out[at(static_cast<Index>(model.sweep_order(s)) - 1)] = 0;
  return out;
}

}  // namespace

void Spectral::check() const {
  if (cut == SpectralCut::sweep && k && *k != 2)
    throw Error(fmt::format("spectral: k is {}, but a sweep cuts into 2", *k));
}

void SpectralModel::check() const {
  const Index n = count();
  require(n >= 2 && columns > 0 && labels.allFinite(), "spectral: there are no labels");
  require(spec.k && *spec.k == k() && k() >= 1 && k() <= n, "spectral: there are not k clusters");
  for (const double label : labels)
    require(label >= 1 && label <= static_cast<double>(k()) && label == std::floor(label),
            "spectral: a label is none of the clusters");
  require(eigenvalues.size() >= std::max<Index>(2, k()) && eigenvalues.allFinite() && vectors.allFinite() &&
              vectors.rows() == n && vectors.cols() == eigenvalues.size(),
          "spectral: the eigenvectors do not fit the vertices");
  for (Index j = 1; j < eigenvalues.size(); ++j)
    require(eigenvalues(j) >= eigenvalues(j - 1), "spectral: the eigenvalues do not rise");
  const bool whole = parts == 1;
  require(fiedler.size() == (whole ? n : 0) && sweep_order.size() == fiedler.size() &&
              sweep.rows() == (whole ? n - 1 : 0) && (!whole || sweep.cols() == 3) &&
              cheeger.size() == (whole ? 2 : 0) && best_cut.size() == cheeger.size(),
          "spectral: the sweep does not fit the vertices");
  require(fiedler.allFinite() && sweep.allFinite() && cheeger.allFinite() && std::isfinite(normalized_cut) &&
              std::isfinite(total_mass) && std::isfinite(edges) && sizes.allFinite() && prints.allFinite() &&
              best_cut.allFinite(),
          "spectral: a number is not usable");
  std::vector<char> seen(at(sweep_order.size()), 0);
  for (const double vertex : sweep_order) {
    const bool there = vertex >= 1 && vertex <= static_cast<double>(n) && vertex == std::floor(vertex);
    require(there && !seen[at(static_cast<Index>(vertex) - 1)], "spectral: the order of the sweep is none");
    seen[at(static_cast<Index>(vertex) - 1)] = 1;
  }
  require(spec.input == Input::rows ? things.empty() && prints.size() == n : static_cast<Index>(things.size()) == n,
          "spectral: the names of the vertices do not fit");
  require(spec.input != Input::square || columns == n, "spectral: the columns do not fit the vertices");
  require(spec.graph != SpectralGraph::radius || spec.input != Input::rows || spec.radius,
          "spectral: there is no radius");
}

std::string SpectralModel::summary(const Names&) const {
  std::vector<std::string> cluster, size;
  const Index shown = std::min<Index>(k(), 30);
  for (Index c = 0; c < shown; ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_count(static_cast<Index>(sizes(c))));
  }
  std::string values;
  for (Index j = 0; j < eigenvalues.size(); ++j) values += (j ? "  " : "") + format_fixed(eigenvalues(j), 5);
  std::string out =
      fmt::format("{} of a graph of {} and {}{}\n\n{}\neigenvalues  {}\nnormalised cut {}\n", count_of(k(), "cluster"),
                  vertices_text(count()), count_of(static_cast<Index>(edges), "edge"),
                  parts == 1 ? "" : fmt::format(", in {} parts", parts),
                  TextTable().right("cluster", cluster).right("vertices", size).str(), values,
                  format_significant(normalized_cut, 5));
  if (parts == 1)
    out +=
        fmt::format("\nBest cut along the Fiedler vector: conductance {}, between Cheeger's {} and {}; sparsity {}\n",
                    format_significant(best_cut(0), 4), format_significant(cheeger(0), 4),
                    format_significant(cheeger(1), 4), format_significant(best_cut(1), 4));
  return out;
}

SpectralModel fit(const Valid<Spectral>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  SpectralModel model;
  model.spec = *spec;
  const AffinityGraph data = affinity_graph(model.spec, rows, nullptr, execution.part(0, 0.3));
  const Graph& graph = data.graph;
  const Index n = graph.count();
  if (n < 2) throw Error("spectral: there is one vertex alone, must be at least 2");
  if (graph.entries() == 0)
    throw Error(
        "spectral: no two vertices are joined; raise --radius, --neighbors or --sigma, or give edges with weights "
        "above 0");
  if (spec->k && *spec->k > n)
    throw Error(fmt::format("spectral: k is {}, but there are only {}", *spec->k, vertices_text(n)));
  const Components parts = components(graph);
  model.parts = parts.count();
  const Index asked = spec->cut == SpectralCut::sweep ? 2 : spec->k ? *spec->k : 0;
  if (spec->cut == SpectralCut::sweep && model.parts > 1)
    throw Error(fmt::format(
        "spectral: the graph has {} connected parts, and no sweep is needed to part them; take --cut kmeans, or "
        "join more (--neighbors, --radius)",
        model.parts));
  if (asked > 0 && asked < model.parts)
    throw Error(fmt::format(
        "spectral: k is {}, but the graph has {} connected parts, which no edge joins; k must be at least {}, or "
        "join more (--neighbors, --radius)",
        asked, model.parts, model.parts));
  const Csr l = scaled_laplacian(graph, spec->mass);
  const Index looked = asked > 0 ? std::max<Index>(2, asked) : std::max<Index>(kMostLooked, model.parts + 1);
  const Index count = std::min(n, looked + 1);
  PartialEigen found = first_pairs(l, count, execution.part(0.3, 0.7, "eigenvectors"));
  for (Index j = 0; j < std::min(count, model.parts); ++j) found.values(j) = std::max(0.0, found.values(j));
  for (Index j = 1; j < count; ++j) found.values(j) = std::max(found.values(j), found.values(j - 1));
  model.spec.k = static_cast<int>(asked > 0 ? asked : std::min(n, widest_gap(found.values, model.parts)));
  const Index kept = std::min(count, std::max<Index>(2, *model.spec.k) + 1);
  model.eigenvalues = found.values.head(kept);
  model.vectors = found.vectors.leftCols(kept);

  const Vector mass = masses(graph, spec->mass);
  model.total_mass = mass.sum();
  model.edges = static_cast<double>(graph.entries() / 2);
  model.things = data.things;
  model.columns = rows.width();
  if (spec->input == Input::rows) model.prints = prints_of(data.points);
  sweep(model, graph, mass);
  const Index k = *model.spec.k;
  if (spec->cut == SpectralCut::sweep) {
    model.labels = numbered(best_cut(model), 2);
  } else {
    const Matrix where = spectral_rows(model.vectors, k);
    FitOptions inside = options;
    inside.progress = nullptr;
    const KMeansModel centres =
        fit(Valid<KMeans>(KMeans{.k = static_cast<int>(k), .restarts = spec->restarts}), MemoryRows(where), inside);
    model.labels = numbered(centres.assign(where), k);
  }
  model.sizes = Vector::Zero(k);
  for (const double label : model.labels) model.sizes(static_cast<Index>(label) - 1) += 1;
  model.normalized_cut = normalized_cut(graph, mass, model.labels, k);
  model.certificate = certificate_of(model, graph, execution.part(0.8, 1));
  return model;
}

template const Method& method_of<Spectral>();

}  // namespace lemma
