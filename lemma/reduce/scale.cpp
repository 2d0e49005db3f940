// lemma/reduce/scale.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/row_views.hpp>
#include <lemma/core/text.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/reduce/scale.hpp>
#include <limits>
#include <map>

namespace lemma {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Plain sums of z and z²: another route than the centred, pairwise one of the fit. After the transformation there is no
/// offset left that could cancel.
struct PlainSums {
  const ScaleModel* model;
  Vector weight, sum, squares;

  explicit PlainSums(const ScaleModel& m) : model(&m), weight(Vector::Zero(m.width())), sum(weight), squares(weight) {}
  void accumulate(const Block& block) {
    const Matrix z = model->transform(block.x);
    for (Index i = 0; i < z.rows(); ++i)
      for (Index j = 0; j < z.cols(); ++j) {
        if (std::isnan(z(i, j))) continue;
        const double w = block.weight_of(i);
        weight(j) += w;
        sum(j) += w * z(i, j);
        squares(j) += w * z(i, j) * z(i, j);
      }
  }
  void merge(const PlainSums& other) {
    weight += other.weight;
    sum += other.sum;
    squares += other.squares;
  }
};

}  // namespace

void ScaleModel::check() const {
  require(mean.size() == scale.size(), "scale: mean and scale differ in length");
  require(mean.allFinite() && scale.allFinite() && (scale.array() > 0).all(), "scale: a mean or scale is not usable");
  for (const Vector* each : {&seen_weight, &seen_mean, &seen_deviation})  // none in an older file
    require(each->size() == seen_weight.size() && (each->size() == 0 || each->size() == width()) && each->allFinite(),
            "scale: what was seen of the columns does not fit them");
  require((seen_weight.array() >= 0).all() && (seen_deviation.array() >= 0).all(),
          "scale: what was seen of the columns is not usable");
  require(spec.center || mean.isZero(0), "scale: there is a mean, but columns are not centred");
  require(spec.scale || (scale.array() == 1).all(), "scale: there is a scale, but columns are not scaled");
}

Matrix ScaleModel::transform(const MatrixView& x) const {
  require(x.cols() == width(), "scale: wrong number of columns");
  return ((x.rowwise() - mean.transpose()).array().rowwise() / scale.transpose().array()).matrix();
}

Matrix ScaleModel::inverse(const MatrixView& z) const {
  require(z.cols() == width(), "scale: wrong number of columns");
  return ((z.array().rowwise() * scale.transpose().array()).rowwise() + mean.transpose().array()).matrix();
}

AffineMap ScaleModel::affine() const {
  return {scale.cwiseInverse().asDiagonal().toDenseMatrix(), -mean.cwiseQuotient(scale)};
}

std::string ScaleModel::summary(const Names& names) const {
  return TextTable()
      .words("column", names.features)
      .numbers("mean", {mean.begin(), mean.end()})
      .numbers("scale", {scale.begin(), scale.end()})
      .str();
}

ScaleModel fit(const Valid<Scale>& spec, const Rows& rows, const FitOptions& options) {
  const auto moments = scan(rows, ColumnMoments(rows.width()), options.execution());
  ScaleModel model;
  model.spec = *spec;
  model.mean = spec->center ? moments.mean() : Vector::Zero(rows.width()).eval();
  model.scale = Vector::Ones(rows.width());
  model.seen_weight = moments.weight();
  model.seen_mean = moments.mean();
  model.seen_deviation = moments.deviation();
  const Vector deviation = moments.deviation();
  for (Index j = 0; j < rows.width(); ++j)
    if (!std::isfinite(moments.mean()(j)) || !std::isfinite(deviation(j)))
      throw Error(fmt::format(
          "scale: the values of '{}' reach from {:g} to {:g}, beyond the range of numbers; use another unit",
          rows.features[static_cast<std::size_t>(j)], moments.least()(j), moments.greatest()(j)));
  for (Index j = 0; spec->scale && j < rows.width(); ++j) {
    if (deviation(j) > 0) model.scale(j) = deviation(j);
    else
      model.warnings.push_back(
          fmt::format("'{}' has no spread and is only centred", rows.features[static_cast<std::size_t>(j)]));
  }
  model.certificate = certify(model, rows, options.execution());
  return model;
}

