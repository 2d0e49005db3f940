// lemma/cluster/shared/medoid_clusters.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/shared/dissimilarity_rows.hpp>
#include <lemma/cluster/shared/measured_points.hpp>
#include <lemma/cluster/shared/medoid_clusters.hpp>
#include <lemma/cluster/shared/row_prints.hpp>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <limits>
#include <numeric>

namespace lemma {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

/// Σᵢ min(dᵢ, restᵢ) in eight lanes.
double sum_of_least(const double* d, const double* rest, Index n) {
  double lane[8] = {};
  Index i = 0;
  for (; i + 8 <= n; i += 8)
    for (Index l = 0; l < 8; ++l) lane[l] += d[i + l] < rest[i + l] ? d[i + l] : rest[i + l];
  for (; i < n; ++i) lane[0] += std::min(d[i], rest[i]);
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/// Of the rows that are nearest to each medoid (the first of equals): how many, Σ d and the greatest d.
struct Told {
  Vector sizes, within, farthest;
};
Told told_of(const Matrix& far) {
  const Index k = far.rows();
  Told out{Vector::Zero(k), Vector::Zero(k), Vector::Zero(k)};
  for (Index i = 0; i < far.cols(); ++i) {
    Index nearest = 0;
    for (Index m = 1; m < k; ++m)
      if (far(m, i) < far(nearest, i)) nearest = m;
    out.sizes(nearest) += 1;
    out.within(nearest) += far(nearest, i);
    out.farthest(nearest) = std::max(out.farthest(nearest), far(nearest, i));
  }
  return out;
}

}  // namespace

Matrix far_from(const Dissimilarities& all, const std::vector<Index>& medoids) {
  Matrix out(static_cast<Index>(medoids.size()), all.count());
  for (std::size_t m = 0; m < medoids.size(); ++m)
    all.row(medoids[m], {out.row(static_cast<Index>(m)).data(), at(all.count())});
  return out;
}

double total_of(const Dissimilarities& all, const std::vector<Index>& medoids) {
  const Index n = all.count();
  std::vector<double> nearest(at(n), kFar), row(at(n));
  for (const Index each : medoids) {
    all.row(each, row);
    for (Index i = 0; i < n; ++i) nearest[at(i)] = std::min(nearest[at(i)], row[at(i)]);
  }
  return std::accumulate(nearest.begin(), nearest.end(), 0.0);
}

double least_total(const Dissimilarities& all, const std::vector<Index>& medoids, const Execution& execution) {
  constexpr Index kTogether = 16;
  const Index n = all.count();
  const Matrix far = far_from(all, medoids);
  Matrix rest = Matrix::Constant(far.rows(), n, kFar);
  for (Index m = 0; m < far.rows(); ++m)
    for (Index other = 0; other < far.rows(); ++other)
      if (other != m) rest.row(m) = rest.row(m).cwiseMin(far.row(other));
  const Index parts = (n + kTogether - 1) / kTogether;
  std::vector<double> least(at(parts), kFar);
  parallel_for(parts, execution, [&](Index part) {
    const Index first = part * kTogether, count = std::min(kTogether, n - first);
    std::vector<double> rows(at(count * n));
    dissimilarity_rows(all, first, count, rows.data());
    for (Index m = 0; m < rest.rows(); ++m)
      for (Index r = 0; r < count; ++r)
        least[at(part)] = std::min(least[at(part)], sum_of_least(rows.data() + r * n, rest.row(m).data(), n));
  });
  return *std::min_element(least.begin(), least.end());
}

void MedoidClusters::check_medoids(std::string_view method, Input input, const Metric& metric) const {
  const auto hold = [&](bool fits, std::string_view what) { require(fits, fmt::format("{}: {}", method, what)); };
  const Index count = k();
  hold(count > 0 && columns > 0, "there are no medoids");
  hold(sizes.size() == count && within.size() == count && farthest.size() == count,
       "the clusters do not fit the medoids");
  hold(sizes.allFinite() && within.allFinite() && farthest.allFinite() && std::isfinite(total) && std::isfinite(order),
       "a number is not finite");
  hold((sizes.array() >= 0).all() && (within.array() >= 0).all() && (farthest.array() >= 0).all() && total >= 0,
       "a size or sum is negative");
  for (Index m = 0; m < count; ++m)
    hold(medoid_rows(m) >= 1 && medoid_rows(m) == std::floor(medoid_rows(m)) && medoid_rows(m) < 1e15 &&
             (m == 0 || medoid_rows(m) > medoid_rows(m - 1)),
         "the numbers of the medoids are not usable");
  if (input == Input::rows) {
    hold(medoids.rows() == count && medoids.cols() == columns && things.empty(), "the medoids do not fit the columns");
    hold((metric.takes_missing() || all_finite(medoids)) && !medoids.array().isInf().any(),
         "a medoid has a number that is not finite");
    BoundMetric(metric, columns);
  } else {
    hold(medoids.size() == 0 && static_cast<Index>(things.size()) == count &&
             medoid_rows(count - 1) <= static_cast<double>(columns),
         "the medoids do not fit the things");
  }
}

Matrix MedoidClusters::distances_by(std::string_view method, Input input, const Metric& metric,
                                    const MatrixView& x) const {
  require_width(method, width(), x.cols());
  Matrix out(x.rows(), k());
  if (input == Input::square) {
    for (Index i = 0; i < x.rows(); ++i)
      for (Index m = 0; m < k(); ++m) {
        out(i, m) = x(i, static_cast<Index>(medoid_rows(m)) - 1);
        if (!(out(i, m) >= 0 && std::isfinite(out(i, m))))
          throw Error(fmt::format("{}: the dissimilarity of row {} and '{}' is {}, must be a number of at least 0",
                                  method, i + 1, things[at(m)], out(i, m)));
      }
    return out;
  }
  const BoundMetric bound(metric, columns);
  const Matrix centres = bound.mapped(medoids), rows = bound.mapped(x);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index m = 0; m < k(); ++m) out(i, m) = bound.between(rows.row(i).data(), centres.row(m).data());
  return out;
}

