// lemma/embed/shared/stress_certify.cpp: a second look at places of least stress.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/embed/shared/stress.hpp>
#include <lemma/math/factorise.hpp>
#include <numeric>

namespace lemma {
namespace {

struct Pair {
  Index i, j;
  double delta, weight, distance, target = 0;
};

/// Slopes of the greatest convex function below the sums of w d over those of w: the distances rising with δ nearest to d.
void rise_by_minorant(std::vector<Pair>& pairs, TiedPairs ties) {
  std::sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
    if (a.delta != b.delta) return a.delta < b.delta;
    if (ties == TiedPairs::primary && a.distance != b.distance) return a.distance < b.distance;
    return a.i != b.i ? a.i < b.i : a.j < b.j;
  });
  struct Corner {
    double along, height;
    std::size_t to;  // pairs before it
  };
  std::vector<Corner> hull{{0, 0, 0}};
  double along = 0, height = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    along += pairs[k].weight;
    height += pairs[k].weight * pairs[k].distance;
    if (ties == TiedPairs::secondary && k + 1 < pairs.size() && pairs[k + 1].delta == pairs[k].delta) continue;
    const auto slope = [](const Corner& a, double x, double y) { return (y - a.height) / (x - a.along); };
    while (hull.size() > 1 &&
           slope(hull[hull.size() - 2], hull.back().along, hull.back().height) >= slope(hull.back(), along, height))
      hull.pop_back();
    hull.push_back({along, height, k + 1});
  }
  for (std::size_t h = 1; h < hull.size(); ++h)
    for (std::size_t k = hull[h - 1].to; k < hull[h].to; ++k)
      pairs[k].target = (hull[h].height - hull[h - 1].height) / (hull[h].along - hull[h - 1].along);
}

/// The line nearest to the distances, by its normal equations.
Stress::Line follow_line(std::vector<Pair>& pairs) {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const Pair& p : pairs) {
    w += p.weight;
    x += p.weight * p.delta;
    y += p.weight * p.distance;
    xx += p.weight * p.delta * p.delta;
    xy += p.weight * p.delta * p.distance;
  }
  const double determinant = w * xx - x * x;
  const double slope = determinant > 1e-14 * w * xx ? std::max(0.0, (w * xy - x * y) / determinant) : 0;
  const double intercept = (y - slope * x) / w;
  for (Pair& p : pairs) p.target = intercept + slope * p.delta;
  return {intercept, slope};
}

/// The rising spline nearest to the distances: of all sets of coefficients that may be above 0 the one whose least squares are, and are best.
Vector follow_spline(std::vector<Pair>& pairs, int knots, Vector& places) {
  std::vector<double> deltas;
  for (const Pair& p : pairs) deltas.push_back(p.delta);
  const RisingSpline spline(std::move(deltas), knots);
  const Index k = spline.size();
  places = Eigen::Map<const Vector>(spline.knots.data(), static_cast<Index>(spline.knots.size()));
  Matrix gram = Matrix::Zero(k, k);
  Vector right = Vector::Zero(k);
  Eigen::RowVectorXd basis(k);
  for (const Pair& p : pairs) {
    spline.basis(p.delta, basis.data());
    gram += p.weight * basis.transpose() * basis;
    right += p.weight * p.distance * basis.transpose();
  }
  Vector best = Vector::Zero(k);
  double least = 0;
  for (unsigned set = 1; set < (1U << k); ++set) {
    std::vector<Index> part;
    for (Index j = 0; j < k; ++j)
      if (set >> j & 1U) part.push_back(j);
    const auto triangle = cholesky(Matrix(gram(part, part)));
    if (!triangle) continue;
    const Vector c = solve_upper(*triangle, solve_upper_transposed(*triangle, Matrix(right(part)))).col(0);
    const double value = -0.5 * c.dot(right(part));
    if (c.minCoeff() < 0 || value >= least) continue;
    least = value;
    best.setZero();
    best(part) = c;
  }
  for (Pair& p : pairs) {
    spline.basis(p.delta, basis.data());
    p.target = basis.dot(best);
  }
  return best;
}

}  // namespace

