// lemma/validate/bias_variance.hpp: why a method errs: because it cannot say what is so, or because it says something else each time.
//
// A method is learned from B samples; h_b is what it says then, h̄ their mean, and of the response at x the mean is g and the variance σ²:
//
//     mean over b of E (y − h_b)²  =  (h̄ − g)²  +  mean over b of (h_b − h̄)²  +  σ²          error = bias² + variance + noise
//
// at every point x, and so on average. Classes are vectors of 0 and 1, with half the sum of squares over them: the error is then the share
// of mistakes, g the probabilities and h̄ the shares of votes.
//
// With a known truth the samples are drawn from it, and all three are told apart. With the bootstrap each row is judged by the samples in which
// it was not drawn, its own response in the place of g: bias² and noise cannot be told apart then, and are one number.
#pragma once
#include <lemma/validate/experiment.hpp>
#include <lemma/validate/truth.hpp>

namespace lemma {

struct BiasVarianceOptions {
  int samples = 100;
  Index rows = 100;     // of each sample, from a truth
  Index points = 1000;  // where it is measured, from a truth
  std::uint64_t seed = 1;
  ExperimentOptions experiment;  // of a table
  Execution execution;
};

struct BiasVariance {
  std::string method, formula, source;
  Task task = Task::regression;
  Index samples = 0, rows = 0, points = 0;  // points: at which at least two samples were asked
  Measure error, bias, variance;            // bias²; with the noise in it where that is not known
  std::optional<Measure> noise;
  double left = 0;  // error − bias² − variance − noise: rounding
};

/// Error where the truth does not know the mean of its response, or its probabilities.
BiasVariance bias_variance(const AnySpec& spec, const Truth& truth, const std::string& formula,
                           const BiasVarianceOptions& options = {});
BiasVariance bias_variance(const AnySpec& spec, const Formula& formula, const TableStream& data,
                           const BiasVarianceOptions& options = {});

Value to_value(const BiasVariance& found);
std::string text(const BiasVariance& found);

}  // namespace lemma
