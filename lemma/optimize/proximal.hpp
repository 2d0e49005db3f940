// lemma/optimize/proximal.hpp: a smooth function plus one that need not be: penalties with a kink, sets.
#pragma once
#include <lemma/optimize/minimise.hpp>

namespace lemma {

/// g(x), and prox: x ← argmin_u g(u) + ‖u − x‖² / (2 step).
template <class G>
concept Proximal = requires(const G& g, const Vector& x, Vector& point, double step) {
  { g.value(x) } -> std::convertible_to<double>;
  g.prox(point, step);
};

/// λ ‖x‖₁, or Σ λ_j |x_j|. prox: soft thresholds.
struct L1 {
  Vector lambda;  // one number for all, or one for each entry (0: not penalised)
  double value(const Vector& x) const;
  void prox(Vector& x, double step) const;
};
/// ½ λ ‖x‖². prox: shrinks by 1 / (1 + step λ).
struct SquaredL2 {
  double lambda = 0;
  double value(const Vector& x) const { return 0.5 * lambda * x.squaredNorm(); }
  void prox(Vector& x, double step) const { x /= 1 + step * lambda; }
};
/// 0 for lower ≤ x ≤ upper, infinite outside. prox: the nearest point inside.
struct Box {
  Vector lower, upper;
  double value(const Vector& x) const;
  void prox(Vector& x, double) const { x = x.cwiseMax(lower).cwiseMin(upper); }
};
/// 0 for x ≥ 0 with Σ x = sum, infinite outside. prox: the nearest point inside, by one threshold for all entries
/// (Held, Wolfe and Crowder 1974). Cost  O(n log n).
struct SimplexSet {
  double sum = 1;
  double value(const Vector& x) const;
  void prox(Vector& x, double) const;
};

/// Looks at any such type without its name. It does not own it.
class ProximalTerm {
 public:
  template <Proximal G>
  requires(!std::same_as<G, ProximalTerm>) ProximalTerm(const G& g)  // NOLINT: any term is welcome
      : object_(&g),
        value_([](const void* o, const Vector& x) -> double { return static_cast<const G*>(o)->value(x); }),
        prox_([](const void* o, Vector& x, double step) { static_cast<const G*>(o)->prox(x, step); }) {}

  double value(const Vector& x) const { return value_(object_, x); }
  void prox(Vector& x, double step) const { prox_(object_, x, step); }

 private:
  const void* object_;
  double (*value_)(const void*, const Vector&);
  void (*prox_)(const void*, Vector&, double);
};

/// minimise f(x) + g(x) by FISTA (Beck and Teboulle 2009): proximal steps from points pushed ahead, the step by backtracking,
/// the push dropped when it points uphill (O'Donoghue and Candès 2015).
///
/// The `gradient` of the result, and of the iterates that `stop` sees, is the gradient map (x − prox(x − s∇f(x)))/s, which is 0 exactly at a
/// minimum and is what the tolerance is held against.
Minimum proximal_gradient(const Objective& f, const ProximalTerm& g, Vector start, const MinimiseOptions& options = {});

}  // namespace lemma
