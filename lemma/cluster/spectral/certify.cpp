// lemma/cluster/spectral/certify.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/spectral/affinity_graph.hpp>
#include <lemma/cluster/spectral/cuts.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/inertia.hpp>
#include <lemma/math/partial_eigen.hpp>
#include <lemma/model/comparison.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-8;
constexpr double kLeastGap = 1e-6;  // between two eigenvalues, over L's size, for a factorisation to tell them apart

/// The largest sum of sizes in a row: no eigenvalue is larger.
double size_of(const Csr& a) {
  double out = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (Index e = a.start[at(i)]; e < a.start[at(i) + 1]; ++e) sum += std::abs(a.value[at(e)]);
    out = std::max(out, sum);
  }
  return out > 0 ? out : 1;
}

/// The last of the eigenvalues with a gap after it: all up to it are there when so many lie below the middle of the gap.
std::optional<Index> last_before_gap(const Vector& values, double size) {
  for (Index j = values.size() - 1; j > 0; --j)
    if (values(j) - values(j - 1) > kLeastGap * size) return j;
  return {};
}

void compare_parts(const SpectralModel& model, const Graph& graph, double size, Comparison& same) {
  const Index parts = components(graph).count(), seen = std::min(parts, model.eigenvalues.size());
  same.number("parts", static_cast<double>(model.parts), static_cast<double>(parts), 1);
  for (Index j = 0; j < model.eigenvalues.size(); ++j)
    if (j < seen) same.entry("eigenvalues", j, model.eigenvalues(j), 0, size, kTolerance);
    else if (!(model.eigenvalues(j) > 0)) same.entry("eigenvalues", j, 0, 1, 1);
}

/// Labels by k-means: each row is with the nearest mean.
void compare_centres(const SpectralModel& model, Comparison& same) {
  const Index k = model.k();
  const Matrix rows = spectral_rows(model.vectors, k);
  Matrix centres = Matrix::Zero(k, k);
  Vector sizes = Vector::Zero(k);
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto own = static_cast<Index>(model.labels(i)) - 1;
    centres.row(own) += rows.row(i);
    sizes(own) += 1;
  }
  for (Index c = 0; c < k; ++c) centres.row(c) /= std::max(1.0, sizes(c));
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto own = static_cast<Index>(model.labels(i)) - 1;
    const double least = (centres.rowwise() - rows.row(i)).rowwise().norm().minCoeff();
    same.entry("labels", i, (centres.row(own) - rows.row(i)).norm(), least, 1, 1e-7);
  }
}

void compare_sweep(const SpectralModel& model, const Graph& graph, const Vector& mass, Comparison& same) {
  if (model.parts > 1) return;
  const Index n = graph.count();
  const Vector fiedler = fiedler_of(model.vectors, mass);
  const double unit = fiedler.cwiseAbs().maxCoeff();
  for (Index i = 0; i < n; ++i) same.entry("fiedler", i, model.fiedler(i), fiedler(i), unit, kTolerance);
  std::vector<Index> order;
  for (Index s = 0; s < n; ++s) order.push_back(static_cast<Index>(model.sweep_order(s)) - 1);
  for (Index s = 0; s + 1 < n; ++s) {
    const double here = model.fiedler(order[at(s)]), next = model.fiedler(order[at(s + 1)]);
    const bool rises = here < next || (here == next && order[at(s)] < order[at(s + 1)]);
    same.entry("sweep_order", s, rises ? 0 : 1, 0, 1);
  }
  if (same.finding()) return;
  const Matrix sweep = sweep_by_edges(graph, mass, order);
  const Vector units = sweep.colwise().maxCoeff().transpose().cwiseMax(1e-300);
  double least_conductance = HUGE_VAL, least_sparsity = HUGE_VAL;
  Index best = 0;
  for (Index s = 0; s + 1 < n; ++s) {
    for (Index j = 0; j < 3; ++j) same.entry("sweep", 3 * s + j, model.sweep(s, j), sweep(s, j), units(j));
    if (sweep(s, 2) < least_conductance) best = s;
    least_conductance = std::min(least_conductance, sweep(s, 2));
    least_sparsity = std::min(least_sparsity, sweep(s, 1));
  }
  same.entry("best_cut", 0, model.best_cut(0), least_conductance, units(2));
  same.entry("best_cut", 1, model.best_cut(1), least_sparsity, units(1));
  const Vector bounds = cheeger_bounds(model.eigenvalues(1), graph, model.spec.mass);
  for (Index j = 0; j < 2; ++j) same.entry("cheeger", j, model.cheeger(j), bounds(j), bounds(1));
  // Cheeger's inequality, which any true second eigenvector obeys.
  const double slack = 1e-6 * bounds(1);
  if (least_conductance < bounds(0) - slack || least_conductance > bounds(1) + slack) same.number("best_cut", 1, 0, 1);
  if (model.spec.cut == SpectralCut::sweep) {
    // Another cut as good to rounding is right too.
    Index last = -1;
    const double side = model.labels(order[0]);
    for (Index s = 0; s < n; ++s)
      if (model.labels(order[at(s)]) == side) last = s;
    const bool is_prefix =
        std::all_of(order.begin(), order.begin() + last + 1, [&](Index v) { return model.labels(v) == side; });
    same.number("labels", is_prefix && last + 1 < n ? sweep(last, 2) : 1 + 2 * units(2), sweep(best, 2), units(2));
  }
}

}  // namespace

