// lemma/mixture/shared/em.hpp: expectation and maximisation for a mixture of any components.
//
// A mixture f(x) = Σ_k π_k f_k(x) of K components is fitted by maximum likelihood, ℓ = Σᵢ wᵢ log f(xᵢ):
//
//     E  r_ik = π_k f_k(xᵢ) / f(xᵢ)                                        how far row i belongs to component k
//     M  π_k = Σᵢ wᵢ r_ik / Σᵢ wᵢ,   f_k maximises Σᵢ wᵢ r_ik log f_k(xᵢ)
//
// A step never lowers ℓ: with the free energy F(q, θ) = Σ wᵢ Σ_k q_ik log(π_k f_k(xᵢ) / q_ik) ≤ ℓ(θ), E makes F = ℓ by q = r, and M
// raises F. Both are one scan: what the M-step has to know of the rows is a sum over them (`Components::add`), so that a step
// has the same bits on any number of threads, from memory or from disk.
#pragma once
#include <array>
#include <lemma/core/rows.hpp>
#include <memory>
#include <span>
#include <string_view>

namespace lemma::em {

/// The densities f_1 … f_K, and their weighted maximum-likelihood fit.
class Components {
 public:
  virtual ~Components() = default;
  virtual Index count() const = 0;
  /// out(i, k) = log f_k(xᵢ). The numbers of a row depend on that row alone.
  virtual void log_densities(const MatrixView& x, Eigen::Ref<Matrix> out) const = 0;
  /// How many numbers the M-step has to know, all of them sums over the rows.
  virtual Index sums_size() const = 0;
  /// sums += what these rows say, of which r(i, k) belongs to component k (weights of rows are in r).
  virtual void add(const MatrixView& x, const MatrixView& r, std::span<double> sums) const = 0;
  /// The components that maximise Σ r log f_k; mass_k = Σᵢ r_ik. One without mass stays as it is.
  virtual std::shared_ptr<const Components> maximised(const Vector& mass, std::span<const double> sums) const = 0;
  /// How far it is to other components, the farthest of all parameters, each in a unit of its own component.
  virtual double distance(const Components& to) const = 0;
  /// The parameters as numbers each of which may have any value, and the way back: what an accelerated step goes along.
  virtual Vector coordinates() const = 0;
  virtual std::shared_ptr<const Components> at(const Vector& coordinates) const = 0;
};

struct Mixture {
  Vector weights;
  std::shared_ptr<const Components> components;
};

/// log Σ_k π_k f_k(x) of each row; r becomes the memberships of the rows.
Vector responsibilities(const Mixture& mixture, const MatrixView& x, Matrix& r);

/// What one scan finds at a mixture, and the mixture that EM goes to from there.
struct Step {
  double log_likelihood = 0;
  double hard = 0;    // Σ w log max_k r_k: how clearly rows belong to one component
  double weight = 0;  // Σ w
  Vector mass;        // Σ w r_k
  Mixture next;
  double movement = 0;  // the farthest way of a weight, or of a component's parameter in its own unit
};
Step step(const Rows& rows, const Mixture& at, const Execution& execution);

/// squarem: after two EM steps θ₀ → θ₁ → θ₂ a long one, θ₀ + 2s r + s² v with r = θ₁ − θ₀, v = θ₂ − 2θ₁ + θ₀ and s = ‖r‖ / ‖v‖ (Varadhan
/// and Roland 2008), which is taken only where the likelihood there is at least that of θ₁; else EM goes on from θ₂.
enum class Solver { em, squarem };
constexpr auto names_of(Solver) { return std::array<std::string_view, 2>{"em", "squarem"}; }

struct Limits {
  Index iterations = 1000;
  double movement = 1e-6;  // stop when one more step goes no farther
  Solver solver = Solver::em;
};

/// `log_likelihood`, `trace` and `movement` belong to `mixture`: movement is that of the step which was not taken any more.
struct Run {
  Mixture mixture;
  double log_likelihood = 0;
  std::vector<double> trace;  // ℓ at each mixture on the way, the last one's at the end: it never falls
  double movement = 0;
  bool cancelled = false;
};
/// Throws Cancelled when nothing is known of the first mixture yet.
Run run(const Rows& rows, const Mixture& start, const Limits& limits, const Execution& execution);

}  // namespace lemma::em
