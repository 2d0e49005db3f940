// lemma/select/stepwise.hpp: terms chosen one at a time by AIC or BIC, as R's step() does.
#pragma once
#include <lemma/select/anova.hpp>

namespace lemma {

/// backward: from all terms of the formula, leaving. forward: joining, from none, or with a scope from the formula's. both: from
/// all, leaving and joining.
enum class StepwiseDirection { backward, forward, both };
constexpr auto names_of(StepwiseDirection) { return std::array<std::string_view, 3>{"backward", "forward", "both"}; }

struct StepwiseOptions {
  StepwiseDirection direction = StepwiseDirection::backward;
  std::optional<double> k = 2;  // what a coefficient costs: 2 is AIC; nothing: log n, BIC
  std::string upper,
      lower;  // "~ a + b": terms that may join, terms that may not leave; `.` is the formula's. Empty: none
};

struct StepwiseStep {
  std::string formula;  // before the move
  double criterion = 0;
  AnovaTable moves;   // every move allowed, the best first; "<none>" is to stay
  std::string taken;  // "- skin", "+ age"; empty: the last step
};

struct Stepwise {
  TrainedModel model;
  std::string criterion;  // AIC, BIC, or with its k
  std::vector<StepwiseStep> steps;
  bool cancelled = false;

  std::string trace() const;  // as R prints it
  Value to_value() const;
};

/// Of all moves that keep main effects beside their interactions, the one to the lowest AIC (deviance plus k for each
/// coefficient), until none lowers it. Where rows with missing values are dropped, all fits take those that are complete in
/// every column of the scope. The choice has used the data: tests and intervals of the final model take no account of it.
///
/// Cost  a fit for each move of each step.
Stepwise stepwise(std::shared_ptr<const Method> method, Value params, const Formula& formula, const TableStream& data,
                  const TrainOptions& options, const StepwiseOptions& how);

}  // namespace lemma
