// lemma/embed/shared/stress_search.cpp: down from several starts.
#include <algorithm>
#include <cmath>
#include <functional>
#include <lemma/core/hearing.hpp>
#include <lemma/core/random.hpp>
#include <lemma/embed/shared/centred.hpp>
#include <lemma/embed/shared/embedded.hpp>
#include <lemma/embed/shared/stress.hpp>
#include <lemma/geometry/graph.hpp>
#include <lemma/optimize/minimise.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr double kGains =
    1e-3;  // a step of Guttman's transform that lowers f by a smaller share gives way to the quasi-Newton search

bool all_known(const Compared& data) {
  return std::none_of(data.weight.begin(), data.weight.end(), [](double w) { return w == 0; });
}

/// Those that are not known become far(i, j).
Dissimilarities filled(const Compared& data, const std::function<double(Index, Index)>& far) {
  const Dissimilarities& d = data.dissimilarities;
  if (all_known(data)) return d;
  std::vector<double> kept(d.kept().begin(), d.kept().end());
  for (Index i = 0; i < d.count(); ++i)
    for (Index j = i + 1; j < d.count(); ++j)
      if (data.weight[at(d.pair(i, j))] == 0) kept[at(d.pair(i, j))] = far(i, j);
  return Dissimilarities::of_triangle(std::move(kept), d.names());
}

struct AsVector {
  const Stress* stress;
  Index dimensions;
  const Execution* execution;

  Matrix places(const Vector& x) const { return Eigen::Map<const Matrix>(x.data(), x.size() / dimensions, dimensions); }
  double value(const Vector& x) const { return stress->value(places(x), nullptr, *execution); }
  double value(const Vector& x, Vector& gradient) const {
    Matrix slope;
    const double f = stress->value(places(x), &slope, *execution);
    gradient = Eigen::Map<const Vector>(slope.data(), slope.size());
    return f;
  }
};

struct Found {
  Matrix places;
  std::vector<double> trace;
  bool converged = false, cancelled = false;
};

Found descend(const Stress& stress, Matrix places, const StressSearch& how, const Execution& execution) {
  const Execution silent = to_the_end(execution);
  const Hearing hearing(silent);
  Found out;
  places = stress.in_unit(std::move(places), silent);
  double f = stress.value(places, nullptr, silent);
  out.trace.push_back(f);
  long long steps = 0;
  for (bool gains = true; gains && steps < how.most_iterations; ++steps) {
    if (execution.cancelled()) {
      out.cancelled = true;
      out.places = std::move(places);
      return out;
    }
    Matrix next = stress.in_unit(stress.guttman(places, silent), silent);
    const double lower = stress.value(next, nullptr, silent);
    gains = lower < (1 - kGains) * f;
    if (!(lower <= f)) break;
    places = std::move(next);
    out.trace.push_back(f = lower);
    execution.report(0.3 * static_cast<double>(steps) / static_cast<double>(how.most_iterations), "majorisation");
  }
  const AsVector objective{&stress, places.cols(), &silent};
  MinimiseOptions options;
  options.most_iterations = how.most_iterations - steps;
  options.tolerance = 0;
  options.keep_trace = true;
  options.stop = [&](const Iterate& at) {
    execution.report(0.3 + 0.7 * static_cast<double>(at.iteration) / static_cast<double>(how.most_iterations),
                     "least stress");
    if (execution.cancelled()) return out.cancelled = true;
    out.converged = at.gradient.norm() * at.x.norm() <= how.tolerance;
    return out.converged;
  };
  const Minimum found = lbfgs(objective, Eigen::Map<const Vector>(places.data(), places.size()), options, 20);
  for (std::size_t k = 1; k < found.trace.size(); ++k) out.trace.push_back(found.trace[k]);
  out.converged = found.gradient.norm() * found.x.norm() <= how.tolerance;
  out.places = objective.places(found.x);
  return out;
}

}  // namespace

Dissimilarities completed_by_ways(std::string_view method, const Compared& data, const Execution& execution) {
  if (all_known(data)) return data.dissimilarities;
  require_joined(method, data.dissimilarities, data.weight);
  const Index n = data.count();
  std::vector<Edge> edges;
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j)
      if (data.weight[at(data.dissimilarities.pair(i, j))] > 0) edges.push_back({i, j, data.dissimilarities(i, j)});
  std::vector<Index> all(at(n));
  std::iota(all.begin(), all.end(), Index{0});
  const Matrix ways = shortest_paths(Graph::of_edges(n, edges), all, execution);
  return filled(data, [&](Index i, Index j) { return ways(i, j); });
}

Dissimilarities completed_by_places(const Compared& data, const Matrix& places) {
  return filled(data, [&](Index i, Index j) { return (places.row(i) - places.row(j)).norm(); });
}

StressMinimum least_stress(std::string_view method, const Stress& stress, const Compared& data, const StressSearch& how,
                           const Execution& execution) {
  const Matrix classical = classical_places(method, completed_by_ways(method, data, execution.part(0, 0.05)),
                                            how.dimensions, execution.part(0.05, 0.1)) /
                           stress.unit();
  Matrix start = Matrix::Zero(stress.things(), how.dimensions);
  start.leftCols(classical.cols()) = classical;
  // A dimension that classical scaling leaves empty would stay so: its gradient is 0 there.
  if (classical.cols() < how.dimensions)
    start.rightCols(how.dimensions - classical.cols()) =
        1e-2 * normal_matrix(stress.things(), how.dimensions - classical.cols(), 1, 79);
  Found best;
  for (int k = 0; k <= how.restarts; ++k) {
    const double part = 1.0 / (how.restarts + 1);
    if (k > 0) start = 0.3 * normal_matrix(stress.things(), how.dimensions, how.seed, static_cast<std::uint64_t>(k));
    Found found =
        descend(stress, stress.gathered(start), how, execution.part(0.1 + 0.9 * k * part, 0.1 + 0.9 * (k + 1) * part));
    if (k == 0 && found.cancelled && found.trace.size() < 2) throw Cancelled();
    const bool cancelled = found.cancelled;
    if (k == 0 || found.trace.back() < best.trace.back()) best = std::move(found);
    best.cancelled = cancelled;
    if (cancelled) break;
  }
  StressMinimum out;
  const Execution rest = to_the_end(execution);
  const Hearing hearing(rest);
  out.places = stress.unit() * along_axes(stress.spread(stress.in_unit(best.places, rest)));
  out.trace = std::move(best.trace);
  out.converged = best.converged;
  out.cancelled = best.cancelled;
  return out;
}

}  // namespace lemma