Labels nearest_of(const Matrix& distances) {
  Labels out(at(distances.rows()), 0);
  for (Index i = 0; i < distances.rows(); ++i)
    for (Index m = 1; m < distances.cols(); ++m)
      if (distances(i, m) < distances(i, out[at(i)])) out[at(i)] = static_cast<int>(m);
  return out;
}

std::string MedoidClusters::table(const Names& names) const {
  constexpr Index most = 50;
  const Index shown = std::min(k(), most);
  std::vector<std::string> cluster, row, size;
  std::vector<double> mean, far;
  for (Index m = 0; m < shown; ++m) {
    cluster.push_back(fmt::format("{}", m + 1));
    row.push_back(things.empty() ? format_count(static_cast<Index>(medoid_rows(m))) : things[at(m)]);
    size.push_back(format_significant(sizes(m), 7));
    mean.push_back(sizes(m) > 0 ? within(m) / sizes(m) : 0);
    far.push_back(farthest(m));
  }
  TextTable out;
  out.right("cluster", cluster).right(things.empty() ? "row" : "medoid", row).right("size", size);
  out.numbers("mean", mean).numbers("farthest", far);
  for (Index j = 0; j < medoids.cols(); ++j) {
    std::vector<double> column;
    for (Index m = 0; m < shown; ++m) column.push_back(medoids(m, j));
    out.numbers(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1), column, 4);
  }
  std::string text = out.str({.width = 100});
  if (shown < k()) text += fmt::format("... and {} more\n", k() - shown);
  return text;
}

void MedoidClusters::tell(const std::vector<Index>& which, const Dissimilarities& all, const Matrix& points,
                          const std::vector<std::string>& called, Index width) {
  const Told told = told_of(far_from(all, which));
  sizes = told.sizes;
  within = told.within;
  farthest = told.farthest;
  total = told.within.sum();
  columns = width;
  medoid_rows.resize(static_cast<Index>(which.size()));
  for (std::size_t m = 0; m < which.size(); ++m) {
    medoid_rows(static_cast<Index>(m)) = static_cast<double>(which[m] + 1);
    if (!called.empty()) things.push_back(called[at(which[m])]);
  }
  if (called.empty()) {
    medoids = rows_at(points, which);
    order = print_of_all(points);
  }
}

std::optional<std::vector<Index>> MedoidClusters::found_among(Index n, const Matrix& points,
                                                              const std::vector<std::string>& called,
                                                              Comparison& same) const {
  const bool of_rows = things.empty(), same_order = of_rows && print_of_all(points) == order;
  std::vector<Index> out;
  for (Index m = 0; m < k(); ++m) {
    Index row = static_cast<Index>(medoid_rows(m)) - 1;
    if (of_rows) {
      const auto is_it = [&](Index i) {
        for (Index j = 0; j < columns; ++j) {
          const double a = points(i, j), b = medoids(m, j);
          if (!(a == b || (std::isnan(a) && std::isnan(b)))) return false;
        }
        return true;
      };
      if (!same_order) {
        row = 0;
        while (row < n && !is_it(row)) ++row;
      }
      if (row >= n || !is_it(row)) {
        same.entry("medoids", m, 1, 0, 1);
        return {};
      }
    } else if (row >= n || things[at(m)] != called[at(row)]) {
      same.entry("medoid_rows", m, 1, 0, 1);
      return {};
    }
    out.push_back(row);
  }
  return out;
}

double MedoidClusters::compare(const std::vector<Index>& which, const Dissimilarities& all, Comparison& same) const {
  const Told found = told_of(far_from(all, which));
  const auto n = static_cast<double>(all.count());
  const double sum = found.within.sum(), unit = sum > 0 ? sum : 1;
  for (Index m = 0; m < k(); ++m) {
    same.entry("sizes", m, sizes(m), found.sizes(m), n);
    same.entry("within", m, within(m), found.within(m), unit);
    same.entry("farthest", m, farthest(m), found.farthest(m), unit / n);
  }
  same.number("total", total, sum, unit);
  return sum;
}

}  // namespace lemma