StressLook look_at_stress(const Compared& data, const Stress::Kind& kind, const Matrix& places,
                          const Execution& execution) {
  const Dissimilarities& d = data.dissimilarities;
  const Index n = d.count();
  double unit = 0;
  for (const double each : d.kept()) unit = std::max(unit, each);
  const Matrix x = places / unit;
  const double spread = (x.rowwise() - x.colwise().mean()).norm();
  StressLook out;
  std::vector<Pair> pairs;
  for (Index i = 0; i < n; ++i) {
    if (execution.cancelled()) throw Cancelled();
    for (Index j = i + 1; j < n; ++j) {
      const auto p = at(d.pair(i, j));
      const double delta = d.kept()[p] / unit, distance = (x.row(i) - x.row(j)).norm();
      double weight = data.weight.empty() ? 1 : data.weight[p];
      if (weight == 0) continue;
      if (kind.sammon && delta == 0) {
        out.apart = std::max(out.apart, distance / spread);
        continue;
      }
      if (kind.sammon) weight /= delta;
      pairs.push_back({i, j, delta, weight, distance, delta});
    }
  }
  execution.report(0.4, "looking at the stress again");
  if (kind.disparities == Disparities::ordinal) rise_by_minorant(pairs, kind.ties);
  if (kind.disparities == Disparities::interval) {
    const Stress::Line line = follow_line(pairs);
    out.intercept = unit * line.intercept;
    out.slope = line.slope;
  }
  if (kind.disparities == Disparities::spline) {
    out.spline = unit * follow_spline(pairs, kind.knots, out.knots);
    out.knots *= unit;
  }
  double left = 0, of_delta = 0, of_distance = 0;
  for (const Pair& p : pairs) {
    left += p.weight * (p.target - p.distance) * (p.target - p.distance);
    of_delta += p.weight * p.delta * p.delta;
    of_distance += p.weight * p.distance * p.distance;
  }
  out.unit = unit;
  out.size = unit * unit * of_delta;
  out.of_distances = unit * unit * of_distance;
  const bool ratio = kind.disparities == Disparities::ratio;
  const double size = ratio ? of_delta : of_distance;
  out.value = size > 0 ? left / size : 1;
  Matrix slope = Matrix::Zero(n, x.cols());
  for (const Pair& p : pairs) {
    const double pull = p.distance > 0 ? 1 - p.target / p.distance : 0, plain = ratio ? 0 : out.value;
    const auto step = (p.weight * (pull - plain) * 2 / size * (x.row(p.i) - x.row(p.j))).eval();
    slope.row(p.i) += step;
    slope.row(p.j) -= step;
  }
  if (kind.sammon) {  // things at one place move together
    for (Index i = 0; i < n; ++i)
      for (Index j = i + 1; j < n; ++j)
        if (d.kept()[at(d.pair(i, j))] == 0 && (data.weight.empty() || data.weight[at(d.pair(i, j))] > 0)) {
          slope.row(i) += slope.row(j);
          slope.row(j).setZero();
        }
  }
  out.gradient = slope.norm() * spread;
  return out;
}

void check_trace(std::string_view method, const Vector& trace, double stress) {
  require(trace.size() >= 1 && trace.allFinite(), fmt::format("{}: the trace of the stress is not usable", method));
  for (Index k = 1; k < trace.size(); ++k)
    require(trace(k) <= trace(k - 1) * (1 + 1e-10) + 1e-14,
            fmt::format("{}: the stress is told to have risen", method));
  require(std::abs(trace(trace.size() - 1) - stress) <= 1e-12 * (1 + stress),
          fmt::format("{}: the trace does not end with the stress", method));
}

Certificate stress_certificate(const StressLook& look, const Vector& trace, double tolerance, bool root,
                               std::string_view what) {
  Certificate out;
  out.strength = Strength::stationary;
  out.kind = "gradient of the stress";
  out.value = std::max(look.gradient, look.apart);
  out.tolerance = 100 * tolerance;
  out.iterations = trace.size() - 1;
  out.stopped = out.value <= out.tolerance ? "converged" : "iteration limit";
  const double found = root ? std::sqrt(look.value) : look.value;
  if (look.apart > out.tolerance)
    out.message = fmt::format("Things whose dissimilarity is 0 lie {:.1e} of the picture apart.", look.apart);
  else if (out.holds())
    out.message = fmt::format(
        "No small move of the places lowers {} of {:.4g}: gradient {:.1e} (allowed {:.0e}); it fell from {:.4g} and "
        "never rose.",
        what, found, out.value, out.tolerance, trace(0));
  else
    out.message =
        fmt::format("{} of {:.4g} would still fall: gradient {:.1e} (allowed {:.0e}); raise --max_iterations.", what,
                    found, out.value, out.tolerance);
  return out;
}

}  // namespace lemma
