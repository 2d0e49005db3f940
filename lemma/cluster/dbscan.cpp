// lemma/cluster/dbscan.cpp
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <lemma/cluster/dbscan.hpp>
#include <lemma/cluster/dbscan/reach.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <lemma/geometry/graph/concurrent_sets.hpp>
#include <lemma/model/comparison.hpp>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kMostPlain = 20000;  // up to so many rows the certificate looks at all distances
constexpr Index kMostCurve = 20000;  // rows that the curve of distances is made of

/// The distance at which each row has min_points in reach, sorted, and its knee.
double knee(const Neighbors& search, const Matrix& points, const Vector& weight, int min_points,
            const Execution& execution) {
  const Index n = points.rows(), asked = std::min(n, kMostCurve);
  std::vector<Index> which;
  for (Index i = 0; i < asked; ++i) which.push_back(i * n / asked);
  const NeighborLists lists = search.nearest(rows_at(points, which), min_points, execution);
  std::vector<std::pair<double, double>> curve;  // distance, weight
  for (Index i = 0; i < asked; ++i) {
    double reached = 0, distance = 0;
    for (std::size_t j = 0; j < lists.rows_of(i).size() && reached < min_points; ++j) {
      reached += weight(lists.rows_of(i)[j]);
      distance = lists.distances_of(i)[j];
    }
    curve.emplace_back(distance, weight(which[at(i)]));
  }
  std::sort(curve.begin(), curve.end());
  const double all = weight(which).sum(), low = curve.front().first, high = curve.back().first;
  double place = 0, deepest = -1, out = high;
  for (const auto& [distance, w] : curve) {
    place += w;  // of copies of a row the last counts
    const double line = all > 1 ? low + (high - low) * (place - 1) / (all - 1) : high;
    if (line - distance > deepest) deepest = line - distance, out = distance;
  }
  return out;
}

/// Sums of whole weights are the same in any order, so that rows in reach need not come in one.
bool are_whole(const Vector& weight) {
  return weight.array().floor().isApprox(weight.array(), 0) && weight.sum() < 0x1p52;
}

/// The rows in reach of each row, in whatever way is fastest here.
class RowsInReach {
 public:
  /// As the fit finds them: by boxes, or by the search that suits.
  static RowsInReach for_fit(const Matrix& points, const BoundMetric& metric, double radius, bool whole,
                             const Execution& execution) {
    RowsInReach out;
    if (whole) out.near_ = near_rows_by_boxes(points, metric, radius, execution);
    if (out.near_) return out;
    out.search_ = std::make_unique<const Neighbors>(points, metric, SearchOptions{}, execution);
    out.lists_.emplace(points, *out.search_, radius);
    return out;
  }
  /// As the certificate does: by the cells of a grid, a ball tree, or all distances.
  static RowsInReach for_certificate(const Matrix& points, const BoundMetric& metric, double radius, bool whole,
                                     const Execution& execution) {
    RowsInReach out;
    if (whole && points.rows() > kMostPlain) out.near_ = near_rows_by_cells(points, metric, radius, execution);
    if (out.near_) return out;
    out.lists_.emplace(points, metric, radius, kMostPlain, execution);
    return out;
  }
  void for_each(const Execution& execution, const VisitNear& visit) const {
    if (near_) near_->for_each(execution, visit);
    else lists_->for_each_row(execution, visit);
  }
  std::string_view way() const { return near_ ? "the cells of a grid" : lists_->way(); }

 private:
  std::unique_ptr<const NearRows> near_;
  std::unique_ptr<const Neighbors> search_;
  std::optional<Reach> lists_;
};

double weight_of(std::span<const std::int32_t> rows, const Vector& weight) {
  double sum = 0;
  for (const std::int32_t j : rows) sum += weight(j);
  return sum;
}

struct Partition {
  std::vector<char> core;
  ConcurrentSets joined;
  std::vector<Index> door;  // of a row that is not core: the nearest core row in reach; −1: none
  double pairs = 0;         // Σᵢ wᵢ |N(xᵢ)|
};

