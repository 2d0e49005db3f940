// lemma/optimize/objective.hpp: a function to be minimised, as a small type of one's own.
#pragma once
#include <concepts>
#include <lemma/core/error.hpp>
#include <lemma/core/matrix.hpp>

namespace lemma {

/// Value and gradient. `value(x, gradient)` gives both at once, since a pass over the rows finds both.
template <class F>
concept Differentiable = requires(const F& f, const Vector& x, Vector& gradient) {
  { f.value(x) } -> std::convertible_to<double>;
  { f.value(x, gradient) } -> std::convertible_to<double>;
};
template <class F>
concept HasHessian = requires(const F& f, const Vector& x) {
  { f.hessian(x) } -> std::convertible_to<Matrix>;
};
/// The Hessian at x times v, where the Hessian itself would be too large.
template <class F>
concept HasHessianProduct = requires(const F& f, const Vector& x, const Vector& v) {
  { f.hessian_times(x, v) } -> std::convertible_to<Vector>;
};

/// Looks at any such type without its name, so that the algorithms are compiled once. It does not own the objective.
class Objective {
 public:
  template <Differentiable F>
  requires(!std::same_as<F, Objective>) Objective(const F& f)  // NOLINT: any objective is welcome
      : object_(&f),
        value_([](const void* o, const Vector& x) -> double { return static_cast<const F*>(o)->value(x); }),
        both_(
            [](const void* o, const Vector& x, Vector& g) -> double { return static_cast<const F*>(o)->value(x, g); }) {
    if constexpr (HasHessian<F>)
      hessian_ = [](const void* o, const Vector& x) -> Matrix { return static_cast<const F*>(o)->hessian(x); };
    if constexpr (HasHessianProduct<F>)
      product_ = [](const void* o, const Vector& x, const Vector& v) -> Vector {
        return static_cast<const F*>(o)->hessian_times(x, v);
      };
  }

  double value(const Vector& x) const { return value_(object_, x); }
  double value(const Vector& x, Vector& gradient) const { return both_(object_, x, gradient); }
  bool has_hessian() const { return hessian_ != nullptr; }
  bool has_hessian_product() const { return product_ != nullptr || hessian_ != nullptr; }
  Matrix hessian(const Vector& x) const {
    require(has_hessian(), "this objective has no Hessian; use a method that needs only the gradient");
    return hessian_(object_, x);
  }
  Vector hessian_times(const Vector& x, const Vector& v) const {
    if (product_) return product_(object_, x, v);
    return hessian(x) * v;
  }

 private:
  const void* object_;
  double (*value_)(const void*, const Vector&);
  double (*both_)(const void*, const Vector&, Vector&);
  Matrix (*hessian_)(const void*, const Vector&) = nullptr;
  Vector (*product_)(const void*, const Vector&, const Vector&) = nullptr;
};

}  // namespace lemma
