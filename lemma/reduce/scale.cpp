// lemma/reduce/scale.cpp
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/math/column_moments.hpp>
#include <lemma/reduce/scale.hpp>

namespace lemma {
namespace {

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
  double worst = 0;
  for (Index j = 0; j < model.width(); ++j) {
    const double n = sums.weight(j), m = sums.sum(j) / n;
    if (n == 0) continue;
    if (model.spec.center) worst = std::max(worst, std::abs(m));
    const double sd = n > 1 ? std::sqrt(std::max(0.0, (sums.squares(j) - n * m * m) / (n - 1))) : 0.0;
    if (model.spec.scale && model.scale(j) != 1) worst = std::max(worst, std::abs(sd - 1));
  }
  Certificate out;
  out.strength = Strength::consistent;
  out.kind = "mean and standard deviation of the transformed columns";
  out.value = worst;
  out.tolerance = 1e-8;
  out.iterations = 1;
  out.stopped = "closed form";
  out.message =
      fmt::format("The transformed columns have mean 0 and standard deviation 1 to within {:.1e} (allowed {:.0e}).",
                  worst, out.tolerance);
  return out;
}

}  // namespace lemma
