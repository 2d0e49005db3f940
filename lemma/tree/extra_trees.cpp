// lemma/tree/extra_trees.cpp
#include <fmt/core.h>

#include <cmath>
#include <lemma/model/cut_short.hpp>
#include <lemma/tree/extra_trees.hpp>
#include <lemma/tree/forest/memory.hpp>

namespace lemma {
namespace {

forest::Plan plan_of(const ExtraTrees& spec) {
  forest::Plan out;
  out.method = ExtraTrees::name;
  out.trees = spec.trees;
  out.columns = spec.mtry.value_or(1);
  out.random_cuts = spec.cuts;
  out.replace = spec.replace;
  out.share = spec.share;
  out.min_leaf = spec.min_leaf.value_or(1);
  out.min_split = spec.min_split;
  if (spec.depth) out.depth = *spec.depth;
  if (spec.leaves) out.leaves = *spec.leaves;
  out.vote = spec.vote;
  out.class_weights = spec.class_weights;
  out.importance = spec.importance;
  out.keep_rows = spec.keep_rows;
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
Matrix ExtraTreesModel::weights(const MatrixView& x) const { return forest::neighbour_weights(*this, plan(), x); }
Matrix ExtraTreesModel::filled(const MatrixView& x) const { return forest::filled(*this, plan(), x); }
NamedMatrix ExtraTreesModel::quantiles(const MatrixView& x, const PredictOptions& options) const {
  return forest::quantiles(*this, plan(), x, options);
}
Prediction ExtraTreesModel::outliers(const Valid<OutlierOptions>& options) const {
  return forest::outliers(*this, plan(), *options);
}

ExtraTreesModel fit(const Valid<ExtraTrees>& spec, const Rows& rows, const FitOptions& options) {
  ExtraTreesModel model;
  model.spec = chosen(*spec, rows);
  const forest::Plan plan = model.plan();
  if (const Index grown = forest::fit_grove(model, plan, rows, options); grown < plan.trees) {
    model.spec.trees = static_cast<int>(grown);
    model.certificate = cut_short(grown, plan.trees, "trees");
    return model;
  }
  model.certificate =
      forest::certify_grove(model, plan, rows, forest::kStepsOfAFit, options.execution().part(0.9, 1, "certificate"));
  return model;
}

Certificate certify(const ExtraTreesModel& model, const Rows& rows, const Execution& execution) {
  return forest::certify_grove(model, model.plan(), rows, forest::kStepsOfASecondLook, execution);
}

template const Method& method_of<ExtraTrees>();

}  // namespace lemma
