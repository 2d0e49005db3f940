// lemma/neighbor/neighbor_components.cpp: the rows, where the search begins, and what was found.
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/finite.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/eigen.hpp>
#include <lemma/math/row_products.hpp>
#include <lemma/model/claim.hpp>
#include <lemma/model/column_sizes.hpp>
#include <lemma/model/comparison.hpp>
#include <lemma/neighbor/neighbor_components.hpp>
#include <lemma/neighbor/neighbor_components/objective.hpp>
#include <lemma/optimize/minimise.hpp>
#include <numeric>

namespace lemma {
namespace {

using neighbor_components::Data;
using neighbor_components::Loss;

/// Numbers of all pairs of rows beyond which a cancel keeps nothing: what is to be said of the map would take another look at
/// every pair.
constexpr double kMany = 1e8;

/// The mean of numbers, and their standard deviation (divisor n).
std::pair<double, double> centre_and_spread(const Vector& v) {
  double mean = v.mean();
  mean += (v.array() - mean).mean();
  return {mean, std::sqrt((v.array() - mean).square().mean())};
}

Data read_data(const NeighborComponents& spec, const Rows& rows, const Execution& execution) {
  require_finite(rows, execution);
  scan(rows, ColumnSizes(rows.width()), execution).require_usable(NeighborComponents::name, rows);
  const Index n = rows.count(), p = rows.width();
  require(n >= 2, fmt::format("neighbor_components: {} no neighbours", n == 1 ? "one row has" : "no rows have"));
  require(p >= 1, "neighbor_components: there are no columns to measure distances by");
  if (spec.components && *spec.components > p)
    throw Error(fmt::format("neighbor_components: components is {} and there are {}; take at most as many",
                            *spec.components, count_of(p, "column")));
  Matrix x(n, p);
  Vector outcome(n);
  BlockBuffer buffer;
  constexpr Index kTogether = 4096;
  for (Index first = 0; first < n; first += kTogether) {
    const Block block = rows.read(first, std::min(kTogether, n - first), buffer);
    x.middleRows(first, block.rows()) = block.x;
    for (Index i = 0; i < block.rows(); ++i)
      outcome(first + i) = rows.classes.empty() ? block.y[at(i)] : block.label[at(i)];
  }
  std::vector<Index> order(at(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) {
    for (Index c = 0; c < p; ++c)
      if (x(i, c) != x(j, c)) return x(i, c) < x(j, c);
    return outcome(i) < outcome(j);
  });
  Data out;
  out.x = x(order, Eigen::all);
  out.mean.resize(p);
  out.scale = Vector::Ones(p);
  for (Index c = 0; c < p; ++c) {
    const auto [mean, deviation] = centre_and_spread(out.x.col(c));
    const double size = out.x.col(c).cwiseAbs().maxCoeff();
    out.mean(c) = mean;
    if (spec.standardize && size > 0) out.scale(c) = deviation > 1e-14 * size ? deviation : size;
    out.x.col(c) = (out.x.col(c).array() - mean) / out.scale(c);
  }
  if (rows.classes.empty()) {
    out.y = outcome(order);
    const auto [mean, deviation] = centre_and_spread(out.y);
    out.y = (out.y.array() - mean) / (deviation > 0 ? deviation : 1);
    return out;
  }
  out.counts = Vector::Zero(std::ssize(rows.classes));
  for (const Index i : order) out.counts(out.label.emplace_back(static_cast<int>(outcome(i)))) += 1;
  return out;
}

Vector flat(const Matrix& a) { return Eigen::Map<const Vector>(a.data(), a.size()); }

/// The principal axes, in units of the columns' spread.
Matrix principal_axes(const Matrix& covariance, Index components) {
  const double spread = std::sqrt(covariance.trace() / static_cast<double>(covariance.rows()));
  return symmetric_eigen(covariance, components).vectors.transpose() / (spread > 0 ? spread : 1);
}

/// The directions in which the means of the classes lie apart beside the spread within them, those of linear discriminant
/// analysis; of numbers that in which they grow.
Matrix telling_axes(const Data& data, const Matrix& covariance, Index components) {
  const Index p = covariance.rows();
  const auto n = static_cast<double>(data.rows());
  Matrix between = Matrix::Zero(p, p);
  if (data.of_classes()) {
    Matrix means = Matrix::Zero(data.counts.size(), p);
    for (Index i = 0; i < data.rows(); ++i)
      means.row(data.label[at(i)]) += data.x.row(i) / std::max(1.0, data.counts(data.label[at(i)]));
    between = means.transpose() * (data.counts / n).asDiagonal() * means;
  } else {
    const Vector slope = data.x.transpose() * data.y / n;
    between = slope * slope.transpose();
  }
  Matrix within = covariance - between;
  const double unit = covariance.trace() / static_cast<double>(p);
  within.diagonal().array() += unit > 0 ? 1e-6 * unit : 1;
  return generalised_eigen(between, within).vectors.leftCols(components).transpose();
}

/// A turned until its rows are orthogonal, the longest first: AᵀA = V S² Vᵀ, A = S Vᵀ.
Matrix turned(const Matrix& a) {
  const Eigenpairs pairs = symmetric_eigen(a.transpose() * a, a.rows());
  return (pairs.vectors * pairs.values.cwiseMax(0.0).cwiseSqrt().asDiagonal()).transpose();
}

Matrix map_of(const NeighborComponentsModel& model) {
  return (model.loadings.array().colwise() * model.scale.array()).matrix().transpose();
}

Certificate certificate_of(const NeighborComponents& spec, double slope, long long iterations, Stop stopped) {
  Certificate out;
  out.strength = Strength::stationary;
  out.kind = "length of the gradient";
  out.value = slope;
  out.tolerance = claimed(spec.tolerance);
  out.iterations = iterations;
  out.stopped = name_of(stopped);
  out.message = fmt::format(
      "The gradient of the objective, summed pair by pair, has the length {:.1e} (allowed {:.0e}): no small change of "
      "the "
      "map makes neighbours tell more. There may be other such maps.",
      out.value, out.tolerance);
  if (!out.holds() && out.value <= spec.tolerance) out.message += ended_too_soon(spec.tolerance);
  else if (!out.holds()) out.message += " More iterations or a larger penalty may do it.";
  return out;
}

}  // namespace

void NeighborComponentsModel::check() const {
  const Index p = width(), d = components();
  require(p > 0 && d > 0 && d <= p && loadings.allFinite(), "neighbor_components: the loadings are not usable");
  require(!spec.components || *spec.components == d,
          "neighbor_components: there are not as many coordinates as asked for");
  require(spec.components || d == p, "neighbor_components: there are not as many coordinates as columns");
  require(lengths.size() == d && lengths.allFinite() && mean.size() == p && mean.allFinite() && scale.size() == p &&
              scale.allFinite() && (scale.array() > 0).all(),
          "neighbor_components: a number of a column is not usable");
  for (const double each : {objective, told, error, error_before})
    require(std::isfinite(each), "neighbor_components: a number is not usable");
  require(counts.size() != 1 && counts.allFinite(), "neighbor_components: the counts are not usable");
}

Matrix NeighborComponentsModel::transform(const MatrixView& x) const {
  require_width(*this, x.cols());
  return row_products(x.rowwise() - mean.transpose(), loadings);
}

std::vector<std::string> NeighborComponentsModel::output_names(const std::vector<std::string>&) const {
  std::vector<std::string> names;
  for (Index k = 1; k <= components(); ++k) names.push_back(fmt::format("NC{}", k));
  return names;
}

AffineMap NeighborComponentsModel::affine() const {
  const Matrix a = loadings.transpose();
  return {a, -(a * mean)};
}

std::string NeighborComponentsModel::summary(const Names& names) const {
  constexpr Index kMost = 8;
  const Index shown = std::min(components(), kMost);
  std::vector<std::string> features{"length"};
  for (Index j = 0; j < width(); ++j)
    features.push_back(at(j) < names.features.size() ? names.features[at(j)] : fmt::format("x{}", j + 1));
  TextTable table;
  table.words("", features);
  for (Index k = 0; k < shown; ++k) {
    std::vector<double> column{lengths(k)};
    for (Index j = 0; j < width(); ++j) column.push_back(loadings(j, k));
    table.numbers(fmt::format("NC{}", k + 1), column, 4);
  }
  const bool of_classes = class_count() > 0;
  return fmt::format("{} to {}{}:\n", count_of(width(), "column"), count_of(components(), "coordinate"),
                     shown < components() ? fmt::format(", of which the first {}", shown) : "") +
         table.str() +
         (of_classes ? fmt::format("\nA neighbour drawn by exp(-distance^2) has the row's class with probability {}.\n"
                                   "The nearest other row is of another class for {} of the rows; it was for {}.\n",
                                   format_significant(told, 4), format_significant(error, 4),
                                   format_significant(error_before, 4))
                     : fmt::format("\nThe mean of neighbours weighted by exp(-distance^2) tells {} of the variance.\n"
                                   "The nearest other row is off by {} of the variance; it was by {}.\n",
                                   format_significant(told, 4), format_significant(error, 4),
                                   format_significant(error_before, 4)));
}

NeighborComponentsModel fit(const Valid<NeighborComponents>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution(), quiet{.threads = execution.threads};
  const Data data = read_data(*spec, rows, execution.part(0, 0.05));
  const Index p = data.x.cols(), d = spec->components ? *spec->components : p;
  const bool many =
      static_cast<double>(data.rows()) * static_cast<double>(data.rows()) * static_cast<double>(p) > kMany;
  const Execution pairs = many ? execution.part(0.05, 0.05) : quiet, last = many ? execution.part(0.95, 1) : quiet;
  const Loss loss(data, d, spec->penalty, pairs);
  const Matrix covariance = data.x.transpose() * data.x / static_cast<double>(data.rows());
  const Vector principal = flat(principal_axes(covariance, d)), telling = flat(telling_axes(data, covariance, d));
  MinimiseOptions how;
  how.most_iterations = spec->max_iterations;
  how.tolerance = 0;
  bool cancelled = false;
  how.stop = [&](const Iterate& at) {
    execution.report(std::min(0.95, 0.05 + 0.01 * static_cast<double>(at.iteration)), "moving rows together");
    cancelled = execution.cancelled();
    return cancelled || at.gradient.norm() <= 0.5 * spec->tolerance;
  };
  const Minimum found = lbfgs(loss, loss.value(telling) < loss.value(principal) ? telling : principal, how);
  const Stop stopped = cancelled ? Stop::cancelled : found.stopped == Stop::by_caller ? Stop::converged : found.stopped;
  const Matrix a = turned(Eigen::Map<const Matrix>(found.x.data(), d, p));
  const auto plain = neighbor_components::plainly(data, a, spec->penalty, last);
  NeighborComponentsModel model;
  model.spec = *spec;
  model.loadings = (a.array().rowwise() / data.scale.transpose().array()).matrix().transpose();
  model.lengths = a.rowwise().norm();
  model.mean = data.mean;
  model.scale = data.scale;
  model.objective = plain.objective;
  model.told = 1 - plain.loss;
  model.error = neighbor_components::nearest_error(data, data.x * a.transpose(), last);
  model.error_before = neighbor_components::nearest_error(data, data.x, last);
  model.counts = data.counts;
  model.certificate = certificate_of(*spec, plain.gradient.norm(), found.iterations, stopped);
  if (!model.certificate.holds())
    model.warnings.push_back(fmt::format("the search ended where the objective still has a slope of {} ({})",
                                         format_significant(model.certificate.value, 2), name_of(stopped)));
  return model;
}

Certificate certify(const NeighborComponentsModel& model, const Rows& rows, const Execution& execution) {
  const Data data = read_data(model.spec, rows, execution.part(0, 0.1));
  const Matrix a = map_of(model);
  const auto plain = neighbor_components::plainly(data, a, model.spec.penalty, execution.part(0.1, 0.8));
  Certificate out = certificate_of(model.spec, plain.gradient.norm(), 0, Stop::looked_again);
  if (!out.holds()) return out;
  Comparison same;
  for (Index c = 0; c < model.width(); ++c) {
    same.entry("mean", c, model.mean(c), data.mean(c), data.scale(c) + 1e-6 * std::abs(data.mean(c)));
    same.entry("scale", c, model.scale(c), data.scale(c), data.scale(c));
  }
  same.number("counts", static_cast<double>(model.counts.size()), static_cast<double>(data.counts.size()), 1);
  for (Index k = 0; k < std::min(model.counts.size(), data.counts.size()); ++k)
    same.entry("counts", k, model.counts(k), data.counts(k), static_cast<double>(data.rows()));
  const double longest = a.rowwise().norm().maxCoeff();
  for (Index k = 0; k < a.rows(); ++k) {
    same.entry("lengths", k, model.lengths(k), a.row(k).norm(), longest);
    for (Index l = 0; l < k; ++l)  // the rows of A are orthogonal, the longest first
      same.entry("loadings", k, a.row(k).dot(a.row(l)), 0, longest * longest, 1e-8);
    if (k > 0) same.entry("loadings", k, std::max(a.row(k).norm() - a.row(k - 1).norm(), 0.0), 0, longest, 1e-8);
  }
  same.number("objective", model.objective, plain.objective, 1, 1e-9);
  same.number("told", model.told, 1 - plain.loss, 1, 1e-9);
  same.number("error", model.error, neighbor_components::nearest_error(data, data.x * a.transpose(), execution), 1);
  same.number("error_before", model.error_before, neighbor_components::nearest_error(data, data.x, execution), 1);
  if (same.finding()) same.report(out);
  return out;
}

template const Method& method_of<NeighborComponents>();

}  // namespace lemma
