// lemma/cluster/mean_shift/certify.cpp: plain sums over all rows, in the columns' own units, and steps of the shift alone.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/mean_shift.hpp>
#include <lemma/cluster/mean_shift/climb.hpp>
#include <lemma/cluster/shared/alike_rows.hpp>
#include <lemma/core/rounding_words.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/model/comparison.hpp>
#include <numbers>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-9;  // bandwidths
constexpr double kNothing = 80;      // beyond the nearest row's squared distance: exp(-40) of its weight
constexpr double kSaddle = 0.05;     // bandwidths that a climb goes aside from a saddle
constexpr int kPatience = 20;        // plain steps for one of the fit, which ends with Newton's

/// The rows as they weigh at a place: gᵢ, their sum and their mean.
struct Seen {
  std::vector<double> g;
  double sum = 0, log_weight = 0;
  Vector shift;  // mean − place, in the columns' own units
};
Seen seen_from(const MeanShiftModel& model, const Vector& place) {
  const Index n = model.points.rows(), d = model.width();
  Seen out{std::vector<double>(at(n)), 0, 0, Vector::Zero(d)};
  double nearest = HUGE_VAL;
  for (Index i = 0; i < n; ++i) {
    double r2 = 0;
    for (Index j = 0; j < d; ++j) {
      const double u = (place(j) - model.points(i, j)) / model.bandwidth(j);
      r2 += u * u;
    }
    out.g[at(i)] = r2;
    nearest = std::min(nearest, r2);
  }
  for (Index i = 0; i < n; ++i) {
    double& g = out.g[at(i)];
    g = g - nearest > kNothing ? 0 : model.weights(i) * std::exp(-0.5 * (g - nearest));
    if (g == 0) continue;
    out.sum += g;
    for (Index j = 0; j < d; ++j) out.shift(j) += g * (model.points(i, j) - place(j));
  }
  out.shift /= out.sum;
  out.log_weight = std::log(out.sum) - 0.5 * nearest;
  return out;
}

double in_bandwidths(const MeanShiftModel& model, const Vector& way) {
  return (way.array() / model.bandwidth.array()).matrix().norm();
}

/// Of the covariance of the rows as they weigh there, in bandwidths: the largest eigenvalue and its axis.
struct Steepest {
  double value;
  Vector axis;
};
Steepest steepest(const MeanShiftModel& model, const Vector& place, const Seen& seen) {
  const Index d = model.width();
  Matrix c = Matrix::Zero(d, d);
  Vector u(d);
  for (Index i = 0; i < model.points.rows(); ++i) {
    if (seen.g[at(i)] == 0) continue;
    for (Index j = 0; j < d; ++j) u(j) = (model.points(i, j) - place(j) - seen.shift(j)) / model.bandwidth(j);
    for (Index j = 0; j < d; ++j)
      for (Index k = 0; k < d; ++k) c(j, k) += seen.g[at(i)] / seen.sum * u(j) * u(k);
  }
  const Eigenpairs pairs = symmetric_eigen(c);
  return {pairs.values(0), pairs.vectors.col(0)};
}

/// The mode within a hundredth of a bandwidth.
Index mode_at(const MeanShiftModel& model, const Vector& place) {
  for (Index c = 0; c < model.k(); ++c)
    if (in_bandwidths(model, model.modes.row(c).transpose() - place) < kOneMode) return c;
  return -1;
}

/// Where a row climbs by steps of the shift alone: the mode, −1 where it comes near to none.
Index climbed_from(const MeanShiftModel& model, Vector place) {
  for (long long step = 0; step < kPatience * static_cast<long long>(model.spec.max_iterations); ++step) {
    if (const Index mode = mode_at(model, place); mode >= 0) return mode;
    const Seen seen = seen_from(model, place);
    place += seen.shift;
    if (in_bandwidths(model, seen.shift) > kTolerance) continue;
    const Seen here = seen_from(model, place);
    const Steepest rise = steepest(model, place, here);
    if (rise.value < 1) return mode_at(model, place);  // a mode that the model does not tell, or one that it does
    Index largest = 0;
    rise.axis.cwiseAbs().maxCoeff(&largest);
    place.array() += (rise.axis(largest) > 0 ? kSaddle : -kSaddle) * rise.axis.array() * model.bandwidth.array();
  }
  return -1;
}

}  // namespace

