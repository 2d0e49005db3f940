// lemma/linear/centroid.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/linear/centroid.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/model/one_vs_rest.hpp>

namespace lemma {
namespace {

constexpr double kTolerance = 1e-8;

/// Moments of each class.
struct ByClass {
  std::vector<ColumnMoments> of;

  ByClass(std::size_t classes, Index columns) : of(classes, ColumnMoments(columns)) {}
  void accumulate(const Block& block) {
    std::vector<double> weight(static_cast<std::size_t>(block.rows()));
    for (std::size_t k = 0; k < of.size(); ++k) {
      for (std::size_t i = 0; i < weight.size(); ++i)
        weight[i] = block.label[i] == static_cast<int>(k) ? block.weight_of(static_cast<Index>(i)) : 0;
      Block part = block;
      part.weight = weight;
      of[k].accumulate(part);
    }
  }
  void merge(const ByClass& other) {
    for (std::size_t k = 0; k < of.size(); ++k) of[k].merge(other.of[k]);
  }
};

/// Σ w (x − μ_class) and Σ w |x − μ_class|² of each column in units of `unit`, about the model's means.
struct AboutMeans {
  const CentroidModel* model;
  Vector unit;
  Vector counts;
  Matrix shift;
  Vector squares;

  AboutMeans(const CentroidModel& m, Vector by)
      : model(&m),
        unit(std::move(by)),
        counts(Vector::Zero(m.class_count())),
        shift(Matrix::Zero(m.class_count(), m.width())),
        squares(Vector::Zero(m.width())) {}
  void accumulate(const Block& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      const int k = block.label[static_cast<std::size_t>(i)];
      const double w = block.weight_of(i);
      if (k < 0 || k >= model->class_count() || w == 0) continue;
      const Vector d = (block.x.row(i) - model->means.row(k)).transpose().cwiseQuotient(unit);
      counts(k) += w;
      shift.row(k) += w * d.transpose();
      squares += w * d.cwiseAbs2();
    }
  }
  void merge(const AboutMeans& other) {
    counts += other.counts;
    shift += other.shift;
    squares += other.squares;
  }
};

/// The range of a column, and its size where it has no range: what its numbers are measured in.
Vector units_of(const Rows& rows, const Execution& execution) {
  const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
  Vector out(rows.width());
  for (Index j = 0; j < out.size(); ++j) {
    const double size = std::max(std::abs(moments.least()(j)), std::abs(moments.greatest()(j)));
    const double range = moments.greatest()(j) - moments.least()(j);
    out(j) = std::max(range, 1e-7 * size);
    if (!(out(j) > 0) || !std::isfinite(out(j))) out(j) = size > 0 && std::isfinite(size) ? size : 1;
  }
  return out;
}

}  // namespace

void CentroidModel::check() const {
  require(class_count() >= 2 && width() >= 1 && counts.size() == class_count() && scale.size() == width(),
          "centroid: means, counts and scale do not fit together");
  require(means.allFinite() && counts.allFinite() && (counts.array() > 0).all(),
          "centroid: a mean or count is not usable");
  require(scale.allFinite() && (scale.array() > 0).all(), "centroid: a scale is not usable");
}

/// About the mean of the means, so that an offset of the columns does not cancel.
Matrix CentroidModel::decision(const MatrixView& x) const {
  require_width(*this, x.cols());
  const Eigen::RowVectorXd centre = means.colwise().mean(), by = scale.transpose().cwiseInverse();
  const Matrix from = (means.rowwise() - centre) * by.asDiagonal();
  const Vector constant = 0.5 * from.rowwise().squaredNorm();
  Matrix all(x.rows(), class_count());
  for (Index i = 0; i < x.rows(); ++i) {
    const Eigen::RowVectorXd z = (x.row(i) - centre).cwiseProduct(by);
    for (Index k = 0; k < class_count(); ++k) all(i, k) = from.row(k).dot(z) - constant(k);
  }
  if (class_count() > 2) return all;
  return all.col(1) - all.col(0);
}

Labels CentroidModel::predict(const MatrixView& x) const { return greatest_class(decision(x)); }

AffineMap CentroidModel::affine() const {
  const Eigen::RowVectorXd centre = means.colwise().mean();
  const Matrix from = means.rowwise() - centre;
  const Matrix a = from * scale.cwiseAbs2().cwiseInverse().asDiagonal();
  const Vector b = -a * centre.transpose() - 0.5 * a.cwiseProduct(from).rowwise().sum();
  if (class_count() > 2) return {a, b};
  return {a.row(1) - a.row(0), b.tail(1) - b.head(1)};
}

std::string CentroidModel::summary(const Names& names) const {
  std::vector<std::string> rows;
  for (Index k = 0; k < class_count(); ++k)
    rows.push_back(static_cast<std::size_t>(k) < names.classes.size() ? names.classes[static_cast<std::size_t>(k)]
                                                                      : fmt::format("class {}", k + 1));
  TextTable table;
  table.words("", rows).numbers("rows", {counts.begin(), counts.end()}, 7);
  for (Index j = 0; j < width(); ++j) {
    const Vector column = means.col(j);
    table.numbers(names.features[static_cast<std::size_t>(j)], {column.begin(), column.end()}, 5);
  }
  std::string out = "Class means:\n" + table.str({.gap = 2, .width = 100});
  if (spec.scale) {
    TextTable scales;
    for (Index j = 0; j < width(); ++j) scales.numbers(names.features[static_cast<std::size_t>(j)], {scale(j)}, 5);
    out += "\nStandard deviations within the classes:\n" + scales.str({.gap = 2, .width = 100});
  }
  return out;
}