/// The nearest of the rows that are core, the first of equals; −1 of none.
Index nearest_core(Index i, std::span<const std::int32_t> rows, const std::vector<char>& core, const Matrix& mapped,
                   const BoundMetric& metric) {
  std::pair<double, Index> nearest(HUGE_VAL, -1);
  for (const Index j : rows)
    if (core[at(j)]) {
      const std::pair here(metric.between(mapped.row(i).data(), mapped.row(j).data()), j);
      if (nearest.second < 0 || here < nearest) nearest = here;
    }
  return nearest.second;
}

/// Who is core; then core rows are joined where they are in reach, and the others go to the nearest.
Partition partition_of(const RowsInReach& reach, const Matrix& points, const BoundMetric& metric, const Vector& weight,
                       int min_points, const Execution& execution) {
  const Index n = weight.size();
  Partition out{std::vector<char>(at(n), 0), ConcurrentSets(n), std::vector<Index>(at(n), -1), 0};
  Vector in_reach(n);
  reach.for_each(execution.part(0, 0.5, execution.message), [&](Index i, std::span<const std::int32_t> rows) {
    in_reach(i) = weight_of(rows, weight);
    out.core[at(i)] = in_reach(i) >= min_points;
  });
  for (Index i = 0; i < n; ++i) out.pairs += weight(i) * in_reach(i);
  const Matrix mapped = metric.mapped(points, execution.part(0.5, 0.5));
  reach.for_each(execution.part(0.5, 1, execution.message), [&](Index i, std::span<const std::int32_t> rows) {
    if (!out.core[at(i)]) out.door[at(i)] = nearest_core(i, rows, out.core, mapped, metric);
    else
      for (const std::int32_t j : rows)
        if (j < i && out.core[at(j)]) out.joined.join(i, j);
  });
  return out;
}

// ---- the certifier ----

/// The cluster of each row as the model has it: of core rows by their own, of others by assign.
struct Told {
  std::vector<char> core;
  std::vector<int> label;
};

/// Are the core rows these very rows, at the places that the model gives them?
bool stand_in_place(const DbscanModel& model, const Matrix& points) {
  for (Index c = 0; c < model.core_rows.size(); ++c) {
    const auto row = static_cast<Index>(model.core_rows(c)) - 1;
    if (row >= points.rows()) return false;
    for (Index j = 0; j < points.cols(); ++j)
      if (const double a = points(row, j), b = model.points(c, j); a != b && !(std::isnan(a) && std::isnan(b)))
        return false;
  }
  return true;
}

/// Each core row of the model is found once, at its place or by its print.
Told told_of(const DbscanModel& model, const Matrix& points, bool in_place) {
  Told out{std::vector<char>(at(points.rows()), 0), std::vector<int>(at(points.rows()), -1)};
  const auto tell = [&](Index i, double cluster) {
    out.core[at(i)] = 1;
    out.label[at(i)] = static_cast<int>(cluster) - 1;
  };
  if (in_place) {
    for (Index c = 0; c < model.core_rows.size(); ++c)
      tell(static_cast<Index>(model.core_rows(c)) - 1, model.clusters(c));
  } else {
    const Vector prints = prints_of(model.points), given = prints_of(points);
    std::vector<std::pair<double, double>> of_core;
    for (Index c = 0; c < prints.size(); ++c) of_core.emplace_back(prints(c), model.clusters(c));
    std::sort(of_core.begin(), of_core.end());
    std::vector<Index> used(of_core.size(), 0);  // of those with one print, counted at the first of them
    for (Index i = 0; i < points.rows(); ++i) {
      const auto first = std::lower_bound(of_core.begin(), of_core.end(), std::pair(given(i), -2.0)) - of_core.begin();
      Index place = std::ssize(of_core);
      if (first < place) place = first + used[at(first)];
      if (place < std::ssize(of_core) && of_core[at(place)].first == given(i)) {
        tell(i, of_core[at(place)].second);
        ++used[at(first)];
      }
    }
  }
  std::vector<Index> others;
  for (Index i = 0; i < points.rows(); ++i)
    if (!out.core[at(i)]) others.push_back(i);
  const Labels said = model.assign(rows_at(points, others));
  for (std::size_t k = 0; k < others.size(); ++k) out.label[at(others[k])] = said[k];
  return out;
}

