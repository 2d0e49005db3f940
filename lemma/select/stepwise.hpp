// lemma/select/stepwise.hpp: terms chosen one at a time by AIC, as R's step() does.
#pragma once
#include <lemma/select/anova.hpp>

namespace lemma {

/// backward: from all terms of the formula, leaving. forward: from none, joining. both: from all, leaving and joining.
enum class StepwiseDirection { backward, forward, both };
constexpr auto names_of(StepwiseDirection) { return std::array<std::string_view, 3>{"backward", "forward", "both"}; }

struct StepwiseStep {
  std::string formula;  // before the move
  double aic = 0;
  AnovaTable moves;   // every move allowed, the best first; "<none>" is to stay
  std::string taken;  // "- skin", "+ age"; empty: the last step
};

struct Stepwise {
  TrainedModel model;
  std::vector<StepwiseStep> steps;
  bool cancelled = false;

  std::string trace() const;  // as R prints it
  Value to_value() const;
};

/// Of all moves that keep main effects beside their interactions, the one to the lowest AIC, until none lowers it. The
/// choice has used the data: tests and intervals of the final model take no account of it.
///
/// Cost  a fit for each move of each step.
Stepwise stepwise(std::shared_ptr<const Method> method, Value params, const Formula& formula, const TableStream& data,
                  const TrainOptions& options, StepwiseDirection direction);

}  // namespace lemma
