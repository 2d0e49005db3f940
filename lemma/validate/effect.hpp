// lemma/validate/effect.hpp: how what a model says changes with one column, whatever the model.
#pragma once
#include <lemma/model/train.hpp>

namespace lemma {

struct EffectOptions {
  Index points = 20;    // places of a column of numbers: quantiles of the rows, those that are equal once
  Execution execution;  // threads, progress
};

/// Of one column x_j, with f what the model says (a number, or the probability of each class) and x_-j the other columns:
///
///     partial dependence          PD(v) = 1/n Σ_i f(v, x_i,-j)                  the column set to v in every row (Friedman 2001)
///     accumulated local effects   ALE(v_k) = Σ_{l ≤ k} mean over the rows between v_{l-1} and v_l of
///                                            f(v_l, x_i,-j) − f(v_{l-1}, x_i,-j),   less its mean over the rows (Apley and Zhu 2020)
///
/// The first asks what the model would say of rows that need not exist where columns are correlated; the second moves a row no
/// further than to the ends of its interval. Of categories the values are the levels in their order, and a row moves to the level
/// before or behind its own. Cost: as many predictions of all rows as there are values, and two more.
struct Effect {
  std::string column;
  Column at;                         // the values
  std::vector<double> rows;          // how many rows lie between the value before and this one; of categories: have it
  std::vector<std::string> outputs;  // what is said: "prediction", or "p_class" of each class
  Matrix partial, accumulated;       // a row for each value, a column for each output
};

/// Error when the model does not use the column, or says neither numbers nor probabilities, or fewer than two values are there.
Effect effect(const TrainedModel& trained, const Table& table, std::string_view column,
              const EffectOptions& options = {});

/// Value, rows, and a column for each output of either kind.
Table to_table(const Effect& effect);

}  // namespace lemma