struct Faults {
  std::atomic<Index> core = 0, apart = 0, border = 0;
  Index loose = 0;
  double pairs = 0;
  Index all() const { return core + apart + border + loose; }
};

void find_faults(const DbscanModel& model, const Told& told, const RowsInReach& reach, const Matrix& points,
                 const BoundMetric& metric, const Vector& weight, const Execution& execution, Faults& out) {
  const Index n = weight.size();
  const Matrix mapped = metric.mapped(points, execution.part(0, 0));
  ConcurrentSets joined(n);
  Vector in_reach(n);
  reach.for_each(execution, [&](Index i, std::span<const std::int32_t> rows) {
    in_reach(i) = weight_of(rows, weight);
    const bool core = in_reach(i) >= model.spec.min_points;
    if (core != (told.core[at(i)] != 0)) ++out.core;
    double nearest = -1;
    bool fits = false;  // one of the nearest core rows has its cluster
    for (const Index j : rows) {
      if (!told.core[at(j)]) continue;
      const bool same = told.label[at(j)] == told.label[at(i)];
      if (core) {
        if (j < i) joined.join(i, j);
        if (!same) ++out.apart;
        continue;
      }
      const double d = metric.between(mapped.row(i).data(), mapped.row(j).data());
      if (nearest < 0 || d < nearest) nearest = d, fits = same;
      else if (d == nearest) fits = fits || same;
    }
    if (!core && (nearest < 0 ? told.label[at(i)] != -1 : !fits)) ++out.border;
  });
  Index sets = 0;
  for (Index i = 0; i < n; ++i) {
    sets += told.core[at(i)] && joined.find(i) == i;
    out.pairs += weight(i) * in_reach(i);
  }
  out.loose = std::abs(sets - model.k());
}

void compare_sizes(const DbscanModel& model, const Told& told, const Vector& weight, double pairs, Comparison& same) {
  Vector sizes = Vector::Zero(model.k()), cores = sizes;
  double noise = 0;
  for (Index i = 0; i < weight.size(); ++i) {
    const int label = told.label[at(i)];
    if (label < 0) noise += weight(i);
    else sizes(label) += weight(i), cores(label) += told.core[at(i)] ? 1 : 0;
  }
  const double all = std::max(1.0, weight.sum());
  for (Index c = 0; c < model.k(); ++c) {
    same.entry("sizes", c, model.sizes(c), sizes(c), all);
    same.entry("core_sizes", c, model.core_sizes(c), cores(c), all);
  }
  same.number("noise", model.noise, noise, all);
  same.relative("mean_reach", model.mean_reach, pairs / all);
}

std::string wrong_words(const Faults& faults) {
  if (faults.core > 0)
    return fmt::format("of {} the model does not say rightly whether it is core", count_of(faults.core, "row"));
  if (faults.apart > 0)
    return fmt::format("{} of core rows in reach of each other have different clusters",
                       count_of(faults.apart, "pair"));
  if (faults.loose > 0) return "the clusters are not as many as the sets of core rows that hang together";
  return fmt::format("of {} the cluster is not that of the nearest core row in reach", count_of(faults.border, "row"));
}

