// lemma/cluster/mean_shift.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/mean_shift.hpp>
#include <lemma/cluster/mean_shift/climb.hpp>
#include <lemma/cluster/shared/alike_rows.hpp>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <numbers>
#include <numeric>

namespace lemma {
namespace {

constexpr Index kScouts = 64;  // rows that climb first, to the modes that most others will find known

/// Of each column; 1 where all values are equal, and the width of a bump does not matter.
Vector usual_bandwidth(const AlikeRows& rows) {
  const double n = rows.w.sum(), d = static_cast<double>(rows.x.cols());
  const double share = std::pow(4 / ((d + 4) * n), 1 / (d + 6));
  Vector out(rows.x.cols());
  for (Index j = 0; j < out.size(); ++j) {
    const Vector around = rows.x.col(j).array() - rows.x(0, j);
    const double mean = rows.w.dot(around) / n;
    const double squares = rows.w.dot((around.array() - mean).square().matrix());
    out(j) = squares > 0 && n > 1 ? share * std::sqrt(squares / (n - 1)) : 1.0;
  }
  return out;
}

Vector bandwidth_of(const MeanShift& spec, const AlikeRows& rows) {
  if (!spec.bandwidth) {
    const Vector out = usual_bandwidth(rows);
    if (!out.allFinite() || !(out.array() > 0).all())
      throw Error(
          "mean_shift: the rows' spread is beyond the range of numbers; scale the columns first ('scale | "
          "mean_shift')");
    return out;
  }
  const auto count = static_cast<Index>(spec.bandwidth->size());
  if (count != 1 && count != rows.x.cols())
    throw Error(fmt::format("mean_shift: bandwidth has {}, but there are {}; give one for all or one for each",
                            count_of(count, "number"), count_of(rows.x.cols(), "column")));
  if (count == 1) return Vector::Constant(rows.x.cols(), spec.bandwidth->front());
  return Eigen::Map<const Vector>(spec.bandwidth->data(), count);
}

Matrix with_row(const Matrix& rows, const Vector& row) {
  Matrix out(rows.rows() + 1, row.size());
  if (rows.rows() > 0) out.topRows(rows.rows()) = rows;
  out.row(rows.rows()) = row.transpose();
  return out;
}

/// The modes, in units of the bandwidth, and to which each row climbs; −1: it was not at an end.
struct Climbed {
  Matrix modes;
  std::vector<Index> to;
  Index unfinished = 0;
};
Climbed climb_all(const Hills& hills, const Matrix& points, int most_steps, const Execution& execution) {
  Climbed out{Matrix(0, points.cols()), std::vector<Index>(at(points.rows()), -1)};
  for (Index first = 0; first < points.rows();) {
    const Index size = std::min(first == 0 ? kScouts : points.rows(), points.rows() - first);
    std::vector<Hills::Climb> ends(at(size));
    const double share = static_cast<double>(first) / static_cast<double>(points.rows());
    parallel_for(size, execution.part(share, first == 0 ? share : 1.0, "climbs"), [&](Index i) {
      ends[at(i)] = hills.climb(hills.scaled(points.row(first + i).transpose()), out.modes, most_steps);
    });
    for (Index i = 0; i < size; ++i) {
      const Hills::Climb& end = ends[at(i)];
      out.unfinished += !end.finished;
      if (!end.finished) continue;
      Index mode = end.mode >= 0 ? end.mode : near_mode(end.top, out.modes);
      if (mode < 0) {
        mode = out.modes.rows();
        out.modes = with_row(out.modes, end.top);
      }
      out.to[at(first + i)] = mode;
    }
    first += size;
  }
  return out;
}

}  // namespace

void MeanShiftModel::check() const {
  const Index n = points.rows();
  require(n > 0 && width() > 0 && weights.size() == n && clusters.size() == n,
          "mean_shift: rows, weights and clusters do not fit together");
  require(all_finite(points) && weights.allFinite() && (weights.array() > 0).all(),
          "mean_shift: a kept row is not usable");
  require(bandwidth.size() == width() && bandwidth.allFinite() && (bandwidth.array() > 0).all(),
          "mean_shift: the bandwidth is not usable");
  require(spec.bandwidth.has_value(), "mean_shift: the bandwidth is not known");
  for (Index j = 0; j < width(); ++j)
    require((spec.bandwidth->size() == 1 || static_cast<Index>(spec.bandwidth->size()) == width()) &&
                bandwidth(j) == (*spec.bandwidth)[spec.bandwidth->size() == 1 ? 0 : at(j)],
            "mean_shift: the bandwidth is not the one given");
  require(modes.cols() == width() && sizes.size() == k() && log_densities.size() == k() && modes.allFinite() &&
              sizes.allFinite() && log_densities.allFinite() && k() <= n,
          "mean_shift: the modes are not usable");
  for (const double each : clusters)
    require(each >= 0 && each <= static_cast<double>(k()) && each == std::floor(each),
            "mean_shift: a row has a cluster that there is not");
}

Labels MeanShiftModel::assign(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Hills hills(points, weights, bandwidth);
  Matrix known(k(), width());
  for (Index c = 0; c < k(); ++c) known.row(c) = hills.scaled(modes.row(c).transpose()).transpose();
  Labels out(at(x.rows()), -1);
  for (Index i = 0; i < x.rows(); ++i)
    out[at(i)] =
        static_cast<int>(hills.climb(hills.scaled(Vector(x.row(i).transpose())), known, spec.max_iterations).mode);
  return out;
}

std::string MeanShiftModel::summary(const Names& names) const {
  const Index shown = std::min<Index>(k(), 30);
  std::vector<std::string> cluster, size, widths;
  for (Index c = 0; c < shown; ++c) {
    cluster.push_back(fmt::format("{}", c + 1));
    size.push_back(format_significant(sizes(c), 7));
  }
  TextTable table;
  table.right("cluster", cluster).right("size", size);
  for (Index j = 0; j < width(); ++j) {
    const Vector column = modes.col(j).head(shown);
    const std::string name = at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1);
    table.numbers(name, {column.begin(), column.end()}, 4);
    if (j < 8) widths.push_back(fmt::format("{} {}", name, format_significant(bandwidth(j), 4)));
  }
  std::string out =
      fmt::format("{} of the density of {}\n\nModes, and the rows that climb to them:\n{}", count_of(k(), "mode"),
                  count_of(points.rows(), "different row"), table.str({.width = 100}));
  if (shown < k()) out += fmt::format("... and {} more\n", k() - shown);
  const double lost = weights.sum() - sizes.sum();
  if (lost > 0.5 * weights.minCoeff()) out += fmt::format("{} of no mode\n", format_significant(lost, 7));
  return out + fmt::format("\nbandwidth: {}{}\n", join_words(widths), width() > 8 ? ", ..." : "");
}