Certificate certify(const ScaleModel& model, const Rows& rows, const Execution& execution) {
  const auto sums = scan(rows, PlainSums(model), execution);
  double worst = 0, rounding = 0;
  for (Index j = 0; j < model.width(); ++j) {
    const double n = sums.weight(j), m = sums.sum(j) / n;
    if (n == 0) continue;
    const double sd = n > 1 ? std::sqrt(std::max(0.0, (sums.squares(j) - n * m * m) / (n - 1))) : 0.0;
    const double digit =
        kEpsilon * std::abs(model.mean(j)) / model.scale(j);  // of the mean, which no number is nearer to
    if (model.spec.center) {
      worst = std::max(worst, std::abs(m) - digit);
      rounding = std::max(rounding, digit);
    }
    const bool no_spread = model.scale(j) == 1 && sd <= 8 * digit;
    if (model.spec.scale && !no_spread) worst = std::max(worst, std::abs(sd - 1));
  }
  if (model.seen_weight.size() > 0) {
    const auto moments = scan(rows, ColumnMoments(rows.width()), execution);
    const Vector deviation = moments.deviation();
    for (Index j = 0; j < model.width(); ++j) {
      const double n = moments.weight()(j), unit = deviation(j) + 1e-6 * std::abs(moments.mean()(j));
      worst = std::max(worst, std::abs(model.seen_weight(j) - n) / std::max(n, 1.0));
      if (n == 0 || unit == 0) continue;
      worst = std::max(worst, std::abs(model.seen_mean(j) - moments.mean()(j)) / unit);
      worst = std::max(worst, std::abs(model.seen_deviation(j) - deviation(j)) / unit);
    }
  }
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "mean and standard deviation of the transformed columns";
  out.value = worst;
  out.tolerance = 1e-8;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message =
      fmt::format("The transformed columns have {} to within {:.1e} (allowed {:.0e}){}.",
                  model.spec.center && model.spec.scale ? "mean 0 and standard deviation 1"
                  : model.spec.center                   ? "mean 0"
                  : model.spec.scale                    ? "standard deviation 1"
                                                        : "their own mean and standard deviation",
                  worst, out.tolerance,
                  rounding > out.tolerance
                      ? fmt::format(", beyond the last digit of the means, which moves them by up to {:.1e}", rounding)
                      : std::string());
  return out;
}

/// Two rows with the mean and deviation of all columns that have equal weight: m ± √((n − 1) / n) s, each n / 2 times.
ScaleModel updated(const ScaleModel& model, const Rows& rows, const FitOptions& options) {
  require(rows.width() == model.width(),
          fmt::format("scale: the model has {} columns and the rows have {}", model.width(), rows.width()));
  require(model.seen_weight.size() == model.width(),
          "scale: this model does not tell how many rows it has seen, being of an older version; fit it to all rows");
  std::map<double, std::vector<Index>> alike;
  for (Index j = 0; j < model.width(); ++j)
    if (model.seen_weight(j) > 0) alike[model.seen_weight(j)].push_back(j);
  Matrix past = Matrix::Constant(2 * static_cast<Index>(alike.size()), model.width(), kMissing);
  std::vector<double> weight;
  for (Index at = 0; const auto& [n, columns] : alike) {
    const double stretch = std::sqrt(std::max(n - 1, 0.0) / n);
    for (const Index j : columns) {
      past(at, j) = model.seen_mean(j) + stretch * model.seen_deviation(j);
      past(at + 1, j) = model.seen_mean(j) - stretch * model.seen_deviation(j);
    }
    weight.insert(weight.end(), 2, n / 2);
    at += 2;
  }
  MemoryRows before(past);
  before.weights(weight).features = rows.features;
  ScaleModel out = fit(Valid<Scale>(model.spec), StackedRows({&before, &rows}), options);
  out.certificate.message += " The rows before the update are in it by their means and deviations.";
  return out;
}

template const Method& method_of<Scale>();

}  // namespace lemma
