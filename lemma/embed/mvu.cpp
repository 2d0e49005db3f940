// lemma/embed/mvu.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/embed/mvu.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/embed/shared/value_order.hpp>
#include <lemma/geometry/graph/union_find.hpp>
#include <lemma/math/inertia.hpp>
#include <lemma/optimize/semidefinite.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kRounding =
    1e-9;  // beside the first eigenvalue of K: what the interior-point method leaves of those that are 0

/// Places for the rows, in the order of their values; rows that nothing separates share one.
struct Ground {
  std::vector<Index> order;  // of the rows
  std::vector<Index> place;  // of each row, in that order
  Vector rows_at;            // of each place
  std::vector<Edge> edges;   // between places, from < to; of several the shortest
  double unit = 1;           // the longest of them
  Index parts = 1;
  std::optional<std::string> warning;
  Index places() const { return rows_at.size(); }
};

/// Rows in the order that their values give them; things whose dissimilarities are given as they come.
Neighborhood ordered(const Mvu& spec, const Compared& data, std::vector<Index>& order, const Execution& execution) {
  const PackedPoints* rows = data.dissimilarities.points();
  if (!rows) {
    order.resize(at(data.count()));
    std::iota(order.begin(), order.end(), Index{0});
    return neighborhood(Mvu::name, data, spec.near(), execution);
  }
  order = order_of(data.points);
  const Matrix points = data.points(order, Eigen::all);
  return neighborhood(Mvu::name, Neighbors(points, rows->metric(), SearchOptions{}, execution.part(0, 0.3)), points,
                      spec.near(), execution.part(0.3, 1));
}

Ground ground_of(const Mvu& spec, const Compared& data, const Execution& execution) {
  Ground out;
  const Neighborhood near = ordered(spec, data, out.order, execution);
  out.parts = near.parts;
  out.warning = warning_of(near, spec.near());
  const Index n = data.count();
  UnionFind same(n);
  for (Index i = 0; i < n; ++i)
    for (std::size_t k = 0; k < near.graph.neighbors_of(i).size(); ++k)
      if (near.graph.weights_of(i)[k] == 0) same.join(i, near.graph.neighbors_of(i)[k]);
  std::vector<Index> number(at(n), -1);
  std::vector<double> count;
  for (Index i = 0; i < n; ++i) {
    Index& of_root = number[at(same.find(i))];
    if (of_root < 0) of_root = static_cast<Index>(count.size()), count.push_back(0);
    out.place.push_back(of_root);
    ++count[at(of_root)];
  }
  out.rows_at = Eigen::Map<const Vector>(count.data(), static_cast<Index>(count.size()));
  for (Index i = 0; i < n; ++i)
    for (std::size_t k = 0; k < near.graph.neighbors_of(i).size(); ++k) {
      const Index a = out.place[at(i)], b = out.place[at(near.graph.neighbors_of(i)[k])];
      if (a < b) out.edges.push_back({a, b, near.graph.weights_of(i)[k]});
    }
  std::sort(out.edges.begin(), out.edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to, a.weight) < std::tie(b.from, b.to, b.weight);
  });
  const auto last = std::unique(out.edges.begin(), out.edges.end(),
                                [](const Edge& a, const Edge& b) { return a.from == b.from && a.to == b.to; });
  out.edges.erase(last, out.edges.end());
  out.unit = 0;
  for (const Edge& edge : out.edges) out.unit = std::max(out.unit, edge.weight);
  return out;
}

void require_room(const Mvu& spec, const Ground& ground) {
  const auto n = static_cast<double>(ground.places()), m = static_cast<double>(ground.edges.size());
  const double bytes = 24 * m * m + 48 * n * n;
  if (bytes > 1e9 * spec.gigabytes)
    throw Error(
        fmt::format("mvu: a programme of {} with {} takes {} of memory, and {} are allowed; take fewer rows or "
                    "neighbors, or raise --gigabytes",
                    count_of(ground.places(), "place"), count_of(static_cast<Index>(ground.edges.size()), "edge"),
                    format_bytes(bytes), format_bytes(1e9 * spec.gigabytes)));
}

