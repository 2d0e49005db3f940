// lemma/tree/extra_trees.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/tree/extra_trees.hpp>
#include <lemma/tree/forest/grown.hpp>
#include <lemma/tree/forest/memory.hpp>

namespace lemma {
namespace {

forest::Plan plan_of(const ExtraTrees& spec) {
  forest::Plan out = forest::common_plan(spec);
  out.random_cuts = spec.cuts;
  out.share = spec.share;
  return out;
}

ExtraTrees chosen(ExtraTrees spec, const Rows& rows) {
  const bool classes = !rows.classes.empty();
  if (!spec.mtry)
    spec.mtry = classes ? std::max(1, static_cast<int>(std::sqrt(static_cast<double>(rows.width()))))
                        : static_cast<int>(rows.width());
  forest::require_columns(ExtraTrees::name, *spec.mtry, rows.width());
  if (!spec.min_leaf) spec.min_leaf = classes ? 1 : 5;
  return spec;
}

}  // namespace

void ExtraTrees::check() const { forest::require_bags(name, importance, replace, share); }

forest::Plan ExtraTreesModel::plan() const { return plan_of(spec); }

void ExtraTreesModel::check() const {
  require(spec.mtry && *spec.mtry <= width() && spec.min_leaf, "extra_trees: a parameter was not chosen");
  check_grove(plan());
}

std::string ExtraTreesModel::summary(const Names& names) const { return grove_summary(plan(), names); }

Matrix ExtraTreesModel::proximity(const MatrixView& x) const { return forest::proximity(*this, plan(), x); }
Matrix ExtraTreesModel::distance(const MatrixView& x) const { return forest::distance(*this, plan(), x); }
Matrix ExtraTreesModel::weights(const MatrixView& x) const { return forest::neighbour_weights(*this, plan(), x); }
Matrix ExtraTreesModel::filled(const MatrixView& x) const { return forest::filled(*this, plan(), x); }
NamedMatrix ExtraTreesModel::quantiles(const MatrixView& x, const PredictOptions& options) const {
  return forest::quantiles(*this, plan(), x, options);
}
Prediction ExtraTreesModel::outliers(const Valid<OutlierOptions>& options) const {
  return forest::outliers(*this, plan(), *options);
}

ExtraTreesModel fit(const Valid<ExtraTrees>& spec, const Rows& rows, const FitOptions& options) {
  return forest::grown<ExtraTreesModel>(chosen(*spec, rows), rows, options);
}

Certificate certify(const ExtraTreesModel& model, const Rows& rows, const Execution& execution) {
  return forest::certify_grove(model, model.plan(), rows, forest::kStepsOfASecondLook, execution);
}

template const Method& method_of<ExtraTrees>();

}  // namespace lemma