CentroidModel fit(const Valid<Centroid>& spec, const Rows& rows, const FitOptions& options) {
  const Execution execution = options.execution();
  require_finite(rows, execution.part(0, 0.1));
  const ByClass moments =
      scan(rows, ByClass(rows.classes.size(), rows.width()), execution.part(0.1, 0.6, "class means"));
  CentroidModel model;
  model.spec = *spec;
  const auto classes = static_cast<Index>(rows.classes.size());
  model.means.resize(classes, rows.width());
  model.counts.resize(classes);
  model.scale = Vector::Ones(rows.width());
  Vector within = Vector::Zero(rows.width());
  for (Index k = 0; k < classes; ++k) {
    const ColumnMoments& of = moments.of[static_cast<std::size_t>(k)];
    model.counts(k) = of.weight().maxCoeff();
    if (!(model.counts(k) > 0))
      throw Error(fmt::format("centroid: no row of class '{}' has a weight, so it has no mean",
                              rows.classes[static_cast<std::size_t>(k)]));
    model.means.row(k) = of.mean();
    const double above = std::max(model.counts(k) - 1, 0.0);
    within =
        within.binaryExpr(of.deviation(), [above](double s, double d) { return std::hypot(s, std::sqrt(above) * d); });
  }
  const double size = model.means.cwiseAbs().maxCoeff();
  require(std::isfinite(size) && size < 1e150,
          fmt::format("centroid: the means reach {:.0e}, too large to be squared; use another unit", size));
  const double degrees = model.counts.sum() - static_cast<double>(classes);
  for (Index j = 0; spec->scale && j < rows.width(); ++j) {
    if (within(j) > 0 && degrees > 0) model.scale(j) = within(j) / std::sqrt(degrees);
    else
      model.warnings.push_back(fmt::format("'{}' has no spread within the classes and is not scaled",
                                           rows.features[static_cast<std::size_t>(j)]));
  }
  model.certificate = certify(model, rows, execution.part(0.6, 1));
  return model;
}

Certificate certify(const CentroidModel& model, const Rows& rows, const Execution& execution) {
  const Vector unit = units_of(rows, execution.part(0, 0.4));
  const auto look = scan(rows, AboutMeans(model, unit), execution.part(0.4, 1));
  double worst = (look.counts - model.counts).cwiseAbs().maxCoeff() / look.counts.sum();
  for (Index k = 0; k < model.class_count(); ++k)
    worst = std::max(worst, look.shift.row(k).cwiseAbs().maxCoeff() / look.counts(k));
  const double degrees = look.counts.sum() - static_cast<double>(model.class_count());
  for (Index j = 0; j < model.width(); ++j) {
    const double sd = degrees > 0 ? unit(j) * std::sqrt(look.squares(j) / degrees) : 0;
    const double expected = model.spec.scale && sd > 1e-12 * unit(j) ? sd : 1;
    if (model.spec.scale && !(sd > 1e-12 * unit(j))) continue;  // no spread to speak of
    worst = std::max(worst, std::abs(model.scale(j) / expected - 1));
  }
  if (!look.shift.allFinite() || !model.means.allFinite() || !model.scale.allFinite()) worst = NAN;
  Certificate out;
  out.strength = Strength::optimal;
  out.kind = "distance from the class means";
  out.value = worst;
  out.tolerance = kTolerance;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message = fmt::format(
      "Means, counts and scales are those of the rows to within {:.1e} of the columns' ranges (allowed {:.0e}).", worst,
      out.tolerance);
  return out;
}

/// Two rows for each class: m_k ± √((n − K) / n) s, each n_k / 2 times, have the means, and s as their deviation within.
CentroidModel updated(const CentroidModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width() && static_cast<Index>(rows.classes.size()) == model.class_count(),
          "centroid: the rows do not have the columns and classes of the model");
  const double n = model.counts.sum(), degrees = n - static_cast<double>(model.class_count());
  const double stretch = model.spec.scale ? std::sqrt(std::max(degrees, 0.0) / n) : 0;
  Matrix past(2 * model.class_count(), model.width());
  std::vector<double> weight;
  Labels label;
  for (Index k = 0; k < model.class_count(); ++k) {
    past.row(2 * k) = model.means.row(k) + stretch * model.scale.transpose();
    past.row(2 * k + 1) = model.means.row(k) - stretch * model.scale.transpose();
    weight.insert(weight.end(), 2, model.counts(k) / 2);
    label.insert(label.end(), 2, static_cast<int>(k));
  }
  MemoryRows before(past);
  before.labels(label, rows.classes).weights(weight).features = rows.features;
  CentroidModel out = fit(Valid<Centroid>(model.spec), StackedRows({&before, &rows}), options);
  out.certificate.message += " The rows before the update are in it by their means and scales.";
  return out;
}

template const Method& method_of<Centroid>();

}  // namespace lemma