MeanShiftModel fit(const Valid<MeanShift>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  AlikeRows data = alike_rows(MeanShift::name, rows, execution.part(0, 0.1));
  MeanShiftModel model;
  model.spec = *spec;
  model.bandwidth = bandwidth_of(*spec, data);
  if (!spec->bandwidth) model.spec.bandwidth = {model.bandwidth.begin(), model.bandwidth.end()};
  for (Index j = 0; j < rows.width(); ++j)
    if (const double far = (data.x.col(j).array() - data.x(0, j)).abs().maxCoeff() / model.bandwidth(j); !(far < 1e100))
      throw Error(fmt::format("mean_shift: the rows lie {} bandwidths apart in {}; take a wider one",
                              format_significant(far, 3), rows.features[at(j)]));
  const Hills hills(data.x, data.w, model.bandwidth);
  const Climbed found = climb_all(hills, data.x, spec->max_iterations, execution.part(0.1, 0.6));

  Vector sizes = Vector::Zero(found.modes.rows()), heights(found.modes.rows());
  for (Index i = 0; i < data.x.rows(); ++i)
    if (found.to[at(i)] >= 0) sizes(found.to[at(i)]) += data.w(i);
  const double unit = std::log(data.w.sum()) + model.bandwidth.array().log().sum() +
                      0.5 * static_cast<double>(rows.width()) * std::log(2 * std::numbers::pi);
  for (Index c = 0; c < heights.size(); ++c)
    heights(c) = hills.around(found.modes.row(c).transpose()).log_weight - unit;
  std::vector<Index> order(at(sizes.size())), place(order.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return sizes(a) != sizes(b) ? sizes(a) > sizes(b) : heights(a) > heights(b);
  });
  model.modes.resize(sizes.size(), rows.width());
  for (std::size_t c = 0; c < order.size(); ++c) {
    place[at(order[c])] = static_cast<Index>(c);
    model.modes.row(static_cast<Index>(c)) = hills.unscaled(found.modes.row(order[c]).transpose()).transpose();
  }
  model.sizes = sizes(order);
  model.log_densities = heights(order);
  model.clusters.resize(data.x.rows());
  for (Index i = 0; i < data.x.rows(); ++i)
    model.clusters(i) = found.to[at(i)] >= 0 ? static_cast<double>(place[at(found.to[at(i)])] + 1) : 0.0;
  model.points = std::move(data.x);
  model.weights = std::move(data.w);
  if (found.unfinished > 0)
    model.warnings.push_back(fmt::format("{} did not end within {}", count_of(found.unfinished, "climb"),
                                         count_of(spec->max_iterations, "step")));
  model.certificate = certify(model, rows, execution.part(0.6, 1));
  return model;
}

template const Method& method_of<MeanShift>();

}  // namespace lemma
