// lemma/validate/bootstrap.hpp: how far a result of a fit can be trusted: the fit done again on rows drawn with replacement.
//
// With θ̂ the result of all rows and θ* those of B samples (Efron and Tibshirani 1993; Davison and Hinkley 1997):
//
//     percentile  θ*(α), θ*(1 − α)
//     basic       2 θ̂ − θ*(1 − α), 2 θ̂ − θ*(α)
//     bca         θ*(α₁), θ*(α₂),  αᵢ = Φ(z₀ + (z₀ + zᵢ) / (1 − a (z₀ + zᵢ))),  z₀ = Φ⁻¹(share of θ* below θ̂),
//                 a = Σ d³ / (6 (Σ d²)^{3/2}) of d = mean − θ̂ without row i (of many rows: without one of 200 blocks of them)
//
// Cost  B fits, and for bca up to n more; the same bits on any number of threads.
#pragma once
#include <lemma/validate/experiment.hpp>

namespace lemma {

enum class ResultInterval { percentile, basic, bca };
constexpr auto names_of(ResultInterval) { return std::array<std::string_view, 3>{"percentile", "basic", "bca"}; }

struct ResultBootstrap {
  ExperimentOptions experiment;
  std::string result = "coefficients";  // a result of the method, as `lemma fit METHOD --help` lists them
  int samples = 1000;
  std::string group;  // a column: whole groups are drawn
  ResultInterval interval = ResultInterval::bca;
  double level = 0.95;
  std::uint64_t seed = 1;
  Execution execution;
};

struct BootstrapResult {
  std::string method, formula, data, result;
  ResultInterval interval = ResultInterval::bca;
  double level = 0.95;
  Index rows = 0, samples = 0;     // samples that count
  Index failed = 0;                // in which there was no fit, or one of another shape: a level was not drawn
  std::vector<std::string> names;  // of the entries
  Vector estimate, mean, std_error, lower, upper;
  bool cancelled = false;
  std::vector<std::string> notes;
};

/// Error where there is no such result, or it is no array of numbers. A cancel leaves the samples that are done.
BootstrapResult bootstrap(const AnySpec& spec, const Formula& formula, const TableStream& data,
                          const ResultBootstrap& options);

/// The interval of one number from its value in all rows, in the samples, and (bca) without each part of the rows.
struct IntervalOf {
  double lower, upper;
};
IntervalOf interval_of_samples(ResultInterval kind, double estimate, std::vector<double> samples,
                               const std::vector<double>& without, double level);

Value to_value(const BootstrapResult& result);
std::string text(const BootstrapResult& result);

}  // namespace lemma