Certificate certificate_of(const SpectralModel& model, const Graph& graph, const Execution& execution) {
  const Csr l = scaled_laplacian(graph, model.spec.mass);
  const double size = size_of(l);
  const Matrix& u = model.vectors;
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "residual of the eigenvectors";
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "converged";
  const Matrix left = multiply(l, u, execution.part(0, 0.2)) - u * model.eigenvalues.asDiagonal();
  const Matrix gram = u.transpose() * u - Matrix::Identity(u.cols(), u.cols());
  out.value = std::max(left.colwise().norm().maxCoeff() / size, gram.cwiseAbs().maxCoeff());
  execution.report(0.2, "eigenvalues counted");
  std::optional<Index> missed, among;
  if ((among = last_before_gap(model.eigenvalues, size)) && out.holds()) {
    const double middle = 0.5 * (model.eigenvalues(*among) + model.eigenvalues(*among - 1));
    if (const auto below = eigenvalues_below(l, middle)) missed = *below - *among;
  }
  const Vector mass = masses(graph, model.spec.mass);
  Comparison same;
  compare_parts(model, graph, size, same);
  same.relative("total_mass", model.total_mass, mass.sum());
  same.number("edges", model.edges, static_cast<double>(graph.entries() / 2), 1);
  Vector sizes = Vector::Zero(model.k());
  for (const double label : model.labels) sizes(static_cast<Index>(label) - 1) += 1;
  for (Index c = 0; c < model.k(); ++c) same.entry("sizes", c, model.sizes(c), sizes(c), 1);
  same.number("normalized_cut", model.normalized_cut, normalized_cut(graph, mass, model.labels, model.k()),
              std::max(1e-12, model.normalized_cut));
  compare_sweep(model, graph, mass, same);
  if (model.spec.cut == SpectralCut::kmeans) compare_centres(model, same);
  if (!out.holds()) {
    out.message =
        fmt::format("The eigenvectors are not those of the graph: a residual is {} of the Laplacian (allowed {}).",
                    format_significant(out.value, 2), format_significant(out.tolerance, 2));
  } else if (missed && *missed != 0) {
    out.value = 1;
    out.message = fmt::format("{} of the Laplacian that are smaller than those told were missed.",
                              count_of(std::abs(*missed), "eigenvalue"));
  } else if (same.finding()) {
    same.report(out);
    out.message =
        fmt::format("The eigenvectors are those of the graph, but {}'{}' does not follow from them and its edges.",
                    same.finding()->place, same.finding()->field);
  } else {
    out.message = fmt::format(
        "The eigenvectors leave a residual of {} (allowed {}){}; labels and cuts follow from them and were summed "
        "again "
        "edge by edge.",
        residue_text(out.value, out.tolerance), format_significant(out.tolerance, 2),
        missed ? fmt::format(", and a count of all eigenvalues finds no smaller one missed among the first {}", *among)
               : ", though whether smaller ones were missed could not be counted");
  }
  return out;
}

Certificate certify(const SpectralModel& model, const Rows& rows, const Execution& execution) {
  Spectral spec = model.spec;
  const AffinityGraph given = affinity_graph(spec, rows, &model.prints, execution.part(0, 0.4));
  if (given.graph.count() != model.count() || given.things != model.things) {
    Certificate out;
    out.strength = Strength::consistent;
    out.kind = "residual of the eigenvectors";
    out.value = 1;
    out.tolerance = kTolerance;
    out.stopped = "converged";
    out.message =
        fmt::format("The model is about a graph of {}, and these are {}{}.", vertices_text(model.count()),
                    format_count(given.graph.count()), given.graph.count() == model.count() ? " with other names" : "");
    return out;
  }
  return certificate_of(model, given.graph, execution.part(0.4, 1));
}

}  // namespace lemma