/// Of the inner products of places as seen from the first of them, which has none: so the others have points inside.
SemidefiniteProgramme programme_of(const Ground& ground) {
  const Index n = ground.places() - 1;
  const Vector w = ground.rows_at.tail(n);
  SemidefiniteProgramme out{Matrix(w.asDiagonal()) - w * w.transpose() / ground.rows_at.sum(), {}, {}};
  out.a.width = n;
  out.a.start = {0};
  out.b.resize(static_cast<Index>(ground.edges.size()));
  for (std::size_t k = 0; k < ground.edges.size(); ++k) {
    const Edge& edge = ground.edges[k];
    const auto add = [&](Index place, double value) {
      if (place == 0) return;
      out.a.column.push_back(static_cast<std::int32_t>(place - 1));
      out.a.value.push_back(value);
    };
    add(edge.from, 1);
    add(edge.to, -1);
    out.a.start.push_back(static_cast<Index>(out.a.column.size()));
    out.b(static_cast<Index>(k)) = std::pow(edge.weight / ground.unit, 2);
  }
  return out;
}

/// Eigenvectors of the inner products about the mean of all rows, as coordinates of the places.
struct Axes {
  Vector values;
  Matrix places;
};
Axes axes_of(const Ground& ground, const Matrix& seen_from_first) {
  const Index n = ground.places();
  Matrix k = Matrix::Zero(n, n);
  k.bottomRightCorner(n - 1, n - 1) = seen_from_first;
  const Vector w = ground.rows_at / ground.rows_at.sum(), means = k * w, root = ground.rows_at.cwiseSqrt();
  k.colwise() -= means;
  k.rowwise() -= (means.array() - means.dot(w)).matrix().transpose();
  const Eigenpairs pairs = symmetric_eigen(Matrix(root.asDiagonal() * k * root.asDiagonal()));
  Index kept = 0;
  while (kept < n && pairs.values(kept) > kRounding * pairs.values(0)) ++kept;
  const Vector values = pairs.values.head(kept);
  Matrix places = root.cwiseInverse().asDiagonal() * pairs.vectors.leftCols(kept) * values.cwiseSqrt().asDiagonal();
  turn_columns(places);
  return {values, places};
}

/// What the places and the tensions prove of the greatest variance, in units of the longest edge.
struct Proof {
  double variance = 0;  // of the places, drawn together until they keep to all lengths
  double bound = HUGE_VAL;
  double longer = 0;  // by how much the worst length was exceeded, beside it
  bool is_bound = false;
};

/// L(t) has one eigenvalue below θ times the rows at each place: then none but that of equal places, 0, and L(t) / θ is feasible.
bool holds_together(const Ground& ground, const Vector& tensions, double theta) {
  const Index n = ground.places();
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows(at(n));
  Vector diagonal = Vector::Zero(n);
  for (std::size_t e = 0; e < ground.edges.size(); ++e) {
    const Edge& edge = ground.edges[e];
    const double t = tensions(static_cast<Index>(e)),
                 scaled = t / std::sqrt(ground.rows_at(edge.from) * ground.rows_at(edge.to));
    diagonal(edge.from) += t / ground.rows_at(edge.from);
    diagonal(edge.to) += t / ground.rows_at(edge.to);
    rows[at(edge.from)].emplace_back(edge.to, -scaled);
    rows[at(edge.to)].emplace_back(edge.from, -scaled);
  }
  Csr laplacian;
  laplacian.width = n;
  laplacian.start = {0};
  for (Index i = 0; i < n; ++i) {
    rows[at(i)].emplace_back(i, diagonal(i));
    std::sort(rows[at(i)].begin(), rows[at(i)].end());
    for (const auto& [column, value] : rows[at(i)]) {
      laplacian.column.push_back(column);
      laplacian.value.push_back(value);
    }
    laplacian.start.push_back(static_cast<Index>(laplacian.column.size()));
  }
  return eigenvalues_below(laplacian, theta) == Index{1};
}

