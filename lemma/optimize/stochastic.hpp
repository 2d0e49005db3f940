// lemma/optimize/stochastic.hpp: stochastic gradient descent on a sum of many terms.
#pragma once
#include <cstdint>
#include <lemma/core/parallel.hpp>
#include <lemma/optimize/minimise.hpp>
#include <span>

namespace lemma {

/// f(x) = Σ_i f_i(x), of which any few terms can be had alone: `batch` gives Σ f_i over the terms named, and adds their
/// gradients to `gradient`. A penalty belongs to the terms, a share of 1/n to each.
template <class F>
concept SumOfTerms = requires(const F& f, const Vector& x, std::span<const Index> which, Vector& gradient) {
  { f.terms() } -> std::convertible_to<Index>;
  { f.batch(x, which, gradient) } -> std::convertible_to<double>;
};

/// Looks at any such type without its name. It does not own the sum.
class FiniteSum {
 public:
  template <SumOfTerms F>
  requires(!std::same_as<F, FiniteSum>) FiniteSum(const F& f)  // NOLINT: any sum is welcome
      : object_(&f),
        terms_([](const void* o) -> Index { return static_cast<const F*>(o)->terms(); }),
        batch_([](const void* o, const Vector& x, std::span<const Index> which, Vector& g) -> double {
          return static_cast<const F*>(o)->batch(x, which, g);
        }) {}

  Index terms() const { return terms_(object_); }
  double batch(const Vector& x, std::span<const Index> which, Vector& gradient) const {
    return batch_(object_, x, which, gradient);
  }

 private:
  const void* object_;
  Index (*terms_)(const void*);
  double (*batch_)(const void*, const Vector&, std::span<const Index>, Vector&);
};

/// The steps ε_t = ε₀ (1 + t/T)^−κ with ½ < κ ≤ 1, so that Σ ε_t = ∞ and Σ ε_t² < ∞ (Robbins and Monro 1951): far enough to
/// reach any optimum, small enough to stay there. t counts batches.
struct SgdOptions {
  Index batch = 32;
  std::optional<double> step;  // ε₀; empty: the best of a few on a sample of the terms, within one pass
  double power = 0.75;         // κ; towards ½ with averaging, 1 without (and then ε₀ must be large enough)
  std::optional<double> slow;  // T; empty: the batches of one pass
  long long passes = 50;
  bool average = true;      // the mean of the points of the second half of the passes (Polyak and Ruppert)
  double tolerance = 1e-3;  // on the gradient, as in MinimiseOptions; judged after each pass
  bool keep_trace = false;  // the objective at the start and after each pass
  std::uint64_t seed = 0;   // each pass has its own order of the terms
  Execution execution = {};
  std::function<bool(const Iterate&)> stop;  // looks at the point after each pass
};

/// x ← x − ε_t ∇ (mean of the terms of batch t), each pass in a random order. The result's value and gradient are those of the
/// whole sum; its iterations are passes, its evaluations passes over all terms.
Minimum stochastic_gradient(const FiniteSum& f, Vector start, const SgdOptions& options = {});

}  // namespace lemma
