// lemma/tree/forest/grown.hpp: from the parameters of either method to its model.
#pragma once
#include <lemma/model/cut_short.hpp>
#include <lemma/tree/forest/grove.hpp>

namespace lemma::forest {

/// What both methods call by the same names. Choices that are still open stand as 1.
template <class Spec>
Plan common_plan(const Spec& spec) {
  Plan out;
  out.method = Spec::name;
  out.trees = spec.trees;
  out.columns = spec.mtry.value_or(1);
  out.replace = spec.replace;
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

/// The model of a spec whose choices are made, with its certificate; cancelled, the trees it has.
template <class Model, class Spec>
Model grown(const Spec& spec, const Rows& rows, const FitOptions& options) {
  Model model;
  model.spec = spec;
  const Plan plan = model.plan();
  if (const Index trees = fit_grove(model, plan, rows, options); trees < plan.trees) {
    model.spec.trees = static_cast<int>(trees);
    model.certificate = cut_short(trees, plan.trees, "trees");
    return model;
  }
  model.certificate = certify_grove(model, plan, rows, kStepsOfAFit, options.execution().part(0.9, 1, "certificate"));
  return model;
}

}  // namespace lemma::forest