Certificate certificate_of(const DbscanModel& model, const Matrix& points, const BoundMetric& metric,
                           const Vector& weight, const Execution& execution) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "rows that are not where density puts them";
  out.tolerance = 0;
  out.iterations = 1;
  out.stopped = "all rows looked at";
  std::vector<Index> there;
  for (Index i = 0; i < weight.size(); ++i)
    if (weight(i) > 0) there.push_back(i);
  const bool all = static_cast<Index>(there.size()) == points.rows();
  const Matrix some = all ? Matrix() : rows_at(points, there);
  const Matrix& kept = all ? points : some;
  const Vector mass = weight(there);
  const bool in_order = print_of_all(points) == model.order, in_place = in_order && stand_in_place(model, points);
  const Told told = told_of(model, kept, all && in_place);
  const auto reach =
      RowsInReach::for_certificate(kept, metric, *model.spec.radius, are_whole(mass), execution.part(0, 0.1));
  Faults faults;
  find_faults(model, told, reach, kept, metric, mass, execution.part(0.1, 1, "rows in reach counted again"), faults);
  Comparison same;
  const Index cores = std::accumulate(told.core.begin(), told.core.end(), Index{0});
  same.number("points", static_cast<double>(model.points.rows()), static_cast<double>(cores), 1);
  compare_sizes(model, told, mass, faults.pairs, same);
  if (in_order) same.number("core_rows", in_place ? 0 : 1, 0, 1);
  out.value = static_cast<double>(faults.all());
  if (faults.all() > 0) {
    out.message = fmt::format("These are not the density-connected sets of the rows: {}.", wrong_words(faults));
  } else if (same.finding()) {
    same.report(out);
    out.message = fmt::format("What the model tells is not what the rows give: {}'{}' is off.", same.finding()->place,
                              same.finding()->field);
  } else {
    out.message = fmt::format(
        "The clusters are exactly the density-connected sets: by {} the rows in reach of each of the {} were counted "
        "anew.",
        reach.way(), count_of(mass.size(), "row"));
  }
  return out;
}

}  // namespace

void DbscanModel::check() const {
  require(spec.radius && std::isfinite(*spec.radius), "dbscan: there is no radius");
  require(columns > 0 && points.rows() == core_rows.size() && clusters.size() == core_rows.size(),
          "dbscan: the core rows do not fit together");
  require(points.rows() == 0 || points.cols() == columns, "dbscan: the core rows do not fit the columns");
  require((spec.metric.takes_missing() || all_finite(points)) && !points.array().isInf().any(),
          "dbscan: a core row has a number that is not finite");
  require(core_sizes.size() == k() && sizes.allFinite() && core_sizes.allFinite() && std::isfinite(noise) &&
              std::isfinite(mean_reach) && std::isfinite(order),
          "dbscan: a number is not usable");
  for (Index c = 0; c < clusters.size(); ++c) {
    require(clusters(c) >= 1 && clusters(c) <= static_cast<double>(k()) && clusters(c) == std::floor(clusters(c)),
            "dbscan: a cluster is none of them");
    require(core_rows(c) >= 1 && core_rows(c) < 1e15 && core_rows(c) == std::floor(core_rows(c)) &&
                (c == 0 || core_rows(c) > core_rows(c - 1)),
            "dbscan: the numbers of the core rows are not usable");
  }
  BoundMetric(spec.metric, columns);
}

Labels DbscanModel::assign(const MatrixView& x) const {
  require_width(*this, x.cols());
  Labels out(at(x.rows()), -1);
  if (points.rows() == 0 || x.rows() == 0) return out;
  const Neighbors search(points, BoundMetric(spec.metric, columns));
  const NeighborLists nearest = search.nearest(x, 1);
  for (Index i = 0; i < x.rows(); ++i)
    if (nearest.rows_of(i).size() > 0 && nearest.distances_of(i)[0] <= *spec.radius)
      out[at(i)] = static_cast<int>(clusters(nearest.rows_of(i)[0])) - 1;
  return out;
}

Vector DbscanModel::core_distance(const MatrixView& x) const {
  require_width(*this, x.cols());
  Vector out = Vector::Constant(x.rows(), std::nan(""));
  if (points.rows() == 0 || x.rows() == 0) return out;
  const NeighborLists nearest = Neighbors(points, BoundMetric(spec.metric, columns)).nearest(x, 1);
  for (Index i = 0; i < x.rows(); ++i)
    if (nearest.rows_of(i).size() > 0) out(i) = nearest.distances_of(i)[0];
  return out;
}

