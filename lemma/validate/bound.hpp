// lemma/validate/bound.hpp: what can be promised of the error of a classifier, and by which argument.
//
// With probability 1 − δ over the rows, with n of them, R̂ the share of mistakes on them and R the error on new rows:
//
//     hoeffding   |R − R̂| ≤ √(log(2 m / δ) / 2n)                           new rows, looked at for m models
//     binomial    R ≤ the largest p with P(Binomial(n, p) ≤ n R̂) ≥ δ / m   the same, exactly (Clopper and Pearson 1934)
//     vc          R ≤ R̂ + √(8/n · log(4 Σ_{i ≤ d} C(2n, i) / δ))            training rows, the rule from a class of dimension d
//                 several classes, the largest of K linear functions: the sum is (Σ_{i ≤ p+1} C(2n, i))^{K (K−1) / 2}, a half space for
//                 each pair, or (2n)^d K^{2d}, d = K (p + 1) (Natarajan 1989), whichever is less
//     rademacher  R ≤ R̂ + Ĉ + 3 √(log(2 / δ) / 2n)                          training rows, Ĉ = E max over the class of mean σᵢ ℓ(xᵢ),
//                                                                         σ = ±1 at random, ℓ = 1 where the rule is wrong and −1
//                                                                         elsewhere (Bartlett and Mendelson 2002); of several
//                                                                         classes Ĉ ≤ Σ nₖ/n Ĉₖ, Ĉₖ that of the rows of class k
//
// A bound of 1 or more says nothing, and so does one whose assumptions do not hold: both are told.
#pragma once
#include <lemma/validate/judge.hpp>

namespace lemma {

struct RiskBound {
  std::string name;
  std::optional<double> value;  // nothing: it does not apply
  std::string assumes;          // what must hold for it
  std::string says;             // what it comes to, or why it says nothing
  bool says_nothing() const { return !value || *value >= 1; }
};

struct BoundOptions {
  double delta = 0.05;
  int looks = 1;   // models that were judged on these rows, this one too
  int draws = 20;  // of random signs
  std::uint64_t seed = 1;
  JudgeOptions judge;
};

struct RiskBounds {
  std::string model, method, data;
  Index rows = 0, looks = 1;
  double delta = 0.05, error = 0;  // R̂
  Honesty honesty;
  std::vector<RiskBound> bounds;
  std::vector<std::string> notes;
};

/// Error unless the model predicts classes.
RiskBounds bound_risk(const TrainedModel& trained, const TableStream& data, const BoundOptions& options = {});

/// log Σ_{i ≤ d} C(n, i): how many ways a class of dimension d can label n points, at most (Sauer).
double log_growth(double n, double dimension);
/// Of half spaces: one more than there are columns. Nothing where the dimension is not known.
std::optional<double> vc_dimension(const AnyModel& model);

Value to_value(const RiskBounds& bounds);
std::string text(const RiskBounds& bounds);

}  // namespace lemma