Proof proof_of(const MvuModel& model, const Ground& ground) {
  const Matrix places = model.unfolded(ground.order, Eigen::all) / ground.unit;
  std::vector<Index> first(at(ground.places()), -1);
  double apart = 0;  // of rows that share a place
  for (std::size_t i = 0; i < ground.place.size(); ++i) {
    Index& one = first[at(ground.place[i])];
    if (one < 0) one = static_cast<Index>(i);
    apart = std::max(apart, (places.row(static_cast<Index>(i)) - places.row(one)).norm());
  }
  Proof out;
  double sum = 0, worst = 1;
  for (std::size_t e = 0; e < ground.edges.size(); ++e) {
    const Edge& edge = ground.edges[e];
    const double allowed = std::pow(edge.weight / ground.unit, 2);
    worst =
        std::max(worst, (places.row(first[at(edge.from)]) - places.row(first[at(edge.to)])).squaredNorm() / allowed);
    sum += model.tensions(static_cast<Index>(e)) * allowed;
  }
  const double theta = 1 - 0.01 * model.spec.tolerance;
  out.variance = (places.rowwise() - places.colwise().mean()).squaredNorm() / worst;
  out.longer = std::max(worst - 1, apart > 1e-9 ? HUGE_VAL : 0.0);
  out.bound = sum / theta;
  out.is_bound = model.tensions.minCoeff() >= 0 && holds_together(ground, model.tensions, theta);
  return out;
}

Certificate certificate_of(const MvuModel& model, const Ground& ground, Comparison& same) {
  const Proof proof = proof_of(model, ground);
  const double squared = ground.unit * ground.unit;
  const double gap = proof.is_bound ? (proof.bound - proof.variance) / proof.bound : 1;
  same.number("graph_pieces", static_cast<double>(model.graph_pieces), static_cast<double>(ground.parts), 1);
  same.relative("bound", model.bound, squared * proof.bound);
  const Matrix& all = model.unfolded;
  const Vector values = (all.rowwise() - all.colwise().mean()).colwise().squaredNorm().transpose();
  same.relative("variance", model.variance, values.sum());
  for (Index k = 0; k < model.dimensions(); ++k) {
    same.entry("eigenvalues", k, model.eigenvalues(k), values(k), values(0));
    same.entry("explained", k, model.explained(k), values(k) / values.sum(), 1);
    for (Index i = 0; i < model.count(); ++i)
      same.entry("coordinates", i * model.dimensions() + k, model.places(i, k), all(i, k), ground.unit);
  }
  // Axes: the columns of `unfolded` are those of eigenvectors.
  const Matrix products = all.transpose() * all;
  for (Index k = 0; k < all.cols(); ++k)
    for (Index l = 0; l < k; ++l) same.entry("unfolded", k * all.cols() + l, products(k, l), 0, values(0), 1e-8);
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "gap between the variance and its bound";
  out.value = std::isfinite(proof.longer) ? std::max({0.0, gap, proof.longer}) : 1;
  out.tolerance = model.spec.tolerance;
  out.iterations = 1;
  out.stopped = out.holds() ? "converged" : "iteration limit";
  if (!std::isfinite(proof.longer)) out.message = "Rows with no distance between them do not share a place.";
  else if (!proof.is_bound) out.message = "The tensions do not hold the rows together: they prove no bound.";
  else if (proof.longer > model.spec.tolerance)
    out.message = fmt::format("Neighbours lie farther apart than they are, by {:.1e} of the square (allowed {:.0e}).",
                              proof.longer, out.tolerance);
  else if (out.holds())
    out.message = fmt::format(
        "Places that keep to the lengths of all edges have the variance {:.4g}, and by the tensions none has more than "
        "{:.1e} of it beyond (allowed {:.0e}).",
        squared * proof.variance, out.value, out.tolerance);
  else
    out.message = fmt::format(
        "Places that keep to the lengths of all edges have the variance {:.6g}, and the tensions allow {:.1e} of it "
        "more "
        "(allowed {:.0e}); raise --max_iterations or --tolerance.",
        squared * proof.variance, out.value, out.tolerance);
  return out;
}

}  // namespace

