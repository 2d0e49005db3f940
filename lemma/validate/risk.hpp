// lemma/validate/risk.hpp: the error of a model where the truth is known, beside the least that any rule can have.
//
// Of classes, with p(k | x) the true probabilities and h the model's class:
//
//     error             E [1 − p(h(x) | x)]
//     Bayes risk R*     E [1 − maxₖ p(k | x)]
//     nearest neighbour E [1 − Σₖ p(k | x)²], the error of one neighbour among infinitely many, with R* ≤ it ≤ R* (2 − K R* / (K − 1))
//                       (Cover and Hart 1967)
//
// Of numbers, with g(x) the true mean: error E (h(x) − g(x))² + E Var(y | x), whose second part is the Bayes risk.
#pragma once
#include <lemma/metric/measure.hpp>
#include <lemma/model/train.hpp>
#include <lemma/validate/truth.hpp>

namespace lemma {

struct RiskOptions {
  Index draws = 100000;   // of simulation
  bool simulate = false;  // also where quadrature could be had: densities of one or two columns
  std::uint64_t seed = 1;
  Execution execution;
};

/// An expectation with how far it may be off: of simulation the half width of a 95 % interval, of quadrature the difference to half as
/// many points along each axis.
struct Expected {
  double value = 0, error = 0;
};

struct Risk {
  std::string model, method, truth;
  bool of_classes = true, quadrature = false;
  Index points = 0;                  // of the grid, or draws
  Expected error;                    // of the model: share of mistakes, or mean square
  std::optional<Expected> bayes;     // the least that any rule can have; nothing where it is not known
  std::optional<Expected> excess;    // the model's beyond that
  std::optional<Expected> nearest;   // of one neighbour among infinitely many
  std::optional<Bounds> cover_hart;  // where that must lie, by the Bayes risk alone
};

/// Error where the model asks for columns that the truth does not have, or has other classes.
Risk risk(const TrainedModel& trained, const Truth& truth, const RiskOptions& options = {});

/// R* (2 − K R* / (K − 1)): what one neighbour among infinitely many has at most; and the least R* that allows an error e of it.
double cover_hart_upper(double bayes, Index classes);
double cover_hart_lower(double nearest, Index classes);

Value to_value(const Risk& risk);
std::string text(const Risk& risk);

}  // namespace lemma