Certificate certify(const MeanShiftModel& model, const Rows& rows, const Execution& execution) {
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "way from a mode to where the shift would end, in bandwidths";
  out.tolerance = kTolerance;
  out.stopped = "converged";
  const auto fails = [&](std::string message) {
    out.value = std::max(out.value, 1.0);
    out.message = std::move(message);
    return out;
  };
  const AlikeRows data = alike_rows(MeanShift::name, rows, execution.part(0, 0.1));
  if (data.x.rows() != model.points.rows() || data.x != model.points || data.w != model.weights)
    return fails(fmt::format("The different rows that the model keeps ({}) are not these ({}).",
                             format_count(model.points.rows()), format_count(data.x.rows())));
  const double digits = 0x1p-48 * std::sqrt(static_cast<double>(model.width())) *
                        (model.points.array().abs().rowwise() / model.bandwidth.transpose().array()).maxCoeff();
  const double unit = std::log(data.w.sum()) + model.bandwidth.array().log().sum() +
                      0.5 * static_cast<double>(model.width()) * std::log(2 * std::numbers::pi);
  Comparison same;
  for (Index c = 0; c < model.k(); ++c) {
    const Vector place = model.modes.row(c).transpose();
    const Seen seen = seen_from(model, place);
    const double rate = steepest(model, place, seen).value;
    if (!(rate < 1))
      return fails(fmt::format("Mode {} is no top of a hill: the density rises along an axis from it.", c + 1));
    out.value = std::max(out.value, std::max(0.0, in_bandwidths(model, seen.shift) - digits) / (1 - rate));
    for (Index b = 0; b < c; ++b)
      if (in_bandwidths(model, model.modes.row(b).transpose() - place) < kOneMode)
        return fails(
            fmt::format("Modes {} and {} are one: they are nearer than a hundredth of the bandwidth.", b + 1, c + 1));
    same.entry("log_densities", c, model.log_densities(c), seen.log_weight - unit, 1);
  }
  if (!out.holds()) {
    out.message = fmt::format("A mode is {} bandwidths away from where the shift would end (allowed {}).",
                              format_significant(out.value, 2), format_significant(out.tolerance, 2));
    return out;
  }
  std::vector<Index> to(at(data.x.rows()));
  parallel_for(data.x.rows(), execution.part(0.1, 1, "climbs looked at again"),
               [&](Index i) { to[at(i)] = climbed_from(model, data.x.row(i).transpose()); });
  Vector sizes = Vector::Zero(model.k());
  Index elsewhere = 0;
  for (Index i = 0; i < data.x.rows(); ++i) {
    if (to[at(i)] >= 0) sizes(to[at(i)]) += data.w(i);
    elsewhere += to[at(i)] < 0 || model.clusters(i) != static_cast<double>(to[at(i)] + 1);
  }
  for (Index c = 0; c < model.k(); ++c) same.entry("sizes", c, model.sizes(c), sizes(c), data.w.sum());
  if (elsewhere > 0) {
    if ((model.clusters.array() == 0).any()) out.stopped = "iteration limit";
    return fails(fmt::format("{} of {} {} not climb to the mode of {} cluster. Raise max_iterations ({}).",
                             format_count(elsewhere), count_of(data.x.rows(), "different row"),
                             elsewhere == 1 ? "does" : "do", elsewhere == 1 ? "its" : "their",
                             model.spec.max_iterations));
  }
  if (same.finding()) {
    same.report(out);
    out.message = fmt::format("What the model tells is not what the rows give: {}'{}' is off.", same.finding()->place,
                              same.finding()->field);
    return out;
  }
  out.message = fmt::format(
      "Each of the {} stays where it is but for {} of the bandwidth (allowed {}) when it is moved to the mean of the "
      "rows as they "
      "weigh there, the density falls on every side, and each of the {} climbs to the mode of its cluster.",
      count_of(model.k(), "mode"), residue_text(out.value, out.tolerance), format_significant(out.tolerance, 2),
      count_of(data.x.rows(), "different row"));
  return out;
}

}  // namespace lemma