void MvuModel::check() const {
  check_embedded(Mvu::name, spec.input, spec.metric, spec.dimensions);
  const Index k = dimensions();
  require(eigenvalues.size() == k && explained.size() == k && eigenvalues.allFinite() && explained.allFinite() &&
              (eigenvalues.array() > 0).all(),
          "mvu: the eigenvalues do not fit the coordinates");
  require(unfolded.rows() == count() && unfolded.cols() >= k && unfolded.allFinite(),
          "mvu: the places in all dimensions do not fit the coordinates");
  require(tensions.size() > 0 && tensions.allFinite(), "mvu: the tensions are not usable");
  require(std::isfinite(variance) && variance > 0 && std::isfinite(bound) && bound > 0 && graph_pieces >= 1,
          "mvu: the variance or its bound is not usable");
}

std::string MvuModel::summary(const Names&) const {
  std::vector<std::string> values, share;
  for (const double each : eigenvalues) values.push_back(format_significant(each, 4));
  for (const double each : explained) share.push_back(format_fixed(each, 4));
  TextTable table;
  table.words("", dimension_names(dimensions())).right("eigenvalue", values).right("proportion", share);
  return table.str() +
         fmt::format("\nVariance {} in all dimensions, held by {}\n\n", format_significant(variance, 4),
                     count_of(tensions.size(), "edge")) +
         picture();
}

MvuModel fit(const Valid<Mvu>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  MvuModel model;
  model.spec = *spec;
  const Compared data = things_of(Mvu::name, spec->input, rows, spec->metric, execution.part(0, 0.02));
  if (spec->input == Input::rows) model.spec.metric = data.metric;
  const Ground ground = ground_of(model.spec, data, execution.part(0.02, 0.05));
  if (ground.warning) model.warnings.push_back(*ground.warning);
  if (ground.edges.empty()) throw Error("mvu: there is no distance between any two rows: they share one place");
  require_room(model.spec, ground);
  const SemidefiniteAnswer found = solve(programme_of(ground), {.tolerance = 0.1 * spec->tolerance,
                                                                .most_iterations = spec->max_iterations,
                                                                .execution = execution.part(0.05, 0.9)});
  const Axes axes = axes_of(ground, found.x);
  const Index kept = carrying(axes.values, spec->dimensions);
  if (kept < spec->dimensions)
    model.warnings.push_back(fmt::format("{} of {} dimensions carry nothing beyond rounding and are left out",
                                         spec->dimensions - kept, spec->dimensions));
  model.spec.dimensions = static_cast<int>(kept);
  const double squared = ground.unit * ground.unit;
  model.unfolded.resize(data.count(), axes.places.cols());
  for (std::size_t i = 0; i < ground.order.size(); ++i)
    model.unfolded.row(ground.order[i]) = ground.unit * axes.places.row(ground.place[i]);
  model.places = model.unfolded.leftCols(kept);
  model.variance = squared * axes.values.sum();
  model.eigenvalues = squared * axes.values.head(kept);
  model.explained = axes.values.head(kept) / axes.values.sum();
  model.tensions = found.y;
  model.graph_pieces = ground.parts;
  model.bound = squared * proof_of(model, ground).bound;
  model.describe(data, rows.width(), execution.part(0.9, 0.95, "quality of the picture"));
  Comparison same;
  model.certificate = certificate_of(model, ground, same);
  model.certificate.iterations = found.iterations;
  return model;
}

Certificate certify(const MvuModel& model, const Rows& rows, const Execution& execution) {
  Comparison same;
  const Compared data =
      things_again(Mvu::name, model, model.spec.input, rows, model.spec.metric, same, execution.part(0, 0.05));
  const Ground ground = ground_of(model.spec, data, execution.part(0.05, 0.4));
  if (static_cast<Index>(ground.edges.size()) != model.tensions.size()) {
    Certificate out;
    out.strength = Strength::optimal;
    out.kind = "gap between the variance and its bound";
    out.value = 1;
    out.tolerance = model.spec.tolerance;
    out.message =
        fmt::format("The graph has {} and the model has {}.", count_of(static_cast<Index>(ground.edges.size()), "edge"),
                    count_of(model.tensions.size(), "tension"));
    return out;
  }
  Certificate out = certificate_of(model, ground, same);
  compare_quality(same, model, data, execution.part(0.5, 1));
  report(same, out);
  return out;
}

template const Method& method_of<Mvu>();

}  // namespace lemma
