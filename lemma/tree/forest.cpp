// lemma/tree/forest.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/core/random.hpp>
#include <lemma/tree/forest.hpp>
#include <lemma/tree/forest/grown.hpp>
#include <lemma/tree/forest/memory.hpp>

namespace lemma {
namespace {

forest::Plan plan_of(const Forest& spec) {
  forest::Plan out = forest::common_plan(spec);
  out.share = spec.share.value_or(1);
  out.bins = spec.bins.value_or(0);
  return out;
}

/// Every choice that was left open.
Forest chosen(Forest spec, const Rows& rows) {
  const auto d = static_cast<double>(rows.width());
  const bool classes = !rows.classes.empty();
  if (!spec.mtry) spec.mtry = std::max(1, static_cast<int>(classes ? std::sqrt(d) : d / 3));
  forest::require_columns(Forest::name, *spec.mtry, rows.width());
  if (!spec.share) spec.share = spec.replace ? 1.0 : 0.632;
  if (!spec.min_leaf) spec.min_leaf = classes ? 1 : 5;
  return spec;
}

}  // namespace

void Forest::check() const { forest::require_bags(name, importance, replace, share.value_or(0.632)); }

forest::Plan ForestModel::plan() const { return plan_of(spec); }

void ForestModel::check() const {
  require(spec.mtry && *spec.mtry <= width() && spec.share && spec.min_leaf, "forest: a parameter was not chosen");
  check_grove(plan());
}

std::string ForestModel::summary(const Names& names) const { return grove_summary(plan(), names); }

bool ForestModel::gives(std::string_view part) const {
  const bool bootstrap = spec.replace && trees.trees() > 1;
  if (part == kIntervalPart.name || part == kDeviationsPart.name) return bootstrap && !of_classes;
  if (part == "standard_errors") return bootstrap && (!of_classes || counts.size() == 2);
  return gives_part(part);
}

NamedMatrix ForestModel::standard_errors(const MatrixView& x) const {
  return {forest::standard_errors(*this, plan(), x), {"se_infinitesimal", "se_jackknife", "se"}};
}

Interval ForestModel::interval(const MatrixView& x, IntervalKind kind, double level) const {
  require(level > 0 && level < 1, fmt::format("the level of an interval is {}, must be above 0 and below 1", level));
  if (kind == IntervalKind::prediction) {
    require(
        keeps_rows() && !of_classes,
        "forest: intervals of observations are quantiles of training rows, and this model keeps none (of classes there "
        "are none); fit it with --keep_rows true");
    const Matrix ends = forest::quantiles_at(*this, plan(), x, {(1 - level) / 2, (1 + level) / 2});
    return {ends.col(0), ends.col(1)};
  }
  require(gives(kIntervalPart.name),
          "forest: intervals are those of a forest of numbers, of two trees at least, whose rows were drawn with "
          "replacement");
  const Vector value = predict(x), reach = normal_quantile((1 + level) / 2) * standard_errors(x).values.col(2);
  return {value - reach, value + reach};
}

Matrix ForestModel::deviations(const MatrixView& x) const {
  require(
      gives(kDeviationsPart.name),
      "forest: standard deviations are those of a forest of numbers, of two trees at least, whose rows were drawn with "
      "replacement");
  Matrix out(x.rows(), 2);
  out.col(0) = standard_errors(x).values.col(2);
  out.col(1) = (out.col(0).array().square() + oob_error.value_or(0)).sqrt();
  return out;
}

Matrix ForestModel::proximity(const MatrixView& x) const { return forest::proximity(*this, plan(), x); }
Matrix ForestModel::distance(const MatrixView& x) const { return forest::distance(*this, plan(), x); }
Matrix ForestModel::weights(const MatrixView& x) const { return forest::neighbour_weights(*this, plan(), x); }
Matrix ForestModel::filled(const MatrixView& x) const { return forest::filled(*this, plan(), x); }
NamedMatrix ForestModel::quantiles(const MatrixView& x, const PredictOptions& options) const {
  return forest::quantiles(*this, plan(), x, options);
}
Prediction ForestModel::outliers(const Valid<OutlierOptions>& options) const {
  return forest::outliers(*this, plan(), *options);
}

ForestModel fit(const Valid<Forest>& spec, const Rows& rows, const FitOptions& options) {
  return forest::grown<ForestModel>(chosen(*spec, rows), rows, options);
}

Certificate certify(const ForestModel& model, const Rows& rows, const Execution& execution) {
  return forest::certify_grove(model, model.plan(), rows, forest::kStepsOfASecondLook, execution);
}

template const Method& method_of<Forest>();

}  // namespace lemma