std::string DbscanModel::summary(const Names&) const {
  constexpr Index most = 30;
  const Index shown = std::min(k(), most);
  std::vector<std::string> cluster, size, core;
  for (Index c = 0; c < shown; ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_significant(sizes(c), 7));
    core.push_back(format_count(static_cast<Index>(core_sizes(c))));
  }
  std::string out = fmt::format("{} of rows with {} in reach: {} by {}\n", count_of(k(), "cluster"), spec.min_points,
                                format_significant(*spec.radius, 5), spec.metric.text());
  if (k() > 0) out += "\n" + TextTable().right("cluster", cluster).right("rows", size).right("core rows", core).str();
  if (shown < k()) out += fmt::format("... and {} more\n", k() - shown);
  return out + fmt::format("\nnoise {}   rows in reach, on average {}\n", format_significant(noise, 7),
                           format_significant(mean_reach, 4));
}

DbscanModel fit(const Valid<Dbscan>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  const auto [points, metric] = measured_points(spec->metric, rows, execution.part(0, 0.05));
  const Vector weight = weights_of(rows, execution.part(0.05, 0.05));
  std::vector<Index> there;  // rows of weight 0 are not
  for (Index i = 0; i < weight.size(); ++i)
    if (weight(i) > 0) there.push_back(i);
  if (there.empty()) throw Error("dbscan: all weights are 0, so there are no rows to learn from");
  const bool all = static_cast<Index>(there.size()) == points.rows();
  const Matrix some = all ? Matrix() : rows_at(points, there);
  const Matrix& kept = all ? points : some;
  const Vector mass = weight(there);

  DbscanModel model;
  model.spec = *spec;
  model.spec.metric = metric.metric();
  if (!spec->radius) {
    const Neighbors search(kept, metric, SearchOptions{}, execution.part(0.05, 0.1, "search structure"));
    model.spec.radius = knee(search, kept, mass, spec->min_points, execution.part(0.1, 0.2, "knee"));
  }
  const auto reach = RowsInReach::for_fit(kept, metric, *model.spec.radius, are_whole(mass), execution.part(0.2, 0.25));
  const Partition found =
      partition_of(reach, kept, metric, mass, spec->min_points, execution.part(0.25, 0.6, "rows in reach"));

  std::vector<Index> cores, number(at(kept.rows()), -1);
  Index clusters = 0;
  for (Index i = 0; i < kept.rows(); ++i)
    if (found.core[at(i)]) {
      Index& own = number[at(found.joined.find(i))];
      if (own < 0) own = clusters++;
      cores.push_back(i);
    }
  model.points = rows_at(kept, cores);
  model.core_rows.resize(static_cast<Index>(cores.size()));
  model.clusters.resize(model.core_rows.size());
  model.core_sizes = Vector::Zero(clusters);
  for (std::size_t c = 0; c < cores.size(); ++c) {
    const Index own = number[at(found.joined.find(cores[c]))];
    model.core_rows(static_cast<Index>(c)) = static_cast<double>(there[at(cores[c])] + 1);
    model.clusters(static_cast<Index>(c)) = static_cast<double>(own + 1);
    model.core_sizes(own) += 1;
  }
  model.columns = rows.width();
  model.order = print_of_all(points);
  model.mean_reach = found.pairs / mass.sum();
  model.sizes = Vector::Zero(clusters);
  for (Index i = 0; i < kept.rows(); ++i) {
    const Index core = found.core[at(i)] ? i : found.door[at(i)];
    (core < 0 ? model.noise : model.sizes(number[at(found.joined.find(core))])) += mass(i);
  }
  if (clusters == 0)
    model.warnings.push_back(fmt::format("no row has {} in reach of {}: all rows are noise; take a larger radius",
                                         spec->min_points, format_significant(*model.spec.radius, 3)));
  model.certificate = certificate_of(model, points, metric, weight, execution.part(0.6, 1));
  return model;
}

Certificate certify(const DbscanModel& model, const Rows& rows, const Execution& execution) {
  const auto [points, metric] = measured_points(model.spec.metric, rows, execution.part(0, 0.1));
  return certificate_of(model, points, metric, weights_of(rows, execution.part(0, 0)), execution.part(0.1, 1));
}

template const Method& method_of<Dbscan>();

}  // namespace lemma
